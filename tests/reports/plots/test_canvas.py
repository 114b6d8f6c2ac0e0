"""Surroundings of plots: legends wrap, guides stay inside, undefined points leave nothing."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.reports.plots import UNDEFINED, Guide, Labels, Point
from rubricate.reports.plots.canvas import (
    Canvas,
    Scale,
    mark_key,
    point_mark,
    round_values,
    share_scale,
    tick_text,
)

SVG = "{http://www.w3.org/2000/svg}"
Read = Callable[[str], ElementTree.Element]
UNIT = Scale(0, 1, 100, 0)


def test_legends_take_the_lines_they_need() -> None:
    keys = [mark_key(i, f"a rather long name {i}") for i in range(6)]
    narrow, wide = Canvas(Labels("t"), 300, 10, 290), Canvas(Labels("t"), 3000, 10, 2990)
    narrow.legend(keys)
    wide.legend(keys)
    assert narrow.top > wide.top
    none = Canvas(Labels("t"), 300, 10, 290)
    none.legend([])
    assert none.top == Canvas(Labels("t"), 300, 10, 290).top


@pytest.mark.parametrize("value", [float("nan"), 1.5, -0.1])
def test_guides_outside_the_axis_are_not_drawn(value: float) -> None:
    canvas = Canvas(Labels("t"), 300, 10, 290)
    canvas.guide(Guide(value, "all"), UNIT)
    assert canvas.parts == []


def test_an_interval_reaches_from_limit_to_limit(read_svg: Read) -> None:
    canvas = Canvas(Labels("t"), 300, 10, 290)
    canvas.open(below=0, height=100)
    canvas.add(point_mark(0, Point(0.5, 0.25, 0.75), "p", scale=UNIT, at=50))
    canvas.add(point_mark(0, UNDEFINED, "u", scale=UNIT, at=80))
    root = read_svg(canvas.finish())
    paths = [e.get("d", "") for e in root.iter(f"{SVG}path")]
    assert paths == ["M50 75V25M47 75h6M47 25h6"]
    lying = point_mark(0, Point(0.5, 0.25, 0.75), "p", scale=Scale(0, 1, 0, 100), at=9, lying=True)
    assert 'd="M25 9H75"' in lying


def test_words_below_need_room(read_svg: Read) -> None:
    heights = []
    for labels in (Labels("t"), Labels("t", x="notes")):
        canvas = Canvas(labels, 300, 10, 290)
        canvas.open(below=0, height=100)
        heights.append(float(read_svg(canvas.finish()).get("height", "")))
    assert heights[0] < heights[1]


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 12))
def test_ticks_lie_inside_and_rise(low: float, width: float, n: int) -> None:
    values = round_values(low, low + width, n)
    slack = width * 1e-6 + 1e-9
    assert all(low - slack <= v <= low + width + slack for v in values)
    assert values == sorted(set(values))
    assert len(values) <= 2 * n + 1


@given(st.floats(-2, 3), st.floats(0, 1), st.floats(0, 1))
def test_scales_stay_between_their_ends(value: float, a: float, b: float) -> None:
    scale = share_scale(min(a, b), max(a, b), 100, 20)
    assert 20 <= scale(value) <= 100


def test_a_scale_of_one_value_is_in_the_middle() -> None:
    assert Scale(3, 3, 0, 10)(3) == 5
    assert round_values(3, 3) == [3]
    assert round_values(0, 5e-324) == [0]  # the least number above 0


def test_tick_texts_have_the_decimals_of_the_step() -> None:
    assert tick_text(0.30000000000000004, 0.1) == "0.3"
    assert tick_text(2.5, 2.5) == "2.5"
    assert tick_text(20000, 5000) == "20,000"


@given(st.integers(0, 500), st.integers(0, 500), st.integers(4, 12))
def test_whole_axes_name_whole_numbers(low: int, width: int, n: int) -> None:
    ticks = Scale(low, low + width, 0, 1, whole=True).ticks(n)
    assert ticks
    assert all(float(tick).is_integer() for tick in ticks)
