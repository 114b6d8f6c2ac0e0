"""Data of plots: points with intervals, series, rows, and labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rubricate.stats import Estimate

NAN = float("nan")
#: What is drawn: a value with its interval; an undefined one is not drawn.
Point = Estimate
UNDEFINED = Point(NAN)


@dataclass(frozen=True, slots=True)
class Labels:
    """The words of a plot."""

    title: str
    x: str = ""
    y: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """One system's values, one per category."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """Values along x; the interval of each point makes a band, ``chosen`` gets a ring."""

    name: str
    x: tuple[float, ...]
    points: tuple[Point, ...]
    chosen: float | None = None


@dataclass(frozen=True, slots=True)
class Guide:
    """A straight line across a plot, e.g. how far annotators agree; ``axis`` is what it fixes."""

    value: float
    label: str
    axis: str = "y"


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A line of a forest plot: one point per series, and a remark at its end."""

    label: str
    points: tuple[Point, ...]
    remark: str = ""


@dataclass(frozen=True, slots=True)
class ForestGroup:
    """Rows of a forest plot under one heading."""

    label: str
    rows: tuple[ForestRow, ...]


def worst_rows(
    groups: Sequence[ForestGroup], limit: int = 60
) -> tuple[tuple[ForestGroup, ...], int]:
    """Keep the rows whose first point is lowest, under their headings.

    >>> rows = tuple(ForestRow(str(v), (Point(v),)) for v in (0.9, 0.2, 0.5))
    >>> groups, left_out = worst_rows([ForestGroup("case", rows)], limit=2)
    >>> [row.label for row in groups[0].rows], left_out
    (['0.2', '0.5'], 1)
    """
    values = [
        (row.points[0].value, g, r)
        for g, group in enumerate(groups)
        for r, row in enumerate(group.rows)
        if row.points and row.points[0].is_defined
    ]
    kept = {(g, r) for _, g, r in sorted(values)[:limit]}
    found = (
        ForestGroup(group.label, tuple(row for r, row in enumerate(group.rows) if (g, r) in kept))
        for g, group in enumerate(groups)
    )
    total = sum(len(group.rows) for group in groups)
    return tuple(group for group in found if group.rows), total - len(kept)


def paged_groups(groups: Iterable[ForestGroup], most: int = 36) -> list[list[ForestGroup]]:
    """Share groups out so that no part has more than ``most`` lines, headings included.

    A group that is longer by itself is continued in the next part.

    >>> rows = tuple(ForestRow(str(i), (Point(0.5),)) for i in range(5))
    >>> parts = paged_groups([ForestGroup("a", rows), ForestGroup("b", rows)], most=8)
    >>> [[group.label for group in part] for part in parts]
    [['a'], ['b']]
    >>> [[group.label for group in part] for part in paged_groups([ForestGroup("a", rows)], 4)]
    [['a'], ['a, continued']]
    """
    parts: list[list[ForestGroup]] = []
    room = 0
    for group in groups:
        label, rows = group.label, group.rows
        while rows:
            if room < min(len(rows), most - 1) + 1:
                parts.append([])
                room = most
            taken = max(room - 1, 1)
            parts[-1].append(ForestGroup(label, rows[:taken]))
            room -= len(rows[:taken]) + 1
            rows, label = rows[taken:], f"{group.label}, continued"
    return parts
