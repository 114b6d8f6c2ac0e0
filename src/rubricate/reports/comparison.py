"""The page of a comparison: several matchers on the same splits, beside the annotators."""

from __future__ import annotations

from itertools import pairwise

from rubricate import __version__
from rubricate.corpus import Corpus
from rubricate.errors import InputError
from rubricate.evaluation.systems import PairedDifference, compare_evaluations
from rubricate.progress import Progress, silent
from rubricate.reports.levels import (
    Measuring,
    case_names,
    case_order,
    case_series,
    human_label,
)
from rubricate.reports.page import (
    Value,
    facts_table,
    figure,
    figures,
    folded,
    html_table,
    make_sections,
    mean_sd,
    p_cell,
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
    Point,
    curve_plot,
    dot_plots,
    forest_plot,
)
from rubricate.trials import TrialResult, over_cases

#: The two measures of the NBME paper's Section 6.
BOTH = {"characters": "Characters", "presence": "Presence"}


def comparison_page(
    result: TrialResult, corpus: Corpus, protocol: str, *, progress: Progress = silent
) -> str:
    """Return one self-contained HTML page about several matchers on the same notes.

    >>> from rubricate import load_corpus
    >>> from rubricate.stats import Resampling
    >>> from rubricate.trials import Trial, fold_splits, run_trials
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> trials, splits = [Trial("exact", "exact")], fold_splits(corpus, folds=2, train_folds=1)
    >>> result = run_trials(corpus, trials, splits, settings=Resampling(resamples=50))
    >>> "One fold of two" in comparison_page(result, corpus, "One fold of two.")
    True
    """
    if not result.measured:
        raise InputError("no matcher to compare")
    facts = {
        "protocol": protocol,
        "rubricate": __version__,
        "notes": f"{result.n_notes:,}",
        "resamples": f"{result.settings.resamples:,} by note",
        "confidence": f"{result.settings.confidence:.0%}",
        "seed": str(result.settings.seed),
    }
    matchers = {
        f"{name}, {group} notes per case" if group else name: found
        for (group, name), found in result.measured.items()
    }
    human = None if result.ceiling is None else result.ceiling.pooled
    measuring = Measuring(matchers, corpus, human)
    tested = case_order(corpus, *result.of(result.groups[-1]).values())
    parts = [
        ("overall", "All cases together", lambda: _overall(measuring)),
        ("cases", "Case by case", lambda: _cases(measuring, tested)),
        ("differences", "Differences", lambda: _differences(result)),
        ("learning", "Learning curve", lambda: _curves(result)),
        ("method", "How it was measured", lambda: facts_table(facts)),
    ]
    return render_page("Comparison of matchers", make_sections(parts, progress), lead=protocol)


def _overall(measuring: Measuring) -> str:
    lines: list[list[Value]] = []
    rows = []
    for name, found in measuring.everybody.items():
        line: list[Value] = [name]
        points = tuple(found.overall(measure) for measure in BOTH)
        spread = over_cases(found)
        for measure, point in zip(BOTH, points, strict=True):
            line += [point, mean_sd(spread[measure]["mean"], spread[measure]["sd"])]
        lines.append(line)
        rows.append(ForestRow(name, points, " / ".join(f"{point.value:.3f}" for point in points)))
    header = ["Matcher"]
    for word in BOTH.values():
        header += [f"{word} F1", f"{word}, mean of cases (SD)"]
    caption = (
        "F1 of summed counts with its interval by note, and mean (SD) of the cases’ F1, as in "
        "Section 6 of the NBME paper."
    )
    labels = Labels("F1 of each matcher, all cases together", x="F1")
    svg = forest_plot([ForestGroup("", tuple(rows))], list(BOTH), labels)
    said = "F1 of characters and of presence with intervals by note."
    return html_table(header, lines, caption=caption) + figure(svg, said)


def _cases(measuring: Measuring, tested: list[str]) -> str:
    names = case_names(measuring.corpus)
    cases = {case: names[case] for case in tested}
    drawn = "".join(_case_figure(measuring, cases, measure) for measure in BOTH)
    points = {
        f"{word} F1: {name}": found.by_group(measure, level="cases")
        for measure, word in BOTH.items()
        for name, found in measuring.everybody.items()
    }
    lines: list[list[Value]] = [
        [name, *(own.get(case, UNDEFINED) for own in points.values())]
        for case, name in cases.items()
    ]
    return drawn + folded("As a table", html_table(["Case", *points], lines))


def _case_figure(measuring: Measuring, cases: dict[str, str], measure: str) -> str:
    systems, human = case_series(measuring, (measure,), cases)
    word, who = BOTH[measure], ", ".join(measuring.systems)
    labels = Labels(f"{word} F1 by case", y=f"{word} F1", description=f"F1 of {who} by case.")
    said = f"{word}: F1 by case with intervals by note."
    if human:
        said += f" The line is {human.name}, the band its interval."
    return figures(dot_plots(list(cases.values()), systems, labels, human=human), said)


def _differences(result: TrialResult) -> str:
    """Return each matcher minus the one before it, of the last group; "" where there is one."""
    systems = result.of(result.groups[-1])
    lines: list[list[Value]] = []
    for (earlier, second), (later, first) in pairwise(systems.items()):
        found = compare_evaluations(
            (later, first.evaluation), (earlier, second.evaluation), result.settings
        )
        lines += [
            [f"{later} − {earlier}", word, *_difference(found.differences[measure,])]
            for measure, word in BOTH.items()
        ]
    if not lines:
        return ""
    said = (
        "On the same notes: first minus second with its interval, both drawn together, and the p "
        "value of swapping the two within notes."
    )
    return paragraph(said) + html_table(["Difference", "Measure", "F1", "p"], lines)


def _difference(found: PairedDifference) -> tuple[Point, Value]:
    return found.difference, p_cell(found.p_value)


def _curves(result: TrialResult) -> str:
    """Return F1 against the number of notes learned from; "" where that does not vary."""
    groups = result.groups
    if len(groups) < 2:
        return ""
    parts = []
    for measure, word in BOTH.items():
        lines = [
            Line(
                name,
                tuple(float(group) for group in groups),
                tuple(result.of(group)[name].overall(measure) for group in groups),
            )
            for name in result.of(groups[0])
        ]
        guides = []
        if result.ceiling is not None:
            human = result.ceiling.pooled
            level = human.overall(measure).value
            guides.append(Guide(level, f"{human_label(human)}: {level:.3f}"))
        x = "annotated notes per case"
        labels = Labels(f"{word} F1 against {x}", x=x, y=f"{word} F1")
        svg = curve_plot(lines, labels, guides=guides, shares=True, size=(720, 380))
        parts.append(figure(svg, f"{word} F1 against the number of {x}."))
    return "".join(parts)
