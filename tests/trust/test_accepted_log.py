"""The run knows its log of decisions: one that was cut, emptied, deleted or rewritten is refused.

Each manipulation is one that leaves a log whose lines are bound together, so that only what the
run knows can tell.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rubricate import read_corpus
from rubricate.cli import main
from rubricate.errors import InputError
from rubricate.formats.tables import read_sheets
from rubricate.run.folder import PENDING, accept_log
from rubricate.run.writing import LOG, RUN, TIMES, log_state, read_log, set_log
from rubricate.trust import run_history, verify_run

NOTES = ["open-notes", "--where", "case=0", "--where", "split=test"]
SCORE = ["score", *NOTES, "--matcher", "exact"]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments])


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a run in which Ann decided something."""
    place = tmp_path_factory.mktemp("finished")
    assert run(*SCORE, "--out", place / "run").exit_code == 0
    table = place / "corrections.csv"
    table.write_text("note,feature,found,by,at\n10008,58 year,no,Ann,2026-11-14\n")
    done = run(*SCORE, "--out", place / "run", "--corrections", table, "--overwrite")
    assert done.exit_code == 0, done.output
    return place / "run"


@pytest.fixture
def scored(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


def rebound(lines: list[dict[str, object]]) -> bytes:
    """Return the lines of a log bound to each other anew, as the program would write them."""
    body, head = b"", "0" * 64
    for number, line in enumerate(lines, start=1):
        line = {**line, "n": number, "previous": head}
        raw = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode()
        head = hashlib.sha256(raw).hexdigest()
        body += raw + b"\n"
    return body


def cut(log: Path) -> None:
    lines = log.read_bytes().splitlines(keepends=True)
    first = next(k for k, line in enumerate(lines) if b'"kind":"person"' in line)
    log.write_bytes(b"".join(lines[:first]))


def cut_one(log: Path) -> None:
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))


def rewrite(log: Path) -> None:
    lines = [json.loads(line) for line in log.read_bytes().splitlines()]
    for line in lines:
        if line["kind"] == "person":
            line["by"] = "Mallory"
    log.write_bytes(rebound(lines))


EDITS: dict[str, Callable[[Path], object]] = {
    "last lines dropped": cut,
    "last line dropped": cut_one,
    "emptied": lambda log: log.write_bytes(b""),
    "deleted": lambda log: log.unlink(),
    "rewritten under another name": rewrite,
}


def test_the_run_knows_its_log(finished: Path) -> None:
    state = log_state(finished)
    assert json.loads((finished / RUN).read_text())["log"] == state["seal"]
    sheets, _ = read_sheets(finished / "scores.xlsx")
    cells = [row for sheet in sheets for _, row in sheet.rows if row[:1] == [LOG]]
    assert [LOG, "sha256", state["seal"]["sha256"]] in cells
    done = run("trust", "verify", finished)
    assert done.exit_code == 0, done.output
    assert state["head"] in done.stdout and state["seal"]["sha256"] in done.stdout
    assert not (finished / PENDING).exists()


def test_the_hash_that_is_printed_is_the_same_for_equal_runs(tmp_path: Path) -> None:
    said = []
    for name in ("one", "two"):
        done = run(*SCORE, "--out", tmp_path / name)
        said.append(next(line for line in done.stdout.splitlines() if line.startswith("log:")))
    assert said[0] == said[1]
    one, two = ((tmp_path / name / RUN).read_bytes() for name in ("one", "two"))
    assert one == two
    assert json.loads(one)["log"]["sha256"] in said[0]


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_another_log_is_refused_and_nothing_changes(
    scored: Path, edit: Callable[[Path], object]
) -> None:
    edit(scored / LOG)
    before = {path: path.read_bytes() for path in scored.rglob("*") if path.is_file()}
    commands = [
        [*SCORE, "--out", scored, "--overwrite"],
        ["trust", "history", scored],
        ["trust", "report", scored, *NOTES, "--overwrite"],
    ]
    for command in commands:
        done = run(*command)
        assert done.exit_code == 1, command
        assert "--accept-log" in done.stderr and LOG in done.stderr, command
    done = run("trust", "verify", scored)
    assert done.exit_code == 1 and LOG in done.stdout
    assert [one.name for one in verify_run(scored).differing] == [LOG]
    with pytest.raises(InputError, match="accept_log=True"):
        run_history(scored)
    with pytest.raises(InputError, match="accept_log=True"):
        read_corpus(scored)
    assert {path: path.read_bytes() for path in scored.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("verb", "edit"),
    [*(("score", edit) for edit in EDITS.values()), ("history", rewrite), ("report", cut)],
    ids=[*EDITS, "history", "report"],
)
def test_it_goes_on_when_it_is_accepted_and_says_so_for_good(
    scored: Path, verb: str, edit: Callable[[Path], object]
) -> None:
    known = log_state(scored)["seal"]
    edit(scored / LOG)
    command = {
        "score": [*SCORE, "--out", scored, "--overwrite"],
        "history": ["trust", "history", scored],
        "report": ["trust", "report", scored, *NOTES, "--overwrite"],
    }[verb]
    assert run(*command, "--accept-log").exit_code == 0
    accepted = [entry for entry in read_log(scored) if entry["kind"] == "accepted"]
    assert len(accepted) == 1
    assert accepted[0]["known"][0]["seal"] == known
    assert accepted[0]["at"] and accepted[0]["why"]
    if verb == "score":
        assert run("trust", "verify", scored).exit_code == 0
    assert run(*SCORE, "--out", scored, "--overwrite").exit_code == 0
    assert run("trust", "history", scored).exit_code == 0
    assert [e for e in read_log(scored) if e["kind"] == "accepted"] == accepted
    # Who takes the record of it away is found out like everybody else.
    lines = [json.loads(line) for line in (scored / LOG).read_bytes().splitlines()]
    (scored / LOG).write_bytes(rebound([one for one in lines if one["kind"] != "accepted"]))
    assert run("trust", "history", scored).exit_code == 1


