"""The page about groups of notes: sizes, means and rates, and what differs beyond chance."""

from __future__ import annotations

from collections.abc import Sequence

from rubricate import __version__
from rubricate.reports.page import (
    Cell,
    Value,
    facts_table,
    figure,
    html_table,
    make_sections,
    one_decimal,
    p_cell,
    paragraph,
    render_page,
)
from rubricate.reports.plots import Labels, Point, Series, bar_plot
from rubricate.trust import Fairness, ItemBias
from rubricate.trust.fairness import MEASURES


def fairness_page(fair: Fairness, bias: Sequence[ItemBias], *, group: str) -> str:
    """Return one self-contained HTML page about the groups of a metadata field."""
    beyond = len(fair.flagged)
    sections = make_sections(
        [
            ("groups", "Groups", lambda: _groups(fair)),
            ("left-out", "Left out", lambda: html_table(
                ["group", "why"], list(fair.left_out.items())) if fair.left_out else ""),
            ("differences", "Differences", lambda: _differences(fair)),
            ("features", "Features", lambda: _features(bias)),
            ("how", "How it was done", lambda: _how(fair)),
        ]
    )  # fmt: skip
    lead = (
        f"{len(fair.reported)} of {len(fair.sizes)} groups by {group} are compared; {beyond} of "
        f"{len(fair.contrasts)} differences {'is' if beyond == 1 else 'are'} beyond chance."
    )
    warnings = [
        f"{MEASURES[one.measure]}: {one.group} against {one.against} {one.difference:+.1f} "
        f"({one.low:+.1f} to {one.high:+.1f})"
        for one in fair.flagged
    ]
    return render_page(
        "Fairness", sections, lead=lead, warnings=warnings, footer=f"rubricate {__version__}"
    )


def _groups(fair: Fairness) -> str:
    names = [*fair.means, "items found", "items for review"]
    lines: list[list[Value]] = []
    for group in fair.reported:
        line: list[Value] = [group, fair.sizes[group]]
        for own in fair.means.values():
            value, at = own[group]
            ends = f'<span class="ci">{at.low:.1f} to {at.high:.1f}</span>'
            line.append(Cell(f"{value:.1f}{ends}", value, number=True))
        line += [one_decimal(fair.rates[group].get(name)) for name in names[len(fair.means) :]]
        lines.append(line)
    if not lines:
        return paragraph("No group is large enough.")
    points = [fair.means["score"][group] for group in fair.reported]
    drawn = bar_plot(
        list(fair.reported),
        [Series("mean score", tuple(Point(v, at.low, at.high) for v, at in points))],
        Labels("Mean score of each group", "score, % of the maximum"),
    )
    caption = "Means and rates in per cent, with their intervals."
    return html_table(["group", "notes", *names], lines, caption=caption) + figure(
        drawn, "Groups may differ in scores because their notes do."
    )


def _differences(fair: Fairness) -> str:
    lines: list[list[Value]] = [
        [MEASURES[one.measure], one.group, one.against, one_decimal(one.difference),
         f"{one.low:+.1f} to {one.high:+.1f}", p_cell(one.adjusted),
         "beyond chance" if one.flag else ""]
        for one in fair.contrasts
    ]  # fmt: skip
    header = ["measure", "group", "against", "difference", "interval", "adjusted p", ""]
    caption = "Differences among notes of the same case, in points of 100."
    return html_table(header, lines, caption=caption, empty="There is nothing to compare.")


def _features(bias: Sequence[ItemBias]) -> str:
    large: list[list[Value]] = [
        [one.feature, one.group, one.odds_ratio, p_cell(one.adjusted), one.size,
         one.r2_change, p_cell(one.p_non_uniform), one.r2_size]
        for one in bias
        if one.is_large
    ]  # fmt: skip
    return html_table(
        ["feature", "group", "odds ratio", "adjusted p", "size", "change of R²", "p, non-uniform",
         "size of it"], large,
        caption="Features that work differently for a group whose notes score alike (sizes B, C).",
        empty="No feature works differently for a group.",
    )  # fmt: skip


def _how(fair: Fairness) -> str:
    settings = fair.settings
    return facts_table(
        {
            "least notes of a group": settings.min_size,
            "intervals": f"{settings.resampling.confidence:.0%}, notes drawn with replacement",
            "tests": f"{settings.permutations:,} permutations of notes within cases, Holm",
            "alpha": settings.alpha,
        }
    )
