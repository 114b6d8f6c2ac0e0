"""What surrounds plots: legends wrap, guides stay inside, undefined points leave nothing."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from rubricate.reports.plots import UNDEFINED, Guide, Labels, Point
from rubricate.reports.plots.canvas import Canvas, Scale, mark_key, point_mark

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
