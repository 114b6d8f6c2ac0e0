"""All pairs of annotators at once: every two rows of the same note and feature side by side."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from rubricate.corpus import Corpus
from rubricate.errors import InputError, UnknownNameError
from rubricate.measures.pairing import Coverage, Pairing, row_keys
from rubricate.rows import I64


@dataclass(frozen=True, eq=False)
class AnnotatorPairs:
    """Rows of ordered pairs of annotators.

    Parameters
    ----------
    pairing : Pairing
        One line per ordered pair of rows; counts are taken from it as from any other pairing.
    reference_annotator, predicted_annotator : int64 arrays
        Whose rows they are (indices into the corpus's annotators).
    """

    pairing: Pairing
    reference_annotator: I64
    predicted_annotator: I64

    def __len__(self) -> int:
        return len(self.pairing)


def pair_annotators(
    corpus: Corpus,
    *,
    reference: Collection[str] | None = None,
    predicted: Collection[str] | None = None,
    ordered: bool = True,
) -> AnnotatorPairs:
    """Put every two rows of a note and feature side by side that two annotators judged.

    Parameters
    ----------
    corpus : Corpus
        With two annotators or more.
    reference, predicted : collection of annotator ids, optional
        Who stands on which side; everybody unless given. Nobody is paired with themselves.
    ordered : bool
        Both directions of a pair (True), or only that in which the earlier annotator of the corpus
        is the reference.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> len(pair_annotators(corpus, ordered=False))
    320
    """
    side_one = _chosen(corpus, reference)
    side_two = _chosen(corpus, predicted)
    rows = corpus.rows
    unit = rows.note.astype(np.int64) * len(corpus.features) + rows.feature
    left = np.flatnonzero(side_one[rows.annotator])
    right = np.flatnonzero(side_two[rows.annotator])
    right = right[np.argsort(unit[right], kind="stable")]
    first = np.searchsorted(unit[right], unit[left], side="left")
    count = np.searchsorted(unit[right], unit[left], side="right") - first
    one = np.repeat(left, count)
    ends = np.cumsum(count)
    step = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - count, count)
    two = right[np.repeat(first, count) + step]
    who_one, who_two = rows.annotator[one], rows.annotator[two]
    keep = who_one != who_two if ordered else who_one < who_two
    if not keep.any():
        raise InputError(
            "no two annotators judged the same feature of the same note, so there is nothing to "
            "compare. Annotators: " + (", ".join(a.id for a in corpus.annotators) or "none")
        )
    one, two = one[keep], two[keep]
    keys = row_keys(corpus, one)
    pairing = Pairing(
        corpus, corpus, "each", "each other", keys, one, two,
        Coverage(n_notes=len(np.unique(keys.note)), n_rows=len(one)),
    )  # fmt: skip
    return AnnotatorPairs(
        pairing, rows.annotator[one].astype(np.int64), rows.annotator[two].astype(np.int64)
    )


def _chosen(
    corpus: Corpus, ids: Collection[str] | None
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    known = [a.id for a in corpus.annotators]
    for name in ids or ():
        if name not in corpus.annotator_index:
            raise UnknownNameError("annotator", name, known)
    return np.array([ids is None or i in ids for i in known], dtype=bool)
