"""Sizes for one proportion: the searches against the plain ones they replace."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from rubricate.errors import InputError
from rubricate.stats import METHODS, Method, proportion_limits
from rubricate.stats.sizes import (
    assured_half_width,
    assured_size,
    first_size,
    narrow_bound,
    narrow_probability,
)

proportions = st.one_of(
    st.floats(0.001, 0.999),
    st.integers(1, 99).map(lambda percent: percent / 100),
    st.floats(-4, -1).map(lambda e: 10**e),
    st.floats(-4, -1).map(lambda e: 1 - 10**e),
)
half_widths = st.one_of(st.floats(0.02, 0.49), st.sampled_from([0.02, 0.03, 0.05, 0.1, 0.25]))
levels = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99])


def _widths(x: np.ndarray, n: np.ndarray, confidence: float, method: Method) -> np.ndarray:
    low, high = proportion_limits(x, n, method=method, confidence=confidence)
    return high - low


def _linear_first(p: float, half_width: float, confidence: float, method: Method) -> int:
    """Try n = 1, 2, ... in turn, a block at a time."""
    start = 1
    while True:
        n = np.arange(start, start + 2000)
        x = np.array([round(float(size * p)) for size in n])
        narrow = np.flatnonzero(_widths(x, n, confidence, method) < 2 * half_width)
        if len(narrow):
            return int(n[narrow[0]])
        start += 2000


def _slice_first(p: float, half_width: float, confidence: float) -> int:
    """The published program's search, word for word in effect: statsmodels, one n at a time."""
    n = 0
    while True:
        n += 1
        low, high = proportion_confint(round(n * p), n, method="beta", alpha=1 - confidence)
        if high - low < 2 * half_width:
            return n


@given(proportions, half_widths, levels, st.sampled_from(METHODS))
@example(0.75, 0.09375, 0.5, "wilson")  # narrow at 2 of 2, not at 5 to 8, again at 9
@settings(max_examples=300, deadline=None)
def test_first_size_equals_the_linear_search(
    p: float, half_width: float, confidence: float, method: Method
) -> None:
    fast = first_size(p, half_width, confidence=confidence, method=method)
    assert fast == _linear_first(p, half_width, confidence, method)


@pytest.mark.parametrize("p", [0.05, 0.5, 0.8, 0.85, 0.9, 0.99])
@pytest.mark.parametrize("half_width", [0.05, 0.08])
def test_first_size_equals_the_published_program(p: float, half_width: float) -> None:
    assert first_size(p, half_width) == _slice_first(p, half_width, 0.95)


def test_first_size_at_one_point() -> None:
    for p in (0.8, 0.85, 0.99):
        assert first_size(p, 0.01) == _linear_first(p, 0.01, 0.95, "clopper-pearson")


# Source: the SLiCE program's own numbers, and Wilson's in their place.
def test_known_first_sizes() -> None:
    assert [first_size(p, 0.05) for p in (0.85, 0.80, 0.90, 0.99)] == [214, 265, 155, 36]
    assert [first_size(p, 0.05, method="wilson") for p in (0.80, 0.85)] == [245, 195]


# Source: simulations of the width's probability; exact sums give the same sizes.
def test_known_assured_sizes() -> None:
    levels = (0.80, 0.90, 0.95)
    assert [assured_size(0.80, 0.05, assurance=a) for a in levels] == [282, 291, 298]
    assert [assured_size(0.85, 0.05, assurance=a) for a in levels] == [236, 245, 252]


def test_slice_meets_its_width_in_about_half_of_the_studies() -> None:
    assert _probability(265, 0.80, 0.05) == pytest.approx(0.54, abs=0.005)
    assert _probability(214, 0.85, 0.05) == pytest.approx(0.54, abs=0.005)


def _probability(
    n: int, p: float, half_width: float, c: float = 0.95, method: Method = "clopper-pearson"
) -> float:
    size = np.array([float(n)])
    return float(narrow_probability(size, narrow_bound(size, half_width, c, method), p)[0])


def _brute_probability(n: int, p: float, half_width: float, c: float, method: Method) -> float:
    x = np.arange(n + 1)
    return float(
        binom.pmf(x, n, p)[_widths(x, np.full(n + 1, n), c, method) < 2 * half_width].sum()
    )


@given(st.integers(0, 300), proportions, half_widths, levels, st.sampled_from(METHODS))
@settings(max_examples=100, deadline=None)
def test_narrow_probability_equals_the_sum_over_outcomes(
    n: int, p: float, half_width: float, confidence: float, method: Method
) -> None:
    ours = _probability(n, p, half_width, confidence, method)
    assert ours == pytest.approx(_brute_probability(n, p, half_width, confidence, method), abs=1e-9)


@given(
    proportions, st.floats(0.06, 0.3), st.sampled_from([0.5, 0.8, 0.95]), st.sampled_from(METHODS)
)
@settings(max_examples=40, deadline=None)
def test_assured_size_is_the_first_stable_one(
    p: float, half_width: float, assurance: float, method: Method
) -> None:
    size = assured_size(p, half_width, assurance=assurance, method=method)

    def probability(n: int) -> float:
        return _brute_probability(n, p, half_width, 0.95, method)

    assert size == 1 or probability(size - 1) < assurance + 1e-9
    assert all(probability(n) > assurance - 1e-9 for n in range(size, size + 120))


@given(st.floats(0.05, 0.95), st.integers(5, 300), st.sampled_from([0.5, 0.8, 0.95]))
@settings(max_examples=60, deadline=None)
def test_assured_half_width_is_met_as_often_as_said(p: float, n: int, assurance: float) -> None:
    half = assured_half_width(n, p, assurance=assurance)
    x = np.arange(n + 1)
    met = _widths(x, np.full(n + 1, n), 0.95, "clopper-pearson") / 2 <= half + 1e-12
    assert binom.pmf(x, n, p)[met].sum() >= assurance - 1e-9


def test_nothing_is_promised_by_no_units() -> None:
    assert assured_half_width(0, 0.8) == 0.5
    assert _probability(0, 0.8, 0.05) == 0


@pytest.mark.parametrize(
    ("p", "half_width", "options"),
    [
        (0.0, 0.05, {}),
        (1.0, 0.05, {}),
        (0.8, 0.0, {}),
        (0.8, 0.5, {}),
        (0.8, 0.0005, {}),
        (0.8, 0.05, {"confidence": 1}),
        (0.8, 0.05, {"method": "wald"}),
        (0.8, 0.05, {"assurance": 1}),
    ],
)
def test_bad_values_are_refused(p: float, half_width: float, options: dict[str, object]) -> None:
    with pytest.raises(InputError):
        assured_size(p, half_width, **options)  # type: ignore[arg-type]


def test_negative_sizes_are_refused() -> None:
    with pytest.raises(InputError):
        assured_half_width(-1, 0.8)


def test_nearly_certain_is_the_widest_that_can_be() -> None:
    widest = max(_widths(np.arange(31), np.full(31, 30), 0.95, "clopper-pearson")) / 2
    assert assured_half_width(30, 0.3, assurance=np.nextafter(1, 0)) == pytest.approx(widest)
