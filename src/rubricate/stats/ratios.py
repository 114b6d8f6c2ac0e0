"""Precision, recall, F1 and other rates of summed counts, undefined where nothing was counted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from rubricate.stats.limits import F64

#: Maps sums of counts, shape (..., k), to values, shape (...) or (..., m).
Statistic = Callable[[F64], F64]


def ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> F64:
    """Return `numerator` / `denominator`, NaN where the denominator is 0.

    Examples
    --------
    >>> ratio([1, 0], [2, 0]).tolist()
    [0.5, nan]
    """
    top, bottom = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, np.float64)
    out = np.full(np.broadcast_shapes(top.shape, bottom.shape), np.nan)
    np.divide(top, bottom, out=out, where=bottom != 0)
    return out


def precision_recall_f1(counts: F64) -> F64:
    """Return precision, recall and F1 from TP, FP, FN in the first three places.

    P = TP / (TP + FP), R = TP / (TP + FN), F1 = 2 TP / (2 TP + FP + FN) (van Rijsbergen 1979).
    Nothing counted (0 / 0) gives NaN: the caller decides what empty against empty is worth.

    Parameters
    ----------
    counts : ndarray, shape (..., k), k >= 3
        Sums of TP, FP, FN and anything else.

    Returns
    -------
    ndarray, shape (..., 3)
        Precision, recall, F1.

    Examples
    --------
    >>> precision_recall_f1(np.array([3.0, 2.0, 2.0])).tolist()
    [0.6, 0.6, 0.6]
    """
    tp, fp, fn = counts[..., 0], counts[..., 1], counts[..., 2]
    return np.stack(
        [ratio(tp, tp + fp), ratio(tp, tp + fn), ratio(2 * tp, 2 * tp + fp + fn)], axis=-1
    )


def table_rates(cells: F64) -> F64:
    """Return precision, recall, F1, specificity, NPV and prevalence of TP, FP, FN, TN."""
    fp, fn, tn = cells[..., 1], cells[..., 2], cells[..., 3]
    more = [ratio(tn, tn + fp), ratio(tn, tn + fn), ratio(cells[..., 0] + fn, cells.sum(axis=-1))]
    return np.concatenate([precision_recall_f1(cells), np.stack(more, axis=-1)], axis=-1)
