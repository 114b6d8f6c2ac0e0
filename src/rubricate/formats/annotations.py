"""Annotations to and from other tools' files: plain values, fragments, offsets in UTF-16."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from rubricate.arrays import I64
from rubricate.corpus import Corpus
from rubricate.errors import Fault, InputError

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


#: The largest offset rows can hold.
LARGEST = 2**31 - 1


def first_annotator(corpus: Corpus) -> Corpus:
    """Return the corpus with its first annotator that judged anything, and no other."""
    if len(corpus.annotators) < 2:
        return corpus
    busy = np.unique(corpus.rows.annotator)
    return corpus.select(annotators=[corpus.annotators[int(busy[0]) if len(busy) else 0].id])


def has_fragments(corpus: Corpus) -> bool:
    """Tell whether any annotation has several fragments."""
    return bool((np.diff(corpus.rows.first_span) > 1).any())


def linked_groups(n: int, links: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return 0 to n - 1 in groups; two numbers are together if a chain of links joins them.

    >>> linked_groups(5, [(0, 3), (3, 4)])
    [[0, 3, 4], [1], [2]]
    """
    root = list(range(n))

    def find(i: int) -> int:
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for a, b in links:
        first, second = sorted((find(a), find(b)))
        root[second] = first
    groups: dict[int, list[int]] = {}
    for i in range(n):
        groups.setdefault(find(i), []).append(i)
    return list(groups.values())


def located_text(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the words at the spans, joined by one space; nothing where a span is wrong.

    >>> located_text("denies palps, fainting", [(0, 6), (14, 22)])
    'denies fainting'
    """
    return " ".join(text[s:e] if 0 <= s < e <= len(text) else "" for s, e in spans)


def refuse_outside(corpus: Corpus, tool: str) -> None:
    """Raise InputError with every span outside its note, for tools that cannot hold such."""
    rows = corpus.rows
    notes = rows.note[rows.span_row].tolist()
    faults = [
        Fault(
            f"span {start} {end} is outside the text of note {corpus.notes[i].id!r}, which {tool} "
            "cannot hold. Repair it first: rubricate check --fix"
        )
        for i, start, end in zip(notes, rows.start.tolist(), rows.end.tolist(), strict=True)
        if not 0 <= start < end <= len(corpus.notes[i].text)
    ]
    InputError.raise_any(faults)
