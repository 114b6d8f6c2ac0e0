"""Sizes for kappa, ICC, AUC, non-inferiority, from a pilot, and with looks at the data."""

from __future__ import annotations

import numpy as np
import pytest

from rubricate.errors import InputError
from rubricate.stats import (
    Estimate,
    auc_size,
    cluster_design_effect,
    icc_size,
    icc_test_size,
    kappa_size,
    non_inferiority_independent_size,
    non_inferiority_size,
    plan_pilot,
    plan_sequential,
    proportion_interval,
)
from rubricate.stats.agreement_sizes import icc_width_chance, kappa_limits
from rubricate.stats.more_sizes import crossed, obrien_fleming

RNG = np.random.default_rng(2)


def test_kappa_has_the_width_in_simulation() -> None:
    kappa, share = 0.8, 0.3
    n = kappa_size(kappa, share, 0.1)
    both, one = share**2 + share * (1 - share) * kappa, share * (1 - share) * (1 - kappa)
    tables = RNG.multinomial(n, [both, one, one, 1 - both - 2 * one], size=20_000)
    a, b, c, d = tables.T
    found = 2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d))
    assert 1.96 * found.std() == pytest.approx(0.1, rel=0.05)
    # The rarer the feature, the more units.
    assert kappa_size(kappa, 0.05, 0.1) > 4 * n


def test_limits_of_kappa_are_where_the_fit_fails() -> None:
    from scipy.stats import chi2

    for counts in ((40, 8, 52), (28, 10, 62), (5, 3, 92), (1, 20, 79)):
        both, one, _ = counts
        n, f = sum(counts), (2 * both + one) / 2 / sum(counts)
        v = f * (1 - f)
        for k in kappa_limits(*counts):
            fitted = n * np.array([f**2 + v * k, 2 * v * (1 - k), (1 - f) ** 2 + v * k])
            distance = ((np.array(counts) - fitted) ** 2 / fitted).sum()
            assert distance == pytest.approx(chi2.ppf(0.95, 1))
    assert kappa_limits(0, 0, 50) == (-1, 1)


@pytest.mark.parametrize(("kappa", "share"), [(0.8, 0.3), (0.6, 0.1)])
def test_kappa_has_the_width_as_often_as_asked(kappa: float, share: float) -> None:
    n = kappa_size(kappa, share, 0.1, assurance=0.9)
    both, one = share**2 + share * (1 - share) * kappa, share * (1 - share) * (1 - kappa)
    tables = RNG.multinomial(n, [both, 2 * one, 1 - both - 2 * one], size=10_000)
    low, high = kappa_limits(*tables.T)
    assert (high - low <= 0.2).mean() == pytest.approx(0.9, abs=0.015)
    assert ((low <= kappa) & (kappa <= high)).mean() == pytest.approx(0.95, abs=0.015)
    assert n > kappa_size(kappa, share, 0.1)


# Source: the mean width of the interval of Shrout and Fleiss in an independent simulation.
@pytest.mark.parametrize(("n", "width"), [(51, 0.210), (55, 0.201)])
def test_two_raters_need_the_correction_of_bonett(n: int, width: float) -> None:
    low, high = icc_intervals(n, 0.8, 2, 4000)
    assert (high - low).mean() == pytest.approx(width, abs=0.003)
    assert icc_size(0.8, 2, 0.1) == 55


def test_the_icc_has_the_width_as_often_as_asked() -> None:
    n = icc_size(0.8, 2, 0.1, assurance=0.9)
    low, high = icc_intervals(n, 0.8, 2, 4000)
    assert (high - low <= 0.2).mean() == pytest.approx(0.9, abs=0.02)
    assert icc_width_chance(51, 0.8, 2, 0.1) == pytest.approx(0.453, abs=0.005)


