"""Bars with hatching, histograms, the confusion of presence, and matrices of pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from rubricate.reports.plots import ink
from rubricate.reports.plots.canvas import (
    Canvas,
    Key,
    Scale,
    axis_line,
    check_lengths,
    limits,
    round_end,
)
from rubricate.reports.plots.data import Labels, Series
from rubricate.reports.plots.ink import (
    INK,
    MUTED,
    drawing,
    element,
    hatching,
    label,
    short_label,
    text_width,
    tooltip,
)

_LABEL = 210.0


def bar_plot(
    categories: Sequence[str], series: Sequence[Series], labels: Labels, *, whole: bool = False
) -> str:
    """Draw lying bars from 0, one per category and series, with intervals as whiskers.

    ``whole`` numbers are counts.

    >>> from rubricate.reports.plots.data import Point
    >>> svg = bar_plot(["age"], [Series("exact", (Point(0.5),))], Labels("Errors by kind"))
    >>> "age: 0.500" in svg
    True
    """
    check_lengths(categories, series)
    _, high = limits(p for one in series for p in one.points)
    several = len(series) > 1
    canvas = Canvas(labels, 640, _LABEL + 12, 570)
    if several:
        keys = [Key(ink.hatched(i, -11, -6, 22, 12), one.name) for i, one in enumerate(series)]
        canvas.legend(keys, left=6)
    thick = 14.0 if several else 18.0
    step = thick * max(len(series), 1) + 10
    canvas.open(below=2, height=step * len(categories) + 4)
    scale = Scale(0.0, round_end(0.0, max(high, 0.0)), *canvas.across, whole=whole)
    canvas.x_axis(scale, n=6)
    for k, category in enumerate(categories):
        y = canvas.top + step * k + 7
        beside = y + (step - 10) / 2 + 4
        canvas.add(short_label(_LABEL, beside, category, _LABEL - 6, anchor="end"))
        for place, one in enumerate(series):
            point = one.points[k]
            if not point.is_defined:
                continue
            name = f"{one.name}, {category}" if several else category
            shown = f"{point.value:,.0f}" if whole or high > 10 else f"{point.value:.3f}"
            words = tooltip(f"{name}: {point if point.has_interval else shown}")
            top, height, end = y + thick * place, thick - 2, scale(point.value)
            middle, edge = top + height / 2, end
            canvas.add(ink.hatched(place, scale.start, top, end - scale.start, height, words))
            if point.has_interval:
                ends = scale(point.low), scale(point.high)
                edge = max(end, ends[1])
                canvas.add(ink.interval(middle, *ends, lying=True, stroke=INK, class_="human"))
            canvas.add(label(edge + 5, middle + 4, shown, size=11, muted=True))
    canvas.add(axis_line(canvas.left, canvas.top, canvas.left, canvas.bottom))
    return canvas.finish()


_BINS_WIDTH = 560.0


def histogram(
    values: Sequence[float],
    labels: Labels,
    *,
    n_bins: int = 24,
    span: tuple[float, float] | None = None,
) -> str:
    """Draw how many values fall into bins of the same width; what is not finite is left out.

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
    canvas = Canvas(labels, _BINS_WIDTH, 68, _BINS_WIDTH - 14)
    canvas.open(below=6, height=220)
    x = Scale(float(edges[0]), float(edges[-1]), *canvas.across)
    y = Scale(0.0, round_end(0.0, float(counts.max(initial=1))), *canvas.up, whole=True)
    canvas.y_axis(y, labels.y or "how many", n=5)
    for count, low, high in zip(counts.tolist(), edges[:-1], edges[1:], strict=True):
        if count:
            name = tooltip(f"{low:.4g} to {high:.4g}: {count:,}")
            start, end, height = x(float(low)), x(float(high)), y(count)
            wide = max(end - start - 1, 0.5)
            canvas.add(
                element("rect", name, x=start + 0.5, y=height, width=wide,
                        height=canvas.bottom - height, fill=ink.look(0).colour, class_="f0")
            )  # fmt: skip
    canvas.x_axis(x, grid=False)
    canvas.base_line()
    return canvas.finish()


_CELL_W, _CELL_H = 124.0, 92.0


