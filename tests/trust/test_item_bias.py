"""Features that work differently for a group of notes."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from item_bias_rates import BIASED, NOTES, draw, rates

from rubricate.errors import InputError
from rubricate.run import RunItems, ScoredRun
from rubricate.trust import differential_items
from scored_runs import groups_of, run_of


def test_mantel_and_haenszel_are_statsmodels() -> None:
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    rng = np.random.default_rng(4)
    table = rng.random((400, 6)) < 0.5
    table[::2, 0] = rng.random(200) < 0.9
    run = run_of(table)
    found = {b.feature: b for b in differential_items(run, groups_of(run, "ab"))}
    own = np.arange(400) % 2 == 0
    total = table.sum(axis=1)
    strata = [
        [[np.sum(table[m & own, 0]), np.sum(~table[m & own, 0])],
         [np.sum(table[m & ~own, 0]), np.sum(~table[m & ~own, 0])]]
        for m in (total == k for k in np.unique(total))
    ]  # fmt: skip
    expected = tables.StratifiedTable([np.array(s, dtype=float) for s in strata])
    bias = found["f0"]
    assert bias.odds_ratio == pytest.approx(expected.oddsratio_pooled)
    low, high = expected.oddsratio_pooled_confint()
    assert (bias.low, bias.high) == pytest.approx((low, high))
    assert bias.p_value == pytest.approx(expected.test_null_odds(correction=True).pvalue)
    assert bias.delta == pytest.approx(2.35 * math.log(bias.odds_ratio))
    assert bias.size == "C"
    assert {b.size for name, b in found.items() if name != "f0"} == {"A"}


def test_a_feature_always_found_in_one_group_only_is_large() -> None:
    rng = np.random.default_rng(5)
    table = rng.random((200, 5)) < 0.5
    table[:, 0] = np.arange(200) % 2 == 0
    run = run_of(table)
    bias = differential_items(run, groups_of(run, "ab"))[0]
    assert (bias.odds_ratio, bias.delta, bias.size) == (math.inf, math.inf, "C")


def test_logistic_regression_is_statsmodels() -> None:
    api = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(12)
    run, groups = draw(rng, 300, "uniform")
    found = {b.feature: b for b in differential_items(run, groups)}[f"f{BIASED}"]
    assert found.purified <= 1  # the feature itself, which stays in its own score
    table = run.items.found.reshape(300, -1)
    total, own = table.sum(axis=1), (np.arange(300) % 2 == 0).astype(float)
    score = np.log((total + 0.5) / (table.shape[1] - total + 0.5))
    y = table[:, BIASED].astype(float)
    full = np.column_stack([np.ones(300), score, own, score * own])
    fits = [api.Logit(y, full[:, :k]).fit(disp=0) for k in (1, 2, 3, 4)]
    chi2 = pytest.importorskip("scipy.stats").chi2
    for name, small, large, freedom in (
        ("p_uniform", 1, 2, 1), ("p_non_uniform", 2, 3, 1), ("p_logistic", 1, 3, 2),
    ):  # fmt: skip
        expected = chi2.sf(2 * (fits[large].llf - fits[small].llf), freedom)
        assert getattr(found, name) == pytest.approx(expected, rel=1e-5)

    def nagelkerke(fit: object) -> float:
        llf, null, n = fit.llf, fits[0].llf, 300  # type: ignore[attr-defined]
        return (1 - math.exp(2 * (null - llf) / n)) / (1 - math.exp(2 * null / n))

    assert found.r2_change == pytest.approx(nagelkerke(fits[3]) - nagelkerke(fits[1]), abs=1e-7)


def test_a_bias_that_turns_round_is_seen_by_logistic_regression_alone() -> None:
    run, groups = draw(np.random.default_rng(3), 1000, "non-uniform")
    found = {b.feature: b for b in differential_items(run, groups)}[f"f{BIASED}"]
    assert found.p_non_uniform < 0.001 < found.p_value


def test_biased_features_leave_the_score_that_notes_are_matched_by() -> None:
    # five of twelve features are missed in group b: matched by the whole total, the other seven
    # would look as if they were found too often there
    rng = np.random.default_rng(9)
    table = rng.random((800, 12)) < 1 / (1 + np.exp(-rng.normal(0, 1, 800)))[:, None]
    table[1::2, :5] &= rng.random((400, 5)) < 0.5
    run = run_of(table)
    found = {b.feature: b for b in differential_items(run, groups_of(run, "ab"))}
    assert {b.purified for b in found.values()} == {5}
    assert {found[f"f{k}"].size for k in range(5)} == {"C"}
    assert {found[f"f{k}"].size for k in range(5, 12)} == {"A"}


def test_features_of_several_cases_are_matched_within_their_case() -> None:
    rng = np.random.default_rng(10)
    first, second = draw(rng, 120, "none")[0], draw(rng, 120, "none")[0]
    two = ScoredRun(
        tuple(f"a{n}" for n in first.notes) + tuple(f"b{n}" for n in second.notes),
        ("a",) * 120 + ("b",) * 120,
        np.concatenate([first.score, second.score]),
        np.concatenate([first.maximum, second.maximum]),
        RunItems(
            np.concatenate([first.items.note, second.items.note + 120]),
            np.concatenate([first.items.feature, second.items.feature + 15]),
            tuple(f"a{f}" for f in first.items.features)
            + tuple(f"b{f}" for f in second.items.features),
            np.concatenate([first.items.found, second.items.found]),
            np.concatenate([first.items.certainty, second.items.certainty]),
            np.concatenate([first.items.needs_review, second.items.needs_review]),
        ),
    )
    whole = differential_items(two, groups_of(two, "ab"))
    alone = differential_items(first, groups_of(first, "ab"))
    assert len(whole) == 30
    assert [b.p_value for b in whole[:15]] == pytest.approx([b.p_value for b in alone])


def test_features_that_never_vary_have_no_p_value() -> None:
    rng = np.random.default_rng(11)
    table = rng.random((120, 6)) < 0.5
    table[:, 0] = True
    run = run_of(table)
    bias = differential_items(run, groups_of(run, "ab"))[0]
    assert math.isnan(bias.p_value) and math.isnan(bias.p_logistic)
    assert (bias.size, bias.r2_size) == ("A", "A")
    assert json.loads(json.dumps(bias.to_dict()))["p_value"] is None


def test_no_group_is_refused() -> None:
    run = run_of(np.ones((40, 2)))
    with pytest.raises(InputError):
        differential_items(run, {})
    assert differential_items(run, groups_of(run, "a")) == ()


def test_without_bias_few_features_are_called_biased() -> None:
    found = rates(500, "none", studies=20)  # 300 tests
    for name in ("p_value", "p_uniform", "p_non_uniform", "p_logistic"):
        assert found[name] <= 0.05 + 4 * 0.0126


@pytest.mark.slow
@pytest.mark.parametrize("notes", NOTES)
def test_error_rates_are_those_promised(notes: int) -> None:
    found = rates(notes, "none", studies=150)  # 2,250 tests
    for name in ("p_value", "p_uniform", "p_non_uniform", "p_logistic"):
        assert 0.015 <= found[name] <= 0.07
