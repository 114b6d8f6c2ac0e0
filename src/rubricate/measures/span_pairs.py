"""Which annotations meet: exactly, at one boundary, or in at least one unit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rubricate.measures.marks import Marks, merge_fragments, zones
from rubricate.rows import I64, ranges

#: The kinds of agreement, strictest first; each implies the next.
KINDS = ("exact", "one_side_boundary", "token_overlap")

#: Indices of reference and predicted annotations that meet; each pair once.
Pairs = tuple[I64, I64]


@dataclass(frozen=True, eq=False, slots=True)
class Annotations:
    """The distinct annotations of one side, on the common line of all rows."""

    row: I64
    blank_row: I64
    identity: I64
    first: I64
    last: I64
    fragment_annotation: I64
    fragment_start: I64
    fragment_end: I64

    def __len__(self) -> int:
        return len(self.row)

    def per_row(self, n_rows: int) -> I64:
        """Return how many annotations each row has."""
        return np.bincount(np.concatenate((self.row, self.blank_row)), minlength=n_rows)


def distinct_annotations(
    reference: Marks, predicted: Marks, size: I64
) -> tuple[Annotations, Annotations]:
    """Merge fragments, collapse annotations of a row that cover the same, and name the rest.

    Fragments that touch or overlap are one. An annotation that says again what another of its
    row and side says adds nothing, so it does not count (characters count once, too).
    """
    largest = int(size.max()) if len(size) else 0
    base = zones(size)
    one, one_blank = _without_blanks(merge_fragments(reference, largest))
    two, two_blank = _without_blanks(merge_fragments(predicted, largest))
    one_identity, two_identity = _identities([one, two], base, largest)
    return (
        _distinct(one, one_blank, one_identity, base),
        _distinct(two, two_blank, two_identity, base),
    )


def agreeing_pairs(reference: Annotations, predicted: Annotations) -> dict[str, Pairs]:
    """Return the pairs of annotations that agree, by kind of agreement (`KINDS`).

    Each kind is a part of the next: annotations that begin or end together both hold the unit
    at the common boundary. So the overlapping pairs are found once and sifted.
    """
    one, two = overlap_pairs(reference, predicted)
    boundary = (reference.first[one] == predicted.first[two]) | (
        reference.last[one] == predicted.last[two]
    )
    equal = reference.identity[one] == predicted.identity[two]
    return {
        "exact": (one[equal], two[equal]),
        "one_side_boundary": (one[boundary], two[boundary]),
        "token_overlap": (one, two),
    }


def overlap_pairs(reference: Annotations, predicted: Annotations) -> Pairs:
    """Pair annotations that share at least one unit; touching is not sharing.

    Of two fragments that share a unit, one starts within the other: two searches among sorted
    starts find all such pairs and no others.
    """
    one, two = _within(reference.fragment_start, predicted.fragment_start, predicted.fragment_end)
    four, three = _within(
        predicted.fragment_start, reference.fragment_start + 1, reference.fragment_end
    )
    one, two = np.concatenate((one, three)), np.concatenate((two, four))
    if len(reference) == len(reference.fragment_start) and len(predicted) == len(
        predicted.fragment_start
    ):
        return one, two
    # annotations of several fragments may meet in several places
    key = np.unique(
        reference.fragment_annotation[one] * len(predicted) + predicted.fragment_annotation[two]
    )
    return np.divmod(key, max(len(predicted), 1))


def _within(points: I64, low: I64, high: I64) -> Pairs:
    """Return all (point, range) indices with low <= point < high."""
    order = np.argsort(points, kind="stable")
    ordered = points[order]
    begin = np.searchsorted(ordered, low)
    counts = np.maximum(np.searchsorted(ordered, high) - begin, 0)
    return order[ranges(begin, counts)], np.repeat(np.arange(len(low), dtype=np.int64), counts)


def _identities(sides: list[Marks], base: I64, largest: int) -> list[I64]:
    """Give equal annotations of both sides equal numbers, without hashing.

    One fragment: its place and length in one number. Several: the fragments are folded in one
    after the other, each fold ranked anew so that the numbers stay small.
    """
    n_fragments = np.concatenate([marks.n_fragments for marks in sides])
    place = np.concatenate([marks.start + base[marks.fragment_row] for marks in sides])
    length = np.concatenate([marks.end - marks.start for marks in sides])
    fragment = place * (largest + 1) + length
    head = np.cumsum(n_fragments) - n_fragments
    identity = fragment[head]
    several = np.flatnonzero(n_fragments > 1)
    if len(several):
        _, rank = np.unique(fragment, return_inverse=True)
        folded = rank[head[several]]
        beyond = int(fragment.max()) + 1
        for k in range(1, int(n_fragments.max())):
            longer = n_fragments[several] > k
            fold = folded[longer] * len(fragment) + rank[head[several[longer]] + k]
            _, folded[longer] = np.unique(fold, return_inverse=True)
            # numbers of a later fold never meet those of an earlier one
            identity[several[longer]] = beyond + folded[longer]
            beyond += len(fold)
    return np.split(identity, [len(sides[0])])


def _distinct(marks: Marks, blank_row: I64, identity: I64, base: I64) -> Annotations:
    kept = np.arange(len(marks), dtype=np.int64)
    if (identity[1:] <= identity[:-1]).any():  # else they grow, so no two are equal
        kept = np.sort(np.unique(identity, return_index=True)[1])
    row, n_fragments = marks.row[kept], marks.n_fragments[kept]
    fragments = ranges(marks.first[kept], n_fragments)
    owner = np.repeat(np.arange(len(kept), dtype=np.int64), n_fragments)
    shift = base[row[owner]]
    start, end = marks.start[fragments] + shift, marks.end[fragments] + shift
    beyond = np.cumsum(n_fragments)
    return Annotations(
        row=row,
        blank_row=blank_row,
        identity=identity[kept],
        first=start[beyond - n_fragments],
        last=end[beyond - 1],
        fragment_annotation=owner,
        fragment_start=start,
        fragment_end=end,
    )


def _without_blanks(marks: Marks) -> tuple[Marks, I64]:
    some = marks.n_fragments > 0
    if some.all():
        return marks, marks.row[:0]
    first = np.append(marks.first[:-1][some], len(marks.start))
    return Marks(marks.row[some], first, marks.start, marks.end), np.unique(marks.row[~some])
