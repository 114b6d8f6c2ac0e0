"""A corrected run is a corpus: people and the machine as annotators, to learn from and compare."""

import json
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rubricate import Corpus, Feature, Note, Rubric, read_corpus
from rubricate.cli import main
from rubricate.errors import InputError
from rubricate.formats import detect_format
from rubricate.matchers import Matcher, fit_matcher
from rubricate.reports.scoring import ScoringReport
from rubricate.scoring import ScoreSettings, score_notes

RUBRIC = Rubric("c", (Feature("a", "c", "Chest pain", 2.0), Feature("b", "c", "Nausea", group="g")))
NOTES = (
    Note("n1", "c", "58 yo man with chest pain. feels queasy. pmh htn."),
    Note("n2", "c", "58 yo man with pressure on his chest. \U0001f600 nausea. pmh htn."),
)
HEADER = "note,feature,found,spans,by,at\n"
ONE = "n1,b,yes,33 39,Ann,2026-11-14\nn1,a,yes,,Ann,2026-11-14\nn2,a,yes,,Ann,2026-11-14\n"


@cache
def matcher() -> Matcher:
    return fit_matcher("lexicon", Corpus((), (RUBRIC,)))


def scored(out: Path, corrections: str = "", *, report: bool = True) -> Path:
    path = out.parent / "corrections.csv"
    path.write_text(HEADER + corrections, encoding="utf-8")
    settings = ScoreSettings(overwrite=True, any_text=True)
    score_notes(
        Corpus(NOTES, (RUBRIC,)), out, model=matcher(), corrections=path, settings=settings,
        report=ScoringReport() if report else None,
    )  # fmt: skip
    return out


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_people_and_the_machine_are_annotators(tmp_path: Path) -> None:
    out = scored(tmp_path / "out", ONE)
    assert detect_format(out) == "run"
    corpus = read_corpus(out)
    assert [(one.id, one.group) for one in corpus.annotators] == [
        ("Ann", "human"), ("lexicon", "system")]  # fmt: skip
    assert [(f.id, f.weight, f.group) for f in corpus.features] == [("a", 2.0, ""), ("b", 1.0, "g")]
    assert [note.text for note in corpus.notes] == [note.text for note in NOTES]
    marked = corpus.annotations("n1", "b", "Ann") or ()
    assert [one.text(NOTES[0].text) for one in marked] == ["queasy"]
    # Confirmed: the machine's words are the person's.
    assert [one.spans for one in corpus.annotations("n1", "a", "Ann") or ()] == [
        one.spans for one in corpus.annotations("n1", "a", "lexicon") or ()
    ]
    assert corpus.row("n2", "b", "Ann") is None  # nobody looked
    assert corpus.row("n2", "b", "lexicon") is not None


def test_of_several_people_what_holds_comes_first(tmp_path: Path) -> None:
    out = scored(tmp_path / "out", ONE + "n1,b,no,,Bob,2026-11-15\n")
    corpus = read_corpus(out)
    assert [one.id for one in corpus.annotators] == ["all reviewers", "Ann", "Bob", "lexicon"]
    assert corpus.annotations("n1", "b", "all reviewers") == ()
    assert len(corpus.annotations("n1", "b", "Ann") or ()) == 1


def test_fit_learns_from_people_and_evaluate_names_both_sides(tmp_path: Path) -> None:
    out = scored(tmp_path / "out", ONE)
    done = run("fit", out, "--matcher", "exact", "--out", tmp_path / "model", "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["annotator"] == "Ann" and said["notes"] >= 1
    again = run("score", out, "--model", tmp_path / "model", "--any-text", "--no-report",
                "--out", tmp_path / "again")  # fmt: skip
    assert again.exit_code == 0, again.output
    text = (tmp_path / "again" / "items.csv").read_text(encoding="utf-8")
    assert "33 39" in text  # what a person taught is found
    done = run("evaluate", out, out, "--resamples", "20")
    assert done.exit_code == 0, done.output
    assert "lexicon against Ann" in done.output


def test_nothing_is_learned_from_the_machine_itself(tmp_path: Path) -> None:
    done = run("fit", scored(tmp_path / "out"), "--matcher", "exact", "--out", tmp_path / "model")
    assert done.exit_code == 1 and "--annotator" in done.output


def test_a_run_without_its_notes_says_how_to_add_them(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="trust report"):
        read_corpus(scored(tmp_path / "out", report=False))
