"""Sizes for kappa, ICC, AUC, non-inferiority, and from a pilot."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rubricate.errors import InputError
from rubricate.stats import (
    Estimate,
    Expected,
    Target,
    auc_size,
    icc_size,
    kappa_size,
    non_inferiority_size,
    plan_assurance,
    plan_pilot,
    plan_variables,
    proportion_interval,
)

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


VARIABLES = {
    "asthma": Expected(0.85, 0.80, 0.48),
    "obesity": Expected(0.90, 0.85, 0.10),
    "reflux": Expected(0.90, 0.90, 0.20, "external"),
}


def test_the_default_total_powers_all() -> None:
    plan = plan_variables(VARIABLES)
    assert plan.total == max(plan_assurance(expected).total for expected in VARIABLES.values())
    assert plan.underpowered == ()
    for outlook in plan.outlooks:
        assert outlook.half_width_precision <= 0.05 + 1e-9
        assert outlook.half_width_recall <= 0.05 + 1e-9


def test_a_small_total_leaves_rare_variables_underpowered() -> None:
    plan = plan_variables(VARIABLES, total=plan_assurance(VARIABLES["asthma"]).total)
    assert plan.underpowered == ("obesity", "reflux")
    rare = plan.outlooks[1]
    assert rare.plan.total > plan.total
    assert rare.half_width_precision > 0.05
    assert rare.detected == 57  # floor(577 * .10)


def test_each_variable_gets_what_it_needs_alone() -> None:
    for name, expected in VARIABLES.items():
        alone = plan_variables({name: expected})
        assert alone.total == plan_assurance(expected).total
        assert alone.underpowered == ()


def test_a_pool_taken_whole_is_never_underpowered() -> None:
    plan = plan_variables(VARIABLES, total=300, pool=300)
    assert plan.underpowered == ()
    assert all(outlook.half_width_recall == 0 for outlook in plan.outlooks)
    nearly = plan_variables(VARIABLES, total=299, pool=300)
    assert all(outlook.half_width_recall < 0.05 for outlook in nearly.outlooks)


def test_clusters_cost() -> None:
    free = plan_variables(VARIABLES, total=600).outlooks[0]
    costly = plan_variables(VARIABLES, total=600, design_effect=2.0).outlooks[0]
    assert costly.half_width_recall > free.half_width_recall
    assert free.powered and not costly.powered


def test_to_dict_is_json() -> None:
    read = json.loads(json.dumps(plan_variables(VARIABLES, Target(), total=600).to_dict()))
    assert read["underpowered"] == ["obesity", "reflux"]
    assert [variable["name"] for variable in read["variables"]] == list(VARIABLES)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="variables"):
        plan_variables({})
    with pytest.raises(InputError, match="total"):
        plan_variables(VARIABLES, total=0)
    assert plan_variables(VARIABLES, total=1).total == 1
