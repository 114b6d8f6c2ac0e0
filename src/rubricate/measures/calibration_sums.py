"""Sums of presence probabilities that add over notes, and the values that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rubricate.errors import Fault, InputError
from rubricate.measures.counts import By, CountTable
from rubricate.measures.formulas import F64, ratio
from rubricate.measures.pairing import Pairing
from rubricate.stats.calibration import place_in_bins

#: Bins of equal width, as Guo et al. (2017) and most others draw them.
N_BINS = 10
#: What is summed in each bin; the first four are enough for every value but those of chance.
COLUMNS = ("weight", "squared", "probability", "present", "spread", "spread_squared", "rows")
#: What follows from the sums.
VALUES = ("brier", "brier_skill", "ece", "share_present", "mean_probability")


def presence_probability(pairing: Pairing) -> F64 | None:
    """Return the probability of presence that was predicted for each row, nan where unknown.

    None where no row of the prediction has one.
    """
    stored = pairing.predicted.rows.probability
    if stored is None:
        return None
    # stored in 32 bits: 0.7 comes back as 0.69999999 and would fall into the bin below
    found = stored[np.maximum(pairing.predicted_row, 0)].astype(np.float64).round(7)
    found[pairing.predicted_row < 0] = np.nan
    return None if np.isnan(found).all() else found


@dataclass(frozen=True, eq=False, slots=True)
class CalibrationCounts:
    """What probabilities and presences of some notes, features or cases add up to, bin by bin.

    Parameters
    ----------
    ids : tuple of str
        The notes, features or cases.
    values : float64 array of shape (n_ids, n_bins, 7)
        Sums over rows, in the order of `COLUMNS`: weights w (1 without a design), w (p - y)^2,
        w p, w y, w p (1 - p), w^2 p (1 - p), and the rows themselves.

    Examples
    --------
    >>> one = CalibrationCounts(("n1",), np.ones((1, 10, 7)))
    >>> (one + one).values[0, 0, 0], (one + CalibrationCounts(("n2",), one.values)).ids
    (np.float64(2.0), ('n1', 'n2'))
    """

    ids: tuple[str, ...]
    values: F64

    def __add__(self, other: CalibrationCounts) -> CalibrationCounts:
        ids = tuple(dict.fromkeys(self.ids + other.ids))
        place = {name: i for i, name in enumerate(ids)}
        values = np.zeros((len(ids), *self.values.shape[1:]))
        for part in (self, other):
            values[[place[name] for name in part.ids]] += part.values
        return CalibrationCounts(ids, values)

    def total(self) -> F64:
        """Return the sums over all ids: shape (n_bins, 7)."""
        return np.asarray(self.values.sum(axis=0))


def calibration_counts(
    presence: CountTable,
    probability: F64,
    *,
    by: By = "note",
    bins: int = N_BINS,
    weights: Mapping[str, float] | None = None,
) -> CalibrationCounts:
    """Sum rows that have a probability, by note, feature or case.

    Parameters
    ----------
    presence : CountTable
        Says in which rows the reference has the feature.
    probability : ndarray
        One a row of it; nan where unknown.
    by : {"note", "feature", "case"}
        What to sum by; groups without a probability are left out.
    bins : int
        How many bins of equal width.
    weights : mapping from note id to weight, optional
        Design weights.

    Raises
    ------
    InputError
        Naming every row whose probability is not between 0 and 1.
    """
    known = ~np.isnan(probability)
    keys, p = presence.keys.take(known), probability[known]
    _need_probabilities(presence, probability)
    y = presence.values[known][:, [0, 2]].sum(axis=1).astype(np.float64)
    w = np.ones(len(p))
    if weights is not None:
        w = np.array([weights[i] for i in keys.notes], dtype=np.float64)[keys.note]
    spread = p * (1 - p)
    columns = (w, w * (p - y) ** 2, w * p, w * y, w * spread, w**2 * spread, np.ones(len(p)))
    ids, group = keys.groups(by)
    cell = group * bins + place_in_bins(p, bins)
    sums = [np.bincount(cell, column, len(ids) * bins) for column in columns]
    values = np.stack(sums, axis=-1).astype(np.float64)
    return CalibrationCounts(ids, values.reshape(len(ids), bins, len(COLUMNS)))


def calibration_values(sums: F64) -> F64:
    """Return the values of `VALUES`, in a new last axis, of sums of shape (..., n_bins, 4 or 7).

    Brier score: the mean of (p - y)^2 (Brier 1950). Brier skill: 1 - Brier / (b (1 - b)), b the
    share of rows that are present, which is the score of saying b everywhere (Murphy 1973); nan
    where b is 0 or 1. ECE: the mean over bins, weighted by rows, of |mean p - share present|
    (Naeini, Cooper & Hauskrecht 2015; Guo et al. 2017).

    Examples
    --------
    >>> sums = np.array([[2.0, 0.05, 0.3, 0.0], [2.0, 0.05, 1.7, 2.0]])
    >>> calibration_values(sums).round(3).tolist()
    [0.025, 0.9, 0.15, 0.5, 0.5]
    """
    weight, squared, probability, present = (sums[..., i] for i in range(4))
    total = weight.sum(axis=-1)
    brier = ratio(squared.sum(axis=-1), total)
    share = ratio(present.sum(axis=-1), total)
    ece = ratio(np.abs(probability - present).sum(axis=-1), total)
    skill = 1 - ratio(brier, share * (1 - share))
    return np.stack([brier, skill, ece, share, ratio(probability.sum(axis=-1), total)], axis=-1)


def _need_probabilities(presence: CountTable, probability: F64) -> None:
    keys = presence.keys
    wrong = np.flatnonzero((probability < 0) | (probability > 1))
    if len(wrong):
        raise InputError(
            [
                Fault(
                    f"predicted note {keys.notes[keys.note[i]]}, feature "
                    f"{keys.features[keys.feature[i]]}: probability {probability[i]:g}; "
                    "need a number from 0 to 1"
                )
                for i in wrong.tolist()
            ]
        )
