"""Every plot: XML that parses, finite coordinates, whatever it is given."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.reports.plots import (
    UNDEFINED,
    ForestGroup,
    ForestRow,
    Guide,
    Labels,
    Line,
    PlotBin,
    Point,
    Series,
    bar_plot,
    confusion_plot,
    curve_plot,
    dot_plots,
    forest_plot,
    histogram,
    matrix_plot,
    reliability_plot,
)
from rubricate.reports.plots.points import dot_plot

SVG = "{http://www.w3.org/2000/svg}"
Read = Callable[[str], ElementTree.Element]
NAN, INF = float("nan"), float("inf")
LABELS = Labels("A < B & \x00 “C”", x="x <", y="y &", description="What <it> shows.")
VALUE = st.one_of(st.floats(-0.5, 1.5), st.sampled_from([NAN, INF, -INF, 0.0, 1.0]))
POINT = st.builds(Point, VALUE, VALUE, VALUE)
NAME = st.text(st.sampled_from("abW <&\"'😀\x01中"), max_size=40)


def marks(root: ElementTree.Element, class_: str) -> list[ElementTree.Element]:
    return [e for e in root.iter() if e.get("class") == class_]


@given(st.data())
def test_any_points_give_a_drawing(data: st.DataObj) -> None:
    from xml.etree.ElementTree import fromstring

    n = data.draw(st.integers(0, 5))
    names = data.draw(st.lists(NAME, min_size=n, max_size=n))
    points = st.lists(POINT, min_size=n, max_size=n).map(tuple)
    series = [
        Series(data.draw(NAME), data.draw(points)) for _ in range(data.draw(st.integers(0, 3)))
    ]
    human = data.draw(st.none() | st.builds(Series, NAME, points))
    rows = tuple(
        ForestRow(name, tuple(s.points[i] for s in series)) for i, name in enumerate(names)
    )
    x = tuple(data.draw(st.lists(VALUE, min_size=n, max_size=n)))
    guides = [Guide(data.draw(VALUE), data.draw(NAME), data.draw(st.sampled_from(["x", "y"])))]
    system_names = [one.name for one in series]
    drawn = [
        dot_plot(names, series, LABELS, human=human),
        forest_plot([ForestGroup("g", rows)], system_names, LABELS, guide=guides[0]),
        bar_plot(names, series, LABELS),
        histogram(x, LABELS),
        curve_plot([Line(s.name, x, s.points) for s in series], LABELS, guides=guides,
                   shares=data.draw(st.booleans())),
        reliability_plot([PlotBin(c, p, 3, (0.2, 0.3)) for s in series for c, p in zip(x, s.points, strict=True)], LABELS),
        matrix_plot(names, [[v for _ in names] for v in x], LABELS),
    ]  # fmt: skip
    for svg in drawn:
        fromstring(svg)
        head = svg[: svg.index(">")]
        assert "nan" not in head
        assert "inf" not in head


def test_nothing_at_all(read_svg: Read) -> None:
    for svg in (
        dot_plot([], [], LABELS),
        forest_plot([], [], LABELS),
        bar_plot([], [], LABELS),
        histogram([], LABELS),
        curve_plot([], LABELS),
        reliability_plot([], LABELS),
        matrix_plot([], [], LABELS),
        confusion_plot(dict.fromkeys(("tp", "fp", "fn", "tn"), 0), LABELS),
    ):
        read_svg(svg)


def test_title_and_description_are_spoken(read_svg: Read) -> None:
    root = read_svg(dot_plot(["a"], [Series("s", (Point(0.5),))], LABELS))
    assert root.get("aria-label") == "A < B &  “C”. What <it> shows."
    assert root.findtext(f"{SVG}desc") == "What <it> shows."


def test_higher_values_stand_higher(read_svg: Read) -> None:
    points = (Point(0.2), Point(0.6), Point(1.0))
    root = read_svg(dot_plot(["a", "b", "c"], [Series("s", points)], LABELS))
    heights = [float(e.get("cy", "")) for e in marks(root, "f0") if float(e.get("cy", "")) > 0]
    low, middle, high = heights
    assert low > middle > high
    assert low - middle == pytest.approx(middle - high, abs=0.02)


def test_undefined_points_leave_a_gap(read_svg: Read) -> None:
    points = (Point(0.5, 0.4, 0.6), UNDEFINED, Point(0.7))
    root = read_svg(dot_plot(["a", "b", "c"], [Series("s", points)], LABELS))
    assert len(marks(root, "f0")) == 1 + 2  # legend and two cases
    human = Series("h", points)
    root = read_svg(dot_plot(["a", "b", "c"], [], LABELS, human=human))
    path = next(e for e in root.iter(f"{SVG}path")).get("d", "")
    assert path.count("M") == 2  # the line does not run through the gap


def test_systems_differ_by_shape_not_only_by_colour(read_svg: Read) -> None:
    series = [Series(str(i), (Point(0.5),)) for i in range(8)]
    root = read_svg(dot_plot(["a"], series, LABELS))
    outlines = set()
    for i in range(8):
        mark = marks(root, f"f{i}")[0]
        outlines.add((mark.tag, mark.get("points")))
    assert len(outlines) == 8


def test_many_cases_go_on_in_panels_and_drawings(read_svg: Read) -> None:
    names = [f"case {i}" for i in range(100)]
    series = [Series("s", tuple(Point(0.5) for _ in names))]
    root = read_svg(dot_plot(names, series, LABELS))
    assert float(root.get("width", "")) <= 920
    assert float(root.get("height", "")) > 1000
    drawn = dot_plots(names, series, LABELS, most=40)
    assert [svg.count(": s 0.500") for svg in drawn] == [40, 40, 20]


def test_series_must_fit_the_categories() -> None:
    for plot in (dot_plot, bar_plot):
        with pytest.raises(ValueError, match="2 points for 1"):
            plot(["a"], [Series("s", (Point(1), Point(2)))], LABELS)


def test_forest_rows_line_up_with_their_values(read_svg: Read) -> None:
    rows = (
        ForestRow("low", (Point(0.25, 0.1, 0.4),)),
        ForestRow("none", (UNDEFINED,)),
        ForestRow("high", (Point(0.75, 0.6, 0.9),)),
    )
    svg = forest_plot([ForestGroup("g", rows)], ["s"], LABELS, guide=Guide(0.5, "all"), span=(0, 1))
    root = read_svg(svg)
    places = [float(e.get("cx", "")) for e in marks(root, "f0")]
    guide = next(e for e in marks(root, "human")).get("x1", "")
    assert len(places) == 2
    assert float(guide) == pytest.approx(sum(places) / 2, abs=0.02)
    assert "undefined" in svg


def test_long_labels_are_cut_with_the_whole_as_tooltip(read_svg: Read) -> None:
    name = "No heat intolerance OR no tremor OR " * 5
    root = read_svg(
        forest_plot([ForestGroup("", (ForestRow(name, (Point(0.5),)),))], ["s"], LABELS)
    )
    assert any((e.text or "").endswith("…") for e in root.iter(f"{SVG}text"))
    assert any(e.text == name for e in root.iter(f"{SVG}title"))


def test_confusion_shows_counts_and_shares(read_svg: Read) -> None:
    root = read_svg(confusion_plot({"tp": 60, "fp": 10, "fn": 5, "tn": 25}, LABELS))
    texts = [e.text for e in root.iter(f"{SVG}text")]
    for count, share in (("60", "60.0 %"), ("10", "10.0 %"), ("5", "5.0 %"), ("25", "25.0 %")):
        assert count in texts
        assert share in texts
    assert len(marks(root, "wrong")) == 2  # errors are hatched


def test_curves_have_bands_and_dashes(read_svg: Read) -> None:
    points = (Point(0.2, 0.1, 0.3), Point(0.4, 0.3, 0.5))
    lines = [Line("a", (1, 2), points), Line("b", (1, 2), points)]
    root = read_svg(curve_plot(lines, LABELS, shares=True))
    assert len(marks(root, "f0 k0")) == 1
    dashes = {e.get("stroke-dasharray") for e in root.iter(f"{SVG}path")}
    assert len(dashes) == 2


def test_histograms_count_everything_finite(read_svg: Read) -> None:
    svg = histogram([1.0, 1.0, 2.0, NAN, INF], LABELS, n_bins=4)
    read_svg(svg)
    assert "1 to 1.25: 2" in svg
    assert "1.75 to 2: 1" in svg


@pytest.mark.parametrize("values", [[0.0, 5e-324], [1.0, 1.0 + 2**-52], [-0.3, -0.3]])
def test_values_that_nothing_lies_between_are_drawn(values: list[float], read_svg: Read) -> None:
    x, points = tuple(values), tuple(Point(v, *values) for v in values)
    both = [Series("s", points)]
    drawn = [
        histogram(values, LABELS),
        bar_plot(["a", "b"], both, LABELS),
        dot_plot(["a", "b"], both, LABELS),
        curve_plot([Line("l", x, points)], LABELS),
    ]
    for svg in drawn:
        read_svg(svg)


def test_counts_are_whole_numbers(read_svg: Read) -> None:
    bars = [Series("to review", (Point(2.0), Point(1.0)))]
    for svg in (bar_plot(["a", "b"], bars, LABELS, whole=True), histogram([1, 2], LABELS)):
        shown = [one.text or "" for one in read_svg(svg).iter(f"{SVG}text")]
        assert {"0", "1"} <= set(shown)
    drawn = bar_plot(["a", "b"], bars, LABELS, whole=True)
    assert "1.0" not in drawn and ">a: 2<" in drawn
