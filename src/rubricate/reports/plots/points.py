"""Points with intervals: by case beside each other, by feature below each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rubricate.reports.plots.canvas import (
    Canvas,
    Key,
    Scale,
    check_lengths,
    limits,
    mark_key,
    point_mark,
    share_scale,
)
from rubricate.reports.plots.data import (
    ForestGroup,
    ForestRow,
    Guide,
    Labels,
    Point,
    Series,
)
from rubricate.reports.plots.ink import (
    INK,
    element,
    label,
    line,
    number,
    short_label,
    text_width,
    tooltip,
    wrap,
)

_WIDTH, _LEFT, _RIGHT, _PANEL = 920.0, 62.0, 14.0, 250.0
_EDGE, _HEADING = 6.0, 24.0


def dot_plot(
    cases: Sequence[str],
    series: Sequence[Series],
    labels: Labels,
    *,
    human: Series | None = None,
    span: tuple[float, float] | None = None,
) -> str:
    """Draw values by case, as Figure 2 of the NBME paper (Yaneva et al. 2022).

    >>> points = (Point(0.53, 0.5, 0.56), Point(0.6))
    >>> svg = dot_plot(["200", "201"], [Series("exact", points)], Labels("F1 by case", y="F1"))
    >>> svg.count("<circle"), "201: exact 0.600" in svg
    (3, True)
    """
    every = [*series, *([human] if human else [])]
    check_lengths(cases, every)
    canvas = Canvas(labels, _WIDTH, _LEFT, _WIDTH - _RIGHT)
    keys = [mark_key(i, one.name, whisker="v") for i, one in enumerate(series)]
    canvas.legend([*keys, *([_human_key(human.name)] if human else [])])
    room = min(_WIDTH - _LEFT - _RIGHT, 110.0 * max(len(cases), 3))
    n_fit = max(1, int(room // max(52.0, 13.0 * len(series) + 18)))
    n_panels = max(1, math.ceil(len(cases) / n_fit))
    n_columns = max(1, math.ceil(len(cases) / n_panels))
    ends = span or limits(p for one in every for p in one.points)
    below = 6.0
    for first in range(0, max(len(cases), 1), n_columns):
        canvas.open(below=below, height=_PANEL)
        own = range(first, min(first + n_columns, len(cases)))
        panel = _Panel(canvas, room / n_columns, share_scale(*ends, *canvas.up), own)
        panel.draw(cases, series, human)
        below = _PANEL + 58
    canvas.width = min(_WIDTH, max(_LEFT + room + _RIGHT, 560))
    return canvas.finish(below=58)


def dot_plots(
    cases: Sequence[str],
    series: Sequence[Series],
    labels: Labels,
    *,
    human: Series | None = None,
    most: int = 40,
) -> list[str]:
    """Draw values by case as `dot_plot` does, in as many drawings as fit a printed page each.

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


def _human_key(name: str) -> Key:
    """Return the legend's entry of the annotators' line and band."""
    band = element(
        "rect", x=-12, y=-6, width=24, height=12, fill=INK, fill_opacity=0.13, class_="ink"
    )
    return Key(band + line(-12, 0, 12, 0, stroke=INK, class_="human", width=2.2), name)


@dataclass(frozen=True, slots=True)
class _Panel:
    """One row of cases."""

    canvas: Canvas
    column: float
    scale: Scale
    own: range

    def draw(self, cases: Sequence[str], series: Sequence[Series], human: Series | None) -> None:
        canvas = self.canvas
        canvas.right = _LEFT + self.column * len(self.own)
        for i in range(1, len(self.own), 2):
            canvas.stripe(_LEFT + self.column * i, canvas.top, self.column, _PANEL)
        canvas.y_axis(self.scale, canvas.labels.y)
        if human:
            canvas.add(self._human_line([human.points[k] for k in self.own]))
        for place, one in enumerate(series):
            shift = self.column * 0.66 * ((place + 0.5) / len(series) - 0.5)
            for column, k in enumerate(self.own):
                x = _LEFT + self.column * (column + 0.5) + shift
                name = f"{cases[k]}: {one.name} {one.points[k]}"
                canvas.add(point_mark(place, one.points[k], name, scale=self.scale, at=x))
        canvas.base_line()
        canvas.add(*(self._case_label(column, cases[k]) for column, k in enumerate(self.own)))

    def _case_label(self, column: int, case: str) -> str:
        lines = wrap(case, self.column - 6, 11, max_lines=3)
        middle = _LEFT + self.column * (column + 0.5)
        texts = "".join(
            label(middle, self.canvas.bottom + 16 + 13 * i, text, anchor="middle", size=11)
            for i, text in enumerate(lines)
        )
        return element("g", tooltip(case), texts)

    def _human_line(self, points: Sequence[Point]) -> str:
        bands, path, gap = [], "", True
        for i, point in enumerate(points):
            left, right = _LEFT + self.column * i, _LEFT + self.column * (i + 1)
            if not point.is_defined:
                gap = True
                continue
            if point.has_interval:
                high, low = self.scale(point.high), self.scale(point.low)
                bands.append(element("rect", x=left, y=high, width=right - left, height=low - high,
                                     fill=INK, fill_opacity=0.11, class_="ink"))  # fmt: skip
            y = number(self.scale(point.value))
            path += f"{'M' if gap else 'L'}{number(left)} {y}L{number(right)} {y}"
            gap = False
        drawn = element("path", d=path, fill="none", stroke=INK, class_="human", stroke_width=2.2)
        return "".join(bands) + (drawn if path else "")


