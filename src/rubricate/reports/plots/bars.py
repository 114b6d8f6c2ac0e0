"""Bars with hatching, and histograms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rubricate.reports.plots import axes, palette
from rubricate.reports.plots.data import Labels, Series, check_lengths, limits
from rubricate.reports.plots.svg import INK, drawing, element, label, line, short_label, tooltip

_LABEL = 210.0


def bar_plot(
    categories: Sequence[str],
    series: Sequence[Series],
    labels: Labels,
    *,
    width: float = 640,
) -> str:
    """Draw lying bars from 0, one a category and series, with intervals as whiskers.

    Parameters
    ----------
    categories : sequence of str
        Down the page.
    series : sequence of Series
        One point a category; hatching says which series.
    labels : Labels
        Title, name of the x axis, description.
    width : float
        Of the drawing.

    Returns
    -------
    str
        An SVG document.

    Examples
    --------
    >>> from rubricate.reports.plots.data import Point
    >>> svg = bar_plot(["age"], [Series("exact", (Point(0.5),))], Labels("Errors by kind"))
    >>> "age: 0.500" in svg
    True
    """
    check_lengths(categories, series)
    _, high = limits(p for one in series for p in one.points)
    scale = axes.Scale(0.0, axes.round_end(0.0, max(high, 0.0)), _LABEL + 12, width - 70)
    head, top = "", 6.0
    if len(series) > 1:
        keys = [
            axes.Key(palette.hatched(i, -11, -6, 22, 12), one.name) for i, one in enumerate(series)
        ]
        head, top = axes.legend(keys, 6, 4, width - 6)
    thick = 14.0 if len(series) > 1 else 18.0
    step = thick * max(len(series), 1) + 10
    bottom = top + step * len(categories) + 4
    parts = [head, axes.x_axis(scale, top, bottom, labels.x, n=6)]
    for k, category in enumerate(categories):
        y = top + step * k + 7
        beside = y + (step - 10) / 2 + 4
        parts.append(short_label(_LABEL, beside, category, _LABEL - 6, anchor="end"))
        for place, one in enumerate(series):
            point, at = one.points[k], y + thick * place
            if not point.is_defined:
                continue
            end = scale(point.value)
            who = f"{one.name}, " if len(series) > 1 else ""
            name = tooltip(f"{who}{category}: {point}")
            length, middle = end - scale.start, at + thick / 2 - 1
            parts.append(palette.hatched(place, scale.start, at, length, thick - 2, name))
            if point.has_interval:
                parts.append(line(scale(point.low), middle, scale(point.high), middle,
                                  stroke=INK, class_="human", width=1.4))  # fmt: skip
            edge = max(end, scale(point.high) if point.has_interval else end)
            shown = f"{point.value:,.0f}" if high > 10 else f"{point.value:.3f}"
            parts.append(label(edge + 5, middle + 4, shown, size=11, muted=True))
    parts.append(axes.base_line(scale.start, top, scale.start, bottom))
    return drawing(width, bottom + (46 if labels.x else 26), "".join(parts), labels)


def histogram(
    values: Sequence[float],
    labels: Labels,
    *,
    n_bins: int = 24,
    span: tuple[float, float] | None = None,
    width: float = 560,
) -> str:
    """Draw how many values fall into bins of the same width; what is not finite is left out.

    Parameters
    ----------
    values : sequence of float
        Any number of them.
    labels : Labels
        Title, names of both axes, description.
    n_bins : int
        How many bins.
    span : (float, float), optional
        Where the bins begin and end; from the values unless given.
    width : float
        Of the drawing.

    Returns
    -------
    str
        An SVG document.

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
    top, bottom, left = 10.0, 230.0, 68.0
    x = axes.Scale(float(edges[0]), float(edges[-1]), left, width - 14)
    y = axes.Scale(0.0, axes.round_end(0.0, float(counts.max(initial=1))), bottom, top)
    parts = [axes.y_axis(y, left, x.end, labels.y or "how many", n=5)]
    for count, low, high in zip(counts.tolist(), edges[:-1], edges[1:], strict=True):
        if count:
            name = tooltip(f"{low:.4g} to {high:.4g}: {count:,}")
            start, end, height = x(float(low)), x(float(high)), y(count)
            wide = max(end - start - 1, 0.5)
            parts.append(
                element("rect", name, x=start + 0.5, y=height, width=wide, height=bottom - height,
                        fill=palette.colour(0), class_="f0")
            )  # fmt: skip
    parts.append(axes.x_axis(x, bottom, bottom + 4, labels.x))
    parts.append(axes.base_line(left, bottom, x.end, bottom))
    return drawing(width, bottom + (46 if labels.x else 24), "".join(parts), labels)
