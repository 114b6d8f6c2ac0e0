"""Bootstrap intervals by note for any measure of summed counts, and limits where errors are few.

Where no note is wrong every resample is perfect, and where one or two are, resamples say little of
how many there might have been. The limit is then that of Clopper & Pearson (1934) for items, at the
size that remains if the items of a note go together, and it gives way to the bootstrap as the
number of wrong notes grows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import SupportsIndex

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, Bools
from rubricate.errors import ArgumentError
from rubricate.stats.intervals import Estimate
from rubricate.stats.limits import raw_limits
from rubricate.stats.resampling import (
    BootstrapMethod,
    Resampling,
    Statistic,
    as_counts,
    degrees_of_freedom,
    resample_sums,
    stratum_rows,
    sum_clusters,
)

#: An interval needs at least this share of defined replicates.
_DEFINED = 0.5


@dataclass(frozen=True, eq=False, slots=True)
class Bootstrapped:
    """Estimates with their bootstrap intervals; all arrays have the shape of the estimate.

    ``estimate``: the measures of the sample itself.
    ``low``, ``high``: limits; NaN where the estimate or more than half of the replicates are
    undefined.
    ``undefined``: share of replicates that were undefined (0 / 0) and left out.
    ``method``: "percentile" or "bca".
    ``replicates``: shape (resamples, ...), where asked for.
    ``by_items``: where errors are so few that limits by items have a part (`limit_by_items`).
    """

    estimate: F64
    low: F64
    high: F64
    undefined: F64
    confidence: float
    method: str
    replicates: F64 | None = None
    by_items: Bools | None = None

    def at(self, *index: SupportsIndex) -> Estimate:
        """Return the estimate at `index` with its interval.

        >>> from rubricate.stats import bootstrap_interval, precision_recall_f1
        >>> counts = [[3, 1, 0], [2, 0, 2], [5, 1, 1], [4, 0, 1]]
        >>> f1 = bootstrap_interval(counts, precision_recall_f1).at(2)
        >>> round(f1.low, 2), round(f1.high, 2)
        (0.67, 0.89)
        """
        few = self.by_items is not None and bool(self.by_items[index])
        return Estimate(
            float(self.estimate[index]),
            float(self.low[index]),
            float(self.high[index]),
            self.confidence,
            f"bootstrap-{self.method}" + ("+items" if few else ""),
        )


def quantile_each(replicates: F64, q: F64) -> F64:
    """Return one quantile of each column of replicates, undefined ones left out.

    Linear interpolation between order statistics (type 7 of Hyndman & Fan 1996), each column at
    its own `q`.

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
    found = np.divide(cubes, 6 * spread, out=np.zeros_like(cubes), where=spread > 0)
    return np.asarray(found)


def _percentile_tails(estimate: F64, replicates: F64, accel: F64 | None, z: float) -> list[F64]:
    from scipy.special import ndtr

    return [np.full(estimate.shape, float(ndtr(one))) for one in (-z, z)]


def _bca_tails(estimate: F64, replicates: F64, accel: F64 | None, z: float) -> list[F64]:
    """Correct for bias, and for a spread that grows with the value (Efron 1987)."""
    from scipy.special import ndtr, ndtri

    if accel is None:
        raise ValueError("BCa needs the acceleration")
    total = np.maximum((~np.isnan(replicates)).sum(axis=0), 1)
    # Ties count half, so that a measure stuck at its estimate is not called biased. What differs
    # in the last digits alone is tied: sums taken in another order end differently there.
    last = 1e-12 * np.maximum(np.abs(estimate), 1)
    below = (replicates < estimate - last).sum(axis=0)
    below = (below + (replicates <= estimate + last).sum(axis=0)) / 2
    bias = ndtri(np.clip(below / total, 0.5 / total, 1 - 0.5 / total))
    tails = []
    for one in (-z, z):
        shifted = bias + one
        # Past this the correction turns back on itself; far out is all it can mean.
        scale = np.maximum(1 - accel * shifted, 0.05)
        tails.append(np.asarray(ndtr(bias + shifted / scale)))
    return tails


def half_width_in_sds(confidence: float, freedom: int | None) -> float:
    """Return the distance of a limit in standard deviations: Student's t, or the normal quantile.

    The quantiles that a bootstrap reads off are as far out as those of t with the degrees of
    freedom of the notes (expanded percentiles: Hesterberg 2015, What teachers should know about
    the bootstrap, The American Statistician 69: 371).

    >>> round(half_width_in_sds(0.95, 19), 3), round(half_width_in_sds(0.95, None), 3)
    (2.093, 1.96)
    """
    from scipy.special import ndtri, stdtrit

    q = 1 - (1 - confidence) / 2
    return float(ndtri(q)) if freedom is None else float(stdtrit(max(freedom, 1), q))


