from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.errors import InputError
from rubricate.run import Evidence
from rubricate.scoring import Policy, RouteSettings, choose_policy
from rubricate.scoring.policy import ReviewRule
from rubricate.scoring.policy_choice import (
    _divided,
    choose_rules,
    clustering_p_value,
    review_curve,
)
from rubricate.scoring.risk_bounds import JudgedItems, ranks_in_notes

N_FEATURES = 6


def draw(
    rng: np.random.Generator, n_notes: int, *, base: float, spread: float, use: float
) -> JudgedItems:
    """Decisions whose log odds of being wrong have a part of the note, and one that is seen."""
    n = n_notes * N_FEATURES
    note = np.repeat(np.arange(n_notes), N_FEATURES)
    seen = rng.normal(0, 1.5, n)
    odds = base + rng.normal(0, spread, n_notes)[note] + use * seen
    found = rng.random(n) < 0.7
    certainty = 1 / (1 + np.exp(seen - 2))
    # Half of the absences have no probability, as with matchers that only know phrases.
    certainty[~found & (rng.random(n) < 0.5)] = np.nan
    return JudgedItems(
        note,
        np.tile(np.arange(N_FEATURES), n_notes),
        found,
        rng.random(n) < 1 / (1 + np.exp(-odds)),
        certainty,
        [str(i) for i in range(n_notes)],
        [f"f{i}" for i in range(N_FEATURES)],
        N_FEATURES,
    )


def broken_promises(
    settings: dict[str, Any], kind: dict[str, float], *, n_notes: int, n_runs: int
) -> tuple[float, float]:
    """Return the share of trials with too many wrong accepted items, and the accepted share."""
    rng = np.random.default_rng(11)
    population = draw(rng, 20_000, **kind)
    broken, accepted = 0, []
    for seed in range(n_runs):
        chosen = RouteSettings(seed=seed, **settings)
        try:
            model, rules, pooled = choose_rules(draw(rng, n_notes, **kind), chosen)
        except InputError:
            continue  # errors go together in notes: nothing is promised
        risk = model.estimates(
            population.feature_ids, population.feature, population.found, population.certainty
        )
        found = [rules.get(name, pooled) for name in population.feature_ids]
        limits = [
            -1.0 if rule is None or rule.threshold is None else rule.threshold for rule in found
        ]
        kept = risk <= np.array(limits)[population.feature]
        if pooled is not None and pooled.most is not None and not rules:
            kept &= ranks_in_notes(population, risk) < pooled.most
        accepted.append(kept.mean())
        broken += bool(kept.any()) and population.wrong[kept].mean() > chosen.max_error
    return broken / n_runs, float(np.mean(accepted or [0.0]))


@pytest.mark.parametrize(
    ("unit", "kind"),
    [
        # Hopeless: every threshold accepts a little more errors than allowed.
        ("item", {"base": -2.9, "spread": 0.0, "use": 0.0}),
        ("note", {"base": -2.9, "spread": 0.0, "use": 0.0}),
        # Errors come together in some notes.
        ("note", {"base": -4.7, "spread": 2.2, "use": 0.0}),
        ("item", {"base": -4.7, "spread": 2.2, "use": 0.0}),
        ("item", {"base": -4.2, "spread": 1.5, "use": 0.0}),
        # Certainty tells what is wrong: there is something to accept.
        ("note", {"base": -5.0, "spread": 0.7, "use": 1.0}),
        ("item", {"base": -4.0, "spread": 0.0, "use": 1.0}),
    ],
)
def test_the_promise_is_kept(unit: str, kind: dict[str, float]) -> None:
    n_runs = 120
    settings = {"max_error": 0.05, "confidence": 0.9, "unit": unit, "per_feature": False}
    broken, accepted = broken_promises(settings, kind, n_notes=250, n_runs=n_runs)
    # Three standard errors of the simulation above the nominal share.
    assert broken <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / n_runs)
    if kind["use"]:
        assert accepted > 0.5


def test_the_promise_is_kept_feature_by_feature() -> None:
    settings = {"max_error": 0.1, "confidence": 0.9}
    kind = {"base": -3.3, "spread": 1.0, "use": 1.0}
    broken, accepted = broken_promises(settings, kind, n_notes=400, n_runs=30)
    assert broken <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 30)
    assert accepted > 0.25


