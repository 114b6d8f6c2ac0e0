import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.errors import InputError
from rubricate.run import Evidence
from rubricate.scoring import UnsureRange

WORDS = (((0, 5),),)


@given(st.floats(0, 1), st.booleans())
def test_probabilities_in_between_are_unsure_whatever_was_decided(p: float, found: bool) -> None:
    evidence = Evidence(WORDS if found else (), p, 0.99)
    assert bool(UnsureRange().why_review({"f": evidence})["f"]) == (0.2 < p < 0.8)


@pytest.mark.parametrize(("sure", "sent"), [(0.3, True), (0.79, True), (0.8, False), (None, False)])
def test_where_there_is_no_probability_the_certainty_of_what_was_found_counts(
    sure: float | None, sent: bool
) -> None:
    assert bool(UnsureRange().why_review({"f": Evidence(WORDS, None, sure)})["f"]) == sent
    assert UnsureRange().why_review({"f": Evidence((), None, sure)})["f"] == ""


def test_the_reason_says_unsure_and_how_much() -> None:
    assert UnsureRange().why_review({"f": Evidence((), 0.456)})["f"].startswith("unsure: ")
    assert "0.46" in UnsureRange().why_review({"f": Evidence((), 0.456)})["f"]


@pytest.mark.parametrize(("low", "high"), [(0.6, 0.8), (0.2, 0.4), (-0.1, 0.8), (0.2, 1.1)])
def test_a_range_without_the_middle_is_refused(low: float, high: float) -> None:
    with pytest.raises(InputError, match="LOW"):
        UnsureRange(low, high)


def test_an_empty_range_sends_nothing() -> None:
    assert UnsureRange(0.5, 0.5).why_review({"f": Evidence(WORDS, 0.5)})["f"] == ""