#: Each method's two quantiles of the replicates, from estimate, replicates, acceleration and how
#: many standard deviations a limit is away.
TAILS: Mapping[BootstrapMethod, Callable[[F64, F64, F64 | None, float], list[F64]]] = {
    "percentile": _percentile_tails,
    "bca": _bca_tails,
}


def summarise(
    estimate: F64,
    replicates: F64,
    settings: Resampling,
    accel: F64 | None = None,
    *,
    freedom: int | None = None,
) -> Bootstrapped:
    """Turn replicates into intervals.

    Undefined replicates (0 / 0) are left out and their share is reported. The limits are NaN
    where the estimate is undefined or fewer than half of the replicates are defined.

    ``estimate``: the measures of the sample itself.
    ``replicates`` (resamples, ...): the measures of the resamples.
    ``accel``: the acceleration; needed for BCa.
    ``freedom``: degrees of freedom of what was drawn; see `half_width_in_sds`.

    >>> settings = Resampling(confidence=0.5, method="percentile")
    >>> result = summarise(np.array(2.0), np.array([1.0, 2.0, 3.0]), settings)
    >>> float(result.low), float(result.high)
    (1.5, 2.5)
    """
    undefined = np.isnan(replicates).mean(axis=0)
    z = half_width_in_sds(settings.confidence, freedom)
    tails = TAILS[settings.method](estimate, replicates, accel, z)
    low, high = (quantile_each(replicates, q) for q in tails)
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


