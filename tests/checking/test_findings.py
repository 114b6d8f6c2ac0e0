from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from rubricate.checking import write_changes
from rubricate.checking.findings import LoggedRepair
from rubricate.errors import OutputExistsError

CHANGES = [
    LoggedRepair("white-space", "n", "a", "f", ((0, 2), (3, 9)), ((0, 2), (4, 9)), "f"),
    LoggedRepair("repeated", "n,1", "a", "f", ((4, 9),), (), None),
]


def test_json_lines_hold_every_change(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    write_changes(CHANGES, path)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert lines == [change.to_dict() for change in CHANGES]


def test_csv_holds_every_change(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    write_changes(CHANGES, path)
    with path.open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert lines[0]["old_spans"] == "0 2;3 9"
    assert (lines[1]["note"], lines[1]["new_spans"], lines[1]["new_feature"]) == ("n,1", "", "")


def test_an_existing_log_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    write_changes([], path)
    with pytest.raises(OutputExistsError):
        write_changes(CHANGES, path)
    write_changes(CHANGES, path, overwrite=True)
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2
