"""What a worker does: make a function once, then call it on each batch it is given."""

from __future__ import annotations

import hashlib
import pickle
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rubricate.errors import InputError, RubricateError

Function = Callable[[Sequence[Any]], list[Any]]


class Work(Protocol):
    """Something that can be sent to a worker and makes the function there.

    It is pickled, so it should be small: names and paths, not models.
    """

    def prepare(self) -> Function:
        """Return the function; called once in each worker process.

        The function gets a batch of items and returns one result an item, in order. It must
        depend on nothing but the items, so that a batch done twice gives the same results.
        """
        ...


@dataclass(frozen=True, slots=True)
class Lost:
    """Stands for the result of an item that no worker survived."""

    reason: str


@dataclass(frozen=True, slots=True)
class Raised:
    """An error of the function, as text: not every exception survives the way between processes."""

    message: str

    def raise_again(self) -> None:
        """Raise it in this process."""
        raise RubricateError(self.message)


Results = list[Any] | Raised

#: Functions made in this process, by the hash of their work.
_prepared: dict[bytes, Function] = {}


def pack_work(work: Work) -> bytes:
    """Return the work as bytes to send.

    Raises
    ------
    InputError
        If its class is one of the script itself, which no worker can import.
    """
    kind = type(work)
    if kind.__module__ == "__main__":
        raise InputError(
            f"{kind.__qualname__} is defined in the script that is run, where workers cannot find "
            "it. Put it into a module of its own and import it."
        )
    return pickle.dumps(work)


def run_packed(packed: bytes, items: Sequence[Any]) -> Results:
    """Make the function unless this process has it already, and call it."""
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
        # The message itself may quote a note: the kind of error and its place must do.
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.lineno}"
        return Raised(f"{type(error).__name__} in a worker, at {place}")
