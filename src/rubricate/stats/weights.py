"""Weights for samples whose strata were drawn at different rates, and when they are a must."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rubricate.errors import Fault, InputError
from rubricate.stats.checks import raise_if_any
from rubricate.stats.limits import F64
from rubricate.stats.resampling import as_counts


def _sizes(sampled: npt.ArrayLike, population: npt.ArrayLike) -> tuple[F64, F64]:
    """Return sizes of sample and population by stratum, checked."""
    n, size = np.asarray(sampled, dtype=np.float64), np.asarray(population, dtype=np.float64)
    faults: list[Fault] = []
    if n.shape != size.shape or n.ndim != 1:
        faults.append(Fault(f"{n.size} sample sizes for {size.size} strata"))
    elif not np.all((n >= 0) & (n <= size) & np.isfinite(size)):
        faults.append(Fault("every stratum needs 0 <= sampled <= population"))
    elif np.any((n == 0) & (size > 0)):
        empty = np.flatnonzero((n == 0) & (size > 0)).tolist()
        faults.append(Fault(f"strata {empty} (from 0) hold notes but none was sampled"))
    raise_if_any(faults)
    return n, size


def design_weights(sampled: npt.ArrayLike, population: npt.ArrayLike) -> F64:
    """Return the weight of a note of each stratum: how many notes it stands for.

    w_h = N_h / n_h, the inverse of the inclusion probability (Horvitz & Thompson 1952).

    Parameters
    ----------
    sampled, population : array_like, shape (strata,)
        Notes drawn from, and held by, each stratum.

    Returns
    -------
    ndarray, shape (strata,)
        The weights; 0 for an empty stratum.

    Raises
    ------
    InputError
        If a stratum that holds notes was not sampled, or more was sampled than it holds.

    Examples
    --------
    >>> design_weights([250, 250], [1000, 9000]).tolist()
    [4.0, 36.0]
    """
    n, size = _sizes(sampled, population)
    return np.where(n > 0, size / np.where(n > 0, n, 1.0), 0.0)


def weighted_counts(
    counts: npt.ArrayLike, weights: npt.ArrayLike, *, population: float | None = None
) -> F64:
    """Estimate the counts of the whole population from a sample.

    Horvitz-Thompson: sum of w_i y_i. With `population` given, Hajek's (1971): the same, scaled so
    that the weights add up to the population. Ratios such as precision are equal under both.

    Parameters
    ----------
    counts : array_like, shape (n, ..., k)
        Additive counts of each note.
    weights : array_like, shape (n,)
        Weight of each note.
    population : float, optional
        Notes in the population.

    Returns
    -------
    ndarray, shape (..., k)
        Estimated counts.

    Raises
    ------
    InputError
        If the lengths differ or a number is not allowed.

    Examples
    --------
    >>> weighted_counts([[1, 0], [0, 1]], [4, 36]).tolist()
    [4.0, 36.0]
    >>> weighted_counts([[1, 0], [0, 1]], [4, 36], population=80).tolist()
    [8.0, 72.0]
    """
    total = as_counts(counts, weights=weights).sum(axis=0)
    if population is None:
        return np.asarray(total)
    weight_sum = float(np.asarray(weights, dtype=np.float64).sum())
    if weight_sum <= 0:
        raise_if_any([Fault("weights must add up to more than 0")])
    return np.asarray(total * (population / weight_sum))


def oversampled(
    sampled: npt.ArrayLike, population: npt.ArrayLike, predicted: npt.ArrayLike
) -> bool:
    """Tell whether predicted positives and negatives were drawn at different rates.

    They were not, as far as anyone can tell, where the sample holds within one note as many
    predicted positives as a proportional sample of its size would: whole notes cannot be
    split.

    Parameters
    ----------
    sampled, population : array_like, shape (strata,)
        Notes drawn from, and held by, each stratum.
    predicted : array_like of bool, shape (strata,)
        Whether the system finds the variable in the notes of the stratum.

    Returns
    -------
    bool
        True where unweighted recall would be biased.

    Examples
    --------
    >>> oversampled([250, 250], [1000, 9000], [True, False])
    True
    >>> oversampled([48, 53], [480, 520], [True, False])
    False
    """
    n, size = _sizes(sampled, population)
    positive = np.asarray(predicted, dtype=bool)
    if positive.shape != n.shape:
        raise_if_any([Fault(f"{positive.size} predictions for {n.size} strata")])
    fair = n.sum() * size[positive].sum() / max(size.sum(), 1.0)
    return bool(abs(n[positive].sum() - fair) > 1.0)


def refuse_unweighted_recall(
    sampled: npt.ArrayLike,
    population: npt.ArrayLike,
    predicted: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
) -> None:
    """Raise where recall is asked without weights from a sample that needs them.

    Notes the system missed are among the predicted negatives. Where those were drawn at a lower
    rate than the positives, the missed notes are under-represented and plain recall is far too
    high: with 250 + 250 notes at a frequency of .10, .97 for a true .80. Precision is unharmed.

    Parameters
    ----------
    sampled, population : array_like, shape (strata,)
        Notes drawn from, and held by, each stratum.
    predicted : array_like of bool, shape (strata,)
        Whether the system finds the variable in the notes of the stratum.
    weights : array_like, optional
        The weights in use, if any; with them nothing is refused.

    Raises
    ------
    InputError
        If the rates differ and there are no weights.

    Examples
    --------
    >>> refuse_unweighted_recall([48, 53], [480, 520], [True, False])
    >>> refuse_unweighted_recall([250, 250], [1000, 9000], [True, False], weights=[4, 36])
    """
    if weights is not None or not oversampled(sampled, population, predicted):
        return
    n, size = _sizes(sampled, population)
    positive = np.asarray(predicted, dtype=bool)
    shares = [
        f"{n[side].sum():.0f} of {size[side].sum():.0f} predicted {name}"
        for side, name in ((positive, "positives"), (~positive, "negatives"))
    ]
    raise InputError(
        f"recall cannot be reported without weights: {' but '.join(shares)} were sampled. "
        "Give each note the weight population / sampled of its stratum."
    )
