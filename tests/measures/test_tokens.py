from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import TEXT

from rubricate.errors import InputError
from rubricate.measures import Pairing, words
from rubricate.measures.tokens import to_tokens

Make = Callable[..., Pairing]
NOTE = "58 yo M, no CP"  # tokens: 58 | yo | M | , | no | CP


@given(TEXT)
def test_words_cover_all_but_white_space(text: str) -> None:
    tokens = words(text)
    inside = {c for s, e in tokens for c in range(s, e)}
    assert sum(e - s for s, e in tokens) == len(inside)
    assert inside == {i for i, c in enumerate(text) if not c.isspace()}
    assert tokens == sorted(tokens)


def test_a_span_becomes_the_tokens_it_touches(make_pairing: Make) -> None:
    reference = [[(0, 5)], [(1, 4)], [(2, 3)], [(3, 4), (9, 14)]]
    marks, _, sizes = to_tokens(make_pairing([(reference, [])], text=NOTE))
    assert sizes.tolist() == [6]
    found = {
        tuple(zip(marks.start[i:j].tolist(), marks.end[i:j].tolist(), strict=True))
        for i, j in zip(marks.first[:-1].tolist(), marks.first[1:].tolist(), strict=True)
    }
    assert marks.first.tolist() == [0, 1, 2, 2, 4]
    # (2, 3) is the space between two tokens
    assert found == {((0, 2),), (), ((1, 2), (4, 6))}


@given(data=st.data(), text=TEXT.filter(lambda t: len(t) > 2))
def test_runs_are_exactly_the_tokens_that_share_a_character(
    make_pairing: Make, data: Any, text: str
) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    marks, _, _ = to_tokens(make_pairing([([[(start, end)]], [])] * 4, text=text))
    expected = [i for i, (s, e) in enumerate(words(text)) if s < end and start < e]
    for first, last in zip(marks.start.tolist(), marks.end.tolist(), strict=True):
        assert list(range(first, last)) == expected
    assert len(marks.start) == (4 if expected else 0)


def test_tokens_may_be_given_by_note_id(make_pairing: Make) -> None:
    pairing = make_pairing([([[(0, 5)]], [])], text=NOTE)
    marks, _, sizes = to_tokens(pairing, {"n0": [(0, 1), (1, 2), (3, 5)]})
    assert (marks.start.tolist(), marks.end.tolist(), sizes.tolist()) == ([0], [3], [3])


@pytest.mark.parametrize(
    "bad", [[(3, 5), (0, 2)], [(0, 3), (2, 5)], [(4, 4)], [(0, 15)], [(-1, 2)]]
)
def test_bad_tokens_are_refused(make_pairing: Make, bad: list[tuple[int, int]]) -> None:
    pairing = make_pairing([([[(0, 5)]], [])], text=NOTE)
    with pytest.raises(InputError, match="n0"):
        to_tokens(pairing, {"n0": bad})


def test_missing_tokens_are_refused_unless_nothing_is_marked_there(make_pairing: Make) -> None:
    with pytest.raises(InputError, match="n0"):
        to_tokens(make_pairing([([[(0, 5)]], [])], text=NOTE), {})
    _, _, sizes = to_tokens(make_pairing([([], [])], text=NOTE), {})
    assert sizes.tolist() == [0]
