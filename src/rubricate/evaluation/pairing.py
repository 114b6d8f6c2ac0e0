"""Aligning a reference and a prediction: the same notes, the same features, row by row."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Literal

import numpy as np

from rubricate.arrays import F64, I64
from rubricate.corpus import Corpus
from rubricate.errors import Fault, InputError, UnknownNameError
from rubricate.evaluation.counts import RowKeys
from rubricate.merge import share_labels
from rubricate.rows import Rows, ranges


@dataclass(frozen=True, eq=False, slots=True)
class MarkArrays:
    """Marks of one side in the paired rows, as arrays."""

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


def gather_marks(rows: Rows, picked: I64) -> MarkArrays:
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
        return MarkArrays(none, np.zeros(1, dtype=np.int64), none, none)
    if len(picked) == len(rows) and np.array_equal(picked, np.arange(len(rows))):
        return MarkArrays(
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
    return MarkArrays(
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


def merge_fragments(marks: MarkArrays, size: int) -> MarkArrays:
    """Join the fragments of each annotation that overlap or touch; ``size`` bounds all ends.

    >>> zero = np.zeros(1, dtype=np.int64)
    >>> marks = MarkArrays(zero, np.array([0, 3]), np.array([0, 3, 9]), np.array([3, 5, 12]))
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
    return MarkArrays(marks.row, first, start[heads] - back, reach[last] - back)


#: The kinds of agreement, strictest first; each implies the next.
KINDS = ("exact", "one_side_boundary", "token_overlap")

#: Indices of reference and predicted annotations that meet; each pair once.
Pairs = tuple[I64, I64]


@dataclass(frozen=True, eq=False, slots=True)
class DistinctMarks:
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
    reference: MarkArrays, predicted: MarkArrays, size: I64
) -> tuple[DistinctMarks, DistinctMarks]:
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


def agreeing_pairs(reference: DistinctMarks, predicted: DistinctMarks) -> dict[str, Pairs]:
    """Return the pairs of annotations that agree, by kind of agreement (`KINDS`).

    Each kind is a part of the next: annotations that begin or end together both hold the unit
    at the common boundary. So the pairs that overlap are found once and sifted. They share at
    least one unit; touching is not sharing.
    """
    # Of two fragments that share a unit, one starts within the other: two searches among sorted
    # starts find all such pairs and no others.
    one, two = _within(reference.fragment_start, predicted.fragment_start, predicted.fragment_end)
    four, three = _within(
        predicted.fragment_start, reference.fragment_start + 1, reference.fragment_end
    )
    one, two = np.concatenate((one, three)), np.concatenate((two, four))
    if any(len(side) < len(side.fragment_start) for side in (reference, predicted)):
        # Annotations of several fragments may meet in several places.
        key = np.unique(
            reference.fragment_annotation[one] * len(predicted) + predicted.fragment_annotation[two]
        )
        one, two = np.divmod(key, max(len(predicted), 1))
    boundary = (reference.first[one] == predicted.first[two]) | (
        reference.last[one] == predicted.last[two]
    )
    equal = reference.identity[one] == predicted.identity[two]
    return {
        "exact": (one[equal], two[equal]),
        "one_side_boundary": (one[boundary], two[boundary]),
        "token_overlap": (one, two),
    }


def _within(points: I64, low: I64, high: I64) -> Pairs:
    """Return all (point, range) indices with low <= point < high."""
    order = np.argsort(points, kind="stable")
    ordered = points[order]
    begin = np.searchsorted(ordered, low)
    counts = np.maximum(np.searchsorted(ordered, high) - begin, 0)
    return order[ranges(begin, counts)], np.repeat(np.arange(len(low), dtype=np.int64), counts)


def _identities(sides: list[MarkArrays], base: I64, largest: int) -> list[I64]:
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


