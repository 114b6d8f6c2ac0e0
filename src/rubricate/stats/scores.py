"""Scores of two raters: limits of agreement, and Gwet's AC2 of any number of raters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64
from rubricate.errors import ArgumentError, Fault
from rubricate.stats.bootstrap import bootstrap_interval
from rubricate.stats.intervals import Estimate
from rubricate.stats.limits import raise_if_any
from rubricate.stats.resampling import Resampling, ratio


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
    first: npt.ArrayLike, second: npt.ArrayLike, *, confidence: float = 0.95
) -> LimitsOfAgreement:
    """Return how far the second rater's scores lie from the first's (Bland & Altman 1986).

    With d = second - first, the bias is the mean of d and the limits are bias ± 1.96 s. Their
    intervals are Student's t with n - 1 degrees of freedom at the standard errors s √(1 / n) and
    s √(1 / n + 1.96² / (2 (n - 1))) (Bland & Altman 1999, Stat Methods Med Res 8: 135). They
    suppose that differences are about normal and alike over the whole range: look at the plot.

    ``first``, ``second`` (notes,): scores of the same notes.
    ``confidence``: of the intervals; the limits are those of 95 % of the differences whatever it
    is.

    >>> found = limits_of_agreement([10, 12, 9, 14, 11], [11, 12, 10, 13, 12])
    >>> [round(one.value, 2) for one in (found.bias, found.low, found.high)]
    [0.4, -1.35, 2.15]
    """
    from scipy.stats import t

    one, two = (np.asarray(a, dtype=np.float64) for a in (first, second))
    if one.shape != two.shape or one.ndim != 1 or len(one) < 2:
        raise ArgumentError("both raters must have scored the same notes, two or more")
    difference = two - one
    n, bias, sd = len(difference), float(difference.mean()), float(difference.std(ddof=1))
    quantile = float(t.ppf((1 + confidence) / 2, n - 1))

    def estimate(value: float, error: float) -> Estimate:
        half = quantile * error
        return Estimate(value, value - half, value + half, confidence, "t")

    spread = sd * (1 / n + 1.96**2 / (2 * (n - 1))) ** 0.5
    return LimitsOfAgreement(
        estimate(bias, sd / n**0.5),
        estimate(bias - 1.96 * sd, spread),
        estimate(bias + 1.96 * sd, spread),
        n,
    )


def gwet_ac2(
    scores: npt.ArrayLike,
    settings: Resampling | None = None,
    *,
    possible: npt.ArrayLike | None = None,
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
    raise_if_any(faults)
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
    return bootstrap_interval(counts, statistic, settings).at()
