"""Draw notes with replacement, as sums of their counts, and the rates of such sums.

A resample of notes is a vector of how often each note was drawn; its sums of counts are that
vector times the table of counts. So thousands of resamples are a few matrix products, and spans
are never touched again.

Of the n notes of a stratum n - 1 are drawn, each counting n / (n - 1) times (the rescaling
bootstrap of Rao & Wu 1988). Drawing n would shrink the spread by the root of (n - 1) / n, which is
nothing in one case of a hundred notes and almost a third in many cases of two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64
from rubricate.errors import ArgumentError, Fault
from rubricate.stats.limits import at_least, inside_unit, one_of, raise_if_any

#: Numbers drawn at a time; three arrays of this length are the memory a bootstrap needs.
_CHUNK = 2_000_000

#: How limits are read off replicates; `rubricate.stats.bootstrap` has a function for each.
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
        raise_if_any(
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
    raise_if_any(faults)
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
