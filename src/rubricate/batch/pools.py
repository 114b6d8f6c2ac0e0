"""Where batches run: in this process, in worker processes, or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
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
    falls_together : bool
        Whether one death ends all batches under way.
    patience : int
        How often a batch that runs alone may lose its worker before it is divided.
    """

    depth: int
    deaths: tuple[type[BaseException], ...]
    falls_together: bool
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
    falls_together = False
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


class ProcessPool:
    """Worker processes of this machine.

    ProcessPoolExecutor gives up all its workers when one dies; `renew` starts new ones. Workers
    are spawned, not forked, since a fork copies the locks of other threads as they stand.
    """

    deaths: tuple[type[BaseException], ...] = (BrokenProcessPool,)
    falls_together = True
    patience = 2

    def __init__(self, work: Work, n_workers: int) -> None:
        self.depth = 2 * n_workers
        self._packed = pack_work(work)
        self._n_workers = n_workers
        self._executor: ProcessPoolExecutor | None = None

    def submit(self, items: Sequence[Any]) -> Future[Results]:
        """Start a batch; workers are started when first needed."""
        if self._executor is None:
            from multiprocessing import get_context

            self._executor = ProcessPoolExecutor(
                self._n_workers,
                mp_context=get_context("spawn"),
                initializer=_start_worker,
                initargs=(self._packed, self._n_workers),
            )
        try:
            return self._executor.submit(_run_here, items)
        except BrokenProcessPool as error:
            future: Future[Results] = Future()
            future.set_exception(error)
            return future

    def renew(self) -> None:
        """Give up the broken workers; the next batch starts new ones."""
        self.close()

    def check(self) -> None:
        """A local worker that dies is always noticed."""

    def close(self) -> None:
        """End the workers."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None


_packed_here = b""


def _start_worker(packed: bytes, n_workers: int) -> None:
    """Set up a worker process, before it imports anything heavy."""
    global _packed_here
    _packed_here = packed
    for name in _THREAD_VARIABLES:
        os.environ.setdefault(name, str(max(1, (os.cpu_count() or 1) // n_workers)))
    _end_with_parent()


def _end_with_parent() -> None:
    """Let this worker end when its parent is killed: its queue would keep it waiting for ever."""
    from multiprocessing import parent_process
    from multiprocessing.connection import wait
    from threading import Thread

    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _run_here(items: Sequence[Any]) -> Results:
    return run_packed(_packed_here, items)


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