def forest_plot(
    groups: Sequence[ForestGroup],
    names: Sequence[str],
    labels: Labels,
    *,
    guide: Guide | None = None,
    span: tuple[float, float] | None = None,
    label_width: float | None = None,
) -> str:
    """Draw a line for each feature: its name, one point with interval per system, a remark.

    It is as tall as it must be. For hundreds of features draw one plot per group, with the same
    ``span``, so that pages can break between them, or keep the worst with `worst_rows`.

    >>> row = ForestRow("Chest pressure", (Point(0.8, 0.7, 0.9),), "n = 20")
    >>> svg = forest_plot([ForestGroup("Case 0", (row,))], ["exact"], Labels("F1 by feature"))
    >>> "Chest pressure: 0.800 [0.700, 0.900]" in svg
    True
    """
    rows = [row for group in groups for row in group.rows]
    room = label_room(groups) if label_width is None else label_width
    ends = max([text_width(_end(row), 11) for row in rows] or [0.0])
    canvas = Canvas(labels, _WIDTH, min(room, 0.38 * _WIDTH) + 18, _WIDTH - ends - 20)
    if len(names) > 1:
        keys = [mark_key(i, name, whisker="h") for i, name in enumerate(names)]
        canvas.legend(keys, left=_EDGE)
    step = max(20.0, 9.0 * len(names) + 9)
    headings = _HEADING * sum(bool(group.label) for group in groups)
    canvas.open(below=18 if guide else 4, height=headings + step * len(rows))
    scale = share_scale(*(span or limits(p for row in rows for p in row.points)), *canvas.across)
    body, y = [], canvas.top
    for group in groups:
        if group.label:
            body.append(short_label(_EDGE, y + 17, group.label, _WIDTH / 2, bold=True))
            y += _HEADING
        for i, row in enumerate(group.rows):
            if i % 2:
                canvas.stripe(0, y, _WIDTH, step)
            body.append(_forest_row(row, names, scale, y, step))
            y += step
    canvas.x_axis(scale)
    if guide is not None:
        canvas.guide(Guide(guide.value, guide.label, "x"), scale)
    canvas.add(*body)
    canvas.base_line()
    return canvas.finish()


def label_room(groups: Sequence[ForestGroup]) -> float:
    """Return the width that the names of the rows need."""
    return max([150.0, *(text_width(row.label) + 4 for group in groups for row in group.rows)])


def _end(row: ForestRow) -> str:
    """Return the text at the end of a row: its remark, or its only value."""
    return row.remark or (str(row.points[0]) if len(row.points) == 1 else "")


def _forest_row(row: ForestRow, names: Sequence[str], scale: Scale, y: float, step: float) -> str:
    middle = y + step / 2
    parts = [short_label(_EDGE, middle + 4, row.label, scale.start - 16)]
    for place, point in enumerate(row.points):
        at = y + step * (place + 1) / (len(row.points) + 1)
        who = f"{names[place]}, " if len(names) > 1 else ""
        name = f"{who}{row.label}: {point}"
        parts.append(point_mark(place, point, name, scale=scale, at=at, lying=True))
    parts.append(label(_WIDTH - 4, middle + 4, _end(row), anchor="end", size=11, muted=True))
    return "".join(parts)