def icc_intervals(n: int, icc: float, k: int, studies: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of the ICC of simulated studies."""
    from scipy.stats import f

    note = RNG.normal(scale=np.sqrt(icc), size=(studies, n, 1))
    scores = note + RNG.normal(scale=np.sqrt(1 - icc), size=(studies, n, k))
    between = k * scores.mean(axis=2).var(axis=1, ddof=1)
    found = between / scores.var(axis=2, ddof=1).mean(axis=1)
    low, high = found / f.ppf(0.975, n - 1, n * (k - 1)), found * f.ppf(0.975, n * (k - 1), n - 1)
    return (low - 1) / (low + k - 1), (high - 1) / (high + k - 1)


def test_the_test_of_an_icc_has_its_power() -> None:
    assert icc_test_size(0.8, 0.6, 2, confidence=0.9) == 39  # the formula by hand
    n = icc_test_size(0.8, 0.6, 2)
    low, _ = icc_intervals(n, 0.8, 2, 4000)
    assert (low > 0.6).mean() == pytest.approx(0.8, abs=0.03)


def test_independent_rates_have_the_power_in_simulation() -> None:
    n = non_inferiority_independent_size(0.1, 0.85, 0.85)
    one, two = (RNG.binomial(n, 0.85, size=20_000) / n for _ in range(2))
    error = np.sqrt((one * (1 - one) + two * (1 - two)) / n)
    assert (one - two - 1.96 * error > -0.1).mean() == pytest.approx(0.8, abs=0.02)
    with pytest.raises(InputError, match="margin"):
        non_inferiority_independent_size(0.1, 0.75, 0.85)


def test_clusters_inflate_every_size() -> None:
    effect = cluster_design_effect(3, 0.3)
    for size, arguments in (
        (kappa_size, (0.8, 0.3, 0.1)), (icc_size, (0.8, 2, 0.1)), (icc_test_size, (0.8, 0.6, 2)),
        (auc_size, (0.9, 0.3, 0.05)), (non_inferiority_size, (0.03, 0.1)),
        (non_inferiority_independent_size, (0.1, 0.85, 0.85)),
    ):  # fmt: skip
        n = size(*arguments)
        assert size(*arguments, design_effect=effect) == pytest.approx(1.6 * n, abs=1.6)


def test_the_correlation_of_scores_has_the_width_in_simulation() -> None:
    icc, n = 0.8, icc_size(0.8, 3, 0.08)
    note = RNG.normal(scale=np.sqrt(icc), size=(4000, n, 1))
    scores = note + RNG.normal(scale=np.sqrt(1 - icc), size=(4000, n, 3))
    between = 3 * scores.mean(axis=2).var(axis=1, ddof=1)
    within = scores.var(axis=2, ddof=1).mean(axis=1)
    found = (between - within) / (between + 2 * within)
    assert 1.96 * found.std() == pytest.approx(0.08, rel=0.1)


def test_the_area_has_the_width_in_simulation() -> None:
    # Exponential scores, for which the variance is exact: the area is s / (1 + s) for a scale s.
    n = auc_size(0.9, 0.3, 0.05)
    ones, none = round(n * 0.3), n - round(n * 0.3)
    areas = []
    for _ in range(1500):
        low, high = RNG.exponential(size=none), RNG.exponential(9.0, size=ones)
        areas.append((high[:, None] > low[None, :]).mean())
    assert 1.96 * np.std(areas) == pytest.approx(0.05, rel=0.06)


def test_non_inferiority_has_the_power_in_simulation() -> None:
    n = non_inferiority_size(0.03, 0.10, power=0.8)
    tables = RNG.multinomial(n, [0.05, 0.05, 0.9], size=20_000)
    gap = (tables[:, 0] - tables[:, 1]) / n
    error = np.sqrt((tables[:, 0] + tables[:, 1]) / n - gap**2) / np.sqrt(n)
    assert (gap - 1.96 * error > -0.03).mean() == pytest.approx(0.8, abs=0.02)
    assert non_inferiority_size(0.03, 0.10, difference=0.01) < n
    with pytest.raises(InputError, match="difference"):
        non_inferiority_size(0.03, 0.10, difference=-0.03)


def test_a_pilot_gives_the_size_of_its_own_interval() -> None:
    pilot = np.repeat([[1, 0], [0, 1]], [80, 20], axis=0)

    def share(counts: np.ndarray) -> Estimate:
        return proportion_interval(counts[:, 0].sum(), len(counts))

    found = plan_pilot(pilot, share, half_width=0.05, assurance=0.9)
    # 291 independent notes at .80 (`assured_size`).
    assert found.notes == pytest.approx(291, rel=0.06)
    assert found.met >= 0.9
    assert (found.pilot.value, found.pilot_notes) == (0.8, 100)
    with pytest.raises(InputError, match="one note"):
        plan_pilot([[1, 0]], share)


#: Jennison & Turnbull (2000), Group Sequential Methods, Table 2.3: C_B(K, alpha).
CONSTANTS = {(2, 0.95): 1.977, (3, 0.95): 2.004, (4, 0.95): 2.024, (5, 0.95): 2.040,
             (10, 0.95): 2.087, (5, 0.90): 1.751, (4, 0.99): 2.609}  # fmt: skip


@pytest.mark.parametrize(("looks", "confidence"), CONSTANTS)
def test_bounds_are_the_published_ones(looks: int, confidence: float) -> None:
    bounds = obrien_fleming(looks, confidence=confidence)
    assert bounds[-1] == pytest.approx(CONSTANTS[looks, confidence], abs=6e-4)
    assert bounds[0] == pytest.approx(bounds[-1] * looks**0.5)


def test_one_look_is_the_plain_test() -> None:
    assert obrien_fleming(1)[0] == pytest.approx(1.959964, abs=1e-4)


def test_bounds_hold_in_simulation() -> None:
    walks = np.random.default_rng(2).normal(size=(200_000, 4)).cumsum(axis=1)
    z = np.abs(walks) / np.sqrt(np.arange(1, 5))
    crossing = (z >= obrien_fleming(4)).any(axis=1).mean()
    assert crossing == pytest.approx(0.05, abs=0.002)
    drifted = walks + 1.5 * np.arange(1, 5)
    above = drifted / np.sqrt(np.arange(1, 5)) >= obrien_fleming(4)
    known = crossed(float(obrien_fleming(4)[-1]), 4, 3.0)[1]
    assert above.any(axis=1).mean() == pytest.approx(known, abs=0.004)


@pytest.mark.parametrize(("looks", "factor"), [(2, 1.007), (4, 1.022), (5, 1.026)])
def test_looks_cost_what_is_published(looks: int, factor: float) -> None:
    # Table 2.4, power .9; sizes are rounded up to whole and equal parts.
    plan = plan_sequential(0.5, 0.52, looks=looks, power=0.9)
    assert plan.looks[-1].units / plan.fixed_units == pytest.approx(factor, abs=2e-3)


def test_a_plan_keeps_its_promises_with_whole_counts() -> None:
    plan = plan_sequential(0.80, 0.88, looks=4)
    assert plan.power > 0.89
    assert plan.false_alarm < 0.06
    assert plan.mean_units < plan.fixed_units
    assert sum(look.stopped for look in plan.looks) == pytest.approx(1)
    worse = plan_sequential(0.88, 0.80, looks=3)
    assert worse.power > 0.89
    assert worse.looks[-1].most is not None


def test_what_cannot_be_planned_is_refused() -> None:
    with pytest.raises(InputError, match="differ"):
        plan_sequential(0.8, 0.8)
    with pytest.raises(InputError, match="looks"):
        obrien_fleming(0)


def test_a_plan_below_the_goal_is_the_mirror_of_one_above() -> None:
    above, below = plan_sequential(0.80, 0.88), plan_sequential(0.20, 0.12)
    assert above.fixed_units == below.fixed_units
    for up, down in zip(above.looks, below.looks, strict=True):
        assert (up.units, up.z) == (down.units, down.z)
        assert up.least == (None if down.most is None else up.units - down.most)
        assert up.most == (None if down.least is None else up.units - down.least)
        assert up.stopped == pytest.approx(down.stopped, abs=0.02)
    assert above.power == pytest.approx(below.power, abs=0.02)
    assert above.false_alarm == pytest.approx(below.false_alarm, abs=0.01)
    assert above.mean_units == pytest.approx(below.mean_units, rel=0.02)
    assert above.mean_units == pytest.approx(sum(one.units * one.stopped for one in above.looks))


def test_counts_to_stop_at_are_the_first_beyond_the_bound() -> None:
    plan = plan_sequential(0.80, 0.88, seed=0)
    assert plan == plan_sequential(0.80, 0.88, looks=4)
    for look in plan.looks:

        def z(count: int, n: int = look.units) -> float:
            return float((count / n - 0.8) / (0.8 * 0.2 / n) ** 0.5)

        if look.least is not None:
            assert z(look.least) >= look.z > z(look.least - 1)
        if look.most is not None:
            assert z(look.most) <= -look.z < z(look.most + 1)
    assert (obrien_fleming(1).size, len(plan_sequential(0.5, 0.7, looks=1).looks)) == (1, 1)