def test_nothing_is_recorded_of_a_log_that_is_right(scored: Path) -> None:
    before = (scored / LOG).read_bytes()
    assert not accept_log(scored)
    assert run("trust", "history", scored, "--accept-log").exit_code == 0
    assert (scored / LOG).read_bytes() == before


def test_without_run_json_nothing_says_that_a_log_is_right(scored: Path) -> None:
    """Otherwise whoever deletes run.json could start over with any log."""
    (scored / RUN).unlink()
    rewrite(scored / LOG)
    for more in ((), ("--overwrite",)):
        done = run(*SCORE, "--out", scored, *more)
        assert done.exit_code == 1 and "--accept-log" in done.stderr
    assert run(*SCORE, "--out", scored, "--accept-log").exit_code == 0
    assert any(entry["kind"] == "accepted" for entry in read_log(scored))


@pytest.mark.parametrize("said", [None, "x", {}, {"decisions": "many"}])
@pytest.mark.parametrize("edit", [lambda log: None, cut, lambda log: log.unlink()])
def test_a_run_that_does_not_name_its_log_takes_none(
    scored: Path, edit: Callable[[Path], object], said: object
) -> None:
    """Otherwise who deletes one line of run.json could start over with any log."""
    edit(scored / LOG)
    for name in (RUN, TIMES):
        record = {**json.loads((scored / name).read_text()), "log": said}
        if said is None:
            del record["log"]
        (scored / name).write_text(json.dumps(record))
    for command in ([*SCORE, "--out", scored, "--overwrite"], ["trust", "history", scored]):
        done = run(*command)
        assert done.exit_code == 1 and "--accept-log" in done.stderr
    assert run("trust", "verify", scored).exit_code == 1


def test_the_workbook_tells_of_a_log_that_was_rewritten_together_with_run_json(
    scored: Path,
) -> None:
    rewrite(scored / LOG)
    set_log(scored, log_state(scored))
    done = run("trust", "verify", scored)
    assert done.exit_code == 1 and LOG in done.stdout and "scores.xlsx" in done.stdout


@pytest.mark.parametrize("said", ["[]", "{}", '{"log": 3}', '{"log": [3, {"seal": null}]}'])
def test_a_damaged_record_of_a_move_vouches_for_no_log(scored: Path, said: str) -> None:
    (scored / RUN).unlink()
    (scored / PENDING).write_text(said)
    done = run(*SCORE, "--out", scored, "--overwrite")
    assert done.exit_code == 1 and isinstance(done.exception, SystemExit)


def test_a_log_whose_lines_do_not_fit_is_accepted_by_nothing(scored: Path) -> None:
    log = scored / LOG
    log.write_bytes(log.read_bytes().replace(b'"Ann"', b'"Bob"'))
    done = run(*SCORE, "--out", scored, "--overwrite", "--accept-log")
    assert done.exit_code == 1 and "line" in done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize(
    "name", ["times.json", "scores.csv", "scores.xlsx", LOG, "evidence/plan.json", "evidence/x"]
)
def test_a_pipe_in_a_run_is_refused_and_not_waited_for(scored: Path, name: str) -> None:
    (scored / name).unlink(missing_ok=True)
    os.mkfifo(scored / name)
    for command in (
        ["trust", "verify", scored],
        ["trust", "history", scored],
        [*SCORE, "--out", scored, "--overwrite"],
    ):
        done = run(*command)
        assert done.exit_code == 1 and "not a plain file" in done.stderr
