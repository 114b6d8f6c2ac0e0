"""Plans with assurance."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom

from rubricate.errors import InputError
from rubricate.stats import (
    Drawing,
    Estimate,
    Expected,
    FrequencyKind,
    Target,
    estimate_frequency,
    plan_assurance,
    plan_pilot,
    proportion_interval,
    proportion_limits,
    width_chances,
)
from rubricate.stats.planning import Sampling, finite_size

ASTHMA = Expected(0.85, 0.80, 0.48)
shares = st.floats(0.05, 0.95)
kinds = st.sampled_from(["internal", "external"])


def test_the_asthma_study_with_assurance() -> None:
    sizes = [
        (plan.n_precision, plan.n_recall)
        for plan in (plan_assurance(ASTHMA, Target(assurance=a)) for a in (0.80, 0.90, 0.95))
    ]
    assert sizes == [(236, 282), (245, 291), (252, 298)]


@given(shares, shares, shares, kinds)
@settings(max_examples=100, deadline=None)
def test_a_plan_is_consistent(p: float, r: float, f: float, kind: FrequencyKind) -> None:
    expected = Expected(p, r, f, kind)
    assume(f < expected.highest_frequency - 1e-6)
    plan = plan_assurance(expected, Target(half_width=0.1), sites=3)
    cells = plan.cells
    assert cells.tp + cells.fp == plan.positives
    assert cells.fn + cells.tn == plan.negatives
    assert min(cells.tp, cells.fp, cells.fn, cells.tn) >= 0
    assert min(plan.met["clopper-pearson"].values()) >= 0.9
    assert plan.total * expected.detected == pytest.approx(plan.positives, abs=1)
    assert 3 * plan.per_site.total >= plan.total


@given(shares, shares, shares)
def test_internal_and_external_frequency_say_the_same(p: float, r: float, f: float) -> None:
    inside = Expected(p, r, f)
    assume(inside.prevalence < 1 and f < inside.highest_frequency - 1e-9)
    outside = Expected(p, r, inside.prevalence, "external")
    assert outside.detected == pytest.approx(f)
    assert outside.frequency < outside.highest_frequency


def test_the_highest_frequency_leaves_no_true_negative() -> None:
    for kind in ("internal", "external"):
        top = Expected(0.85, 0.30, 0.5, kind).highest_frequency  # type: ignore[arg-type]
        full = Expected(0.85, 0.30, top, kind)  # type: ignore[arg-type]
        missed = full.prevalence * (1 - full.recall)
        assert full.detected + missed == pytest.approx(1)


def test_impossible_combinations_are_refused_with_the_allowed_range() -> None:
    with pytest.raises(InputError, match=r"frequency is 0\.9.*must stay below 0\.335"):
        plan_assurance(Expected(0.85, 0.30, 0.9))


def test_stricter_targets_need_more() -> None:
    base = plan_assurance(ASTHMA)
    assert plan_assurance(ASTHMA, Target(half_width=0.03)).total > base.total
    assert plan_assurance(ASTHMA, Target(confidence=0.99)).total > base.total
    assert plan_assurance(ASTHMA, Target(assurance=0.95)).total > base.total
    assert plan_assurance(ASTHMA, Target(interval="wilson")).total < base.total
    assert plan_assurance(ASTHMA, design_effect=1.6).n_precision == 392  # ceil(245 * 1.6)


def test_a_finite_pool_needs_less_and_never_more_than_itself() -> None:
    endless = plan_assurance(ASTHMA)
    for pool in (50, 400, 600, 5000):
        plan = plan_assurance(ASTHMA, pool=pool)
        assert plan.total <= min(pool, endless.total)
    small = plan_assurance(ASTHMA, pool=5)
    assert any("whole pool" in warning for warning in small.warnings)
    # What a pool cannot give is said, not only that all of it is needed.
    assert min(small.met["clopper-pearson"].values()) < small.target.assurance
    assert any("the pool is too small" in warning for warning in small.warnings)
    assert plan_assurance(ASTHMA, pool=10**9).total == endless.total


def _hypergeometric_widths(n: int, pool: int) -> np.ndarray:
    """Widths of the exact intervals of K / pool for every x of n drawn without replacement."""
    k = np.arange(pool + 1)[:, None]
    x = np.arange(n + 1)[None, :]
    possible = (hypergeom.sf(x - 1, pool, k, n) > 0.025) & (hypergeom.cdf(x, pool, k, n) > 0.025)
    low = possible.argmax(axis=0)
    high = pool - possible[::-1].argmax(axis=0)
    return (high - low) / pool


def test_the_corrected_size_holds_under_the_exact_hypergeometric() -> None:
    pool, p, half_width = 400, 0.80, 0.05
    n = finite_size(291, pool)
    widths = _hypergeometric_widths(n, pool)
    chance = hypergeom.pmf(np.arange(n + 1), pool, round(p * pool), n)
    # Limits of K move in steps of one note: 1 / 400 of slack on the width of .10.
    assert chance[widths < 2 * half_width + 1 / pool].sum() > 0.90
    low, high = proportion_limits(np.arange(n + 1), n)
    assert chance[high - low < 2 * half_width].sum() < 0.01


def test_the_promise_is_kept_when_the_true_notes_vary() -> None:
    plan = plan_assurance(ASTHMA, Target(drawing="fixed"))
    rng = np.random.default_rng(0)
    tp = rng.binomial(plan.positives, 0.85, 4000)
    missed = plan.positives * 0.85 * 0.20 / 0.80 / plan.negatives
    fn = rng.binomial(plan.negatives, missed, 4000)
    for found in (np.full(4000, plan.positives), tp + fn):
        low, high = proportion_limits(tp, found)
        assert (high - low < 0.10).mean() >= 0.90


def test_rare_errors_are_warned_of() -> None:
    plan = plan_assurance(Expected(0.99, 0.80, 0.3))
    assert any(warning.startswith("precision") for warning in plan.warnings)
    assert plan_assurance(ASTHMA).warnings == ()


def test_to_dict_is_json() -> None:
    plan = plan_assurance(ASTHMA, sites=6, pool=9000)
    read = json.loads(json.dumps(plan.to_dict()))
    assert read["total"] == read["positives"] + read["negatives"] == plan.total
    assert read["per_site"]["total"] == plan.per_site.total
    assert read["target"]["assurance"] == 0.9


@pytest.mark.parametrize(
    ("options", "name"),
    [({"sites": 0}, "sites"), ({"pool": 0}, "pool"), ({"design_effect": 0.5}, "design-effect")],
)
def test_bad_options_are_refused(options: dict[str, float], name: str) -> None:
    with pytest.raises(InputError, match=name):
        plan_assurance(ASTHMA, **options)  # type: ignore[arg-type]


def test_every_bad_target_is_named() -> None:
    with pytest.raises(InputError) as caught:
        Target(half_width=0.6, confidence=1, assurance=0, interval="wald")  # type: ignore[arg-type]
    assert len(caught.value.faults) == 4


def test_frequency_from_a_pilot() -> None:
    frequency = estimate_frequency(48, 100)
    assert frequency.value == 0.48
    assert frequency.low < 0.48 < frequency.high
    assert estimate_frequency(0, 20).low == 0
    for found, total in ((5, 0), (6, 5), (-1, 5)):
        with pytest.raises(InputError):
            estimate_frequency(found, total)


def test_571_notes_as_they_occur_are_too_few() -> None:
    # Planned as if the notes that hold the variable were fixed; 20,000 simulations gave .876.
    drawn = Sampling(274, 297)
    assert width_chances(ASTHMA, Target(), drawn).recall == pytest.approx(0.876, abs=0.001)
    fixed = width_chances(ASTHMA, Target(drawing="fixed"), drawn)
    assert fixed.recall == pytest.approx(0.981, abs=0.002)


@pytest.mark.parametrize("drawing", ["as-they-occur", "fixed"])
def test_the_promise_holds_for_the_drawing_that_was_chosen(drawing: Drawing) -> None:
    plan = plan_assurance(ASTHMA, Target(drawing=drawing))
    rng, studies = np.random.default_rng(1), 20_000
    missed = 0.48 * 0.85 * 0.20 / 0.80
    positives = np.full(studies, plan.positives)
    if drawing == "as-they-occur":
        positives = rng.binomial(plan.total, 0.48, studies)
    tp = rng.binomial(positives, 0.85)
    fn = rng.binomial(plan.total - positives, missed / 0.52)
    for name, found in (("precision", positives), ("recall", tp + fn)):
        low, high = proportion_limits(tp, found)
        met = (high - low < 0.10).mean()
        assert met >= 0.895
        assert plan.met["clopper-pearson"][name] == pytest.approx(met, abs=0.01)
    assert plan.total == {"as-they-occur": 577, "fixed": 553}[drawing]


def test_chances_know_finite_pools_and_clusters() -> None:
    notes = Sampling(274, 297)
    free = width_chances(ASTHMA, Target(), notes).recall
    clustered = width_chances(ASTHMA, Target(), replace(notes, design_effect=1.2)).recall
    finite = width_chances(ASTHMA, Target(), replace(notes, pool=2000)).recall
    assert clustered < free < finite


@pytest.mark.parametrize("total", [1, 2, 7, 60])
def test_chances_are_sums_over_all_that_can_happen(total: int) -> None:
    target, share = Target(half_width=0.3), ASTHMA.detected

    def narrow(k: int) -> float:
        wide = [proportion_interval(x, k, method=target.interval) for x in range(k + 1)]
        met = [one.high - one.low <= 2 * target.half_width + 1e-12 for one in wide]
        return float(binom.pmf(np.arange(k + 1), k, ASTHMA.precision) @ met)

    chance = binom.pmf(np.arange(total + 1), total, share)
    expected = sum(chance[k] * narrow(k) for k in range(1, total + 1))
    found = width_chances(ASTHMA, target, Sampling(0, total))
    assert found.precision == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("positives", "negatives"), [(1, 1), (5, 0), (9, 30)])
def test_chances_of_fixed_numbers_are_sums_over_all_outcomes(
    positives: int, negatives: int
) -> None:
    target = Target(half_width=0.3, drawing="fixed")
    p, r, f = ASTHMA.precision, ASTHMA.recall, ASTHMA.detected
    missed = f * p * (1 - r) / r / (1 - f)
    chance = 0.0
    for tp in range(positives + 1):
        for fn in range(negatives + 1):
            if tp + fn and proportion_interval(tp, tp + fn).width < 2 * target.half_width:
                chance += binom.pmf(tp, positives, p) * binom.pmf(fn, negatives, missed)
    found = width_chances(ASTHMA, target, Sampling(positives, negatives))
    assert found.recall == pytest.approx(chance, abs=1e-6)


def test_a_pilot_needs_two_notes() -> None:
    def share(counts: np.ndarray) -> Estimate:
        return proportion_interval(int(counts[:, 0].sum()), int(counts.sum()))

    with pytest.raises(InputError, match="one note"):
        plan_pilot([[8, 2]], share)
    assert plan_pilot([[8, 2], [8, 2]], share, half_width=0.1, studies=5).notes < 20
