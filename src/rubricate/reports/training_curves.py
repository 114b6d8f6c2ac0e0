"""Curves of a training: loss and held-out measures, step by step."""

from __future__ import annotations

from rubricate.matchers.training_report import Course, TrainingReport
from rubricate.reports.page import figure, folded, paragraph
from rubricate.reports.plots import Guide, Labels, Line, Point, curve_plot
from rubricate.reports.tables import Value, counted, html_table

_SIZE = (720.0, 340.0)
_KEPT = "The ring marks the weights that were kept."
_NOTHING_HELD = (
    "No notes were held out, so nothing says when learning should have stopped: the last weights "
    "were kept."
)


def curves_section(report: TrainingReport) -> str:
    """Return loss and held-out measures against steps as drawings, and as a table."""
    losses = [
        Line(
            course.name,
            tuple(float(look.step) for look in course.looks),
            tuple(Point(look.loss) for look in course.looks),
            _chosen_step(course),
        )
        for course in report.courses
    ]
    said = "; ".join(
        f"{one.name}: from {one.points[0].value:.3f} to {one.points[-1].value:.3f}"
        for one in losses
    )
    labels = Labels(f"Loss against {report.unit}s", x=report.unit, y="loss", description=said)
    svg = curve_plot(losses, labels, guides=_guides(report), size=_SIZE)
    parts = [figure(svg, f"Loss, {report.unit} by {report.unit}. {_KEPT}")]
    measured = _measured_figures(report)
    parts += measured or [paragraph(_NOTHING_HELD)]
    return "".join(parts) + folded("The curves in numbers", _looks_table(report))


def measure_names(report: TrainingReport) -> list[str]:
    """Return what was measured on notes held out, in the order of first sight."""
    names = (name for one in report.courses for look in one.looks for name in look.measured)
    return list(dict.fromkeys(names))


def _chosen_step(course: Course) -> float | None:
    return None if course.chosen is None else float(course.chosen)


def _guides(report: TrainingReport) -> list[Guide]:
    """Return the upright line of the kept step; lines of several networks would be a fence."""
    first = report.courses[0]
    if len(report.courses) > 1 or first.chosen is None or len(first.looks) < 2:
        return []
    return [Guide(float(first.chosen), f"kept: {report.unit} {first.chosen}", axis="x")]


def _measured_figures(report: TrainingReport) -> list[str]:
    """Return what held-out notes showed: one drawing, or for several networks one a measure."""
    names = measure_names(report)
    if not names:
        return []
    if len(report.courses) == 1:
        course = report.courses[0]
        lines = [_line(course, name, name) for name in names]
        whose = f"on {counted(course.n_held, 'note')} held out"
        return [_measured_figure(report, lines, " and ".join(names), whose)]
    whose = "of each network on the notes held out from it"
    return [
        _measured_figure(
            report, [_line(one, name, one.name) for one in report.courses], name, whose
        )
        for name in names
    ]


def _line(course: Course, measure: str, name: str) -> Line:
    looks = [look for look in course.looks if measure in look.measured]
    return Line(
        name,
        tuple(float(look.step) for look in looks),
        tuple(Point(look.measured[measure]) for look in looks),
        _chosen_step(course),
    )


def _measured_figure(report: TrainingReport, lines: list[Line], measure: str, whose: str) -> str:
    best = "; ".join(
        f"{one.name}: at best {max(p.value for p in one.points):.3f}" for one in lines if one.points
    )
    axis = measure if len(report.courses) > 1 or len(lines) == 1 else "F1"
    labels = Labels(f"{measure} against {report.unit}s", x=report.unit, y=axis, description=best)
    svg = curve_plot(lines, labels, guides=_guides(report), shares=True, size=_SIZE)
    said = f"{measure[:1].upper()}{measure[1:]} {whose}, {report.unit} by {report.unit}. {_KEPT}"
    return figure(svg, said)


def _looks_table(report: TrainingReport) -> str:
    names = measure_names(report)
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
    return html_table(header, lines)
