"""Places where batches run: this process, worker processes, or a cluster."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import pickle
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import IO, Any, Protocol, cast

from rubricate.batch.work import Results, Work, pack_work, receive_message, run_packed, send_message
from rubricate.errors import InputError, MissingExtraError, RubricateError

#: How many threads libraries start that would take one for each core.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
#: Whatever a worker starts does not search the working folder for modules either.
SAFE_PATH = {"PYTHONSAFEPATH": "1"}
#: An interrupt from the keyboard reaches the workers too; the parent ends them.
_CODE = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); import json, sys; "
    "sys.path[:] = json.loads(sys.argv[1]); from rubricate.batch.work import serve; serve()"
)


class Pool(Protocol):
    """Runs batches of one work.

    ``depth``: how many batches to keep running.
    ``deaths``: what a future raises when its worker died.
    ``patience``: how many workers a batch that runs alone may lose before it is divided.
    """

    depth: int
    deaths: tuple[type[BaseException], ...]
    patience: int

    def submit(self, items: Sequence[Any]) -> Future[Results]:
        """Start a batch."""
        ...

    def renew(self) -> None:
        """Replace what died, where the next batch does not start a new worker itself."""
        return

    def check(self) -> None:
        """Raise RubricateError when waiting is no use; deaths on this machine are noticed."""
        return

    def close(self) -> None:
        """End the workers."""
        ...


class InlinePool(Pool):
    """Runs each batch in this process, as soon as it is submitted.

    >>> class Doubling:
    ...     def prepare(self):
    ...         return lambda items: [2 * item for item in items]
    >>> InlinePool(Doubling()).submit([1, 2]).result()
    [2, 4]
    """

    depth = 1
    deaths: tuple[type[BaseException], ...] = ()
    patience = 1

    def __init__(self, work: Work) -> None:
        self._function = work.prepare()

    def submit(self, items: Sequence[Any]) -> Future[Results]:
        """Run the batch and return its results as a finished future."""
        future: Future[Results] = Future()
        future.set_result(self._function(items))
        return future

    def close(self) -> None:
        """Do nothing: there are no workers to end."""


class WorkerDiedError(Exception):
    """A worker process ended during the batch it was given."""


def module_folders() -> list[str]:
    """Return the module search path of workers: that of this process without the working folder.

    A file called ``json.py`` that lies where a command is run must not be executed. ``python -m``
    and ``-c`` search that folder without being asked to. It stays if it was named in PYTHONPATH,
    or if the script that is run lies in it.
    """
    main = sys.modules["__main__"]
    script = getattr(main, "__file__", None) if getattr(main, "__spec__", None) is None else None
    named = [
        Path(one).resolve() for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one
    ]
    if script is not None:
        named.append(Path(script).resolve().parent)
    here = Path.cwd()
    return [one for one in sys.path if one and (Path(one).resolve() != here or here in named)]


class _Worker:
    """A process and the two pipes to it.

    It is an interpreter of its own. Those of multiprocessing (and so of the libraries above it)
    would run the caller's script again in every worker, or copy a process that has threads.
    """

    def __init__(self, packed: bytes, n_workers: int) -> None:
        threads = str(max(1, (os.cpu_count() or 1) // n_workers))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _CODE, json.dumps(module_folders())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**dict.fromkeys(_THREAD_VARIABLES, threads), **os.environ, **SAFE_PATH},
        )
        self._to = cast(IO[bytes], self._process.stdin)
        self._from = cast(IO[bytes], self._process.stdout)
        self._packed: bytes | None = packed

    def run(self, items: Sequence[Any]) -> Results:
        """Send a batch and wait for its results."""
        # What cannot be sent is the caller's fault and no death, so it is packed outside the try.
        batch = pickle.dumps(items)
        try:
            if self._packed is not None:
                send_message(self._to, self._packed)
                self._packed = None
            send_message(self._to, batch)
            answer = receive_message(self._from)
        except (EOFError, OSError) as error:
            raise WorkerDiedError from error
        results: Results = pickle.loads(answer)
        return results

    def kill(self) -> None:
        """End the process, whatever it is doing; a batch that waits gets WorkerDiedError."""
        self._process.kill()

    def end(self) -> None:
        """End the process and close the pipes, which nobody else may be using."""
        self.kill()
        self._process.wait()
        # Closing writes what is still in the buffer, and a dead worker takes nothing.
        with contextlib.suppress(OSError):
            self._to.close()
        self._from.close()


class ProcessPool(Pool):
    """Worker processes of this machine, each with a thread here that feeds it.

    The death of a worker ends only the batch it was doing; its thread starts another worker for
    the next batch. ProcessPoolExecutor would give up all workers when one dies, and in Python 3.11
    its clean-up fails if a batch is submitted meanwhile.
    """

    deaths: tuple[type[BaseException], ...] = (WorkerDiedError,)
    patience = 2

    def __init__(self, work: Work, n_workers: int) -> None:
        self.depth = 2 * n_workers
        self._packed = pack_work(work)
        self._n_workers = n_workers
        self._threads = ThreadPoolExecutor(n_workers)
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._lock = Lock()
        self._closed = False

    def submit(self, items: Sequence[Any]) -> Future[Results]:
        """Start a batch; workers are started when first needed."""
        return self._threads.submit(self._run, items)

    def _run(self, items: Sequence[Any]) -> Results:
        worker = self._take()
        try:
            results = worker.run(items)
        except BaseException:
            worker.end()
            with self._lock:
                self._all.discard(worker)
            raise
        with self._lock:
            self._idle.append(worker)
        return results

    def _take(self) -> _Worker:
        """Return a worker that waits, or a new one."""
        with self._lock:
            if self._closed:
                raise WorkerDiedError
            if self._idle:
                return self._idle.pop()
            worker = _Worker(self._packed, self._n_workers)
            self._all.add(worker)
            return worker

    def close(self) -> None:
        """End the workers and give up the batches that are running."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._closed = True
            workers = list(self._all)
        for worker in workers:
            worker.kill()
        # Each thread ends the worker it was feeding; the idle ones are left to us.
        self._threads.shutdown(wait=True)
        for worker in self._idle:
            worker.end()


