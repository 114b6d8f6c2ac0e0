"""Numbers checked, and the limits of an interval for a proportion, by every method."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

import numpy as np

from rubricate.arrays import F64
from rubricate.errors import ArgumentError, Fault, InputError, did_you_mean


def inside_unit(name: str, value: float) -> list[Fault]:
    """Return a fault unless `value` lies strictly between 0 and 1.

    >>> [str(fault) for fault in inside_unit("precision", 1.0)]
    ['precision is 1.0: it must lie strictly between 0 and 1']
    """
    if math.isfinite(value) and 0.0 < value < 1.0:
        return []
    return [Fault(f"{name} is {value}: it must lie strictly between 0 and 1")]


def shares(**values: float) -> list[Fault]:
    """Return a fault for each value that does not lie strictly between 0 and 1.

    >>> [str(fault) for fault in shares(recall=0.8, half_width=0)]
    ['half-width is 0: it must lie strictly between 0 and 1']
    """
    named = ((name.replace("_", "-"), value) for name, value in values.items())
    return [fault for name, value in named for fault in inside_unit(name, value)]


def at_least(name: str, value: float, least: float) -> list[Fault]:
    """Return a fault unless `value` is finite and at least `least`.

    >>> [str(fault) for fault in at_least("sites", 0, 1)]
    ['sites is 0: it must be at least 1']
    """
    if isinstance(value, int) and value >= 2**63:  # no array holds it
        return [Fault(f"{name} is too large")]
    if math.isfinite(value) and value >= least:
        return []
    return [Fault(f"{name} is {value}: it must be at least {least}")]


def one_of(name: str, value: str, allowed: Sequence[str]) -> list[Fault]:
    """Return a fault unless `value` is one of `allowed`.

    >>> [str(fault) for fault in one_of("interval", "wald", ["wilson"])]
    ["interval is 'wald'. It must be one of wilson"]
    """
    if value in allowed:
        return []
    hint = did_you_mean(value, allowed)
    return [Fault(f"{name} is {value!r}{hint} It must be one of {', '.join(allowed)}")]


def design_faults(sites: int, pool: int | None, design_effect: float) -> list[Fault]:
    """Return the faults in the sites, the finite pool and the design effect of a plan."""
    faults = at_least("sites", sites, 1) + at_least("design-effect", design_effect, 1)
    return faults + ([] if pool is None else at_least("pool", pool, 1))


def raise_if_any(faults: Sequence[Fault]) -> None:
    """Raise one error with every fault, if there is any: an `ArgumentError` if none is a file's.

    >>> raise_if_any([])
    """
    if faults:
        raise (InputError if any(fault.path for fault in faults) else ArgumentError)(faults)


Method = Literal["clopper-pearson", "wilson", "jeffreys", "mid-p"]
_Limits = Callable[[F64, F64, float], tuple[F64, F64]]

#: Newton steps allowed to the mid-P limits; five or six suffice, bisection steps in between count.
_NEWTON_STEPS = 80


def _clopper_pearson_low(x: F64, n: F64, alpha: float) -> F64:
    """Return the p at which P(X >= x) = alpha / 2, and 0 for x = 0."""
    from scipy.special import betaincinv

    inner = np.where(x > 0, x, 1.0)
    return np.where(x > 0, betaincinv(inner, n - inner + 1, alpha / 2), 0.0)


def _clopper_pearson(x: F64, n: F64, alpha: float) -> tuple[F64, F64]:
    """Exact limits from the two binomial tails (Clopper & Pearson 1934)."""
    from scipy.special import betainccinv

    inner = np.where(x < n, x, 0.0)
    high = np.where(x < n, betainccinv(inner + 1, n - inner, alpha / 2), 1.0)
    return _clopper_pearson_low(x, n, alpha), high


def _wilson(x: F64, n: F64, alpha: float) -> tuple[F64, F64]:
    """Limits of the score test (Wilson 1927)."""
    from scipy.special import ndtri

    z2 = float(ndtri(1 - alpha / 2)) ** 2
    centre = (x + z2 / 2) / (n + z2)
    half = np.sqrt(z2 * (x * (n - x) / n + z2 / 4)) / (n + z2)
    low = np.where(x > 0, np.maximum(centre - half, 0.0), 0.0)
    return low, np.where(x < n, np.minimum(centre + half, 1.0), 1.0)


def _jeffreys(x: F64, n: F64, alpha: float) -> tuple[F64, F64]:
    """Equal-tailed posterior limits under Beta(1/2, 1/2), 0 at x = 0 and 1 at x = n."""
    from scipy.special import betainccinv, betaincinv

    low = betaincinv(x + 0.5, n - x + 0.5, alpha / 2)
    high = betainccinv(x + 0.5, n - x + 0.5, alpha / 2)
    return np.where(x > 0, low, 0.0), np.where(x < n, high, 1.0)


def _mid_tail(p: F64, x: F64, n: F64) -> tuple[F64, F64]:
    """Return P(X > x) + P(X = x) / 2 at p, and its slope in p."""
    from scipy.special import betainc, betaln, xlog1py, xlogy

    def density(a: F64, b: F64) -> F64:
        return np.asarray(np.exp(xlogy(a - 1, p) + xlog1py(b - 1, -p) - betaln(a, b)))

    rest = np.where(x < n, n - x, 1.0)
    more = np.where(x < n, betainc(x + 1, rest, p), 0.0)
    more_slope = np.where(x < n, density(x + 1, rest), 0.0)
    tail = (betainc(x, n - x + 1, p) + more) / 2
    return tail, (density(x, n - x + 1) + more_slope) / 2


def _mid_p_low(x: F64, n: F64, alpha: float) -> F64:
    """Solve the mid-P tail for alpha / 2: Newton from Jeffreys' limit, bisection where it leaps."""
    inside = np.where(x > 0, x, 1.0)
    left, right = _clopper_pearson_low(inside, n, alpha), np.ones_like(inside)
    p = _jeffreys(inside, n, alpha)[0]
    for _ in range(_NEWTON_STEPS):
        tail, slope = _mid_tail(p, inside, n)
        left = np.where(tail < alpha / 2, p, left)
        right = np.where(tail < alpha / 2, right, p)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = p - (tail - alpha / 2) / slope
        step = np.where((step >= left) & (step <= right), step, (left + right) / 2)
        moved = np.max(np.abs(step - p) / np.maximum(p, 1e-300), initial=0.0)
        p = step
        if moved < 1e-9:  # Newton doubles the digits: this step was the last that mattered
            break
    return np.where(x > 0, p, 0.0)


def _mid_p(x: F64, n: F64, alpha: float) -> tuple[F64, F64]:
    """Limits from tails that count half of P(X = x) (Lancaster 1961; Berry & Armitage 1995)."""
    return _mid_p_low(x, n, alpha), 1.0 - _mid_p_low(n - x, n, alpha)


LIMITS: Mapping[Method, _Limits] = MappingProxyType(
    {"clopper-pearson": _clopper_pearson, "wilson": _wilson, "jeffreys": _jeffreys, "mid-p": _mid_p}
)
METHODS: tuple[Method, ...] = tuple(LIMITS)


def raw_limits(x: F64, n: F64, alpha: float, method: Method) -> tuple[F64, F64]:
    """Return the limits for real successes `x` in [0, `n`], unchecked; 0 and 1 where `n` is 0.

    >>> low, high = raw_limits(np.array([0.0, 8.0]), np.array([0.0, 10.0]), 0.05, "wilson")
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.49], [1.0, 0.943])
    """
    some = n > 0
    low, high = LIMITS[method](np.where(some, x, 0.0), np.where(some, n, 1.0), alpha)
    return np.where(some, low, 0.0), np.where(some, high, 1.0)
