"""The annotations of one side of a pairing as flat arrays, and the union of spans they cover."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rubricate.rows import I64, Rows, ranges


@dataclass(frozen=True, eq=False, slots=True)
class Marks:
    """What one side marked in the paired rows."""

    row: I64
    first: I64
    start: I64
    end: I64

    def __len__(self) -> int:
        return len(self.row)

    @property
    def n_fragments(self) -> I64:
        """How many fragments each annotation has."""
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
    """Return where each row begins when all rows are laid end to end, one unit apart.

    With the gap, spans of different rows neither overlap nor touch on the common line, so one
    sort serves all rows at once.

    >>> zones(np.array([10, 5, 3])).tolist()
    [0, 11, 17]
    """
    steps = sizes + 1
    return np.cumsum(steps) - steps


def covered(row: I64, start: I64, end: I64, n_rows: int) -> I64:
    """Return how many positions each row's spans cover, each position once.

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
