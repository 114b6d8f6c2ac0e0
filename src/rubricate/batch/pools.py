"""Where batches run: in this process, in worker processes, or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from threading import Lock, Thread
from typing import Any, Protocol

from rubricate.batch.work import Raised, Work, pack_work, run_packed
from rubricate.errors import InputError

Results = list[Any] | Raised

#: Libraries that start a thread a core of their own accord.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Pool(Protocol):
    """Runs batches of one work.

    Attributes
    ----------
    depth : int
        How many batches to keep under way.
    deaths : tuple of exception types
        What a future raises when its worker died.
    patience : int
        How often a batch that runs alone may lose its worker before it is divided.
    """

    depth: int
    deaths: tuple[type[BaseException], ...]
    patience: int

    def submit(self, items: Sequence[Any]) -> Future[Results]:
        """Start a batch."""
        ...

    def renew(self) -> None:
        """Replace what died."""
        ...

    def check(self) -> None:
        """Raise RubricateError when waiting longer is of no use."""
        ...

    def close(self) -> None:
        """End the workers."""
        ...


class InlinePool:
    """Runs each batch in this process, when it is submitted.

    Examples
    --------
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

    def renew(self) -> None:
        """Nothing can die here but everything."""

    def check(self) -> None:
        """Nothing is ever waited for."""

    def close(self) -> None:
        """Nothing to end."""


class WorkerDiedError(Exception):
    """A worker process ended under the batch it was given."""


class _Worker:
    """A process and the pipe to it."""

    def __init__(self, packed: bytes, n_workers: int) -> None:
        # Spawned, not forked, since a fork copies the locks of other threads as they stand.
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, packed, n_workers), daemon=True
        )
        self._process.start()
        # While this process holds the other end too, the death of the worker would go unnoticed.
        theirs.close()

    def run(self, items: Sequence[Any]) -> Results:
        """Send a batch and wait for its results."""
        # What cannot be sent is the caller's fault and no death, so it is packed outside the try.
        packed = ForkingPickler.dumps(items)
        try:
            self._pipe.send_bytes(packed)
            results: Results = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise WorkerDiedError from error
        return results

    def end(self) -> None:
        """End the process, whatever it is at; a batch that waits for it gets WorkerDiedError."""
        self._process.kill()
        self._process.join()


class ProcessPool:
    """Worker processes of this machine, each with a thread here that feeds it.

    A death ends the one batch the worker was at; its thread starts another worker for the next.
    ProcessPoolExecutor would give up every worker at a death, and in Python 3.11 its clean-up fails
    when a batch is submitted meanwhile.
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

    def renew(self) -> None:
        """The next batch starts the worker it lacks."""

    def check(self) -> None:
        """A local worker that dies is always noticed."""

    def close(self) -> None:
        """End the workers, and give up the batches under way."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._closed = True
            workers = list(self._all)
        for worker in workers:
            worker.end()
        self._threads.shutdown(wait=True)


def _serve(pipe: Connection, packed: bytes, n_workers: int) -> None:
    """Do the batches that come through the pipe until it is closed."""
    # Before anything heavy is imported.
    for name in _THREAD_VARIABLES:
        os.environ.setdefault(name, str(max(1, (os.cpu_count() or 1) // n_workers)))
    _end_with_parent()
    while True:
        try:
            items = pipe.recv()
        except (EOFError, OSError):
            return
        results = run_packed(packed, items)
        try:
            pipe.send(results)
        except OSError:
            return
        except Exception as error:
            # Results that cannot be packed: said once, instead of a death that is tried again.
            pipe.send(Raised(f"{type(error).__name__}: a worker cannot send its results"))


def _end_with_parent() -> None:
    """Let this worker end at once when its parent is killed, not after its batch."""
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def open_pool(work: Work, *, workers: int = 0, dask: str | None = None) -> Pool:
    """Return where to run the work.

    Parameters
    ----------
    work : Work
        What to do.
    workers : int
        Worker processes of this machine; with 0 this process does the work.
    dask : str, optional
        Address of a Dask scheduler, e.g. ``tcp://host:8786``.

    Raises
    ------
    InputError
        If both are given, or the scheduler cannot be reached.
    """
    if workers < 0:
        raise InputError(f"workers is {workers}: it must be 0 (this process) or more")
    if dask and workers:
        raise InputError("give a number of workers or the address of a Dask scheduler, not both")
    if dask:
        from rubricate.batch.cluster import ClusterPool

        return ClusterPool(work, dask)
    return ProcessPool(work, workers) if workers else InlinePool(work)
