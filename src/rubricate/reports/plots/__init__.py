"""Plots as SVG: colour-blind safe, legible in black and white, and described in words."""

from __future__ import annotations

from rubricate.reports.plots.bars import bar_plot, confusion_plot, histogram, matrix_plot
from rubricate.reports.plots.curves import PlotBin, curve_plot, difference_plot, reliability_plot
from rubricate.reports.plots.data import (
    UNDEFINED,
    ForestGroup,
    ForestRow,
    Guide,
    Labels,
    Line,
    Point,
    Series,
    paged_groups,
    worst_rows,
)
from rubricate.reports.plots.points import dot_plots, forest_plot, label_room

__all__ = [
    "UNDEFINED",
    "ForestGroup",
    "ForestRow",
    "Guide",
    "Labels",
    "Line",
    "PlotBin",
    "Point",
    "Series",
    "bar_plot",
    "confusion_plot",
    "curve_plot",
    "difference_plot",
    "dot_plots",
    "forest_plot",
    "histogram",
    "label_room",
    "matrix_plot",
    "paged_groups",
    "reliability_plot",
    "worst_rows",
]
