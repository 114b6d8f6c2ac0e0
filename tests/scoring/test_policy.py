from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from rubricate import Feature, Rubric
from rubricate.errors import InputError
from rubricate.run import Evidence
from rubricate.scoring import Policy, write_policy
from rubricate.scoring.policy import (
    CurvePoint,
    ErrorCurve,
    ErrorModel,
    ReviewRule,
    fit_error_model,
    is_accepted,
    read_policy,
)

RULE = ReviewRule(0.05, 0.95, 100, 80, 1, 0.2, 0.04, "betting")
POLICY = Policy(
    max_error=0.05,
    confidence=0.95,
    unit="note",
    matcher="lexicon",
    model=ErrorModel(
        ErrorCurve(-1.0, -1.0),
        ErrorCurve(-1.0, -1.0),
        {"f": (0.0, 50.0, 0.0, 50.0), "g": (9.0, 9.0, 9.0, 9.0)},
    ),
    rules={"g": ReviewRule(None, 0.975, 100, 0, 0, 1.0, 1.0, "binomial")},
    pooled=RULE,
    texts={"f": "Fever"},
    curve=(CurvePoint(0.05, 0.2, 80, 1, 0.0125, 0.04),),
    settings={"seed": 0},
)
FOUND = Evidence((((0, 5),),), 0.99)


def test_a_policy_comes_back_from_its_file(tmp_path: Path) -> None:
    write_policy(POLICY, tmp_path / "p.json")
    read = read_policy(tmp_path / "p.json")
    assert read.to_dict() == POLICY.to_dict()
    assert read.why_review({"f": FOUND})["f"] == POLICY.why_review({"f": FOUND})["f"] == ""


def test_unsure_unknown_and_unsafe_items_are_reviewed() -> None:
    assert POLICY.why_review({"f": Evidence((((0, 5),),), 0.01)})["f"]
    assert POLICY.why_review({"g": FOUND})["g"]
    assert POLICY.why_review({"h": FOUND})["h"]


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"policy": 99}', '{"policy": 1}'])
def test_what_is_no_policy_is_refused(tmp_path: Path, body: str) -> None:
    (tmp_path / "p.json").write_text(body)
    with pytest.raises(InputError):
        read_policy(tmp_path / "p.json")


def test_a_policy_is_for_one_matcher_and_wording() -> None:
    POLICY.check({"c": Rubric("c", (Feature("f", "c", "Fever"),))}, "lexicon")
    with pytest.raises(InputError) as raised:
        POLICY.check({"c": Rubric("c", (Feature("f", "c", "No fever"),))}, "exact")
    assert len(raised.value.faults) == 2


def test_no_more_items_of_a_note_go_unseen_than_were_tested() -> None:
    counts = (0.0, 50.0, 0.0, 50.0)
    policy = replace(
        POLICY,
        model=replace(POLICY.model, features=dict.fromkeys("abcd", counts)),
        pooled=replace(RULE, most=2),
        rules={"d": RULE},
    )
    found = {
        name: Evidence((((0, 5),),), sure)
        for name, sure in zip("abcd", (0.9, 0.99, 0.95, 0.9), strict=True)
    }
    reasons = policy.why_review(found)
    assert reasons["a"] and not (reasons["b"] or reasons["c"] or reasons["d"])
    assert not policy.why_review({"a": found["a"]})["a"]


def test_an_item_at_the_threshold_goes_unseen() -> None:
    risk = POLICY.model.estimate("f", True, FOUND.certainty)
    assert risk is not None
    for threshold, seen in ((risk, False), (risk - 1e-9, True), (risk + 1e-9, False)):
        policy = replace(POLICY, pooled=replace(RULE, threshold=threshold))
        assert bool(policy.why_review({"f": FOUND})["f"]) == seen


def test_the_last_item_that_may_go_unseen_does() -> None:
    assert is_accepted(0.01, 0.05, rank=1, most=2)
    assert not is_accepted(0.01, 0.05, rank=2, most=2)
    assert is_accepted(np.array([0.05, 0.06, 0.01]), 0.05, np.array([0, 1, 2]), 2).tolist() == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("seed", range(5))
