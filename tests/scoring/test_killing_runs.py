"""Runs whose processes get SIGKILL end with the same bytes as undisturbed ones."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.engine

SAME = ("scores.csv", "items.csv", "scores.xlsx", "run.json")
CODE = "from rubricate.cli.score import score_command; score_command()"


class Run:
    """A scoring run in a process of its own."""

    def __init__(self, notes: Path, model: Path, out: Path, *more: str) -> None:
        self.out = out
        self.process = subprocess.Popen(
            [sys.executable, "-c", CODE, str(notes), "--model", str(model), "--out", str(out),
             "--batch-size", "25", *more],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip

    def n_done(self) -> int:
        return len(list((self.out / "evidence").glob("0*.gz")))

    def await_batches(self, n: int) -> None:
        while self.n_done() < n:
            assert self.process.poll() is None, "it ended before it could be killed"
            time.sleep(0.005)

    def workers(self) -> list[int]:
        """Return the ids of its worker processes."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        found = []
        for pid in map(int, children.read_text().split()):
            with contextlib.suppress(OSError):
                if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    found.append(pid)
        return found

    def finish(self) -> dict[str, int]:
        _, errors = self.process.communicate()
        assert self.process.returncode == 0, errors.decode()
        times: dict[str, int] = json.loads((self.out / "times.json").read_text())
        return times


def contents(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in SAME]


Start = Callable[..., Run]


@pytest.fixture(scope="module")
def undisturbed(
    notes_file: Path, model: Path, tmp_path_factory: pytest.TempPathFactory
) -> list[bytes]:
    run = Run(notes_file, model, tmp_path_factory.mktemp("run") / "out")
    run.finish()
    return contents(run.out)


@pytest.fixture
def start(notes_file: Path, model: Path, tmp_path: Path) -> Iterator[Start]:
    runs: list[Run] = []

    def started(*more: str) -> Run:
        runs.append(Run(notes_file, model, tmp_path / "out", *more))
        return runs[-1]

    yield started
    for run in runs:
        run.process.kill()
        if run.process.stderr is not None and not run.process.stderr.closed:
            run.process.communicate()


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_killed_run_goes_on(start: Start, undisturbed: list[bytes], workers: str) -> None:
    first = start("--workers", workers)
    first.await_batches(3)
    orphans = first.workers()
    first.process.send_signal(signal.SIGKILL)
    first.process.wait()
    n_done = first.n_done()
    assert not (first.out / "run.json").exists()
    times = start("--workers", workers).finish()
    assert times["batches_kept"] == n_done < times["batches"]
    assert contents(first.out) == undisturbed
    assert not [pid for pid in orphans if Path(f"/proc/{pid}").exists()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="workers are found in /proc")
def test_a_killed_worker_changes_nothing(start: Start, undisturbed: list[bytes]) -> None:
    run = start("--workers", "2")
    run.await_batches(2)
    os.kill(run.workers()[0], signal.SIGKILL)
    assert run.finish()["worker_deaths"] >= 1
    assert contents(run.out) == undisturbed


def test_a_killed_worker_of_a_cluster_changes_nothing(
    start: Start, undisturbed: list[bytes], tmp_path: Path
) -> None:
    pytest.importorskip("distributed")
    file = tmp_path / "scheduler.json"
    processes: list[subprocess.Popen[bytes]] = []

    def dask(*arguments: str) -> subprocess.Popen[bytes]:
        processes.append(
            subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments, "--no-dashboard"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
        return processes[-1]

    try:
        dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
        doomed, _ = (
            dask("worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny")
            for _ in range(2)
        )
        while not (file.exists() and file.read_text().endswith("}")):
            time.sleep(0.1)
        run = start("--dask", json.loads(file.read_text())["address"])
        run.await_batches(2)
        doomed.kill()
        times = run.finish()
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert times["batches_kept"] == 0
    assert contents(run.out) == undisturbed
