"""Intervals for proportions, by every method, and for F1; of single units and of clusters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Literal, TypedDict

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64
from rubricate.errors import ArgumentError, Fault, inside_unit, one_of

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
    from statistics import NormalDist

    # The standard library has this quantile too, and starts much faster than SciPy.
    z2 = NormalDist().inv_cdf(1 - alpha / 2) ** 2
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
        """True if there is a value."""
        return math.isfinite(self.value)

    @property
    def has_interval(self) -> bool:
        """True if both limits are known."""
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
    ArgumentError.raise_any(faults)
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


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """Cochran's Q with its p value, I² and τ²."""

    q: float
    degrees: int
    p_value: float
    i_squared: float
    tau_squared: float

    def to_dict(self) -> dict[str, float | int | None]:
        """Return plain values for JSON; undefined ones are None."""
        return {k: None if v != v else v for k, v in asdict(self).items()}


def heterogeneity(effects: npt.ArrayLike, variances: npt.ArrayLike) -> Heterogeneity:
    """Test whether sites share one effect, and say how much of the spread is theirs.

    With w = 1 / v, Q = Σ w (y - ȳ)², ȳ = Σ w y / Σ w, is compared with chi-squared at k - 1 degrees
    of freedom (Cochran 1954). I² = max(0, (Q - (k - 1)) / Q) is the share of the spread that is not
    chance (Higgins & Thompson 2002), τ² = max(0, (Q - (k - 1)) / (Σ w - Σ w² / Σ w)) the variance
    of the sites' effects (DerSimonian & Laird 1986). With few sites the test finds little.

    ``effects``, ``variances`` (k,): of each site, on a scale where effects are about normal, such
    as logits of rates. Sites whose effect is undefined are left out.

    Fewer than two sites with an effect leave it undefined (NaN).

    >>> found = heterogeneity([2.2, 1.7, 0.4], [0.11, 0.08, 0.04])
    >>> round(found.q, 1), found.degrees, round(found.i_squared, 2)
    (27.8, 2, 0.93)
    """
    from scipy.stats import chi2

    y, v = (np.asarray(a, dtype=np.float64) for a in (effects, variances))
    y, v = y[np.isfinite(y)], v[np.isfinite(y)]
    if np.any(v <= 0):
        raise ArgumentError("every variance must be above 0")
    k = len(y)
    if k < 2:
        nan = float("nan")
        return Heterogeneity(nan, max(k - 1, 0), nan, nan, nan)
    weight = 1 / v
    q = float((weight * (y - (weight * y).sum() / weight.sum()) ** 2).sum())
    beyond = max(0.0, q - (k - 1))
    spread = weight.sum() - (weight**2).sum() / weight.sum()
    return Heterogeneity(
        q, k - 1, float(chi2.sf(q, k - 1)), beyond / q if q else 0.0, float(beyond / spread)
    )


@dataclass(frozen=True, slots=True)
class RandomEffects:
    """The mean of the sites' effects, and where that of another site may lie."""

    mean: Estimate
    prediction: Estimate


def random_effects(
    effects: npt.ArrayLike, variances: npt.ArrayLike, *, confidence: float = 0.95
) -> RandomEffects:
    """Return the mean effect of sites like these, and the prediction interval of another site.

    With w = 1 / (v + τ²), τ² of DerSimonian & Laird (1986), the mean is Σ w y / Σ w. Its interval
    is Student's t with k - 1 degrees of freedom at the variance Σ w (y - mean)² / ((k - 1) Σ w)
    (Hartung & Knapp 2001, Statistics in Medicine 20: 3875), never less than 1 / Σ w. Another site's
    effect lies within t, k - 2 degrees of freedom, at √(τ² + 1 / Σ w) of it (Higgins, Thompson &
    Spiegelhalter 2009, JRSS A 172: 137). Both suppose that the sites are a sample of sites.

    ``effects``, ``variances`` (k,): as for `heterogeneity`.

    Fewer than two sites leave the interval undefined (NaN), fewer than three the prediction.

    >>> found = random_effects([2.2, 1.7, 0.4], [0.11, 0.08, 0.04])
    >>> str(found.mean), round(found.prediction.width, 1)
    ('1.412 [-1.065, 3.888]', 28.4)
    """
    from scipy.special import stdtrit

    ArgumentError.raise_any(inside_unit("confidence", confidence))
    y, v = (np.asarray(a, dtype=np.float64) for a in (effects, variances))
    y, v = y[np.isfinite(y)], v[np.isfinite(y)]
    k = len(y)
    tau_squared = heterogeneity(y, v).tau_squared
    if k < 2:
        one = Estimate(float(y[0]) if k else NAN)
        return RandomEffects(one, one)
    weight = 1 / (v + tau_squared)
    mean, own = float((weight * y).sum() / weight.sum()), 1 / float(weight.sum())
    error = math.sqrt(max(own, float((weight * (y - mean) ** 2).sum()) * own / (k - 1)))
    q = (1 + confidence) / 2
    half = float(stdtrit(k - 1, q)) * error
    interval = Estimate(mean, mean - half, mean + half, confidence, "hartung-knapp")
    if k < 3:
        return RandomEffects(interval, Estimate(mean))
    far = float(stdtrit(k - 2, q)) * math.sqrt(tau_squared + own)
    return RandomEffects(interval, Estimate(mean, mean - far, mean + far, confidence, "prediction"))


