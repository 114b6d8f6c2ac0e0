import pytest

from rubricate import Note
from rubricate.scoring.screening import why_not_scored


@pytest.mark.parametrize("text", ["no fever", "é😀\r\n\tcough", "x" * 50])
def test_text_is_scored(text: str) -> None:
    assert why_not_scored(Note("1", "c", text), {"c"}, longest=50) == ""


@pytest.mark.parametrize(
    "text", ["", " \n\t\u00a0", "x" * 51, "%PDF\x00\x01", "\x02\x03ab", "a\ud800b", "\ufffd" * 9]
)
def test_what_is_no_note_has_a_reason(text: str) -> None:
    reason = why_not_scored(Note("1", "c", text), {"c"}, longest=50)
    assert reason
    assert not text.strip() or text not in reason


def test_a_case_without_rubric_has_a_reason() -> None:
    assert "'d'" in why_not_scored(Note("1", "d", "no fever"), {"c"})
