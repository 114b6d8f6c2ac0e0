import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from rubricate.cli import VERBS, main

ALL_VERBS = [verb for verbs in VERBS.values() for verb in verbs]


def commands(command: click.Command, path: str) -> list[tuple[str, click.Command]]:
    found = [(path, command)]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            found += commands(child, f"{path} {name}")
    return found


@pytest.mark.parametrize("verb", ALL_VERBS)
def test_every_verb_has_json_an_example_and_help(verb: str) -> None:
    context = click.Context(main)
    top = main.get_command(context, verb)
    assert top is not None
    for path, command in commands(top, f"rubricate {verb}"):
        result = CliRunner().invoke(main, [*path.split()[1:], "--help"])
        assert result.exit_code == 0, path
        assert "Example" in result.output, path
        if not isinstance(command, click.Group):
            options = {o for p in command.params for o in p.opts}
            assert "--json" in options, path


def test_help_fits_a_screen_and_names_every_verb() -> None:
    result = CliRunner().invoke(main, ["--help"])
    assert len(result.output.splitlines()) <= 50
    for verb in ALL_VERBS:
        assert f"  {verb} " in result.output


def test_the_module_is_the_command() -> None:
    shown = [
        subprocess.run([*start, "--version"], capture_output=True, text=True, check=True).stdout
        for start in (
            [sys.executable, "-P", "-m", "rubricate"],
            [str(Path(sys.executable).with_name("rubricate"))],
        )
    ]
    assert shown[0].split()[-1] == shown[1].split()[-1]


def test_exit_codes(tmp_path: Path) -> None:
    run = CliRunner().invoke
    assert run(main, ["describe", "open-notes"]).exit_code == 0
    missing = run(main, ["describe", str(tmp_path / "nowhere")])
    assert missing.exit_code == 2
    assert len(missing.stderr.strip().splitlines()) == 1
    assert run(main, ["describe"]).exit_code == 2
    assert run(main, ["nonsense"]).exit_code == 2


def test_describe_prints_numbers_that_add_up() -> None:
    result = CliRunner().invoke(main, ["describe", "open-notes", "--json"])
    value = json.loads(result.output)
    assert value["notes"] == sum(case["notes"] for case in value["cases"]) == 2040
    assert value["rows"] == sum(a["rows"] for a in value["annotators"])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")
