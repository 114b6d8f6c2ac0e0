"""Spans of text and their arithmetic; half-open, in Unicode code points, standard library only."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import accumulate

#: The annotations of a feature, each with its fragments, as offsets in code points.
Spans = tuple[tuple[tuple[int, int], ...], ...]


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """The characters ``start`` to ``end`` of a note, ``end`` not included.

    Offsets count Unicode code points, as Python's ``str`` does. A span is never empty.

    Examples
    --------
    >>> Span(0, 5).text("58 yo M")
    '58 yo'
    >>> len(Span(2, 7))
    5
    """

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(
                f"span {self.start} {self.end}: need 0 <= start < end (half-open code points)"
            )

    def __len__(self) -> int:
        return self.end - self.start

    def text(self, note_text: str) -> str:
        """Return the words of the note this span covers."""
        return note_text[self.start : self.end]

    def overlaps(self, other: Span) -> bool:
        """Tell whether the two share a character; touching spans do not.

        Examples
        --------
        >>> Span(0, 5).overlaps(Span(5, 9))
        False
        """
        return self.start < other.end and other.start < self.end


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Return the union of the spans as sorted spans that neither overlap nor touch.

    >>> merge_spans([Span(0, 3), Span(3, 5), Span(7, 9)])
    [Span(start=0, end=5), Span(start=7, end=9)]
    """
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start <= merged[-1].end:
            if span.end > merged[-1].end:
                merged[-1] = Span(merged[-1].start, span.end)
        else:
            merged.append(span)
    return merged


def covered_text(spans: Iterable[Span], note_text: str) -> str:
    """Return the fragments' words joined by one space, as BRAT and the competition write them.

    >>> covered_text([Span(0, 6), Span(14, 22)], "denies palps, fainting")
    'denies fainting'
    """
    return words_at(((span.start, span.end) for span in spans), note_text)


def words_at(spans: Iterable[tuple[int, int]], text: str) -> str:
    """Return the same for pairs of offsets.

    >>> words_at([(0, 6), (14, 22)], "denies palps, fainting")
    'denies fainting'
    """
    return " ".join([text[start:end] for start, end in spans])


def fragments_text(spans: Iterable[tuple[int, int]]) -> str:
    """Return the spans of one annotation as text.

    >>> fragments_text([(0, 5), (8, 12)])
    '0 5;8 12'
    """
    return ";".join(f"{start} {end}" for start, end in spans)


def spans_text(spans: Iterable[Iterable[tuple[int, int]]]) -> str:
    """Return spans as text: ``;`` between fragments, ``|`` between annotations.

    >>> spans_text((((0, 5), (8, 12)), ((20, 25),)))
    '0 5;8 12|20 25'
    """
    return "|".join(fragments_text(one) for one in spans)


def parse_spans(text: str) -> Spans:
    """Inverse of `spans_text`; ValueError where a span is none.

    >>> parse_spans("0 5;8 12|20 25")
    (((0, 5), (8, 12)), ((20, 25),))
    """
    annotations = text.split("|") if text else ()
    return tuple(tuple(_pair(part) for part in one.split(";")) for one in annotations)


def _pair(text: str) -> tuple[int, int]:
    pair = text.split()
    if len(pair) != 2 or not 0 <= int(pair[0]) < int(pair[1]):
        raise ValueError("spans are written as START END, e.g. 0 8;10 14|20 25")
    return int(pair[0]), int(pair[1])


def any_overlap(some: Iterable[tuple[int, int]], others: Collection[tuple[int, int]]) -> bool:
    """Tell whether any of some spans shares a character with any of others.

    >>> any_overlap([(0, 4)], [(3, 5)]), any_overlap([(0, 4)], [(4, 5)])
    (True, False)
    """
    return which_overlap([some], others)[0]


def which_overlap(
    groups: Iterable[Iterable[tuple[int, int]]], others: Iterable[tuple[int, int]]
) -> list[bool]:
    """Tell of each group of spans whether any of them shares a character with any of others.

    >>> which_overlap([[(0, 4)], [(5, 6), (8, 9)]], [(3, 5), (8, 10)])
    [True, True]
    """
    ordered = sorted(others)
    starts = [start for start, _ in ordered]
    # How far those up to each of them reach: the furthest decides.
    reach = [0, *accumulate((end for _, end in ordered), max)]
    return [any(reach[bisect_left(starts, z)] > a for a, z in spans) for spans in groups]
