"""The families of measures: what each counts in a paired row, and what its tables are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from rubricate.arrays import I64, Bools
from rubricate.measures.counts import CountTable
from rubricate.measures.formulas import CHARACTERS, PRESENCE
from rubricate.measures.marks import covered, zones
from rubricate.measures.pairing import Pairing
from rubricate.measures.span_matching import Matching, span_counts

#: Names one count table: ``("characters",)``, ``("presence",)``, ``("spans", "exact")``.
MeasureKey = tuple[str, ...]


def character_counts(pairing: Pairing) -> CountTable:
    """Count true and false positive and negative character positions in each row.

    A position is TP within both a reference and a predicted span, FP within a predicted one
    only, FN within a reference one only, TN within neither (the competition's definition; TN
    serves kappa). Spans of a row are taken as a union: duplicates, nested, overlapping and
    touching spans count a position once.

    The worked example of the competition:

    >>> from rubricate import CorpusBuilder, Feature, Note
    >>> from rubricate.measures import pair_rows
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "0123456789"))
    >>> builder.add_feature(Feature("f", "c", "a feature"))
    >>> for annotator, spans in (("ref", [(0, 3), (3, 5)]), ("pred", [(2, 5), (7, 9), (2, 3)])):
    ...     for span in spans:
    ...         builder.annotate(annotator, "n", "f", [span])
    >>> corpus = builder.build()
    >>> pairing = pair_rows(
    ...     corpus, corpus, reference_annotator="ref", predicted_annotator="pred"
    ... )
    >>> character_counts(pairing).total().counts
    {'tp': 3, 'fp': 2, 'fn': 2, 'tn': 3}
    """
    base = zones(pairing.length)
    n = len(pairing)
    sides = []
    for marks in (pairing.reference_marks, pairing.predicted_marks):
        row = marks.fragment_row
        shift = base[row]
        sides.append(_by_start(row, marks.start + shift, marks.end + shift))
    both = _by_start(*(np.concatenate(arrays) for arrays in zip(*sides, strict=True)))
    reference, predicted, either = (covered(*spans, n) for spans in (*sides, both))
    values = np.empty((n, 4), dtype=np.int64)
    values[:, 0] = reference + predicted - either
    values[:, 1] = either - reference
    values[:, 2] = either - predicted
    values[:, 3] = pairing.length - either
    return CountTable(CHARACTERS, pairing.keys, values)


def _by_start(row: I64, start: I64, end: I64) -> tuple[I64, I64, I64]:
    if (start[1:] >= start[:-1]).all():
        return row, start, end
    # stable is a merge sort here: linear on the two sorted runs of a concatenation
    order = np.argsort(start, kind="stable")
    return row[order], start[order], end[order]


def presence_counts(pairing: Pairing) -> CountTable:
    """Count, in each row, whether reference and prediction hold any annotation.

    Exactly one of TP, FP, FN and TN is 1 in a row. Where the spans are plays no part.

    >>> from rubricate import CorpusBuilder, Feature, Note
    >>> from rubricate.measures import pair_rows
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "no fever"))
    >>> builder.add_feature(Feature("f", "c", "No fever"))
    >>> builder.annotate("ref", "n", "f", [(0, 8)])
    >>> builder.annotate("pred", "n", "f", [(3, 8)])
    >>> corpus = builder.build()
    >>> pairing = pair_rows(
    ...     corpus, corpus, reference_annotator="ref", predicted_annotator="pred"
    ... )
    >>> presence_counts(pairing).total().counts
    {'tp': 1, 'fp': 0, 'fn': 0, 'tn': 0}
    """
    sides = np.zeros((2, len(pairing)), dtype=bool)
    sides[0, pairing.reference_marks.row] = True
    sides[1, pairing.predicted_marks.row] = True
    return CountTable(PRESENCE, pairing.keys, four_cells(*sides))


def four_cells(reference: Bools, predicted: Bools) -> I64:
    """Return TP, FP, FN and TN of each unit, one of which is 1.

    >>> four_cells(np.array([True, False]), np.array([True, True])).tolist()
    [[1, 0, 0, 0], [0, 1, 0, 0]]
    """
    both = (reference & predicted, ~reference & predicted, reference & ~predicted)
    return np.stack([*both, ~(reference | predicted)], axis=-1).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Family:
    """Measures that are counted together: the names of their tables, and what counts them."""

    labels: Mapping[MeasureKey, str]
    count: Callable[[Pairing, Matching], Mapping[MeasureKey, CountTable]]


#: Every family, in the order in which pages and tables show them. A new one needs a line here and
#: its formulas in `rubricate.measures.formulas`; results, comparisons and JSON follow.
FAMILIES = (
    Family(
        {("characters",): "Characters"},
        lambda pairing, _: {("characters",): character_counts(pairing)},
    ),
    Family(
        {("presence",): "Presence"}, lambda pairing, _: {("presence",): presence_counts(pairing)}
    ),
    Family(
        {
            ("spans", "exact"): "Spans, exact",
            ("spans", "one_side_boundary"): "Spans, one side",
            ("spans", "token_overlap"): "Spans, overlap",
        },
        lambda pairing, matching: {
            ("spans", kind): table for kind, table in span_counts(pairing, matching).items()
        },
    ),
)
#: What each count table is called.
LABELS: Mapping[MeasureKey, str] = {
    key: label for family in FAMILIES for key, label in family.labels.items()
}


def count_rows(pairing: Pairing, matching: Matching) -> dict[MeasureKey, CountTable]:
    """Count the rows of a pairing in every way there is."""
    return {
        key: table for family in FAMILIES for key, table in family.count(pairing, matching).items()
    }
