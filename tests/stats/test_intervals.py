"""Intervals of proportions and of F1, of single units and of clusters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binom
from statsmodels.stats.meta_analysis import combine_effects
from statsmodels.stats.proportion import proportion_confint

from rubricate.errors import InputError
from rubricate.stats import (
    METHODS,
    Estimate,
    Method,
    Resampling,
    bootstrap_interval,
    cluster_interval,
    f1_corner_interval,
    f1_interval,
    heterogeneity,
    proportion_interval,
    proportion_limits,
    random_effects,
    ratio,
    summarise_clusters,
    true_f1_limits,
)
from rubricate.stats import intervals as limits_module

counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
confidences = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99])
STATSMODELS = {"clopper-pearson": "beta", "wilson": "wilson", "jeffreys": "jeffreys"}


@pytest.mark.parametrize("method", STATSMODELS)
@given(counts=counts, confidence=confidences)
def test_agrees_with_statsmodels(
    method: Method, counts: tuple[int, int], confidence: float
) -> None:
    x, n = counts
    ours = proportion_interval(x, n, method=method, confidence=confidence)
    low, high = proportion_confint(x, n, alpha=1 - confidence, method=STATSMODELS[method])
    if method != "jeffreys" or x > 0:
        assert ours.low == pytest.approx(low, abs=1e-9)
    if method != "jeffreys" or x < n:
        assert ours.high == pytest.approx(high, abs=1e-9)


@given(counts=counts, confidence=confidences)
def test_mid_p_inverts_the_mid_p_tails(counts: tuple[int, int], confidence: float) -> None:
    x, n = counts
    tail = (1 - confidence) / 2
    ours = proportion_interval(x, n, method="mid-p", confidence=confidence)

    def upper_tail(p: float) -> float:
        return float(binom.sf(x, n, p) + binom.pmf(x, n, p) / 2 - tail)

    def lower_tail(p: float) -> float:
        return float(binom.cdf(x - 1, n, p) + binom.pmf(x, n, p) / 2 - tail)

    low = 0.0 if x == 0 else brentq(upper_tail, 0, 1, xtol=1e-13)
    high = 1.0 if x == n else brentq(lower_tail, 0, 1, xtol=1e-13)
    assert (ours.low, ours.high) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
@given(counts=counts, confidence=confidences)
def test_encloses_the_estimate_and_is_symmetric(
    method: Method, counts: tuple[int, int], confidence: float
) -> None:
    x, n = counts
    here = proportion_interval(x, n, method=method, confidence=confidence)
    there = proportion_interval(n - x, n, method=method, confidence=confidence)
    assert 0 <= here.low <= x / n <= here.high <= 1
    assert (here.low, here.high) == pytest.approx((1 - there.high, 1 - there.low), abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_no_trials_means_nothing_is_known(method: Method) -> None:
    interval = proportion_interval(0, 0, method=method)
    assert (interval.low, interval.high, interval.width) == (0, 1, 1)


@pytest.mark.parametrize("method", METHODS)
def test_limits_of_arrays_equal_limits_one_by_one(method: Method) -> None:
    x, n = np.array([0, 3, 10, 0, 1.5]), np.array([10, 10, 10, 0, 7.25])
    low, high = proportion_limits(x, n, method=method)
    for i in range(len(x)):
        one = proportion_interval(x[i], n[i], method=method)
        assert (low[i], high[i]) == pytest.approx((one.low, one.high), abs=1e-12)


@pytest.mark.parametrize(
    ("x", "n", "options"),
    [
        (5, 4, {}),
        (-1, 4, {}),
        (float("nan"), 4, {}),
        (1, 4, {"confidence": 1.0}),
        (1, 4, {"confidence": 0.0}),
        (1, 4, {"method": "wald"}),
    ],
)
def test_bad_input_is_refused(x: float, n: float, options: dict[str, object]) -> None:
    with pytest.raises(InputError):
        proportion_interval(x, n, **options)  # type: ignore[arg-type]


def test_all_faults_are_reported_at_once() -> None:
    with pytest.raises(InputError) as caught:
        proportion_interval(5, 4, confidence=2, method="wald")  # type: ignore[arg-type]
    assert len(caught.value.faults) == 3


@given(st.integers(0, 200), st.integers(0, 100), st.integers(0, 100))
def test_f1_limits_enclose_f1_and_lie_inside_the_corners(tp: int, fp: int, fn: int) -> None:
    inner, outer = f1_interval(tp, fp, fn), f1_corner_interval(tp, fp, fn)
    if tp + fp + fn:
        f1 = 2 * tp / (2 * tp + fp + fn)
        assert inner.low - 1e-12 <= f1 <= inner.high + 1e-12
        assert outer.low - 1e-12 <= f1 <= outer.high + 1e-12
    else:
        assert (inner.low, inner.high) == (0, 1)


def test_f1_of_nothing_found() -> None:
    assert f1_interval(0, 3, 4).low == 0
    assert f1_corner_interval(0, 3, 4).low == 0
    assert f1_interval(5, 0, 0).high == 1


def coverage(p: float, n: int, method: Method = "clopper-pearson") -> float:
    """Return the probability, over all outcomes, that the interval covers the proportion."""
    x = np.arange(n + 1)
    low, high = proportion_limits(x, n, method=method)
    return float(binom.pmf(x, n, p)[(low <= p) & (p <= high)].sum())


# Source: own simulations in the project's notes on intervals; exact sums reproduce them.
def test_wilson_undercovers_near_one() -> None:
    assert coverage(0.99, 100, method="wilson") == pytest.approx(0.921, abs=5e-4)


@given(st.floats(0.01, 0.99), st.integers(1, 150))
def test_clopper_pearson_never_undercovers(p: float, n: int) -> None:
    assert coverage(p, n) >= 0.95 - 1e-12


def test_an_estimate_goes_to_json_and_back() -> None:
    full = Estimate(0.5, 0.4, 0.6, 0.95, "wilson")
    assert full.to_dict() == {
        "value": 0.5, "low": 0.4, "high": 0.6, "level": 0.95, "method": "wilson"
    }  # fmt: skip
    assert Estimate.from_dict(full.to_dict()) == full
    bare = Estimate(0.5)
    assert bare.to_dict() == {
        "value": 0.5, "low": None, "high": None, "level": None, "method": ""
    }  # fmt: skip
    again = Estimate.from_dict(bare.to_dict())
    assert again.value == 0.5
    assert not again.has_interval


def test_an_estimate_needs_both_limits_to_have_an_interval() -> None:
    assert Estimate(0.5, 0.4, 0.6).has_interval
    assert not Estimate(0.5, 0.4).has_interval
    assert not Estimate(0.5, high=0.6).has_interval
    assert not Estimate(float("nan"), 0.4, 0.6).is_defined
    assert str(Estimate(0.5, 0.4)) == "0.500"


def test_intervals_come_with_their_value() -> None:
    assert proportion_interval(3, 4).value == 0.75
    assert math.isnan(proportion_interval(0, 0).value)
    for function in (f1_interval, f1_corner_interval):
        assert function(3, 1, 2).value == pytest.approx(6 / 9)
        assert function(0, 0, 2).value == 0
        assert math.isnan(function(0, 0, 0).value)


def test_few_steps_find_the_mid_p_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [(x, n) for n in (1, 2, 7, 40, 300) for x in sorted({0, 1, n // 3, n - 1, n})]
    usual = [proportion_interval(x, n, method="mid-p") for x, n in cases]
    monkeypatch.setattr(limits_module, "_NEWTON_STEPS", 8)
    for (x, n), many in zip(cases, usual, strict=True):
        few = proportion_interval(x, n, method="mid-p")
        assert (few.low, few.high) == pytest.approx((many.low, many.high), rel=1e-9)


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


def test_random_effects_are_metafors() -> None:
    # metafor, dat.bcg, method "DL", test = "knha"; mean of help(rma.uni): -0.7141, tau^2 0.3088
    a, b, c, d = np.array([
        [4, 119, 11, 128], [6, 300, 29, 274], [3, 228, 11, 209], [62, 13536, 248, 12619],
        [33, 5036, 47, 5761], [180, 1361, 372, 1079], [8, 2537, 10, 619],
        [505, 87886, 499, 87892], [29, 7470, 45, 7232], [17, 1699, 65, 1600],
        [186, 50448, 141, 27197], [5, 2493, 3, 2338], [27, 16886, 29, 17825],
    ], dtype=float).T  # fmt: skip
    effects = np.log(a / (a + b) / (c / (c + d)))
    variances = 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)
    found = random_effects(effects, variances)
    assert round(found.mean.value, 4) == -0.7141
    theirs = combine_effects(effects, variances, method_re="dl", use_t=True)
    hartung = theirs.conf_int(use_t=True)[3]  # random effects with the scale of Hartung and Knapp
    assert (found.mean.low, found.mean.high) == pytest.approx(hartung, rel=1e-6)
    assert found.prediction.low < found.mean.low < found.mean.high < found.prediction.high


def test_two_sites_predict_nothing_and_one_has_no_interval() -> None:
    two = random_effects([1.0, 2.0], [0.1, 0.1])
    assert two.mean.has_interval and not two.prediction.has_interval
    one = random_effects([1.0], [0.1])
    assert one.mean.value == 1.0 and not one.mean.has_interval


def test_predictions_hold_another_site() -> None:
    rng = np.random.default_rng(4)
    held = 0
    for _ in range(400):
        sites = rng.normal(1.5, 0.6, 9)
        seen = sites[:8] + rng.normal(0, 0.3, 8)
        found = random_effects(seen, np.full(8, 0.09)).prediction
        held += found.low <= sites[8] <= found.high
    assert held / 400 >= 0.95 - 3.5 * 0.011


def test_a_faultless_system_is_below_one_against_people_who_err() -> None:
    rng = np.random.default_rng(5)
    truth = rng.random(200_000) < 0.6

    def annotate(share: float) -> np.ndarray:
        return truth ^ (rng.random(len(truth)) < share)

    def agreement(one: np.ndarray, two: np.ndarray) -> float:
        return float(2 * (one & two).sum() / (one.sum() + two.sum()))

    first, second, system = annotate(0.06), annotate(0.06), annotate(0.04)
    best, low, high = true_f1_limits(agreement(system, first), agreement(first, second))
    assert best == pytest.approx(agreement(truth, first), abs=0.01)
    assert low <= agreement(system, truth) <= high
    assert true_f1_limits(1.0, 1.0) == (1.0, 1.0, 1.0)
