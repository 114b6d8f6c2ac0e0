"""Differences against a margin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from rubricate.errors import InputError
from rubricate.stats import Estimate, adjust_margin_tests, adjust_p_values, margin_test


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
