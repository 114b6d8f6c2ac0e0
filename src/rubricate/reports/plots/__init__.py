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
)
from rubricate.reports.plots.points import dot_plots, forest_plot

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
    "matrix_plot",
    "reliability_plot",
]
