"""Calibration of presence probabilities: Brier score, ECE, reliability bins.

Everything follows from sums over rows that add, kept by note, feature and case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rubricate.arrays import F64, I64
from rubricate.errors import Fault, InputError
from rubricate.evaluation.counts import By, CountTable
from rubricate.stats import (
    Estimate,
    Resampling,
    bootstrap_interval,
    cluster_interval,
    defined,
    degrees_of_freedom,
    ratio,
    summarise,
)
from rubricate.stats.calibration import chance_error, place_in_bins

if TYPE_CHECKING:
    from scipy.sparse import csr_array


#: Bins of equal width, as Guo et al. (2017) and most others draw them.
N_BINS = 10
#: What is summed in each bin; the first four are enough for every value but those of chance.
COLUMNS = ("weight", "squared", "probability", "present", "spread", "spread_squared", "rows")
#: What follows from the sums.
VALUES = ("brier", "brier_skill", "ece", "share_present", "mean_probability")

#: Standard deviations above the mean that chance exceeds once in forty samples.
_ONCE_IN_FORTY = 1.96


@dataclass(frozen=True, eq=False, slots=True)
class CalibrationCounts:
    """Sums of probabilities and presences of some notes, features or cases, bin by bin."""

    ids: tuple[str, ...]
    values: F64

    def total(self) -> F64:
        """Return the sums over all ids: shape (n_bins, 7)."""
        return np.asarray(self.values.sum(axis=0))


def calibration_counts(
    presence: CountTable,
    probability: F64,
    *,
    by: By = "note",
    weights: Mapping[str, float] | None = None,
) -> CalibrationCounts:
    """Sum rows that have a probability, by note, feature or case."""
    known = ~np.isnan(probability)
    keys, p = presence.keys.take(known), probability[known]
    _need_probabilities(presence, probability)
    y = presence.values[known][:, [0, 2]].sum(axis=1).astype(np.float64)
    w = keys.weights(weights)
    spread = p * (1 - p)
    columns = (w, w * (p - y) ** 2, w * p, w * y, w * spread, w**2 * spread, np.ones(len(p)))
    ids, group = keys.groups(by)
    cell = group * N_BINS + place_in_bins(p, N_BINS)
    sums = [np.bincount(cell, column, len(ids) * N_BINS) for column in columns]
    values = np.stack(sums, axis=-1).astype(np.float64)
    return CalibrationCounts(ids, values.reshape(len(ids), N_BINS, len(COLUMNS)))


def calibration_values(sums: F64) -> F64:
    """Return the values of `VALUES`, in a new last axis, of sums of shape (..., n_bins, 4 or 7).

    Brier score: the mean of (p - y)^2 (Brier 1950). Brier skill: 1 - Brier / (b (1 - b)), b the
    share of rows that are present, which is the score of saying b everywhere (Murphy 1973); nan
    where b is 0 or 1. ECE: the mean over bins, weighted by rows, of |mean p - share present|
    (Naeini, Cooper & Hauskrecht 2015; Guo et al. 2017).

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


@dataclass(frozen=True, slots=True)
class GroupCalibration:
    """The values of some rows, and the ECE that perfect probabilities would show in them."""

    n_rows: int
    values: Mapping[str, float]
    ece_by_chance: float

    @classmethod
    def of(cls, sums: F64) -> GroupCalibration:
        """Compute every value from sums of shape (n_bins, 7)."""
        values = dict(zip(VALUES, calibration_values(sums).tolist(), strict=True))
        chance, _ = chance_error(sums[:, 4], sums[:, 5], sums[:, 0].sum())
        return cls(int(sums[:, 6].sum()), values, chance)

    @property
    def beyond_chance(self) -> float:
        """Difference between the ECE and the ECE of perfect probabilities."""
        return self.values["ece"] - self.ece_by_chance

    def to_dict(self) -> dict[str, object]:
        """Return the values ready for JSON."""
        values = {name: defined(value) for name, value in self.values.items()}
        return {"n_rows": self.n_rows, **values, "ece_by_chance": self.ece_by_chance}


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """A point of the reliability diagram: rows whose probability is between two edges."""

    low: float
    high: float
    n_rows: int
    probability: float
    present: Estimate

    def to_dict(self) -> dict[str, object]:
        """Return the fields ready for JSON."""
        return {
            "low": self.low,
            "high": self.high,
            "n_rows": self.n_rows,
            "probability": self.probability,
            "present": self.present.value,
            "interval": self.present.to_dict(),
        }


@dataclass(frozen=True, eq=False, slots=True)
class CalibrationResult:
    """Calibration of the probabilities of one system."""

    n_notes: int
    overall: GroupCalibration
    estimates: Mapping[str, Estimate]
    bins: tuple[CalibrationBin, ...]
    features: Mapping[str, GroupCalibration]
    cases: Mapping[str, GroupCalibration]

    def to_dict(self) -> dict[str, object]:
        """Return everything but features and cases, ready for JSON."""
        return {
            "n_notes": self.n_notes,
            **self.overall.to_dict(),
            "intervals": {name: one.to_dict() for name, one in self.estimates.items()},
            "methods": {name: one.method for name, one in self.estimates.items()}
            | {"bins": self.bins[0].present.method},
            "bins": [one.to_dict() for one in self.bins],
        }


