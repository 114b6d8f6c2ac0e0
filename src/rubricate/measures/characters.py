"""Characters: which positions of a note the reference and the prediction cover."""

from __future__ import annotations

import numpy as np

from rubricate.measures.counts import CountTable
from rubricate.measures.formulas import CHARACTERS
from rubricate.measures.marks import covered, zones
from rubricate.measures.pairing import Pairing
from rubricate.rows import I64


def character_counts(pairing: Pairing) -> CountTable:
    """Count true and false positive and negative character positions in each row.

    A position is TP within both a reference and a predicted span, FP within a predicted one
    only, FN within a reference one only, TN within neither (the competition's definition; TN
    serves kappa). Spans of a row are taken as a union: duplicates, nested, overlapping and
    touching spans count a position once.

    Examples
    --------
    The worked example of the competition:

    >>> from rubricate import CorpusBuilder, Feature, Note
    >>> from rubricate.measures.pairing import pair_rows
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
