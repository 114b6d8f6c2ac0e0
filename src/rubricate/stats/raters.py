"""Agreement of several raters: kappa and alpha from sums; limits, AC2 and ICC of scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64
from rubricate.errors import ArgumentError, Fault
from rubricate.stats.intervals import Estimate
from rubricate.stats.resampling import (
    Resampling,
    bootstrap_interval,
    half_width_in_sds,
    ratio,
    sum_clusters,
)


@dataclass(frozen=True, slots=True)
class LimitsOfAgreement:
    """The mean difference of two raters' scores, and the limits 95 % of differences keep to."""

    bias: Estimate
    low: Estimate
    high: Estimate
    n_notes: int

    def to_dict(self) -> dict[str, object]:
        """Return everything, ready for JSON."""
        parts = {name: getattr(self, name).to_dict() for name in ("bias", "low", "high")}
        return {**parts, "n_notes": self.n_notes}


def limits_of_agreement(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    clusters: npt.ArrayLike | None = None,
) -> LimitsOfAgreement:
    """Return the distance of the second rater's scores from the first's (Bland & Altman 1986).

    With d = second - first, the bias is the mean of d and the limits are bias ± 1.96 s. Their
    intervals are Student's t with n - 1 degrees of freedom at the standard errors s √(1 / n) and
    s √(1 / n + 1.96² / (2 (n - 1))) (Bland & Altman 1999, Stat Methods Med Res 8: 135). They
    suppose that differences are about normal and alike over the whole range: look at the plot.
    With clusters, n in them is the number of notes over their design effect: the sum over k
    clusters of (sum (d - bias))^2, times k / (k - 1), over the sum of (d - bias)^2, at least 1
    (Rao & Scott 1992); t has k - 1 degrees of freedom.

    ``first``, ``second`` (notes,): scores of the same notes.
    ``confidence``: of the intervals; the limits are those of 95 % of the differences whatever it
    is.
    ``clusters`` (notes,): the patient, or other unit, of each note.

    >>> found = limits_of_agreement([10, 12, 9, 14, 11], [11, 12, 10, 13, 12])
    >>> [round(one.value, 2) for one in (found.bias, found.low, found.high)]
    [0.4, -1.35, 2.15]
    """
    from scipy.stats import t

    one, two = (np.asarray(a, dtype=np.float64) for a in (first, second))
    if one.shape != two.shape or one.ndim != 1 or len(one) < 2:
        raise ArgumentError("both raters must have scored the same notes, two or more")
    difference = two - one
    bias, sd = float(difference.mean()), float(difference.std(ddof=1))
    n, freedom = float(len(difference)), len(difference) - 1
    if clusters is not None:
        sums, _ = sum_clusters(np.stack([difference - bias, np.ones_like(difference)], 1), clusters)
        squares = float(((difference - bias) ** 2).sum())
        k = len(sums)
        grown = k / max(k - 1, 1) * float((sums[:, 0] ** 2).sum()) / squares if squares else 1.0
        n, freedom = max(n / max(grown, 1.0), 1.5), max(k - 1, 1)
    quantile = float(t.ppf((1 + confidence) / 2, freedom))

    def estimate(value: float, error: float) -> Estimate:
        half = quantile * error
        return Estimate(value, value - half, value + half, confidence, "t")

    spread = sd * (1 / n + 1.96**2 / (2 * (n - 1))) ** 0.5
    return LimitsOfAgreement(
        estimate(bias, sd / n**0.5),
        estimate(bias - 1.96 * sd, spread),
        estimate(bias + 1.96 * sd, spread),
        len(difference),
    )


