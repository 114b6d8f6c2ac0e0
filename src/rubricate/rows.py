"""Annotations as columns: one row per (note, annotator, feature) that was judged.

A row says "this annotator looked for this feature in this note". What was found hangs below it:
row → annotations → spans, as three levels of offsets into flat arrays, so half a million rows
cost a few megabytes and every bulk computation is array arithmetic. A (note, annotator, feature)
without a row was never judged, which is not the same as a row without annotations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F32, I32, I64


class Detail(NamedTuple):
    """Rare fields of annotations, kept beside the arrays only if they hold something.

    ``stated_text`` is the text a file gave for the annotation where it differs from the text
    at its location; None where they agree.
    """

    reason: str = ""
    comment: str = ""
    attributes: tuple[tuple[str, str], ...] = ()
    stated_text: str | None = None


NO_DETAIL = Detail()


class Contradiction(NamedTuple):
    """Words of a note that speak of a feature and say otherwise ("says left", "mother's").

    ``probability`` is how likely the note contradicts the feature; None where a rule says so.
    """

    spans: tuple[tuple[int, int], ...]
    probability: float | None = None
    reason: str = ""


class PlainAnnotation(NamedTuple):
    """One annotation with offsets that may be wrong, as rows hold it."""

    spans: tuple[tuple[int, int], ...]
    confidence: float | None = None
    detail: Detail = NO_DETAIL


def ranges(first: I64, count: I64) -> I64:
    """Return the concatenation of ``arange(first[i], first[i] + count[i])``.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(count)
    total = int(ends[-1]) if len(ends) else 0
    shift: I64 = np.repeat(first - (ends - count), count)
    return np.arange(total, dtype=np.int64) + shift


def _pointers(owner: I64, n_owners: int) -> I64:
    """Turn sorted owner indices into CSR offsets."""
    first = np.zeros(n_owners + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=n_owners), out=first[1:])
    return first