def test_a_full_disk_is_one_message() -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-P", "-m", "rubricate", "describe", "open-notes"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_describe_counts_the_features_of_the_notes_asked_for() -> None:
    done = CliRunner().invoke(main, ["describe", "open-notes", "--where", "case=14", "--json"])
    value = json.loads(done.stdout)
    assert [case["case"] for case in value["cases"]] == ["14"]
    assert value["features"] == value["cases"][0]["features"] > 0


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("scor notes.csv", "score"),
        ("describe note.csv", "notes.csv"),
        ("describe open-note", "open-notes"),
        ("describe notes.csv --input-format tabel", "table"),
        ("describe open-notes --input-format brta", "brat"),
        ("describe notes.csv --where sit=A", "site"),
        ("describe notes.csv --columns text=nte", "note"),
        ("score notes.csv --rubric rubrc.csv --out o", "rubric.csv"),
        ("score notes.csv --rubric rubric.csv --model acurate --out o", "accurate"),
        ("score notes.csv --rubric rubric.csv --matcher lexcon --out o", "lexicon"),
        ("rubric rubric.csv --case Chest-1", "chest 1"),
        ("agree notes.csv --protocol paperr", "paper"),
        ("agree open-notes --annotator refrence", "reference"),
        ("agree open-notes --reference-group ratr", "rater"),
        ("evaluate open-notes open-notes --weights fld", "fold"),
        ("fit open-notes --matcher exact --set windw=3 --out o", "window"),
        ("plan --precision .8 --recall .8 --frequency .4 --interval wlson", "wilson"),
        ("plan --variables nots.csv", "notes.csv"),
    ],
)
def test_what_is_misspelt_is_a_usage_error_and_told_the_nearest(
    wrong: str, near: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.csv").write_text("id,note,site\n1,Fever and cough,A\n", encoding="utf-8")
    Path("rubric.csv").write_text("case,text\nchest 1,Fever\n", encoding="utf-8")
    done = CliRunner().invoke(main, wrong.split())
    assert done.exit_code == 2, done.output
    assert f"did you mean {near!r}?" in done.output
    assert not Path("o").exists()


@pytest.mark.parametrize("verb", ["describe", "score"])
def test_a_note_pasted_as_a_path_is_not_quoted(verb: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(
        main,
        [verb, "chest pain " * 400, *(["--out", str(tmp_path / "o")] if verb == "score" else [])],
    )
    assert done.exit_code == 2, done.output
    assert "pain" not in done.output and "(4400 characters)" in done.output


@pytest.mark.parametrize(
    "wrong",
    [
        "score notes.csv --out o",
        "score open-notes --out o --seed -1",
        "fit open-notes --matcher exact --set window=wide --out o",
        "compare open-notes --folds 1",
        "agree open-notes --confidence 2",
        "route open-notes open-notes --max-error 2 --out o",
        "plan --precision 2",
        "study status nowhere",
        "convert open-notes o --output-format fhir",
    ],
)
def test_wrong_usage_exits_with_2(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.csv").write_text("id,note\n1,Fever and cough\n", encoding="utf-8")
    done = CliRunner().invoke(main, wrong.split())
    assert done.exit_code == 2, done.output
    assert not Path("o").exists()


@pytest.mark.parametrize("verb", ["describe", "rubric"])
def test_letters_that_the_output_has_no_place_for_end_nothing(verb: str, tmp_path: Path) -> None:
    if verb == "rubric":
        (tmp_path / "r.csv").write_text("Item\nFever ≥ 38 °C – café\n", encoding="utf-8")
        told = ["rubric", str(tmp_path / "r.csv")]
    else:
        (tmp_path / "n.csv").write_text("id,note,Größe ≥\n1,fever,2\n", encoding="utf-8")
        told = ["describe", str(tmp_path / "n.csv")]
    for more in ([], ["--json"]):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "rubricate", *told, *more], capture_output=True, check=False,
            env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        if more:
            found = json.loads(done.stdout)
            assert verb == "describe" or "≥" in json.dumps(found, ensure_ascii=False)


@pytest.mark.parametrize("verb", ["fit", "match", "annotate"])
def test_notes_without_a_rubric_are_refused(verb: str, tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("id,note\n1,no fever\n", encoding="utf-8")
    out = tmp_path / "out.html"
    done = CliRunner().invoke(main, [verb, str(tmp_path / "n.csv"), "--out", str(out)])
    assert done.exit_code == 2 and "--rubric" in done.output
    assert not out.exists()


def test_a_dial_the_wrong_way_round_is_wrong_usage(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = CliRunner().invoke(
        main, ["score", "open-notes", "--model", "cascade=0.9,0.1", "--out", str(out)]
    )
    assert done.exit_code == 2 and "--model" in done.output
    assert not out.exists()


def test_an_annotator_needs_a_name(tmp_path: Path) -> None:
    out = tmp_path / "m.html"
    done = CliRunner().invoke(
        main, ["annotate", "open-notes", "--annotator", " ", "--out", str(out)]
    )
    assert done.exit_code == 2 and not out.exists()


NOTE_AS_PATH = "Mr John Smith has chest pain"


@pytest.mark.parametrize(
    "command",
    ["describe NOTE", "score NOTE --out x", "match open-notes --model NOTE --out x", "rubric NOTE",
     "check NOTE", "agree NOTE", "convert NOTE x --output-format brat", "fit NOTE --out x", "annotate NOTE --out x.html",
     "evaluate NOTE open-notes", "evaluate open-notes NOTE", "route open-notes NOTE --out x",
     "score open-notes --rubric NOTE --out x", "score open-notes --corrections NOTE --out x",
     "trust verify NOTE", "trust history NOTE", "trust duplicates NOTE", "plan --pilot NOTE",
     "plan --variables NOTE", "study status NOTE", "study check-table NOTE", "serve start NOTE"],
)  # fmt: skip
@pytest.mark.parametrize("more", [(), ("--json",)], ids=["", "json"])
def test_a_note_that_is_given_as_a_path_is_not_repeated(
    command: str, more: tuple[str, ...]
) -> None:
    words = [NOTE_AS_PATH if word == "NOTE" else word for word in command.split()]
    for note in (NOTE_AS_PATH, f"{NOTE_AS_PATH}/ no fever", f"{NOTE_AS_PATH} since 3.5"):
        done = CliRunner().invoke(
            main, [note if w == NOTE_AS_PATH else w for w in words] + list(more)
        )
        assert done.exit_code in (1, 2), done.output
        assert "Smith" not in done.output and "fever" not in done.output, done.output
        assert "characters)" in done.output, "its length tells which of several paths is meant"


def test_of_a_path_that_is_not_there_only_the_name_is_shown(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["describe", str(tmp_path / "nots.csv")])
    assert "nots.csv" in done.output and str(tmp_path) not in done.output
