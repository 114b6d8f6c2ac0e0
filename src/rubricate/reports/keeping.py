"""Values by place in a temporary file, for reports on more notes than memory holds."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

_END = -1


class Kept:
    """Any number of values at each of ``n`` places; eight bytes a place are in memory.

    Examples
    --------
    >>> kept = Kept(3)
    >>> kept.add(1, "a")
    >>> kept.add(1, "b")
    >>> kept.get(1), kept.get(2)
    (['a', 'b'], [])
    """

    def __init__(self, n: int) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._last = np.full(n, _END, dtype=np.int64)

    def __del__(self) -> None:
        self._file.close()

    def add(self, place: int, value: Any) -> None:
        """Keep one more value."""
        offset = self._file.seek(0, 2)
        # Each value names the one before it at its place.
        pickle.dump((int(self._last[place]), value), self._file)
        self._last[place] = offset

    def get(self, place: int) -> list[Any]:
        """Return the values of a place in the order they came."""
        found, offset = [], int(self._last[place])
        while offset != _END:
            self._file.seek(offset)
            offset, value = pickle.load(self._file)
            found.append(value)
        return found[::-1]

    def given(self, place: int) -> bool:
        """Tell whether there is a value at a place."""
        return bool(self._last[place] != _END)


class Texts(Sequence[str]):
    """One text a place; empty where none was kept.

    Examples
    --------
    >>> texts = Texts(2)
    >>> texts.keep(0, "no fever")
    >>> list(texts), texts.given(1)
    (['no fever', ''], False)
    """

    def __init__(self, n: int) -> None:
        self._kept = Kept(n)
        self._n = n

    def keep(self, place: int, text: str) -> None:
        """Keep a text."""
        self._kept.add(place, text)

    def given(self, place: int) -> bool:
        """Tell whether there is a text at a place."""
        return self._kept.given(place)

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, place: Any) -> Any:
        return next(iter(self._kept.get(place)), "")

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(self._n))
