"""The page of a training: curves, what was chosen on notes held out, and the recipe."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rubricate import __version__
from rubricate.errors import InputError
from rubricate.matchers.training_report import TrainingReport
from rubricate.reports.calibration import reliability_labels
from rubricate.reports.page import (
    Section,
    facts_table,
    figure,
    figure_row,
    paragraph,
    render_page,
    write_report,
)
from rubricate.reports.plots import Point, ReliabilityBin, reliability_plot
from rubricate.reports.tables import Value, counted, html_table
from rubricate.reports.training_curves import curves_section, measure_names
from rubricate.stats import proportion_limits
from rubricate.stats.calibration import Reliability


def training_page(
    report: TrainingReport,
    *,
    matcher: str,
    features: Mapping[str, str] | None = None,
    facts: Mapping[str, str] | None = None,
    title: str = "Training",
) -> str:
    """Return one self-contained HTML page about how a matcher was trained.

    Parameters
    ----------
    report : TrainingReport
        What a matcher keeps in ``training_report_``.
    matcher : str
        Its name.
    features : mapping from id to text, optional
        Names of the features that have thresholds.
    facts : mapping, optional
        What else is printed at the end: inputs, parameters, time.
    title : str
        Heading.

    Raises
    ------
    InputError
        If there is no course, or a course without a look.

    Examples
    --------
    >>> from rubricate.matchers.training_report import Course, Look
    >>> looks = (Look(20, 0.9, 8.0, {"F1": 0.9}), Look(40, 0.4, 16.0, {"F1": 0.8}))
    >>> page = training_page(TrainingReport((Course("network", looks, 8, 2, 20),)), matcher="m")
    >>> "m learned from 8 notes, with 2 held out; 40 steps in 16 s; step 20 was kept" in page
    True
    """
    if not report.courses or not all(course.looks for course in report.courses):
        raise InputError("nothing was seen of the training, so there is nothing to draw")
    sections = [
        Section("notes", "Notes", _held_out(report)),
        Section("curves", "Curves", curves_section(report)),
        Section("thresholds", "Thresholds", _thresholds(report, features or {})),
        Section("probabilities", "Probabilities", _probabilities(report)),
        Section("recipe", "Recipe", _recipe(report)),
        Section(
            "method",
            "How it was made",
            facts_table({**report.facts, **(facts or {}), "rubricate": __version__}),
        ),
    ]
    kept = [section for section in sections if section.body]
    return render_page(title, kept, lead=f"{matcher} {_lead(report)}")


def write_training_report(
    folder: Path,
    report: TrainingReport,
    *,
    matcher: str,
    features: Mapping[str, str] | None = None,
    facts: Mapping[str, str] | None = None,
    overwrite: bool = False,
) -> Path:
    """Write the page of `training_page` to ``folder/index.html`` and return that path.

    Raises
    ------
    OutputExistsError
        If the file exists and ``overwrite`` is false.
    """
    page = training_page(
        report, matcher=matcher, features=features, facts=facts, title=f"Training of {matcher}"
    )
    return write_report(folder, page, overwrite=overwrite)


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


def _held_out(report: TrainingReport) -> str:
    """Return the notes of each network and what is kept, as a table."""
    names = measure_names(report)
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
    table = html_table(header, lines, sortable=False)
    if report.held_out:
        values = ", ".join(f"{name} {value:.3f}" for name, value in report.held_out.items())
        table += paragraph(
            f"All notes held out together, with the thresholds below: {values}. The "
            f"{report.unit} and the thresholds were chosen on these notes, so the figures flatter."
        )
    return table


def _thresholds(report: TrainingReport, features: Mapping[str, str]) -> str:
    if not report.thresholds and not report.feature_thresholds:
        return ""
    common = {name: f"{value:.3f}" for name, value in report.thresholds.items()}
    parts = [facts_table(common, caption="For features without a threshold of their own.")]
    if not report.feature_thresholds:
        said = "No feature was held out often enough for a threshold of its own."
        return "".join([*parts, paragraph(said, class_="aside")])
    lines: list[list[Value]] = [
        [features.get(feature, feature), value]
        for feature, value in report.feature_thresholds.items()
    ]
    caption = f"{counted(len(lines), 'feature')} with a threshold chosen on the notes held out."
    parts.append(html_table(["Feature", "Present from probability"], lines, caption=caption))
    return "".join(parts)


def _probabilities(report: TrainingReport) -> str:
    """Return the reliability of probabilities before and after they were calibrated."""
    if report.before is None or report.after is None:
        return ""
    sides = {"before": report.before, "after": report.after}
    drawn = [
        figure(_diagram(name, one), f"{name.capitalize()} calibration.")
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
    table = html_table(header, lines, caption=caption, sortable=False)
    return table + figure_row(drawn) + paragraph(said, class_="aside")


def _diagram(name: str, found: Reliability) -> str:
    rows = np.array([one.n_rows for one in found.bins])
    there = np.array([one.present for one in found.bins]) * rows
    low, high = proportion_limits(there.round(), rows, method="wilson")
    bins = [
        ReliabilityBin(
            one.probability, Point(one.present, float(a), float(b)), one.n_rows, (one.low, one.high)
        )
        for one, a, b in zip(found.bins, low, high, strict=True)
    ]
    labels = reliability_labels(f"{name} calibration", found.brier, found.ece, found.n_rows)
    return reliability_plot(bins, labels)


def _recipe(report: TrainingReport) -> str:
    shown = {
        name: f"{value:g}" if isinstance(value, float) else "–" if value is None else str(value)
        for name, value in report.recipe.items()
    }
    return facts_table(shown) if shown else ""