def _distinct(marks: MarkArrays, blank_row: I64, identity: I64, base: I64) -> DistinctMarks:
    kept = np.arange(len(marks), dtype=np.int64)
    if (identity[1:] <= identity[:-1]).any():  # else they grow, so no two are equal
        kept = np.sort(np.unique(identity, return_index=True)[1])
    row, n_fragments = marks.row[kept], marks.n_fragments[kept]
    fragments = ranges(marks.first[kept], n_fragments)
    owner = np.repeat(np.arange(len(kept), dtype=np.int64), n_fragments)
    shift = base[row[owner]]
    start, end = marks.start[fragments] + shift, marks.end[fragments] + shift
    beyond = np.cumsum(n_fragments)
    return DistinctMarks(
        row=row,
        blank_row=blank_row,
        identity=identity[kept],
        first=start[beyond - n_fragments],
        last=end[beyond - 1],
        fragment_annotation=owner,
        fragment_start=start,
        fragment_end=end,
    )


def _without_blanks(marks: MarkArrays) -> tuple[MarkArrays, I64]:
    some = marks.n_fragments > 0
    if some.all():
        return marks, marks.row[:0]
    first = np.append(marks.first[:-1][some], len(marks.start))
    return MarkArrays(marks.row[some], first, marks.start, marks.end), np.unique(marks.row[~some])


#: What to do with rows the reference judged and the prediction did not.
Missing = Literal["error", "empty", "skip"]
#: What to do with predicted notes and features the reference does not have.
Unknown = Literal["error", "skip"]


@dataclass(frozen=True, slots=True)
class Coverage:
    """Rows that two sides have in common; the coverage of disjoint parts adds.

    ``n_notes``, ``n_rows``: notes and (note, feature) rows that are counted.
    ``n_missing_notes``, ``n_missing_rows``: judged by the reference, not by the prediction (notes:
    not a single row).
    ``n_unjudged_rows``: predicted rows left out because the reference did not judge them.
    ``n_unknown_rows``: predicted rows left out because the reference has no such note or feature.
    """

    n_notes: int
    n_rows: int
    n_missing_notes: int = 0
    n_missing_rows: int = 0
    n_unjudged_rows: int = 0
    n_unknown_rows: int = 0

    def __add__(self, other: Coverage) -> Coverage:
        sums = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return Coverage(**sums)

    def to_dict(self) -> dict[str, int]:
        """Return the numbers by name."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Pairing:
    """Rows of a reference beside rows of a prediction."""

    reference: Corpus
    predicted: Corpus
    reference_annotator: str
    predicted_annotator: str
    keys: RowKeys
    reference_row: I64
    predicted_row: I64
    coverage: Coverage

    def __len__(self) -> int:
        return len(self.reference_row)

    @cached_property
    def length(self) -> I64:
        """The number of characters of each row's note."""
        lengths = np.array([len(note.text) for note in self.reference.notes], dtype=np.int64)
        return lengths[self.keys.note]

    @cached_property
    def reference_marks(self) -> MarkArrays:
        """Marks of the reference."""
        return gather_marks(self.reference.rows, self.reference_row)

    @cached_property
    def predicted_marks(self) -> MarkArrays:
        """Predicted marks."""
        return gather_marks(self.predicted.rows, self.predicted_row)

    @property
    def probability(self) -> F64 | None:
        """The predicted probability of presence of each row, nan where unknown.

        None where no row of the prediction has one.
        """
        stored = self.predicted.rows.probability
        if stored is None:
            return None
        # stored in 32 bits: 0.7 comes back as 0.69999999 and would fall into the bin below
        found = stored[np.maximum(self.predicted_row, 0)].astype(np.float64).round(7)
        found[self.predicted_row < 0] = np.nan
        return None if np.isnan(found).all() else found


