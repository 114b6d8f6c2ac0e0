"""The golden gate: what the reader finds is frozen, and every difference is told."""

from __future__ import annotations

import gzip
import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture
def golden(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("golden")


def test_the_reader_finds_what_was_frozen() -> None:
    """For an intended change: ``python scripts/golden.py hashes --write``, in the same commit."""
    command = [sys.executable, str(SCRIPTS / "golden.py"), "hashes"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_frozen_and_compared_is_equal(golden: Any, tmp_path: Path) -> None:
    levels = list(golden.QUICK_LEVELS)
    golden.freeze(tmp_path, [golden.odd(10)], levels)
    assert golden.check(tmp_path, [golden.odd(10)], levels) == 0


def test_every_difference_is_told(
    golden: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden.freeze(tmp_path, [golden.odd(10)], ["lexicon"])
    path = tmp_path / "odd.lexicon.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        lines = [json.loads(line) for line in stream]
    before = lines[3]["0"]["probability"]
    lines[3]["0"]["probability"] = before + 0.01
    lines[4]["1"]["found"] = [[[[0, 2]], 0.9, "another reason"]]
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        stream.writelines(json.dumps(line) + "\n" for line in lines)
    assert golden.check(tmp_path, [golden.odd(10)], ["lexicon"]) == 2
    said = capsys.readouterr().out
    assert "line 3: .0.probability" in said
    assert "line 4: .1.found" in said


def test_a_small_difference_of_probabilities_is_none(golden: Any) -> None:
    assert list(golden.differences([0.5], [0.5 + golden.TOLERANCE / 2])) == []
    assert list(golden.differences([0.5], [0.5 + 3 * golden.TOLERANCE]))
    assert list(golden.differences([1, "x"], [1, "y"])) == ["[1]: 'x' -> 'y'"]
    assert list(golden.differences([1], [1, 2]))
