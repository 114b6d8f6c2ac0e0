"""Code of a worker: make a function once, then call it on each batch from its pipe."""

from __future__ import annotations

import faulthandler
import hashlib
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Thread, current_thread, main_thread
from typing import IO, Any, Protocol

from rubricate.errors import InputError, RubricateError

Function = Callable[[Sequence[Any]], list[Any]]


class Work(Protocol):
    """Something that can be sent to a worker and makes the function there.

    It is pickled, so it should be small: names and paths, not models.
    """

    def prepare(self) -> Function:
        """Return the function; called once in each worker process.

        The function gets a batch of items and returns one result for each item, in order. It must
        depend on nothing but the items, so that a batch done twice gives the same results.
        """
        ...


@dataclass(frozen=True, slots=True)
class Lost:
    """The result of an item whose workers all died."""

    reason: str


@dataclass(frozen=True, slots=True)
class Raised:
    """An error of the function, as text: not every exception can be sent between processes."""

    message: str

    def raise_again(self) -> None:
        """Raise it in this process."""
        raise RubricateError(self.message)


Results = list[Any] | Raised

#: Functions made in this process, by the hash of their work.
_prepared: dict[bytes, Function] = {}


def pack_work(work: Work) -> bytes:
    """Return the work as bytes to send."""
    kind = type(work)
    if kind.__module__ == "__main__":
        raise InputError(
            f"{kind.__qualname__} is defined in the script that is run, where workers cannot find "
            "it. Put it into a module of its own and import it."
        )
    return pickle.dumps(work)


def run_packed(packed: bytes, items: Sequence[Any]) -> Results:
    """Make the function, unless this process already has it, and call it."""
    key = hashlib.blake2b(packed, digest_size=16).digest()
    try:
        if key not in _prepared:
            # One work at a time: a worker that serves many runs must not keep all their models.
            _prepared.clear()
            _prepared[key] = pickle.loads(packed).prepare()
        return _prepared[key](items)
    except RubricateError as error:
        return Raised(str(error))
    except Exception as error:
        # The message itself may quote a note, so only the kind of error and its place are given.
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.lineno}"
        return Raised(f"{type(error).__name__} in a worker, at {place}")


class OutOfTimeError(BaseException):
    """The time for some work is over; no Exception, so that the work does not catch it itself."""


#: Seconds after twice its time at which a worker that heard no alarm ends itself.
GRACE = 10.0
#: Whether this process does nothing but serve batches; others are not ours to end.
_serving = False


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTimeError in a block that takes longer; 0 stands for no limit.

    It is kept in the main thread of a process, where the system has alarms (not on Windows). Code
    outside Python sees the alarm only when it returns; a worker process that is still at it after
    twice the time ends itself, and its batch is treated like that of a worker that died.

    >>> with time_limit(60.0):
    ...     sum(range(10))
    45
    """
    usable = hasattr(signal, "setitimer") and current_thread() is main_thread()
    if not seconds or not usable or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return

    def stop(number: int, frame: object) -> None:
        raise OutOfTimeError

    with ExitStack() as after:
        if _serving:
            nowhere = after.enter_context(Path(os.devnull).open("w"))
            faulthandler.dump_traceback_later(2 * seconds + GRACE, exit=True, file=nowhere)
            after.callback(faulthandler.cancel_dump_traceback_later)
        after.callback(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, stop))
        after.callback(signal.setitimer, signal.ITIMER_REAL, 0.0)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield


_HEAD_BYTES = 8


def send_message(stream: IO[bytes], message: bytes) -> None:
    """Write a message behind its length.

    >>> import io
    >>> stream = io.BytesIO()
    >>> send_message(stream, b"abc")
    >>> _ = stream.seek(0)
    >>> receive_message(stream)
    b'abc'
    """
    stream.write(len(message).to_bytes(_HEAD_BYTES, "little"))
    stream.write(message)
    stream.flush()


def receive_message(stream: IO[bytes]) -> bytes:
    """Read a message; EOFError if the other side ended before it was complete."""
    head = stream.read(_HEAD_BYTES)
    size = int.from_bytes(head, "little")
    message = stream.read(size) if len(head) == _HEAD_BYTES else b""
    if len(head) < _HEAD_BYTES or len(message) < size:
        raise EOFError
    return message


def serve() -> None:
    """Do the batches that come by standard input until it is closed; the work comes before them."""
    global _serving
    _serving = True
    results = os.fdopen(os.dup(1), "wb")
    # What a library prints must not come between the results.
    os.dup2(2, 1)
    waiting: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_receive_all, args=(sys.stdin.buffer, waiting), daemon=True).start()
    packed = waiting.get()
    while True:
        send_message(results, _answer(packed, waiting.get()))


def _receive_all(stream: IO[bytes], waiting: SimpleQueue[bytes]) -> None:
    """Queue what comes; when the parent has ended, end this process without finishing its batch."""
    try:
        while True:
            waiting.put(receive_message(stream))
    except (EOFError, OSError):
        os._exit(0)


def _answer(packed: bytes, batch: bytes) -> bytes:
    try:
        return pickle.dumps(run_packed(packed, pickle.loads(batch)))
    except Exception as error:
        # An answer, because a death would be tried again.
        message = f"{type(error).__name__}: a batch or its results cannot be sent to a worker"
        return pickle.dumps(Raised(message))
