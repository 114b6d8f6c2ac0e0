"""The page of a training: curves, what was chosen on notes held out, and the recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rubricate import __version__
from rubricate.display import counted, shown_number
from rubricate.errors import InputError
from rubricate.matchers.training_report import Course, TrainingReport
from rubricate.reports.blocks import (
    Block,
    FactsBlock,
    Figure,
    FigureRow,
    Fold,
    Paragraph,
    Report,
    TableBlock,
    make_chapters,
    to_html,
)
from rubricate.reports.evaluation import reliability_diagram
from rubricate.reports.page import Value
from rubricate.reports.plots import Guide, Labels, Line, PlotBin, Point, curve_plot
from rubricate.stats import proportion_limits
from rubricate.stats.calibration import Reliability

_SIZE = (720.0, 340.0)
_KEPT = "The ring marks the weights that were kept."
_NOTHING_HELD = (
    "No notes were held out, so nothing says when learning should have stopped: the last weights "
    "were kept."
)


def training_page(
    report: TrainingReport,
    *,
    matcher: str,
    features: Mapping[str, str] | None = None,
    facts: Mapping[str, str] | None = None,
    title: str = "Training",
) -> str:
    """Return one self-contained HTML page about a training; see `training_report`.

    >>> from rubricate.matchers.training_report import Course, Look
    >>> looks = (Look(20, 0.9, 8.0, {"F1": 0.9}), Look(40, 0.4, 16.0, {"F1": 0.8}))
    >>> page = training_page(TrainingReport((Course("network", looks, 8, 2, 20),)), matcher="m")
    >>> "m learned from 8 notes, with 2 held out; 40 steps in 16 s; step 20 was kept" in page
    True
    """
    return to_html(
        training_report(report, matcher=matcher, features=features, facts=facts, title=title)
    )


def training_report(
    report: TrainingReport,
    *,
    matcher: str,
    features: Mapping[str, str] | None = None,
    facts: Mapping[str, str] | None = None,
    title: str = "Training",
) -> Report:
    """Return the report about how a matcher was trained; ``features`` are their words by id."""
    if not report.courses or not all(course.looks for course in report.courses):
        raise InputError("the training left no measurements, so there is nothing to draw")
    whole = {**report.facts, **(facts or {}), "rubricate": __version__}
    recipe = {
        name: shown_number(value, "g") if value is None or isinstance(value, float) else str(value)
        for name, value in report.recipe.items()
    }
    chapters = make_chapters(
        [
            ("notes", "Notes", lambda: _held_out(report)),
            ("curves", "Curves", lambda: _curves(report)),
            ("thresholds", "Thresholds", lambda: _thresholds(report, features or {})),
            ("probabilities", "Probabilities", lambda: _probabilities(report)),
            ("recipe", "Recipe", lambda: [FactsBlock(recipe)] if recipe else []),
            ("method", "How it was made", lambda: [FactsBlock(whole)]),
        ]
    )
    return Report(title, chapters, f"{matcher} {_lead(report)}")


def _lead(report: TrainingReport) -> str:
    if len(report.courses) > 1:
        steps = sum(course.looks[-1].step for course in report.courses)
        seconds = [course.looks[-1].seconds for course in report.courses]
        total = None if None in seconds else sum(s for s in seconds if s is not None)
        held = sum(course.n_held for course in report.courses)
        return (
            f"trained {counted(len(report.courses), 'network')}, each with other notes held out "
            f"({counted(held, 'note')} in all); {counted(steps, report.unit)}{_time(total)}."
        )
    course = report.courses[0]
    last = course.looks[-1]
    kept = "" if course.chosen is None else f"; {report.unit} {course.chosen} was kept"
    return (
        f"learned from {counted(course.n_learned, 'note')}, with {course.n_held:,} held out; "
        f"{counted(last.step, report.unit)}{_time(last.seconds)}{kept}."
    )


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f" in {seconds:.0f} s" if seconds < 180 else f" in {seconds / 60:.1f} min"


def _held_out(report: TrainingReport) -> list[Block]:
    """Return the notes of each network and what is kept, as a table."""
    names = _measure_names(report)
    lines: list[list[Value]] = []
    for course in report.courses:
        kept = next((one for one in course.looks if one.step == course.chosen), course.looks[-1])
        lines.append(
            [
                course.name,
                course.n_learned,
                course.n_held,
                course.looks[-1].step,
                kept.step,
                *(kept.measured.get(name) for name in names),
            ]
        )
    unit = report.unit.capitalize()
    header = ["Network", "Notes learned from", "Notes held out", f"{unit}s", f"{unit} kept",
              *(f"{name[:1].upper()}{name[1:]}" for name in names)]  # fmt: skip
    blocks: list[Block] = [TableBlock("", header, lines)]
    if report.held_out:
        values = ", ".join(f"{name} {value:.3f}" for name, value in report.held_out.items())
        said = (
            f"All notes held out together, with the thresholds below: {values}. The "
            f"{report.unit} and the thresholds were chosen on these notes, so the figures flatter."
        )
        blocks.append(Paragraph(said))
    return blocks


def _curves(report: TrainingReport) -> list[Block]:
    """Return loss and held-out measures against steps as drawings, and as a table."""
    losses = [
        _line(course, course.name, [(look.step, look.loss) for look in course.looks])
        for course in report.courses
    ]
    said = "; ".join(
        f"{one.name}: from {one.points[0].value:.3f} to {one.points[-1].value:.3f}"
        for one in losses
    )
    labels = Labels(f"Loss against {report.unit}s", x=report.unit, y="loss", description=said)
    svg = curve_plot(losses, labels, guides=_guides(report), size=_SIZE)
    loss = Figure("", svg, f"Loss, {report.unit} by {report.unit}. {_KEPT}")
    measured: Sequence[Block] = _measured_figures(report) or [Paragraph(_NOTHING_HELD)]

    names = _measure_names(report)
    timed = all(look.seconds is not None for one in report.courses for look in one.looks)
    header = ["Network", report.unit.capitalize(), "Loss", *(["Seconds"] if timed else []),
              *(f"{name[:1].upper()}{name[1:]}" for name in names), "Kept"]  # fmt: skip
    lines: list[list[Value]] = [
        [
            course.name,
            look.step,
            look.loss,
            *([round(look.seconds or 0.0)] if timed else []),
            *(look.measured.get(name) for name in names),
            "kept" if look.step == course.chosen else "",
        ]
        for course in report.courses
        for look in course.looks
    ]
    table = TableBlock("", header, lines, sortable=True)
    return [loss, *measured, Fold("The curves in numbers", [table])]


def _measure_names(report: TrainingReport) -> list[str]:
    """Return the names of the measures on held-out notes, in the order of their first use."""
    names = (name for one in report.courses for look in one.looks for name in look.measured)
    return list(dict.fromkeys(names))


def _guides(report: TrainingReport) -> list[Guide]:
    """Return the upright line of the kept step; lines of several networks would be a fence."""
    first = report.courses[0]
    if len(report.courses) > 1 or first.chosen is None or len(first.looks) < 2:
        return []
    return [Guide(float(first.chosen), f"kept: {report.unit} {first.chosen}", axis="x")]


def _measured_figures(report: TrainingReport) -> list[Figure]:
    """Return the drawings of held-out notes: one, or one per measure for several networks."""
    names = _measure_names(report)
    if not names:
        return []
    if len(report.courses) == 1:
        course = report.courses[0]
        lines = [_measured_line(course, name, name) for name in names]
        whose = f"on {counted(course.n_held, 'note')} held out"
        return [_measured_figure(report, lines, " and ".join(names), whose)]
    whose = "of each network on the notes held out from it"
    return [
        _measured_figure(
            report, [_measured_line(one, name, one.name) for one in report.courses], name, whose
        )
        for name in names
    ]


def _line(course: Course, name: str, seen: list[tuple[int, float]]) -> Line:
    chosen = None if course.chosen is None else float(course.chosen)
    return Line(name, tuple(float(at) for at, _ in seen), tuple(Point(v) for _, v in seen), chosen)


def _measured_line(course: Course, measure: str, name: str) -> Line:
    looks = (look for look in course.looks if measure in look.measured)
    return _line(course, name, [(look.step, look.measured[measure]) for look in looks])


def _measured_figure(report: TrainingReport, lines: list[Line], measure: str, whose: str) -> Figure:
    best = "; ".join(
        f"{one.name}: at best {max(p.value for p in one.points):.3f}" for one in lines if one.points
    )
    axis = measure if len(report.courses) > 1 or len(lines) == 1 else "F1"
    labels = Labels(f"{measure} against {report.unit}s", x=report.unit, y=axis, description=best)
    svg = curve_plot(lines, labels, guides=_guides(report), shares=True, size=_SIZE)
    said = f"{measure[:1].upper()}{measure[1:]} {whose}, {report.unit} by {report.unit}. {_KEPT}"
    return Figure("", svg, said)


def _thresholds(report: TrainingReport, features: Mapping[str, str]) -> list[Block]:
    if not report.thresholds and not report.feature_thresholds:
        return []
    common = {name: f"{value:.3f}" for name, value in report.thresholds.items()}
    table = FactsBlock(common, "For features without a threshold of their own.")
    if not report.feature_thresholds:
        said = "No feature was held out often enough for a threshold of its own."
        return [table, Paragraph(said, "aside")]
    lines: list[list[Value]] = [
        [features.get(feature, feature), value]
        for feature, value in report.feature_thresholds.items()
    ]
    caption = f"{counted(len(lines), 'feature')} with a threshold chosen on the notes held out."
    header = ["Feature", "Present from probability"]
    return [table, TableBlock(caption, header, lines, sortable=True)]


def _probabilities(report: TrainingReport) -> list[Block]:
    """Return the reliability of probabilities before and after they were calibrated."""
    if report.before is None or report.after is None:
        return []
    sides = {"before": report.before, "after": report.after}
    drawn = [
        Figure("", _diagram(name, one), f"{name.capitalize()} calibration.")
        for name, one in sides.items()
    ]
    lines: list[list[Value]] = [
        [name.capitalize(), one.n_rows, one.brier, one.ece] for name, one in sides.items()
    ]
    caption = (
        "Probabilities of presence on the notes held out. The calibration was chosen on the same "
        "rows, so its figures flatter a little; measure on other notes with rubricate evaluate."
    )
    said = (
        "Share of rows that are present against the probability stated; whiskers are 95 % "
        "intervals (Wilson 1927, rows taken as independent). On the dashed line probabilities mean "
        "what they say. Beneath, how many rows each bin has."
    )
    header = ["Calibration", "Rows", "Brier score", "ECE"]
    return [TableBlock(caption, header, lines), FigureRow(drawn), Paragraph(said, "aside")]


def _diagram(name: str, found: Reliability) -> str:
    rows = np.array([one.n_rows for one in found.bins])
    there = np.array([one.present for one in found.bins]) * rows
    low, high = proportion_limits(there.round(), rows, method="wilson")
    bins = [
        PlotBin(
            one.probability, Point(one.present, float(a), float(b)), one.n_rows, (one.low, one.high)
        )
        for one, a, b in zip(found.bins, low, high, strict=True)
    ]
    return reliability_diagram(
        f"{name} calibration", bins, brier=found.brier, ece=found.ece, n_rows=found.n_rows
    )
