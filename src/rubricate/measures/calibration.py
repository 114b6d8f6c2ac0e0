"""Whether presence probabilities mean what they say: Brier score, ECE, reliability bins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rubricate.measures.calibration_sums import (
    VALUES,
    CalibrationCounts,
    calibration_counts,
    calibration_values,
)
from rubricate.measures.counts import By, CountTable
from rubricate.measures.formulas import F64, defined
from rubricate.stats import Interval, Resampling, bootstrap_interval, cluster_interval
from rubricate.stats.bootstrap import summarise
from rubricate.stats.calibration import chance_error

#: Standard deviations above the mean that chance exceeds once in forty samples.
_ONCE_IN_FORTY = 1.96


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
        """How far the ECE exceeds what perfect probabilities would show."""
        return self.values["ece"] - self.ece_by_chance

    def to_dict(self) -> dict[str, Any]:
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
    present: float
    interval: Interval

    def to_dict(self) -> dict[str, Any]:
        """Return the fields ready for JSON."""
        return {
            "low": self.low,
            "high": self.high,
            "n_rows": self.n_rows,
            "probability": self.probability,
            "present": self.present,
            "interval": [self.interval.low, self.interval.high],
        }


@dataclass(frozen=True, eq=False, slots=True)
class CalibrationResult:
    """How well calibrated the probabilities of one system are.

    Parameters
    ----------
    n_notes : int
        Notes with a probability.
    overall : GroupCalibration
        All their rows.
    intervals : mapping from value to Interval
        Of ``brier``, ``brier_skill`` and ``ece``.
    bins : tuple of CalibrationBin
        Points of the reliability diagram; bins without rows are left out.
    features, cases : mapping from id to GroupCalibration
        The same values for each.
    """

    n_notes: int
    overall: GroupCalibration
    intervals: Mapping[str, Interval]
    bins: tuple[CalibrationBin, ...]
    features: Mapping[str, GroupCalibration]
    cases: Mapping[str, GroupCalibration]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but features and cases, ready for JSON."""
        return {
            "n_notes": self.n_notes,
            **self.overall.to_dict(),
            "intervals": {
                name: [defined(one.low), defined(one.high)] for name, one in self.intervals.items()
            },
            "methods": {name: one.method for name, one in self.intervals.items()}
            | {"bins": self.bins[0].interval.method},
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
    that of a resample is larger still, so that percentiles miss the truth. Its interval is the
    basic one, 2 ECE - percentile (Davison & Hinkley 1997, section 5.2), from 0 where perfect
    probabilities would show as much in one sample of forty (`chance_error`), and up to the ECE at
    least. A bin's share present: Wilson (1927) at the effective size that rows of one note leave
    (`rubricate.stats.cluster_interval`).

    Parameters
    ----------
    presence, probability, weights
        As for `calibration_counts`; at least one probability must be known.
    settings : Resampling, optional
        Resamples, confidence, method and seed.

    Examples
    --------
    >>> from rubricate.measures.counts import RowKeys
    >>> from rubricate.measures.formulas import PRESENCE
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
        intervals=_intervals(by_note, _case_of(presence, by_note.ids), settings),
        bins=_bins(by_note, settings.confidence),
        features=groups["feature"],
        cases=groups["case"],
    )


def _intervals(counts: CalibrationCounts, case: Any, settings: Resampling) -> dict[str, Interval]:
    keep = replace(settings, keep_replicates=True)
    found = bootstrap_interval(counts.values[:, :, :4], calibration_values, keep, strata=case)
    # no error in any note leaves the bootstrap without width: n of n notes, as elsewhere
    least = 1 - ((1 - settings.confidence) / 2) ** (1 / len(counts.ids))
    intervals = {name: found.interval(VALUES.index(name)) for name in ("brier", "brier_skill")}
    if found.estimate[0] == 0:
        intervals["brier"] = replace(intervals["brier"], high=least)
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
    intervals["ece"] = Interval(low, high, settings.confidence, "bootstrap-basic")
    return intervals


def _bins(counts: CalibrationCounts, confidence: float) -> tuple[CalibrationBin, ...]:
    n_bins, sums = counts.values.shape[1], counts.total()
    # weights of mean 1, so that their sum is a number of rows
    scale = sums[:, 6].sum() / sums[:, 0].sum()
    found = []
    for b in np.flatnonzero(sums[:, 6]).tolist():
        weight, _, probability, present = sums[b, :4].tolist()
        trials = counts.values[:, b, 0] * scale
        successes = np.minimum(counts.values[:, b, 3] * scale, trials)
        interval = cluster_interval(successes, trials, method="wilson", confidence=confidence)
        found.append(
            CalibrationBin(b / n_bins, (b + 1) / n_bins, int(sums[b, 6]), probability / weight,
                           present / weight, interval)
        )  # fmt: skip
    return tuple(found)


def _case_of(presence: CountTable, notes: tuple[str, ...]) -> Any:
    case = dict(zip(presence.keys.note.tolist(), presence.keys.case.tolist(), strict=True))
    place = {name: i for i, name in enumerate(presence.keys.notes)}
    return np.array([case[place[name]] for name in notes], dtype=np.int64)
