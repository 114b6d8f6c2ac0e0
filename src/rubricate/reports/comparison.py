"""The page of a comparison: several matchers on the same notes, beside the annotators."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rubricate import __version__
from rubricate.errors import InputError
from rubricate.reports.comparing import BOTH, Compared, Comparing
from rubricate.reports.page import (
    Section,
    facts_table,
    figure,
    figures,
    folded,
    paragraph,
    render_page,
)
from rubricate.reports.plots import (
    UNDEFINED,
    ForestGroup,
    ForestRow,
    Guide,
    Labels,
    Line,
    Series,
    curve_plot,
    dot_plots,
    forest_plot,
)
from rubricate.reports.tables import Cell, Value, html_table


def comparison_page(
    comparing: Comparing,
    *,
    title: str = "Comparison of matchers",
    warnings: Sequence[str] = (),
) -> str:
    """Return one self-contained HTML page about several matchers on the same notes.

    Parameters
    ----------
    comparing : Comparing
        Numbers and words.
    title : str
        Heading.
    warnings : sequence of str
        What a reader must know first.

    Raises
    ------
    InputError
        If there is no matcher to compare.

    Examples
    --------
    >>> from rubricate.reports.comparing import Reached
    >>> from rubricate.reports.plots import Point
    >>> cases = {"0": "0 Chest pain", "1": "1 Racing heart"}
    >>> def reached(value):
    ...     return Reached(Point(value), {case: Point(value, value - 0.1, value) for case in cases})
    >>> exact = Compared("exact", reached(0.53), reached(0.8))
    >>> fuzzy = Compared("fuzzy", reached(0.62), reached(0.85))
    >>> page = comparison_page(Comparing("One fold against nine.", cases, (exact, fuzzy)))
    >>> "0.620 (0.000)" in page
    True
    """
    if not comparing.matchers:
        raise InputError("no matcher to compare")
    cases = "".join(_case_figure(comparing, measure) for measure in BOTH)
    sections = [
        Section("overall", "All cases together", _overall(comparing)),
        Section("cases", "Case by case", cases + folded("As a table", _case_table(comparing))),
    ]
    if comparing.differences:
        sections.append(Section("differences", "Differences", _differences(comparing)))
    if comparing.curves:
        sections.append(Section("learning", "Learning curve", _curves(comparing)))
    facts = {"protocol": comparing.protocol, "rubricate": __version__, **comparing.facts}
    sections.append(Section("method", "How it was measured", facts_table(facts)))
    return render_page(title, sections, lead=comparing.protocol, warnings=warnings)


def _everybody(comparing: Comparing) -> list[Compared]:
    return [*comparing.matchers, *([comparing.human] if comparing.human else [])]


def _overall(comparing: Comparing) -> str:
    remarks = any(one.remark for one in _everybody(comparing))
    lines: list[list[Value]] = [
        [
            one.name,
            one.characters.overall,
            one.characters.mean_sd(),
            one.presence.overall,
            one.presence.mean_sd(),
            *([one.remark] if remarks else []),
        ]
        for one in _everybody(comparing)
    ]
    header = ["Matcher", "Characters F1", "Characters, mean of cases (SD)", "Presence F1",
              "Presence, mean of cases (SD)", *(["Remark"] if remarks else [])]  # fmt: skip
    caption = (
        "F1 of summed counts with its interval by note, and mean (SD) of the cases’ F1, as in "
        "Section 6 of the NBME paper."
    )
    rows = tuple(
        ForestRow(
            one.name, (one.characters.overall, one.presence.overall),
            f"{one.characters.overall.value:.3f} / {one.presence.overall.value:.3f}",
        )
        for one in _everybody(comparing)
    )  # fmt: skip
    labels = Labels("F1 of each matcher, all cases together", x="F1")
    svg = forest_plot([ForestGroup("", rows)], ["characters", "presence"], labels)
    said = "F1 of characters and of presence with intervals by note."
    return html_table(header, lines, caption=caption) + figure(svg, said)


def _case_figure(comparing: Comparing, measure: str) -> str:
    def series(one: Compared) -> Series:
        by_case = one.reached(measure).by_case
        return Series(one.name, tuple(by_case.get(case, UNDEFINED) for case in comparing.cases))

    human = series(comparing.human) if comparing.human else None
    name = BOTH[measure]
    labels = Labels(
        f"{name} F1 by case",
        y=f"{name} F1",
        description=f"F1 of {', '.join(one.name for one in comparing.matchers)} by case.",
    )
    drawn = dot_plots(
        list(comparing.cases.values()), [series(one) for one in comparing.matchers], labels,
        human=human,
    )  # fmt: skip
    said = f"{name}: F1 by case with intervals by note."
    if human:
        said += f" The line is {human.name}, the band its interval."
    return figures(drawn, said)


def _case_table(comparing: Comparing) -> str:
    everybody = _everybody(comparing)
    lines: list[list[Value]] = []
    for case, name in comparing.cases.items():
        cells = [
            one.reached(measure).by_case.get(case, UNDEFINED)
            for measure in BOTH
            for one in everybody
        ]
        lines.append([name, *cells])
    header = ["Case", *(f"{name} F1: {one.name}" for name in BOTH.values() for one in everybody)]
    return html_table(header, lines)


def _differences(comparing: Comparing) -> str:
    lines: list[list[Value]] = []
    for one in comparing.differences:
        tested = math.isfinite(one.p_value)
        p_value: Value = Cell(_p_text(one.p_value), one.p_value, number=True) if tested else None
        lines.append([f"{one.first} − {one.second}", BOTH[one.measure], one.point, p_value])
    said = (
        "On the same notes: first minus second with its interval, both drawn together, and the p "
        "value of swapping the two within notes."
    )
    header = ["Difference", "Measure", "F1", "p"]
    return paragraph(said) + html_table(header, lines)


def _p_text(p_value: float) -> str:
    return "&lt; 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def _curves(comparing: Comparing) -> str:
    parts = []
    for measure, name in BOTH.items():
        lines = [
            Line(one.name, tuple(float(n) for n in one.n_notes), points)
            for one in comparing.curves
            if (points := one.characters if measure == "characters" else one.presence)
        ]
        if not lines:
            continue
        guides = []
        if comparing.human:
            level = comparing.human.reached(measure).overall.value
            guides.append(Guide(level, f"{comparing.human.name}: {level:.3f}"))
        labels = Labels(
            f"{name} F1 against annotated notes a case",
            x="annotated notes a case",
            y=f"{name} F1",
        )
        svg = curve_plot(lines, labels, guides=guides, shares=True, size=(720, 380))
        parts.append(figure(svg, f"{name} F1 against the number of annotated notes a case."))
    return "".join(parts)
