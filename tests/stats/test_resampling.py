"""Bootstrap by note."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import bootstrap as scipy_bootstrap

from rubricate.errors import InputError
from rubricate.stats import (
    Bootstrapped,
    Resampling,
    Support,
    bootstrap_interval,
    effective_items,
    limit_by_items,
    precision_recall_f1,
    proportion_interval,
    resample_sums,
    resampling,
    summarise,
)
from rubricate.stats.resampling import acceleration, as_counts, quantile_each

RNG = np.random.default_rng(7)
COUNTS = RNG.poisson([8, 2, 3], size=(60, 3))


def _f1(sums: np.ndarray) -> np.ndarray:
    return precision_recall_f1(sums)[..., 2]


def test_sums_are_sums_of_whole_notes() -> None:
    # Powers of a base larger than the number of notes tell how often each note was drawn.
    n = 6
    counts = np.array([[7.0**i, 1.0] for i in range(n)])
    for code, size in resample_sums(counts, 50, np.random.default_rng(0)):
        # one note fewer is drawn, and each counts n / (n - 1) times
        digits = [round(code * (n - 1) / n) // 7**i % 7 for i in range(n)]
        assert sum(digits) == n - 1
        assert size == pytest.approx(n)


def test_strata_keep_their_sizes() -> None:
    strata = np.array(["a", "b", "a", "b", "b"])
    counts = np.stack([strata == "a", strata == "b"], axis=1).astype(float)
    sums = resample_sums(counts, 40, np.random.default_rng(0), strata=strata)
    assert np.allclose(sums, [2, 3])


def test_replicates_have_the_moments_of_the_sample() -> None:
    values = COUNTS[:, :1].astype(float)
    sums = resample_sums(values, 20_000, np.random.default_rng(0))[:, 0]
    n = len(values)
    assert sums.mean() == pytest.approx(values.sum(), rel=0.01)
    assert sums.var() == pytest.approx(n * values.var(ddof=1), rel=0.05)


def test_small_strata_do_not_shrink_the_spread() -> None:
    # Fifty cases of two notes: drawing two of two would give half of the variance.
    rng = np.random.default_rng(3)
    values, strata = rng.normal(size=(100, 1)), np.repeat(np.arange(50), 2)
    sums = resample_sums(values, 20_000, rng, strata=strata)[:, 0]
    unbiased = sum(2 * values[strata == s].var(ddof=1) for s in range(50))
    assert sums.var() == pytest.approx(unbiased, rel=0.05)


def test_chunks_cover_all_resamples() -> None:
    sums = resample_sums(np.ones((3000, 1)), 1500, np.random.default_rng(0))
    assert np.allclose(sums, 3000)


def test_same_seed_same_result() -> None:
    one, two, other = (
        bootstrap_interval(COUNTS, precision_recall_f1, Resampling(seed=seed)).low
        for seed in (1, 1, 2)
    )
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("method", ["percentile", "BCa"])
def test_agrees_with_scipy(method: str) -> None:
    def statistic(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray, axis: int = -1) -> np.ndarray:
        return 2 * tp.sum(axis) / (2 * tp.sum(axis) + fp.sum(axis) + fn.sum(axis))

    theirs = scipy_bootstrap(
        tuple(COUNTS.T.astype(float)),
        statistic,
        paired=True,
        vectorized=True,
        n_resamples=20_000,
        method=method,
        rng=np.random.default_rng(3),
    ).confidence_interval
    options = Resampling(resamples=20_000, method="bca" if method == "BCa" else "percentile")
    ours = bootstrap_interval(COUNTS, _f1, options).at()
    assert ours.low == pytest.approx(theirs.low, abs=0.002)
    assert ours.high == pytest.approx(theirs.high, abs=0.002)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_every_measure_at_once_equals_one_by_one(method: str) -> None:
    options = Resampling(method=method)  # type: ignore[arg-type]
    together = bootstrap_interval(COUNTS, precision_recall_f1, options)
    alone = bootstrap_interval(COUNTS, _f1, options)
    assert together.low[2] == pytest.approx(alone.low)
    assert together.high[2] == pytest.approx(alone.high)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_groups_share_the_resamples(method: str) -> None:
    options = Resampling(method=method)  # type: ignore[arg-type]
    other = RNG.poisson(5, size=(60, 3))
    both = bootstrap_interval(np.stack([COUNTS, other], axis=1), precision_recall_f1, options)
    assert both.estimate.shape == (2, 3)
    one = bootstrap_interval(other, precision_recall_f1, options)
    assert np.allclose(both.low[1], one.low)
    assert np.allclose(both.high[1], one.high)


def test_equal_weights_change_nothing() -> None:
    plain = bootstrap_interval(COUNTS, precision_recall_f1)
    assert np.allclose(plain.low, bootstrap_interval(2 * COUNTS, precision_recall_f1).low)


def test_undefined_replicates_are_left_out_and_told() -> None:
    # One of four notes has anything to find: (3/4)^3 = 42 % of resamples miss it.
    counts = np.array([[1, 0, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]])
    result = bootstrap_interval(counts, precision_recall_f1, Resampling(resamples=5000))
    assert result.undefined[1] == pytest.approx(0.75**3, abs=0.02)
    assert (result.low[1], result.high[1]) == (0.5, 0.5)


def test_mostly_undefined_means_no_interval() -> None:
    counts = np.zeros((40, 3))
    assert np.isnan(bootstrap_interval(counts, precision_recall_f1).low).all()
    estimate, replicates = np.array(0.5), np.array([np.nan, np.nan, np.nan, 0.5])
    plain = Resampling(method="percentile")
    assert np.isnan(summarise(estimate, replicates, plain).low)
    assert np.isnan(summarise(np.array(np.nan), np.array([0.5, 0.6]), plain).high)


def test_perfect_notes_give_no_width() -> None:
    for method in ("percentile", "bca"):
        result = bootstrap_interval(
            [[3, 0, 0]] * 10,
            precision_recall_f1,
            Resampling(method=method),  # type: ignore[arg-type]
        )
        assert np.all(result.low == 1) and np.all(result.high == 1)


def test_a_single_note_is_its_own_interval() -> None:
    result = bootstrap_interval([[3, 1, 1]], precision_recall_f1, Resampling(method="bca"))
    assert np.all(result.low == result.estimate)


@given(
    hnp.arrays(float, st.tuples(st.integers(1, 30), st.integers(1, 3)), elements=st.floats(0, 1)),
    st.data(),
)
@settings(max_examples=60)
def test_quantiles_equal_numpys(replicates: np.ndarray, data: st.DataObject) -> None:
    q = data.draw(
        hnp.arrays(float, replicates.shape[1], elements=st.floats(0, 1)), label="quantiles"
    )
    expected = [np.quantile(replicates[:, j], q[j]) for j in range(replicates.shape[1])]
    assert np.allclose(quantile_each(replicates, q), expected)


def test_quantiles_leave_out_nan() -> None:
    replicates = np.array([[np.nan, np.nan], [1.0, np.nan], [2.0, np.nan]])
    low = quantile_each(replicates, np.array([0.5, 0.5]))
    assert low[0] == 1.5 and np.isnan(low[1])


def test_acceleration_by_hand() -> None:
    values = np.array([1.0, 2.0, 6.0])
    gap = values.mean() - values
    expected = (gap**3).sum() / (6 * (gap**2).sum() ** 1.5)
    assert acceleration(values) == pytest.approx(expected)
    assert acceleration(np.append(values, np.nan)) == pytest.approx(expected)
    assert acceleration(np.ones(4)) == 0


def test_replicates_only_on_request() -> None:
    assert bootstrap_interval(COUNTS, _f1).replicates is None
    kept = bootstrap_interval(COUNTS, _f1, Resampling(keep_replicates=True)).replicates
    assert kept is not None and kept.shape == (2000,)


def test_covers_as_often_as_it_says() -> None:
    rng, hits, rounds = np.random.default_rng(0), 0, 300
    for seed in range(rounds):
        found = rng.binomial(6, rng.beta(4, 1, size=80))
        counts = np.stack([found, rng.poisson(1, 80), 6 - found], axis=1)
        interval = bootstrap_interval(counts, precision_recall_f1, Resampling(400, seed=seed))
        hits += bool(interval.low[1] <= 0.8 <= interval.high[1])
    assert 0.91 <= hits / rounds <= 0.98


@pytest.mark.parametrize(
    ("counts", "options"),
    [
        (np.zeros((0, 3)), {}),
        (np.zeros(3), {}),
        (np.array([[np.nan, 0, 0]]), {}),
        (COUNTS, {"strata": np.ones(3)}),
    ],
)
def test_bad_input_is_refused(counts: np.ndarray, options: dict[str, np.ndarray]) -> None:
    with pytest.raises(InputError):
        bootstrap_interval(counts, precision_recall_f1, **options)


def test_a_statistic_that_drops_axes_is_refused() -> None:
    with pytest.raises(InputError, match="leading axes"):
        bootstrap_interval(COUNTS, lambda sums: np.asarray(sums.sum()))


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        Resampling(resamples=0, confidence=1, method="basic", seed=-1)  # type: ignore[arg-type]
    assert len(caught.value.faults) == 4


def test_the_acceleration_is_efrons() -> None:
    values = np.array([[0.50, 0.9], [0.52, np.nan], [0.60, 0.7], [0.51, 0.9]])
    for strata in ([0, 0, 0, 0], [0, 1, 0, 1]):
        means = [np.nanmean(values[np.equal(strata, own)], axis=0) for own in strata]
        d = np.nan_to_num(means - values)
        expected = (d**3).sum(axis=0) / (6 * (d**2).sum(axis=0) ** 1.5)
        assert acceleration(values, strata) == pytest.approx(expected)
    assert acceleration(np.full((3, 1), 0.5)).tolist() == [0.0]


@pytest.mark.parametrize("at_a_time", [1, 7, 10_000])
def test_what_is_drawn_at_a_time_changes_nothing(
    at_a_time: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    strata = np.arange(60) % 3
    usual = resample_sums(COUNTS, 50, np.random.default_rng(0), strata=strata)
    monkeypatch.setattr(resampling, "_CHUNK", at_a_time * 20)
    again = resample_sums(COUNTS, 50, np.random.default_rng(0), strata=strata)
    assert again == pytest.approx(usual)


def test_resampling_takes_one_resample_and_seed_zero() -> None:
    assert (Resampling(resamples=1).resamples, Resampling(seed=0)) == (1, Resampling())
    for wrong in ({"resamples": 0}, {"seed": -1}, {"confidence": 1.0}, {"confidence": 0.0}):
        with pytest.raises(InputError):
            Resampling(**wrong)  # type: ignore[arg-type]


def f1(sums: np.ndarray) -> np.ndarray:
    return precision_recall_f1(sums)[..., 2]


def found_in(missed: list[int], notes: int = 20, items: int = 15) -> Bootstrapped:
    """F1 of notes of some items, of which some are missed in the first notes."""
    counts = np.tile([items, 0, 0], (notes, 1))
    for i, n in enumerate(missed):
        counts[i] = [items - n, 0, n]
    wrong = sum(n > 0 for n in missed)
    support = Support(effective_items(counts.sum(axis=1)), wrong, notes)
    return limit_by_items(bootstrap_interval(counts, f1), support, through_jaccard=True)


def test_the_limit_is_continuous_in_the_number_of_errors() -> None:
    # By note it leapt from .832 without an error to .992 with one.
    lows = [float(found_in([1] * e).low) for e in range(13)]
    steps = -np.diff(lows)
    assert all(-0.006 < step < 0.012 for step in steps)
    assert lows[0] == pytest.approx(0.968, abs=0.002)
    assert lows[1] < 0.97


def test_five_perfect_notes_do_not_read_as_nonsense() -> None:
    # 1.000 [0.478, 1.000] by note.
    found = found_in([], notes=5)
    assert float(found.low) == pytest.approx(0.873, abs=0.001)
    assert float(found.high) == 1
    assert found.at().method == "bootstrap-bca+items"


def test_from_ten_wrong_notes_on_the_bootstrap_stands_alone() -> None:
    counts = np.tile([12, 0, 3], (20, 1))
    counts[:5] = [15, 0, 0]
    drawn = bootstrap_interval(counts, f1)
    same = limit_by_items(drawn, Support(60, 15, 20), through_jaccard=True)
    assert (same.low, same.high) == (drawn.low, drawn.high)
    assert same.at().method == "bootstrap-bca"


def test_one_item_in_each_note_is_clopper_and_pearson() -> None:
    counts = np.tile([1, 0, 0], (30, 1))
    found = limit_by_items(bootstrap_interval(counts, f1), Support(30, 0, 30))
    assert float(found.low) == pytest.approx(proportion_interval(30, 30).low)


def test_what_never_varies_between_0_and_1_has_no_limits() -> None:
    single = bootstrap_interval([[8, 1, 1]], f1)
    assert np.isnan(limit_by_items(single, Support(10, 1, 1)).low)
    weighted = bootstrap_interval([[8, 0, 0]] * 3, f1)
    assert np.isnan(limit_by_items(weighted, Support(np.nan, 0, 3)).low)


@pytest.mark.parametrize(
    ("notes", "cases", "least"), [(20, 10, 0.88), (100, 50, 0.89), (208, 26, 0.91)]
)
def test_many_small_cases_are_covered(notes: int, cases: int, least: float) -> None:
    # Plain resampling within cases covered .75, .81 and .92; see benchmarks/interval_coverage.py.
    covered = []
    for seed in range(250):
        rng = np.random.default_rng(seed)
        case = np.arange(notes) % cases
        share = rng.beta(40, 10, size=cases)
        found = rng.binomial(15, rng.beta(9 * share[case], 9 * (1 - share[case])))
        true = share.mean()
        counts = np.stack([found, 15 - found, np.zeros_like(found)], axis=1)
        limits = bootstrap_interval(counts, f1, Resampling(resamples=300, seed=seed), strata=case)
        covered.append(float(limits.low) <= 2 * true / (1 + true) <= float(limits.high))
    assert np.mean(covered) >= least


@pytest.mark.parametrize("correlation", [0.1, 0.3])
def test_near_1_the_limits_cover(correlation: float) -> None:
    # Percentiles alone covered .63 to .90 of 20 and 100 notes at an F1 of .995.
    p, odds = 0.995 / (2 - 0.995), 1 / correlation - 1
    covered = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        found = rng.binomial(15, rng.beta(p * odds, (1 - p) * odds, size=100))
        missed = 15 - found
        covered.append((limits := found_in(missed.tolist(), notes=100)).low <= 0.995 <= limits.high)
    assert np.mean(covered) >= 0.94


def test_items_of_several_groups_are_worth_what_each_is_alone() -> None:
    table = np.array([[3, 1, 0], [5, 1, 0], [0, 2, 0]])
    together = effective_items(table)
    assert together == pytest.approx([float(effective_items(column)) for column in table.T])
    # 8 items, of which one meets 34 / 8 in its note.
    assert together[0] == pytest.approx(8 / (1 + (34 / 8 - 1) * 0.3)) and together[2] == 0


def still(value: float) -> Bootstrapped:
    at = np.array(value)
    return Bootstrapped(at, at, at, np.array(0.0), 0.95, "bca")


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_all_or_nothing_is_limited_by_items(value: float) -> None:
    plain = proportion_interval(int(20 * value), 20)
    found = limit_by_items(still(value), Support(20, 0, 20))
    assert (float(found.low), float(found.high)) == pytest.approx((plain.low, plain.high))
    f1_like = limit_by_items(still(value), Support(20, 0, 20), through_jaccard=True)
    expected = [2 * one / (1 + one) for one in (plain.low, plain.high)]
    assert [float(f1_like.low), float(f1_like.high)] == pytest.approx(expected)
    half = proportion_interval(round(20 * (1 + value) / 2), 20)
    doubled = limit_by_items(still(value), Support(20, 0, 20), twice=True)
    assert [float(doubled.low), float(doubled.high)] == pytest.approx([
        min(value, 2 * half.low - 1), max(value, 2 * half.high - 1)
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("value", "support"),
    [(0.5, Support(20, 0, 20)), (1.0, Support(0, 0, 20)), (0.0, Support(20, 0, np.inf))],
)
def test_what_items_say_nothing_of_has_no_limits(value: float, support: Support) -> None:
    found = limit_by_items(still(value), support)
    assert np.isnan([found.low, found.high]).all() and not found.by_items


@pytest.mark.parametrize("wrong", [0, 1, 5, 9, 10, 11])
def test_each_wrong_note_gives_the_bootstrap_a_tenth(wrong: int) -> None:
    drawn = Bootstrapped(*map(np.array, (0.9, 0.85, 0.95, 0.0)), 0.95, "bca")  # type: ignore[arg-type]
    items = proportion_interval(9, 10)
    for support in (Support(10, wrong, 50), Support(10, 50, wrong)):
        found = limit_by_items(drawn, support)
        part = max(0, 10 - wrong) / 10
        assert float(found.low) == pytest.approx((1 - part) * 0.85 + part * items.low)
        assert float(found.high) == pytest.approx((1 - part) * 0.95 + part * items.high)
        assert bool(found.by_items) == (wrong < 10)


@pytest.mark.parametrize("weights", [np.ones(3), -np.ones(60)])
def test_bad_weights_are_refused(weights: np.ndarray) -> None:
    with pytest.raises(InputError, match="weights"):
        as_counts(COUNTS, weights=weights)
