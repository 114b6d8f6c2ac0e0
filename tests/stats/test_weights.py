"""Design weights and the refusal of unweighted recall."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.errors import InputError
from rubricate.stats import (
    design_weights,
    oversampled,
    precision_recall_f1,
    refuse_unweighted_recall,
    weighted_counts,
)

POSITIVE_FIRST = [True, False]


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 500)), min_size=1, max_size=6))
def test_weights_add_up_to_the_population(strata: list[tuple[int, int]]) -> None:
    sampled = np.array([n for n, _ in strata])
    population = sampled + [extra for _, extra in strata]
    assert (design_weights(sampled, population) * sampled).sum() == pytest.approx(population.sum())


def test_an_empty_stratum_weighs_nothing() -> None:
    assert design_weights([0, 5], [0, 10]).tolist() == [0, 2]


def test_weighted_counts_are_unbiased() -> None:
    rng = np.random.default_rng(0)
    population = rng.poisson(3, size=(600, 2)).astype(float)
    strata = [np.arange(100), np.arange(100, 600)]
    estimates = []
    for _ in range(400):
        rows = np.concatenate([rng.choice(s, 40, replace=False) for s in strata])
        weights = np.repeat(design_weights([40, 40], [100, 500]), 40)
        estimates.append(weighted_counts(population[rows], weights))
    assert np.mean(estimates, axis=0) == pytest.approx(population.sum(axis=0), rel=0.02)


def test_hajek_scales_to_the_population_and_keeps_ratios() -> None:
    counts, weights = np.array([[5, 1, 2], [1, 0, 3]]), [2.0, 10.0]
    plain = weighted_counts(counts, weights)
    scaled = weighted_counts(counts, weights, population=36)
    assert np.allclose(scaled, 3 * plain)
    assert np.allclose(precision_recall_f1(plain), precision_recall_f1(scaled))


# Source: f .10, 250 + 250 notes, P .85, R .80: the plain recall is expected at .973.
def test_the_example_of_the_refusal() -> None:
    detected, missed = 1000, 9000 * 0.1 * 0.85 * 0.2 / 0.8 / 0.9
    tp, fn = 250 * 0.85, 250 * missed / 9000
    assert tp / (tp + fn) == pytest.approx(0.973, abs=0.001)
    weights = design_weights([250, 250], [detected, 9000])
    recall = weights[0] * tp / (weights[0] * tp + weights[1] * fn)
    assert recall == pytest.approx(0.80)


def test_unweighted_recall_is_refused_after_oversampling() -> None:
    with pytest.raises(InputError, match="250 of 1000 predicted positives but 250 of 9000"):
        refuse_unweighted_recall([250, 250], [1000, 9000], POSITIVE_FIRST)
    refuse_unweighted_recall([250, 250], [1000, 9000], POSITIVE_FIRST, weights=[4, 36])


def test_proportional_samples_pass() -> None:
    refuse_unweighted_recall([50, 450], [1000, 9000], POSITIVE_FIRST)
    refuse_unweighted_recall([1000, 9000], [1000, 9000], POSITIVE_FIRST)
    assert not oversampled([51, 450], [1000, 9000], POSITIVE_FIRST)
    assert oversampled([53, 450], [1000, 9000], POSITIVE_FIRST)


@given(st.integers(2, 400), st.integers(1, 5000), st.integers(1, 5000))
def test_rounding_alone_is_never_oversampling(total: int, positives: int, negatives: int) -> None:
    pool = positives + negatives
    sampled = min(positives, max(1, round(total * positives / pool)))
    rest = total - sampled
    if 1 <= rest <= negatives and abs(sampled - total * positives / pool) <= 1:
        assert not oversampled([sampled, rest], [positives, negatives], POSITIVE_FIRST)


def test_sites_with_different_rates_are_no_oversampling_of_positives() -> None:
    # Site B is drawn twice as densely, positives and negatives alike, at the same frequency.
    assert not oversampled([10, 90, 20, 180], [100, 900, 100, 900], [True, False, True, False])


@pytest.mark.parametrize(
    ("sampled", "population"), [([5], [4]), ([-1], [4]), ([0, 3], [5, 5]), ([1, 2], [3])]
)
def test_bad_strata_are_refused(sampled: list[int], population: list[int]) -> None:
    with pytest.raises(InputError):
        design_weights(sampled, population)


def test_bad_weights_are_refused() -> None:
    with pytest.raises(InputError):
        weighted_counts([[1, 2]], [1, 2])
    with pytest.raises(InputError):
        weighted_counts([[1, 2]], [0], population=5)
    with pytest.raises(InputError, match="predictions"):
        oversampled([1, 2], [3, 4], [True])
