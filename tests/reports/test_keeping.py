import pickle

from hypothesis import given
from hypothesis import strategies as st

from rubricate.reports.keeping import Kept, Texts

PLACES = 5


@given(st.lists(st.tuples(st.integers(0, PLACES - 1), st.text() | st.none() | st.lists(st.text()))))
def test_values_come_back_by_place_in_the_order_they_came(added: list[tuple[int, object]]) -> None:
    kept = Kept(PLACES)
    for place, value in added:
        kept.add(place, value)
    for place in range(PLACES):
        assert kept.get(place) == [value for own, value in added if own == place]
        assert kept.given(place) == any(own == place for own, _ in added)


def test_values_may_be_added_after_some_were_read() -> None:
    kept = Kept(1)
    kept.add(0, "a" * 10_000)
    assert len(kept.get(0)) == 1
    kept.add(0, "b")
    assert kept.get(0)[1] == "b"


def test_texts_hold_half_surrogate_pairs() -> None:
    texts = Texts(1)
    texts.keep(0, "\ud800")
    assert texts[0] == "\ud800" and pickle.dumps(texts[0])
