"""Intervals for proportions and for F1 from counts of independent units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64
from rubricate.errors import Fault
from rubricate.stats.limits import METHODS, Method, inside_unit, one_of, raise_if_any, raw_limits

NAN = float("nan")


class EstimateJson(TypedDict):
    """An `Estimate` in JSON; null where a number is undefined."""

    value: float | None
    low: float | None
    high: float | None
    level: float | None
    method: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval: the one form for results, plots and JSON.

    ``value``: the estimate; NaN where it is undefined.
    ``low``, ``high``: the limits; NaN where there is no interval.
    ``level``: the nominal confidence of the interval, such as 0.95.
    ``method``: how the interval was made.

    >>> found = Estimate(0.84, 0.8, 0.875, 0.95, "wilson")
    >>> str(found), str(Estimate(0.5)), str(Estimate(NAN))
    ('0.840 [0.800, 0.875]', '0.500', 'undefined')
    >>> found.to_dict()
    {'value': 0.84, 'low': 0.8, 'high': 0.875, 'level': 0.95, 'method': 'wilson'}
    """

    value: float
    low: float = NAN
    high: float = NAN
    level: float = NAN
    method: str = ""

    @property
    def is_defined(self) -> bool:
        """Whether there is a value."""
        return math.isfinite(self.value)

    @property
    def has_interval(self) -> bool:
        """Whether both limits are known."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def width(self) -> float:
        """Full width, upper minus lower limit."""
        return self.high - self.low

    def __str__(self) -> str:
        if not self.is_defined:
            return "undefined"
        if not self.has_interval:
            return f"{self.value:.3f}"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"

    def to_dict(self) -> EstimateJson:
        """Return the fields ready for JSON."""
        return {
            "value": defined(self.value),
            "low": defined(self.low),
            "high": defined(self.high),
            "level": defined(self.level),
            "method": self.method,
        }

    @classmethod
    def from_dict(cls, stored: EstimateJson) -> Estimate:
        """Read what `to_dict` returned.

        >>> Estimate.from_dict(Estimate(0.5, 0.4, 0.6, 0.95, "wilson").to_dict()).high
        0.6
        """
        value, low, high, level = (
            NAN if number is None else number
            for number in (stored["value"], stored["low"], stored["high"], stored["level"])
        )
        return cls(value, low, high, level, stored["method"])


def defined(value: float) -> float | None:
    """Return the value, or None for nan, which JSON does not know.

    >>> defined(0.5), defined(NAN)
    (0.5, None)
    """
    return None if math.isnan(value) else float(value)


def proportion_limits(
    successes: npt.ArrayLike,
    trials: npt.ArrayLike,
    *,
    method: Method = "clopper-pearson",
    confidence: float = 0.95,
) -> tuple[F64, F64]:
    """Return lower and upper limits of many proportions at once.

    The methods are Clopper & Pearson (1934), Wilson (1927), Jeffreys as modified at the ends by
    Brown, Cai & DasGupta (2001), and mid-P (Lancaster 1961). With no trials nothing is known:
    the limits are 0 and 1. Fractional counts (effective sizes) are allowed.

    ``successes``, ``trials``: counts, broadcast against each other; 0 <= successes <= trials.

    >>> low, high = proportion_limits([271, 49], [289, 49])
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([0.9, 0.93], [0.96, 1.0])
    """
    x, n = np.broadcast_arrays(
        np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    )
    faults = inside_unit("confidence", confidence) + one_of("method", method, METHODS)
    if not np.all(np.isfinite(x) & np.isfinite(n) & (x >= 0) & (x <= n)):
        faults.append(Fault("counts must be finite, with 0 <= successes <= trials"))
    raise_if_any(faults)
    return raw_limits(x, n, 1.0 - confidence, method)


def proportion_interval(
    successes: float, trials: float, *, method: Method = "clopper-pearson", confidence: float = 0.95
) -> Estimate:
    """Return one proportion with its interval; see `proportion_limits` for methods and rules.

    >>> interval = proportion_interval(271, 289)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.903, 0.963)
    """
    low, high = proportion_limits(successes, trials, method=method, confidence=confidence)
    value = successes / trials if trials else NAN
    return Estimate(value, float(low), float(high), confidence, method)


def f1_interval(
    tp: float, fp: float, fn: float, *, method: Method = "clopper-pearson", confidence: float = 0.95
) -> Estimate:
    """Return F1 with an interval through the Jaccard index.

    Of the units that either side found, the number found by both is binomial with probability
    J = TP / (TP + FP + FN), and F1 = 2 J / (1 + J) rises with J; so the limits of J, moved
    through that function, are limits of F1 with the same coverage. Units must be independent.

    ``tp``, ``fp``, ``fn``: units found by both, by the predicted side only, by the reference side
    only.
    ``method``: how the limits of J are made.

    Where all three counts are 0 the limits are 0 and 1.

    >>> interval = f1_interval(271, 18, 10)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.929, 0.967)
    """
    jaccard = proportion_interval(tp, tp + fp + fn, method=method, confidence=confidence)
    low, high = (2 * value / (1 + value) for value in (jaccard.low, jaccard.high))
    return Estimate(_f1(tp, fp, fn), low, high, confidence, f"j-{method}")


def _f1(tp: float, fp: float, fn: float) -> float:
    return 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else NAN


def f1_corner_interval(
    tp: float, fp: float, fn: float, *, method: Method = "clopper-pearson", confidence: float = 0.95
) -> Estimate:
    """Return F1 between that of the lower and that of the upper limits of precision and recall.

    The rule behind the published Table 3 of the SLiCE paper (Canales et al. 2021), kept to check
    such tables. It is too wide: both limits are assumed to be reached at once. Prefer
    `f1_interval`.

    ``tp``, ``fp``, ``fn``: as for `f1_interval`.
    ``method``, ``confidence``: how the limits of precision and of recall are made, and the
    confidence of each.

    >>> interval = f1_corner_interval(271, 18, 10)
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.92, 0.97)
    """
    precision = proportion_interval(tp, tp + fp, method=method, confidence=confidence)
    recall = proportion_interval(tp, tp + fn, method=method, confidence=confidence)

    def f1(p: float, r: float) -> float:
        return 2 * p * r / (p + r) if p + r else 0.0

    low, high = f1(precision.low, recall.low), f1(precision.high, recall.high)
    return Estimate(_f1(tp, fp, fn), low, high, confidence, f"corner-{method}")
