from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rubricate.cli.failures import in_flags
from rubricate.cli.score import score_command
from rubricate.cli.trust import trust_command
from rubricate.errors import InputError
from rubricate.trust import check_tables, verify_run

NOTES = ["open-notes", "--where", "case=14"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "out"
    done = CliRunner().invoke(score_command, [*NOTES, "--matcher", "exact", "--out", str(out)])
    assert done.exit_code == 0, done.output
    return out


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def trust(*arguments: str | Path) -> Result:
    return CliRunner().invoke(trust_command, [str(argument) for argument in arguments])


def test_every_file_of_a_run_is_compared(run: Path) -> None:
    found = verify_run(run)
    assert not found.differing
    covered = {one.name for one in found.files if one.status == "unchanged"}
    assert covered == {"scores.csv", "items.csv", "scores.xlsx", "evidence", "model",
                       "report.html", "report", "decisions.jsonl"}  # fmt: skip
    assert {one.name for one in found.files} - covered == {"times.json"}
    done = trust("verify", run)
    assert done.exit_code == 0, done.output
    assert json.loads(trust("verify", run, "--json").stdout)["unchanged"] is True


def append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


EDITS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "a table": ("scores.csv", lambda run: append(run / "scores.csv")),
    "items": ("items.csv", lambda run: append(run / "items.csv")),
    "the workbook": ("scores.xlsx", lambda run: append(run / "scores.xlsx")),
    "the report": ("report.html", lambda run: append(run / "report.html")),
    "notes of the report": ("report", lambda run: append(run / "report" / "notes.html")),
    "the model": ("model", lambda run: append(run / "model" / "phrases.jsonl")),
    "evidence": ("evidence", lambda run: append(run / "evidence" / "000000.jsonl.gz")),
    "a new batch": ("evidence", lambda run: (run / "evidence" / "9.jsonl.gz").touch()),
    "no report": ("report.html", lambda run: (run / "report.html").unlink()),
}


@pytest.mark.parametrize(("name", "edit"), EDITS.values(), ids=EDITS)
def test_each_edit_is_found(run: Path, name: str, edit: Callable[[Path], None]) -> None:
    edit(run)
    assert [one.name for one in verify_run(run).differing] == [name]
    done = trust("verify", run)
    assert done.exit_code == 1
    assert name in done.stdout


def test_run_json_is_read_with_care(run: Path) -> None:
    path = run / "run.json"
    value = json.loads(path.read_text())
    value["outputs"]["../secret"] = "0" * 64
    path.write_text(json.dumps(value))
    assert [one.status for one in verify_run(run).differing] == ["unsafe name"]
    for text in ("", "[]", "{}", "[" * 100_000, "9" * 5_000, '{"outputs": {"scores.csv": 5}}'):
        path.write_text(text)
        with pytest.raises(InputError):
            verify_run(run)
    path.unlink()
    with pytest.raises(InputError, match="not finished"):
        verify_run(run)


def test_edited_tables_are_refused_unless_accepted(run: Path, finished: Path) -> None:
    commands: list[list[str | Path]] = [
        ["drift", run, finished],
        ["drift", finished, run],
        ["report", run, *NOTES, "--overwrite"],
        ["report", finished, *NOTES, "--overwrite", "--previous", run],
        ["leniency", run, "--reference", "open-notes", "--resamples", "20"],
    ]
    for command in commands:
        assert trust(*command).exit_code == 0, command
    table = run / "scores.csv"
    lines = table.read_text().splitlines(keepends=True)
    table.write_text("".join(lines[:-1]))
    items = run / "items.csv"
    last = lines[-1].split(",")[0]
    rows = items.read_text().splitlines(keepends=True)
    items.write_text("".join(row for row in rows if not row.startswith(f"{last},")))
    for command in commands:
        refused = trust(*command)
        assert isinstance(refused.exception, InputError), command
        assert len(refused.exception.faults) == 2
        told = [fault.worded(in_flags) for fault in refused.exception.faults]
        assert all("--accept-edited" in one for one in told)
        assert trust(*command, "--accept-edited").exit_code == 0, command


def test_tables_of_a_run_that_was_not_finished_are_refused(run: Path) -> None:
    (run / "run.json").unlink()
    with pytest.raises(InputError, match="not finished"):
        check_tables(run)
    shutil.rmtree(run / "evidence")
    check_tables(run)


def test_a_report_written_later_is_covered(run: Path) -> None:
    assert trust("report", run, *NOTES, "--overwrite").exit_code == 0
    assert not verify_run(run).differing
    append(run / "report.html")
    assert [one.name for one in verify_run(run).differing] == ["report.html"]
