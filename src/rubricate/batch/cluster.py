"""Batches on a Dask cluster: the scheduler retries what a dead worker left, we bound the rest."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from concurrent.futures import Future
from importlib import import_module
from typing import Any

from rubricate.batch.work import Results, Work, pack_work, run_packed
from rubricate.errors import InputError, MissingExtraError, RubricateError

#: Seconds a cluster may be without any worker before the run gives up.
WITHOUT_WORKERS = 60.0
#: How long to try to reach the scheduler.
CONNECTING = "20s"
#: Batches under way for each worker thread.
PER_THREAD = 2


class ClusterPool:
    """Runs batches on the workers of a Dask scheduler.

    A batch whose worker died is given to another by the scheduler, which raises KilledWorker after
    some deaths (``distributed.scheduler.allowed-failures``, 3 unless configured otherwise).
    """

    patience = 1

    def __init__(self, work: Work, address: str, *, without_workers: float = WITHOUT_WORKERS):
        try:
            distributed: Any = import_module("distributed")
        except ImportError:
            raise MissingExtraError("A Dask cluster", "dask") from None
        try:
            self._client: Any = distributed.Client(
                address, timeout=CONNECTING, set_as_default=False
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(f"no Dask scheduler answers at {address}") from error
        self.deaths: tuple[type[BaseException], ...] = (distributed.KilledWorker,)
        self._address = address
        self._without_workers = without_workers
        self._last_seen = time.monotonic()
        self.depth = PER_THREAD * max(1, self._n_threads())
        # As the result of a task the work travels once to each worker, and is made again by the
        # scheduler when the worker that held it dies.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._packed = self._client.submit(_keep, pack_work(work), pure=False)

    def _n_threads(self) -> int:
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        return sum(int(worker["nthreads"]) for worker in workers)

    def submit(self, items: Sequence[Any]) -> Future[Results]:
        """Start a batch somewhere."""
        task = self._client.submit(run_packed, self._packed, items, pure=False)
        future: Future[Results] = Future()
        # The scheduler forgets a task that nobody refers to.
        future.task = task  # type: ignore[attr-defined]
        task.add_done_callback(lambda done: _pass_on(done, future))
        return future

    def renew(self) -> None:
        """The cluster replaces its own workers; one that died was there a moment ago."""
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
        """Leave the cluster; it goes on without us."""
        self._client.close()


def _keep(packed: bytes) -> bytes:
    return packed


def _pass_on(done: Any, future: Future[Results]) -> None:
    """Hand the end of a Dask task to an ordinary future."""
    try:
        if done.status == "finished":
            future.set_result(done.result())
            # Or the scheduler would do it again when the worker that holds the result dies.
            done.release()
        elif done.status == "error":
            future.set_exception(done.exception())
        else:
            future.set_exception(
                RubricateError("the Dask scheduler dropped a batch. Start the same command again.")
            )
    except Exception as error:
        future.set_exception(error)
