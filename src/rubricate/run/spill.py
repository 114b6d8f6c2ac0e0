"""Values kept in a temporary file, for runs of more notes than memory holds."""

from __future__ import annotations

import pickle
import tempfile
from array import array
from collections.abc import Iterator
from typing import Generic, TypeVar

V = TypeVar("V")


class Spill(Generic[V]):
    """A list in a file, written at the end and read at any place; eight bytes each in memory.

    Examples
    --------
    >>> spill = Spill[str]()
    >>> [spill.add("a"), spill.add("b")]
    [0, 1]
    >>> spill[1], len(spill), list(spill)
    ('b', 2, ['a', 'b'])
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._start = array("q")
        self._at_end = True

    def __del__(self) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._start)

    def add(self, value: V) -> int:
        """Keep one more value, and return its place."""
        if not self._at_end:
            self._file.seek(0, 2)
            self._at_end = True
        self._start.append(self._file.tell())
        pickle.dump(value, self._file, protocol=pickle.HIGHEST_PROTOCOL)
        return len(self._start) - 1

    def __getitem__(self, place: int) -> V:
        self._file.seek(self._start[place])
        self._at_end = False
        value: V = pickle.load(self._file)
        return value

    def __iter__(self) -> Iterator[V]:
        return (self[place] for place in range(len(self)))
