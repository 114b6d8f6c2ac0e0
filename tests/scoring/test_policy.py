from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rubricate import Feature, Rubric
from rubricate.errors import InputError
from rubricate.run import Evidence
from rubricate.scoring import Policy, write_policy
from rubricate.scoring.policy import (
    CurvePoint,
    ErrorCurve,
    ErrorModel,
    ReviewRule,
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