def test_known_curves_are_found_again(seed: int) -> None:
    rng = np.random.default_rng(seed)
    certainty = rng.beta(20, 1, 6000).clip(0.5, 0.999)
    odds = 3.0 - 2.0 * np.log(certainty / (1 - certainty))
    wrong = rng.random(6000) < 1 / (1 + np.exp(-odds))
    model = fit_error_model(["f"], np.zeros(6000, int), np.ones(6000, bool), certainty, wrong)
    assert model.found.slope == pytest.approx(-2.0, abs=0.25)
    assert model.found.intercept == pytest.approx(3.0, abs=0.6)


@given(
    st.lists(st.tuples(st.booleans(), st.booleans(), st.sampled_from([0.0, 0.5, 0.9, 1.0, np.nan])),
             min_size=1, max_size=30)
)  # fmt: skip
def test_surer_is_never_riskier_and_nothing_is_impossible(
    rows: list[tuple[bool, bool, float]],
) -> None:
    found, wrong, certainty = (np.array(column) for column in zip(*rows, strict=True))
    model = fit_error_model(["f", "g"], np.zeros(len(rows), int), found, certainty, wrong)
    for kind in (True, False):
        risks = [model.estimate("f", kind, sure) for sure in (0.5, 0.8, 0.99)]
        assert all(risk is not None and 0 <= risk <= 1 for risk in risks)
        assert risks == sorted(risks, reverse=True)  # type: ignore[type-var]
    assert model.estimate("g", True, 0.9) is None
    assert ErrorModel.from_dict(model.to_dict()) == model


@pytest.mark.parametrize(
    "wrong", [[0, 0, 0, 1, 1], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0], [1, 1, 0, 0, 0]]
)
def test_few_decisions_find_the_best_curve(wrong: list[int]) -> None:
    certainty = np.array([0.99, 0.95, 0.9, 0.6, 0.5])
    place, found = np.zeros(5, int), np.ones(5, bool)
    curve = fit_error_model(["f"], place, found, certainty, wrong).found
    x = np.log(certainty / (1 - certainty))

    def badness(at: np.ndarray) -> float:
        odds = at[0] + at[1] * x
        fit = np.logaddexp(0, odds).sum() - (np.array(wrong) * odds).sum()
        return float(fit + 1e-3 * at[0] ** 2 / 2 + at[1] ** 2 / 2)

    best = minimize(badness, [0.0, 0.0], method="BFGS", options={"gtol": 1e-9}).x
    assert curve.slope <= 0
    if best[1] <= 0:
        assert [curve.intercept, curve.slope] == pytest.approx(best, abs=1e-4)
    absent = fit_error_model(["f"], place, ~found, certainty, wrong)
    assert absent.absent == curve and absent.estimate("f", False, 0.9) != absent.estimate(
        "f", True, 0.9
    )


def test_a_features_own_errors_weigh_beside_twenty_shared_ones() -> None:
    curve, flat = ErrorCurve(0.0, -1.0), ErrorCurve(-1.0, 0.0)
    model = ErrorModel(curve, flat, {"f": (3.0, 4.0, 1.0, 16.0), "g": (0.0, 0.0, 0.0, 0.0)})
    shared = 1 / (1 + np.exp(np.log(0.8 / 0.2)))
    assert model.estimate("f", True, 0.8) == pytest.approx((3 + 20 * shared) / 24)
    assert model.estimate("g", True, 0.8) == pytest.approx(shared)
    low = 1 / (1 + np.e)
    assert model.estimate("f", False, 0.8) == pytest.approx((1 + 20 * low) / 36)
    # Nothing known of certainty counts as even odds; nothing known of a feature is no estimate.
    assert model.estimate("g", True, None) == 0.5
    assert model.estimate("h", True, 0.8) is None
    many = model.estimates(["h", "g"], np.array([1, 0]), [True, True], np.array([0.8, 0.8]))
    assert many.tolist() == [pytest.approx(shared), np.inf]
    assert 0 < float(curve.errors(np.array([1.0]))[0]) == pytest.approx(1e-4)
