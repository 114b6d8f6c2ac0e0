"""Canvas of all plots: scales from values to places, axes, guides and intervals."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rubricate.reports.plots import ink
from rubricate.reports.plots.data import Guide, Labels, Point, Series
from rubricate.reports.plots.ink import (
    INK,
    MUTED,
    SHADE,
    drawing,
    element,
    label,
    line,
    text_width,
    tooltip,
)


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values to coordinates, clamped to the ends of the axis.

    With ``whole`` only whole numbers are named along it.

    >>> Scale(0, 1, 100, 200)(0.25)
    125.0
    >>> Scale(4, 12, 0, 1, whole=True).ticks(8)
    [4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
    """

    low: float
    high: float
    start: float
    end: float
    whole: bool = False

    def __call__(self, value: float) -> float:
        """Return the place of a value."""
        inside, width = min(max(value, self.low), self.high), self.high - self.low
        share = (inside - self.low) / width if width > 0 else 0.5
        return self.start + share * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Tell whether a value lies on the axis."""
        return self.low <= value <= self.high

    def ticks(self, n: int = 6) -> list[float]:
        """Return round values along the axis."""
        values = round_values(self.low, self.high, n)
        return [v for v in values if float(v).is_integer()] if self.whole else values


def round_values(low: float, high: float, n: int = 6) -> list[float]:
    """Return about n round values from low to high.

    >>> round_values(0, 1)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> round_values(0.38, 0.97, 4)
    [0.4, 0.6, 0.8]
    """
    rough = (high - low) / max(n - 1, 1)
    if not rough > sys.float_info.min:  # nothing between them that a number could name
        return [low]
    size = 10.0 ** math.floor(math.log10(rough))
    step = min((m * size for m in (1, 2, 2.5, 5, 10)), key=lambda s: abs(s - rough))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = 9 - math.floor(math.log10(step))
    return [round(i * step, digits) for i in range(first, last + 1)]


def round_end(low: float, high: float) -> float:
    """Return a round value at or above ``high`` for the end of an axis that begins at ``low``.

    >>> round_end(0, 3456), round_end(0, 0)
    (3500.0, 1.0)
    """
    if not high > low:
        return low + 1.0
    ticks = round_values(low, high)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else high - low
    return low + math.ceil((high - low) / step - 1e-9) * step


def share_scale(low: float, high: float, start: float, end: float) -> Scale:
    """Return a scale for shares: up to 1 (or beyond, if a value is), down to a round tenth.

    >>> share_scale(0.83, 0.97, 0, 1).low, share_scale(0.2, 0.9, 0, 1).low
    (0.8, 0.0)
    """
    bottom = math.floor(low * 10 + 1e-9) / 10
    if bottom < 0.35 and low >= 0:
        bottom = 0.0
    top = 1.0 if high <= 1 else math.ceil(high * 10 - 1e-9) / 10
    return Scale(min(bottom, 0.9), top, start, end)


def limits(points: Iterable[Point]) -> tuple[float, float]:
    """Return the least and greatest finite value among points and their limits; (0, 1) if none.

    >>> limits([Point(0.5, 0.4, 0.6), Point(math.nan)])
    (0.4, 0.6)
    """
    values = [v for p in points for v in (p.value, p.low, p.high) if math.isfinite(v)]
    return (min(values), max(values)) if values else (0.0, 1.0)


def check_lengths(categories: Sequence[str], series: Iterable[Series]) -> None:
    """Raise ValueError for a series that does not have one point per category."""
    for one in series:
        if len(one.points) != len(categories):
            raise ValueError(
                f"series {one.name!r} has {len(one.points)} points for {len(categories)} categories"
            )


def tick_text(value: float, step: float) -> str:
    """Return a tick's number with as many decimals as the step needs.

    >>> tick_text(0.5, 0.25), tick_text(1000.0, 500.0)
    ('0.50', '1,000')
    """
    if step >= 1 and abs(value - round(value)) < 1e-9:
        return f"{value:,.0f}"
    decimals = 0
    while decimals < 6 and abs(round(step, decimals) - step) > 1e-9:
        decimals += 1
    return f"{value:,.{max(decimals, 1)}f}"


_LEGEND_STEP = 20.0


@dataclass(frozen=True, slots=True)
class Key:
    """One entry of a legend: its drawing around (0, 0), about 22 wide, and its name."""

    drawing: str
    name: str


@dataclass(slots=True)
class Canvas:
    """A drawing in the making: plots add to it what they show between its four edges.

    >>> canvas = Canvas(Labels("Points"), 200, left=10, right=190)
    >>> canvas.legend([mark_key(0, "exact")])
    >>> canvas.open(below=6, height=100)
    >>> y = Scale(0, 1, *canvas.up)
    >>> canvas.y_axis(y)
    >>> canvas.add(point_mark(0, Point(0.5), "exact: 0.500", scale=y, at=100))
    >>> svg = canvas.finish()
    >>> svg.count("<circle"), "exact: 0.500" in svg
    (2, True)
    """

    labels: Labels
    width: float
    left: float
    right: float
    top: float = 4.0
    bottom: float = 4.0
    parts: list[str] = field(default_factory=list)

    @property
    def across(self) -> tuple[float, float]:
        """The ends of a lying axis."""
        return self.left, self.right

    @property
    def up(self) -> tuple[float, float]:
        """The ends of an upright axis, the lower one first."""
        return self.bottom, self.top

    def add(self, *parts: str) -> None:
        """Draw something on top of what is there."""
        self.parts += parts

    def legend(self, keys: Sequence[Key], left: float | None = None) -> None:
        """Draw a legend in as many lines as it needs, and let the plot begin below it."""
        if not keys:
            return
        start = self.left if left is None else left
        x, y = start, self.top + 8
        for key in keys:
            needed = 34 + text_width(key.name, 12) + 18
            if x > start and x + needed > self.width:
                x, y = start, y + _LEGEND_STEP
            self.add(
                element("g", key.drawing, transform=f"translate({x + 13:.1f} {y:.1f})"),
                label(x + 32, y + 4, key.name, size=12),
            )
            x += needed
        self.top = y + 10

    def open(self, *, below: float, height: float) -> None:
        """Say where the plot itself lies: so far below the legend, or the plot above it."""
        self.top += below
        self.bottom = self.top + height

    def stripe(self, x: float, y: float, width: float, height: float) -> None:
        """Shade every second column or row."""
        self.add(element("rect", x=x, y=y, width=width, height=height, fill=SHADE, class_="shade"))

    def y_axis(self, scale: Scale, name: str = "", n: int = 6) -> None:
        """Draw level grid lines with numbers at the left, and the axis's name turned."""
        for value, text in _ticks(scale, n):
            y = scale(value)
            self.add(
                line(self.left, y, self.right, y),
                label(self.left - 8, y + 4, text, anchor="end", size=11.5, muted=True),
            )
        if name:
            turned = label(0, 0, name, anchor="middle", size=12.5)
            place = f"translate({self.left - 46:.1f} {(scale.start + scale.end) / 2:.1f})"
            self.add(element("g", turned, transform=f"{place} rotate(-90)"))

    def x_axis(self, scale: Scale, n: int = 8, *, grid: bool = True) -> None:
        """Draw upright grid lines, or short ticks, with numbers and the axis's name below."""
        top, bottom = (self.top, self.bottom) if grid else (self.bottom, self.bottom + 4)
        for value, text in _ticks(scale, n):
            x = scale(value)
            self.add(
                line(x, top, x, bottom),
                label(x, bottom + 16, text, anchor="middle", size=11.5, muted=True),
            )
        if self.labels.x:
            middle = (scale.start + scale.end) / 2
            self.add(label(middle, bottom + 36, self.labels.x, anchor="middle", size=12.5))

    def base_line(self) -> None:
        """Draw the lower axis itself."""
        ends = (self.left, self.bottom, self.right, self.bottom)
        self.add(line(*ends, stroke=MUTED, class_="axis"))

    def guide(self, guide: Guide, scale: Scale, *, above: float = 0.0) -> None:
        """Draw a dashed line with its name across the plot: upright for x, level for y."""
        if not math.isfinite(guide.value) or not scale.holds(guide.value):
            return
        at = scale(guide.value)
        if guide.axis == "x":
            top = self.top - above
            room = text_width(guide.label, 11) + 4
            anchor, shift = ("end", -5) if at + room > scale.end else ("start", 5)
            ends, words = (at, top, at, self.bottom), (at + shift, top - 5)
        else:
            ends, words, anchor = (self.left, at, self.right, at), (self.right - 2, at - 5), "end"
        self.add(
            line(*ends, stroke=INK, class_="human", width=1.2, dash="5 4"),
            label(*words, guide.label, anchor=anchor, size=11, muted=True),
        )

    def finish(self, below: float | None = None) -> str:
        """Return the whole drawing, with room for what stands below the plot."""
        if below is None:
            below = 46.0 if self.labels.x else 24.0
        return drawing(self.width, self.bottom + below, "".join(self.parts), self.labels)


