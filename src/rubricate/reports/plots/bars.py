"""Bars with hatching, and histograms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rubricate.reports.plots import palette
from rubricate.reports.plots.canvas import Canvas, Key, axis_line
from rubricate.reports.plots.data import Labels, Point, Series, check_lengths, limits
from rubricate.reports.plots.scales import Scale, round_end
from rubricate.reports.plots.svg import INK, element, label, short_label, tooltip

_LABEL = 210.0


def bar_plot(
    categories: Sequence[str],
    series: Sequence[Series],
    labels: Labels,
    *,
    width: float = 640,
) -> str:
    """Draw lying bars from 0, one per category and series, with intervals as whiskers.

    Examples
    --------
    >>> svg = bar_plot(["age"], [Series("exact", (Point(0.5),))], Labels("Errors by kind"))
    >>> "age: 0.500" in svg
    True
    """
    check_lengths(categories, series)
    _, high = limits(p for one in series for p in one.points)
    several = len(series) > 1
    canvas = Canvas(labels, width, _LABEL + 12, width - 70)
    if several:
        keys = [Key(palette.hatched(i, -11, -6, 22, 12), one.name) for i, one in enumerate(series)]
        canvas.legend(keys, left=6)
    thick = 14.0 if several else 18.0
    step = thick * max(len(series), 1) + 10
    canvas.open(below=2, height=step * len(categories) + 4)
    scale = Scale(0.0, round_end(0.0, max(high, 0.0)), *canvas.across)
    canvas.x_axis(scale, n=6)
    for k, category in enumerate(categories):
        y = canvas.top + step * k + 7
        beside = y + (step - 10) / 2 + 4
        canvas.add(short_label(_LABEL, beside, category, _LABEL - 6, anchor="end"))
        for place, one in enumerate(series):
            name = f"{one.name}, {category}" if several else category
            at = y + thick * place, thick - 2
            canvas.add(_bar(place, one.points[k], name, scale, at, whole=high > 10))
    canvas.add(axis_line(canvas.left, canvas.top, canvas.left, canvas.bottom))
    return canvas.finish()


def _bar(
    place: int, point: Point, name: str, scale: Scale, at: tuple[float, float], *, whole: bool
) -> str:
    """Draw a bar from 0 with its interval and its number, at (top, height)."""
    if not point.is_defined:
        return ""
    (top, thick), end = at, scale(point.value)
    middle, edge = top + thick / 2, end
    words = tooltip(f"{name}: {point}")
    parts = [palette.hatched(place, scale.start, top, end - scale.start, thick, words)]
    if point.has_interval:
        low, high = scale(point.low), scale(point.high)
        edge = max(end, high)
        parts.append(palette.interval(middle, low, high, lying=True, stroke=INK, class_="human"))
    shown = f"{point.value:,.0f}" if whole else f"{point.value:.3f}"
    return "".join(parts) + label(edge + 5, middle + 4, shown, size=11, muted=True)


def histogram(
    values: Sequence[float],
    labels: Labels,
    *,
    n_bins: int = 24,
    span: tuple[float, float] | None = None,
    width: float = 560,
) -> str:
    """Draw how many values fall into bins of the same width; what is not finite is left out.

    Examples
    --------
    >>> svg = histogram([1, 1, 2], Labels("Lengths"), n_bins=2)
    >>> "1 to 1.5: 2" in svg
    True
    """
    known = np.asarray([v for v in values if math.isfinite(v)], dtype=np.float64)
    if span is None:
        span = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    # values too near to each other to cut between are all in one bin of an axis around them
    if span[1] - span[0] <= 4 * n_bins * np.spacing(max(map(abs, span))):
        span = (span[0], span[0])
    counts, edges = np.histogram(known, bins=n_bins, range=span)
    canvas = Canvas(labels, width, 68, width - 14)
    canvas.open(below=6, height=220)
    x = Scale(float(edges[0]), float(edges[-1]), *canvas.across)
    y = Scale(0.0, round_end(0.0, float(counts.max(initial=1))), *canvas.up)
    canvas.y_axis(y, labels.y or "how many", n=5)
    for count, low, high in zip(counts.tolist(), edges[:-1], edges[1:], strict=True):
        if count:
            name = tooltip(f"{low:.4g} to {high:.4g}: {count:,}")
            start, end, height = x(float(low)), x(float(high)), y(count)
            wide = max(end - start - 1, 0.5)
            canvas.add(
                element("rect", name, x=start + 0.5, y=height, width=wide,
                        height=canvas.bottom - height, fill=palette.colour(0), class_="f0")
            )  # fmt: skip
    canvas.x_axis(x, grid=False)
    canvas.base_line()
    return canvas.finish()
