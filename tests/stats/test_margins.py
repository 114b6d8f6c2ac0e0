"""Differences against a margin."""

from __future__ import annotations

import numpy as np
import pytest

from rubricate.errors import InputError
from rubricate.stats import Estimate, adjust_margin_tests, margin_test


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
