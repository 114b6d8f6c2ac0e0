from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest
from killing import Chatting, Deaf, Sleeping, Squaring

from rubricate.batch import Lost, open_pool, run_batches
from rubricate.batch.pools import module_folders
from rubricate.batch.work import pack_work
from rubricate.errors import InputError

pytestmark = pytest.mark.engine

# As a user would write it: nothing keeps it from being run again by an import.
SCRIPT = """
import sys
from pathlib import Path
from killing import Squaring
from rubricate.batch import open_pool, run_batches

with open(sys.argv[1], "a") as log:
    log.write("run")
pool = open_pool(Squaring(Path()), workers=2)
try:
    print(dict(run_batches(pool, [(0, [1, 2]), (1, [3])])))
finally:
    pool.close()
"""


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_pool_closed_under_its_batches_ends_its_workers(tmp_path: Path) -> None:
    pool = open_pool(Sleeping(tmp_path), workers=2)
    futures = [pool.submit([key]) for key in range(4)]
    while len(list(tmp_path.iterdir())) < 2:
        time.sleep(0.01)
    workers = [int(path.name) for path in tmp_path.iterdir()]
    assert all(runs(pid) for pid in workers)
    pool.close()
    assert not any(runs(pid) for pid in workers)
    assert all(future.done() for future in futures)


def test_a_pool_can_be_closed_before_its_first_batch_and_twice(tmp_path: Path) -> None:
    pool = open_pool(Squaring(tmp_path), workers=2)
    pool.close()
    pool.close()


def test_a_script_is_not_run_again_by_its_workers(tmp_path: Path) -> None:
    script, log = tmp_path / "script.py", tmp_path / "log"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(script), str(log)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "0: [1, 4]" in done.stdout and "1: [9]" in done.stdout
    assert log.read_text() == "run"


def test_what_a_worker_prints_does_not_come_between_its_results() -> None:
    pool = open_pool(Chatting(), workers=1)
    try:
        assert dict(run_batches(pool, [(0, [1]), (1, [2])])) == {0: [1], 1: [2]}
    finally:
        pool.close()


def test_a_batch_larger_than_a_pipe_holds_goes_both_ways() -> None:
    items = ["x" * 1_000_000] * 3
    pool = open_pool(Chatting(), workers=1)
    try:
        assert dict(run_batches(pool, [(0, items)])) == {0: items}
    finally:
        pool.close()


def test_a_worker_that_hears_no_alarm_ends_itself() -> None:
    pool = open_pool(Deaf(), workers=1)
    try:
        found = dict(run_batches(pool, [(0, ["a", "forever"]), (1, ["b"])]))
    finally:
        pool.close()
    assert found[0][0] == "a" and isinstance(found[0][1], Lost)
    assert found[1] == ["b"]


def test_a_work_of_the_script_itself_is_refused() -> None:
    kind = type("Own", (), {"__module__": "__main__", "prepare": lambda self: list})
    with pytest.raises(InputError, match="module"):
        pack_work(kind())


# What a worker imports first, as files that tell on themselves.
FOREIGN = "from pathlib import Path\nPath({mark!r}).touch()\nraise SystemExit('foreign code')\n"


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with files named like modules; return what exists once one was executed."""
    folder, mark = tmp_path / "here", tmp_path / "executed"
    folder.mkdir()
    for name in ("json", "signal", "pickle", "queue", "numpy", "rubricate"):
        (folder / f"{name}.py").write_text(FOREIGN.format(mark=str(mark)))
    monkeypatch.chdir(folder)
    return mark


@pytest.mark.parametrize("searched", ["not at all", "as the empty text", "by its name"])
def test_no_worker_executes_a_file_of_the_working_folder(
    foreign: Path, searched: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {"not at all": [], "as the empty text": [""], "by its name": [str(Path.cwd())]}
    monkeypatch.setattr(sys, "path", [*own[searched], *sys.path])
    pool = open_pool(Squaring(Path()), workers=1)
    try:
        assert dict(run_batches(pool, [(0, [3])])) == {0: [9]}
    finally:
        pool.close()
    assert not foreign.exists()


def test_folders_that_were_named_are_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), "/elsewhere"])
    monkeypatch.delenv("PYTHONPATH", raising=False)
    assert module_folders() == ["/elsewhere"]
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert module_folders() == [str(tmp_path), "/elsewhere"]
    monkeypatch.delenv("PYTHONPATH")
    script = ModuleType("__main__")
    script.__file__ = str(tmp_path / "script.py")
    monkeypatch.setitem(sys.modules, "__main__", script)
    assert module_folders() == [str(tmp_path), "/elsewhere"]


SAFE_CALL = re.compile(r"sys\.executable,\s*\"(-\w+)\"")


def test_every_interpreter_we_start_is_in_safe_path_mode() -> None:
    root = Path(__file__).parents[2]
    places = [path for part in ("src", "tests", "scripts", "training", "benchmarks")
              for path in sorted((root / part).rglob("*.py"))]  # fmt: skip
    unsafe = [
        str(path.relative_to(root))
        for path in places
        if any(first != "-P" for first in SAFE_CALL.findall(path.read_text(encoding="utf-8")))
    ]
    assert len(places) > 100
    assert not unsafe, "put -P before -c and -m"
