"""Sizes for the intervals that a study reports."""

from __future__ import annotations

import numpy as np
import pytest

from rubricate.errors import InputError
from rubricate.stats import Expected, Target, plan_reported, plan_slice, stratified_posterior
from rubricate.stats.curves import reported_chances
from rubricate.stats.drawing import Sampling
from rubricate.stats.weights import Stratum

ASTHMA = Expected(0.85, 0.80, 0.48)


def test_slice_says_what_its_own_plan_promises() -> None:
    # 54 % is of the 214 notes that precision needs; the plan has 249.
    plan = plan_slice(ASTHMA)
    assert plan.met["clopper-pearson"]["precision"] == pytest.approx(0.92, abs=0.005)
    assert plan.met["clopper-pearson"]["recall"] == pytest.approx(0.54, abs=0.005)
    # With the intervals that a study reports, 99 % of simulated studies meet the width.
    assert plan.met["design-posterior"]["precision"] == pytest.approx(0.99, abs=0.01)
    assert plan.met["design-posterior"]["recall"] >= 0.99
    assert "92%" in plan.warnings[0] and "54%" in plan.warnings[0]


def test_the_chance_is_that_of_simulated_studies() -> None:
    plan = plan_reported(ASTHMA, Target(drawing="fixed", assurance=0.8))
    rng, met = np.random.default_rng(0), []
    missed = 0.48 * 0.85 * 0.20 / 0.80 / 0.52
    for study in range(200):
        tp, fn = rng.binomial(plan.positives, 0.85), rng.binomial(plan.negatives, missed)
        found = stratified_posterior(
            [
                Stratum(480_000, tp=tp, fp=plan.positives - tp, predicted="positive"),
                Stratum(520_000, fn=fn, tn=plan.negatives - fn, predicted="negative"),
            ],
            draws=4000,
            seed=study,
        )
        met.append((found.precision.width < 0.1, found.recall.width < 0.1))
    share = np.mean(met, axis=0)
    assert share.min() >= 0.74
    assert share[0] == pytest.approx(plan.met["design-posterior"]["precision"], abs=0.08)


def test_more_notes_meet_the_width_more_often() -> None:
    few, many = (reported_chances(ASTHMA, Target(), Sampling(n, n)).least for n in (180, 260))
    assert few < 0.5 < many


def test_a_small_pool_is_taken_whole() -> None:
    assert plan_reported(ASTHMA, Target(half_width=0.005), pool=100).total == 100
    assert plan_reported(ASTHMA, pool=900).total < plan_reported(ASTHMA).total
    with pytest.raises(InputError, match="below"):
        plan_reported(Expected(0.85, 0.30, 0.9))
