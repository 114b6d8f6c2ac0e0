"""Adjust p values for the number of tests."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from rubricate.errors import Fault
from rubricate.stats.checks import one_of, raise_if_any
from rubricate.stats.limits import F64


def adjust_p_values(
    p_values: npt.ArrayLike, *, method: Literal["holm", "benjamini-hochberg"] = "holm"
) -> F64:
    """Return p values adjusted for having made many tests.

    Holm (1979) keeps the chance of any false finding: p_(i) becomes the largest of
    (m - j + 1) p_(j) over j <= i. Benjamini & Hochberg (1995) keep the expected share of false
    findings: p_(i) becomes the smallest of m p_(j) / j over j >= i. Both stop at 1. Undefined
    p values (NaN) stay undefined and do not count as tests.

    Parameters
    ----------
    p_values : array_like, shape (m,)
        P values in any order.
    method : {"holm", "benjamini-hochberg"}
        What to keep.

    Returns
    -------
    ndarray, shape (m,)
        Adjusted p values in the same order.

    Raises
    ------
    InputError
        If a p value lies outside 0 to 1, or the method is not known.

    Examples
    --------
    >>> adjust_p_values([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    >>> adjust_p_values([0.01, 0.04, 0.03], method="benjamini-hochberg").tolist()
    [0.03, 0.04, 0.04]
    """
    values = np.asarray(p_values, dtype=np.float64)
    faults = one_of("method", method, ["holm", "benjamini-hochberg"])
    known = ~np.isnan(values)
    if values.ndim != 1 or np.any((values[known] < 0) | (values[known] > 1)):
        faults.append(Fault("p values must be a list of numbers from 0 to 1"))
    raise_if_any(faults)
    tested = values[known]
    order, m = np.argsort(tested, kind="stable"), len(tested)
    rank = np.arange(1, m + 1)
    if method == "holm":
        scaled = np.maximum.accumulate((m - rank + 1) * tested[order])
    else:
        scaled = np.minimum.accumulate((m * tested[order] / rank)[::-1])[::-1]
    adjusted = np.full(values.shape, np.nan)
    adjusted[np.flatnonzero(known)[order]] = np.minimum(scaled, 1.0)
    return adjusted
