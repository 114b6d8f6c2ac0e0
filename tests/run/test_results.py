import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate import Feature, Metadata, Rubric
from rubricate.run import total_score
from rubricate.run.results import Evidence, ItemResult
from shared_cases import shared_cases

FEATURES = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0, 2.0, 0.1]), st.sampled_from(["", "", "g", "h"])),
    min_size=1,
    max_size=8,
).map(
    lambda rows: Rubric(
        "c", tuple(Feature(str(i), "c", "text", weight=w, group=g) for i, (w, g) in enumerate(rows))
    )
)


@pytest.mark.parametrize("case", shared_cases("points"), ids=lambda case: case["what"])
def test_totals_are_those_of_the_pages_with_scripts(case: dict[str, Any]) -> None:
    features = tuple(
        Feature(str(i), "c", "text", weight=weight, group=group)
        for i, (weight, group) in enumerate(zip(case["weights"], case["groups"], strict=True))
    )
    floor = Metadata() if case["floor"] else Metadata(floor="none")
    wanted = {str(i) for i, found in enumerate(case["found"]) if found}
    total = total_score(Rubric("c", features, metadata=floor), wanted)
    assert (total.score, total.maximum) == (case["score"], case["maximum"])
    assert [total.points.get(f.id, 0.0) for f in features] == case["points"]


def brute_force(rubric: Rubric, found: set[str]) -> float:
    groups: dict[str, list[float]] = {}
    for feature in rubric:
        if feature.id in found:
            groups.setdefault(feature.group or f"alone {feature.id}", []).append(feature.weight)
    return math.fsum(max(weights) for weights in groups.values())


@given(FEATURES, st.sets(st.integers(0, 9).map(str)))
def test_a_group_counts_once_and_points_add_up(rubric: Rubric, found: set[str]) -> None:
    total = total_score(rubric, found)
    assert total.score == brute_force(rubric, found)
    assert total.maximum == brute_force(rubric, {f.id for f in rubric})
    assert math.fsum(total.points.values()) == total.score
    assert set(total.points) == found & {f.id for f in rubric}
    assert 0 <= total.score <= total.maximum


@given(FEATURES)
def test_finding_more_never_costs(rubric: Rubric) -> None:
    scores = [total_score(rubric, [f.id for f in rubric][:n]).score for n in range(len(rubric) + 1)]
    assert scores == sorted(scores)


def test_a_group_named_like_a_feature_is_not_that_feature() -> None:
    rubric = Rubric("c", (Feature("a", "c", "x"), Feature("b", "c", "y", group="a")))
    assert total_score(rubric, {"a", "b"}).score == 2


def test_nothing_to_get_has_no_percentage() -> None:
    assert math.isnan(total_score(Rubric("c", ()), {"a"}).percentage)


def test_of_a_tie_in_a_group_the_first_feature_gets_the_points() -> None:
    rubric = Rubric(
        "c",
        tuple(
            Feature(name, "c", name, weight=w, group="g")
            for name, w in (("a", 1), ("b", 2), ("d", 2))
        ),
    )
    total = total_score(rubric, ["d", "b", "a"])
    assert dict(total.points) == {"a": 0.0, "b": 2.0, "d": 0.0}
    assert (total.score, total.maximum) == (2.0, 2.0)
    assert dict(total_score(rubric, ["d", "a"]).points) == {"a": 0.0, "d": 2.0}


def test_a_group_of_nothing_but_zeros_and_penalties_counts_its_heaviest() -> None:
    rubric = Rubric(
        "c",
        (Feature("a", "c", "x", weight=-1, group="g"), Feature("b", "c", "y", weight=0, group="g")),
    )
    assert total_score(rubric, ["a", "b"]).score == 0.0
    assert total_score(replace(rubric, metadata=Metadata(floor="none")), ["a"]).score == -1.0


def test_penalties_take_a_score_to_0_and_no_further_unless_the_rubric_says_so() -> None:
    features = (Feature("a", "c", "x", weight=2), Feature("b", "c", "y", weight=-18))
    held = total_score(Rubric("c", features), ["a", "b"])
    assert (held.score, held.percentage, dict(held.points)) == (0.0, 0.0, {"a": 2, "b": -18})
    free = total_score(Rubric("c", features, metadata=Metadata(floor="none")), ["a", "b"])
    assert (free.score, free.percentage) == (-16.0, -800.0)


@pytest.mark.parametrize("found", [True, False])
def test_people_are_told_how_likely_the_decision_is_right(found: bool) -> None:
    for probability in (0.42, 0.58, 0.9, 0.1):
        evidence = Evidence(spans=(((0, 5),),) if found else (), probability=probability)
        item = ItemResult(Feature("f", "c", "Fever"), evidence, found, 0.0, "")
        assert item.certainty == pytest.approx(probability if found else 1 - probability)
        assert item._replace(found=None).certainty is None