def gwet_ac2(
    scores: npt.ArrayLike,
    settings: Resampling | None = None,
    *,
    possible: npt.ArrayLike | None = None,
    clusters: npt.ArrayLike | None = None,
) -> Estimate:
    """Return Gwet's AC2 of scores: agreement corrected for chance, near misses counting in part.

    AC2 = (p_a - p_e) / (1 - p_e) (Gwet 2014, Handbook of Inter-Rater Reliability, chapter 4) with
    p_a the mean weighted agreement of two raters of a note and
    p_e = Σ w_kl Σ π_k (1 - π_k) / (q (q - 1)), where π_k is the share of score k and q the number
    of possible scores. Weights are quadratic: 1 - (k - l)² / (max - min)². Two scores (present,
    absent) give AC1. Intervals draw notes with replacement.

    ``scores`` (notes, raters): one score per note and rater, all known.
    ``possible``: all scores there are; those that were given if absent, in which case the value
    grows with the notes, since more notes have more extreme scores.

    Where only one score is possible it is undefined (NaN).

    >>> round(gwet_ac2([[1, 1], [2, 3], [3, 3], [4, 4], [2, 2]], Resampling(resamples=99)).value, 3)
    0.923
    """
    table = np.asarray(scores, dtype=np.float64)
    faults = []
    if table.ndim != 2 or min(table.shape) < 2:
        faults.append(Fault("scores must be of two notes or more by two raters or more"))
    values = np.unique(table if possible is None else np.asarray(possible, dtype=np.float64))
    if not np.isin(table, values).all():
        faults.append(Fault("every score must be one of those that are possible"))
    ArgumentError.raise_any(faults)
    place = np.searchsorted(values, table)
    q, raters = len(values), table.shape[1]
    if q < 2:
        return Estimate(float("nan"))
    weight = 1 - np.subtract.outer(values, values) ** 2 / (values[-1] - values[0]) ** 2
    given = np.zeros((len(table), q))
    np.add.at(given, (np.arange(len(table))[:, None], place), 1)
    agreed = (given * (given @ weight - 1)).sum(axis=1) / (raters * (raters - 1))
    scale = float(weight.sum()) / (q * (q - 1))

    def statistic(sums: F64) -> F64:
        shares = ratio(sums[..., 2:], sums[..., :1])
        chance = scale * (shares * (1 - shares)).sum(axis=-1)
        return ratio(ratio(sums[..., 1], sums[..., 0]) - chance, 1 - chance)

    counts = np.column_stack([np.ones(len(table)), agreed, given / raters])
    return bootstrap_interval(counts, statistic, settings, clusters=clusters).at()


