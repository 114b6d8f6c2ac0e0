"""Draw notes with replacement, and turn the sums of their counts into values with intervals.

A resample of notes is a vector of how often each note was drawn; its sums of counts are that
vector times the table of counts. So thousands of resamples are a few matrix products, and spans
are never touched again.

Of the n notes of a stratum n - 1 are drawn, each counting n / (n - 1) times (the rescaling
bootstrap of Rao & Wu 1988). Drawing n would shrink the spread by the root of (n - 1) / n, which is
nothing in one case of a hundred notes and almost a third in many cases of two.

Where no note is wrong every resample is perfect, and where one or two are, resamples say little of
how many there might have been. The limit is then that of Clopper & Pearson (1934) for items, at the
size that remains if the items of a note go together, and it gives way to the bootstrap as the
number of wrong notes grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, SupportsIndex, get_args

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, Bools
from rubricate.errors import ArgumentError, Fault, at_least, inside_unit, one_of
from rubricate.stats.intervals import Estimate, raw_limits

#: Numbers drawn at a time; three arrays of this length are the memory a bootstrap needs.
_CHUNK = 2_000_000

#: How limits are read off replicates.
BootstrapMethod = Literal["percentile", "bca"]
BOOTSTRAP_METHODS: tuple[BootstrapMethod, ...] = get_args(BootstrapMethod)

#: What an interval is about: other notes of the same cases, or other cases too.
Population = Literal["these-cases", "cases-like-these"]
POPULATIONS: tuple[Population, ...] = get_args(Population)


@dataclass(frozen=True, slots=True)
class Resampling:
    """Options of a bootstrap.

    ``method``: percentiles of the replicates (Efron 1979), or percentiles corrected for bias and
    acceleration (Efron 1987), which cover better where values are near 1.
    ``seed``: seed of the generator; the same seed gives the same replicates.
    ``keep_replicates``: whether results carry their replicates.
    ``population``: what values over several cases are about: other notes of these cases (notes are
    drawn inside their case), or other cases like these (whole cases are drawn).

    >>> Resampling(resamples=500).method
    'bca'
    """

    resamples: int = 2000
    confidence: float = 0.95
    method: BootstrapMethod = "bca"
    seed: int = 0
    keep_replicates: bool = False
    population: Population = "these-cases"

    def __post_init__(self) -> None:
        ArgumentError.raise_any(
            at_least("resamples", self.resamples, 1)
            + inside_unit("confidence", self.confidence)
            + one_of("method", self.method, BOOTSTRAP_METHODS)
            + at_least("seed", self.seed, 0)
            + one_of("population", self.population, POPULATIONS)
        )


def as_counts(
    counts: npt.ArrayLike, *, weights: npt.ArrayLike | None = None, name: str = "counts"
) -> F64:
    """Return `counts` as an array of floats, one row per note, times the weights of the notes.

    >>> as_counts([[1, 0], [2, 1]], weights=[1, 10]).tolist()
    [[1.0, 0.0], [20.0, 10.0]]
    """
    table = np.asarray(counts, dtype=np.float64)
    faults: list[Fault] = []
    if table.ndim < 2 or table.shape[0] == 0:
        faults.append(Fault(f"{name} must have one row per note and at least one note"))
    elif not np.all(np.isfinite(table)):
        faults.append(Fault(f"{name} must be finite numbers"))
    if weights is not None:
        factor = np.asarray(weights, dtype=np.float64)
        if factor.shape != table.shape[:1]:
            faults.append(Fault(f"weights has {factor.size} values for {len(table)} notes"))
        elif not np.all(np.isfinite(factor) & (factor >= 0)):
            faults.append(Fault("weights must be finite and not negative"))
        else:
            table = table * factor.reshape(-1, *[1] * (table.ndim - 1))
    ArgumentError.raise_any(faults)
    return table


def stratum_rows(strata: npt.ArrayLike | None, n: int) -> list[npt.NDArray[np.intp]]:
    """Return the row numbers of each stratum, in the order of the stratum's label.

    Strata of one note are put together and come last: alone they would add no variance, and an
    interval from them no width (collapsed strata: Cochran 1977, section 5A.12).

    >>> [rows.tolist() for rows in stratum_rows(["b", "a", "b"], 3)]
    [[1], [0, 2]]
    >>> [rows.tolist() for rows in stratum_rows(["c", "a", "b", "a"], 4)]
    [[1, 3], [2, 0]]
    """
    if strata is None:
        return [np.arange(n)]
    labels = np.asarray(strata)
    if labels.shape != (n,):
        raise ArgumentError(f"strata has {labels.size} labels for {n} notes")
    _, code = np.unique(labels, return_inverse=True)
    order = np.argsort(code, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(code))[:-1])
    alone = [own for own in rows if len(own) == 1]
    if len(alone) < 2:
        return rows
    return [*(own for own in rows if len(own) > 1), np.concatenate(alone)]


def join_strata(
    unit: npt.NDArray[np.integer], stratum: npt.NDArray[np.integer]
) -> npt.NDArray[np.intp]:
    """Return new numbers of strata, one per row: strata that share a unit are joined.

    >>> join_strata(np.array([0, 1, 1, 2]), np.array([0, 0, 1, 2])).tolist()
    [0, 0, 0, 1]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    strata = int(stratum.max(initial=-1)) + 1
    size = strata + int(unit.max(initial=-1)) + 1
    links = coo_array((np.ones(len(unit)), (stratum, unit + strata)), shape=(size, size))
    _, label = connected_components(links, directed=False)
    return np.asarray(label[stratum], dtype=np.intp)


