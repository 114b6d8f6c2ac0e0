"""The annotations of a pairing as flat arrays: what they cover, and which of both sides agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rubricate.arrays import I64
from rubricate.rows import Rows, ranges


@dataclass(frozen=True, eq=False, slots=True)
class Marks:
    """Marks of one side in the paired rows."""

    row: I64
    first: I64
    start: I64
    end: I64

    def __len__(self) -> int:
        return len(self.row)

    @property
    def n_fragments(self) -> I64:
        """Number of fragments of each annotation."""
        return np.diff(self.first)

    @property
    def fragment_annotation(self) -> I64:
        """The annotation of each fragment."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.n_fragments)

    @property
    def fragment_row(self) -> I64:
        """The paired row of each fragment."""
        n_fragments = self.n_fragments
        return self.row if (n_fragments == 1).all() else np.repeat(self.row, n_fragments)


def gather_marks(rows: Rows, picked: I64) -> Marks:
    """Collect the annotations of ``rows[picked]``; -1 stands for a row that marks nothing.

    >>> from rubricate.builder import RowsBuilder
    >>> builder = RowsBuilder()
    >>> builder.annotate(0, 0, 0, [(3, 8), (12, 15)])
    >>> marks = gather_marks(builder.build(), np.array([-1, 0]))
    >>> marks.row.tolist(), marks.start.tolist()
    ([1], [3, 12])
    """
    if len(rows) == 0:
        none = np.zeros(0, dtype=np.int64)
        return Marks(none, np.zeros(1, dtype=np.int64), none, none)
    if len(picked) == len(rows) and np.array_equal(picked, np.arange(len(rows))):
        return Marks(
            rows.annotation_row,
            rows.first_span,
            rows.start.astype(np.int64),
            rows.end.astype(np.int64),
        )
    safe = np.maximum(picked, 0)
    counts = np.where(picked < 0, 0, np.diff(rows.first_annotation)[safe])
    annotations = ranges(rows.first_annotation[safe], counts)
    n_fragments = np.diff(rows.first_span)[annotations]
    fragments = ranges(rows.first_span[annotations], n_fragments)
    first = np.zeros(len(annotations) + 1, dtype=np.int64)
    np.cumsum(n_fragments, out=first[1:])
    return Marks(
        np.repeat(np.arange(len(picked), dtype=np.int64), counts),
        first,
        rows.start[fragments].astype(np.int64),
        rows.end[fragments].astype(np.int64),
    )


def zones(sizes: I64) -> I64:
    """Return the start of each row when all rows are laid end to end, one unit apart.

    With the gap, spans of different rows neither overlap nor touch on the common line, so one
    sort serves all rows at once.

    >>> zones(np.array([10, 5, 3])).tolist()
    [0, 11, 17]
    """
    steps = sizes + 1
    return np.cumsum(steps) - steps


def covered(row: I64, start: I64, end: I64, n_rows: int) -> I64:
    """Return the number of positions that each row's spans cover, each position once.

    ``start`` and ``end`` lie on the common line of `zones`, sorted by start. A span adds what
    lies beyond the furthest end reached so far; the furthest end never leaks into the next row,
    which starts beyond it.

    >>> row = np.array([0, 0, 0])
    >>> covered(row, np.array([2, 2, 7]), np.array([3, 5, 9]), 1).tolist()
    [5]
    """
    if len(start) == 0:
        return np.zeros(n_rows, dtype=np.int64)
    reach = np.maximum.accumulate(end)
    added = reach - start
    # beyond the first span, only what lies past the reach of the spans before is new
    added[1:] = reach[1:] - np.maximum(start[1:], reach[:-1])
    return np.bincount(row, weights=added, minlength=n_rows).astype(np.int64)


def merge_fragments(marks: Marks, size: int) -> Marks:
    """Join the fragments of each annotation that overlap or touch; ``size`` bounds all ends.

    >>> zero = np.zeros(1, dtype=np.int64)
    >>> marks = Marks(zero, np.array([0, 3]), np.array([0, 3, 9]), np.array([3, 5, 12]))
    >>> merged = merge_fragments(marks, 20)
    >>> merged.start.tolist(), merged.end.tolist()
    ([0, 9], [5, 12])
    """
    if not (marks.n_fragments > 1).any():
        return marks
    annotation = marks.fragment_annotation
    shift = annotation * (size + 1)
    start, end = marks.start + shift, marks.end + shift
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    opens = np.ones(len(start), dtype=bool)
    opens[1:] = start[1:] > reach[:-1]
    heads = np.flatnonzero(opens)
    last = np.append(heads[1:], len(start)) - 1
    owner = annotation[order][heads]
    first = np.zeros(len(marks) + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=len(marks)), out=first[1:])
    back = owner * (size + 1)
    return Marks(marks.row, first, start[heads] - back, reach[last] - back)


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
        """Return the number of annotations of each row."""
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