def apply(statistic: Statistic, sums: F64) -> F64:
    """Return the statistic of sums as an array of floats, 0 / 0 without a warning."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(statistic(sums), dtype=np.float64)


def bootstrap_interval(
    counts: npt.ArrayLike,
    statistic: Statistic,
    settings: Resampling | None = None,
    *,
    strata: npt.ArrayLike | None = None,
    freedom: int | None = None,
    clusters: npt.ArrayLike | None = None,
) -> Bootstrapped:
    """Bootstrap any measure of summed counts, drawing whole notes with replacement.

    Everything inside a note moves together, so agreement between rows of one note widens the
    interval as it should. Where all notes are perfect every resample is perfect too and the
    interval has no width: see `rubricate.stats.limit_by_items`.

    ``counts`` (n, ..., k): additive counts, one row per note; axes between are groups measured on
    the same resamples.
    ``statistic``: maps sums of shape (..., k) to values of shape (...) or (..., m), for any leading
    axes.
    ``strata`` (n,): strata of the design; notes are drawn inside each, those alone in their stratum
    together.
    ``freedom``: degrees of freedom; without it notes minus strata.
    ``clusters`` (n,): the patient, or other unit, of each note; all notes of one are drawn at once.

    >>> from rubricate.stats import precision_recall_f1
    >>> counts = [[3, 1, 0], [2, 0, 2], [5, 1, 1], [4, 0, 1]]
    >>> result = bootstrap_interval(counts, precision_recall_f1, Resampling(method="bca"))
    >>> result.estimate.round(3).tolist(), result.low.round(2).tolist()
    ([0.875, 0.778, 0.824], [0.75, 0.5, 0.67])
    """
    settings = settings or Resampling()
    table = as_counts(counts)
    if clusters is not None:
        table, strata = sum_clusters(table, clusters, strata)
    rng = np.random.default_rng(settings.seed)
    sums = resample_sums(table, settings.resamples, rng, strata=strata)
    return summarise_sums(table, sums, statistic, settings, strata, freedom=freedom)


def summarise_sums(
    table: F64,
    sums: F64,
    statistic: Statistic,
    settings: Resampling,
    strata: npt.ArrayLike | None = None,
    *,
    freedom: int | None = None,
) -> Bootstrapped:
    """Turn the counts of each note and their resampled sums into intervals."""
    total = table.sum(axis=0)
    estimate, replicates = apply(statistic, total), apply(statistic, sums)
    if replicates.shape != (settings.resamples, *estimate.shape):
        raise ArgumentError("the statistic must keep the leading axes of the sums")
    accel = None
    if settings.method == "bca":
        accel = acceleration(apply(statistic, total - table), strata)
    freedom = freedom or degrees_of_freedom(strata, len(table))
    return summarise(estimate, replicates, settings, accel, freedom=freedom)


#: Correlation assumed between items of one note, where too few are wrong to estimate it.
ITEM_CORRELATION = 0.3
#: From this many wrong notes on, the bootstrap stands alone.
FEW = 10


@dataclass(frozen=True, eq=False, slots=True)
class Support:
    """Data behind values; all arrays have the shape of the estimates, or broadcast to it.

    ``items``: items that inform each value, at their effective number (`effective_items`); NaN
    where it is unknown, as with unequal weights.
    ``wrong``, ``right``: notes whose own value is below 1, and above 0; infinite where the value is
    no share.
    """

    items: npt.ArrayLike
    wrong: npt.ArrayLike
    right: npt.ArrayLike


def effective_items(per_note: npt.ArrayLike) -> F64:
    """Return the number of independent items that those of some notes are worth.

    M / (1 + (m - 1) rho) for M items, with m = sum m_i^2 / M the number that an item meets in its
    note (Kish 1965; Kerry & Bland 2001) and rho their correlation, assumed to be 0.3.

    ``per_note`` (notes, ...): items of each note.

    Without items it is 0.

    >>> float(effective_items([15] * 20).round(1)), float(effective_items([1] * 20))
    (57.7, 20.0)
    """
    items = np.asarray(per_note, dtype=np.float64)
    return effective_number(items.sum(axis=0), (items**2).sum(axis=0))


def effective_number(items: npt.ArrayLike, squares: npt.ArrayLike) -> F64:
    """Return the same from the sum of the items of each note, and the sum of their squares."""
    total, square = np.asarray(items, dtype=np.float64), np.asarray(squares, dtype=np.float64)
    met = np.divide(square, total, out=np.ones_like(total), where=total > 0)
    return np.asarray(total / (1 + np.maximum(met - 1, 0.0) * ITEM_CORRELATION))


def limit_by_items(
    found: Bootstrapped,
    support: Support,
    *,
    through_jaccard: npt.ArrayLike = False,
    twice: npt.ArrayLike = False,
) -> Bootstrapped:
    """Widen intervals whose value rests on few wrong (or few right) notes.

    With e wrong notes the limits are w times those by items and 1 - w times the bootstrap's, w =
    1 - e / 10, and never inside the bootstrap's: all by items without an error, all by bootstrap
    from ten wrong notes on, and never a leap between them. The limits by items are those of
    Clopper & Pearson (1934) at the effective number of items (Korn & Graubard 1998). A value
    other than 0 and 1 that never varies, as that of a single note, gets no limits.

    ``through_jaccard``: which of them are F1: their items are a share J = F1 / (2 - F1) of those
    either side found.
    ``twice``: which of them are twice a share, less one, as agreement corrected for chance by half.

    >>> from rubricate.stats.bootstrap import bootstrap_interval
    >>> from rubricate.stats.resampling import precision_recall_f1
    >>> found = bootstrap_interval([[15, 0, 0]] * 20, precision_recall_f1)
    >>> items = effective_items([15] * 20)
    >>> limit_by_items(found, Support(items, 0, 20)).low.round(3).tolist()
    [0.938, 0.938, 0.938]
    """
    value = found.estimate
    items = np.broadcast_to(np.asarray(support.items, dtype=np.float64), value.shape)
    few = np.minimum(np.asarray(support.wrong), np.asarray(support.right))
    still = (found.low == found.high) & ~np.isnan(value)
    usable = ~np.isnan(items) & (value >= 0) & (value <= 1) & (items > 0)
    weight = np.where(usable, np.clip(1 - few / FEW, 0.0, 1.0), 0.0)
    share = np.where(usable, value, 0.0)
    as_jaccard, doubled = np.asarray(through_jaccard, dtype=bool), np.asarray(twice, dtype=bool)
    share = np.where(as_jaccard, share / (2 - share), np.where(doubled, (1 + share) / 2, share))
    size = np.where(usable, items, 1.0)
    low, high = raw_limits(share * size, size, 1 - found.confidence, "clopper-pearson")
    low, high = (
        np.where(as_jaccard, 2 * one / (1 + one), np.where(doubled, 2 * one - 1, one))
        for one in (low, high)
    )
    no_share = (value == 0) & np.isinf(np.asarray(support.right))
    unknown = still & (~usable | ((value > 0) & (value < 1)) | no_share)
    mixed = [
        np.where(np.isnan(old) | unknown, np.nan, (1 - weight) * old + weight * outer(old, new))
        for old, new, outer in ((found.low, low, np.minimum), (found.high, high, np.maximum))
    ]
    return replace(found, low=mixed[0], high=mixed[1], by_items=(weight > 0) & ~unknown)
