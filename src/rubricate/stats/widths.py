"""The width of an interval before the study: its probability, and what a given size can promise."""

from __future__ import annotations

import numpy as np

from rubricate.errors import Fault
from rubricate.stats.checks import at_least, inside_unit, one_of, raise_if_any
from rubricate.stats.limits import F64, METHODS, Method, raw_limits

#: The narrowest half width allowed; below it more than a million units are needed at p = 1/2.
NARROWEST = 0.001


def half_width_faults(half_width: float) -> list[Fault]:
    """Return a fault unless `half_width` lies in the range the searches allow.

    >>> [str(fault) for fault in half_width_faults(0.5)]
    ['half-width is 0.5: it must be at least 0.001 and below 0.5']
    """
    if NARROWEST <= half_width < 0.5:
        return []
    return [Fault(f"half-width is {half_width}: it must be at least {NARROWEST} and below 0.5")]


def check_search(p: float, half_width: float, confidence: float, method: Method) -> None:
    """Raise `InputError` with everything wrong with the arguments of a search."""
    raise_if_any(
        inside_unit("expected proportion", p)
        + half_width_faults(half_width)
        + inside_unit("confidence", confidence)
        + one_of("interval", method, METHODS)
    )


def interval_width(x: F64, n: F64, confidence: float, method: Method) -> F64:
    """Return the width of the interval of each real `x` of `n`, unchecked.

    >>> interval_width(np.array([36.0]), np.array([36.0]), 0.95, "clopper-pearson").round(4)
    array([0.0974])
    """
    low, high = raw_limits(x, n, 1.0 - confidence, method)
    return high - low


def narrow_bound(n: F64, half_width: float, confidence: float, method: Method) -> F64:
    """Return, for each n, the largest whole x <= n / 2 that is narrow enough, or -1."""
    low, high = np.full(len(n), -1.0), np.floor(n / 2) + 1
    while np.any(high - low > 1):
        middle = np.floor((low + high) / 2)
        narrow = interval_width(np.maximum(middle, 0.0), n, confidence, method) < 2 * half_width
        narrow |= middle < 0
        open_ = high - low > 1
        low = np.where(open_ & narrow, middle, low)
        high = np.where(open_ & ~narrow, middle, high)
    return low


def narrow_probability(n: F64, bound: F64, p: float) -> F64:
    """Return P(X <= bound or X >= n - bound) for X ~ Binomial(n, p)."""
    from scipy.special import betainc

    # Tails as incomplete beta functions: P(X >= k) = I_p(k, n - k + 1).
    k = np.maximum(bound, 0.0)
    lower = np.where(bound >= 0, betainc(np.maximum(n - k, 0.5), k + 1, 1 - p), 0.0)
    upper = np.where(bound >= 0, betainc(np.maximum(n - k, 0.5), k + 1, p), 0.0)
    return np.where(2 * bound + 1 >= n, 1.0, lower + upper)


def width_probability(
    n: int,
    p: float,
    half_width: float,
    *,
    confidence: float = 0.95,
    method: Method = "clopper-pearson",
) -> float:
    """Return the probability that a study of `n` units gets an interval as narrow as asked.

    Parameters
    ----------
    n : int
        Units in the study.
    p : float
        The proportion in the population.
    half_width : float
        The interval must be narrower than twice this.
    confidence : float
        Nominal confidence.
    method : Method
        Interval.

    Returns
    -------
    float
        Sum of the binomial probabilities of the outcomes that are narrow enough.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> round(width_probability(265, 0.80, 0.05), 2)
    0.54
    """
    raise_if_any(at_least("n", n, 0))
    check_search(p, half_width, confidence, method)
    size = np.array([float(n)])
    bound = narrow_bound(size, half_width, confidence, method)
    return float(narrow_probability(size, bound, p)[0])


def assured_half_width(
    n: int,
    p: float,
    *,
    assurance: float = 0.9,
    confidence: float = 0.95,
    method: Method = "clopper-pearson",
) -> float:
    """Return the half width that a study of `n` units meets with the probability asked.

    The `assurance` quantile of half the interval's width over X ~ Binomial(n, p).

    Parameters
    ----------
    n : int
        Units in the study; with none the half width is 0.5, nothing is known.
    assurance : float
        Probability that the interval is no wider.
    p, confidence, method
        As for `width_probability`.

    Returns
    -------
    float
        Half the width.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> round(assured_half_width(291, 0.80), 4), round(assured_half_width(60, 0.80), 3)
    (0.0499, 0.118)
    """
    from scipy.special import bdtr

    raise_if_any(
        at_least("n", n, 0)
        + inside_unit("expected proportion", p)
        + inside_unit("assurance", assurance)
        + inside_unit("confidence", confidence)
        + one_of("interval", method, METHODS)
    )
    # Outcomes farther out than this have no probability that a float could show.
    reach = 12 * np.sqrt(n * p * (1 - p)) + 40
    x = np.arange(max(0.0, np.floor(n * p - reach)), min(n, np.ceil(n * p + reach)) + 1)
    half = interval_width(x, np.full(len(x), float(n)), confidence, method) / 2
    pmf = np.diff(bdtr(x, n, p), prepend=0.0)
    order = np.argsort(half, kind="stable")
    reached = np.searchsorted(np.cumsum(pmf[order]), assurance)
    return float(half[order][min(int(reached), len(x) - 1)])
