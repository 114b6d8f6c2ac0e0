"""Batches in worker processes of this machine, each with a thread here that feeds it."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import IO, Any, cast

from rubricate.batch.serving import receive_message, send_message
from rubricate.batch.work import Results, Work, pack_work

#: Libraries that start a thread a core of their own accord.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
#: An interrupt from the keyboard reaches the workers, too: the parent ends them.
_CODE = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); import json, sys; "
    "sys.path[:] = json.loads(sys.argv[1]); from rubricate.batch.serving import serve; serve()"
)


class WorkerDiedError(Exception):
    """A worker process ended under the batch it was given."""


class _Worker:
    """A process and the two pipes to it.

    It is an interpreter of its own, not one of multiprocessing's, which would run the caller's
    script in every worker once more.
    """

    def __init__(self, packed: bytes, n_workers: int) -> None:
        threads = str(max(1, (os.cpu_count() or 1) // n_workers))
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CODE, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**dict.fromkeys(_THREAD_VARIABLES, threads), **os.environ},
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
        """End the process, whatever it is at; a batch that waits for it gets WorkerDiedError."""
        self._process.kill()

    def end(self) -> None:
        """End the process and close the pipes; nobody else may be using them."""
        self.kill()
        self._process.wait()
        # What a dead worker was not sent is still to be written.
        with contextlib.suppress(OSError):
            self._to.close()
        self._from.close()


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
            worker.kill()
        # Each thread ends the worker it was feeding; then the others are nobody's.
        self._threads.shutdown(wait=True)
        for worker in self._idle:
            worker.end()
