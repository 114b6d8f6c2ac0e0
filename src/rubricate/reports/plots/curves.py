"""Curves with bands, and how far confidence can be believed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rubricate.reports.plots import axes, palette
from rubricate.reports.plots.data import Guide, Labels, Line, Point, limits
from rubricate.reports.plots.svg import MUTED, drawing, element, label, line, number, tooltip

_LEFT, _RIGHT = 68.0, 30.0
#: The least x of a logarithmic axis: half of a smaller number may be 0, which has no place there.
_LEAST = 1e-300


def curve_plot(
    lines: Sequence[Line],
    labels: Labels,
    *,
    guides: Sequence[Guide] = (),
    log_x: bool = False,
    shares: bool = False,
    size: tuple[float, float] = (640, 360),
) -> str:
    """Draw values along x: sample sizes, learning curves, error against the share reviewed.

    Parameters
    ----------
    lines : sequence of Line
        Colour, dashes and marks say which is which; intervals make bands.
    labels : Labels
        Title, names of both axes, description.
    guides : sequence of Guide
        Straight lines to compare with; ``axis`` "y" for a level one, "x" for an upright one.
    log_x : bool
        Logarithmic x; then only positive x are drawn.
    shares : bool
        Whether y is a share, whose axis goes up to 1 and down to a round tenth; else it starts
        at 0.
    size : (float, float)
        Width and height of the drawing, without the legend.

    Returns
    -------
    str
        An SVG document.

    Examples
    --------
    >>> learned = Line("exact", (5, 10, 20), (Point(0.3, 0.2, 0.4), Point(0.4), Point(0.5)))
    >>> svg = curve_plot([learned], Labels("Learning curve", "notes a case", "F1"), shares=True)
    >>> svg.count("<circle")
    4
    """
    width, height = size
    keys = [_key(i, one.name) for i, one in enumerate(lines)]
    head, top = axes.legend(keys, _LEFT, 4, width - _LEFT)
    # an upright guide begins a little above the plot, so that its name is clear of marks at the top
    above = 10 if any(guide.axis == "x" for guide in guides) else 0
    top += 12 + above
    bottom = top + height - 60
    x = _x_scale(lines, guides, log_x, (_LEFT, width - _RIGHT))
    y = _y_scale(lines, guides, shares, (bottom, top))
    frame = axes.x_axis(x, top, bottom, labels.x) + axes.y_axis(y, _LEFT, x.end, labels.y)
    kept = [_usable(one, log_x) for one in lines]
    body = [_band(i, one, x, y) for i, one in enumerate(kept)]
    for guide in guides:
        body.append(
            axes.vertical_guide(x, guide.value, top - above, bottom, guide.label)
            if guide.axis == "x"
            else axes.level_guide(y, guide.value, _LEFT, x.end, guide.label)
        )
    body += [_path(i, one, x, y) for i, one in enumerate(kept)]
    for i, one in enumerate(lines):
        body += [_ring(i, x(at), y(p.value)) for at, p in kept[i] if at == one.chosen]
    body.append(axes.base_line(_LEFT, bottom, x.end, bottom))
    return drawing(width, bottom + 46, head + frame + "".join(body), labels)


def _key(place: int, name: str) -> axes.Key:
    stroke = palette.colour(place)
    bar = line(-13, 0, 13, 0, stroke=stroke, class_=f"k{place % 8}", width=2,
               dash=palette.dash(place))  # fmt: skip
    return axes.Key(bar + palette.shape(place, 0, 0, radius=3.5), name)


def _ring(place: int, x: float, y: float) -> str:
    return element(
        "circle", cx=x, cy=y, r=8, fill="none", stroke=palette.colour(place), stroke_width=2,
        class_=f"k{place % 8}",
    )  # fmt: skip


def _usable(one: Line, log_x: bool) -> list[tuple[float, Point]]:
    return [
        (x, point)
        for x, point in zip(one.x, one.points, strict=True)
        if math.isfinite(x) and point.is_defined and (x > _LEAST or not log_x)
    ]


def _x_scale(
    lines: Sequence[Line], guides: Sequence[Guide], log_x: bool, ends: tuple[float, float]
) -> axes.Scale:
    values = [x for one in lines for x, _ in _usable(one, log_x)]
    values += [g.value for g in guides if g.axis == "x" and math.isfinite(g.value)]
    values = [v for v in values if v > _LEAST or not log_x] or [1.0]
    low, high = min(values), max(values)
    if low == high:
        low, high = (low / 2, high * 2) if log_x else (low - 0.5, high + 0.5)
    # steps and notes are counted: half of one is no place to name
    whole = all(float(value).is_integer() for value in values)
    return axes.Scale(low, high, *ends, log=log_x, whole=whole)


def _y_scale(
    lines: Sequence[Line], guides: Sequence[Guide], shares: bool, ends: tuple[float, float]
) -> axes.Scale:
    fixed = [Point(g.value) for g in guides if g.axis == "y"]
    low, high = limits([*(p for one in lines for p in one.points), *fixed])
    if shares:
        return axes.share_scale(low, high, *ends)
    low = min(low, 0.0)
    return axes.Scale(low, axes.round_end(low, high), *ends)


def _band(place: int, points: list[tuple[float, Point]], x: axes.Scale, y: axes.Scale) -> str:
    known = [(at, point) for at, point in points if point.has_interval]
    if len(known) < 2:
        return "".join(
            line(x(at), y(point.low), x(at), y(point.high), width=1.5,
                 stroke=palette.colour(place), class_=f"k{place % 8}")
            for at, point in known
        )  # fmt: skip
    upper = [(x(at), y(point.high)) for at, point in known]
    lower = [(x(at), y(point.low)) for at, point in reversed(known)]
    return element(
        "polygon", points=" ".join(f"{number(u)},{number(v)}" for u, v in upper + lower),
        fill=palette.colour(place), class_=f"f{place % 8} k{place % 8}", fill_opacity=0.13,
        stroke=palette.colour(place), stroke_opacity=0.35, stroke_width=0.8,
    )  # fmt: skip


def _path(place: int, points: list[tuple[float, Point]], x: axes.Scale, y: axes.Scale) -> str:
    if not points:
        return ""
    places = [(x(at), y(point.value)) for at, point in points]
    path = "M" + "L".join(f"{number(u)} {number(v)}" for u, v in places)
    drawn = element(
        "path", d=path, fill="none", stroke=palette.colour(place), class_=f"k{place % 8}",
        stroke_width=2, stroke_dasharray=palette.dash(place),
    )  # fmt: skip
    # Many points make a curve; a mark on each would hide it, so some carry the shape
    every = max(1, math.ceil(len(points) / 12))
    marks = [
        palette.shape(place, u, v, tooltip(f"{at:g}: {point}"), radius=3.5)
        for i, ((u, v), (at, point)) in enumerate(zip(places, points, strict=True))
        if i % every == 0 or i == len(points) - 1
    ]
    return drawn + "".join(marks)


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Predictions of about the same probability.

    Parameters
    ----------
    probability : float
        The mean of what was stated.
    observed : Point
        The share that came true.
    n : int
        How many predictions.
    edges : (float, float)
        Where the bin begins and ends.
    """

    probability: float
    observed: Point
    n: int
    edges: tuple[float, float]


