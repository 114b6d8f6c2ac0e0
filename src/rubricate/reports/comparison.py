"""The page of a comparison: several matchers on the same splits, beside the annotators."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from rubricate import __version__
from rubricate.corpus import Corpus
from rubricate.errors import InputError
from rubricate.evaluation.systems import compare_evaluations
from rubricate.progress import Progress, silent
from rubricate.reports.blocks import (
    Block,
    FactsBlock,
    Figure,
    Fold,
    Paragraph,
    Report,
    TableBlock,
    make_chapters,
)
from rubricate.reports.levels import (
    Measuring,
    case_names,
    case_order,
    case_series,
    figures,
    human_label,
)
from rubricate.reports.page import Value, mean_sd, p_cell
from rubricate.reports.plots import (
    UNDEFINED,
    ForestGroup,
    ForestRow,
    Guide,
    Labels,
    Line,
    curve_plot,
    dot_plots,
    forest_plot,
)
from rubricate.trials import TrialResult, over_cases

#: The two measures of the NBME paper's Section 6.
BOTH = {"characters": "Characters", "presence": "Presence"}


def comparison_report(
    result: TrialResult, corpus: Corpus, protocol: str, *, progress: Progress = silent
) -> Report:
    """Return the report about several matchers on the same notes, measured by a protocol.

    >>> from rubricate.reports.blocks import to_html
    >>> from rubricate import load_corpus
    >>> from rubricate.stats import Resampling
    >>> from rubricate.trials import Trial, fold_splits, run_trials
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> trials, splits = [Trial("exact", "exact")], fold_splits(corpus, folds=2, train_folds=1)
    >>> result = run_trials(corpus, trials, splits, settings=Resampling(resamples=50))
    >>> "One fold of two" in to_html(comparison_report(result, corpus, "One fold of two."))
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
    parts: list[tuple[str, str, Callable[[], list[Block]]]] = [
        ("overall", "All cases together", lambda: _overall(measuring)),
        ("cases", "Case by case", lambda: _cases(measuring, tested)),
        ("differences", "Differences", lambda: _differences(result)),
        ("learning", "Learning curve", lambda: _curves(result)),
        ("method", "How it was measured", lambda: [FactsBlock(facts)]),
    ]
    return Report("Comparison of matchers", make_chapters(parts, progress), protocol)


def _overall(measuring: Measuring) -> list[Block]:
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
    return [TableBlock(caption, header, lines, sortable=True), Figure("", svg, said)]


def _cases(measuring: Measuring, tested: list[str]) -> list[Block]:
    names = case_names(measuring.corpus)
    cases = {case: names[case] for case in tested}
    drawn: list[Block] = []
    for measure, word in BOTH.items():
        systems, human = case_series(measuring, (measure,), cases)
        who = ", ".join(measuring.systems)
        labels = Labels(f"{word} F1 by case", y=f"{word} F1", description=f"F1 of {who} by case.")
        said = f"{word}: F1 by case with intervals by note."
        if human:
            said += f" The line is {human.name}, the band its interval."
        drawn += figures(dot_plots(list(cases.values()), systems, labels, human=human), said)
    points = {
        f"{word} F1: {name}": found.by_group(measure, level="cases")
        for measure, word in BOTH.items()
        for name, found in measuring.everybody.items()
    }
    lines: list[list[Value]] = [
        [name, *(own.get(case, UNDEFINED) for own in points.values())]
        for case, name in cases.items()
    ]
    table = TableBlock("", ["Case", *points], lines, sortable=True)
    return [*drawn, Fold("As a table", [table])]


def _differences(result: TrialResult) -> list[Block]:
    """Return each matcher minus the one before it, of the last group, if there are several."""
    systems = result.of(result.groups[-1])
    lines: list[list[Value]] = []
    for (earlier, second), (later, first) in pairwise(systems.items()):
        found = compare_evaluations((later, first), (earlier, second), result.settings)
        for measure, word in BOTH.items():
            one = found.differences[measure,]
            lines.append([f"{later} − {earlier}", word, one.difference, p_cell(one.p_value)])
    if not lines:
        return []
    said = (
        "On the same notes: first minus second with its interval, both drawn together, and the p "
        "value of swapping the two within notes."
    )
    header = ["Difference", "Measure", "F1", "p"]
    return [Paragraph(said), TableBlock("", header, lines, sortable=True)]


def _curves(result: TrialResult) -> list[Block]:
    """Return F1 against the number of notes learned from, where that varies."""
    groups = result.groups
    if len(groups) < 2:
        return []
    blocks: list[Block] = []
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
        blocks.append(Figure("", svg, f"{word} F1 against the number of {x}."))
    return blocks
