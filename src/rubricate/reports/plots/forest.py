"""A forest plot: many features, each with a point and an interval for every system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rubricate.reports.plots import axes, palette
from rubricate.reports.plots.data import ForestGroup, ForestRow, Guide, Labels, Point, limits
from rubricate.reports.plots.svg import (
    SHADE,
    drawing,
    element,
    label,
    line,
    short_label,
    text_width,
    tooltip,
)

_EDGE = 6.0


def forest_plot(
    groups: Sequence[ForestGroup],
    names: Sequence[str],
    labels: Labels,
    *,
    guide: Guide | None = None,
    span: tuple[float, float] | None = None,
    label_width: float | None = None,
    width: float = 920,
) -> str:
    """Draw a line for each feature: its name, a point with interval a system, a remark.

    It is as tall as it must be. For hundreds of features draw one plot a group, with the same
    ``span``, so that pages can break between them, or keep the worst with `worst_rows`.

    Parameters
    ----------
    groups : sequence of ForestGroup
        Features under headings; an empty label draws no heading.
    names : sequence of str
        The systems, one for each point of a row.
    labels : Labels
        Title, name of the x axis, description.
    guide : Guide, optional
        An upright line to compare with, such as the value over all features.
    span : (float, float), optional
        Ends of the x axis; from the points unless given.
    label_width : float, optional
        Room for the features' names, so that several plots line up; see `label_room`.
    width : float
        Of the drawing.

    Returns
    -------
    str
        An SVG document.

    Examples
    --------
    >>> row = ForestRow("Chest pressure", (Point(0.8, 0.7, 0.9),), "n = 20")
    >>> svg = forest_plot([ForestGroup("Case 0", (row,))], ["exact"], Labels("F1 by feature"))
    >>> "Chest pressure: 0.800 [0.700, 0.900]" in svg
    True
    """
    rows = [row for group in groups for row in group.rows]
    low, high = span or limits(p for row in rows for p in row.points)
    room = label_room(groups) if label_width is None else label_width
    ends = max([text_width(_end(row), 11) for row in rows] or [0.0])
    scale = axes.share_scale(low, high, min(room, 0.38 * width) + 18, width - ends - 20)
    head, top = "", 4.0
    if len(names) > 1:
        keys = [axes.mark_key(i, name, whisker="h") for i, name in enumerate(names)]
        head, top = axes.legend(keys, _EDGE, 4, width - _EDGE)
    top += 18 if guide else 4
    table = _Table(scale, names, width, max(20.0, 9.0 * len(names) + 9))
    body, y = table.draw(groups, top)
    grid = axes.x_axis(scale, top, y, labels.x)
    line_up = "" if guide is None else axes.vertical_guide(
        scale, guide.value, top, y, guide.label
    )  # fmt: skip
    base = axes.base_line(scale.start, y, scale.end, y)
    drawn = head + table.stripes(groups, top) + grid + line_up + body + base
    return drawing(width, y + (46 if labels.x else 24), drawn, labels)


def label_room(groups: Sequence[ForestGroup]) -> float:
    """Return how much room the names of the rows need."""
    return max([150.0, *(text_width(row.label) + 4 for group in groups for row in group.rows)])


def _end(row: ForestRow) -> str:
    """Return what stands at the end of a row: its remark, or the one value."""
    return row.remark or (str(row.points[0]) if len(row.points) == 1 else "")


@dataclass(frozen=True, slots=True)
class _Table:
    """Where the lines go."""

    scale: axes.Scale
    names: Sequence[str]
    width: float
    step: float

    def _heading(self, group: ForestGroup) -> float:
        return 24.0 if group.label else 0.0

    def stripes(self, groups: Sequence[ForestGroup], top: float) -> str:
        parts, y = [], top
        for group in groups:
            y += self._heading(group)
            for i in range(len(group.rows)):
                if i % 2:
                    parts.append(element("rect", x=0, y=y, width=self.width, height=self.step,
                                         fill=SHADE, class_="shade"))  # fmt: skip
                y += self.step
        return "".join(parts)

    def draw(self, groups: Sequence[ForestGroup], top: float) -> tuple[str, float]:
        parts, y = [], top
        for group in groups:
            if group.label:
                parts.append(short_label(_EDGE, y + 17, group.label, self.width / 2, bold=True))
            y += self._heading(group)
            for row in group.rows:
                parts.append(self._row(row, y))
                y += self.step
        return "".join(parts), y

    def _row(self, row: ForestRow, y: float) -> str:
        middle = y + self.step / 2
        parts = [short_label(_EDGE, middle + 4, row.label, self.scale.start - 16)]
        for place, point in enumerate(row.points):
            at = y + self.step * (place + 1) / (len(row.points) + 1)
            who = f"{self.names[place]}, " if len(self.names) > 1 else ""
            parts.append(self._mark(place, point, at, f"{who}{row.label}: {point}"))
        right = self.width - 4
        parts.append(label(right, middle + 4, _end(row), anchor="end", size=11, muted=True))
        return "".join(parts)

    def _mark(self, place: int, point: Point, y: float, name: str) -> str:
        if not point.is_defined:
            return ""
        parts = [tooltip(name)]
        if point.has_interval:
            parts.append(
                line(self.scale(point.low), y, self.scale(point.high), y, width=1.8,
                     stroke=palette.colour(place), class_=f"k{place % 8}")
            )  # fmt: skip
        parts.append(palette.shape(place, self.scale(point.value), y, radius=4))
        return element("g", *parts)