def _ticks(scale: Scale, n: int) -> list[tuple[float, str]]:
    """Return round values along a scale, and what they are called."""
    values = scale.ticks(n)
    step = min((b - a for a, b in pairwise(values)), default=1.0)
    return [(value, tick_text(value, step)) for value in values]


def axis_line(x1: float, y1: float, x2: float, y2: float) -> str:
    """Draw an axis."""
    return line(x1, y1, x2, y2, stroke=MUTED, class_="axis")


def mark_key(place: int, name: str, *, whisker: str = "") -> Key:
    """Return the legend's entry of a series of marks; ``whisker`` is "h", "v" or nothing."""
    ends = {"h": (-10, 0, 10, 0), "v": (0, -8, 0, 8)}.get(whisker)
    stroke, class_ = ink.look(place).colour, ink.look(place).stroke_class
    bar = "" if ends is None else line(*ends, stroke=stroke, class_=class_, width=1.5)
    return Key(bar + ink.shape(place, 0, 0), name)


def point_mark(
    place: int, point: Point, name: str, *, scale: Scale, at: float, lying: bool = False
) -> str:
    """Draw a point of a series with its interval and tooltip; nothing where it is undefined.

    ``scale`` is that of the value, ``at`` the place along the other axis.
    """
    if not point.is_defined:
        return ""
    value = scale(point.value)
    parts = [tooltip(name)]
    if point.has_interval:
        ends = scale(point.low), scale(point.high)
        parts.append(ink.whisker(place, at, *ends, lying=lying))
    x, y = (value, at) if lying else (at, value)
    parts.append(ink.shape(place, x, y, radius=4 if lying else 4.5))
    return element("g", *parts)
