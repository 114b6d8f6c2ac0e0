"""Lines of overlapping features never fall on each other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rubricate.reports.marks import MAX_LANES, Mark, Sides, cut_pieces, find_lanes
from rubricate.spans import Span

LENGTH = 30
SPAN = st.tuples(st.integers(0, LENGTH - 1), st.integers(1, 12)).map(
    lambda t: Span(t[0], min(LENGTH, t[0] + t[1]))
)
MARK = st.builds(
    Mark,
    st.integers(1, 6),
    st.just("f"),
    st.sampled_from(["reference", "predicted"]),
    st.lists(SPAN, min_size=1, max_size=3, unique=True).map(lambda s: tuple(sorted(s))),
)


@given(st.lists(MARK, max_size=10))
def test_lanes_differ_where_features_overlap_and_stay_along_a_run(marks: list[Mark]) -> None:
    pieces = cut_pieces(LENGTH, marks)
    lanes = find_lanes(pieces)
    for before, piece in zip([None, *pieces], pieces, strict=False):
        own = [lanes[piece.start, number] for number in piece.states]
        free = [lane for lane in own if lane < MAX_LANES - 1]
        assert len(free) == len(set(free))
        if before is not None:
            for number in set(before.states) & set(piece.states):
                assert lanes[before.start, number] == lanes[piece.start, number]


@given(st.lists(MARK, max_size=10))
def test_pieces_tile_the_text(marks: list[Mark]) -> None:
    pieces = cut_pieces(LENGTH, marks)
    assert [p.start for p in pieces] == [0, *(p.end for p in pieces[:-1])]
    assert pieces[-1].end == LENGTH


def test_sides_are_named() -> None:
    assert Sides("ann", "bob").words("false") == "bob only"
