"""Adjusted p values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from rubricate.errors import InputError
from rubricate.stats import adjust_p_values

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
