"""Design weights and the refusal of unweighted recall."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.errors import InputError
from rubricate.stats import (
    oversampled,
    proportion_interval,
    refuse_unweighted_recall,
    stratified_posterior,
)
from rubricate.stats.weights import Stratum, design_weights

POSITIVE_FIRST = [True, False]


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 500)), min_size=1, max_size=6))
def test_weights_add_up_to_the_population(strata: list[tuple[int, int]]) -> None:
    sampled = np.array([n for n, _ in strata])
    population = sampled + [extra for _, extra in strata]
    assert (design_weights(sampled, population) * sampled).sum() == pytest.approx(population.sum())


def test_an_empty_stratum_weighs_nothing() -> None:
    assert design_weights([0, 5], [0, 10]).tolist() == [0, 2]


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
    with pytest.raises(InputError, match="predictions"):
        oversampled([1, 2], [3, 4], [True])


POSITIVES = Stratum(1000, tp=212, fp=38, predicted="positive")
NEGATIVES = Stratum(9000, fn=6, tn=244, predicted="negative")


def test_estimates_are_weighted() -> None:
    measures = stratified_posterior([POSITIVES, NEGATIVES])
    tp, fp, fn = 4 * 212, 4 * 38, 36 * 6
    assert measures.precision.value == pytest.approx(tp / (tp + fp))
    assert measures.recall.value == pytest.approx(tp / (tp + fn))
    assert measures.f1.value == pytest.approx(2 * tp / (2 * tp + fp + fn))
    for estimate in (measures.precision, measures.recall, measures.f1):
        assert estimate.low < estimate.value < estimate.high


def test_one_endless_stratum_is_jeffreys() -> None:
    measures = stratified_posterior(
        [Stratum(10**9, tp=80, fp=20, predicted="positive")], draws=100_000
    )
    jeffreys = proportion_interval(80, 100, method="jeffreys")
    assert measures.precision.low == pytest.approx(jeffreys.low, abs=0.002)
    assert measures.precision.high == pytest.approx(jeffreys.high, abs=0.002)


def test_a_population_seen_whole_has_no_width() -> None:
    measures = stratified_posterior([Stratum(10, tp=4, fp=1, fn=1, tn=4)])
    assert measures.recall.low == measures.recall.high == 0.8


def test_no_missed_note_seen_still_leaves_doubt() -> None:
    measures = stratified_posterior([POSITIVES, Stratum(9000, fn=0, tn=250, predicted="negative")])
    assert measures.recall.value == 1
    assert measures.recall.low < 0.95


def test_an_unsampled_stratum_widens() -> None:
    known = stratified_posterior([POSITIVES, NEGATIVES]).recall
    unknown = stratified_posterior(
        [POSITIVES, NEGATIVES, Stratum(500, predicted="negative")]
    ).recall
    assert unknown.width > known.width


def test_seed_decides() -> None:
    one, two, other = (stratified_posterior([POSITIVES, NEGATIVES], seed=s) for s in (1, 1, 2))
    assert one == two != other


def test_weighted_covers_where_naive_never_does() -> None:
    rng, rounds = np.random.default_rng(0), 200
    pool, f, p, r = 20_000, 0.1, 0.85, 0.80
    found = int(pool * f)
    tp, fn = round(found * p), round(found * p * (1 - r) / r)
    truth = tp / (tp + fn)
    naive = weighted = 0
    for seed in range(rounds):
        hits = int(rng.hypergeometric(tp, found - tp, 250))
        missed = int(rng.hypergeometric(fn, pool - found - fn, 250))
        plain = proportion_interval(hits, hits + missed)
        naive += plain.low <= truth <= plain.high
        interval = stratified_posterior(
            [
                Stratum(found, tp=hits, fp=250 - hits, predicted="positive"),
                Stratum(pool - found, fn=missed, tn=250 - missed, predicted="negative"),
            ],
            draws=2000,
            seed=seed,
        ).recall
        weighted += interval.low <= truth <= interval.high
    assert naive / rounds < 0.02
    assert weighted / rounds > 0.92


@pytest.mark.parametrize(
    "fields",
    [
        {"population": 10, "tp": -1},
        {"population": 3, "tp": 4},
        {"population": 10, "tp": 1, "predicted": "negative"},
        {"population": 10, "tn": 1, "predicted": "positive"},
        {"population": 10, "predicted": "maybe"},
    ],
)
def test_strata_of_impossible_counts_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(InputError):
        Stratum(**fields)  # type: ignore[arg-type]


def test_bad_options_are_refused() -> None:
    with pytest.raises(InputError, match="strata"):
        stratified_posterior([])
    with pytest.raises(InputError) as caught:
        stratified_posterior([POSITIVES], confidence=1, draws=0, prior=0)
    assert len(caught.value.faults) == 3


def test_chance_has_its_usual_draws_and_seed() -> None:
    usual = stratified_posterior([POSITIVES, NEGATIVES])
    assert usual == stratified_posterior([POSITIVES, NEGATIVES], draws=20_000, seed=0, prior=0.5)
    assert stratified_posterior([POSITIVES], draws=1).recall.value == 1.0
    with pytest.raises(InputError, match="seed"):
        stratified_posterior([POSITIVES], seed=-1)