def true_f1_limits(measured: float, agreement: float) -> tuple[float, float, float]:
    """Return the effect of errors in the reference: F1 of a faultless system, and limits.

    1 - J, with J = F1 / (2 - F1), is a distance between two annotations: no way is longer than one
    over a third (Levandowsky & Winter 1971, Nature 234: 34). If two annotators err independently
    and alike, each is about e = (1 - J_a) / 2 from the truth, J_a their agreement. So a system
    without error has J of about 1 - e against one of them, and one that was measured at J has
    J - e to J + e against the truth. A reference that was curated errs less.

    ``measured``: the system's F1 against the reference. ``agreement``: the annotators' F1 against
    each other.

    >>> [round(one, 2) for one in true_f1_limits(0.9, 0.9)]
    [0.95, 0.84, 0.95]
    """
    jaccard, between = (one / (2 - one) for one in (measured, agreement))
    error = (1 - between) / 2
    ceiling, low, high = (
        2 * j / (1 + j) for j in (1 - error, max(0.0, jaccard - error), min(1.0, jaccard + error))
    )
    return ceiling, low, high


@dataclass(frozen=True, slots=True)
class ClusterSummary:
    """Similarity of the units in a cluster, as its cost in precision.

    ``estimate``: the proportion over all units.
    ``clusters``, ``units``: clusters that hold units, and their units.
    ``design_effect``: variance that respects clusters over the binomial variance, at least 1.
    """

    estimate: float
    clusters: int
    units: float
    design_effect: float


def summarise_clusters(successes: npt.ArrayLike, trials: npt.ArrayLike) -> ClusterSummary:
    """Return the design effect of clustering, for a plan.

    The variance of the ratio estimator, k / (k - 1) sum (x_i - p m_i)^2 / M^2 (Cochran 1977; Rao &
    Scott 1992), over p (1 - p) / M; not let below 1. Where all units are alike (p of 0 or 1)
    nothing can be learnt of it, and it is m_A = sum m^2 / sum m, the mean cluster size met by a
    unit (Kish 1965): as if every cluster were one unit.

    ``successes``, ``trials`` (clusters,): counts of each cluster; clusters without units are left
    out.

    >>> round(summarise_clusters([3, 0, 3, 0, 3, 0], [3, 3, 3, 3, 3, 3]).design_effect, 2)
    3.6
    """
    x, m = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    if x.shape != m.shape or x.ndim != 1:
        raise ArgumentError(f"{x.size} successes for {m.size} clusters")
    if not np.all((x >= 0) & (x <= m) & np.isfinite(m)):
        raise ArgumentError("every cluster needs 0 <= successes <= trials")
    if not np.any(m > 0):
        raise ArgumentError("no cluster holds a unit")
    x, m = x[m > 0], m[m > 0]
    k, units = len(m), float(m.sum())
    p = float(x.sum()) / units
    effect = float((m**2).sum()) / units
    if 0 < p < 1 and k > 1:
        variance = k / (k - 1) * float(((x - p * m) ** 2).sum()) / units**2
        effect = max(1.0, variance / (p * (1 - p) / units))
    return ClusterSummary(p, k, units, effect)


def cluster_interval(
    successes: npt.ArrayLike,
    trials: npt.ArrayLike,
    *,
    method: Method = "clopper-pearson",
    confidence: float = 0.95,
) -> Estimate:
    """Return a proportion with an interval that respects clusters.

    The chosen interval at the effective size M / design effect, shrunk by
    (t_M-1 / t_k-1)^2 for k clusters (Korn & Graubard 1998).

    ``successes``, ``trials`` (clusters,): counts of each cluster; clusters without units are left
    out.

    A single cluster shows nothing of the variance: its limits are 0 and 1.

    >>> naive = proportion_interval(12, 24)
    >>> robust = cluster_interval([3, 0, 3, 0, 3, 0, 3, 0], [3] * 8)
    >>> round(naive.width, 2), round(robust.width, 2)
    (0.42, 0.79)
    """
    from scipy.special import stdtrit

    ArgumentError.raise_any(
        inside_unit("confidence", confidence) + one_of("method", method, METHODS)
    )
    summary = summarise_clusters(successes, trials)
    name = f"clustered-{method}"
    if summary.clusters < 2:
        return Estimate(summary.estimate, 0.0, 1.0, confidence, name)
    q = 1 - (1 - confidence) / 2
    t_units = float(stdtrit(max(summary.units - 1, 1), q))
    t_clusters = float(stdtrit(summary.clusters - 1, q))
    size = summary.units / summary.design_effect * min(1.0, (t_units / t_clusters) ** 2)
    limits = proportion_interval(
        summary.estimate * size, size, method=method, confidence=confidence
    )
    return Estimate(summary.estimate, limits.low, limits.high, confidence, name)
