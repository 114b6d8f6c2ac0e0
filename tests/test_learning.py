from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

import rubricate
from rubricate import Corpus, CorpusBuilder, load_corpus, write_corpus
from rubricate.cli import main
from rubricate.errors import ArgumentError, InputError
from rubricate.learning import compare_fitted
from rubricate.matchers import default_matcher, fit_matcher, make_matcher
from rubricate.progress import Progress
from rubricate.splits import grouped_folds

RUN = CliRunner().invoke


@pytest.fixture(scope="module")
def notes() -> Corpus:
    case = load_corpus("open-notes").select(cases=["0"], annotators=["reference"])
    return case.select(notes=[note.id for note in case.notes[:10]])


@pytest.fixture(scope="module")
def muddled(notes: Corpus) -> Corpus:
    """The same notes, as if nothing stood in every second one."""
    rows = notes.rows
    builder = CorpusBuilder()
    builder.add_rubric(notes.rubrics[0])
    for number, note in enumerate(notes.notes):
        builder.add_note(note)
        for row in notes.note_rows(note.id):
            feature = notes.features[rows.feature[row]].id
            builder.judge("reference", note.id, feature)
            for one in () if number % 2 else notes.row_annotations(row):
                builder.annotate("reference", note.id, feature, one.spans)
    return builder.build()


def found(corpus: Corpus) -> dict[tuple[str, str], bool]:
    return {(note.id, feature.id): bool(own) for note, _, feature, own in corpus.values()}


def wrong(reference: Corpus, predicted: Corpus) -> int:
    said, true = found(predicted), found(reference)
    return sum(said[item] != stated for item, stated in true.items())


@pytest.mark.parametrize("name", ["exact", "lexicon"])
def test_its_figures_are_those_of_the_predictions(notes: Corpus, name: str, tmp_path: Path) -> None:
    corpus = tmp_path / "notes.jsonl"
    write_corpus(notes, corpus, format="jsonl")
    asked = ["fit", str(corpus), "--matcher", name, "--even-if-worse", "--out"]
    done = RUN(main, [*asked, str(tmp_path / "model"), "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)["comparison"]
    unfitted = fit_matcher(name, Corpus((), notes.rubrics)).predict(notes)
    fitted = 0
    numbers = range(len(notes.notes))
    texts = {i: notes.notes[i].text for i in numbers}
    for part in grouped_folds(dict.fromkeys(numbers, 0), texts, 2, 0):
        learn, test = (notes.select(notes=[notes.notes[i].id for i in own]) for own in part)
        fitted += wrong(test, fit_matcher(name, learn).predict(test))
    assert said == {
        "notes": 10, "items": 160, "folds": 2,
        "unfitted": wrong(notes, unfitted), "fitted": fitted, "failed": [],
    }  # fmt: skip
    shown = RUN(main, [*asked, str(tmp_path / "again")]).stdout.splitlines()
    assert f"{said['unfitted']} of 160 items" in shown[0]
    assert f"{said['fitted']} of these 160 items" in shown[1]


def test_a_model_that_would_be_worse_is_not_written_unless_told(
    muddled: Corpus, tmp_path: Path
) -> None:
    corpus, out = tmp_path / "notes.jsonl", tmp_path / "model"
    write_corpus(muddled, corpus, format="jsonl")
    asked = ["fit", str(corpus), "--matcher", "exact", "--out", str(out), "--json"]
    refused = RUN(main, asked)
    assert refused.exit_code == 1
    message = json.loads(refused.output)["error"]["message"]
    comparison = compare_fitted(lambda: make_matcher("exact"), muddled)
    assert comparison is not None
    assert comparison.worse
    assert all(sentence in message for sentence in comparison.sentences())
    assert "--even-if-worse" in message
    assert not out.exists()
    told = RUN(main, [*asked, "--even-if-worse"])
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["comparison"] == comparison.to_dict()
    assert (out / "model.json").is_file()
    with pytest.raises(InputError, match="even_if_worse"):
        rubricate.fit(muddled, matcher="exact")
    model = rubricate.fit(muddled, matcher="exact", even_if_worse=True)
    assert model.comparison_ == comparison  # type: ignore[attr-defined]


def test_an_interrupted_fit_leaves_nothing(
    notes: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, out = tmp_path / "notes.jsonl", tmp_path / "model"
    write_corpus(notes, corpus, format="jsonl")

    for label in ("comparison 1", "comparison 2"):

        @contextmanager
        def interrupted(label: str = label) -> Iterator[Progress]:
            def stop(done: int, total: int | None, doing: str) -> None:
                if label in doing:
                    raise KeyboardInterrupt

            yield stop

        monkeypatch.setattr("rubricate.cli.fit.shown_progress", interrupted)
        done = RUN(main, ["fit", str(corpus), "--matcher", "lexicon", "--out", str(out)])
        assert done.exit_code == 1
        assert "interrupted" in done.output.lower() or "aborted" in done.output.lower()
        assert list(tmp_path.iterdir()) == [corpus]


def test_too_few_notes_are_not_compared(notes: Corpus, tmp_path: Path) -> None:
    one = notes.select(notes=[notes.notes[0].id])
    assert compare_fitted(lambda: make_matcher("exact"), one) is None
    assert compare_fitted(lambda: make_matcher("exact"), notes.select(annotators=[])) is None
    with pytest.raises(ArgumentError, match="at least 2"):
        compare_fitted(lambda: make_matcher("exact"), notes, folds=1)
    corpus = tmp_path / "notes.jsonl"
    write_corpus(one, corpus, format="jsonl")
    done = RUN(main, ["fit", str(corpus), "--matcher", "exact", "--out", str(tmp_path / "model"),
                      "--json"])  # fmt: skip
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["comparison"] is None
    assert "comparison" in done.stderr


def test_what_knows_nothing_without_notes_is_not_compared(notes: Corpus) -> None:
    assert compare_fitted(lambda: make_matcher("crf"), notes) is None


def test_it_starts_from_what_scores_without_a_model(tmp_path: Path) -> None:
    out = tmp_path / "model"
    done = RUN(main, ["fit", "open-notes", "--where", "case=14", "--annotator", "second_rater",
                      "--out", str(out), "--json"])  # fmt: skip
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["matcher"] == default_matcher()
