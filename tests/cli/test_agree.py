import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rubricate import CorpusBuilder, Feature, Note, write_corpus
from rubricate.cli import main

Marks = dict[tuple[str, str], list[tuple[int, int]]]


def agree(place: Path, marks: Marks, *options: str) -> Result:
    """Run the command on two notes that three annotators judged."""
    builder = CorpusBuilder()
    builder.add_feature(Feature("f", "c", "F"))
    for note in ("n1", "n2"):
        builder.add_note(Note(note, "c", "aaaa bbbb cccc dddd"))
        for who in ("ann", "bob", "cy"):
            builder.judge(who, note, "f")
            for span in marks.get((who, note), ()):
                builder.annotate(who, note, "f", [span])
    write_corpus(builder.build(), place / "notes.jsonl", format="jsonl")
    arguments = ["agree", str(place / "notes.jsonl"), "--resamples", "20", *options]
    return CliRunner().invoke(main, arguments, catch_exceptions=False)


def test_where_everybody_says_the_same_chance_corrected_agreement_is_undefined(
    tmp_path: Path,
) -> None:
    everywhere = {(who, note): [(0, 4)] for who in ("ann", "bob", "cy") for note in ("n1", "n2")}
    done = agree(tmp_path, everywhere)
    assert done.exit_code == 0
    assert "kappa on presence: –" in done.stdout


@pytest.mark.parametrize(
    ("rule", "words"), [("zero", "scores 0"), ("agree", "score 1"), ("skip", "both annotators")]
)
def test_the_rule_for_those_who_marked_nothing_is_said(
    tmp_path: Path, rule: str, words: str
) -> None:
    done = agree(tmp_path, {("ann", "n1"): [(0, 4)]}, "--empty", rule)
    assert done.exit_code == 0
    assert words in done.stdout


def test_a_recall_above_one_is_explained(tmp_path: Path) -> None:
    pieces = {("ann", "n1"): [(0, 19)], ("bob", "n1"): [(0, 4), (5, 9), (10, 14)]}
    ours = ("--annotator", "ann", "--annotator", "bob")
    done = agree(tmp_path, pieces, *ours, "--protocol", "paper")
    assert "may exceed 1" in done.stderr


def test_a_group_nobody_has_is_refused_in_words(tmp_path: Path) -> None:
    done = agree(tmp_path, {("ann", "n1"): [(0, 4)]}, "--reference-group", "expert")
    assert done.exit_code == 2
    assert "no groups" in done.output


def test_a_label_that_only_one_folder_has_is_never_passed_over(tmp_path: Path) -> None:
    for name, label in (("ann", "Cough"), ("bob", "Fever")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "n.txt").write_text("fever, cough", encoding="utf-8")
        marks = f"T1\tCough 7 12\tcough\nT2\t{label} 0 5\tfever\n"
        (tmp_path / name / "n.ann").write_text(marks, encoding="utf-8")
    shutil.copytree(tmp_path, tmp_path / "both")
    ann, bob, both = (str(tmp_path / name) for name in ("ann", "bob", "both"))

    def rows(*arguments: str) -> int:
        done = CliRunner().invoke(main, [*arguments, "--resamples", "20", "--json"])
        assert done.exit_code == 0, done.output
        assert "one annotator alone used Fever" in done.stderr
        found = json.loads(done.stdout)
        counts = found.get("overall", found)["presence"]
        return sum(int(counts[name]) for name in ("tp", "fp", "fn", "tn"))

    commands = [["agree", ann, bob], ["agree", bob, ann], ["agree", both], ["evaluate", ann, bob],
                ["evaluate", bob, ann]]  # fmt: skip
    assert [rows(*one) for one in commands] == [2] * 5
    for path in (ann, bob):
        Path(path, "annotation.conf").write_text("[entities]\nCough\nFever\n", encoding="utf-8")
    done = CliRunner().invoke(main, ["agree", ann, bob, "--resamples", "20"])
    assert done.exit_code == 0 and "warning" not in done.stderr, done.output


def test_who_marked_nothing_at_all_found_nothing(tmp_path: Path) -> None:
    for name, marks in (("ann", "T1\tCough 7 12\tcough\n"), ("bob", "")):
        (tmp_path / name).mkdir()
        for note in ("n", "m"):
            (tmp_path / name / f"{note}.txt").write_text("fever, cough", encoding="utf-8")
            (tmp_path / name / f"{note}.ann").write_text(marks, encoding="utf-8")
    paths = [str(tmp_path / name) for name in ("ann", "bob")]
    done = CliRunner().invoke(main, ["agree", *paths, "--resamples", "20"])
    assert done.exit_code == 0, done.output
    assert "2 of the first only" in done.stdout


def test_the_results_quote_what_the_command_says() -> None:
    arguments = ["agree", "open-notes", "--where", "part=depth", "--json"]
    found = json.loads(CliRunner().invoke(main, arguments, catch_exceptions=False).stdout)
    quoted = " ".join((Path(__file__).parents[2] / "benchmarks" / "RESULTS.md").read_text().split())
    for name, words in (("characters", "characters F1"), ("presence", "presence F1")):
        f1 = found["overall"][name]["interval"]
        shown = [f"{f1[key]:.3f}".removeprefix("0") for key in ("value", "low", "high")]
        assert f"{words} {shown[0]} ({shown[1]} to {shown[2]})" in quoted
