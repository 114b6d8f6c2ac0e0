import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate import Feature, Rubric
from rubricate.errors import InputError
from rubricate.run import ITEM_COLUMNS, SCORE_COLUMNS, Correction, Evidence
from rubricate.run.results import CounterEvidence
from rubricate.run.tables import cell_text
from rubricate.scoring import UnsureRange, judge_note

RUBRIC = Rubric(
    "c", (Feature("f", "c", "Fever", weight=2.0), Feature("g", "c", "=Cough", weight=1.0))
)
FOUND = Evidence((((0, 5),),), 0.9, 0.8, ("fever",), "exact")
LINE = {"note": "n", "case": "c", "items": [FOUND.to_json(), Evidence().to_json()]}


def correct(feature: str, found: bool, **more: object) -> Correction:
    return Correction("n", feature, found, "Ann", "2025-01-01", **more)  # type: ignore[arg-type]


def test_columns_get_their_values() -> None:
    result = judge_note(LINE, RUBRIC)
    rows = [
        {column.name: cell_text(column.get((result, item))) for column in ITEM_COLUMNS}
        for item in result.items
    ]
    assert (rows[0]["found"], rows[0]["points"], rows[0]["spans"]) == ("yes", "2", "0 5")
    assert rows[1]["feature_text"] == "'=Cough"
    scores = {column.name: column.get(result) for column in SCORE_COLUMNS}
    assert (scores["score"], scores["percentage"], scores["found"]) == (2.0, 66.67, 1)


def test_corrections_change_scores_and_are_signed() -> None:
    result = judge_note(
        LINE, RUBRIC, corrections={"f": correct("f", False), "g": correct("g", True)}
    )
    assert result.total is not None and result.total.score == 1.0
    first, second = result.items
    assert (first.found, first.evidence.spans, first.evidence.probability) == (False, (), 0.9)
    assert second.correction is not None and second.correction.by == "Ann"
    assert result.n_corrected == 2


def test_corrected_spans_replace_the_matchers() -> None:
    spans = (((1, 3), (4, 5)),)
    one = correct("f", True, spans=spans, text=("ev r",))
    item = judge_note(LINE, RUBRIC, corrections={"f": one}).items[0]
    assert (item.evidence.spans, item.evidence.text) == (spans, ("ev r",))
    kept = judge_note(LINE, RUBRIC, corrections={"f": correct("f", True)}).items[0]
    assert kept.evidence == FOUND


def test_a_note_that_cannot_be_scored_is_for_review_until_all_of_it_was_seen() -> None:
    line = {"note": "n", "case": "c", "failed": "the note is empty"}
    result = judge_note(line, RUBRIC)
    assert (result.status, result.total, result.n_review) == ("not scored", None, 2)
    half = judge_note(line, RUBRIC, corrections={"f": correct("f", True)})
    assert (half.total, half.n_review) == (None, 1)
    both = judge_note(line, RUBRIC, corrections={"f": correct("f", True), "g": correct("g", False)})
    assert both.status == "scored by hand"
    assert both.total is not None and both.total.score == 2.0


def test_a_case_without_rubric_has_no_items() -> None:
    result = judge_note({"note": "n", "case": "d", "failed": "no rubric"}, Rubric("d", ()))
    assert result.items == () and result.status == "not scored"


def test_what_is_contradicted_earns_nothing() -> None:
    against = CounterEvidence(((0, 8),), "no fever", 0.95, "denied")
    line = {**LINE, "items": [Evidence((), 0.1, against=against).to_json(), FOUND.to_json()]}
    result = judge_note(line, RUBRIC)
    assert [item.outcome for item in result.items] == ["contradicted", "stated"]
    assert [item.points for item in result.items] == [0.0, 1.0]
    assert result.n_found == 1
    seen = judge_note(line, RUBRIC, corrections={"f": correct("f", True)}).items[0]
    assert (seen.outcome, seen.points) == ("stated", 2.0)


def test_a_text_that_is_no_note_is_for_review_whole() -> None:
    line = {**LINE, "no_note": "does not read like a clinical note: it is a recipe"}
    result = judge_note(line, RUBRIC, policy=UnsureRange())
    assert (result.status, result.total, result.n_review, result.n_found) == (
        "for review", None, 2, 0,
    )  # fmt: skip
    assert "recipe" in result.reason
    assert all("recipe" in item.review_reason for item in result.items)
    assert result.items[0].evidence == FOUND
    assert judge_note(line, RUBRIC, any_text=True).status == "scored"
    both = {"f": correct("f", True), "g": correct("g", False)}
    seen = judge_note(line, RUBRIC, corrections=both)
    assert seen.status == "scored by hand"
    assert seen.total is not None and seen.total.score == 2.0


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
