import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rubricate import Note
from rubricate.formats.format import Unreadable
from rubricate.scoring.job import survey_notes

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
    assert survey.repeated == (len(set(ids)) < len(ids))
    seen: dict[tuple[str, str], int] = {}
    for i, note in enumerate(notes):
        first = i
        if isinstance(note, Note):
            first = seen.setdefault((note.case, note.text), i)
        assert survey.first[i] == first
    assert survey.n_notes == len(notes)


def test_the_hash_follows_order_and_text() -> None:
    a, b = Note("1", "c", "x"), Note("2", "c", "y")
    assert survey_notes([a, b]).hash == survey_notes(iter([a, b])).hash
    assert len({survey_notes(n).hash for n in ([a, b], [b, a], [a], [])}) == 4
    assert survey_notes([]).first.dtype == np.int64
