from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from rubricate.errors import InputError
from rubricate.scoring.risk_bounds import (
    RouteExpected,
    betting_p_value,
    binomial_p_value,
    plan_route,
    upper_limits,
)


@pytest.mark.parametrize(("errors", "accepted"), [(0, 149), (3, 400), (1, 50)])
def test_the_binomial_test_inverts_to_clopper_pearson(errors: int, accepted: int) -> None:
    found = upper_limits(
        lambda limit: binomial_p_value([errors], [accepted], limit),
        np.array([errors / accepted]),
        0.95,
    )
    # Clopper & Pearson (1934), one-sided, in its beta form.
    assert found[0] == pytest.approx(beta.ppf(0.95, errors + 1, accepted - errors), abs=1e-6)


def test_nothing_accepted_proves_nothing() -> None:
    assert binomial_p_value([0], [0], 0.02)[0] == 1.0
    assert betting_p_value(np.zeros((1, 500)), np.zeros((1, 500)), 0.02, 5)[0] == 1.0


def test_betting_needs_about_as_many_faultless_notes_as_the_binomial_test() -> None:
    def faultless(n: int) -> float:
        return float(betting_p_value(np.zeros((1, n)), np.full((1, n), 8), 0.02, 8)[0])

    assert faultless(149) > 0.05 > faultless(170)


@pytest.mark.parametrize("together", [False, True])
def test_betting_rejects_a_true_hypothesis_no_more_often_than_it_may(together: bool) -> None:
    rng = np.random.default_rng(7)
    n_tests, n_notes, most, limit = 4000, 120, 6, 0.1
    if together:
        # All items of a note go wrong at once: the worst dependence there is.
        wrong = np.repeat(rng.random((n_tests, n_notes, 1)) < limit, most, axis=2)
    else:
        wrong = rng.random((n_tests, n_notes, most)) < limit
    accepted = rng.random((n_tests, n_notes, most)) < 0.8
    p_value = betting_p_value((wrong & accepted).sum(axis=2), accepted.sum(axis=2), limit, most)
    for level in (0.05, 0.1, 0.3):
        # Three standard errors of the simulation above the level.
        assert (p_value <= level).mean() <= level + 3 * np.sqrt(level * (1 - level) / n_tests)


def test_betting_finds_what_is_there() -> None:
    rng = np.random.default_rng(8)
    wrong = rng.random((50, 400, 6)) < 0.02
    p_value = betting_p_value(wrong.sum(axis=2), np.full((50, 400), 6), 0.1, 6)
    assert (p_value < 0.01).mean() > 0.95


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
