"""The page about a whole scoring run: scores, features, review, changes, copies and gaming."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rubricate import __version__
from rubricate.display import counted
from rubricate.reports.blocks import (
    Block,
    Chapter,
    FactsBlock,
    Figure,
    Fold,
    Paragraph,
    Report,
    TableBlock,
)
from rubricate.reports.page import Cell, Text, Value, one_decimal, percent
from rubricate.reports.plots import (
    Guide,
    Labels,
    Line,
    Point,
    Series,
    bar_plot,
    curve_plot,
    histogram,
)
from rubricate.reports.scoring.checks import Checked, ReportCheck
from rubricate.reports.scoring.viewer import (
    MOST_LISTED,
    Cohort,
    case_title,
    named_notes,
    note_cell,
    notes_link,
)
from rubricate.run.tables import BETWEEN
from rubricate.stats import proportion_limits

_HOW_TO_DECIDE = (
    "Open a note to accept or reject a decision, or to mark other words. Your decisions stay in "
    "the browser until you save them as corrections.csv. Then run the same command again with "
    "--corrections corrections.csv --overwrite."
)
#: Cases whose features are drawn at once; of more, they open when asked.
_OPEN_CASES, _PRINTED_CASES = 2, 20


def cohort_report(
    title: str,
    cohort: Cohort,
    checks: Sequence[tuple[ReportCheck, Checked]],
    policy: Mapping[str, Any],
    facts: Mapping[str, Any],
) -> Report:
    """Return the report about the cohort; ``facts`` are those of run.json."""
    chapters = [
        Chapter("Look at these first", _look_first(cohort, facts), "first"),
        Chapter("At a glance", _overview(cohort), "overview"),
        Chapter("Scores", _scores(cohort), "scores"),
        Chapter("Features", _features(cohort), "features"),
        Chapter("Sent to review", _review(cohort, policy), "review"),
        Chapter("Contradicted", _contradicted(cohort), "contradicted"),
        *(Chapter(one.title, found.blocks, one.anchor) for one, found in checks),
        Chapter("Method and inputs", _facts(facts) if facts else [], "run"),
    ]
    known = cohort.percentage[~np.isnan(cohort.percentage)]
    mean = f", {known.mean():.1f} % of the points on average" if len(known) else ""
    lead = (
        f"{counted(cohort.counts.notes, 'note')} of {counted(len(cohort.cases), 'case')}: "
        f"{len(known):,} scored{mean}. Each point is linked to the words that it is based on."
    )
    warnings = _warnings(cohort, promised=bool(policy) or "policy" in facts)
    warnings += [one for _, found in checks for one in found.warnings]
    shown = [chapter for chapter in chapters if chapter.blocks]
    return Report(title, shown, lead, warnings, f"rubricate {__version__}")


def _look_first(cohort: Cohort, facts: Mapping[str, Any]) -> list[Block]:
    """Return the notes and items that a person must look at: least sure first."""
    listed = [one for _, _, one in sorted(cohort.asked, key=lambda e: (-e[0], -e[1]))]
    if not listed and not cohort.for_review:
        return []
    blocks: list[Block] = [Paragraph(_HOW_TO_DECIDE)]
    if unsure := facts.get("unsure"):
        between = f"between {unsure['low']:g} and {unsure['high']:g}"
        blocks.append(Paragraph(f"Items with a probability {between} go to review."))

    if cohort.for_review:
        notes: list[list[Value]] = [
            [note_cell(note), why] for note, why in cohort.for_review[:MOST_LISTED]
        ]
        left = len(cohort.for_review) - len(notes)
        caption = "Notes that need a complete manual review." + _more(left)
        blocks.append(Paragraph([notes_link("All of these notes", show="unlike")]))
        blocks.append(TableBlock(caption, ["note", "why"], notes, sortable=True))

    if listed:
        lines: list[list[Value]] = []
        for certainty, note, item in listed:
            decision = f"{item.outcome}"
            if item.certainty is not None:
                decision += f" · {100 * item.certainty:.0f} % sure"
            against = item.evidence.against
            words = BETWEEN.join(item.evidence.text)
            if against is not None and not item.found:
                words = against.text
            lines.append(
                [note_cell(note), item.feature.text, Cell(decision, certainty), words,
                 item.review_reason]
            )  # fmt: skip
        left = cohort.n_asked - len(lines)
        header = ["note", "feature", "decision", "words", "why"]
        caption = "Items for review, least certain first." + _more(left)
        blocks.append(TableBlock(caption, header, lines, sortable=True))
    return blocks


def _more(n: int) -> str:
    return f" {n:,} more are in the viewer." if n else ""


def _contradicted(cohort: Cohort) -> list[Block]:
    """Return the statements that contradict a rubric, where there are some."""
    if not cohort.contradicted:
        return []
    lines: list[list[Value]] = []
    for _, note, item in cohort.contradicted:
        said = item.evidence.against
        if said is not None:
            lines.append(
                [note_cell(note), item.feature.text, said.text, said.reason, said.probability]
            )
    total = sum(tally.contradicted for tally in cohort.all_tallies())
    caption = "Statements that contradict the rubric. They score no points."
    caption += _more(total - len(lines))
    header = ["note", "feature", "words", "reason", "probability"]
    return [
        Paragraph([notes_link("All notes that contradict something", show="contradicted")]),
        TableBlock(caption, header, lines, sortable=True),
    ]


def _warnings(cohort: Cohort, *, promised: bool) -> list[Text]:
    found: list[Text] = []
    review = cohort.counts.review
    if review:
        found.append(
            f"{counted(review, 'item needs', 'items need')} review. The scores of these notes may "
            "change."
        )
    unlike = [note for note, _ in cohort.for_review]
    if unlike:
        one = "note does not read like a clinical note. It gets"
        more = "notes do not read like clinical notes. They get"
        words = f"{counted(len(unlike), one, more)} no score until a person has judged every item"
        found.append(named_notes(words, unlike, "unlike"))
    if cohort.failed:
        words = f"{counted(len(cohort.failed), 'note')} could not be scored"
        found.append(named_notes(words, cohort.failed, "failed"))
    if not promised:
        found.append(
            "There is no review policy, so there is no error guarantee for the decisions that "
            "nobody reviews. The command rubricate route makes a policy."
        )
    return found


def _overview(cohort: Cohort) -> list[Block]:
    known = cohort.percentage[~np.isnan(cohort.percentage)]
    counts = cohort.counts.to_dict()
    items, review = counts["items"], counts["review"]
    facts: dict[str, object] = {
        "notes": f"{counts['notes']:,}",
        "scored": f"{counts['scored']:,}",
        "not scored": f"{sum(counts['not_scored'].values()):,}",
        "for review as a whole": f"{sum(counts['for_review'].values()):,}",
        "identical to an earlier one": f"{counts['identical']:,}",
        "mean score": f"{known.mean():.1f} % of the maximum" if len(known) else "–",
        "median, quartiles": "{1:.1f} % ({0:.1f} to {2:.1f})".format(
            *np.quantile(known, [0.25, 0.5, 0.75])
        )
        if len(known)
        else "–",
        "items": f"{items:,}",
        "stated": f"{counts['stated']:,}"
        + (f" ({percent(counts['stated'] / items)})" if items else ""),
        "contradicted": f"{counts['contradicted']:,}",
        "not mentioned": f"{counts['not_mentioned']:,}",
        "items for review": f"{review:,}" + (f" ({percent(review / items)})" if items else ""),
        "notes with something to review": f"{int((cohort.review > 0).sum()):,}",
        "items decided by hand": f"{counts['corrected']:,}",
    }
    blocks: list[Block] = [
        FactsBlock(facts),
        Paragraph([notes_link("Read the notes with their evidence")]),
    ]
    if reasons := cohort.not_scored.most_common():
        blocks.append(TableBlock("", ["not scored because", "notes"], reasons, sortable=True))
    return blocks


def score_span(percentages: Sequence[float]) -> tuple[float, float]:
    """Return from where to where scores are drawn; penalties may bring them below nothing.

    >>> score_span([40.0, float("nan")]), score_span([-12.5, 80.0])
    ((0.0, 100.0), (-20.0, 100.0))
    """
    lowest = min([0.0, *(one for one in percentages if math.isfinite(one))])
    return math.floor(lowest / 10) * 10.0, 100.0


def _scores(cohort: Cohort) -> list[Block]:
    percentage = cohort.percentage
    drawn = histogram(
        percentage.tolist(),
        Labels("Scores", "score, % of the maximum", "notes", "Number of notes by score."),
        n_bins=20,
        span=score_span(percentage.tolist()),
    )
    lines: list[list[Value]] = []
    for case, number in cohort.cases.items():
        own = cohort.case == number
        known = percentage[own & ~np.isnan(percentage)]
        spread = float(known.std(ddof=1)) if len(known) > 1 else None
        ends = (float(known.min()), float(known.max())) if len(known) else (None, None)
        lines.append(
            [Cell([notes_link(case, case=case)], case), int(own.sum()),
             one_decimal(float(known.mean())) if len(known) else None, one_decimal(spread),
             one_decimal(ends[0]), one_decimal(ends[1]), int((cohort.review[own] > 0).sum())]
        )  # fmt: skip
    header = ["case", "notes", "mean, %", "SD", "lowest", "highest", "notes to review"]
    table = TableBlock("", header, lines, sortable=True)
    few = len(lines) <= _PRINTED_CASES
    return [
        Figure("", drawn, "Scores in per cent of each note's maximum."),
        table if few else Fold(f"All {len(lines)} cases", [table], in_print=True),
    ]


def _features(cohort: Cohort) -> list[Block]:
    said = "Share of notes that state each feature, with 95 % intervals (Wilson)."
    blocks: list[Block] = [Paragraph(said)]
    for case, own in cohort.tallies.items():
        tallies = list(own.values())
        if not any(tally.judged for tally in tallies):
            continue
        judged, found = [t.judged for t in tallies], [t.found for t in tallies]
        low, high = proportion_limits(found, judged, method="wilson")
        points = tuple(
            Point(t.found / t.judged if t.judged else float("nan"), float(low[i]), float(high[i]))
            for i, t in enumerate(tallies)
        )
        drawn = bar_plot(
            [f"{k} {tally.feature.text}" for k, tally in enumerate(tallies, 1)],
            [Series("stated", points)],
            Labels(
                f"Features of {case_title(case)}", "share of notes", description="Rate by feature."
            ),
        )
        lines: list[list[Value]] = [
            [k, tally.feature.text, tally.feature.weight, tally.feature.group, tally.judged,
             point, tally.contradicted, tally.review,
             Cell([notes_link("notes without it", case=case, feature=f"{k - 1} 0")])]
            for k, (tally, point) in enumerate(zip(tallies, points, strict=True), 1)
        ]  # fmt: skip
        header = ["", "feature", "weight", "any of", "notes", "stated", "contradicted",
                  "to review", ""]  # fmt: skip
        own_blocks: list[Block] = [
            Figure("", drawn, f"{case_title(case)}: share of notes that state each feature."),
            Fold("As a table", [TableBlock("", header, lines, sortable=True)]),
        ]
        if len(cohort.tallies) > _OPEN_CASES:
            printed = len(cohort.tallies) <= _PRINTED_CASES
            title = f"{case_title(case)}: {len(tallies)} features"
            own_blocks = [Fold(title, own_blocks, in_print=printed)]
        blocks += own_blocks
    return blocks


def _review(cohort: Cohort, policy: Mapping[str, Any]) -> list[Block]:
    asked = sorted((t for t in cohort.all_tallies() if t.review), key=lambda t: -t.review)
    blocks: list[Block] = []
    if not asked:
        blocks.append(Paragraph("No decision was sent to review."))
    else:
        blocks.append(Paragraph([notes_link("Notes with something to review", show="review")]))
        why = cohort.review_reasons.most_common(20)
        header = ["why", "decisions"]
        blocks.append(TableBlock("Reasons for review.", header, why, sortable=True))
        most = asked[:15]
        several = len(cohort.tallies) > 1
        drawn = bar_plot(
            [
                f"{case_title(tally.feature.case)}: " * several + tally.feature.text
                for tally in most
            ],
            [Series("to review", tuple(Point(float(tally.review)) for tally in most))],
            Labels("Features most often sent to review", "decisions"),
            whole=True,
        )
        blocks.append(Figure("", drawn, "Features most often sent to review."))
    if policy.get("curve"):
        blocks.append(_curve(policy))
    return blocks


def _curve(policy: Mapping[str, Any]) -> Figure:
    points = sorted(policy["curve"], key=lambda p: p["review_share"])
    shares = tuple(100.0 * p["review_share"] for p in points)
    limit = float(policy.get("max_error", float("nan")))
    # Where hardly anything is accepted the upper limit nears 100 % and would flatten the rest
    rates = [p["error_rate"] for p in points if p.get("error_rate") is not None]
    top = 1.5 * max([limit, *rates])

    def values(name: str) -> tuple[Point, ...]:
        shown = (p.get(name) for p in points)
        return tuple(Point(float("nan") if v is None or v > top else 100.0 * v) for v in shown)

    confidence = float(policy.get("confidence", float("nan")))
    drawn = curve_plot(
        [Line("errors in the other decisions", shares, values("error_rate")),
         Line("upper limit", shares, values("upper"))],
        Labels("Review against error", "decisions sent to review, %", "errors, %",
               "The more decisions people review, the fewer of the other decisions are wrong."),
        guides=[Guide(100.0 * limit, f"promised: at most {percent(limit)}")],
    )  # fmt: skip
    return Figure(
        "",
        drawn,
        "Share sent to review against the error rate of what is not, on the notes the policy was "
        f"tested on. The policy promises at most {percent(limit)} with {percent(confidence)} "
        "confidence; the upper limit drawn holds for one threshold chosen beforehand.",
    )


def _facts(facts: Any) -> list[Block]:
    """Return the content of run.json as one flat table."""
    flat: dict[str, object] = {}

    def add(value: Any, name: str, level: int) -> None:
        if isinstance(value, dict) and level < 2:
            for key, part in value.items():
                add(part, f"{name} {key}".strip(), level + 1)
        elif isinstance(value, str | int | float | bool) or value is None:
            flat[name.replace("_", " ")] = "–" if value is None else value

    add(facts, "", 0)
    return [FactsBlock(flat)]
