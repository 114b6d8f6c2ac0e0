import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate import Note
from rubricate.formats.format import Unreadable
from rubricate.scoring.survey import survey_notes, why_not_scored

NOTES = st.lists(
    st.builds(
        Note, st.sampled_from("abcde"), st.sampled_from("xy"), st.sampled_from(["p", "q", "\ud800"])
    )
    | st.builds(Unreadable, st.sampled_from("abc"), st.just(""), st.just("broken")),
    max_size=12,
)


@given(NOTES)
def test_identical_notes_and_repeated_ids_as_brute_force_finds_them(
    notes: list[Note | Unreadable],
) -> None:
    survey = survey_notes(notes)
    ids = [note.id for note in notes]
    assert survey.repeated.tolist() == [note.id in ids[:i] for i, note in enumerate(notes)]
    seen: dict[tuple[str, str], int] = {}
    for i, note in enumerate(notes):
        first = i
        if isinstance(note, Note) and not survey.repeated[i]:
            first = seen.setdefault((note.case, note.text), i)
        assert survey.first[i] == first
    assert survey.n_notes == len(notes)


def test_the_hash_follows_order_and_text() -> None:
    a, b = Note("1", "c", "x"), Note("2", "c", "y")
    assert survey_notes([a, b]).hash == survey_notes(iter([a, b])).hash
    assert len({survey_notes(n).hash for n in ([a, b], [b, a], [a], [])}) == 4
    assert survey_notes([]).first.dtype == np.int64


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


def test_a_note_without_a_case_has_a_reason_of_its_own() -> None:
    note = Note("1", "", "no fever")
    assert why_not_scored(note, {"c"}) != why_not_scored(note, {""}) == ""
    assert "''" not in why_not_scored(note, {"c"})
