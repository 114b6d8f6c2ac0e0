import json
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
    assert missing.exit_code == 1
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
