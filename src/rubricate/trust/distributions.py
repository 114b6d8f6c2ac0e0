"""Distances between two samples of numbers, and a permutation test of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rubricate.trust.runs import F64

#: Labels held at a time.
_CHUNK = 4_000_000


def ks_distance(before: F64, after: F64) -> float:
    """Return the Kolmogorov-Smirnov distance: the largest gap between the two shares below x.

    D = max |F(x) - G(x)| over x (Smirnov 1939).

    Examples
    --------
    >>> ks_distance(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    0.5
    """
    order, ends = _pooled(before, after)
    return float(_distances(order < len(before), ends)[0])


def ks_p_value(
    before: F64, after: F64, *, paired: bool = False, permutations: int = 1000, seed: int = 0
) -> float:
    """Test the Kolmogorov-Smirnov distance by relabelling notes at random.

    p = (1 + b) / (1 + m) with b of m relabellings at least as far apart (Phipson & Smyth 2010).
    Ties, which make the textbook distribution wrong, do no harm.

    Parameters
    ----------
    before, after : ndarray
        The two samples.
    paired : bool
        Whether value i of both is the same note: then only the two are swapped.
    permutations : int
        How many relabellings.
    seed : int
        Their seed.

    Examples
    --------
    >>> ks_p_value(np.arange(30.0), np.arange(30.0) + 40, permutations=99)
    0.01
    """
    order, ends = _pooled(before, after)
    n, total = len(before), len(order)
    observed = ks_distance(before, after)
    rng = np.random.default_rng(seed)
    first = np.repeat([True, False], [n, total - n])
    as_large, step = 0, max(1, _CHUNK // total)
    for start in range(0, permutations, step):
        draws = min(step, permutations - start)
        if paired:
            coins = rng.random((draws, n)) < 0.5
            labels = np.concatenate([coins, ~coins], axis=1)
        else:
            labels = rng.permuted(np.tile(first, (draws, 1)), axis=1)
        as_large += int((_distances(labels[:, order], ends) >= observed - 1e-9).sum())
    return (1 + as_large) / (1 + permutations)


def superiority(before: F64, after: F64) -> float:
    """Return the chance that a later value exceeds an earlier one, ties counting half.

    A = U / (m n), the Mann-Whitney statistic over its maximum (Vargha & Delaney 2000); 0.5 means
    no shift.

    Examples
    --------
    >>> superiority(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    0.875
    """
    ordered = np.sort(before)
    below = np.searchsorted(ordered, after, side="left")
    upto = np.searchsorted(ordered, after, side="right")
    return float((below + upto).sum() / (2 * len(before) * len(after)))


def _distances(first: npt.NDArray[np.bool_], ends: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """Return the distance for each row of labels, which say whose each ordered value is.

    Values are counted, not shares added up, so that equal samples are exactly 0 apart.
    """
    labels = np.atleast_2d(first)
    ours = np.cumsum(labels, axis=1, dtype=np.int64)
    n, total = ours[:, -1:], labels.shape[1]
    below = ours[:, ends]
    return np.asarray(np.abs(below / n - (ends + 1 - below) / (total - n)).max(axis=1))


def _pooled(before: F64, after: F64) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the order of both samples together, and where runs of equal values end."""
    values = np.concatenate([before, after])
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    return order, np.append(np.flatnonzero(np.diff(ordered) > 0), len(ordered) - 1)