def reliability_plot(bins: Sequence[ReliabilityBin], labels: Labels, *, width: float = 420) -> str:
    """Draw the share that came true against the probability stated, and how many there were.

    On the diagonal, the stated probability is what happens; below it, the matcher is too sure.

    Parameters
    ----------
    bins : sequence of ReliabilityBin
        Bins without predictions may be left out.
    labels : Labels
        Title, names of both axes, description.
    width : float
        Of the drawing.

    Returns
    -------
    str
        An SVG document.

    Examples
    --------
    >>> bins = [ReliabilityBin(0.92, Point(0.8, 0.7, 0.88), 40, (0.9, 1.0))]
    >>> "0.92 stated, 0.800 [0.700, 0.880] came true, n = 40" in reliability_plot(
    ...     bins, Labels("Reliability")
    ... )
    True
    """
    side = width - _LEFT - _RIGHT
    top, bottom = 12.0, 12.0 + side
    x, y = axes.Scale(0, 1, _LEFT, _LEFT + side), axes.Scale(0, 1, bottom, top)
    parts = [axes.x_axis(x, top, bottom, labels.x, n=6), axes.y_axis(y, _LEFT, x.end, labels.y)]
    parts.append(line(x(0), y(0), x(1), y(1), stroke=MUTED, class_="axis", dash="5 4"))
    parts.append(axes.base_line(x.start, bottom, x.end, bottom))
    usable = [b for b in bins if b.observed.is_defined and math.isfinite(b.probability)]
    base = bottom + 104
    most = max((b.n for b in usable), default=1) or 1
    for one in usable:
        name = tooltip(f"{one.probability:.2f} stated, {one.observed} came true, n = {one.n:,}")
        parts.append(_bin_bar(one, x, base, 44 * one.n / most, name))
        at = x(one.probability)
        if one.observed.has_interval:
            parts.append(palette.whisker(0, at, y(one.observed.low), y(one.observed.high)))
        parts.append(palette.shape(0, at, y(one.observed.value), name))
    parts.append(axes.base_line(x.start, base, x.end, base))
    parts.append(label(x.start - 8, base - 2, "rows", anchor="end", size=11.5, muted=True))
    return drawing(width, base + 8, "".join(parts), labels)


def _bin_bar(one: ReliabilityBin, x: axes.Scale, base: float, size: float, name: str) -> str:
    """Draw how many predictions a bin has, as a bar with its number."""
    left, right = x(one.edges[0]), x(one.edges[1])
    bar = element(
        "rect", name, x=left + 1, y=base - size, width=max(right - left - 2, 1), height=size,
        fill=palette.colour(0), class_="f0", fill_opacity=0.55,
    )  # fmt: skip
    middle = (left + right) / 2
    return bar + label(middle, base - size - 4, f"{one.n:,}", anchor="middle", size=10, muted=True)
