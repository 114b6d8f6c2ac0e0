"""Scales, ticks, grids and legends that all plots share."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rubricate.reports.plots import palette
from rubricate.reports.plots.svg import INK, MUTED, element, label, line, text_width

LEGEND_STEP = 20.0


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values to coordinates, clamped to the ends of the axis.

    With ``whole`` only whole numbers are named along it.

    Examples
    --------
    >>> Scale(0, 1, 100, 200)(0.25)
    125.0
    >>> Scale(1, 100, 0, 10, log=True)(10)
    5.0
    >>> Scale(4, 12, 0, 1, whole=True).ticks(8)
    [4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False
    whole: bool = False

    def __call__(self, value: float) -> float:
        """Return where a value lies."""
        low, high, value = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Tell whether a value lies on the axis."""
        return self.low <= value <= self.high

    def ticks(self, n: int = 6) -> list[float]:
        """Return round values along the axis."""
        if not self.log:
            values = round_values(self.low, self.high, n)
            return [v for v in values if float(v).is_integer()] if self.whole else values
        first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
        steps = (1, 2, 5) if last - first < 3 else (1,)
        values = [m * 10.0**e for e in range(first - 1, last + 1) for m in steps]
        return [value for value in values if self.holds(value)]


def round_values(low: float, high: float, n: int = 6) -> list[float]:
    """Return about n round values from low to high.

    Examples
    --------
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

    Examples
    --------
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

    Examples
    --------
    >>> share_scale(0.83, 0.97, 0, 1).low, share_scale(0.2, 0.9, 0, 1).low
    (0.8, 0.0)
    """
    bottom = math.floor(low * 10 + 1e-9) / 10
    if bottom < 0.35 and low >= 0:
        bottom = 0.0
    top = 1.0 if high <= 1 else math.ceil(high * 10 - 1e-9) / 10
    return Scale(min(bottom, 0.9), top, start, end)


def tick_text(value: float, step: float) -> str:
    """Return a tick's number with as many decimals as the step needs.

    Examples
    --------
    >>> tick_text(0.5, 0.25), tick_text(1000.0, 500.0)
    ('0.50', '1,000')
    """
    if step >= 1 and abs(value - round(value)) < 1e-9:
        return f"{value:,.0f}"
    decimals = 0
    while decimals < 6 and abs(round(step, decimals) - step) > 1e-9:
        decimals += 1
    return f"{value:,.{max(decimals, 1)}f}"


def _texts(ticks: Sequence[float]) -> list[str]:
    gaps = [b - a for a, b in pairwise(ticks)]
    return [tick_text(value, min(gaps, default=1.0)) for value in ticks]


def y_axis(scale: Scale, left: float, right: float, name: str = "", n: int = 6) -> str:
    """Draw horizontal grid lines with numbers at the left, and the axis's name turned."""
    ticks = scale.ticks(n)
    parts = []
    for value, text in zip(ticks, _texts(ticks), strict=True):
        y = scale(value)
        parts.append(line(left, y, right, y))
        parts.append(label(left - 8, y + 4, text, anchor="end", size=11.5, muted=True))
    if name:
        middle = (scale.start + scale.end) / 2
        turned = label(0, 0, name, anchor="middle", size=12.5)
        parts.append(
            element("g", turned, transform=f"translate({left - 46:.1f} {middle:.1f}) rotate(-90)")
        )
    return "".join(parts)


def x_axis(scale: Scale, top: float, bottom: float, name: str = "", n: int = 8) -> str:
    """Draw vertical grid lines with numbers below, and the axis's name under them."""
    ticks = scale.ticks(n)
    parts = []
    for value, text in zip(ticks, _texts(ticks), strict=True):
        x = scale(value)
        parts.append(line(x, top, x, bottom))
        parts.append(label(x, bottom + 16, text, anchor="middle", size=11.5, muted=True))
    if name:
        middle = (scale.start + scale.end) / 2
        parts.append(label(middle, bottom + 36, name, anchor="middle", size=12.5))
    return "".join(parts)


def base_line(x1: float, y1: float, x2: float, y2: float) -> str:
    """Draw the axis itself."""
    return line(x1, y1, x2, y2, stroke=MUTED, class_="axis")


@dataclass(frozen=True, slots=True)
class Key:
    """One entry of a legend: its drawing around (0, 0), about 22 wide, and its name."""

    drawing: str
    name: str


def mark_key(place: int, name: str, *, whisker: str = "") -> Key:
    """Return the legend's entry of a series of marks; ``whisker`` is "h", "v" or nothing."""
    stroke = {"stroke": palette.colour(place), "class_": f"k{place % 8}", "width": 1.5}
    bars = {
        "h": line(-10, 0, 10, 0, **stroke),  # type: ignore[arg-type]
        "v": line(0, -8, 0, 8, **stroke),  # type: ignore[arg-type]
    }
    return Key(bars.get(whisker, "") + palette.shape(place, 0, 0), name)


def human_key(name: str) -> Key:
    """Return the legend's entry of the annotators' line and band."""
    band = element(
        "rect", x=-12, y=-6, width=24, height=12, fill=INK, fill_opacity=0.13, class_="ink"
    )
    return Key(band + line(-12, 0, 12, 0, stroke=INK, class_="human", width=2.2), name)


def legend(keys: Sequence[Key], left: float, top: float, width: float) -> tuple[str, float]:
    """Draw a legend in as many lines as it needs; return it and its height.

    Examples
    --------
    >>> legend([], 0, 0, 100)
    ('', 0.0)
    """
    if not keys:
        return "", 0.0
    parts, x, y = [], left, top + 8
    for key in keys:
        needed = 34 + text_width(key.name, 12) + 18
        if x > left and x + needed > left + width:
            x, y = left, y + LEGEND_STEP
        parts.append(element("g", key.drawing, transform=f"translate({x + 13:.1f} {y:.1f})"))
        parts.append(label(x + 32, y + 4, key.name, size=12))
        x += needed
    return "".join(parts), y - top + 14


def vertical_guide(scale: Scale, value: float, top: float, bottom: float, name: str) -> str:
    """Draw a dashed upright line with its name at the top."""
    if not math.isfinite(value) or not scale.holds(value):
        return ""
    x = scale(value)
    room = text_width(name, 11) + 4
    anchor, dx = ("end", -5) if x + room > scale.end else ("start", 5)
    return line(x, top, x, bottom, stroke=INK, class_="human", width=1.2, dash="5 4") + label(
        x + dx, top - 5, name, anchor=anchor, size=11, muted=True
    )


def level_guide(scale: Scale, value: float, left: float, right: float, name: str) -> str:
    """Draw a dashed level line with its name at the right end."""
    if not math.isfinite(value) or not scale.holds(value):
        return ""
    y = scale(value)
    return line(left, y, right, y, stroke=INK, class_="human", width=1.2, dash="5 4") + label(
        right - 2, y - 5, name, anchor="end", size=11, muted=True
    )