def open_pool(work: Work, *, workers: int = 0, dask: str | None = None) -> Pool:
    """Return the pool that runs the work."""
    if workers < 0:
        raise InputError(f"workers is {workers}: it must be 0 (this process) or more")
    if dask and workers:
        raise InputError("give a number of workers or the address of a Dask scheduler, not both")
    if dask:
        return ClusterPool(work, dask)
    return ProcessPool(work, workers) if workers else InlinePool(work)


#: Seconds without any worker after which the run gives up.
WITHOUT_WORKERS = 60.0
#: How long to try to reach the scheduler.
CONNECTING = "20s"
#: Seconds before a result that was lost is asked for again.
_LOST_PAUSE = 0.1
#: Batches to keep running for each worker thread.
PER_THREAD = 2
#: Who tells of a lost connection, with all the places in the program; we say it in one line.
_LOGGERS = ("distributed", "distributed.client", "distributed.core", "tornado", "asyncio")
_SCHEDULER_DIED = (
    "the Dask scheduler ended, or dropped a batch. Finished batches are kept: start the scheduler "
    "and its workers, and the same command again."
)


class ClusterPool(Pool):
    """Runs batches on the workers of a Dask scheduler.

    The scheduler gives a batch whose worker died to another worker, and raises KilledWorker after
    some deaths (``distributed.scheduler.allowed-failures``, by default 3).
    """

    patience = 1

    def __init__(self, work: Work, address: str, *, without_workers: float = WITHOUT_WORKERS):
        try:
            distributed: Any = import_module("distributed")
        except ImportError:
            raise MissingExtraError("A Dask cluster", "dask") from None
        self._levels = {name: logging.getLogger(name).level for name in _LOGGERS}
        for name in _LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        try:
            self._client: Any = distributed.Client(
                address, timeout=CONNECTING, set_as_default=False
            )
        except (OSError, TimeoutError, ValueError) as error:
            self._speak_again()
            raise InputError(f"no Dask scheduler answers at {address}") from error
        self.deaths: tuple[type[BaseException], ...] = (distributed.KilledWorker,)
        self._address = address
        self._without_workers = without_workers
        self._last_seen = time.monotonic()
        self.depth = PER_THREAD * max(1, self._n_threads())
        # As the result of a task, the work is sent once to each worker, and the scheduler makes it
        # again when the worker that held it dies.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._packed = self._client.submit(_keep, pack_work(work), pure=False)

    def _n_threads(self) -> int:
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        return sum(int(worker["nthreads"]) for worker in workers)

    def submit(self, items: Sequence[Any]) -> Future[Results]:
        """Start a batch somewhere."""
        try:
            task = self._client.submit(run_packed, self._packed, items, pure=False)
        except (OSError, RuntimeError, ValueError) as error:
            raise RubricateError(_SCHEDULER_DIED) from error
        future: Future[Results] = Future()
        # The scheduler forgets a task that nobody refers to.
        future.task = task  # type: ignore[attr-defined]
        task.add_done_callback(lambda done: _pass_on(done, future))
        return future

    def renew(self) -> None:
        """Only note the time: the cluster replaces its own workers."""
        self._last_seen = time.monotonic()

    def check(self) -> None:
        """Give up when there has been no worker, or no scheduler, for a while."""
        if self._client.status == "running" and self._n_threads():
            self._last_seen = time.monotonic()
        elif time.monotonic() - self._last_seen > self._without_workers:
            raise RubricateError(
                f"the Dask cluster at {self._address} has had no worker for "
                f"{self._without_workers:.0f} s. Finished batches are kept: "
                "start workers, and the same command again."
            )

    def close(self) -> None:
        """Leave the cluster, which goes on."""
        with contextlib.suppress(OSError, TimeoutError, RuntimeError):
            self._client.close()
        self._speak_again()

    def _speak_again(self) -> None:
        for name, level in self._levels.items():
            logging.getLogger(name).setLevel(level)


def _keep(packed: bytes) -> bytes:
    return packed


def _pass_on(done: Any, future: Future[Results]) -> None:
    """Hand the end of a Dask task to an ordinary future."""
    try:
        if done.status == "finished":
            future.set_result(done.result())
            # Otherwise the scheduler would do it again when the worker that holds the result dies.
            done.release()
        elif done.status == "error":
            future.set_exception(done.exception())
        elif done.status in ("lost", "pending"):
            # It died with the worker that held it, before we took it: the scheduler makes it again.
            time.sleep(_LOST_PAUSE)
            done.add_done_callback(lambda again: _pass_on(again, future))
        else:
            future.set_exception(RubricateError(_SCHEDULER_DIED))
    except Exception as error:
        future.set_exception(error)
