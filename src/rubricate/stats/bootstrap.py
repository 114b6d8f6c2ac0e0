"""Bootstrap intervals by note for any measure of summed counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import SupportsIndex

import numpy as np
import numpy.typing as npt

from rubricate.errors import Fault
from rubricate.stats.checks import raise_if_any
from rubricate.stats.intervals import Interval
from rubricate.stats.limits import F64
from rubricate.stats.ratios import Statistic
from rubricate.stats.resampling import Resampling, as_counts, resample_sums, stratum_rows

#: An interval needs at least this share of defined replicates.
_DEFINED = 0.5


@dataclass(frozen=True, eq=False, slots=True)
class Bootstrapped:
    """Estimates with their bootstrap intervals; all arrays have the shape of the estimate.

    Parameters
    ----------
    estimate : ndarray
        The measures of the sample itself.
    low, high : ndarray
        Limits; NaN where the estimate or more than half of the replicates are undefined.
    undefined : ndarray
        Share of replicates that were undefined (0 / 0) and left out.
    confidence : float
        Nominal confidence.
    method : str
        "percentile" or "bca".
    replicates : ndarray, optional
        Shape (resamples, ...), where asked for.
    """

    estimate: F64
    low: F64
    high: F64
    undefined: F64
    confidence: float
    method: str
    replicates: F64 | None = None

    def interval(self, *index: SupportsIndex) -> Interval:
        """Return the interval at `index` of the estimate.

        Examples
        --------
        >>> from rubricate.stats import bootstrap_interval, precision_recall_f1
        >>> counts = [[3, 1, 0], [2, 0, 2], [5, 1, 1], [4, 0, 1]]
        >>> f1 = bootstrap_interval(counts, precision_recall_f1).interval(2)
        >>> round(f1.low, 2), round(f1.high, 2)
        (0.73, 0.88)
        """
        return Interval(
            float(self.low[index]),
            float(self.high[index]),
            self.confidence,
            f"bootstrap-{self.method}",
        )


def quantile_each(replicates: F64, q: F64) -> F64:
    """Return one quantile of each column of replicates, undefined ones left out.

    Linear interpolation between order statistics (type 7 of Hyndman & Fan 1996), each column at
    its own `q`.

    Parameters
    ----------
    replicates : ndarray, shape (resamples, ...)
        Replicates; NaN where undefined.
    q : ndarray, shape (...)
        The quantile of each column.

    Returns
    -------
    ndarray, shape (...)
        NaN for a column without a defined replicate.

    Examples
    --------
    >>> quantile_each(np.array([[1.0, 4.0], [3.0, np.nan]]), np.array([0.5, 0.5])).tolist()
    [2.0, 4.0]
    """
    ordered = np.sort(replicates, axis=0)  # NaN sorts to the end
    last = (~np.isnan(ordered)).sum(axis=0) - 1
    place = np.clip(np.nan_to_num(q), 0.0, 1.0) * np.maximum(last, 0)
    below = np.floor(place).astype(np.intp)
    above = np.minimum(below + 1, np.maximum(last, 0))
    left = np.take_along_axis(ordered, below[None], axis=0)[0]
    right = np.take_along_axis(ordered, above[None], axis=0)[0]
    return np.asarray(left + (place - below) * (right - left))


def acceleration(jackknife: F64, strata: npt.ArrayLike | None = None) -> F64:
    """Return the acceleration of BCa from the values without each note.

    a = sum d^3 / (6 (sum d^2)^(3/2)) with d the mean minus the value without note i (Efron
    1987), the mean taken inside the note's stratum; 0 where all d are 0.

    Parameters
    ----------
    jackknife : ndarray, shape (n, ...)
        The measure without each note.
    strata : array_like, shape (n,), optional
        Strata of the notes.

    Returns
    -------
    ndarray, shape (...)
        The acceleration.

    Examples
    --------
    >>> float(acceleration(np.array([1.0, 2.0, 3.0])))
    0.0
    """
    gap = np.zeros_like(jackknife)
    for rows in stratum_rows(strata, len(jackknife)):
        part = jackknife[rows]
        defined = ~np.isnan(part)
        mean = np.where(defined, part, 0.0).sum(axis=0) / np.maximum(defined.sum(axis=0), 1)
        gap[rows] = np.where(defined, mean - part, 0.0)
    spread = np.asarray((gap**2).sum(axis=0) ** 1.5)
    cubes = np.asarray((gap**3).sum(axis=0))
    return np.where(spread > 0, cubes / np.where(spread > 0, 6 * spread, 1.0), 0.0)


def _tails(estimate: F64, replicates: F64, accel: F64 | None, confidence: float) -> list[F64]:
    """Return the two quantiles to read off: the plain ones, or BCa's (Efron 1987)."""
    from scipy.special import ndtr, ndtri

    alpha = (1.0 - confidence) / 2
    if accel is None:
        return [np.full(estimate.shape, alpha), np.full(estimate.shape, 1.0 - alpha)]
    defined = ~np.isnan(replicates)
    total = np.maximum(defined.sum(axis=0), 1)
    # Ties count half, so that a measure stuck at its estimate is not called biased.
    below = (replicates < estimate).sum(axis=0) + (replicates == estimate).sum(axis=0) / 2
    bias = ndtri(np.clip(below / total, 0.5 / total, 1 - 0.5 / total))
    tails = []
    for z in (ndtri(alpha), ndtri(1.0 - alpha)):
        shifted = bias + z
        tails.append(np.asarray(ndtr(bias + shifted / (1 - accel * shifted))))
    return tails


