"""Differences between systems that rest on few errors."""

from __future__ import annotations

import numpy as np
import pytest
from difference_coverage import SETTINGS, difference, rates, study

from rubricate.stats import Discordance, Resampling, compare_paired, margin_test
from rubricate.stats.discordance import limit_by_discordance
from rubricate.stats.resampling import bootstrap_interval, f1, precision_recall_f1


def test_the_same_errors_in_three_notes_show_nothing() -> None:
    counts = [[12, 1, 0], [11, 0, 2], [13, 0, 0]]
    found = compare_paired(counts, counts, f1, permutations=50)
    gap = found.difference.at()
    assert gap.value == 0
    assert gap.low < -0.05 and gap.high > 0.05
    test = margin_test(gap, 0.05)
    assert not test.non_inferior
    assert 0.025 < test.p_non_inferior < 0.5


def test_many_notes_on_which_systems_differ_leave_the_bootstrap_alone() -> None:
    rng = np.random.default_rng(2)
    one, two = rng.poisson([9, 2, 2], (90, 3)), rng.poisson([9, 3, 3], (90, 3))
    options = Resampling(300, method="percentile")
    found = compare_paired(one, two, f1, options, permutations=1).difference
    plain = bootstrap_interval(
        np.stack([one, two], axis=1), lambda s: f1(s[..., 0, :]) - f1(s[..., 1, :]), options
    )
    assert (found.low, found.high) == (plain.low, plain.high)
    assert not found.by_items


def test_swapping_the_systems_swaps_the_limits() -> None:
    rng = np.random.default_rng(3)
    one, two = study(rng, 20, (0.99, 0.96), 0.3, False)
    forth, back = difference(one, two, 5), difference(two, one, 5)
    assert forth.low == pytest.approx(-back.high)
    assert forth.high == pytest.approx(-back.low)


def test_notes_that_all_favour_one_side_show_a_difference() -> None:
    # 12 notes are better by the first, none by the second: a sign test has p < .001
    found = compare_paired([[9, 0, 0]] * 20, [[8, 0, 1]] * 12 + [[9, 0, 0]] * 8, f1)
    assert found.difference.low > 0
    # and three of three do not (p .25)
    few = compare_paired([[9, 0, 0]] * 20, [[8, 0, 1]] * 3 + [[9, 0, 0]] * 17, f1)
    assert few.difference.low < 0


def test_items_that_one_side_defines_are_right_by_the_other() -> None:
    first, second = np.array([[np.nan, np.nan, 1.0]]).T, np.array([[0.0, np.nan, 1.0]]).T
    found = Discordance.of_items(first, second, np.array([0, 1, 2]))
    assert np.asarray(found.better).tolist() == [0.5]
    assert np.asarray(found.worse).tolist() == [0.0]
    assert np.asarray(found.items).tolist() == [2.0]


def test_unequal_weights_make_items_worth_fewer() -> None:
    values = np.ones(4), np.array([1.0, 1.0, 0.0, 1.0])
    alike = Discordance.of_items(*values, np.arange(4), weights=[2, 2, 2, 2])
    apart = Discordance.of_items(*values, np.arange(4), weights=[1, 1, 6, 1])
    assert (float(np.asarray(alike.items)), float(np.asarray(alike.better))) == (4.0, 0.25)
    assert float(np.asarray(apart.items)) == pytest.approx(81 / 39)
    assert float(np.asarray(apart.better)) == pytest.approx(6 / 9)


def test_nothing_defined_has_no_limits() -> None:
    empty = np.zeros((5, 3))
    found = compare_paired(empty, empty, precision_recall_f1, permutations=1).difference
    assert np.isnan(found.low).all() and np.isnan(found.high).all()


def test_no_item_leaves_an_interval_without_width_undefined() -> None:
    still = bootstrap_interval([[1.0]] * 4, lambda sums: sums[..., 0] / 4 - 1)
    found = limit_by_discordance(still, Discordance(np.nan, np.nan, 0, 0, 0))
    assert np.isnan(found.low) and np.isnan(found.high)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_intervals_hold_where_errors_are_few(setting: tuple[int, float, float]) -> None:
    notes, first, second = setting
    covered, shown, _ = rates(notes, (first, second), 0.3, False, studies=100)
    # four standard errors of 100 studies
    assert covered >= 0.94 - 4 * 0.0237
    assert shown <= 0.025 + 4 * 0.0156


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_differences_cover_as_often_as_they_say(setting: tuple[int, float, float]) -> None:
    notes, first, second = setting
    covered, shown, _ = rates(notes, (first, second), 0.3, False, studies=300)
    # three standard errors of 300 studies; benchmarks/difference_coverage.py draws more
    assert covered >= 0.94 - 3 * 0.0137
    assert shown <= 0.03 + 3 * 0.0098
