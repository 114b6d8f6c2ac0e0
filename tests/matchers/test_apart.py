"""One bad note never stops the others, in any verb."""

import json
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import rubricate.notebook as r
from rubricate import Corpus, Note, load_corpus, read_corpus, write_corpus
from rubricate.cli import main
from rubricate.cli.output import tell_failed
from rubricate.errors import InputError, RubricateError
from rubricate.matchers import FailedNote, fit_apart, fit_matcher, make_matcher, predict_in_parts
from rubricate.matchers.lexicon.matcher import LexiconMatcher
from rubricate.matchers.phrases.matcher import ExactMatcher
from rubricate.matchers.wording import reading
from rubricate.reading import note as reader
from rubricate.trials import Trial, fold_splits, run_trials

RUN = CliRunner().invoke
#: A note with this word is one at which the program fails.
BAD = "unreadableword"


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the reading of some notes fail, as an unknown fault of a rule would."""
    find = reader.find_negations

    def broken(text: str, *rest: object) -> object:
        if BAD in text:
            raise ZeroDivisionError(text)
        return find(text, *rest)  # type: ignore[arg-type]

    reader.read_note.cache_clear()
    monkeypatch.setattr(reader, "find_negations", broken)


@pytest.fixture
def corpus() -> Corpus:
    """Return ten annotated notes, the third of which is bad."""
    own = load_corpus("open-notes").select(cases=["0"], annotators=["reference"])
    own = own.select(notes=[note.id for note in own.notes[:10]])
    bad = own.notes[2]
    notes = [
        Note(n.id, n.case, n.text + f" {BAD}", n.metadata) if n is bad else n for n in own.notes
    ]
    return Corpus(tuple(notes), own.rubrics, own.annotators, own.rows)


@pytest.mark.usefixtures("failing")
@pytest.mark.parametrize("size", [1, 3, 200])
def test_matching_goes_on_and_names_the_note(corpus: Corpus, size: int) -> None:
    matcher = fit_matcher("lexicon", Corpus((), corpus.rubrics))
    bad = corpus.notes[2].id
    found = predict_in_parts(matcher, corpus, size=size)
    assert found.failed == (FailedNote(bad, "the matcher failed: ZeroDivisionError"),)
    others = corpus.select(notes=lambda note: note.id != bad)
    assert found.corpus.select(notes=lambda note: note.id != bad) == matcher.predict(others)
    assert not len(found.corpus.note_rows(bad))


@pytest.mark.usefixtures("failing")
@pytest.mark.parametrize("name", ["exact", "lexicon"])
def test_learning_goes_on_and_names_the_note(corpus: Corpus, name: str) -> None:
    bad = corpus.notes[2].id
    matcher = make_matcher(name)
    assert [one.note for one in fit_apart(matcher, corpus)] == [bad]
    others = corpus.select(notes=lambda note: note.id != bad)
    assert matcher.predict(others) == make_matcher(name).fit(others).predict(others)


def test_a_note_that_fails_only_while_learning_is_left_out(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = reader.find_senses

    def broken(text: str, *rest: object) -> object:
        if BAD in text:
            raise ZeroDivisionError
        return find(text, *rest)  # type: ignore[arg-type]

    reader.read_note.cache_clear()
    monkeypatch.setattr(reader, "find_senses", broken)
    assert [one.note for one in fit_apart(LexiconMatcher(), corpus)] == [corpus.notes[2].id]


@pytest.mark.usefixtures("failing")
def test_every_verb_reports_the_note_and_does_the_rest(corpus: Corpus, tmp_path: Path) -> None:
    notes = str(tmp_path / "notes.jsonl")
    write_corpus(corpus, notes, format="jsonl")
    bad = corpus.notes[2].id
    verbs = {
        "match": ["--matcher", "lexicon", "--out", str(tmp_path / "found.jsonl")],
        "fit": ["--matcher", "lexicon", "--out", str(tmp_path / "model")],
        "annotate": ["--suggest", "--matcher", "lexicon", "--out", str(tmp_path / "page.html")],
    }
    for verb, options in verbs.items():
        done = RUN(main, [verb, notes, *options, "--json"])
        assert done.exit_code == 0, done.output
        said = json.loads(done.stdout)
        both = [said, said["comparison"]] if verb == "fit" else [said]
        for one in both:
            assert [failed["note"] for failed in one["failed"]] == [bad], verb
        assert bad in done.stderr and BAD not in done.stderr
    assert len(read_corpus(tmp_path / "found.jsonl").notes) == len(corpus.notes)
    done = RUN(main, ["score", notes, "--matcher", "lexicon", "--out", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    scores = (tmp_path / "run" / "scores.csv").read_text()
    assert scores.count("ZeroDivisionError") == 1


@pytest.mark.usefixtures("failing")
def test_compared_matchers_go_on(corpus: Corpus) -> None:
    splits = fold_splits(corpus, folds=2, train_folds=1)
    result = run_trials(corpus, [Trial("lexicon", "lexicon")], splits)
    assert [one.note for one in result.failed["lexicon"]] == [corpus.notes[2].id]
    assert result.n_notes == len(corpus.notes)


@pytest.mark.usefixtures("failing")
def test_a_notebook_warns(corpus: Corpus) -> None:
    with pytest.warns(UserWarning, match=corpus.notes[2].id):
        r.match(corpus, matcher="lexicon")
    with pytest.warns(UserWarning, match=corpus.notes[2].id):
        r.fit(corpus, matcher="exact")


def test_a_note_that_takes_too_long_is_left(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = reader.read_note

    def slow(text: str) -> object:
        if BAD in text:
            time.sleep(60)
        return read(text)

    monkeypatch.setattr(reading, "read_note", slow)
    failed = fit_apart(ExactMatcher(), corpus, note_seconds=0.3)
    assert failed == (FailedNote(corpus.notes[2].id, "the matcher took longer than 0.3 seconds"),)


def test_errors_made_on_purpose_stop_the_work_and_so_does_a_corpus_that_fails_whole(
    build: Callable[..., Corpus],
) -> None:
    learned = fit_matcher("exact", build([("1", "no fever", {"a": [[(0, 8)]]})], {"a": "No fever"}))
    with pytest.raises(InputError):
        predict_in_parts(learned, build([("1", "no fever", {})], {"a": "Another wording"}))
    failed = [FailedNote("1", "x"), FailedNote("2", "x")]
    with pytest.raises(RubricateError):
        tell_failed(failed, "matched", 2)


@pytest.mark.parametrize("digits", ["9" * 309, "9" * 5000, "1" * 400 + "." + "5" * 400, "٣" * 400])
def test_numbers_of_any_length_are_read(digits: str) -> None:
    known = load_corpus("open-notes")
    notes = [
        Note(note.id, note.case, re.sub(r"\d+", digits, note.text)[:20_000])
        for note in known.notes[::51]
    ]
    words = ("{}/52", "{}/10", "q{}h", "{}nd", "grade {}", "aged {}", "G{}P{}", "until {}")
    odd = " ".join(words).replace("{}", digits)
    notes += [Note("odd", known.notes[0].case, f"Pain {odd}. Cough for {digits} days, T {digits}")]
    corpus = Corpus(tuple(notes), known.rubrics)
    matcher = fit_matcher("lexicon", Corpus((), corpus.rubrics))
    assert len(matcher.predict(corpus).rows)


def test_a_number_of_309_digits_passes_every_verb(corpus: Corpus, tmp_path: Path) -> None:
    """The digits stand in a note and, as JSON allows it, in nothing else."""
    digits = "9" * 309
    first, *others = corpus.notes
    notes = [replace(first, text=f"{first.text} Cough for {digits} days, T {digits}.{digits}")]
    odd = Corpus((*notes, *others), corpus.rubrics, corpus.annotators, corpus.rows)
    path, found, out = str(tmp_path / "n.jsonl"), str(tmp_path / "found.jsonl"), tmp_path / "run"
    write_corpus(odd, path, format="jsonl")
    lexicon = ["--matcher", "lexicon"]
    verbs = [
        ["match", path, *lexicon, "--out", found],
        ["fit", path, *lexicon, "--out", str(tmp_path / "model")],
        ["annotate", path, "--suggest", *lexicon, "--out", str(tmp_path / "page.html")],
        ["compare", path, "--matchers", "exact,lexicon", "--folds", "2", "--resamples", "50"],
        ["evaluate", path, found, "--resamples", "50"],
        ["check", path],
        ["score", path, *lexicon, "--out", str(out)],
        ["trust", "verify", str(out)],
        ["trust", "gaming", path],
        ["trust", "duplicates", path],
        ["trust", "report", str(out), path, "--overwrite"],
    ]
    for verb in verbs:
        done = RUN(main, verb)
        assert done.exception is None or isinstance(done.exception, SystemExit), verb
        assert "could not be" not in done.stderr, verb
        assert done.exit_code in (0, 1), (verb, done.output)
    assert "not scored" not in (out / "scores.csv").read_text()