def sum_clusters(
    table: F64, clusters: npt.ArrayLike, strata: npt.ArrayLike | None = None
) -> tuple[F64, npt.NDArray[np.intp] | None]:
    """Return the counts of clusters of notes, and their strata; those that share one are joined.

    >>> sums, _ = sum_clusters(np.array([[1.0], [2.0], [4.0]]), ["p", "q", "p"])
    >>> sums.tolist()
    [[5.0], [2.0]]
    """
    labels = np.asarray(clusters)
    if labels.shape != table.shape[:1]:
        raise ArgumentError(f"clusters has {labels.size} labels for {len(table)} notes")
    names, place = np.unique(labels, return_inverse=True)
    sums = np.zeros((len(names), *table.shape[1:]))
    np.add.at(sums, place, table)
    if strata is None:
        return sums, None
    _, code = np.unique(np.asarray(strata), return_inverse=True)
    joined = np.zeros(len(names), dtype=np.intp)
    joined[place] = join_strata(place, code)
    return sums, joined


def degrees_of_freedom(strata: npt.ArrayLike | None, n: int) -> int:
    """Return the degrees of freedom of `n` notes in strata: notes minus strata, at least 1.

    As usual for stratified samples (Korn & Graubard 1999, section 5.2); strata of one note count
    as one.

    >>> degrees_of_freedom(None, 20), degrees_of_freedom(["a", "a", "b", "b"], 4)
    (19, 2)
    """
    return max(1, n - len(stratum_rows(strata, n)))


