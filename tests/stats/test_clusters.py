"""Clustered proportions."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.meta_analysis import combine_effects

from rubricate.errors import InputError
from rubricate.stats import (
    METHODS,
    Method,
    Resampling,
    bootstrap_interval,
    cluster_interval,
    heterogeneity,
    proportion_interval,
    ratio,
    score_agreement,
    summarise_clusters,
)


def _clusters(rng: np.random.Generator, k: int, m: int, p: float, icc: float) -> np.ndarray:
    """Draw beta-binomial successes, whose intra-cluster correlation is 1 / (a + b + 1)."""
    total = 1 / icc - 1
    return rng.binomial(m, rng.beta(p * total, (1 - p) * total, size=k))


def test_two_routes_to_the_design_effect_agree() -> None:
    x = _clusters(np.random.default_rng(2), 1500, 3, 0.8, 0.3)
    m = np.full(1500, 3)
    summary = summarise_clusters(x, m)
    replicates = bootstrap_interval(
        np.stack([x, m], axis=1),
        lambda sums: ratio(sums[..., 0], sums[..., 1]),
        Resampling(keep_replicates=True),
    ).replicates
    assert replicates is not None
    binomial = summary.estimate * (1 - summary.estimate) / summary.units
    by_bootstrap = replicates.var(ddof=1) / binomial
    assert summary.design_effect == pytest.approx(1.6, abs=0.1)
    assert by_bootstrap == pytest.approx(summary.design_effect, rel=0.1)


def test_whole_clusters_of_one_mind() -> None:
    summary = summarise_clusters([3, 0] * 50, [3] * 100)
    assert summary.design_effect == pytest.approx(3 * 100 / 99)


@pytest.mark.parametrize("method", METHODS)
def test_units_alone_give_nearly_the_plain_interval(method: Method) -> None:
    x = np.repeat([1, 0], [160, 40])
    plain = proportion_interval(160, 200, method=method)
    clustered = cluster_interval(x, np.ones(200), method=method)
    assert clustered.low == pytest.approx(plain.low, abs=0.002)
    assert clustered.high == pytest.approx(plain.high, abs=0.002)


def test_units_all_alike_count_as_their_clusters() -> None:
    clustered = cluster_interval([3] * 20, [3] * 20)
    plain = proportion_interval(20, 20)
    assert clustered.high == 1
    assert clustered.low <= plain.low


def test_one_cluster_shows_nothing() -> None:
    interval = cluster_interval([3], [4])
    assert (interval.low, interval.high) == (0, 1)


def test_empty_clusters_do_not_count() -> None:
    assert summarise_clusters([2, 0, 1], [3, 0, 2]) == summarise_clusters([2, 1], [3, 2])


def test_robust_covers_where_naive_does_not() -> None:
    rng, rounds, naive, robust = np.random.default_rng(3), 400, 0, 0
    for _ in range(rounds):
        x = _clusters(rng, 200, 3, 0.8, 0.3)
        plain = proportion_interval(int(x.sum()), 600)
        wide = cluster_interval(x, np.full(200, 3))
        naive += plain.low <= 0.8 <= plain.high
        robust += wide.low <= 0.8 <= wide.high
    assert naive / rounds < 0.91
    assert robust / rounds > 0.93


@pytest.mark.parametrize(
    ("x", "m"), [([1], [0]), ([2], [1]), ([1, 2], [3]), ([-1], [3]), ([0, 0], [0, 0])]
)
def test_bad_counts_are_refused(x: list[int], m: list[int]) -> None:
    with pytest.raises(InputError):
        summarise_clusters(x, m)


def test_bad_options_are_refused() -> None:
    with pytest.raises(InputError):
        cluster_interval([1, 2], [3, 3], confidence=1)


# Shrout & Fleiss 1979, Table 2: six targets by four judges.
SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
)


def test_the_published_example() -> None:
    # Their Table 4: ICC(2,1) = .29, ICC(3,1) = .71.
    absolute, consistent = score_agreement(SHROUT_FLEISS)
    assert absolute.value == pytest.approx(0.2898, abs=0.0001)
    assert consistent.value == pytest.approx(0.7148, abs=0.0001)
    assert absolute.low < absolute.value < absolute.high


def test_a_shift_costs_absolute_agreement_only() -> None:
    scores = np.random.default_rng(0).normal(size=(60, 1)) * 3
    shifted = np.hstack([scores, scores + 2])
    absolute, consistent = score_agreement(shifted)
    assert consistent.value == pytest.approx(1)
    assert absolute.value < 0.95


def test_the_interval_covers() -> None:
    covered = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        note = rng.normal(scale=np.sqrt(0.8), size=(60, 1))
        scores = note + rng.normal(scale=np.sqrt(0.2), size=(60, 2))
        found, _ = score_agreement(scores, Resampling(resamples=300, seed=seed))
        covered.append(found.low <= 0.8 <= found.high)
    assert np.mean(covered) >= 0.9


def test_missing_scores_are_refused() -> None:
    with pytest.raises(InputError, match="every rater"):
        score_agreement([[1, np.nan], [2, 3]])
    with pytest.raises(InputError, match="two notes"):
        score_agreement([[1, 2]])


@pytest.mark.parametrize("effects", [[2.2, 1.7, 0.4], [1.0, 1.1, 0.9, 1.0], [-3.0, 0.0, 5.0]])
def test_it_is_what_statsmodels_finds(effects: list[float]) -> None:
    variances = np.linspace(0.04, 0.2, len(effects))
    known = combine_effects(np.array(effects), variances, method_re="dl")
    found = heterogeneity(effects, variances)
    assert found.q == pytest.approx(known.q)
    assert found.i_squared == pytest.approx(max(0, known.i2))
    assert found.tau_squared == pytest.approx(max(0, known.tau2))
    assert found.p_value == pytest.approx(known.test_homogeneity().pvalue)


def test_one_site_or_none_is_undefined() -> None:
    assert np.isnan(heterogeneity([3], [0.1]).q)
    assert heterogeneity([3, np.nan], [0.1, 0.1]).to_dict()["q"] is None
    with pytest.raises(InputError):
        heterogeneity([1, 2], [0.1, 0])
