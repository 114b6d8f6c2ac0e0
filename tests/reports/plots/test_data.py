"""Rows are limited and shared out without losing any."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rubricate.reports.plots.data import (
    NAN,
    ForestGroup,
    ForestRow,
    Point,
    paged_groups,
    worst_rows,
)

VALUE = st.one_of(st.floats(0, 1), st.just(NAN))


@st.composite
def groups(draw: st.DrawFn) -> list[ForestGroup]:
    made = []
    for g in range(draw(st.integers(0, 5))):
        values = draw(st.lists(VALUE, max_size=9))
        rows = tuple(ForestRow(f"{g}-{i}", (Point(v),)) for i, v in enumerate(values))
        made.append(ForestGroup(str(g), rows))
    return made


@given(groups(), st.integers(0, 20))
def test_the_worst_are_kept(made: list[ForestGroup], limit: int) -> None:
    kept, left_out = worst_rows(made, limit)
    every = [row for group in made for row in group.rows]
    shown = [row for group in kept for row in group.rows]
    assert len(shown) + left_out == len(every)
    assert len(shown) <= limit
    rest = [r.points[0].value for r in every if r not in shown and r.points[0].is_defined]
    assert max((r.points[0].value for r in shown), default=0) <= min(rest, default=1)


@given(groups(), st.integers(2, 12))
def test_parts_hold_all_rows_in_order(made: list[ForestGroup], most: int) -> None:
    parts = paged_groups(made, most)
    assert [r for part in parts for g in part for r in g.rows] == [r for g in made for r in g.rows]
    assert all(sum(len(g.rows) + 1 for g in part) <= most for part in parts)