def resample_sums(
    counts: F64, resamples: int, rng: np.random.Generator, *, strata: npt.ArrayLike | None = None
) -> F64:
    """Return the sums of counts of `resamples` draws with replacement, rescaled to all notes.

    Inside each stratum of n notes, n - 1 are drawn and count n / (n - 1) times (Rao & Wu 1988,
    Resampling inference with complex survey data, JASA 83: 231), so that the variance of a sum
    is estimated without bias however small the strata are. One note alone never varies.

    ``counts`` (n, ..., k): additive counts of each note.
    ``strata`` (n,): notes are drawn inside each stratum; see `stratum_rows`.

    >>> sums = resample_sums(np.ones((5, 2)), 3, np.random.default_rng(0))
    >>> sums.tolist()
    [[5.0, 5.0], [5.0, 5.0], [5.0, 5.0]]
    """
    table = np.ascontiguousarray(counts.reshape(len(counts), -1))
    sums = np.zeros((resamples, table.shape[1]))
    for rows in stratum_rows(strata, len(table)):
        n, drawn = len(rows), max(1, len(rows) - 1)
        part, step = table[rows] * (n / drawn), max(1, _CHUNK // n)
        for start in range(0, resamples, step):
            draws = min(step, resamples - start)
            picked = rng.integers(0, n, size=(draws, drawn), dtype=np.int64)
            picked += n * np.arange(draws)[:, None]
            times = np.bincount(picked.ravel(), minlength=draws * n).astype(np.float64)
            sums[start : start + draws] += times.reshape(draws, n) @ part
    return sums.reshape(resamples, *counts.shape[1:])


#: Maps sums of counts, shape (..., k), to values, shape (...) or (..., m).
Statistic = Callable[[F64], F64]


def ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> F64:
    """Return `numerator` / `denominator`, NaN where the denominator is 0.

    >>> ratio([1, 0], [2, 0]).tolist()
    [0.5, nan]
    """
    top, bottom = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, np.float64)
    out = np.full(np.broadcast_shapes(top.shape, bottom.shape), np.nan)
    np.divide(top, bottom, out=out, where=bottom != 0)
    return out


def precision(counts: npt.ArrayLike) -> F64:
    """Return TP / (TP + FP) of counts (tp, fp, fn, ...).

    >>> float(precision([3, 2, 2, 4]))
    0.6
    """
    values = np.asarray(counts, dtype=np.float64)
    return ratio(values[..., 0], values[..., 0] + values[..., 1])


def recall(counts: npt.ArrayLike) -> F64:
    """Return TP / (TP + FN) of counts (tp, fp, fn, ...)."""
    values = np.asarray(counts, dtype=np.float64)
    return ratio(values[..., 0], values[..., 0] + values[..., 2])


def f1(counts: npt.ArrayLike) -> F64:
    """Return 2 TP / (2 TP + FP + FN), van Rijsbergen's F with equal weights (1979).

    >>> f1([[3, 2, 2, 4], [0, 0, 5, 4], [0, 0, 0, 9]]).tolist()
    [0.6, 0.0, nan]
    """
    values = np.asarray(counts, dtype=np.float64)
    tp, fp, fn = values[..., 0], values[..., 1], values[..., 2]
    return ratio(2 * tp, 2 * tp + fp + fn)


def precision_recall_f1(counts: npt.ArrayLike) -> F64:
    """Return precision, recall and F1 of counts (tp, fp, fn, ...) in a new last axis.

    Nothing counted (0 / 0) gives NaN: the caller decides what empty against empty is worth.

    >>> precision_recall_f1([3.0, 2.0, 2.0]).tolist()
    [0.6, 0.6, 0.6]
    """
    return np.stack([precision(counts), recall(counts), f1(counts)], axis=-1)


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


def _tails(
    method: BootstrapMethod, estimate: F64, replicates: F64, accel: F64 | None, z: float
) -> list[F64]:
    """Return the two quantiles of the replicates that are the limits.

    A limit is ``z`` standard deviations away. BCa corrects for bias, and for a spread that grows
    with the value (Efron 1987).
    """
    from scipy.special import ndtr, ndtri

    if method == "percentile":
        return [np.full(estimate.shape, float(ndtr(one))) for one in (-z, z)]
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


def half_width_in_sds(confidence: float, freedom: float | None) -> float:
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
    tails = _tails(settings.method, estimate, replicates, accel, z)
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

    >>> from rubricate.stats.resampling import bootstrap_interval
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


