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

from rubricate import Corpus
from rubricate.matchers import fit_matcher

pytestmark = pytest.mark.engine

SAME = ("scores.csv", "items.csv", "scores.xlsx", "run.json")
# A run that stops itself when so many batches are done, so that it can be killed there however
# busy the machine is.
CODE = """
import json, os, signal, sys
from pathlib import Path
from rubricate.scoring import ScoreSettings, score_notes

notes, model, out, stop_at, more = sys.argv[1:]

stops = [int(stop_at)] if stop_at != "0" else []

def stop(done, total, label):
    if len(list(Path(out, "evidence").glob("0*.gz"))) in stops:
        stops.clear()
        os.kill(os.getpid(), signal.SIGSTOP)

settings = ScoreSettings(batch_size=25, **json.loads(more))
score_notes(notes, out, model=model, settings=settings, progress=stop)
"""


class RunProcess:
    """A scoring run in a process of its own."""

    def __init__(
        self, notes: Path, model: Path, out: Path, *, stop_at: int = 0, **settings: object
    ) -> None:
        self.out = out
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", CODE, str(notes), str(model), str(out), str(stop_at),
             json.dumps(settings)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip

    def n_done(self) -> int:
        return len(list((self.out / "evidence").glob("0*.gz")))

    def await_stop(self) -> None:
        flags = os.WSTOPPED | os.WEXITED | os.WNOWAIT
        state = os.waitid(os.P_PID, self.process.pid, flags)
        assert state is not None and state.si_code == os.CLD_STOPPED, "it ended too early"

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def workers(self) -> list[int]:
        """Return the ids of its worker processes; threads start them, so all threads are asked."""
        found = []
        for children in Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            for pid in map(int, children.read_text().split()):
                if b"rubricate.batch.work" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    found.append(pid)
        return found

    def finish(self) -> dict[str, int]:
        _, errors = self.process.communicate()
        assert self.process.returncode == 0, errors.decode()
        times: dict[str, int] = json.loads((self.out / "times.json").read_text())
        return times


def contents(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in SAME]


def await_end(pid: int) -> None:
    """Wait until a process that is not our child has ended; one nobody asks after counts as such."""
    with contextlib.suppress(OSError):
        while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
            time.sleep(0.05)


Start = Callable[..., RunProcess]
in_proc = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="workers are found in /proc"
)


@pytest.fixture(scope="module")
def undisturbed(
    notes_file: Path, model: Path, tmp_path_factory: pytest.TempPathFactory
) -> list[bytes]:
    run = RunProcess(notes_file, model, tmp_path_factory.mktemp("run") / "out")
    run.finish()
    return contents(run.out)


@pytest.fixture
def start(notes_file: Path, model: Path, tmp_path: Path) -> Iterator[Start]:
    runs: list[RunProcess] = []

    def started(**more: object) -> RunProcess:
        runs.append(RunProcess(notes_file, model, tmp_path / "out", **more))  # type: ignore[arg-type]
        return runs[-1]

    yield started
    for run in runs:
        run.process.kill()
        if run.process.stderr is not None and not run.process.stderr.closed:
            run.process.communicate()


@pytest.mark.parametrize("workers", [0, 2])
def test_a_killed_run_goes_on(start: Start, undisturbed: list[bytes], workers: int) -> None:
    first = start(workers=workers, stop_at=3)
    first.await_stop()
    n_done = first.n_done()
    first.process.send_signal(signal.SIGKILL)
    first.process.wait()
    assert not (first.out / "run.json").exists()
    times = start(workers=workers).finish()
    assert times["batches_kept"] == n_done == 3 < times["batches"]
    assert contents(first.out) == undisturbed


@in_proc
def test_the_workers_of_a_killed_run_end(start: Start) -> None:
    run = start(workers=2, stop_at=3)
    run.await_stop()
    orphans = run.workers()
    assert orphans
    run.process.send_signal(signal.SIGKILL)
    for pid in orphans:
        await_end(pid)


@in_proc
def test_a_killed_worker_changes_nothing(start: Start, undisturbed: list[bytes]) -> None:
    run = start(workers=2, stop_at=2)
    run.await_stop()
    for pid in run.workers():
        os.kill(pid, signal.SIGKILL)
    run.go_on()
    assert run.finish()["worker_deaths"] >= 1
    assert contents(run.out) == undisturbed


Dask = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[tuple[str, Dask]]:
    """Yield the address of a Dask scheduler, and what starts a worker of it."""
    pytest.importorskip("distributed")
    file = tmp_path / "scheduler.json"
    processes: list[subprocess.Popen[bytes]] = []

    def dask(*arguments: str) -> subprocess.Popen[bytes]:
        processes.append(
            subprocess.Popen(
                [sys.executable, "-P", "-m", "dask", *arguments, "--no-dashboard"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
        return processes[-1]

    def worker(*more: str) -> subprocess.Popen[bytes]:
        return dask("worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny", *more)

    try:
        dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
        while not (file.exists() and file.read_text().endswith("}")):
            time.sleep(0.1)
        yield json.loads(file.read_text())["address"], worker
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_a_killed_worker_of_a_cluster_changes_nothing(
    start: Start, undisturbed: list[bytes], scheduler: tuple[str, Dask]
) -> None:
    address, worker = scheduler
    doomed, _ = worker(), worker()
    run = start(dask=address, stop_at=2)
    run.await_stop()
    doomed.kill()
    run.go_on()
    times = run.finish()
    assert times["batches_kept"] == 0
    assert contents(run.out) == undisturbed


@pytest.mark.slow
def test_a_worker_of_a_cluster_dies_with_a_batch_in_hand(
    depth: Corpus, notes_file: Path, scheduler: tuple[str, Dask], tmp_path: Path
) -> None:
    """The lexicon takes so long that the worker is at work when it gets SIGKILL."""
    from distributed import Client

    model = tmp_path / "lexicon"
    fit_matcher("lexicon", Corpus((), depth.rubrics)).save(model)
    alone = RunProcess(notes_file, model, tmp_path / "alone")
    alone.finish()
    address, worker = scheduler
    doomed = worker("--name", "doomed")
    worker("--name", "other")
    with Client(address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
        client.wait_for_workers(2)
        run = RunProcess(notes_file, model, tmp_path / "out", dask=address, stop_at=3)
        run.await_stop()
        known = client.scheduler_info(n_workers=-1)["workers"]
        (place,) = [key for key, one in known.items() if one["name"] == "doomed"]
        in_hand = client.processing()[place]
        doomed.kill()
        doomed.wait()
    assert len(in_hand) > 0
    run.go_on()
    run.finish()
    assert contents(run.out) == contents(alone.out)