def confusion_plot(
    counts: Mapping[str, float],
    labels: Labels,
    *,
    sides: tuple[str, str] = ("Reference", "Predicted"),
) -> str:
    """Draw a two-by-two table of presence, darker with the share of all rows.

    >>> svg = confusion_plot({"tp": 80, "fp": 5, "fn": 5, "tn": 10}, Labels("Presence"))
    >>> "80.0 % of all" in svg
    True
    """
    left, top = 112.0, 62.0
    total = sum(counts[name] for name in ("tp", "fp", "fn", "tn"))
    cells = (("tp", 0, 0, "found"), ("fn", 0, 1, "missed"),
             ("fp", 1, 0, "false"), ("tn", 1, 1, "rightly absent"))  # fmt: skip
    parts = [
        short_label(left + _CELL_W, 18, sides[1], 2 * _CELL_W, anchor="middle", bold=True),
        label(left + _CELL_W / 2, 44, "present", anchor="middle"),
        label(left + 1.5 * _CELL_W, 44, "absent", anchor="middle"),
        short_label(4, top - 18, sides[0], left - 12, bold=True),
        label(left - 12, top + _CELL_H / 2 + 4, "present", anchor="end"),
        label(left - 12, top + 1.5 * _CELL_H + 4, "absent", anchor="end"),
    ]
    for name, row, column, word in cells:
        share = counts[name] / total if total else 0.0
        x, y = left + column * _CELL_W, top + row * _CELL_H
        wrong = name in {"fp", "fn"}
        fill, ink = shade(share * 0.85 if wrong else share, warm=wrong)
        said = f"{counts[name]:,.0f} {word}, {100 * share:.1f} % of all"
        parts.append(element("rect", tooltip(said), x=x, y=y, width=_CELL_W, height=_CELL_H,
                             fill=fill, stroke="#8a8a8a"))  # fmt: skip
        if wrong:
            box = (x, y, _CELL_W, _CELL_H)
            parts.append(hatching((45, 9), box, stroke="#e0c3aa", class_="wrong"))
        for text, dy, size, bold in (
            (f"{counts[name]:,.0f}", 37, 21, True),
            (word, 58, 12, False),
            (f"{100 * share:.1f} %", 75, 12, False),
        ):
            parts.append(_on_cell(x + _CELL_W / 2, y + dy, text, size, ink, bold))
    width, height = left + 2 * _CELL_W + 6, top + 2 * _CELL_H + 6
    return drawing(width, height, "".join(parts), labels)


def matrix_plot(names: Sequence[str], values: Sequence[Sequence[float]], labels: Labels) -> str:
    """Draw a square matrix of shares with numbers in its cells; nan stays empty.

    >>> nan = float("nan")
    >>> svg = matrix_plot(["ann", "bob"], [[nan, 0.84], [0.84, nan]], Labels("Pairs"))
    >>> svg.count("ann and bob: 0.840")
    1
    """
    cell = 46.0 if len(names) <= 14 else 30.0
    left = min(max([text_width(name) for name in names] or [0.0]), 150.0) + 14
    slanted = any(text_width(name, 11) > cell - 4 for name in names)
    top = min(0.75 * left, 110.0) + 14 if slanted else 24.0
    parts = []
    for i, name in enumerate(names):
        x, y = left + cell * (i + 0.5), top + cell * (i + 0.5) + 4
        parts.append(short_label(left - 8, y, name, left - 10, anchor="end"))
        head = short_label(0, 0, name, left if slanted else cell, size=11,
                           anchor="start" if slanted else "middle")  # fmt: skip
        turn = " rotate(-45)" if slanted else ""
        parts.append(element("g", head, transform=f"translate({x:.1f} {top - 7:.1f}){turn}"))
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            x, y = left + cell * j, top + cell * i
            if not math.isfinite(value):
                parts.append(element("rect", x=x, y=y, width=cell, height=cell, fill="none",
                                     stroke=MUTED, class_="grid", stroke_width=0.5))  # fmt: skip
                continue
            fill, ink = shade(max(0.0, min(1.0, (value - 0.3) / 0.7)))
            said = tooltip(f"{names[i]} and {names[j]}: {value:.3f}")
            parts.append(element("rect", said, x=x, y=y, width=cell, height=cell, fill=fill,
                                 stroke="#fff"))  # fmt: skip
            text = f"{value:.2f}".removeprefix("0")
            parts.append(_on_cell(x + cell / 2, y + cell / 2 + 4, text, 11 if cell < 40 else 12.5,
                                  ink))  # fmt: skip
    side = cell * len(names)
    width = left + side + (0.7 * left if slanted else 8)
    return drawing(width, top + side + 8, "".join(parts), labels)


def shade(share: float, *, warm: bool = False) -> tuple[str, str]:
    """Return a fill that darkens with the share, and an ink that is legible on it.

    >>> shade(0.0), shade(1.0)[1]
    (('#ffffff', '#1c1c1c'), '#ffffff')
    """
    full = (0xB8, 0x4E, 0x00) if warm else (0x00, 0x50, 0x80)
    red, green, blue = (round(255 + (c - 255) * share) for c in full)
    dark = 0.299 * red + 0.587 * green + 0.114 * blue < 140
    return f"#{red:02x}{green:02x}{blue:02x}", "#ffffff" if dark else INK


def _on_cell(x: float, y: float, text: str, size: float, ink: str, bold: bool = False) -> str:
    # No class: the cell keeps its own colour on a dark page, and so must its text
    return element(
        "text", text, x=x, y=y, font_size=size, text_anchor="middle", fill=ink,
        font_weight="600" if bold else None, pointer_events="none",
    )  # fmt: skip
