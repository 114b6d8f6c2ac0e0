"""Number of units that one proportion needs for an interval of a given width.

For every method here the width of the interval of x of n is symmetric about x = n / 2 and falls
towards both ends, and for a fixed x / n it falls with n. Both searches rest on that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from rubricate.arrays import F64
from rubricate.errors import ArgumentError, Fault, at_least, inside_unit, one_of, shares
from rubricate.stats.intervals import METHODS, Method, raw_limits

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
    ArgumentError.raise_any(
        inside_unit("expected proportion", p)
        + half_width_faults(half_width)
        + shares(confidence=confidence)
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

    >>> round(assured_half_width(291, 0.80), 4), round(assured_half_width(60, 0.80), 3)
    (0.0499, 0.118)
    """
    from scipy.special import bdtr

    ArgumentError.raise_any(
        at_least("n", n, 0)
        + inside_unit("expected proportion", p)
        + shares(assurance=assurance, confidence=confidence)
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


#: Spacing of the sizes whose bound is searched from nothing; those between start from their line.
_STRIDE = 64
_CHUNK = 512
#: Expected number up to which the narrowest width near it need not fall with n.
_UNRULY = 5.0


def _narrowest_near(p: float, n: int, confidence: float, method: Method) -> float:
    """Return a width that no rounding of n p can beat: the least over real x in n p +- 1/2."""
    ends = np.clip(np.array([n * p - 0.5, n * p + 0.5]), 0.0, n)
    return float(interval_width(ends, np.full(2, float(n)), confidence, method).min())


def _width_at(x: float, n: int, confidence: float, method: Method) -> float:
    return float(interval_width(np.array([float(x)]), np.array([float(n)]), confidence, method)[0])


@lru_cache(maxsize=256)
def always_narrow(half_width: float, confidence: float, method: Method) -> int:
    """Return the smallest n from which on every outcome has an interval narrower than asked.

    >>> always_narrow(0.05, 0.95, "clopper-pearson")
    402
    """
    high = 1
    # The interval is widest at n / 2.
    while _width_at(high / 2, high, confidence, method) >= 2 * half_width:
        high *= 2
    high = first_where(
        lambda n: _width_at(n / 2, n, confidence, method) < 2 * half_width, high // 2, high
    )
    # For odd n no outcome sits at n / 2, so a smaller n may do; step back while all outcomes hold.
    while high > 1 and _width_at((high - 1) // 2, high - 1, confidence, method) < 2 * half_width:
        high -= 1
    return high


def _first_narrow(sizes: range, p: float, half_width: float, how: tuple[float, Method]) -> int:
    """Return the first of these sizes at which round(n p) has a narrow interval; 0 if none has."""
    start, step = sizes.start, 16
    while start < sizes.stop:
        n = np.arange(start, min(start + step, sizes.stop), dtype=np.float64)
        narrow = np.flatnonzero(interval_width(np.rint(n * p), n, *how) < 2 * half_width)
        if len(narrow):
            return int(n[narrow[0]])
        start, step = start + step, min(2 * step, _CHUNK)
    return 0


def first_where(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first n above ``low`` from which on a condition holds; it does at ``high``."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return max(high, low + 1)


def smallest_size(holds: Callable[[int], bool], low: int, high: int, *, in_a_row: int = 5) -> int:
    """Return the smallest size from which on a condition holds, give or take a rare exception.

    Bisection, then steps upwards until the condition holds at some sizes in a row: the chance
    moves in small saw teeth.

    >>> smallest_size(lambda n: n >= 571, 1, 2000)
    571
    """
    high = first_where(holds, low, high)
    while not all(holds(high + step) for step in range(in_a_row)):
        high += 1
    return high


def doubled(holds: Callable[[int], bool], size: int, most: float = math.inf) -> int:
    """Return the first of size, twice it and so on at which a condition holds, at most `most`."""
    while size < most and not holds(size):
        size *= 2
    return int(min(size, most))


def first_size(
    p: float, half_width: float, *, confidence: float = 0.95, method: Method = "clopper-pearson"
) -> int:
    """Return the first n whose interval of round(n p) of n is narrower than 2 `half_width`.

    This is the size of SLiCE (Canales et al. 2021), found without its search over all n: below
    the n at which the narrowest real x within 1/2 of n p is narrow enough, no rounding can be
    narrow enough either, so bisection skips those and only the few sizes above are tried (and the
    smallest, where a few units are expected at most and that does not hold). Halves
    round to even, as SLiCE's Python does. The first n is not stable: larger n may fail again.

    >>> first_size(0.85, 0.05), first_size(0.80, 0.05)
    (214, 265)
    """
    check_search(p, half_width, confidence, method)
    top = always_narrow(half_width, confidence, method)
    # No outcome is narrower than none at all, and its width falls with n.
    start = first_where(
        lambda n: _narrowest_near(0.0, n, confidence, method) < 2 * half_width, 0, top
    )
    # Where few are expected, rounding may fall on that outcome, and the narrowest real x moves away
    # from it as n grows: only beyond can sizes be skipped.
    unruly = math.ceil(_UNRULY / min(p, 1 - p))
    how = (confidence, method)
    found = _first_narrow(range(start, unruly + 1), p, half_width, how)
    if found:
        return found
    start = first_where(
        lambda n: _narrowest_near(p, n, confidence, method) < 2 * half_width,
        max(start - 1, unruly),
        top,
    )
    return _first_narrow(range(start, max(start, top) + 1), p, half_width, how)


@lru_cache(maxsize=16)
def narrow_bounds(half_width: float, confidence: float, method: Method) -> F64:
    """Return `narrow_bound` for n = 1, 2, ..., `always_narrow`; it does not depend on p.

    Few sizes are bisected; the bound of those between lies within a step or two of the straight
    line, so each is moved from there until its neighbour fails.
    """
    top = always_narrow(half_width, confidence, method)
    n = np.arange(1, top + 1, dtype=np.float64)
    knots = np.unique(np.append(n[::_STRIDE], n[-1]))
    bound = np.floor(np.interp(n, knots, narrow_bound(knots, half_width, confidence, method))).clip(
        -1, np.floor(n / 2)
    )
    moving = np.arange(len(n))
    while len(moving):
        here, size = bound[moving], n[moving]
        up_ok = here + 1 <= np.floor(size / 2)
        next_ = np.where(up_ok, here + 1, 0.0)
        up = up_ok & (interval_width(next_, size, confidence, method) < 2 * half_width)
        wide = interval_width(np.maximum(here, 0.0), size, confidence, method) >= 2 * half_width
        down = (here >= 0) & wide
        bound[moving] += up.astype(np.float64) - down.astype(np.float64)
        moving = moving[up | down]
    bound.setflags(write=False)
    return bound


def assured_size(
    p: float,
    half_width: float,
    *,
    assurance: float = 0.9,
    confidence: float = 0.95,
    method: Method = "clopper-pearson",
) -> int:
    """Return the smallest n from which on the width holds with the probability asked.

    With X ~ Binomial(n, p) the study meets its width with probability
    A(n) = P(width of the interval of X of n < 2 `half_width`). A(n) rises in a sawtooth; the size
    returned is one more than the last n with A(n) < `assurance`, so every larger study is as
    safe. (Assurance of a width: Beal 1989; Kupper & Hafner 1989.)

    >>> [assured_size(0.80, 0.05, assurance=a) for a in (0.80, 0.90, 0.95)]
    [282, 291, 298]
    """
    check_search(p, half_width, confidence, method)
    ArgumentError.raise_any(inside_unit("assurance", assurance))
    bound = narrow_bounds(half_width, confidence, method)
    n = np.arange(1, len(bound) + 1, dtype=np.float64)
    failing = np.flatnonzero(narrow_probability(n, bound, p) < assurance)
    return int(failing[-1]) + 2 if len(failing) else 1
