import pickle

from hypothesis import given
from hypothesis import strategies as st

from rubricate.run.spill import Spill


@given(st.lists(st.text() | st.none() | st.lists(st.text())))
def test_values_come_back_by_place(added: list[object]) -> None:
    spill = Spill[object]()
    assert [spill.add(value) for value in added] == list(range(len(added)))
    assert list(spill) == added
    assert [spill[place] for place in reversed(range(len(spill)))] == added[::-1]


def test_values_may_be_added_after_some_were_read() -> None:
    spill = Spill[str]()
    spill.add("a" * 10_000)
    assert len(spill[0]) == 10_000
    spill.add("b")
    assert (spill[1], len(spill)) == ("b", 2)


def test_texts_may_hold_half_surrogate_pairs() -> None:
    spill = Spill[str]()
    spill.add("\ud800")
    assert spill[0] == "\ud800" and pickle.dumps(spill[0])
