"""Scales: where values lie along an axis, and which round values are named there."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass


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
