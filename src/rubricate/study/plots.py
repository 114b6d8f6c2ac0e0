"""Plots of a study: sample size against what is expected, and the flow of the five phases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rubricate.errors import InputError
from rubricate.files import whole_output
from rubricate.progress import Progress, silent, watched
from rubricate.reports import Section, facts_table, figure, render_page
from rubricate.reports.plots import Guide, Labels, Line, Point, curve_plot
from rubricate.reports.plots.ink import drawing, element, label, wrap
from rubricate.stats import Plan, plan_curve
from rubricate.stats.curves import Varied

#: Sizes beyond this multiple of the plan are not drawn: they would flatten all the rest.
_MOST = 6
_BOX, _GAP = 176.0, 22.0


def plan_plot(plan: Plan, *, progress: Progress = silent) -> str:
    """Draw the sample size against expected precision, recall and frequency.

    >>> from rubricate.stats import Expected, plan_slice
    >>> svg = plan_plot(plan_slice(Expected(0.85, 0.80, 0.48)))
    >>> all(name in svg for name in ("precision", "recall", "frequency", "519"))
    True
    """
    lines = []
    varied: tuple[Varied, ...] = ("precision", "recall", "frequency")
    for vary in watched(varied, progress, "drawing sample sizes", len(varied)):
        curve = plan_curve(plan.expected, plan.target, vary=vary, method=plan.method)
        kept = [
            (value, total)
            for value, total in zip(curve.values, curve.totals, strict=True)
            if total <= _MOST * plan.total
        ]
        points = tuple(Point(float(total)) for _, total in kept)
        lines.append(Line(f"expected {vary}", tuple(value for value, _ in kept), points))
    return curve_plot(
        lines,
        Labels("Sample size", "expected value", "notes to annotate", _words(plan)),
        guides=[Guide(float(plan.total), f"planned: {plan.total:,}")],
    )


def _words(plan: Plan) -> str:
    expected = plan.expected
    words = (
        f"Notes needed when one expected value changes and the others stay at precision "
        f"{expected.precision:g}, recall {expected.recall:g}, frequency {expected.frequency:.3g}; "
        f"the plan asks for {plan.total:,}."
    )
    return words if plan.pool is None else f"{words} The curves are for an endless pool."


def write_plan_plot(
    plan: Plan, path: str | Path, *, overwrite: bool = False, progress: Progress = silent
) -> None:
    """Write the plot of a plan as ``.svg`` or ``.html``."""
    target = Path(path)
    if target.suffix not in {".svg", ".html"}:
        raise InputError(f"--plot {target}: the name must end in .svg or .html")
    svg = plan_plot(plan, progress=progress)
    title = f"Sample size: {plan.total:,} notes"
    facts = {
        "positives": f"{plan.positives:,}",
        "negatives": f"{plan.negatives:,}",
        "each site": f"{plan.per_site.positives} + {plan.per_site.negatives}",
        "method": plan.method,
    }
    body = figure(svg, _words(plan)) + facts_table(facts)
    page = render_page(title, [Section("size", "Notes to annotate", body)], warnings=plan.warnings)
    with whole_output(target, overwrite=overwrite) as place:
        place.write_text(svg if target.suffix == ".svg" else page, encoding="utf-8")


def flow_plot(phases: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Draw the phases as boxes from left to right, each with its facts.

    >>> flow_plot([("Population", ["200 notes"]), ("Sample", ["50 notes"])]).count("<rect")
    4
    """
    parts = []
    wrapped = [
        [line for fact in facts for line in wrap(fact, _BOX - 20, 12)] for _, facts in phases
    ]
    most = max((len(lines) for lines in wrapped), default=0)
    height = 58 + 17 * most
    for i, ((title, _), lines) in enumerate(zip(phases, wrapped, strict=True)):
        x = 4 + i * (_BOX + _GAP)
        parts.append(
            element("rect", x=x, y=4, width=_BOX, height=height, rx=6, fill="none",
                    stroke="#0072B2", stroke_width=1.5, class_="k0")
        )  # fmt: skip
        parts.append(
            element("rect", x=x, y=4, width=_BOX, height=36, rx=6, fill="#0072B2",
                    fill_opacity=0.12, class_="f0")
        )  # fmt: skip
        heading = f"{i + 1}  {title}"
        parts.append(label(x + _BOX / 2, 27, heading, anchor="middle", size=13, bold=True))
        parts += [label(x + 10, 61 + 17 * k, line, size=12) for k, line in enumerate(lines)]
        if i + 1 < len(phases):
            middle, left = 4 + height / 2, x + _BOX + 3
            tip = f"M{left} {middle}h{_GAP - 11}m0 -5l6 5l-6 5z"
            parts.append(
                element("path", d=tip, stroke="#0072B2", fill="#0072B2", stroke_width=1.5,
                        class_="k0 f0")
            )  # fmt: skip
    words = "; ".join(f"{title}: {', '.join(facts)}" for title, facts in phases)
    width = 8 + len(phases) * (_BOX + _GAP) - _GAP
    labels = Labels("The five phases", description=words)
    return drawing(width, height + 8, "".join(parts), labels)
