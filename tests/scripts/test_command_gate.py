"""Output of commands, byte by byte: the gate's lines that are equal on all machines."""

import csv
import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

GATE = Path(__file__).parents[2] / "scripts" / "commands"
with (GATE / "short.tsv").open(encoding="utf-8", newline="") as stream:
    KEPT = list(csv.DictReader(stream, delimiter="\t"))


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(GATE))
    return importlib.import_module("command_gate")


def test_the_gate_has_a_line_for_every_format_and_command(gate: Any) -> None:
    from rubricate.cli import VERBS
    from rubricate.formats import FORMATS

    lines = gate.read_commands()
    commands = [command for line in lines.values() for command in line]
    written = {
        command[command.index("--output-format") + 1]
        for command in commands
        if "--output-format" in command
    }
    assert {name for name in FORMATS if FORMATS[name].write} <= written
    # `serve` and its like wait for a browser; what they say of themselves is kept.
    verbs = {verb for group in VERBS.values() for verb in group} - {"serve"}
    assert verbs <= {command[0] for command in commands}
    assert {row["name"] for row in KEPT} == set(gate.SHORT) <= set(lines)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="messages of the system differ")
@pytest.mark.parametrize("name", sorted({row["name"] for row in KEPT}))
def test_commands_print_and_write_what_they_did(name: str, gate: Any) -> None:
    found = gate.run_line(gate.read_commands()[name], [sys.executable, "-P", "-m", "rubricate"])
    # Where a change is meant: python scripts/commands/command_gate.py short
    assert gate.digests(found) == {r["part"]: r["digest"] for r in KEPT if r["name"] == name}
