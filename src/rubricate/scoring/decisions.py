"""Decisions of a matcher beside a reference: what was found, how surely, and whether rightly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rubricate.measures.pairing import Pairing
from rubricate.run.evidence import DIGITS, certainty

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class JudgedItems:
    """Decisions beside a reference: one entry per note and feature."""

    note: I64
    feature: I64
    found: Bools
    wrong: Bools
    certainty: F64
    note_ids: Sequence[str]
    feature_ids: Sequence[str]
    most: int

    def take(self, keep: Bools) -> JudgedItems:
        """Return the items under a mask."""
        return replace(
            self,
            note=self.note[keep],
            feature=self.feature[keep],
            found=self.found[keep],
            wrong=self.wrong[keep],
            certainty=self.certainty[keep],
        )


def judged_items(pairing: Pairing) -> JudgedItems:
    """Return the decisions of a pairing: right where presence is what the reference says."""
    present = np.diff(pairing.reference.rows.first_annotation)[pairing.reference_row] > 0
    rows, own = pairing.predicted.rows, pairing.predicted_row
    found = np.diff(rows.first_annotation)[own] > 0
    confidence, probability = np.full(len(own), np.nan), np.full(len(own), np.nan)
    if rows.confidence is not None:
        best = np.full(len(rows), -np.inf)
        np.maximum.at(best, rows.annotation_row, np.nan_to_num(rows.confidence, nan=-np.inf))
        confidence = np.where(np.isfinite(best[own]), best[own], np.nan)
    if rows.probability is not None:
        probability = rows.probability[own].astype(np.float64)
    sure = [
        certainty(is_found, _kept(p), _kept(c))
        for is_found, p, c in zip(
            found.tolist(), probability.tolist(), confidence.tolist(), strict=True
        )
    ]
    return JudgedItems(
        note=pairing.keys.note.astype(np.int64),
        feature=pairing.keys.feature.astype(np.int64),
        found=found,
        wrong=found != present,
        certainty=np.array(sure, dtype=np.float64),
        note_ids=[note.id for note in pairing.reference.notes],
        feature_ids=[feature.id for feature in pairing.reference.features],
        most=max(len(rubric) for rubric in pairing.reference.rubrics),
    )


def _kept(value: float) -> float | None:
    # To the digits that a run keeps, so that a run decides alike.
    return None if math.isnan(value) else round(value, DIGITS)


def ranks_in_notes(items: JudgedItems, risk: F64) -> I64:
    """Return how many items of the same note are surer than each, or as sure and before it.

    Examples
    --------
    >>> note, feature, no = np.array([0, 0, 1]), np.array([0, 1, 0]), np.zeros(3, dtype=bool)
    >>> items = JudgedItems(note, feature, no, no, np.ones(3), ["m", "n"], ["f", "g"], 2)
    >>> ranks_in_notes(items, np.array([0.2, 0.1, 0.3])).tolist()
    [1, 0, 0]
    """
    order = np.lexsort((items.feature, risk, items.note))
    note = items.note[order]
    first = np.searchsorted(note, note)
    ranks = np.empty(len(note), dtype=np.int64)
    ranks[order] = np.arange(len(note)) - first
    return ranks
