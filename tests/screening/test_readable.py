import json
from pathlib import Path

import pytest

from rubricate import Corpus, Feature, Note, Rubric, load_corpus
from rubricate.matchers import fit_matcher
from rubricate.run import read_results
from rubricate.scoring import ScoreSettings, score_notes
from rubricate.screening.readable import (
    MOST_WORDS,
    NO_NOTE,
    note_words,
    why_no_note,
    why_not_scored,
)


@pytest.mark.parametrize("text", ["no fever", "é😀\r\n\tcough", "x" * 50])
def test_text_is_scored(text: str) -> None:
    assert why_not_scored(Note("1", "c", text), {"c"}, longest=50) == ""


@pytest.mark.parametrize(
    "text", ["", " \n\t\u00a0", "x" * 51, "%PDF\x00\x01", "\x02\x03ab", "a\ud800b", "\ufffd" * 9]
)
def test_what_is_no_note_has_a_reason(text: str) -> None:
    reason = why_not_scored(Note("1", "c", text), {"c"}, longest=50)
    assert reason
    assert not text.strip() or text not in reason


def test_a_case_without_rubric_has_a_reason() -> None:
    assert "'d'" in why_not_scored(Note("1", "d", "no fever"), {"c"})


def test_a_note_without_a_case_has_a_reason_of_its_own() -> None:
    note = Note("1", "", "no fever")
    assert why_not_scored(note, {"c"}) != why_not_scored(note, {""}) == ""
    assert "''" not in why_not_scored(note, {"c"})


NO_NOTES = sorted((Path(__file__).parents[1] / "resources" / "no_notes").glob("*.txt"))
FITTED = Path(__file__).parents[2] / "training" / "data" / "other_texts.jsonl"
RUBRIC = Rubric("c", (Feature("f", "c", "Chest pain"), Feature("g", "c", "No fever")))


def texts() -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in NO_NOTES}


@pytest.fixture(scope="module")
def embedded() -> Corpus:
    return load_corpus("open-notes").select(annotators=())


def test_the_texts_of_the_test_are_not_those_of_the_fit() -> None:
    lines = FITTED.read_text(encoding="utf-8").splitlines()
    fitted = {json.loads(line)["text"] for line in lines}
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
    assert "Dutch" in foreign
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


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("Spanish", "Paciente de 50 años con dolor de pecho desde hace dos días, sin fiebre."),
        ("German", "Der Patient klagt seit drei Tagen über Schmerzen in der Brust, kein Fieber."),
        ("French", "Patient de 45 ans, douleur depuis deux jours, sans fièvre ni toux."),
        ("Polish", "Pacjent 50 lat, ból od dwóch dni, nie ma gorączki i nie ma kaszlu."),
    ],
)
def test_another_language_is_named(language: str, text: str) -> None:
    assert why_no_note(text, Rubric("c", ()), 0).endswith(f"it seems to be in {language}")


def test_shorthand_and_names_are_english() -> None:
    text = "58M c/o CP x 2 d, no SOB, a la carte diet. PMH HTN, DM, AF. De Vries, van Dam GP."
    assert "seems to be in" not in why_no_note(text, Rubric("c", ()), 0)