def pair_rows(
    reference: Corpus,
    predicted: Corpus,
    *,
    reference_annotator: str | None = None,
    predicted_annotator: str | None = None,
    missing: Missing = "empty",
    unknown: Unknown = "error",
) -> Pairing:
    """Align the rows two annotators judged, by note id and feature id.

    ``reference_annotator``, ``predicted_annotator``: needed where a corpus has more than one
    annotator.
    ``missing``: rows the reference judged and the prediction did not: predicted nothing there
    (counted in ``coverage``), an error, or left out (then only rows judged by both count, as
    agreement among annotators wants).
    ``unknown``: predicted rows of notes or features that the reference corpus does not have.

    Rows come in canonical order. Faults are raised all at once: unknown notes and features, notes
    whose text differs (a predicted note without any text is taken to be the same), spans outside
    their note.

    >>> from rubricate import CorpusBuilder, Feature, Note
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n1", "c", "no fever, no cough"))
    >>> builder.add_feature(Feature("f1", "c", "No fever"))
    >>> builder.annotate("ann", "n1", "f1", [(0, 8)])
    >>> builder.annotate("bob", "n1", "f1", [(3, 8)])
    >>> corpus = builder.build()
    >>> pairing = pair_rows(
    ...     corpus, corpus, reference_annotator="ann", predicted_annotator="bob"
    ... )
    >>> pairing.reference_row.tolist(), pairing.predicted_row.tolist()
    ([0], [1])
    """
    for option, value, allowed in (
        ("missing", missing, ("empty", "error", "skip")),
        ("unknown", unknown, ("error", "skip")),
    ):
        if value not in allowed:
            raise UnknownNameError(f"choice for {option!r}", value, allowed)
    reference, predicted = share_labels([reference, predicted])
    first = annotator_number(reference, reference_annotator, "reference")
    second = annotator_number(predicted, predicted_annotator, "predicted")
    judged = np.flatnonzero(reference.rows.annotator == first)
    candidates = np.flatnonzero(predicted.rows.annotator == second)
    notes, features = reference.note_index, reference.feature_index
    note = np.array([notes.get(one.id, -1) for one in predicted.notes], dtype=np.int64)
    feature = np.array([features.get(one.id, -1) for one in predicted.features], dtype=np.int64)
    faults = _differences(reference, predicted, candidates, note, feature, unknown)
    note_of = note[predicted.rows.note[candidates]]
    feature_of = feature[predicted.rows.feature[candidates]]
    known = (note_of >= 0) & (feature_of >= 0)
    place = _places(
        reference.rows.note[judged].astype(np.int64) * len(reference.features)
        + reference.rows.feature[judged],
        np.where(known, note_of * len(reference.features) + feature_of, -1),
    )
    predicted_row = np.full(len(judged), -1, dtype=np.int64)
    predicted_row[place[place >= 0]] = candidates[place >= 0]
    absent = predicted_row < 0
    if missing == "error":
        faults += _missing_rows(reference, judged[absent])
    n_judged, n_both = (
        len(np.unique(reference.rows.note[rows])) for rows in (judged, judged[~absent])
    )
    if missing == "skip":
        judged, predicted_row = judged[~absent], predicted_row[~absent]
    coverage = Coverage(
        n_notes=n_both if missing == "skip" else n_judged,
        n_rows=len(judged),
        n_missing_notes=n_judged - n_both,
        n_missing_rows=int(absent.sum()),
        n_unjudged_rows=int((known & (place < 0)).sum()),
        n_unknown_rows=int((~known).sum()),
    )
    pairing = Pairing(
        reference,
        predicted,
        reference.annotators[first].id,
        predicted.annotators[second].id,
        row_keys(reference, judged),
        judged,
        predicted_row,
        coverage,
    )
    for side, marks in (
        ("reference", pairing.reference_marks),
        ("predicted", pairing.predicted_marks),
    ):
        faults += _spans_outside(side, marks, pairing.keys, pairing.length)
    InputError.raise_any(faults)
    return pairing


def annotator_number(corpus: Corpus, annotator: str | None, side: str = "") -> int:
    """Return the index of the annotator that is named, or of the only one.

    >>> from rubricate import load_corpus
    >>> annotator_number(load_corpus("open-notes"), "second_rater")
    1
    """
    which, option = (f"{side} corpus", f"{side}_annotator") if side else ("corpus", "annotator")
    known = list(corpus.annotator_index)
    if annotator:
        if annotator not in corpus.annotator_index:
            raise UnknownNameError(f"annotator in the {which}", annotator, known)
        return corpus.annotator_index[annotator]
    if len(known) != 1:
        raise InputError(
            f"the {which} has {len(known)} annotators ({', '.join(known)}); name one of them with "
            f"{option} (--{option.replace('_', '-')})"
            if known
            else f"the {which} has no annotator, so nothing in it was judged"
        )
    return 0


