"""Compare two systems, or a system and the human ceiling, from counts by note."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rubricate.errors import Fault
from rubricate.stats.bootstrap import Bootstrapped, apply, bootstrap_interval
from rubricate.stats.checks import at_least, raise_if_any
from rubricate.stats.limits import F64
from rubricate.stats.ratios import Statistic
from rubricate.stats.resampling import Resampling, as_counts

#: Coin flips held at a time.
_CHUNK = 4_000_000
#: Two differences closer than this share of the observed one are the same number.
_SAME = 1e-9


@dataclass(frozen=True, eq=False, slots=True)
class Comparison:
    """Two sets of measures and their difference, first minus second.

    Parameters
    ----------
    first, second : ndarray
        The measures of each.
    difference : Bootstrapped
        First minus second, with its interval.
    p_value : ndarray, optional
        Two-sided, from swapping the two within notes; None where no test was made.
    permutations : int
        Number of random swaps behind `p_value`.
    """

    first: F64
    second: F64
    difference: Bootstrapped
    p_value: F64 | None = None
    permutations: int = 0


def _difference(statistic: Statistic) -> Statistic:
    """Return the statistic of the first minus that of the second, stacked next to last."""

    def difference(sums: F64) -> F64:
        return apply(statistic, sums[..., 0, :]) - apply(statistic, sums[..., 1, :])

    return difference


def _pair(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[F64, F64]:
    """Return both tables of counts, checked to be of the same notes and counts."""
    one, two = as_counts(first, name="first"), as_counts(second, name="second")
    if one.shape != two.shape or one.ndim != 2:
        raise_if_any(
            [
                Fault(
                    f"paired counts must be two tables of the same notes and counts, "
                    f"not {one.shape} and {two.shape}"
                )
            ]
        )
    return one, two


def permutation_p_value(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    statistic: Statistic,
    *,
    permutations: int = 10_000,
    seed: int = 0,
) -> F64:
    """Test whether two systems differ by swapping their counts within notes at random.

    If the systems are alike, which of them gave which counts of a note is a coin flip. The
    p value is (1 + b) / (1 + m), b of m random swaps having a difference at least as large as
    the observed one in absolute value: never 0, and valid for any m (Phipson & Smyth 2010;
    approximate randomisation, Noreen 1989). A swap whose difference is undefined counts as
    large. NaN where the observed difference is undefined.

    Parameters
    ----------
    first, second : array_like, shape (n, k)
        Additive counts of the two systems on the same notes, in the same order.
    statistic : callable
        Maps sums of shape (..., k) to values of shape (...) or (..., m).
    permutations : int
        Number of random swaps.
    seed : int
        Seed of the generator.

    Returns
    -------
    ndarray
        One p value a measure.

    Raises
    ------
    InputError
        If the tables do not have the same shape.

    Examples
    --------
    >>> from rubricate.stats import precision_recall_f1
    >>> first, second = [[5, 1, 0]] * 12, [[3, 1, 2]] * 12
    >>> permutation_p_value(first, second, precision_recall_f1).round(4).tolist()
    [0.0004, 0.0004, 0.0004]
    """
    raise_if_any(at_least("permutations", permutations, 1) + at_least("seed", seed, 0))
    one, two = _pair(first, second)
    observed = np.abs(_difference(statistic)(np.stack([one.sum(axis=0), two.sum(axis=0)])))
    gap = one - two
    gap = np.ascontiguousarray(gap[np.any(gap != 0, axis=1)])  # others change nothing
    both = (one + two).sum(axis=0)
    rng = np.random.default_rng(seed)
    as_large = np.zeros(observed.shape)
    step = max(1, _CHUNK // max(1, len(gap)))
    for start in range(0, permutations, step):
        draws = min(step, permutations - start)
        bits = np.unpackbits(
            rng.integers(0, 256, size=(draws, -(-len(gap) // 8)), dtype=np.uint8), axis=1
        )
        moved = (2.0 * bits[:, : len(gap)] - 1.0) @ gap
        sums = np.stack([(both + moved) / 2, (both - moved) / 2], axis=1)
        size = np.abs(_difference(statistic)(sums))
        as_large += (np.isnan(size) | (size >= observed * (1 - _SAME))).sum(axis=0)
    return np.where(np.isnan(observed), np.nan, (1 + as_large) / (1 + permutations))


def compare_paired(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    statistic: Statistic,
    settings: Resampling | None = None,
    *,
    permutations: int = 10_000,
    strata: npt.ArrayLike | None = None,
) -> Comparison:
    """Compare two systems on the same notes: difference, interval and permutation test.

    The interval draws notes with replacement, both systems' counts of a note together, so the
    difficulty of the notes cancels. The test is `permutation_p_value`.

    Parameters
    ----------
    first, second : array_like, shape (n, k)
        Additive counts of the two systems on the same notes, in the same order.
    statistic : callable
        Maps sums of shape (..., k) to values of shape (...) or (..., m).
    settings : Resampling, optional
        Resamples, confidence, method; its seed serves the test too.
    permutations : int
        Number of random swaps; 0 for no test.
    strata : array_like, shape (n,), optional
        Strata inside which notes are drawn.

    Returns
    -------
    Comparison
        Both measures, their difference with interval, and the p value.

    Raises
    ------
    InputError
        If the tables do not have the same shape.

    Examples
    --------
    >>> from rubricate.stats import precision_recall_f1
    >>> first, second = [[5, 1, 0], [4, 0, 1]] * 9, [[3, 1, 2], [4, 1, 1]] * 9
    >>> result = compare_paired(first, second, precision_recall_f1)
    >>> result.difference.estimate.round(2).tolist(), result.p_value.round(4).tolist()
    ([0.12, 0.2, 0.16], [0.0001, 0.0045, 0.0001])
    """
    settings = settings or Resampling()
    one, two = _pair(first, second)
    return Comparison(
        first=apply(statistic, one.sum(axis=0)),
        second=apply(statistic, two.sum(axis=0)),
        difference=bootstrap_interval(
            np.stack([one, two], axis=1), _difference(statistic), settings, strata=strata
        ),
        p_value=permutation_p_value(
            one, two, statistic, permutations=permutations, seed=settings.seed
        )
        if permutations
        else None,
        permutations=permutations,
    )


def compare_with_ceiling(
    system: npt.ArrayLike,
    ceiling: npt.ArrayLike,
    statistic: Statistic,
    settings: Resampling | None = None,
    *,
    same_notes: bool,
) -> Comparison:
    """Compare a system with human agreement: how far below the ceiling it stays.

    On the same notes the two are drawn together; on different notes each is drawn from its own,
    independently. No test is made: that a system equals the ceiling is not the question.

    Parameters
    ----------
    system : array_like, shape (n, k)
        Additive counts of the system against the reference.
    ceiling : array_like, shape (m, k)
        Additive counts of one annotator against another.
    statistic : callable
        Maps sums of shape (..., k) to values of shape (...) or (..., m).
    settings : Resampling, optional
        Resamples, confidence, method, seed.
    same_notes : bool
        Whether row i of both tables is the same note.

    Returns
    -------
    Comparison
        System minus ceiling, negative where the system is below.

    Raises
    ------
    InputError
        If the tables do not fit together.

    Examples
    --------
    >>> from rubricate.stats import precision_recall_f1
    >>> system, humans = [[3, 1, 2], [4, 1, 1]] * 9, [[5, 1, 0], [4, 0, 1]] * 4
    >>> result = compare_with_ceiling(system, humans, precision_recall_f1, same_notes=False)
    >>> result.difference.estimate.round(2).tolist()
    [-0.12, -0.2, -0.16]
    """
    if same_notes:
        return compare_paired(system, ceiling, statistic, settings, permutations=0)
    one, two = as_counts(system, name="system"), as_counts(ceiling, name="ceiling")
    if one.ndim != 2 or one.shape[1:] != two.shape[1:]:
        raise_if_any(
            [Fault(f"system and ceiling must hold the same counts, not {one.shape}, {two.shape}")]
        )
    # Each note counts for one side only; strata keep both sample sizes fixed.
    counts = np.zeros((len(one) + len(two), 2, one.shape[1]))
    counts[: len(one), 0], counts[len(one) :, 1] = one, two
    side = np.repeat([0, 1], [len(one), len(two)])
    return Comparison(
        first=apply(statistic, one.sum(axis=0)),
        second=apply(statistic, two.sum(axis=0)),
        difference=bootstrap_interval(counts, _difference(statistic), settings, strata=side),
    )