def test_features_get_rules_of_their_own_only_with_enough_notes() -> None:
    rng = np.random.default_rng(3)
    kind = {"base": -5.0, "spread": 0.0, "use": 1.0}
    few = choose_rules(draw(rng, 60, **kind), RouteSettings(max_error=0.1))
    many = choose_rules(draw(rng, 400, **kind), RouteSettings(max_error=0.1))
    assert few[1] == {} and few[2] is not None
    assert len(many[1]) == N_FEATURES and many[2] is None
    # Together the rules spend no more than the whole.
    assert sum(1 - rule.confidence for rule in many[1].values()) == pytest.approx(0.05)


def test_the_curve_runs_from_review_to_none() -> None:
    items = draw(np.random.default_rng(5), 300, base=-3.5, spread=0.5, use=1.0)
    settings = RouteSettings(max_error=0.05)
    model, _, _ = choose_rules(items, settings)
    curve = review_curve(items, model, settings)
    shares = [point.review_share for point in curve]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == pytest.approx(0.0)
    for point in curve:
        assert point.error_rate is None or point.error_rate <= point.upper
    # What is surest is least often wrong.
    assert (curve[len(curve) // 3].error_rate or 0) < (curve[-1].error_rate or 0)


def test_the_choice_does_not_depend_on_the_order_of_notes() -> None:
    items = draw(np.random.default_rng(6), 300, base=-4.5, spread=0.5, use=1.0)
    turned = np.arange(300)[::-1]
    other = JudgedItems(
        turned[items.note], items.feature, items.found, items.wrong, items.certainty,
        items.note_ids[::-1],
        items.feature_ids, items.most,
    )  # fmt: skip
    settings = RouteSettings(max_error=0.05, per_feature=False)
    first, second = choose_rules(items, settings)[2], choose_rules(other, settings)[2]
    assert first is not None and second is not None
    assert (first.accepted, first.errors) == (second.accepted, second.errors)


@pytest.mark.parametrize("wrong", [{"max_error": 0}, {"confidence": 1.0}, {"tuning_share": 2}])
def test_settings_are_checked(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        RouteSettings(**wrong)  # type: ignore[arg-type]


def judged(present: list[bool], probability: list[float | None]) -> tuple[Corpus, Corpus]:
    reference, predicted = CorpusBuilder(), CorpusBuilder()
    for builder in (reference, predicted):
        builder.add_feature(Feature("f", "c", "Fever"))
    for i, (is_present, value) in enumerate(zip(present, probability, strict=True)):
        for builder in (reference, predicted):
            builder.add_note(Note(str(i), "c", "fever"))
        reference.judge("ann", str(i), "f")
        if is_present:
            reference.annotate("ann", str(i), "f", [(0, 5)])
        predicted.judge("m", str(i), "f", probability=value)
        if value is not None and value > 0.5:
            predicted.annotate("m", str(i), "f", [(0, 5)], confidence=0.6)
    return reference.build(), predicted.build()


def test_absences_without_a_probability_are_judged_by_how_often_they_are_wrong() -> None:
    # Found is always right; absent, of unknown certainty, is wrong half of the time.
    present = [True] * 200 + [i % 2 == 0 for i in range(200)]
    policy = choose_policy(
        *judged(present, [0.9] * 200 + [None] * 200),
        settings=RouteSettings(max_error=0.1, per_feature=False),
    )
    assert policy.matcher == "m"
    assert policy.pooled is not None and policy.pooled.threshold is not None
    assert policy.why_review({"f": Evidence((((0, 5),),), 0.9)})["f"] == ""
    assert policy.why_review({"f": Evidence()})["f"] != ""
    assert policy.why_review({"other": Evidence()})["other"] != ""


def test_corpora_without_common_items_are_refused() -> None:
    reference, predicted = judged([True], [0.9])
    with pytest.raises(InputError):
        choose_policy(reference, predicted.with_rows(predicted.rows.take([])))


def test_a_policy_accepts_in_notes_what_it_accepted_when_it_was_tested() -> None:
    rng = np.random.default_rng(3)
    names = [f"f{i}" for i in range(8)]
    reference, predicted = CorpusBuilder(), CorpusBuilder()
    for builder in (reference, predicted):
        for name in names:
            builder.add_feature(Feature(name, "c", name))
    evidence: dict[str, dict[str, Evidence]] = {}
    for i in range(400):
        note = Note(str(i), "c", "fever")
        reference.add_note(note)
        predicted.add_note(note)
        for name in names:
            sure = round(float(rng.choice([0.55, 0.8, 0.99])), 2)
            spans = (((0, 5),),)
            predicted.judge("m", note.id, name, probability=sure)
            predicted.annotate("m", note.id, name, [(0, 5)], confidence=sure)
            reference.judge("ann", note.id, name)
            if rng.random() < (0.995 if sure > 0.9 else 0.8):
                reference.annotate("ann", note.id, name, [(0, 5)])
            evidence.setdefault(note.id, {})[name] = Evidence(spans, sure, sure)
    policy = choose_policy(
        reference.build(), predicted.build(), settings=RouteSettings(0.05, per_feature=False)
    )
    rule = policy.pooled
    assert rule is not None and rule.threshold is not None and rule.most is not None
    assert rule.most < len(names)
    unseen = [sum(not why for why in policy.why_review(own).values()) for own in evidence.values()]
    assert max(unseen) == rule.most
    # The rule counts the notes that tested, the policy is applied to all.
    assert rule.accepted <= sum(unseen) <= rule.accepted / 0.7 * 1.1
    assert policy.accepted_share == pytest.approx(sum(unseen) / 3200, rel=0.1)


def test_a_policy_without_a_threshold_lets_nothing_pass() -> None:
    policy = choose_policy(*judged([True, False] * 20, [0.9] * 40))
    assert policy.accepted_share == 0


def test_a_policy_accepts_at_a_threshold_what_was_counted_there() -> None:
    # Thresholds are risks of the items that tested: each point of the curve has items just at it.
    items = draw(np.random.default_rng(8), 60, base=-4.0, spread=0.5, use=1.0)
    items = replace(items, certainty=items.certainty.round(2))
    settings = RouteSettings(max_error=0.1, unit="item", per_feature=False)
    model, _, _ = choose_rules(items, settings)
    _, (testing, _) = _divided(items, settings)
    risk = model.estimates(testing.feature_ids, testing.feature, testing.found, testing.certainty)
    at_threshold = 0
    for point in review_curve(items, model, settings):
        rule = ReviewRule(point.threshold, 0.95, 0, 0, 0, 0.0, 1.0, "binomial")
        policy = Policy(0.1, 0.95, "item", "m", model, {}, rule, {}, (), {})
        unseen = 0
        for feature, found, sure in zip(
            testing.feature.tolist(),
            testing.found.tolist(),
            testing.certainty.tolist(),
            strict=True,
        ):
            stated = None if np.isnan(sure) else round(sure if found else 1 - sure, 4)
            evidence = Evidence((((0, 5),),) if found else (), stated)
            unseen += not policy.why_review({f"f{feature}": evidence})[f"f{feature}"]
        assert unseen == point.accepted
        at_threshold += int((risk == point.threshold).sum())
    assert at_threshold > 0


def test_errors_that_go_together_are_found_and_hard_features_are_none() -> None:
    rng = np.random.default_rng(21)
    apart = [
        clustering_p_value(draw(rng, 150, base=-3.0, spread=0.0, use=1.0), permutations=99)
        for _ in range(40)
    ]
    assert np.mean([p < 0.1 for p in apart]) <= 0.1 + 3 * 0.047
    # half of the features are wrong ten times as often, in every note alike
    items = draw(rng, 150, base=-3.0, spread=0.0, use=0.0)
    hard = items.wrong | ((items.feature < 5) & (rng.random(len(items.wrong)) < 0.3))
    assert clustering_p_value(replace(items, wrong=hard)) > 0.01
    assert clustering_p_value(draw(rng, 250, base=-4.0, spread=2.2, use=0.0)) < 0.05
    with pytest.raises(InputError, match="unit=note"):
        choose_rules(draw(rng, 250, base=-4.0, spread=2.2, use=0.0), RouteSettings(unit="item"))