def _places(keys: I64, wanted: I64) -> I64:
    """Return the place of each wanted key among the sorted keys, -1 if it is missing."""
    if np.array_equal(keys, wanted):
        return np.arange(len(keys), dtype=np.int64)
    if len(keys) == 0:
        return np.full(len(wanted), -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


def row_keys(reference: Corpus, rows: I64) -> RowKeys:
    """Return note, feature and case of these rows of a corpus."""
    # a note's own case, not the feature's: "per case" groups notes
    number = {rubric.case: i for i, rubric in enumerate(reference.rubrics)}
    case_of_note = [number.setdefault(note.case, len(number)) for note in reference.notes]
    note = reference.rows.note[rows].astype(np.int64)
    return RowKeys(
        note=note,
        feature=reference.rows.feature[rows].astype(np.int64),
        case=np.array(case_of_note, dtype=np.int64)[note],
        notes=tuple(n.id for n in reference.notes),
        features=tuple(f.id for f in reference.features),
        cases=tuple(number),
    )


def _differences(
    reference: Corpus, predicted: Corpus, rows: I64, note: I64, feature: I64, unknown: Unknown
) -> list[Fault]:
    """Name the predicted notes whose text is not the reference's, and what the reference lacks.

    ``note`` and ``feature`` give the reference's index for a predicted one, -1 where there is none.
    A predicted note without text (a table of locations only) has nothing to compare.
    """
    faults = []
    used = np.unique(predicted.rows.note[rows])
    for i in used[note[used] >= 0].tolist() if reference.notes is not predicted.notes else ():
        mine, theirs = predicted.notes[i], reference.notes[note[i]]
        if mine.text and mine.text != theirs.text:
            faults.append(
                Fault(
                    f"note {mine.id!r}: the predicted text ({len(mine.text)} characters) is not "
                    f"the reference's ({len(theirs.text)} characters), so offsets do not compare; "
                    "use the same, unchanged note texts on both sides"
                )
            )
    if unknown == "skip":
        return faults
    faults += [
        Fault(f"note {predicted.notes[i].id!r} is predicted but not in the reference corpus")
        for i in used[note[used] < 0].tolist()
    ]
    used = np.unique(predicted.rows.feature[rows])
    faults += [
        Fault(
            f"feature {predicted.features[i].id!r} is predicted but not in the reference corpus: "
            "name the same features on both sides (in BRAT: annotation.conf)"
        )
        for i in used[feature[used] < 0].tolist()
    ]
    return faults


def _missing_rows(reference: Corpus, rows: I64) -> list[Fault]:
    """Name, note by note, the features that were not predicted."""
    by_note: dict[int, list[str]] = {}
    for note, feature in zip(
        reference.rows.note[rows].tolist(), reference.rows.feature[rows].tolist(), strict=True
    ):
        by_note.setdefault(note, []).append(reference.features[feature].id)
    return [
        Fault(
            f"note {reference.notes[note].id!r}: {len(features)} judged "
            f"feature{'s' if len(features) > 1 else ''} without a prediction: "
            f"{', '.join(features)}"
        )
        for note, features in by_note.items()
    ]


def _spans_outside(side: str, marks: MarkArrays, keys: RowKeys, length: I64) -> list[Fault]:
    """Name the spans that are empty or lie outside their note."""
    row = marks.fragment_row
    wrong = (marks.start < 0) | (marks.end <= marks.start) | (marks.end > length[row])
    return [
        Fault(
            f"{side}, note {keys.notes[keys.note[row[i]]]!r}, "
            f"feature {keys.features[keys.feature[row[i]]]!r}: span {marks.start[i]} "
            f"{marks.end[i]} needs 0 <= start < end <= {length[row[i]]} (the note's length); "
            "check the corpus and repair it first"
        )
        for i in np.flatnonzero(wrong).tolist()
    ]
