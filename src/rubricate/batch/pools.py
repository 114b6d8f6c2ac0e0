"""Where batches run: in this process, in worker processes, or on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, Protocol

from rubricate.batch.processes import ProcessPool
from rubricate.batch.work import Results, Work
from rubricate.errors import InputError


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
