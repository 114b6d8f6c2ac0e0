"""Sharing a number of notes among strata that hold only so many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def allocate(total: int, sizes: Sequence[int], shares: Sequence[float]) -> list[int]:
    """Share ``total`` among strata as ``shares`` say, no stratum getting more than it holds.

    What a full stratum cannot take goes to the others; whole notes by largest remainder. Every
    stratum that holds notes gets one at least as long as there are enough, so that each has an
    inclusion probability above 0.

    Parameters
    ----------
    total : int
        Notes to share; fewer are given out where the strata do not hold as many.
    sizes : sequence of int
        Notes each stratum holds.
    shares : sequence of float
        How much each stratum asks for, in any unit, above 0.

    Returns
    -------
    list of int
        Notes of each stratum.

    Examples
    --------
    >>> allocate(10, [100, 2, 100], [1, 1, 1])
    [4, 2, 4]
    >>> allocate(10, [90, 10], [9, 1])
    [9, 1]
    """
    size = np.asarray(sizes, dtype=np.int64)
    share = np.where(size > 0, np.asarray(shares, dtype=np.float64), 0.0)
    total = min(total, int(size.sum()))
    given = np.zeros(len(size), dtype=np.float64)
    full = size == 0
    while True:
        rest = total - given[full].sum()
        free = ~full
        if not free.any():
            break
        given[free] = rest * share[free] / share[free].sum()
        over = free & (given > size)
        if not over.any():
            break
        given[over] = size[over]
        full |= over
    whole = np.floor(given + 1e-9).astype(np.int64)
    order = np.argsort(-(given - whole), kind="stable")
    for i in [i for i in order.tolist() if whole[i] < size[i]][: int(total - whole.sum())]:
        whole[i] += 1
    return _lift_empty(whole, size).tolist()


def _lift_empty(whole: np.ndarray[tuple[int], np.dtype[np.int64]],
                size: np.ndarray[tuple[int], np.dtype[np.int64]],
                ) -> np.ndarray[tuple[int], np.dtype[np.int64]]:  # fmt: skip
    """Give a note to each empty stratum, from the one that has most."""
    for i in np.flatnonzero((whole == 0) & (size > 0)).tolist():
        richest = int(whole.argmax())
        if whole[richest] < 2:
            break
        whole[richest] -= 1
        whole[i] = 1
    return whole