def summarise(
    estimate: F64, replicates: F64, settings: Resampling, accel: F64 | None = None
) -> Bootstrapped:
    """Turn replicates into intervals.

    Undefined replicates (0 / 0) are left out and their share is reported. The limits are NaN
    where the estimate is undefined or fewer than half of the replicates are defined.

    Parameters
    ----------
    estimate : ndarray
        The measures of the sample itself.
    replicates : ndarray, shape (resamples, ...)
        The measures of the resamples.
    settings : Resampling
        Confidence and method.
    accel : ndarray, optional
        The acceleration; needed for BCa.

    Returns
    -------
    Bootstrapped
        Estimates and limits.

    Examples
    --------
    >>> result = summarise(np.array(2.0), np.array([1.0, 2.0, 3.0]), Resampling(confidence=0.5))
    >>> float(result.low), float(result.high)
    (1.5, 2.5)
    """
    undefined = np.isnan(replicates).mean(axis=0)
    low, high = (
        quantile_each(replicates, q)
        for q in _tails(estimate, replicates, accel, settings.confidence)
    )
    hidden = np.isnan(estimate) | (1 - undefined < _DEFINED)
    return Bootstrapped(
        estimate=estimate,
        low=np.where(hidden, np.nan, low),
        high=np.where(hidden, np.nan, high),
        undefined=np.asarray(undefined),
        confidence=settings.confidence,
        method=settings.method,
        replicates=replicates if settings.keep_replicates else None,
    )


def exact_where_still(found: Bootstrapped, n_notes: npt.ArrayLike) -> Bootstrapped:
    """Give values of exactly 1 or 0, whose replicates never vary, an exact interval by note.

    Where all n notes are perfect, every resample is perfect too and the bootstrap has no width.
    The limit is then that of Clopper & Pearson (1934) for n of n notes, (alpha / 2) ** (1 / n),
    and for none of n notes one minus that. Any other value that never varies, as that of a single
    note, says nothing of its spread: its limits are nan.

    Parameters
    ----------
    found : Bootstrapped
        Estimates and limits.
    n_notes : array_like
        Notes that inform each estimate, broadcast against the estimates; nan where the estimate
        is no share of notes, which makes its limits nan.

    Returns
    -------
    Bootstrapped
        The same with other limits where there was no width.

    Examples
    --------
    >>> from rubricate.stats import precision_recall_f1
    >>> found = bootstrap_interval([[3, 0, 0], [2, 0, 0]], precision_recall_f1)
    >>> exact_where_still(found, 2).low.round(3).tolist()
    [0.158, 0.158, 0.158]
    """
    number = np.maximum(np.asarray(n_notes, dtype=np.float64), 1.0)
    bound = ((1.0 - found.confidence) / 2) ** (1 / number)
    still = found.low == found.high
    one, none = found.estimate == 1, found.estimate == 0
    low = np.where(one, bound, np.where(none, 0.0, np.nan))
    high = np.where(one, 1.0, np.where(none, 1 - bound, np.nan))
    unknown = np.isnan(number)
    return replace(
        found,
        low=np.where(still, np.where(unknown, np.nan, low), found.low),
        high=np.where(still, np.where(unknown, np.nan, high), found.high),
    )


def apply(statistic: Statistic, sums: F64) -> F64:
    """Return the statistic of sums as an array of floats, 0 / 0 without a warning."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(statistic(sums), dtype=np.float64)


def bootstrap_interval(
    counts: npt.ArrayLike,
    statistic: Statistic,
    settings: Resampling | None = None,
    *,
    weights: npt.ArrayLike | None = None,
    strata: npt.ArrayLike | None = None,
) -> Bootstrapped:
    """Bootstrap any measure of summed counts, drawing whole notes with replacement.

    Everything inside a note moves together, so agreement between rows of one note widens the
    interval as it should. Where all notes are perfect every resample is perfect too and the
    interval has no width: use an exact interval there.

    Parameters
    ----------
    counts : array_like, shape (n, ..., k)
        Additive counts, one row a note; axes between are groups measured on the same resamples.
    statistic : callable
        Maps sums of shape (..., k) to values of shape (...) or (..., m), for any leading axes.
    settings : Resampling, optional
        Resamples, confidence, method, seed.
    weights : array_like, shape (n,), optional
        Design weights; the counts of a note are multiplied by its weight.
    strata : array_like, shape (n,), optional
        Strata of the design; notes are drawn inside each, those alone in their stratum together.

    Returns
    -------
    Bootstrapped
        Estimates and limits, shape of the statistic.

    Raises
    ------
    InputError
        If counts, weights or strata do not fit together.

    Examples
    --------
    >>> from rubricate.stats import precision_recall_f1
    >>> counts = [[3, 1, 0], [2, 0, 2], [5, 1, 1], [4, 0, 1]]
    >>> result = bootstrap_interval(counts, precision_recall_f1, Resampling(method="bca"))
    >>> result.estimate.round(3).tolist(), result.low.round(2).tolist()
    ([0.875, 0.778, 0.824], [0.8, 0.59, 0.72])
    """
    settings = settings or Resampling()
    table = as_counts(counts, weights=weights)
    total = table.sum(axis=0)
    estimate = apply(statistic, total)
    rng = np.random.default_rng(settings.seed)
    replicates = apply(statistic, resample_sums(table, settings.resamples, rng, strata=strata))
    if replicates.shape != (settings.resamples, *estimate.shape):
        raise_if_any([Fault("the statistic must keep the leading axes of the sums")])
    accel = None
    if settings.method == "bca":
        accel = acceleration(apply(statistic, total - table), strata)
    return summarise(estimate, replicates, settings, accel)
