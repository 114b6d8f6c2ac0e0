"""Draw notes with replacement, as sums of their counts.

A resample of notes is a vector of how often each note was drawn; its sums of counts are that
vector times the table of counts. So thousands of resamples are a few matrix products, and spans
are never touched again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from rubricate.errors import Fault
from rubricate.stats.checks import at_least, inside_unit, one_of, raise_if_any
from rubricate.stats.limits import F64

#: Numbers drawn at a time; three arrays of this length are the memory a bootstrap needs.
_CHUNK = 2_000_000


@dataclass(frozen=True, slots=True)
class Resampling:
    """How a bootstrap is done.

    Parameters
    ----------
    resamples : int
        Number of resamples.
    confidence : float
        Confidence of the intervals.
    method : {"percentile", "bca"}
        Percentiles of the replicates (Efron 1979), or percentiles corrected for bias and
        acceleration (Efron 1987).
    seed : int
        Seed of the generator; the same seed gives the same replicates.
    keep_replicates : bool
        Whether results carry their replicates.

    Raises
    ------
    InputError
        If a value is not allowed; lists all of them.

    Examples
    --------
    >>> Resampling(resamples=500).method
    'percentile'
    """

    resamples: int = 2000
    confidence: float = 0.95
    method: Literal["percentile", "bca"] = "percentile"
    seed: int = 0
    keep_replicates: bool = False

    def __post_init__(self) -> None:
        raise_if_any(
            at_least("resamples", self.resamples, 1)
            + inside_unit("confidence", self.confidence)
            + one_of("method", self.method, ["percentile", "bca"])
            + at_least("seed", self.seed, 0)
        )


def as_counts(
    counts: npt.ArrayLike, *, weights: npt.ArrayLike | None = None, name: str = "counts"
) -> F64:
    """Return `counts` as an array of floats, one row a note, times the weights of the notes.

    Parameters
    ----------
    counts : array_like, shape (n, ..., k)
        Additive counts of each note.
    weights : array_like, shape (n,), optional
        Design weight of each note, not negative.
    name : str
        What to call the counts in a message.

    Returns
    -------
    ndarray
        The weighted counts.

    Raises
    ------
    InputError
        If there is no note, or a number is not finite, or the lengths differ.

    Examples
    --------
    >>> as_counts([[1, 0], [2, 1]], weights=[1, 10]).tolist()
    [[1.0, 0.0], [20.0, 10.0]]
    """
    table = np.asarray(counts, dtype=np.float64)
    faults: list[Fault] = []
    if table.ndim < 2 or table.shape[0] == 0:
        faults.append(Fault(f"{name} must have one row a note and at least one note"))
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

    Parameters
    ----------
    strata : array_like, shape (n,), optional
        Label of each note's stratum; None for one stratum.
    n : int
        Number of notes.

    Returns
    -------
    list of ndarray
        Row numbers.

    Raises
    ------
    InputError
        If the number of labels is not the number of notes.

    Examples
    --------
    >>> [rows.tolist() for rows in stratum_rows(["b", "a", "b"], 3)]
    [[1], [0, 2]]
    >>> [rows.tolist() for rows in stratum_rows(["c", "a", "b", "a"], 4)]
    [[1, 3], [2, 0]]
    """
    if strata is None:
        return [np.arange(n)]
    labels = np.asarray(strata)
    if labels.shape != (n,):
        raise_if_any([Fault(f"strata has {labels.size} labels for {n} notes")])
    _, code = np.unique(labels, return_inverse=True)
    order = np.argsort(code, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(code))[:-1])
    alone = [own for own in rows if len(own) == 1]
    if len(alone) < 2:
        return rows
    return [*(own for own in rows if len(own) > 1), np.concatenate(alone)]


def resample_sums(
    counts: F64, resamples: int, rng: np.random.Generator, *, strata: npt.ArrayLike | None = None
) -> F64:
    """Return the sums of counts of `resamples` draws of all notes with replacement.

    Parameters
    ----------
    counts : ndarray, shape (n, ..., k)
        Additive counts of each note.
    resamples : int
        Number of draws.
    rng : numpy.random.Generator
        Source of chance.
    strata : array_like, shape (n,), optional
        Notes are drawn inside each stratum, as many as it has; see `stratum_rows`.

    Returns
    -------
    ndarray, shape (resamples, ..., k)
        One row of sums a draw.

    Examples
    --------
    >>> sums = resample_sums(np.ones((5, 2)), 3, np.random.default_rng(0))
    >>> sums.tolist()
    [[5.0, 5.0], [5.0, 5.0], [5.0, 5.0]]
    """
    table = np.ascontiguousarray(counts.reshape(len(counts), -1))
    sums = np.zeros((resamples, table.shape[1]))
    for rows in stratum_rows(strata, len(table)):
        part = table[rows]
        n, step = len(rows), max(1, _CHUNK // max(1, len(rows)))
        for start in range(0, resamples, step):
            draws = min(step, resamples - start)
            picked = rng.integers(0, n, size=(draws, n), dtype=np.int64)
            picked += n * np.arange(draws)[:, None]
            times = np.bincount(picked.ravel(), minlength=draws * n).astype(np.float64)
            sums[start : start + draws] += times.reshape(draws, n) @ part
    return sums.reshape(resamples, *counts.shape[1:])
