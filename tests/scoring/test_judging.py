from rubricate import Feature, Rubric
from rubricate.scoring import Correction, Evidence, judge_note
from rubricate.scoring.cells import ITEM_COLUMNS, SCORE_COLUMNS

RUBRIC = Rubric(
    "c", (Feature("f", "c", "Fever", weight=2.0), Feature("g", "c", "=Cough", weight=1.0))
)
FOUND = Evidence((((0, 5),),), 0.9, 0.8, ("fever",), "exact")
LINE = {"note": "n", "case": "c", "items": [FOUND.to_json(), Evidence().to_json()]}


def correct(feature: str, found: bool, **more: object) -> Correction:
    return Correction("n", feature, found, "Ann", "2025-01-01", **more)  # type: ignore[arg-type]


def test_cells_match_their_columns() -> None:
    result = judge_note(LINE, RUBRIC)
    assert len(result.cells()) == len(SCORE_COLUMNS)
    cells = dict(zip(ITEM_COLUMNS, result.items[0].cells("n", "c"), strict=True))
    assert cells["found"] == "yes" and cells["points"] == "2" and cells["spans"] == "0 5"
    assert result.items[1].cells("n", "c")[3] == "'=Cough"


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
    assert result.items == () and result.cells()[2] == "not scored"