Ints = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False, slots=True)
class Layout:
    """Membership of each row of counts; labels may be anything that sorts.

    ``unit`` (rows,): what is drawn: the note of each row.
    ``group`` (rows,): what is measured: the feature of each row. A unit has at most one row in a
    group, or several, which are then added.
    ``stratum`` (rows,): what is kept fixed: the case of each row. A group lies in one stratum;
    strata that share a unit are drawn as one.

    >>> Layout(unit=[0, 0, 1], group=["a", "b", "a"], stratum=[0, 0, 0]).stratum
    [0, 0, 0]
    """

    unit: npt.ArrayLike
    group: npt.ArrayLike
    stratum: npt.ArrayLike


@dataclass(frozen=True, eq=False, slots=True)
class Levels:
    """Bootstrapped measures of every level, from the same resamples.

    ``strata``, ``groups``: one first-axis entry per stratum, or per group.
    ``stratum_labels``, ``group_labels``: the labels of those entries, sorted.
    ``stratum_means``, ``group_means``: in each resample, the mean over the strata, or groups, where
    the measure is defined. The replicates themselves would take gigabytes for thousands of groups.
    """

    overall: Bootstrapped
    strata: Bootstrapped
    groups: Bootstrapped
    stratum_labels: npt.NDArray[np.generic]
    group_labels: npt.NDArray[np.generic]
    stratum_means: F64
    group_means: F64


def _defined_sums(replicates: F64) -> F64:
    """Return, for each resample, the sum of what is defined in it and the number of that."""
    return np.stack([np.nansum(replicates, axis=1), (~np.isnan(replicates)).sum(axis=1)])


def _codes(labels: npt.ArrayLike, rows: int, name: str) -> tuple[npt.NDArray[np.generic], Ints]:
    """Return the sorted distinct labels and the place of each row among them."""
    array = np.asarray(labels)
    if array.shape != (rows,):
        raise ArgumentError(f"{name} has {array.size} labels for {rows} rows of counts")
    distinct, code = np.unique(array, return_inverse=True)
    return distinct, code


def _blocks(
    table: F64, unit: Ints, group: Ints, stratum: Ints
) -> Iterator[tuple[Ints, F64, Bools]]:
    """Yield for each stratum its groups, a dense block of counts, and who has which group.

    The block has the shape (units, groups, k).
    """
    order = np.argsort(stratum, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(stratum))[:-1]):
        _, unit_at = np.unique(unit[rows], return_inverse=True)
        groups, group_at = np.unique(group[rows], return_inverse=True)
        block = np.zeros((unit_at.max() + 1, len(groups), table.shape[1]))
        np.add.at(block, (unit_at, group_at), table[rows])
        has = np.zeros(block.shape[:2], dtype=np.bool_)
        has[unit_at, group_at] = True
        yield groups, block, has


def _alone(block: F64, has: Bools, statistic: Statistic, settings: Resampling) -> Bootstrapped:
    """Bootstrap each group from the units that have it, as if nothing else had been measured.

    So a value has the same interval whatever else is measured beside it: draws begin with the seed.
    """
    parts, order = [], []
    everywhere = has.all(axis=0)
    for own in (np.flatnonzero(everywhere), *np.flatnonzero(~everywhere)[:, None]):
        if len(own):
            part = block[has[:, own].all(axis=1)][:, own]
            sums = resample_sums(part, settings.resamples, np.random.default_rng(settings.seed))
            parts.append(summarise_sums(part, sums, statistic, settings))
            order.append(own)
    return _join(parts, np.argsort(np.concatenate(order)))


def _join(parts: list[Bootstrapped], order: Ints) -> Bootstrapped:
    """Concatenate results along the first axis of their estimates, then sort them."""
    keep = [part.replicates for part in parts if part.replicates is not None]
    return Bootstrapped(
        estimate=np.concatenate([part.estimate for part in parts])[order],
        low=np.concatenate([part.low for part in parts])[order],
        high=np.concatenate([part.high for part in parts])[order],
        undefined=np.concatenate([part.undefined for part in parts])[order],
        confidence=parts[0].confidence,
        method=parts[0].method,
        replicates=np.concatenate(keep, axis=1)[:, order] if keep else None,
    )


