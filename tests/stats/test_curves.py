"""Curves of the sample size, and one sample for several variables."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubricate.errors import InputError
from rubricate.stats import (
    Expected,
    FrequencyKind,
    Target,
    plan_assurance,
    plan_curve,
    plan_reported,
    plan_slice,
    plan_variables,
    proportion_limits,
)
from rubricate.stats.curves import reported_chances
from rubricate.stats.planning import Sampling
from rubricate.stats.sizes import first_size

ASTHMA = Expected(0.85, 0.80, 0.48)


def test_a_curve_runs_through_its_plan() -> None:
    expected = Expected(0.86, 0.80, 0.48)
    for method in ("assurance", "slice"):
        plan = plan_assurance(expected) if method == "assurance" else plan_slice(expected)
        for vary in ("precision", "recall", "frequency"):
            curve = plan_curve(expected, Target(), vary=vary, method=method)  # type: ignore[arg-type]
            assert curve[getattr(expected, vary)] == plan.total


def test_rarer_variables_need_more_notes() -> None:
    curve = plan_curve(ASTHMA, Target(half_width=0.1), vary="frequency", method="assurance")
    assert list(curve.values()) == sorted(curve.values(), reverse=True)
    assert min(curve) == 0.02 and 0.8 < max(curve) < ASTHMA.highest_frequency


def test_impossible_values_are_left_out_not_fatal() -> None:
    often = Expected(0.85, 0.80, 0.78)
    curve = plan_curve(often, Target(), vary="recall", method="assurance")
    assert min(curve) > 0.5 and max(curve) == 0.98


# Source: Canales et al. 2021, phase 2 (519 notes, 249 positive, six hospitals of 87), at the
# frequency .48 that reproduces them.
def test_the_asthma_study() -> None:
    plan = plan_slice(Expected(0.85, 0.80, 0.48), sites=6)
    assert (plan.n_precision, plan.n_recall) == (214, 265)
    assert (plan.cells.tp, plan.cells.fp, plan.cells.fn) == (212, 37, 53)
    assert (plan.positives, plan.negatives, plan.total) == (249, 270, 519)
    site = plan.per_site
    assert (site.positives, site.negatives, site.total) == (42, 45, 87)


# Source: the program run at the printed frequency .485.
def test_the_asthma_study_at_its_printed_frequency() -> None:
    assert plan_slice(Expected(0.85, 0.80, 0.485)).total == 514
    assert plan_slice(Expected(0.85, 0.80, 0.485, "external")).total == 546


# Source: the program's own test.
@pytest.mark.parametrize(("kind", "tn", "total"), [("internal", 581, 883), ("external", 529, 831)])
def test_its_own_example(kind: FrequencyKind, tn: int, total: int) -> None:
    plan = plan_slice(Expected(0.80, 0.85, 0.30, kind))
    cells = plan.cells
    assert (cells.tp, cells.fp, cells.fn, cells.tn) == (212, 53, 37, tn)
    assert (plan.positives, plan.total) == (265, total)


def _program(expected: Expected, half_width: float) -> tuple[int, int]:
    """Positives and total by the described rule, one scenario a column."""
    p, r, f = expected.precision, expected.recall, expected.frequency
    tables = []
    for tp in (first_size(p, half_width) * p, first_size(r, half_width) * r):
        fp, fn = tp * (1 - p) / p, tp * (1 - r) / r
        found = tp + fp if expected.frequency_kind == "internal" else tp + fn
        tables.append((tp, fp, fn, max(0.0, found / f - tp - fp - fn)))
    tp, fp, fn, tn = (round(max(cell)) for cell in zip(*tables, strict=True))
    return tp + fp, tp + fp + fn + tn


@given(
    st.floats(0.05, 0.99),
    st.floats(0.05, 0.99),
    st.floats(0.02, 0.98),
    st.sampled_from(["internal", "external"]),
)
@settings(max_examples=60, deadline=None)
def test_the_rule_as_described(p: float, r: float, f: float, kind: FrequencyKind) -> None:
    expected = Expected(p, r, f, kind)
    plan = plan_slice(expected, half_width=0.1)
    positives, total = _program(expected, 0.1)
    # Exact halves may round either way when the operations are ordered differently.
    assert abs(plan.positives - positives) <= 1
    assert abs(plan.total - total) <= 2


def test_an_impossible_frequency_is_computed_but_not_in_silence() -> None:
    plan = plan_slice(Expected(0.85, 0.30, 0.90))
    assert plan.cells.tn == 0
    assert any("frequency 0.9 is impossible" in warning for warning in plan.warnings)
    assert not plan.met
    possible = plan_slice(Expected(0.85, 0.80, 0.48))
    assert not any("impossible" in warning for warning in possible.warnings)


@pytest.mark.parametrize("name", ["precision", "recall", "frequency"])
@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, 1.1, float("nan")])
def test_values_that_break_the_program_are_refused(name: str, value: float) -> None:
    values = {"precision": 0.85, "recall": 0.80, "frequency": 0.48, name: value}
    with pytest.raises(InputError, match=name):
        Expected(**values)


def test_bad_options_are_refused() -> None:
    with pytest.raises(InputError, match="sites"):
        plan_slice(Expected(0.85, 0.80, 0.48), sites=0)
    with pytest.raises(InputError, match="half-width"):
        plan_slice(Expected(0.85, 0.80, 0.48), half_width=0.5)
    with pytest.raises(InputError, match="frequency-kind"):
        Expected(0.85, 0.80, 0.48, "other")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("expected", "precision", "recall"),
    [(ASTHMA, 0.923, 0.530), (Expected(0.80, 0.85, 0.30), 0.537, 0.976)],
)
def test_slice_says_what_its_own_plan_promises(
    expected: Expected, precision: float, recall: float
) -> None:
    plan = plan_slice(expected, simulate=False)
    told = plan.met["clopper-pearson"]
    assert told["precision"] == pytest.approx(precision, abs=0.0005)
    assert told["recall"] == pytest.approx(recall, abs=0.0005)
    # Repeated studies of fixed positives and negatives, whose notes that hold the variable vary.
    rng = np.random.default_rng(0)
    p, r, f = expected.precision, expected.recall, expected.frequency
    tp = rng.binomial(plan.positives, p, size=4000)
    fn = rng.binomial(plan.negatives, f * p * (1 - r) / r / (1 - f), size=4000)
    for n, chance in ((np.full(4000, plan.positives), precision), (tp + fn, recall)):
        low, high = proportion_limits(tp, n)
        assert (high - low < 0.1).mean() == pytest.approx(chance, abs=0.03)
    said = " ".join(plan.warnings)
    assert f"{precision:.1%}" in said
    assert f"{recall:.1%}" in said


def test_slice_says_what_a_study_would_report() -> None:
    plan = plan_slice(ASTHMA)
    # With the intervals that a study reports, 99 % of simulated studies meet the width.
    assert plan.met["design-posterior"]["precision"] == pytest.approx(0.99, abs=0.01)
    assert plan.met["design-posterior"]["recall"] >= 0.99


def test_the_chance_is_that_of_simulated_studies() -> None:
    plan = plan_reported(ASTHMA, Target(drawing="fixed", assurance=0.8))
    rng, met = np.random.default_rng(0), []
    missed = 0.48 * 0.85 * 0.20 / 0.80 / 0.52
    for _ in range(200):
        tp, fn = rng.binomial(plan.positives, 0.85), rng.binomial(plan.negatives, missed)
        precise = rng.beta(tp + 0.5, plan.positives - tp + 0.5, size=4000)
        right, lost = (
            0.48 * precise,
            0.52 * rng.beta(fn + 0.5, plan.negatives - fn + 0.5, size=4000),
        )
        limits = [np.quantile(one, [0.025, 0.975]) for one in (precise, right / (right + lost))]
        met.append([high - low < 0.1 for low, high in limits])
    share = np.mean(met, axis=0)
    assert share.min() >= 0.74
    assert share[0] == pytest.approx(plan.met["design-posterior"]["precision"], abs=0.08)


def test_more_notes_meet_the_width_more_often() -> None:
    few, many = (reported_chances(ASTHMA, Target(), Sampling(n, n)).least for n in (180, 260))
    assert few < 0.5 < many


def test_a_small_pool_is_taken_whole() -> None:
    assert plan_reported(ASTHMA, Target(half_width=0.005), pool=100).total == 100
    assert plan_reported(ASTHMA, pool=900).total < plan_reported(ASTHMA).total
    with pytest.raises(InputError, match="below"):
        plan_reported(Expected(0.85, 0.30, 0.9))


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
