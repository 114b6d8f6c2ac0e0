from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate import Span
from rubricate.spans import covered_text, merge_spans

SPANS = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, 5)).map(lambda p: Span(p[0], p[0] + p[1])),
    max_size=6,
)


@pytest.mark.parametrize(("start", "end"), [(-1, 3), (3, 3), (4, 3)])
def test_a_span_is_never_empty_and_never_before_the_text(start: int, end: int) -> None:
    with pytest.raises(ValueError, match=f"span {start} {end}"):
        Span(start, end)
    assert len(Span(0, 1)) == 1


@pytest.mark.parametrize(
    ("first", "second", "overlap"),
    [
        ((0, 5), (5, 9), False),
        ((0, 5), (4, 9), True),
        ((0, 9), (3, 4), True),
        ((2, 3), (0, 2), False),
    ],
)
def test_touching_spans_do_not_overlap(
    first: tuple[int, int], second: tuple[int, int], overlap: bool
) -> None:
    assert Span(*first).overlaps(Span(*second)) == overlap
    assert Span(*second).overlaps(Span(*first)) == overlap


@given(SPANS)
def test_merged_spans_cover_the_same_characters_with_gaps_between(spans: list[Span]) -> None:
    merged = merge_spans(spans)
    covered = {i for span in spans for i in range(span.start, span.end)}
    assert [i for span in merged for i in range(span.start, span.end)] == sorted(covered)
    assert all(a.end < b.start for a, b in pairwise(merged))


def test_words_of_fragments_are_joined_by_one_space() -> None:
    assert covered_text([Span(0, 2), Span(3, 8)], "no fever") == "no fever"
    assert covered_text([], "no fever") == ""
