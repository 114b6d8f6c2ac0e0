from pathlib import Path

import pytest

from rubricate import Corpus, Feature, Note, Rubric, load_corpus
from rubricate.matchers import fit_matcher
from rubricate.run import read_results
from rubricate.scoring import ScoreSettings, score_notes
from rubricate.scoring.survey import MOST_WORDS, NO_NOTE, note_words, why_no_note

NO_NOTES = sorted((Path(__file__).parents[1] / "resources" / "no_notes").glob("*.txt"))
FITTED = Path(__file__).parents[2] / "scripts" / "no_notes"
RUBRIC = Rubric("c", (Feature("f", "c", "Chest pain"), Feature("g", "c", "No fever")))


def texts() -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in NO_NOTES}


@pytest.fixture(scope="module")
def embedded() -> Corpus:
    return load_corpus("open-notes").select(annotators=())


def test_the_texts_of_the_test_are_not_those_of_the_fit() -> None:
    fitted = {path.read_text(encoding="utf-8") for path in FITTED.glob("*.txt")}
    assert len(NO_NOTES) == len(fitted) == 40
    assert not fitted & set(texts().values())


def test_texts_that_are_no_notes_are_never_scored_silently(
    embedded: Corpus, tmp_path: Path
) -> None:
    cases = [rubric.case for rubric in embedded.rubrics[:10]]
    notes = [Note(f"{name} {case}", case, text) for name, text in texts().items() for case in cases]
    rubrics = tuple(rubric for rubric in embedded.rubrics if rubric.case in cases)
    run = score_notes(
        Corpus(tuple(notes), rubrics), tmp_path / "out", settings=ScoreSettings(matcher="lexicon")
    )
    credited = sum(
        item.found is True and not item.review_reason
        for result in read_results(tmp_path / "out")
        for item in result.items
    )
    assert credited / run.run["counts"]["items"] <= 0.01
    assert sum(run.run["counts"]["for_review"].values()) >= 0.95 * len(notes)


def test_real_notes_are_read(embedded: Corpus) -> None:
    test = embedded.select(notes=lambda note: note.metadata["split"] == "test")
    for matcher in ("lexicon", "exact"):
        predicted = fit_matcher(matcher, Corpus((), test.rubrics)).predict(test)
        stopped = [
            note.id
            for note in test.notes
            if why_no_note(
                note.text,
                test.rubric(note.case),
                sum(bool(predicted.row_annotations(row)) for row in predicted.note_rows(note.id)),
            )
        ]
        assert len(stopped) <= 0.01 * len(test.notes)


@pytest.mark.parametrize("text", ["chest pain", "Pt has fever.", "nil", "58M CP x2d, SOB, no f/c"])
def test_short_notes_are_read(text: str) -> None:
    assert why_no_note(text, RUBRIC, 0) == ""


def test_the_reason_says_what_is_unlike_notes() -> None:
    filler = why_no_note("chest pain " * 100, RUBRIC, 1)
    assert filler.startswith(NO_NOTE) and "repeated" in filler
    foreign = why_no_note(texts()["dutch"], RUBRIC, 0)
    assert "known" in foreign
    long = why_no_note("pain " * (MOST_WORDS + 1), RUBRIC, 1)
    assert f"{MOST_WORDS:,}" in long
    for name, text in texts().items():
        words = set(why_no_note(text, RUBRIC, 0).split())
        assert name not in words


def test_the_words_know_their_kinds() -> None:
    words = note_words()
    assert {"vomiting", "dyspnea", "htn"} <= words.clinical
    assert {"the", "of", "she"} <= words.function
    assert not words.clinical & words.function
    assert words.frequency["pain"] > words.frequency["sweats"] > 1
