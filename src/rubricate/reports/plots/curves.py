"""Curves with bands, and how far confidence can be believed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rubricate.reports.plots import ink
from rubricate.reports.plots.canvas import (
    Canvas,
    Key,
    Scale,
    axis_line,
    limits,
    point_mark,
    round_end,
    share_scale,
)
from rubricate.reports.plots.data import Guide, Labels, Line, Point
from rubricate.reports.plots.ink import MUTED, element, label, line, number, tooltip

_LEFT, _RIGHT = 68.0, 30.0


def curve_plot(
    lines: Sequence[Line],
    labels: Labels,
    *,
    guides: Sequence[Guide] = (),
    shares: bool = False,
    size: tuple[float, float] = (640, 360),
) -> str:
    """Draw values along x: sample sizes, learning curves, error against the share reviewed.

    >>> learned = Line("exact", (5, 10, 20), (Point(0.3, 0.2, 0.4), Point(0.4), Point(0.5)))
    >>> svg = curve_plot([learned], Labels("Learning curve", "notes per case", "F1"), shares=True)
    >>> svg.count("<circle")
    4
    """
    width, height = size
    canvas = Canvas(labels, width, _LEFT, width - _RIGHT)
    canvas.legend([_key(i, one.name) for i, one in enumerate(lines)])
    # an upright guide begins a little above the plot, so that its name is clear of marks at the top
    above = 10.0 if any(guide.axis == "x" for guide in guides) else 0.0
    canvas.open(below=12 + above, height=height - 60)
    x = _x_scale(lines, guides, canvas.across)
    y = _y_scale(lines, guides, shares, canvas.up)
    canvas.x_axis(x)
    canvas.y_axis(y, labels.y)
    kept = [_usable(one) for one in lines]
    canvas.add(*(_band(i, one, x, y) for i, one in enumerate(kept)))
    for guide in guides:
        canvas.guide(guide, x if guide.axis == "x" else y, above=above)
    canvas.add(*(_path(i, one, x, y) for i, one in enumerate(kept)))
    for i, one in enumerate(lines):
        canvas.add(*(_ring(i, x(at), y(p.value)) for at, p in kept[i] if at == one.chosen))
    canvas.base_line()
    return canvas.finish()


def _key(place: int, name: str) -> Key:
    stroke = ink.look(place).colour
    bar = line(-13, 0, 13, 0, stroke=stroke, class_=ink.look(place).stroke_class, width=2,
               dash=ink.look(place).dash)  # fmt: skip
    return Key(bar + ink.shape(place, 0, 0, radius=3.5), name)


def _ring(place: int, x: float, y: float) -> str:
    return element(
        "circle", cx=x, cy=y, r=8, fill="none", stroke=ink.look(place).colour, stroke_width=2,
        class_=ink.look(place).stroke_class,
    )  # fmt: skip


def _usable(one: Line) -> list[tuple[float, Point]]:
    return [
        (x, point)
        for x, point in zip(one.x, one.points, strict=True)
        if math.isfinite(x) and point.is_defined
    ]


def _x_scale(lines: Sequence[Line], guides: Sequence[Guide], ends: tuple[float, float]) -> Scale:
    values = [x for one in lines for x, _ in _usable(one)]
    values += [g.value for g in guides if g.axis == "x" and math.isfinite(g.value)]
    values = values or [1.0]
    low, high = min(values), max(values)
    if low == high:
        low, high = low - 0.5, high + 0.5
    # steps and notes are counted: half of one is no place to name
    whole = all(float(value).is_integer() for value in values)
    return Scale(low, high, *ends, whole=whole)


def _y_scale(
    lines: Sequence[Line], guides: Sequence[Guide], shares: bool, ends: tuple[float, float]
) -> Scale:
    fixed = [Point(g.value) for g in guides if g.axis == "y"]
    low, high = limits([*(p for one in lines for p in one.points), *fixed])
    if shares:
        return share_scale(low, high, *ends)
    low = min(low, 0.0)
    return Scale(low, round_end(low, high), *ends)


def _band(place: int, points: list[tuple[float, Point]], x: Scale, y: Scale) -> str:
    known = [(at, point) for at, point in points if point.has_interval]
    if len(known) < 2:
        return "".join(
            ink.whisker(place, x(at), y(point.low), y(point.high)) for at, point in known
        )
    upper = [(x(at), y(point.high)) for at, point in known]
    lower = [(x(at), y(point.low)) for at, point in reversed(known)]
    classes = f"{ink.look(place).fill_class} {ink.look(place).stroke_class}"
    return element(
        "polygon", points=" ".join(f"{number(u)},{number(v)}" for u, v in upper + lower),
        fill=ink.look(place).colour, class_=classes, fill_opacity=0.13,
        stroke=ink.look(place).colour, stroke_opacity=0.35, stroke_width=0.8,
    )  # fmt: skip


def _path(place: int, points: list[tuple[float, Point]], x: Scale, y: Scale) -> str:
    if not points:
        return ""
    places = [(x(at), y(point.value)) for at, point in points]
    path = "M" + "L".join(f"{number(u)} {number(v)}" for u, v in places)
    drawn = element(
        "path", d=path, fill="none", stroke=ink.look(place).colour,
        class_=ink.look(place).stroke_class, stroke_width=2, stroke_dasharray=ink.look(place).dash,
    )  # fmt: skip
    # Many points make a curve; a mark on each would hide it, so some carry the shape
    every = max(1, math.ceil(len(points) / 12))
    marks = [
        ink.shape(place, u, v, tooltip(f"{at:g}: {point}"), radius=3.5)
        for i, ((u, v), (at, point)) in enumerate(zip(places, points, strict=True))
        if i % every == 0 or i == len(points) - 1
    ]
    return drawn + "".join(marks)


def difference_plot(
    first: Sequence[float],
    second: Sequence[float],
    levels: Sequence[tuple[str, Point]],
    labels: Labels,
) -> str:
    """Draw differences of two raters' scores against their means (Bland & Altman 1986).

    Dots that fall together grow with their number; ``levels`` are lines with bands.

    >>> bias = [("bias", Point(0.7, 0, 1.3))]
    >>> svg = difference_plot([1, 2, 2], [1, 3, 3], bias, Labels("Scores"))
    >>> svg.count("<circle")
    2
    """
    canvas = Canvas(labels, 560, _LEFT, 470 - _RIGHT)
    canvas.open(below=12, height=280)
    dots = Counter(((a + b) / 2, b - a) for a, b in zip(first, second, strict=True))
    ends = [value for _, p in levels for value in (p.value, p.low, p.high) if math.isfinite(value)]
    low, high = min(*ends, *(d for _, d in dots)), max(*ends, *(d for _, d in dots))
    room = max((high - low) * 0.05, 0.5)
    means = [m for m, _ in dots]
    x = Scale(min(means) - 0.5, max(means) + 0.5, *canvas.across)
    y = Scale(low - room, high + room, *canvas.up)
    canvas.x_axis(x)
    canvas.y_axis(y, labels.y)
    names, above = {}, -math.inf  # names of levels that lie close together make room
    for name, p in sorted(levels, key=lambda level: -level[1].value):
        names[name] = above = max(y(p.value) + 4, above + 14)
    for place, (name, p) in enumerate(levels):
        colour, at = ink.look(min(place, 1)).colour, y(p.value)
        fill, stroke = ink.look(min(place, 1)).fill_class, ink.look(min(place, 1)).stroke_class
        if p.has_interval:
            canvas.add(
                element("rect", x=canvas.left, y=y(p.high), width=canvas.right - canvas.left,
                        height=y(p.low) - y(p.high), fill=colour, fill_opacity=0.1, class_=fill)
            )  # fmt: skip
        canvas.add(
            line(canvas.left, at, canvas.right, at, stroke=colour, class_=stroke, width=1.6,
                 dash="6 4" if place else ""),
            label(canvas.right + 6, names[name], f"{name} {p.value:+.2f}", size=11.5),
        )  # fmt: skip
    for (mean, difference), n in dots.items():
        radius = 2.2 * math.sqrt(n) + 1
        name = tooltip(f"mean {mean:g}, difference {difference:+g}, n = {n:,}")
        canvas.add(
            element("circle", name, cx=x(mean), cy=y(difference), r=min(radius, 14),
                    fill=ink.look(0).colour, class_="f0", fill_opacity=0.5)
        )  # fmt: skip
    canvas.base_line()
    return canvas.finish()


@dataclass(frozen=True, slots=True)
class PlotBin:
    """Predictions of about the same probability."""

    probability: float
    observed: Point
    n: int
    edges: tuple[float, float]


def reliability_plot(bins: Sequence[PlotBin], labels: Labels) -> str:
    """Draw the share that came true against the probability stated, and how many there were.

    On the diagonal, the stated probability is what happens; below it, the matcher is too sure.

    >>> bins = [PlotBin(0.92, Point(0.8, 0.7, 0.88), 40, (0.9, 1.0))]
    >>> "0.92 stated, 0.800 [0.700, 0.880] came true, n = 40" in reliability_plot(
    ...     bins, Labels("Reliability")
    ... )
    True
    """
    canvas = Canvas(labels, 420, _LEFT, 420 - _RIGHT)
    canvas.open(below=8, height=canvas.right - canvas.left)
    x, y = Scale(0, 1, *canvas.across), Scale(0, 1, *canvas.up)
    canvas.x_axis(x, n=6)
    canvas.y_axis(y, labels.y)
    canvas.add(line(x(0), y(0), x(1), y(1), stroke=MUTED, class_="axis", dash="5 4"))
    canvas.base_line()
    usable = [b for b in bins if b.observed.is_defined and math.isfinite(b.probability)]
    base = canvas.bottom + 104
    most = max((b.n for b in usable), default=1) or 1
    for one in usable:
        name = f"{one.probability:.2f} stated, {one.observed} came true, n = {one.n:,}"
        canvas.add(
            _bin_bar(one, x, base, 44 * one.n / most, tooltip(name)),
            point_mark(0, one.observed, name, scale=y, at=x(one.probability)),
        )
    canvas.add(
        axis_line(canvas.left, base, canvas.right, base),
        label(canvas.left - 8, base - 2, "rows", anchor="end", size=11.5, muted=True),
    )
    return canvas.finish(below=112)


def _bin_bar(one: PlotBin, x: Scale, base: float, size: float, name: str) -> str:
    """Draw how many predictions a bin has, as a bar with its number."""
    left, right = x(one.edges[0]), x(one.edges[1])
    bar = element(
        "rect", name, x=left + 1, y=base - size, width=max(right - left - 2, 1), height=size,
        fill=ink.look(0).colour, class_="f0", fill_opacity=0.55,
    )  # fmt: skip
    middle = (left + right) / 2
    return bar + label(middle, base - size - 4, f"{one.n:,}", anchor="middle", size=10, muted=True)
