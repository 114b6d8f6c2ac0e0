"""Presence: is the feature found in the note, yes or no."""

from __future__ import annotations

import numpy as np

from rubricate.measures.counts import CountTable
from rubricate.measures.formulas import PRESENCE
from rubricate.measures.marks import Marks
from rubricate.measures.pairing import Pairing


def presence_counts(pairing: Pairing) -> CountTable:
    """Count, in each row, whether reference and prediction hold any annotation.

    Exactly one of TP, FP, FN and TN is 1 in a row. Where the spans are plays no part.

    Examples
    --------
    >>> from rubricate import CorpusBuilder, Feature, Note
    >>> from rubricate.measures.pairing import pair_rows
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
    reference = _present(pairing.reference_marks, len(pairing))
    predicted = _present(pairing.predicted_marks, len(pairing))
    values = np.stack(
        (
            reference & predicted,
            ~reference & predicted,
            reference & ~predicted,
            ~reference & ~predicted,
        ),
        axis=-1,
    )
    return CountTable(PRESENCE, pairing.keys, values.astype(np.int64))


def _present(marks: Marks, n_rows: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    present = np.zeros(n_rows, dtype=bool)
    present[marks.row] = True
    return present
