from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rubricate.matchers.wording.reading import MARK, NUMBER, WORD, join_readings, read_columns

TEXTS = st.lists(
    st.sampled_from(
        ["Denies", "fever", ",", "chills", ".", "\n", "58", "yo", "father", "or", "MI"]
    ),
    max_size=15,
).map(" ".join)


def test_tokens_have_kinds_and_surroundings() -> None:
    reading = read_columns("58 yo, denies fever.\nFHx: dad MI")
    forms = [token.form for token in reading.tokens]
    assert reading.kind[forms.index("58")] == NUMBER
    assert reading.kind[forms.index(",")] == MARK
    assert reading.kind[forms.index("fever")] == WORD
    assert reading.scope[forms.index("fever")] == reading.cue[forms.index("denies")] == 0
    assert reading.family[forms.index("mi")] and not reading.family[forms.index("fever")]
    assert reading.quantity[forms.index("58")] == 0


def test_items_part_at_commas_and_conjunctions() -> None:
    reading = read_columns("no fever, chills or sweats; cough")
    forms = [token.form for token in reading.tokens]
    items = [int(reading.item[forms.index(w)]) for w in ("fever", "chills", "sweats", "cough")]
    assert len(set(items)) == 4


def test_an_empty_note() -> None:
    assert len(read_columns("")) == 0
    assert len(join_readings([read_columns(""), read_columns("  ")])) == 0


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_notes_read_together_are_the_notes_read_alone(texts: list[str]) -> None:
    readings = [read_columns(text) for text in texts]
    both = join_readings(readings)
    assert len(both) == sum(len(reading) for reading in readings)
    for name in ("kind", "section", "family"):
        alone = np.concatenate([getattr(reading, name) for reading in readings])
        assert np.array_equal(getattr(both, name), alone)
    for name in ("scope", "cue", "quantity"):
        alone = np.concatenate([getattr(reading, name) for reading in readings])
        assert np.array_equal(getattr(both, name) >= 0, alone >= 0)
    place = 0
    for reading in readings:
        clauses = set(both.clause[place : place + len(reading)].tolist())
        assert not clauses & set(both.clause[:place].tolist())
        place += len(reading)


def test_a_word_that_denies_itself_is_denied() -> None:
    reading = read_columns("nonsmoker, afebrile, painless lump")
    denied = [t.form for t, i in zip(reading.tokens, reading.scope, strict=True) if i >= 0]
    assert denied == ["nonsmoker", "afebrile", "painless"]
    assert (reading.cue < 0).all()