def _icc_of_sums(sums: F64) -> F64:
    """Return ICC(A,1) and ICC(C,1) from sums over notes: 1, squared sum, squares, each score."""
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
    scores: npt.ArrayLike,
    settings: Resampling | None = None,
    *,
    clusters: npt.ArrayLike | None = None,
) -> tuple[Estimate, Estimate]:
    """Return the raters' agreement on the scores of notes, absolute and but for a shift.

    ICC(A,1) = (R - E) / (R + (k - 1) E + k (C - E) / n), two-way, single scores, absolute
    agreement, and ICC(C,1) = (R - E) / (R + (k - 1) E), consistency, with the mean squares of rows
    (notes), columns (raters) and the rest (Shrout & Fleiss 1979, Psychological Bulletin 86: 420;
    McGraw & Wong 1996, Psychological Methods 1: 30).

    Intervals are made for Fisher's z = ln((1 + (k - 1) r) / (1 - r)) / 2 (Fisher 1925, Statistical
    methods for research workers, section 39), with the standard error of r by the jackknife, each
    note or cluster left out in turn (Tukey 1958; Efron & Stein 1981, Annals of Statistics 9: 586),
    times dz / dr = k / (2 (1 - r) (1 + (k - 1) r)), and t with one degree of freedom less than
    notes or clusters. Where the notes are alike but for a shift there is no interval.

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
    ArgumentError.raise_any(faults)
    sums = np.column_stack(
        [np.ones(len(table)), table.sum(axis=1) ** 2, (table**2).sum(axis=1), table]
    )
    if clusters is not None:
        sums, _ = sum_clusters(sums, clusters)
    total, n, k = sums.sum(axis=0), len(sums), table.shape[1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value, without = _icc_of_sums(total), _icc_of_sums(total - sums)
        squares = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
        up, down = 1 + (k - 1) * value, 1 - value
        error = np.sqrt((n - 1) / n * squares) * k / (2 * up * down)
        level = (settings or Resampling()).confidence
        reach = half_width_in_sds(level, n - 1) * np.where(error > 0, error, np.nan)
        # Fisher's z of the limits, and back
        ends = np.exp(np.log(up / down) + np.outer([-2, 2], reach))
        low, high = (ends - 1) / (ends + k - 1)
    absolute, consistent = (
        Estimate(float(value[i]), float(low[i]), float(high[i]), level, "jackknife")
        for i in range(2)
    )
    return absolute, consistent


def krippendorff_counts(counts: npt.ArrayLike) -> F64:
    """Return the terms that `alpha_of_sums` adds over units: disagreement, absent, present.

    A unit with fewer than two judgements cannot disagree and adds nothing (Krippendorff 2011,
    "Computing Krippendorff's alpha-reliability", C).
    """
    table = np.asarray(counts, dtype=np.float64)
    judged = table.sum(axis=-1, keepdims=True)
    usable = judged[..., 0] >= 2
    disagreement = np.where(usable, table[..., 0] * table[..., 1], 0.0) / np.maximum(
        judged[..., 0] - 1, 1
    )
    kept = np.where(usable[..., None], table, 0.0)
    return np.concatenate((disagreement[..., None], kept), axis=-1)


def alpha_of_sums(sums: npt.ArrayLike) -> F64:
    """Return Krippendorff's alpha from sums of `krippendorff_counts`, as a bootstrap wants it.

    Nominal, two values, missing judgements allowed:
    alpha = 1 - D_o / D_e = 1 - (n - 1) o_01 / (n_0 n_1), where o_01 sums
    n_u0 n_u1 / (m_u - 1) over units of m_u judgements (Krippendorff 2011). Undefined (nan) where
    everybody always says the same.

    >>> units = krippendorff_counts([[2, 0], [0, 2], [1, 1], [0, 2]])
    >>> round(float(alpha_of_sums(units.sum(axis=0))), 3)
    0.533
    """
    disagreement, absent, present = np.moveaxis(np.asarray(sums, dtype=np.float64), -1, 0)
    total = absent + present
    return 1.0 - ratio((total - 1) * disagreement, absent * present)


def fleiss_counts(counts: npt.ArrayLike) -> F64:
    """Return the terms that `kappa_of_sums` adds over units: agreement, units, absent, present.

    Only units with the largest number of judgements count, since kappa wants the same number for
    each (Fleiss 1971).
    """
    table = np.asarray(counts, dtype=np.float64)
    judged = table.sum(axis=1)
    most = judged.max(initial=0)
    full = (judged == most) & (judged >= 2)
    pairs = np.maximum(most * (most - 1), 1)
    agreement = ((table * (table - 1)).sum(axis=1) / pairs)[:, None]
    return np.where(
        full[:, None], np.concatenate((agreement, np.ones((len(table), 1)), table), axis=1), 0.0
    )


def kappa_of_sums(sums: npt.ArrayLike) -> F64:
    """Return Fleiss' kappa from sums of `fleiss_counts`, as a bootstrap wants it.

    kappa = (P - P_e) / (1 - P_e), with P the mean over units of
    sum_j n_ij (n_ij - 1) / (n (n - 1)) and P_e = sum_j p_j**2 (Fleiss 1971, Psychological
    Bulletin 76: 378). Undefined (nan) where everybody always says the same.

    >>> units = fleiss_counts([[3, 0], [0, 3], [1, 2], [0, 3]])
    >>> round(float(kappa_of_sums(units.sum(axis=0))), 3)
    0.625
    """
    agreement, units, absent, present = np.moveaxis(np.asarray(sums, dtype=np.float64), -1, 0)
    observed = ratio(agreement, units)
    share = ratio(present, absent + present)
    expected = share**2 + (1 - share) ** 2
    return ratio(observed - expected, 1 - expected)
