"""Comparison of two systems."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from rubricate.errors import InputError
from rubricate.stats import (
    Estimate,
    Resampling,
    Side,
    Support,
    adjust_margin_tests,
    adjust_p_values,
    bootstrap_interval,
    compare_paired,
    compare_with_ceiling,
    comparison,
    effective_items,
    limit_by_items,
    margin_test,
    precision_recall_f1,
)
from rubricate.stats.comparison import difference_of_estimates, permutation_p_value

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
    assert result.p_value.tolist() == [1, 1, 1]
    assert np.all(result.difference.estimate == 0)
    # equal on 20 notes is not yet equal on all
    assert np.all(result.difference.low < 0) and np.all(result.difference.high > 0)


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
    paired = compare_paired(one, two, precision_recall_f1, permutations=9)
    apart = compare_with_ceiling(side(one), side(two, first=1000), f1)
    assert paired.difference.at(2).width < 0.7 * apart.width
    # On the same notes the correlation of both takes the difficulty out as well.
    same = compare_with_ceiling(side(one), side(two), f1)
    assert same.width == pytest.approx(paired.difference.at(2).width, rel=0.1)


def f1(sums: np.ndarray) -> np.ndarray:
    return precision_recall_f1(sums)[..., 2]


def side(counts: np.ndarray, *, first: int = 0, options: Resampling | None = None) -> Side:
    """Counts of notes numbered from `first`, with the interval an evaluation gives them."""
    found = bootstrap_interval(counts, f1, options)
    wrong, right = counts[:, 1:].any(axis=1).sum(), (counts[:, 0] > 0).sum()
    support = Support(effective_items(counts.sum(axis=1)), wrong, right)
    return Side(
        limit_by_items(found, support, through_jaccard=True).at(),
        counts,
        range(first, first + len(counts)),
    )


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_ceiling_on_other_notes(method: str) -> None:
    system, humans = RNG.poisson([6, 3, 3], (50, 3)), RNG.poisson([8, 1, 1], (30, 3))
    options = Resampling(method=method, resamples=4000)  # type: ignore[arg-type]
    one, two = side(system, options=options), side(humans, first=100, options=options)
    found = compare_with_ceiling(one, two, f1, options)
    assert found.value == pytest.approx(one.estimate.value - two.estimate.value)
    # Independent variances add.
    width = np.hypot(one.estimate.width, two.estimate.width)
    assert found.width == pytest.approx(width, rel=0.05)


def test_limits_that_are_not_symmetric_are_kept_apart() -> None:
    # Zou & Donner 2008: d - sqrt((a - l_a)^2 + (u_b - b)^2), and upwards likewise.
    one, two = Estimate(0.9, 0.86, 0.93), Estimate(0.8, 0.7, 0.92)
    found = difference_of_estimates(one, two)
    assert found.low == pytest.approx(0.1 - np.hypot(0.04, 0.12))
    assert found.high == pytest.approx(0.1 + np.hypot(0.03, 0.1))
    together = difference_of_estimates(one, two, correlation=1.0)
    assert together.low == pytest.approx(0.1 - 0.08)


def human_counts(rng: np.random.Generator, notes: int, p: float) -> np.ndarray:
    """15 items in each note, of which a share p is found by both, correlation .1 in a note."""
    found = rng.binomial(15, rng.beta(9 * p, 9 * (1 - p), size=notes))
    return np.stack([found, 15 - found, np.zeros_like(found)], axis=1)


@pytest.mark.parametrize(("humans", "system"), [(0.9, 0.8), (0.97, 0.9)])
def test_a_ceiling_of_five_notes_is_uncertain(humans: float, system: float) -> None:
    # As if the ceiling were exact the coverage was .77 to .80, and 0 where it showed no error.
    true = 2 * system / (1 + system) - 2 * humans / (1 + humans)
    options, covered, perfect = Resampling(resamples=300), [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        sides = [
            side(human_counts(rng, n, p), first=first, options=options)
            for n, p, first in ((100, system, 0), (5, humans, 1000))
        ]
        found = compare_with_ceiling(*sides, f1, options)
        covered.append(found.low <= true <= found.high)
        if sides[1].estimate.value == 1:
            perfect.append(covered[-1])
    assert np.mean(covered) >= 0.92
    assert all(perfect)


def test_annotators_without_an_error_still_leave_room() -> None:
    system = side(human_counts(RNG, 100, 0.98))
    perfect = side(np.tile([15, 0, 0], (5, 1)), first=1000)
    found = compare_with_ceiling(system, perfect, f1)
    assert perfect.estimate.value == 1
    assert found.value < 0 < found.high


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
            Side(Estimate(1.0), np.ones((3, 3)), range(3)),
            Side(Estimate(1.0), np.ones((4, 4)), range(4)),
            f1,
        )
    with pytest.raises(InputError, match="permutations"):
        permutation_p_value([[1, 0, 0]], [[1, 0, 0]], precision_recall_f1, permutations=0)


def test_what_is_swapped_at_a_time_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = RNG.poisson([6, 2, 2], (32, 3)), RNG.poisson([5, 2, 3], (32, 3))
    second[:, 0] = first[:, 0] + 1  # every note differs, so none is left out

    def p_values(**options: int) -> list[float]:
        found = permutation_p_value(first, second, precision_recall_f1, **options)
        return [float(one) for one in found]

    usual = p_values()
    assert usual == p_values(permutations=10_000, seed=0)
    monkeypatch.setattr(comparison, "_CHUNK", 7 * 32)
    assert p_values() == usual
    # One swap is as large as what was found, or not: 1 or 1/2.
    assert set(p_values(permutations=1)) <= {0.5, 1.0}
    for wrong in ({"permutations": 0}, {"seed": -1}):
        with pytest.raises(InputError):
            p_values(**wrong)


@pytest.mark.parametrize("correlation", [-0.5, 0.0, 0.5, 1.0])
def test_the_limits_of_a_difference_are_zous(correlation: float) -> None:
    one, two = Estimate(0.9, 0.8, 0.93, 0.9), Estimate(0.7, 0.65, 0.8, 0.9)
    found = difference_of_estimates(one, two, correlation=correlation)
    down = (0.1**2 + 0.1**2 - 2 * correlation * 0.1 * 0.1) ** 0.5
    up = (0.03**2 + 0.05**2 - 2 * correlation * 0.03 * 0.05) ** 0.5
    limits = (0.2, 0.2 - down, 0.2 + up)
    assert (found.value, found.low, found.high) == pytest.approx(limits, abs=1e-7)
    assert found.level == 0.9


def test_one_shared_note_tells_nothing_of_correlation() -> None:
    one, two = RNG.poisson([6, 2, 2], (20, 3)), RNG.poisson([5, 2, 3], (20, 3))
    apart = difference_of_estimates(side(one).estimate, side(two).estimate)
    assert compare_with_ceiling(side(one), side(two, first=19), f1) == apart
    assert compare_with_ceiling(side(one), side(two, first=18), f1) != apart


def test_the_verdict_is_that_of_the_interval() -> None:
    inside = margin_test(Estimate(0.0, -0.029, 0.029, 0.95), 0.03)
    assert inside.non_inferior and inside.equivalent
    worse = margin_test(Estimate(-0.02, -0.031, -0.009, 0.95), 0.03)
    assert not worse.non_inferior and not worse.equivalent
    better = margin_test(Estimate(0.03, 0.01, 0.05, 0.95), 0.03)
    assert better.non_inferior and not better.equivalent
    unknown = margin_test(Estimate(0.0), 0.03)
    assert not unknown.non_inferior and np.isnan(unknown.p_non_inferior)


def test_the_p_value_is_one_sided() -> None:
    # The lower limit is at minus the margin: p is a half of 1 - .95.
    assert margin_test(Estimate(0.0, -0.03, 0.03, 0.95), 0.03).p_non_inferior == pytest.approx(
        0.025
    )


def test_many_comparisons_are_adjusted() -> None:
    one = margin_test(Estimate(0.0, -0.028, 0.028, 0.95), 0.03)
    assert one.non_inferior
    assert not any(test.non_inferior for test in adjust_margin_tests([one] * 5))
    assert adjust_margin_tests([]) == []


def test_a_margin_is_above_0() -> None:
    with pytest.raises(InputError, match="margin"):
        margin_test(Estimate(0.0, -0.1, 0.1, 0.95), 0.0)


p_lists = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@given(p_lists)
@settings(max_examples=25, deadline=None)  # statsmodels' Holm takes .1 s a call
def test_agrees_with_statsmodels(p_values: list[float]) -> None:
    assert np.allclose(adjust_p_values(p_values), multipletests(p_values, method="holm")[1])
    ours = adjust_p_values(p_values, method="benjamini-hochberg")
    assert np.allclose(ours, multipletests(p_values, method="fdr_bh")[1])


@given(p_lists)
def test_undefined_tests_do_not_count(p_values: list[float]) -> None:
    mixed = adjust_p_values([np.nan, *p_values, np.nan])
    assert np.isnan(mixed[[0, -1]]).all()
    assert np.array_equal(mixed[1:-1], adjust_p_values(p_values))


def test_nothing_to_adjust() -> None:
    assert adjust_p_values([]).tolist() == []


def test_bad_input_is_refused() -> None:
    for bad in ([1.5], [-0.1], [[0.1]]):
        with pytest.raises(InputError):
            adjust_p_values(bad)
    with pytest.raises(InputError, match="method"):
        adjust_p_values([0.1], method="bonferroni")  # type: ignore[arg-type]
