"""Several variables in one sample."""

from __future__ import annotations

import json

import pytest

from rubricate.errors import InputError
from rubricate.stats import Expected, Target, plan_assurance, plan_variables

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
