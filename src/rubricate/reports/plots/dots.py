"""A dot plot of cases: every system with its interval, and how far annotators agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rubricate.reports.plots import axes, palette
from rubricate.reports.plots.data import Labels, Point, Series, check_lengths, limits
from rubricate.reports.plots.svg import (
    INK,
    SHADE,
    drawing,
    element,
    label,
    number,
    tooltip,
    wrap,
)

_LEFT, _RIGHT, _PANEL = 62.0, 14.0, 250.0


def dot_plot(
    cases: Sequence[str],
    series: Sequence[Series],
    labels: Labels,
    *,
    human: Series | None = None,
    span: tuple[float, float] | None = None,
    width: float = 920,
) -> str:
    """Draw values by case, as Figure 2 of the NBME paper (Yaneva et al. 2022).

    Parameters
    ----------
    cases : sequence of str
        Along x; they go on in further panels where they do not fit beside each other.
    series : sequence of Series
        One a system, a point a case: shape and colour say which system, whiskers are intervals.
    labels : Labels
        Title, name of the y axis, description.
    human : Series, optional
        How far annotators agree: a line by case, its interval a band.
    span : (float, float), optional
        Least and greatest value the y axis must hold; from the points unless given.
    width : float
        Of the drawing.

    Returns
    -------
    str
        An SVG document.

    Examples
    --------
    >>> points = (Point(0.53, 0.5, 0.56), Point(0.6))
    >>> svg = dot_plot(["200", "201"], [Series("exact", points)], Labels("F1 by case", y="F1"))
    >>> svg.count("<circle"), "201: exact 0.600" in svg
    (3, True)
    """
    every = [*series, *([human] if human else [])]
    check_lengths(cases, every)
    keys = [axes.mark_key(i, one.name, whisker="v") for i, one in enumerate(series)]
    if human:
        keys.append(axes.human_key(human.name))
    head, top = axes.legend(keys, _LEFT, 4, width - _LEFT)
    room = min(width - _LEFT - _RIGHT, 110.0 * max(len(cases), 3))
    n_fit = max(1, int(room // max(52.0, 13.0 * len(series) + 18)))
    n_panels = max(1, math.ceil(len(cases) / n_fit))
    n_columns = max(1, math.ceil(len(cases) / n_panels))
    low, high = span or limits(p for one in every for p in one.points)
    parts, y = [head], top + 6
    for first in range(0, max(len(cases), 1), n_columns):
        panel = _Panel(y, n_columns, room / n_columns, low, high)
        parts.append(panel.draw(cases, every, range(first, min(first + n_columns, len(cases))),
                                labels.y, human is not None))  # fmt: skip
        y = panel.bottom + 58
    width = min(width, max(_LEFT + room + _RIGHT, 560))
    return drawing(width, y, "".join(parts), labels)


def dot_plots(
    cases: Sequence[str],
    series: Sequence[Series],
    labels: Labels,
    *,
    human: Series | None = None,
    most: int = 40,
) -> list[str]:
    """Draw values by case as `dot_plot` does, in as many drawings as fit a printed page each.

    Parameters
    ----------
    cases, series, labels, human
        As for `dot_plot`.
    most : int
        Cases in one drawing; all drawings have the same y axis.

    Examples
    --------
    >>> points = tuple(Point(0.5) for _ in range(50))
    >>> len(dot_plots([str(i) for i in range(50)], [Series("exact", points)], Labels("F1")))
    2
    """
    every = [*series, *([human] if human else [])]
    check_lengths(cases, every)
    span = limits(p for one in every for p in one.points)
    drawn = []
    for first in range(0, max(len(cases), 1), most):
        own = slice(first, first + most)
        some = [Series(one.name, one.points[own]) for one in series]
        line = None if human is None else Series(human.name, human.points[own])
        drawn.append(dot_plot(cases[own], some, labels, human=line, span=span))
    return drawn


@dataclass(frozen=True, slots=True)
class _Panel:
    """One row of cases."""

    top: float
    n_columns: int
    column: float
    low: float
    high: float

    @property
    def bottom(self) -> float:
        return self.top + _PANEL

    def draw(
        self, cases: Sequence[str], series: Sequence[Series], own: range, y_name: str, human: bool
    ) -> str:
        scale = axes.share_scale(self.low, self.high, self.bottom, self.top)
        right = _LEFT + self.column * len(own)
        parts = [self._stripes(len(own)), axes.y_axis(scale, _LEFT, right, y_name)]
        systems = series[:-1] if human else series
        if human:
            parts.append(self._human_line([series[-1].points[k] for k in own], scale))
        for place, one in enumerate(systems):
            shift = self.column * 0.66 * ((place + 0.5) / len(systems) - 0.5)
            for column, k in enumerate(own):
                x = _LEFT + self.column * (column + 0.5) + shift
                name = f"{cases[k]}: {one.name} {one.points[k]}"
                parts.append(_mark(place, x, one.points[k], scale, name))
        parts.append(axes.base_line(_LEFT, self.bottom, right, self.bottom))
        parts += [self._case_label(column, cases[k]) for column, k in enumerate(own)]
        return "".join(parts)

    def _stripes(self, n: int) -> str:
        return "".join(
            element("rect", x=_LEFT + self.column * i, y=self.top, width=self.column,
                    height=_PANEL, fill=SHADE, class_="shade")
            for i in range(1, n, 2)
        )  # fmt: skip

    def _case_label(self, column: int, case: str) -> str:
        lines = wrap(case, self.column - 6, 11, max_lines=3)
        middle = _LEFT + self.column * (column + 0.5)
        texts = "".join(
            label(middle, self.bottom + 16 + 13 * i, text, anchor="middle", size=11)
            for i, text in enumerate(lines)
        )
        return element("g", tooltip(case), texts)

    def _human_line(self, points: Sequence[Point], scale: axes.Scale) -> str:
        bands, path, gap = [], "", True
        for i, point in enumerate(points):
            left, right = _LEFT + self.column * i, _LEFT + self.column * (i + 1)
            if not point.is_defined:
                gap = True
                continue
            if point.has_interval:
                high, low = scale(point.high), scale(point.low)
                bands.append(element("rect", x=left, y=high, width=right - left, height=low - high,
                                     fill=INK, fill_opacity=0.11, class_="ink"))  # fmt: skip
            y = number(scale(point.value))
            path += f"{'M' if gap else 'L'}{number(left)} {y}L{number(right)} {y}"
            gap = False
        drawn = element("path", d=path, fill="none", stroke=INK, class_="human", stroke_width=2.2)
        return "".join(bands) + (drawn if path else "")


def _mark(place: int, x: float, point: Point, scale: axes.Scale, name: str) -> str:
    if not point.is_defined:
        return ""
    parts = [tooltip(name)]
    if point.has_interval:
        parts.append(palette.whisker(place, x, scale(point.low), scale(point.high)))
    parts.append(palette.shape(place, x, scale(point.value)))
    return element("g", *parts)
