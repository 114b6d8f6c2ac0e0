"""Comparison of two systems."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rubricate.errors import InputError
from rubricate.stats import (
    Resampling,
    bootstrap_interval,
    compare_paired,
    compare_with_ceiling,
    permutation_p_value,
    precision_recall_f1,
)

RNG = np.random.default_rng(11)


def _exact_p_value(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Two-sided p value over all swaps."""
    observed = np.abs(precision_recall_f1(first.sum(0)) - precision_recall_f1(second.sum(0)))
    large = []
    for swap in itertools.product([False, True], repeat=len(first)):
        mask = np.array(swap)[:, None]
        one, two = np.where(mask, second, first).sum(0), np.where(mask, first, second).sum(0)
        gap = np.abs(precision_recall_f1(one) - precision_recall_f1(two))
        large.append(gap >= observed - 1e-12)
    return np.mean(large, axis=0)


def test_random_swaps_approach_all_swaps() -> None:
    first = RNG.poisson([6, 2, 2], size=(9, 3)).astype(float)
    second = RNG.poisson([5, 2, 3], size=(9, 3)).astype(float)
    ours = permutation_p_value(first, second, precision_recall_f1, permutations=40_000)
    assert np.allclose(ours, _exact_p_value(first, second), atol=0.01)


def test_equal_systems_have_p_one() -> None:
    counts = RNG.poisson(4, size=(20, 3))
    result = compare_paired(counts, counts, precision_recall_f1, permutations=200)
    assert result.p_value is not None
    assert result.p_value.tolist() == [1, 1, 1]
    assert np.all(result.difference.estimate == 0)
    assert np.all(result.difference.low == 0) and np.all(result.difference.high == 0)


def test_the_p_value_is_never_zero() -> None:
    first, second = np.tile([9, 0, 0], (60, 1)), np.tile([1, 8, 8], (60, 1))
    p = permutation_p_value(first, second, precision_recall_f1, permutations=99)
    assert np.all(p == 1 / 100)


def test_p_values_are_uniform_when_systems_are_alike() -> None:
    p_values = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        first, second = rng.poisson([6, 2, 2], size=(2, 30, 3))
        p_values.append(
            permutation_p_value(first, second, precision_recall_f1, permutations=199)[2]
        )
    assert 0.01 <= np.mean(np.array(p_values) <= 0.05) <= 0.09
    assert 0.42 <= np.mean(np.array(p_values) <= 0.5) <= 0.58


def test_swapping_the_systems_turns_the_sign() -> None:
    first, second = RNG.poisson(6, (40, 3)), RNG.poisson(5, (40, 3))
    one = compare_paired(first, second, precision_recall_f1)
    two = compare_paired(second, first, precision_recall_f1)
    assert np.allclose(one.difference.estimate, -two.difference.estimate)
    assert np.allclose(one.difference.low, -two.difference.high)
    assert one.p_value is not None and two.p_value is not None
    assert np.allclose(one.p_value, two.p_value)


def test_pairing_removes_the_difficulty_of_notes() -> None:
    easy = RNG.beta(1, 1, size=80)
    first = RNG.binomial(20, np.clip(easy + 0.04, 0, 1))
    second = RNG.binomial(20, easy)
    one, two = (np.stack([x, 20 - x, 20 - x], axis=1) for x in (first, second))
    paired = compare_paired(one, two, precision_recall_f1, permutations=0)
    apart = compare_with_ceiling(one, two, precision_recall_f1, same_notes=False)
    assert paired.p_value is None
    assert paired.difference.interval(2).width < 0.7 * apart.difference.interval(2).width


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_ceiling_on_other_notes(method: str) -> None:
    system, humans = RNG.poisson([6, 3, 3], (50, 3)), RNG.poisson([8, 1, 1], (30, 3))
    options = Resampling(method=method, resamples=4000)  # type: ignore[arg-type]
    result = compare_with_ceiling(system, humans, precision_recall_f1, options, same_notes=False)
    one = bootstrap_interval(system, precision_recall_f1, options)
    two = bootstrap_interval(humans, precision_recall_f1, options)
    assert np.allclose(result.first, one.estimate) and np.allclose(result.second, two.estimate)
    # Independent variances add.
    width = np.hypot(one.interval(2).width, two.interval(2).width)
    assert result.difference.interval(2).width == pytest.approx(width, rel=0.1)


def test_ceiling_on_the_same_notes_is_the_paired_difference() -> None:
    system, humans = RNG.poisson(6, (40, 3)), RNG.poisson(5, (40, 3))
    ceiling = compare_with_ceiling(system, humans, precision_recall_f1, same_notes=True)
    paired = compare_paired(system, humans, precision_recall_f1, permutations=0)
    assert np.array_equal(ceiling.difference.low, paired.difference.low)


def test_nothing_counted_has_no_p_value() -> None:
    empty = np.zeros((5, 3))
    p = permutation_p_value(empty, empty, precision_recall_f1, permutations=50)
    assert np.isnan(p).all()


def test_undefined_swaps_count_as_large() -> None:
    # Each system found something in one note only; after half of the swaps one has nothing,
    # after the other half the precisions are 1 and .5 as observed.
    first, second = np.array([[1, 0, 0], [0, 0, 1]]), np.array([[0, 0, 1], [1, 1, 0]])
    p = permutation_p_value(first, second, precision_recall_f1, permutations=400)
    assert p[0] == 1


def test_unequal_tables_are_refused() -> None:
    with pytest.raises(InputError, match="same notes"):
        compare_paired(np.ones((3, 3)), np.ones((4, 3)), precision_recall_f1)
    with pytest.raises(InputError, match="same counts"):
        compare_with_ceiling(
            np.ones((3, 3)), np.ones((4, 4)), precision_recall_f1, same_notes=False
        )
    with pytest.raises(InputError, match="permutations"):
        permutation_p_value([[1, 0, 0]], [[1, 0, 0]], precision_recall_f1, permutations=0)
