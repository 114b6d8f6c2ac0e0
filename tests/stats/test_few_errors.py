"""Limits where errors are few."""

from __future__ import annotations

import numpy as np
import pytest

from rubricate.stats import (
    Bootstrapped,
    Resampling,
    Support,
    bootstrap_interval,
    effective_items,
    limit_by_items,
    precision_recall_f1,
    proportion_interval,
)


def f1(sums: np.ndarray) -> np.ndarray:
    return precision_recall_f1(sums)[..., 2]


def found_in(missed: list[int], notes: int = 20, items: int = 15) -> Bootstrapped:
    """F1 of notes of some items, of which some are missed in the first notes."""
    counts = np.tile([items, 0, 0], (notes, 1))
    for i, n in enumerate(missed):
        counts[i] = [items - n, 0, n]
    wrong = sum(n > 0 for n in missed)
    support = Support(effective_items(counts.sum(axis=1)), wrong, notes)
    return limit_by_items(bootstrap_interval(counts, f1), support, through_jaccard=True)


def test_the_limit_is_continuous_in_the_number_of_errors() -> None:
    # By note it leapt from .832 without an error to .992 with one.
    lows = [float(found_in([1] * e).low) for e in range(13)]
    steps = -np.diff(lows)
    assert all(-0.006 < step < 0.012 for step in steps)
    assert lows[0] == pytest.approx(0.968, abs=0.002)
    assert lows[1] < 0.97


def test_five_perfect_notes_do_not_read_as_nonsense() -> None:
    # 1.000 [0.478, 1.000] by note.
    found = found_in([], notes=5)
    assert float(found.low) == pytest.approx(0.873, abs=0.001)
    assert float(found.high) == 1
    assert found.at().method == "bootstrap-bca+items"


def test_from_ten_wrong_notes_on_the_bootstrap_stands_alone() -> None:
    counts = np.tile([12, 0, 3], (20, 1))
    counts[:5] = [15, 0, 0]
    drawn = bootstrap_interval(counts, f1)
    same = limit_by_items(drawn, Support(60, 15, 20), through_jaccard=True)
    assert (same.low, same.high) == (drawn.low, drawn.high)
    assert same.at().method == "bootstrap-bca"


def test_one_item_in_each_note_is_clopper_and_pearson() -> None:
    counts = np.tile([1, 0, 0], (30, 1))
    found = limit_by_items(bootstrap_interval(counts, f1), Support(30, 0, 30))
    assert float(found.low) == pytest.approx(proportion_interval(30, 30).low)


def test_what_never_varies_between_0_and_1_has_no_limits() -> None:
    single = bootstrap_interval([[8, 1, 1]], f1)
    assert np.isnan(limit_by_items(single, Support(10, 1, 1)).low)
    weighted = bootstrap_interval([[8, 0, 0]] * 3, f1)
    assert np.isnan(limit_by_items(weighted, Support(np.nan, 0, 3)).low)


@pytest.mark.parametrize(
    ("notes", "cases", "least"), [(20, 10, 0.88), (100, 50, 0.89), (208, 26, 0.91)]
)
def test_many_small_cases_are_covered(notes: int, cases: int, least: float) -> None:
    # Plain resampling within cases covered .75, .81 and .92; see benchmarks/interval_coverage.py.
    covered = []
    for seed in range(250):
        rng = np.random.default_rng(seed)
        case = np.arange(notes) % cases
        share = rng.beta(40, 10, size=cases)
        found = rng.binomial(15, rng.beta(9 * share[case], 9 * (1 - share[case])))
        true = share.mean()
        counts = np.stack([found, 15 - found, np.zeros_like(found)], axis=1)
        limits = bootstrap_interval(counts, f1, Resampling(resamples=300, seed=seed), strata=case)
        covered.append(float(limits.low) <= 2 * true / (1 + true) <= float(limits.high))
    assert np.mean(covered) >= least


@pytest.mark.parametrize("correlation", [0.1, 0.3])
def test_near_1_the_limits_cover(correlation: float) -> None:
    # Percentiles alone covered .63 to .90 of 20 and 100 notes at an F1 of .995.
    p, odds = 0.995 / (2 - 0.995), 1 / correlation - 1
    covered = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        found = rng.binomial(15, rng.beta(p * odds, (1 - p) * odds, size=100))
        missed = 15 - found
        covered.append((limits := found_in(missed.tolist(), notes=100)).low <= 0.995 <= limits.high)
    assert np.mean(covered) >= 0.94


def test_items_of_several_groups_are_worth_what_each_is_alone() -> None:
    table = np.array([[3, 1, 0], [5, 1, 0], [0, 2, 0]])
    together = effective_items(table)
    assert together == pytest.approx([float(effective_items(column)) for column in table.T])
    # 8 items, of which one meets 34 / 8 in its note.
    assert together[0] == pytest.approx(8 / (1 + (34 / 8 - 1) * 0.3)) and together[2] == 0


def still(value: float) -> Bootstrapped:
    at = np.array(value)
    return Bootstrapped(at, at, at, np.array(0.0), 0.95, "bca")


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_all_or_nothing_is_limited_by_items(value: float) -> None:
    plain = proportion_interval(int(20 * value), 20)
    found = limit_by_items(still(value), Support(20, 0, 20))
    assert (float(found.low), float(found.high)) == pytest.approx((plain.low, plain.high))
    f1_like = limit_by_items(still(value), Support(20, 0, 20), through_jaccard=True)
    expected = [2 * one / (1 + one) for one in (plain.low, plain.high)]
    assert [float(f1_like.low), float(f1_like.high)] == pytest.approx(expected)
    half = proportion_interval(round(20 * (1 + value) / 2), 20)
    doubled = limit_by_items(still(value), Support(20, 0, 20), twice=True)
    assert [float(doubled.low), float(doubled.high)] == pytest.approx([
        min(value, 2 * half.low - 1), max(value, 2 * half.high - 1)
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("value", "support"),
    [(0.5, Support(20, 0, 20)), (1.0, Support(0, 0, 20)), (0.0, Support(20, 0, np.inf))],
)
def test_what_items_say_nothing_of_has_no_limits(value: float, support: Support) -> None:
    found = limit_by_items(still(value), support)
    assert np.isnan([found.low, found.high]).all() and not found.by_items


@pytest.mark.parametrize("wrong", [0, 1, 5, 9, 10, 11])
def test_each_wrong_note_gives_the_bootstrap_a_tenth(wrong: int) -> None:
    drawn = Bootstrapped(*map(np.array, (0.9, 0.85, 0.95, 0.0)), 0.95, "bca")  # type: ignore[arg-type]
    items = proportion_interval(9, 10)
    for support in (Support(10, wrong, 50), Support(10, 50, wrong)):
        found = limit_by_items(drawn, support)
        part = max(0, 10 - wrong) / 10
        assert float(found.low) == pytest.approx((1 - part) * 0.85 + part * items.low)
        assert float(found.high) == pytest.approx((1 - part) * 0.95 + part * items.high)
        assert bool(found.by_items) == (wrong < 10)
