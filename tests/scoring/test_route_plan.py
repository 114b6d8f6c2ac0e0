"""How many judged notes a policy needs."""

from __future__ import annotations

import numpy as np
import pytest

from rubricate.errors import InputError
from rubricate.scoring.risk_bounds import RouteExpected, betting_p_value, plan_route


def test_a_hundred_notes_at_5_percent_are_too_few() -> None:
    best = plan_route(RouteExpected(max_error=0.05, error_rate=0.0))
    likely = plan_route(RouteExpected(max_error=0.05, error_rate=0.02))
    assert 80 <= best.total <= 100
    assert likely.total > 150
    assert likely.testing == pytest.approx(0.7 * likely.total, abs=1)


def test_the_number_is_the_one_from_which_the_test_passes() -> None:
    plan = plan_route(RouteExpected(max_error=0.05, error_rate=0.0))
    for n, passes in ((plan.testing - 1, False), (plan.testing, True)):
        errors = np.zeros((1, n))
        assert bool(betting_p_value(errors, errors + 10, 0.05, 10)[0] <= 0.05) is passes


def test_independent_items_need_fewer_notes() -> None:
    notes, items = (
        plan_route(RouteExpected(max_error=0.05, error_rate=0.02, unit=unit)).total
        for unit in ("note", "item")
    )
    assert items < notes / 2


def test_an_error_that_is_not_below_the_limit_is_refused() -> None:
    with pytest.raises(InputError, match="error-rate"):
        RouteExpected(max_error=0.02, error_rate=0.02)
