"""Units that go together: annotations in notes, scores of the same note, notes of a site."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64
from rubricate.errors import ArgumentError, Fault
from rubricate.stats.bootstrap import bootstrap_interval
from rubricate.stats.intervals import Estimate, proportion_interval
from rubricate.stats.limits import METHODS, Method, inside_unit, one_of, raise_if_any
from rubricate.stats.resampling import Resampling, ratio


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
class ClusterSummary:
    """How strongly the units of a cluster go together, as what that costs.

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

    raise_if_any(inside_unit("confidence", confidence) + one_of("method", method, METHODS))
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


def icc_counts(scores: npt.ArrayLike) -> F64:
    """Return what adds over notes for `icc_of_sums`: 1, squared sum, sum of squares, each score."""
    table = np.asarray(scores, dtype=np.float64)
    return np.column_stack(
        [np.ones(len(table)), table.sum(axis=1) ** 2, (table**2).sum(axis=1), table]
    )


def icc_of_sums(sums: F64) -> F64:
    """Return ICC(A,1) and ICC(C,1) from sums of `icc_counts`; usable as a bootstrap statistic."""
    n, squared, squares, raters = sums[..., 0], sums[..., 1], sums[..., 2], sums[..., 3:]
    k = raters.shape[-1]
    mean = ratio(raters.sum(axis=-1) ** 2, n * k)
    rows, columns = squared / k - mean, ratio((raters**2).sum(axis=-1), n) - mean
    rest = np.maximum(squares - mean - rows - columns, 0.0)
    by_row, by_column = ratio(rows, n - 1), columns / (k - 1)
    error = ratio(rest, (n - 1) * (k - 1))
    shared = by_row + (k - 1) * error
    agreement = ratio(by_row - error, shared + ratio(k * (by_column - error), n))
    return np.stack([agreement, ratio(by_row - error, shared)], axis=-1)


def score_agreement(
    scores: npt.ArrayLike, settings: Resampling | None = None
) -> tuple[Estimate, Estimate]:
    """Return how far raters agree on the scores of notes, absolutely and but for a shift.

    ICC(A,1) = (R - E) / (R + (k - 1) E + k (C - E) / n), two-way, single scores, absolute
    agreement, and ICC(C,1) = (R - E) / (R + (k - 1) E), consistency, with the mean squares of rows
    (notes), columns (raters) and the rest (Shrout & Fleiss 1979, Psychological Bulletin 86: 420;
    McGraw & Wong 1996, Psychological Methods 1: 30). Intervals draw notes with replacement.

    ``scores`` (notes, raters): one score per note and rater, all known.

    The four raters of six targets in Shrout & Fleiss (1979), Table 2:

    >>> table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9],
    ...          [6, 2, 4, 7]]
    >>> [round(one.value, 2) for one in score_agreement(table)]
    [0.29, 0.71]
    """
    table = np.asarray(scores, dtype=np.float64)
    faults = []
    if table.ndim != 2 or min(table.shape) < 2:
        faults.append(Fault("scores must be of two notes or more by two raters or more"))
    elif not np.isfinite(table).all():
        faults.append(Fault("every rater must have scored every note"))
    raise_if_any(faults)
    found = bootstrap_interval(icc_counts(table), icc_of_sums, settings)
    return found.at(0), found.at(1)
