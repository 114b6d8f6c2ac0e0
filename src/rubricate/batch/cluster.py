"""Batches on a Dask cluster, whose scheduler gives the batch of a dead worker to another one."""

from __future__ import annotations

import contextlib
import logging
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import Future
from importlib import import_module
from typing import Any

from rubricate.batch.work import Results, Work, pack_work, run_packed
from rubricate.errors import InputError, MissingExtraError, RubricateError

#: Seconds without any worker after which the run gives up.
WITHOUT_WORKERS = 60.0
#: How long to try to reach the scheduler.
CONNECTING = "20s"
#: Batches to keep running for each worker thread.
PER_THREAD = 2
#: Who tells of a lost connection, with all the places in the program; we say it in one line.
_LOGGERS = ("distributed", "distributed.client", "distributed.core", "tornado", "asyncio")
_SCHEDULER_DIED = (
    "the Dask scheduler ended, or dropped a batch. Finished batches are kept: start the scheduler "
    "and its workers, and the same command again."
)


class ClusterPool:
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
        else:
            future.set_exception(RubricateError(_SCHEDULER_DIED))
    except Exception as error:
        future.set_exception(error)
