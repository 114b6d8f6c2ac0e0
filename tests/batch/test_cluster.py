from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from threading import Event, Thread, Timer

import pytest
from killing import Squaring

import rubricate.batch.pools
from rubricate.batch import Lost, Retries, Work, open_pool, run_batches
from rubricate.batch.pools import ClusterPool, _pass_on
from rubricate.errors import InputError

pytest.importorskip("distributed")
pytestmark = pytest.mark.engine

# One death is enough for the scheduler to give a batch back to us: the test is shorter.
ENVIRONMENT = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
BATCHES = [(key, list(range(5 * key, 5 * key + 5))) for key in range(12)]
EXPECTED = {key: [i * i for i in items] for key, items in BATCHES}


class Cluster:
    """A scheduler and its workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self.log = (folder / "log").open("w")
        self.processes: list[subprocess.Popen[bytes]] = []
        self.start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                   "--scheduler-file", str(self.file))  # fmt: skip
        self.await_address()

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        tests = str(Path(__file__).parent)
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "dask", *arguments],
            env={**os.environ, "PYTHONPATH": tests, **ENVIRONMENT},
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def start_worker(self) -> subprocess.Popen[bytes]:
        return self.start("worker", "--scheduler-file", str(self.file), "--nthreads", "1",
                          "--no-nanny", "--no-dashboard")  # fmt: skip

    @contextlib.contextmanager
    def always_one_worker(self) -> Iterator[None]:
        """Start another worker whenever the last one died, as a service manager would."""
        stop = Event()

        def watch() -> None:
            worker = self.start_worker()
            while not stop.wait(0.1):
                if worker.poll() is not None:
                    worker = self.start_worker()

        thread = Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def await_address(self) -> str:
        while self.processes[0].poll() is None:
            try:
                return str(json.loads(self.file.read_text())["address"])
            except (OSError, ValueError, KeyError):
                time.sleep(0.1)
        raise AssertionError("the scheduler ended")

    def open_pool(self, work: Work) -> ClusterPool:
        """Return a pool that waits for workers however busy the machine is."""
        return ClusterPool(work, self.await_address(), without_workers=3600.0)

    def stop(self) -> None:
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.log.close()


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    monkeypatch.setattr(rubricate.batch.pools, "CONNECTING", "600s")
    started = Cluster(tmp_path)
    yield started
    started.stop()


def test_a_killed_worker_of_two_changes_nothing(cluster: Cluster, tmp_path: Path) -> None:
    doomed, _ = cluster.start_worker(), cluster.start_worker()
    pool = cluster.open_pool(Squaring(tmp_path, pause=0.3))
    found: dict[int, list[int]] = {}
    try:
        for key, results in run_batches(pool, BATCHES):
            found[key] = results
            if len(found) == 2:
                Timer(0.1, lambda: doomed.send_signal(signal.SIGKILL)).start()
    finally:
        pool.close()
    assert found == EXPECTED
    assert doomed.wait() == -signal.SIGKILL


def test_a_result_that_died_with_its_worker_is_made_again(cluster: Cluster, tmp_path: Path) -> None:
    doomed, pool = cluster.start_worker(), cluster.open_pool(Squaring(tmp_path))
    try:
        task = pool._client.submit(max, 3, 5, pure=False)
        assert task.result() == 5
        doomed.send_signal(signal.SIGKILL)
        while task.status == "finished":
            time.sleep(0.05)
        found: Future[list[int]] = Future()
        _pass_on(task, found)
        assert not found.done()
        cluster.start_worker()
        assert found.result() == 5
    finally:
        pool.close()


def test_an_item_no_worker_survives_is_lost(cluster: Cluster, tmp_path: Path) -> None:
    retries = Retries()
    with cluster.always_one_worker():
        pool = cluster.open_pool(Squaring(tmp_path, fatal=(7,)))
        try:
            found = dict(run_batches(pool, [(0, [6, 7])], retries=retries))
        finally:
            pool.close()
    assert found[0][0] == 36
    assert isinstance(found[0][1], Lost)
    assert retries.lost == 1


def test_no_scheduler_is_said_plainly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rubricate.batch.pools, "CONNECTING", "1s")
    with pytest.raises(InputError):
        open_pool(Squaring(tmp_path), dask="tcp://127.0.0.1:9")


SCORING = """
import sys
from pathlib import Path
from killing import Squaring
from rubricate.batch import open_pool, run_batches
from rubricate.errors import RubricateError

pool = open_pool(Squaring(Path(sys.argv[1]), pause=0.3), dask=sys.argv[2])
try:
    for key, _ in run_batches(pool, [(key, [key]) for key in range(200)]):
        print(key, flush=True)
except RubricateError as error:
    sys.exit(f"Error: {error}")
finally:
    pool.close()
"""


def test_the_death_of_the_scheduler_is_one_line(cluster: Cluster, tmp_path: Path) -> None:
    cluster.start_worker()
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    run = subprocess.Popen(
        [sys.executable, "-P", "-c", SCORING, str(tmp_path), cluster.await_address()],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert run.stdout is not None
    run.stdout.readline()
    cluster.processes[0].kill()
    _, said = run.communicate()
    assert run.returncode == 1
    assert len(said.splitlines()) == 1, said
    assert said.startswith("Error: ") and "same command again" in said
