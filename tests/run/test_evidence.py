import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.run import Evidence, certainty
from rubricate.run.results import CounterEvidence

SURE = st.none() | st.floats(0, 1).map(lambda p: round(p, 4))


@given(st.booleans(), SURE, SURE)
def test_certainty_is_of_what_was_decided(
    found: bool, probability: float | None, confidence: float | None
) -> None:
    sure = certainty(found, probability, confidence)
    if probability is not None:
        assert sure == pytest.approx(probability if found else 1 - probability)
    else:
        assert sure == (confidence if found else None)


@given(SURE, SURE, st.lists(st.text("ab |", max_size=4), max_size=3))
def test_evidence_comes_back_from_json(
    probability: float | None, confidence: float | None, words: list[str]
) -> None:
    spans = tuple(((i, i + 2), (i + 3, i + 4)) for i in range(len(words)))
    against = CounterEvidence(((0, 2), (4, 5)), "x y", probability, "says left") if words else None
    evidence = Evidence(spans, probability, confidence, tuple(words), "exact", against)
    assert Evidence.from_json(json.loads(json.dumps(evidence.to_json()))) == evidence
    assert evidence.found == bool(words)


def test_what_is_found_and_contradicted_is_stated() -> None:
    against = CounterEvidence(((0, 4),), "left", 0.9, "says left")
    assert Evidence((((0, 4),),), against=against).outcome == "stated"
    assert Evidence(against=against).outcome == "contradicted"
    assert not Evidence(against=against).found
    assert Evidence().outcome == "not mentioned"


def test_evidence_kept_by_an_earlier_release_is_read() -> None:
    assert Evidence.from_json([[[[0, 5]]], 0.9, None, ["fever"], "exact"]).against is None
