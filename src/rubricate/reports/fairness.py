"""The page about groups of notes: sizes, means and rates, and what differs beyond chance."""

from __future__ import annotations

from collections.abc import Sequence

from rubricate import __version__
from rubricate.reports.blocks import (
    Block,
    FactsBlock,
    Figure,
    Paragraph,
    Report,
    TableBlock,
    make_chapters,
    to_html,
)
from rubricate.reports.page import Cell, Value, one_decimal, p_cell
from rubricate.reports.plots import Labels, Point, Series, bar_plot
from rubricate.trust import Fairness, ItemBias
from rubricate.trust.fairness import MEASURES


def fairness_page(fair: Fairness, bias: Sequence[ItemBias], *, group: str) -> str:
    """Return one self-contained HTML page about the groups of a metadata field."""
    return to_html(fairness_report(fair, bias, group=group))


def fairness_report(fair: Fairness, bias: Sequence[ItemBias], *, group: str) -> Report:
    """Return the report about the groups of a metadata field."""

    def left_out() -> list[Block]:
        lines: list[list[Value]] = [[name, why] for name, why in fair.left_out.items()]
        return [TableBlock("", ["group", "why"], lines, sortable=True)] if lines else []

    def differences() -> list[Block]:
        lines: list[list[Value]] = [
            [MEASURES[one.measure], one.group, one.against, one_decimal(one.difference),
             f"{one.low:+.1f} to {one.high:+.1f}", p_cell(one.adjusted),
             "beyond chance" if one.flag else ""]
            for one in fair.contrasts
        ]  # fmt: skip
        header = ["measure", "group", "against", "difference", "interval", "adjusted p", ""]
        caption = "Differences among notes of the same case, in points of 100."
        empty = "There is nothing to compare."
        return [TableBlock(caption, header, lines, sortable=True, empty=empty)]

    def features() -> list[Block]:
        large: list[list[Value]] = [
            [one.feature, one.group, one.odds_ratio, p_cell(one.adjusted), one.size,
             one.r2_change, p_cell(one.p_non_uniform), one.r2_size]
            for one in bias
            if one.is_large
        ]  # fmt: skip
        header = ["feature", "group", "odds ratio", "adjusted p", "size", "change of R²",
                  "p, non-uniform", "size of it"]  # fmt: skip
        caption = "Features that work differently for a group whose notes score alike (sizes B, C)."
        empty = "No feature works differently for a group."
        return [TableBlock(caption, header, large, sortable=True, empty=empty)]

    settings = fair.settings
    how = {
        "least notes of a group": settings.min_size,
        "intervals": f"{settings.resampling.confidence:.0%}, notes drawn with replacement",
        "tests": f"{settings.permutations:,} permutations of notes within cases, Holm",
        "alpha": settings.alpha,
    }
    chapters = make_chapters(
        [
            ("groups", "Groups", lambda: _groups(fair)),
            ("left-out", "Left out", left_out),
            ("differences", "Differences", differences),
            ("features", "Features", features),
            ("how", "How it was done", lambda: [FactsBlock(how)]),
        ]
    )
    beyond = len(fair.flagged)
    lead = (
        f"{len(fair.reported)} of {len(fair.sizes)} groups by {group} are compared; {beyond} of "
        f"{len(fair.contrasts)} differences {'is' if beyond == 1 else 'are'} beyond chance."
    )
    warnings = [
        f"{MEASURES[one.measure]}: {one.group} against {one.against} {one.difference:+.1f} "
        f"({one.low:+.1f} to {one.high:+.1f})"
        for one in fair.flagged
    ]
    return Report("Fairness", chapters, lead, warnings, f"rubricate {__version__}")


def _groups(fair: Fairness) -> list[Block]:
    names = [*fair.means, "items found", "items for review"]
    lines: list[list[Value]] = []
    for group in fair.reported:
        line: list[Value] = [group, fair.sizes[group]]
        for own in fair.means.values():
            value, at = own[group]
            under = f"{at.low:.1f} to {at.high:.1f}"
            line.append(Cell(f"{value:.1f}", value, number=True, under=under))
        line += [one_decimal(fair.rates[group].get(name)) for name in names[len(fair.means) :]]
        lines.append(line)
    if not lines:
        return [Paragraph("No group is large enough.")]
    points = [fair.means["score"][group] for group in fair.reported]
    drawn = bar_plot(
        list(fair.reported),
        [Series("mean score", tuple(Point(v, at.low, at.high) for v, at in points))],
        Labels("Mean score of each group", "score, % of the maximum"),
    )
    caption = "Means and rates in per cent, with their intervals."
    return [
        TableBlock(caption, ["group", "notes", *names], lines, sortable=True),
        Figure("", drawn, "Groups may differ in scores because their notes do."),
    ]
