"""Offsets in UTF-16 code units, as browsers and Java count, to and from code points."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from rubricate.rows import I64

#: Stands in the array of `from_utf16` where a UTF-16 offset is inside a surrogate pair.
SPLIT = -1


def to_utf16(text: str) -> I64:
    """Return the UTF-16 offset of each code point, and of the end: ``len(text) + 1`` numbers.

    >>> to_utf16("a😀b").tolist()
    [0, 1, 3, 4]
    """
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    offsets = np.zeros(len(points) + 1, dtype=np.int64)
    np.cumsum(1 + (points > 0xFFFF), out=offsets[1:])
    return offsets


def from_utf16(text: str) -> I64:
    """Return the code point at each UTF-16 offset, `SPLIT` inside a surrogate pair.

    >>> from_utf16("a😀b").tolist()
    [0, 1, -1, 2, 3]
    """
    offsets = to_utf16(text)
    points = np.full(int(offsets[-1]) + 1, SPLIT, dtype=np.int64)
    points[offsets] = np.arange(len(offsets))
    return points


class Utf16Map:
    """The offsets of one text in both units; make it once per note, not per annotation.

    Offsets outside the text stay as far outside as they were, so that a wrong offset is still
    wrong, and still the same, after it was written and read.

    >>> offsets = Utf16Map("a😀b")
    >>> offsets.to_utf16(2), offsets.from_utf16(3)
    (3, 2)
    >>> offsets.from_utf16(9), offsets.to_utf16(8)
    (8, 9)
    >>> offsets.from_utf16(2)
    Traceback (most recent call last):
    ValueError: UTF-16 offset 2 is inside a surrogate pair
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._n_points = len(text)
        # Most notes hold no astral character: both units are the same, and no array is needed.
        self._same = text.isascii() or max(text) < "\U00010000"

    @cached_property
    def _units(self) -> I64:
        return to_utf16(self._text)

    @cached_property
    def _points(self) -> I64:
        return from_utf16(self._text)

    @property
    def n_units(self) -> int:
        """The length of the text in UTF-16 code units."""
        return self._n_points if self._same else int(self._units[-1])

    def to_utf16(self, offset: int) -> int:
        """Return the UTF-16 offset of a code-point offset."""
        if self._same or offset < 0:
            return offset
        if offset > self._n_points:
            return offset - self._n_points + self.n_units
        return int(self._units[offset])

    def from_utf16(self, offset: int) -> int:
        """Return the code-point offset of a UTF-16 offset."""
        if self._same or offset < 0:
            return offset
        if offset > self.n_units:
            return offset - self.n_units + self._n_points
        point = int(self._points[offset])
        if point == SPLIT:
            raise ValueError(f"UTF-16 offset {offset} is inside a surrogate pair")
        return point