@dataclass(frozen=True, eq=False, slots=True)
class Rows:
    """All judged rows of a corpus, in canonical order (note, annotator, feature).

    The arrays can only be read: what was hashed, indexed or compared stays as it is. Rows take
    over the arrays they are made of.
    """

    note: I32
    annotator: I32
    feature: I32
    first_annotation: I64
    first_span: I64
    start: I32
    end: I32
    probability: F32 | None = None
    confidence: F32 | None = None
    details: Mapping[int, Detail] = field(default_factory=dict)
    contradictions: Mapping[int, Contradiction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                # Nobody can write to it, neither through itself nor through its base.
                if isinstance(value.base, np.ndarray) and value.base.flags.writeable:
                    value = value.copy()
                if value.flags.writeable:
                    value.setflags(write=False)
                object.__setattr__(self, name, value)
            elif isinstance(value, Mapping):
                object.__setattr__(self, name, MappingProxyType(dict(value)))

    def __reduce__(self) -> tuple[type[Rows], tuple[object, ...]]:
        """Return the parts for pickle; arrays that come back alone could be written to."""
        said = (dict(self.details), dict(self.contradictions))
        return Rows, (*self._arrays(), *said)

    @classmethod
    def empty(cls) -> Rows:
        """Return no rows at all."""
        none = np.zeros(0, dtype=np.int32)
        zero = np.zeros(1, dtype=np.int64)
        return cls(none, none, none, zero, zero, none, none)

    @classmethod
    def build(
        cls,
        *,
        note: npt.ArrayLike,
        annotator: npt.ArrayLike,
        feature: npt.ArrayLike,
        row_of_annotation: npt.ArrayLike,
        annotation_of_span: npt.ArrayLike,
        start: npt.ArrayLike,
        end: npt.ArrayLike,
        probability: npt.ArrayLike | None = None,
        confidence: npt.ArrayLike | None = None,
        details: Mapping[int, Detail] | None = None,
        contradictions: Mapping[int, Contradiction] | None = None,
    ) -> Rows:
        """Sort flat columns into canonical order.

        ``row_of_annotation`` and ``annotation_of_span`` point upwards, in the order given; the
        result is sorted by note, annotator and feature, annotations by their spans, spans by
        start and end. Each (note, annotator, feature) may occur once. ``contradictions`` are
        given by row, ``details`` by annotation.
        """
        note_, annotator_, feature_ = (np.asarray(x, np.int32) for x in (note, annotator, feature))
        row_of = np.asarray(row_of_annotation, np.int64)
        annotation_of = np.asarray(annotation_of_span, np.int64)
        start_, end_ = np.asarray(start, np.int32), np.asarray(end, np.int32)
        row_order = np.lexsort((feature_, annotator_, note_))
        new_row = np.empty_like(row_order)
        new_row[row_order] = np.arange(len(row_order))

        span_order = np.lexsort((end_, start_, annotation_of))
        start_, end_, owner = start_[span_order], end_[span_order], annotation_of[span_order]
        first_span = _pointers(owner, len(row_of))
        order = _annotation_order(new_row[row_of], first_span, start_, end_, details or {})
        counts = np.diff(first_span)[order]
        gather = ranges(first_span[:-1][order], counts)
        new_first_span = np.zeros(len(order) + 1, dtype=np.int64)
        np.cumsum(counts, out=new_first_span[1:])

        kept_details: dict[int, Detail] = {}
        if details:
            new_annotation = np.empty_like(order)
            new_annotation[order] = np.arange(len(order))
            kept_details = {int(new_annotation[i]): d for i, d in details.items() if d != NO_DETAIL}
        said = contradictions or {}
        if not all(one.spans for one in said.values()):
            raise ValueError("a contradiction needs a span: the words that say otherwise")
        moved = {
            int(new_row[i]): one._replace(spans=tuple(sorted(one.spans))) for i, one in said.items()
        }
        return cls(
            note=note_[row_order],
            annotator=annotator_[row_order],
            feature=feature_[row_order],
            first_annotation=_pointers(np.sort(new_row[row_of]), len(row_order)),
            first_span=new_first_span,
            start=start_[gather],
            end=end_[gather],
            probability=_column(probability, row_order),
            confidence=_column(confidence, order),
            details=dict(sorted(kept_details.items())),
            contradictions=dict(sorted(moved.items())),
        )

    def __len__(self) -> int:
        return len(self.note)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows):
            return NotImplemented
        mine, theirs = self._arrays(), other._arrays()
        return (
            all(_same(a, b) for a, b in zip(mine, theirs, strict=True))
            and dict(self.details) == dict(other.details)
            and dict(self.contradictions) == dict(other.contradictions)
        )

    def __hash__(self) -> int:
        return hash((len(self.note), len(self.start)))

    def _arrays(self) -> list[npt.NDArray[Any] | None]:
        return [
            self.note, self.annotator, self.feature, self.first_annotation, self.first_span,
            self.start, self.end, self.probability, self.confidence,
        ]  # fmt: skip

    @property
    def n_annotations(self) -> int:
        """Number of annotations in all rows."""
        return len(self.first_span) - 1

    @property
    def annotation_row(self) -> I64:
        """The row of each annotation."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.first_annotation))

    @property
    def span_annotation(self) -> I64:
        """The annotation of each span."""
        return np.repeat(np.arange(self.n_annotations, dtype=np.int64), np.diff(self.first_span))

    @property
    def span_row(self) -> I64:
        """The row of each span."""
        return self.annotation_row[self.span_annotation]

    def key(self, *, n_annotators: int, n_features: int) -> I64:
        """Return one number per row that grows in canonical order and names the row uniquely."""
        key = self.note.astype(np.int64) * n_annotators + self.annotator
        return key * n_features + self.feature

    def annotations(self, row: int) -> list[PlainAnnotation]:
        """Return the annotations of a row without checking their offsets."""
        first, last = self.first_annotation[row : row + 2].tolist()
        bounds = self.first_span[first : last + 1].tolist()
        own = slice(bounds[0], bounds[-1])
        pairs = tuple(zip(self.start[own].tolist(), self.end[own].tolist(), strict=True))
        known = None if self.confidence is None else self.confidence[first:last].tolist()
        found = []
        for k, i in enumerate(range(first, last)):
            spans = pairs[bounds[k] - bounds[0] : bounds[k + 1] - bounds[0]]
            confidence = None if known is None or math.isnan(known[k]) else known[k]
            found.append(PlainAnnotation(spans, confidence, self.details.get(i, NO_DETAIL)))
        return found

    def take(self, index: npt.ArrayLike) -> Rows:
        """Return the rows at these indices (or under this mask), in canonical order."""
        picked = np.asarray(index)
        if picked.dtype == np.bool_:
            picked = np.flatnonzero(picked)
        picked = np.sort(picked.astype(np.int64))
        n_annotations = np.diff(self.first_annotation)[picked]
        annotations = ranges(self.first_annotation[:-1][picked], n_annotations)
        n_spans = np.diff(self.first_span)[annotations]
        spans = ranges(self.first_span[:-1][annotations], n_spans)
        details: dict[int, Detail] = {}
        if self.details:
            place = {int(old): new for new, old in enumerate(annotations)}
            details = {place[i]: d for i, d in self.details.items() if i in place}
        contradictions: dict[int, Contradiction] = {}
        if self.contradictions:
            new_row = {int(old): new for new, old in enumerate(picked)}
            said = self.contradictions.items()
            contradictions = {new_row[i]: one for i, one in said if i in new_row}
        return Rows(
            note=self.note[picked],
            annotator=self.annotator[picked],
            feature=self.feature[picked],
            first_annotation=np.concatenate(([0], np.cumsum(n_annotations))).astype(np.int64),
            first_span=np.concatenate(([0], np.cumsum(n_spans))).astype(np.int64),
            start=self.start[spans],
            end=self.end[spans],
            probability=_column(self.probability, picked),
            confidence=_column(self.confidence, annotations),
            details=details,
            contradictions=contradictions,
        )

    def relabel(
        self,
        *,
        note: npt.ArrayLike | None = None,
        annotator: npt.ArrayLike | None = None,
        feature: npt.ArrayLike | None = None,
    ) -> Rows:
        """Map old indices to new ones (``new = mapping[old]``) and sort again."""

        def mapped(mapping: npt.ArrayLike | None, old: I32) -> I32:
            return old if mapping is None else np.asarray(mapping, np.int32)[old]

        return Rows.build(
            note=mapped(note, self.note),
            annotator=mapped(annotator, self.annotator),
            feature=mapped(feature, self.feature),
            row_of_annotation=self.annotation_row,
            annotation_of_span=self.span_annotation,
            start=self.start,
            end=self.end,
            probability=self.probability,
            confidence=self.confidence,
            details=self.details,
            contradictions=self.contradictions,
        )

    @staticmethod
    def concatenate(parts: Sequence[Rows]) -> Rows:
        """Put rows that share the same indices together; no row may occur twice."""
        annotations = np.cumsum([0] + [part.n_annotations for part in parts])
        rows = np.cumsum([0] + [len(part) for part in parts])
        return Rows.build(
            note=_joined([part.note for part in parts]),
            annotator=_joined([part.annotator for part in parts]),
            feature=_joined([part.feature for part in parts]),
            row_of_annotation=_joined(
                [part.annotation_row + rows[i] for i, part in enumerate(parts)]
            ),
            annotation_of_span=_joined(
                [part.span_annotation + annotations[i] for i, part in enumerate(parts)]
            ),
            start=_joined([part.start for part in parts]),
            end=_joined([part.end for part in parts]),
            probability=_joined_optional([(p.probability, len(p)) for p in parts]),
            confidence=_joined_optional([(p.confidence, p.n_annotations) for p in parts]),
            details={
                i + int(annotations[k]): d
                for k, part in enumerate(parts)
                for i, d in part.details.items()
            },
            contradictions={
                i + int(rows[k]): one
                for k, part in enumerate(parts)
                for i, one in part.contradictions.items()
            },
        )


def _annotation_order(
    row: I64, first_span: I64, start: I32, end: I32, details: Mapping[int, Detail]
) -> I64:
    """Order annotations by row, then by all their spans, then by their details."""
    n = len(row)
    if len(start) == 0:
        head_start = head_end = np.zeros(n, dtype=np.int32)
    else:
        head = np.minimum(first_span[:-1], len(start) - 1)
        head_start, head_end = start[head], end[head]
    order = np.lexsort((head_end, head_start, row))
    if n < 2:
        return order
    keys = (row[order], head_start[order], head_end[order])
    tied = np.ones(n - 1, dtype=bool)
    for key in keys:
        tied &= key[1:] == key[:-1]

    def whole(i: int) -> tuple[Any, ...]:
        own = slice(first_span[i], first_span[i + 1])
        detail = details.get(i, NO_DETAIL)
        return (list(zip(start[own], end[own], strict=True)),
                (*detail[:3], detail.stated_text or ""))  # fmt: skip

    position = 0
    for stop in [*np.flatnonzero(~tied).tolist(), n - 1]:
        if stop > position:
            group = order[position : stop + 1]
            order[position : stop + 1] = sorted(group.tolist(), key=whole)
        position = stop + 1
    return order


def _same(a: npt.NDArray[Any] | None, b: npt.NDArray[Any] | None) -> bool:
    if a is None or b is None:
        return a is b
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def _column(values: npt.ArrayLike | None, order: npt.NDArray[Any]) -> F32 | None:
    """Reorder an optional column; a column of nothing but nan is no column."""
    if values is None:
        return None
    column = np.asarray(values, dtype=np.float32)[order]
    return None if np.isnan(column).all() else column


def _joined(parts: list[Any]) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)


def _joined_optional(parts: list[tuple[F32 | None, int]]) -> F32 | None:
    if all(part is None for part, _ in parts):
        return None
    return np.concatenate(
        [np.full(n, np.nan, dtype=np.float32) if part is None else part for part, n in parts]
    )
