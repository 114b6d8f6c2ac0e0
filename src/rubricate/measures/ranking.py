"""Ranking of present before absent rows by probability: ROC and precision-recall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rubricate.arrays import F64
from rubricate.measures.counts import CountTable
from rubricate.stats import Estimate, Resampling, degrees_of_freedom, ratio, summarise

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Points of a curve, at most.
MOST_POINTS = 200
#: Numbers held at a time while areas are resampled.
_CHUNK = 4_000_000


@dataclass(frozen=True, eq=False, slots=True)
class Ranking:
    """Both curves with their areas."""

    auc: Estimate
    average_precision: Estimate
    roc: tuple[tuple[float, float, float], ...]
    precision_recall: tuple[tuple[float, float, float], ...]
    n_rows: int
    n_present: int

    def to_dict(self) -> dict[str, object]:
        """Return everything, ready for JSON."""
        return {
            "auc": self.auc.to_dict(),
            "average_precision": self.average_precision.to_dict(),
            "n_rows": self.n_rows,
            "n_present": self.n_present,
            "roc": [list(point) for point in self.roc],
            "precision_recall": [list(point) for point in self.precision_recall],
        }


def areas(present: F64, absent: F64) -> F64:
    """Return area under the ROC curve and average precision, from rows by falling probability.

    Rows of one probability are one place of the last axis: how many of them are present, and how
    many absent. The area is the chance that a present row has a higher probability than an absent
    one, ties counting half (Mann & Whitney 1947; Hanley & McNeil 1982); average precision is the
    sum over places of the gain in recall times the precision there.

    >>> areas(np.array([1.0, 1.0, 0.0]), np.array([0.0, 1.0, 1.0])).tolist()
    [0.875, 0.8333333333333333]
    """
    found, wrong = np.cumsum(present, axis=-1), np.cumsum(absent, axis=-1)
    total, others = found[..., -1], wrong[..., -1]
    before = wrong - absent
    pairs = (present * (others[..., None] - before - absent / 2)).sum(axis=-1)
    precision = ratio(found, found + wrong)
    gained = (present * np.nan_to_num(precision)).sum(axis=-1)
    return np.stack([ratio(pairs, total * others), ratio(gained, total)], axis=-1)


def rank(
    presence: CountTable,
    probability: F64,
    settings: Resampling | None = None,
    *,
    weights: Mapping[str, float] | None = None,
) -> Ranking:
    """Draw ROC and precision-recall curves of presence probabilities, areas with intervals.

    Intervals draw notes with replacement, n - 1 of n, each counting n / (n - 1) times (Rao & Wu
    1988), and are percentiles at Student's t. Rows without a probability are left out.

    >>> from rubricate.measures.counts import RowKeys
    >>> from rubricate.measures.formulas import PRESENCE
    >>> note, zero = np.arange(4), np.zeros(4, dtype=np.int64)
    >>> keys = RowKeys(note, zero, zero, ("n1", "n2", "n3", "n4"), ("f",), ("c",))
    >>> counts = np.array([[1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0]])
    >>> found = rank(CountTable(PRESENCE, keys, counts), np.array([0.9, 0.6, 0.1, 0.7]))
    >>> found.auc.value, round(found.average_precision.value, 3)
    (0.75, 0.833)
    """
    from scipy.sparse import csr_array

    settings = settings or Resampling()
    known = np.flatnonzero(~np.isnan(probability))
    table = presence.keys.take(known)
    own = presence.values[known]
    is_present = (own[:, 0] + own[:, 2] > 0).astype(np.float64)
    weight = table.weights(weights)
    notes, note = np.unique(table.note, return_inverse=True)
    levels, place = np.unique(-probability[known], return_inverse=True)
    # places by notes, sparse, so that the places of a draw of notes are one product
    shape = (len(levels), len(notes))
    present, absent = (
        csr_array((side * weight, (place, note)), shape=shape)
        for side in (is_present, 1 - is_present)
    )
    totals = [np.asarray(side.sum(axis=1), dtype=np.float64) for side in (present, absent)]
    estimate = areas(totals[0], totals[1])
    replicates = _replicates(present, absent, settings)
    freedom = degrees_of_freedom(None, len(notes))
    plain = replace(settings, method="percentile")
    drawn = summarise(estimate, replicates, plain, freedom=freedom)
    roc, curve = _curves(totals[0], totals[1], -levels)
    return Ranking(drawn.at(0), drawn.at(1), roc, curve, len(known), int(is_present.sum()))


def _replicates(present: csr_array, absent: csr_array, settings: Resampling) -> F64:
    places, n = present.shape
    rng, drawn = np.random.default_rng(settings.seed), max(1, n - 1)
    found = np.empty((settings.resamples, 2))
    step = max(1, _CHUNK // max(places, 1))
    for start in range(0, settings.resamples, step):
        draws = min(step, settings.resamples - start)
        times = rng.multinomial(drawn, np.full(n, 1 / n), size=draws) * (n / drawn)
        found[start : start + draws] = areas((present @ times.T).T, (absent @ times.T).T)
    return found


def _curves(
    present: F64, absent: F64, thresholds: F64
) -> tuple[tuple[tuple[float, float, float], ...], tuple[tuple[float, float, float], ...]]:
    """Return both curves, thinned to `MOST_POINTS`."""
    found, wrong = np.cumsum(present), np.cumsum(absent)
    kept = np.unique(np.linspace(0, len(found) - 1, min(MOST_POINTS, len(found))).astype(int))
    recall, precision = ratio(found, found[-1]), ratio(found, found + wrong)
    rate = ratio(wrong, wrong[-1])
    roc = [(0.0, 0.0, float("inf"))]
    roc += [(float(rate[i]), float(recall[i]), float(thresholds[i])) for i in kept]
    curve = [(float(recall[i]), float(precision[i]), float(thresholds[i])) for i in kept]
    return tuple(roc), tuple(curve)
