"""What a worker process does: batches come in by one pipe, results go out by another."""

from __future__ import annotations

import os
import pickle
import sys
from queue import SimpleQueue
from threading import Thread
from typing import IO

from rubricate.batch.work import Raised, run_packed

_HEAD_BYTES = 8


def send_message(stream: IO[bytes], message: bytes) -> None:
    """Write a message behind its length.

    Examples
    --------
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
    """Read a message; EOFError where the other side ended, before one or in it."""
    head = stream.read(_HEAD_BYTES)
    size = int.from_bytes(head, "little")
    message = stream.read(size) if len(head) == _HEAD_BYTES else b""
    if len(head) < _HEAD_BYTES or len(message) < size:
        raise EOFError
    return message


def serve() -> None:
    """Do the batches that come by standard input until it is closed; the work comes first."""
    results = os.fdopen(os.dup(1), "wb")
    # What a library prints must not come between the results.
    os.dup2(2, 1)
    waiting: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_receive_all, args=(sys.stdin.buffer, waiting), daemon=True).start()
    packed = waiting.get()
    while True:
        send_message(results, _answer(packed, waiting.get()))


def _receive_all(stream: IO[bytes], waiting: SimpleQueue[bytes]) -> None:
    """Keep what comes; end this process at once, not after its batch, when its parent has ended."""
    try:
        while True:
            waiting.put(receive_message(stream))
    except (EOFError, OSError):
        os._exit(0)


def _answer(packed: bytes, batch: bytes) -> bytes:
    try:
        return pickle.dumps(run_packed(packed, pickle.loads(batch)))
    except Exception as error:
        # Said once, instead of a death that is tried again.
        message = f"{type(error).__name__}: a batch or its results cannot be sent to a worker"
        return pickle.dumps(Raised(message))