def calibrate(
    presence: CountTable,
    probability: F64,
    settings: Resampling | None = None,
    *,
    weights: Mapping[str, float] | None = None,
) -> CalibrationResult:
    """Measure presence probabilities against a reference, with intervals by note.

    Brier score and skill: bootstrap by note inside cases. The ECE of a sample is too large, and
    that of a resample is larger still, so that percentiles miss the true value. Its interval is the
    basic one, 2 ECE - percentile (Davison & Hinkley 1997, section 5.2), from 0 where perfect
    probabilities would show as much in one sample of forty (`chance_error`), and up to the ECE at
    least. A bin's share present: Wilson (1927) at the effective size that rows of one note leave
    (`rubricate.stats.cluster_interval`).

    >>> from rubricate.evaluation.counts import RowKeys
    >>> from rubricate.evaluation.counts import PRESENCE
    >>> note, zero = np.arange(4), np.zeros(4, dtype=np.int64)
    >>> keys = RowKeys(note, zero, zero, ("n1", "n2", "n3", "n4"), ("f",), ("c",))
    >>> counts = np.array([[1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> found = calibrate(
    ...     CountTable(PRESENCE, keys, counts), np.array([0.9, 0.9, 0.1, 0.1]),
    ...     Resampling(resamples=50),
    ... )
    >>> round(found.overall.values["brier"], 2), [one.n_rows for one in found.bins]
    (0.21, [2, 2])
    """
    settings = settings or Resampling()
    by_note = calibration_counts(presence, probability, weights=weights)
    groups: dict[By, dict[str, GroupCalibration]] = {}
    levels: tuple[By, ...] = ("feature", "case")
    for by in levels:
        found = calibration_counts(presence, probability, by=by, weights=weights)
        groups[by] = {
            name: GroupCalibration.of(sums)
            for name, sums in zip(found.ids, found.values, strict=True)
        }
    return CalibrationResult(
        n_notes=len(by_note.ids),
        overall=GroupCalibration.of(by_note.total()),
        estimates=_estimates(
            by_note, presence.keys.take(~np.isnan(probability)).strata_of_notes(), settings
        ),
        bins=_bins(by_note, settings.confidence),
        features=groups["feature"],
        cases=groups["case"],
    )


def _estimates(counts: CalibrationCounts, case: I64, settings: Resampling) -> dict[str, Estimate]:
    keep = replace(settings, keep_replicates=True)
    found = bootstrap_interval(counts.values[:, :, :4], calibration_values, keep, strata=case)
    # no error in any note leaves the bootstrap without width: n of n notes, as elsewhere
    least = 1 - ((1 - settings.confidence) / 2) ** (1 / len(counts.ids))
    estimates = {name: found.at(VALUES.index(name)) for name in ("brier", "brier_skill")}
    if found.estimate[0] == 0:
        estimates["brier"] = replace(estimates["brier"], high=least)
    place = VALUES.index("ece")
    ece, sums = float(found.estimate[place]), counts.total()
    drawn = summarise(
        found.estimate[place : place + 1],
        np.asarray(found.replicates)[:, place : place + 1],
        replace(settings, method="percentile"),
    )
    chance, spread = chance_error(sums[:, 4], sums[:, 5], sums[:, 0].sum())
    low = (
        0.0 if ece <= chance + _ONCE_IN_FORTY * spread else max(0.0, 2 * ece - float(drawn.high[0]))
    )
    high = least if ece == 0 else min(1.0, max(ece, 2 * ece - float(drawn.low[0])))
    estimates["ece"] = Estimate(ece, low, high, settings.confidence, "bootstrap-basic")
    return estimates


def _bins(counts: CalibrationCounts, confidence: float) -> tuple[CalibrationBin, ...]:
    sums = counts.total()
    # weights of mean 1, so that their sum is a number of rows
    scale = sums[:, 6].sum() / sums[:, 0].sum()
    found = []
    for b in np.flatnonzero(sums[:, 6]).tolist():
        weight, _, probability, present = sums[b, :4].tolist()
        trials = counts.values[:, b, 0] * scale
        successes = np.minimum(counts.values[:, b, 3] * scale, trials)
        share = cluster_interval(successes, trials, method="wilson", confidence=confidence)
        found.append(
            CalibrationBin(b / N_BINS, (b + 1) / N_BINS, int(sums[b, 6]), probability / weight,
                           replace(share, value=present / weight))
        )  # fmt: skip
    return tuple(found)


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

    >>> from rubricate.evaluation.counts import RowKeys
    >>> from rubricate.evaluation.counts import PRESENCE
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
