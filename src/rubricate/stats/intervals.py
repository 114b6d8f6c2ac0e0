"""Intervals for proportions and for F1 from counts of independent units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rubricate.errors import Fault
from rubricate.stats.checks import inside_unit, one_of, raise_if_any
from rubricate.stats.limits import F64, METHODS, Method, raw_limits


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval and how it was made.

    Parameters
    ----------
    low, high : float
        The limits; both NaN where the measure is undefined.
    confidence : float
        The nominal confidence.
    method : str
        Name of the method.

    Examples
    --------
    >>> Interval(0.25, 0.75, 0.95, "wilson").width
    0.5
    """

    low: float
    high: float
    confidence: float
    method: str

    @property
    def width(self) -> float:
        """Full width, upper minus lower limit."""
        return self.high - self.low

    def to_dict(self) -> dict[str, float | str]:
        """Return the fields as plain values.

        Examples
        --------
        >>> Interval(0.0, 1.0, 0.95, "wilson").to_dict()
        {'low': 0.0, 'high': 1.0, 'confidence': 0.95, 'method': 'wilson'}
        """
        return {
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence,
            "method": self.method,
        }


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its interval.

    Parameters
    ----------
    value : float
        The estimate.
    interval : Interval
        Its interval.

    Examples
    --------
    >>> Estimate(0.5, Interval(0.25, 0.75, 0.95, "wilson")).to_dict()["value"]
    0.5
    """

    value: float
    interval: Interval

    def to_dict(self) -> dict[str, object]:
        """Return the value and its interval as plain values."""
        return {"value": self.value, "interval": self.interval.to_dict()}


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

    Parameters
    ----------
    successes, trials : array_like
        Counts, broadcast against each other; 0 <= successes <= trials.
    method : {"clopper-pearson", "wilson", "jeffreys", "mid-p"}
        How the limits are made.
    confidence : float
        Nominal confidence.

    Returns
    -------
    tuple of ndarray
        Lower and upper limits.

    Raises
    ------
    InputError
        If a count, the method or the confidence is not allowed.

    Examples
    --------
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
    successes: float,
    trials: float,
    *,
    method: Method = "clopper-pearson",
    confidence: float = 0.95,
) -> Interval:
    """Return the interval of one proportion; see `proportion_limits` for methods and rules.

    Examples
    --------
    >>> interval = proportion_interval(271, 289)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.903, 0.963)
    """
    low, high = proportion_limits(successes, trials, method=method, confidence=confidence)
    return Interval(float(low), float(high), confidence, method)


def f1_interval(
    tp: float,
    fp: float,
    fn: float,
    *,
    method: Method = "clopper-pearson",
    confidence: float = 0.95,
) -> Interval:
    """Return an interval of F1 through the Jaccard index.

    Of the units that either side found, the number found by both is binomial with probability
    J = TP / (TP + FP + FN), and F1 = 2 J / (1 + J) rises with J; so the limits of J, moved
    through that function, are limits of F1 with the same coverage. Units must be independent.

    Parameters
    ----------
    tp, fp, fn : float
        Units found by both, by the predicted side only, by the reference side only.
    method : {"clopper-pearson", "wilson", "jeffreys", "mid-p"}
        How the limits of J are made.
    confidence : float
        Nominal confidence.

    Returns
    -------
    Interval
        From 0 to 1 where all three counts are 0.

    Examples
    --------
    >>> interval = f1_interval(271, 18, 10)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.929, 0.967)
    """
    jaccard = proportion_interval(tp, tp + fp + fn, method=method, confidence=confidence)
    low, high = (2 * value / (1 + value) for value in (jaccard.low, jaccard.high))
    return Interval(low, high, confidence, f"j-{method}")


def f1_corner_interval(
    tp: float,
    fp: float,
    fn: float,
    *,
    method: Method = "clopper-pearson",
    confidence: float = 0.95,
) -> Interval:
    """Return F1 of the lower limits of precision and recall, and F1 of their upper limits.

    The rule behind the published Table 3 of the SLiCE paper (Canales et al. 2021), kept to check
    such tables. It is too wide: both limits are assumed to be reached at once. Prefer
    `f1_interval`.

    Parameters
    ----------
    tp, fp, fn : float
        As for `f1_interval`.
    method, confidence
        How the limits of precision and of recall are made, and the confidence of each.

    Returns
    -------
    Interval
        The two corners.

    Examples
    --------
    >>> interval = f1_corner_interval(271, 18, 10)
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.92, 0.97)
    """
    precision = proportion_interval(tp, tp + fp, method=method, confidence=confidence)
    recall = proportion_interval(tp, tp + fn, method=method, confidence=confidence)

    def f1(p: float, r: float) -> float:
        return 2 * p * r / (p + r) if p + r else 0.0

    low, high = f1(precision.low, recall.low), f1(precision.high, recall.high)
    return Interval(low, high, confidence, f"corner-{method}")


def coverage(
    p: float,
    trials: int,
    *,
    method: Method = "clopper-pearson",
    confidence: float = 0.95,
) -> float:
    """Return the exact probability that the interval of a sample covers the proportion `p`.

    The binomial probabilities of all outcomes whose limits enclose `p` are summed (Brown, Cai &
    DasGupta 2001): no simulation.

    Parameters
    ----------
    p : float
        The proportion in the population, from 0 to 1.
    trials : int
        Size of the sample.
    method : {"clopper-pearson", "wilson", "jeffreys", "mid-p"}
        Interval under test.
    confidence : float
        Nominal confidence.

    Returns
    -------
    float
        The coverage.

    Raises
    ------
    InputError
        If `p` lies outside 0 to 1, or the method or the confidence is not allowed.

    Examples
    --------
    >>> round(coverage(0.99, 100, method="wilson"), 3)
    0.921
    """
    from scipy.special import gammaln, xlog1py, xlogy

    if not 0.0 <= p <= 1.0:
        raise_if_any([Fault(f"p is {p}: it must lie between 0 and 1")])
    x = np.arange(trials + 1, dtype=np.float64)
    low, high = proportion_limits(x, trials, method=method, confidence=confidence)
    choose = gammaln(trials + 1) - gammaln(x + 1) - gammaln(trials - x + 1)
    pmf = np.exp(choose + xlogy(x, p) + xlog1py(trials - x, -p))
    return float(pmf[(low <= p) & (p <= high)].sum())