def bootstrap_levels(
    counts: npt.ArrayLike,
    layout: Layout,
    statistic: Statistic,
    settings: Resampling | None = None,
    *,
    weights: npt.ArrayLike | None = None,
) -> Levels:
    """Bootstrap a measure overall, for each stratum and for each group in one go.

    Units (notes) are drawn with replacement inside their stratum (case), all groups (features) of
    a unit together. Strata that share units, as where a patient has notes of two cases, are drawn
    as one. The sums of a stratum are those of its groups, the overall sums those of the
    strata, so one resampling serves all levels and the correlation of a note's features is kept.
    For the overall sums, units that are alone in their stratum are drawn together, because alone
    they would add no variance (see `rubricate.stats.resampling.stratum_rows`). Where the settings
    ask for "cases-like-these", the overall sums are those of whole strata drawn with replacement.
    A stratum or group has the interval that it has alone: its own units, drawn from the seed on.

    ``counts`` (rows, k): additive counts, one row per unit and group.
    ``statistic``: maps sums of shape (..., k) to values of shape (...) or (..., m).
    ``weights`` (rows,): design weight of each row's unit.

    >>> from rubricate.stats import precision_recall_f1
    >>> counts = [[3, 1, 0], [2, 0, 2], [5, 1, 1], [4, 0, 1]]
    >>> layout = Layout(unit=[0, 0, 1, 1], group=["a", "b", "a", "b"], stratum=["x"] * 4)
    >>> levels = bootstrap_levels(counts, layout, precision_recall_f1)
    >>> levels.group_labels.tolist(), levels.groups.estimate[:, 2].round(2).tolist()
    (['a', 'b'], [0.84, 0.8])
    """
    settings = settings or Resampling()
    table = as_counts(counts, weights=weights)
    _, unit = _codes(layout.unit, len(table), "unit")
    group_labels, group = _codes(layout.group, len(table), "group")
    stratum_labels, stratum = _codes(layout.stratum, len(table), "stratum")
    stratum_of = np.zeros(group.max() + 1, dtype=np.intp)
    stratum_of[group] = stratum
    astray = np.unique(group[stratum_of[group] != stratum])
    if len(astray):
        raise ArgumentError(f"{len(astray)} groups lie in more than one stratum")

    rng = np.random.default_rng(settings.seed)
    group_parts, stratum_parts, group_order, stratum_order = [], [], [], []
    units: list[F64] = []
    group_sums = stratum_sums = np.zeros(())
    for groups, block, has in _blocks(table, unit, group, join_strata(unit, stratum)):
        # the means over strata and groups need draws of the strata that are independent
        sums = resample_sums(block, settings.resamples, rng)
        group_sums = group_sums + _defined_sums(apply(statistic, sums))
        group_parts.append(_alone(block, has, statistic, settings))
        group_order.append(groups)
        for one in np.unique(stratum_of[groups]).tolist():
            own = stratum_of[groups] == one
            by_unit, by_draw = (all_[:, own].sum(axis=1, keepdims=True) for all_ in (block, sums))
            stratum_sums = stratum_sums + _defined_sums(apply(statistic, by_draw))
            inside = np.asarray(has[:, own].any(axis=1, keepdims=True))
            stratum_parts.append(_alone(by_unit, inside, statistic, settings))
            stratum_order.append(one)
        units.append(block.sum(axis=1))
    if settings.population == "cases-like-these":
        totals = np.stack([own.sum(axis=0) for own in units])
        overall = bootstrap_interval(totals, statistic, settings)
    else:
        of = np.repeat(np.arange(len(units)), [len(own) for own in units])
        overall = bootstrap_interval(np.concatenate(units), statistic, settings, strata=of)
    return Levels(
        overall=overall,
        strata=_join(stratum_parts, np.argsort(stratum_order)),
        groups=_join(group_parts, np.argsort(np.concatenate(group_order))),
        stratum_labels=stratum_labels,
        group_labels=group_labels,
        stratum_means=ratio(*stratum_sums),
        group_means=ratio(*group_sums),
    )
