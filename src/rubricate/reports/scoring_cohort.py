"""The page about a whole scoring run: scores, features, review, changes, copies and gaming."""

from __future__ import annotations

import re
from collections import Counter
from html import escape
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np

from rubricate import __version__
from rubricate.reports.page import Section, facts_table, figure, folded, paragraph, render_page
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
from rubricate.reports.scoring_data import Cohort
from rubricate.reports.tables import Cell, Value, html_table, percent
from rubricate.stats import proportion_limits
from rubricate.trust import Changes, Drift

VIEWER = "report/notes.html"
#: Lines of a table of single notes; the viewer has all of them.
MOST_LINES = 50
#: Cases whose features are drawn at once; of more, they open when asked.
_OPEN_CASES, _PRINTED_CASES = 2, 20
_NUMBER = re.compile(r"\d[\d.,]*\s?%?")


def cohort_page(cohort: Cohort, *, title: str = "Scores") -> str:
    """Return the page about the cohort; see `rubricate.reports.scoring.write_scoring_report`."""
    sections = [
        Section("overview", "At a glance", _overview(cohort)),
        Section("scores", "Scores", _scores(cohort)),
        Section("features", "Features", _features(cohort)),
        Section("review", "Sent to review", _review(cohort)),
    ]
    if cohort.changes is not None:
        body = _changes(cohort.changes) + (
            "" if cohort.drift is None else _drift(cohort.drift, cohort)
        )
        sections.append(Section("changes", "Since the last run", body))
    sections.append(Section("copies", "Copied notes", _copies(cohort)))
    sections.append(Section("gaming", "Notes that look gamed", _gaming(cohort)))
    if cohort.facts:
        sections.append(Section("run", "How it was done", _facts(cohort.facts)))
    run = cohort.run
    lead = (
        f"{len(run):,} notes of {len(set(run.cases)):,} "
        f"{'case' if len(set(run.cases)) == 1 else 'cases'}, each score with the words it rests on."
    )
    return render_page(
        title, sections, lead=lead, warnings=_warnings(cohort), footer=f"rubricate {__version__}"
    )


def notes_link(words: str, **filters: str) -> str:
    """Return a link to the viewer with these filters set; everything is escaped.

    Examples
    --------
    >>> notes_link("a<b", n="x&y")
    '<a href="report/notes.html#n=x%26y">a&lt;b</a>'
    """
    address = f"{VIEWER}#{urlencode(filters, quote_via=quote)}" if filters else VIEWER
    return f'<a href="{escape(address)}">{escape(words)}</a>'


def _note_cell(note: str) -> Cell:
    return Cell(notes_link(note, n=note), note)


def _warnings(cohort: Cohort) -> list[str]:
    found = []
    review = int(cohort.run.items.needs_review.sum())
    if review:
        found.append(
            f"{review:,} decisions wait for a person: the scores of their notes are not final."
        )
    failed = sum(bool(status) for status in cohort.status)
    if failed:
        found.append(f"{failed:,} {'note' if failed == 1 else 'notes'} could not be scored.")
    if cohort.drift is not None and cohort.drift.drifted:
        found.append("Something drifted since the last run; see below.")
    return found


def _overview(cohort: Cohort) -> str:
    run, items = cohort.run, cohort.run.items
    known = run.percentage[~np.isnan(run.percentage)]
    review = Counter(items.note[items.needs_review].tolist())
    facts: dict[str, object] = {
        "notes": f"{len(run):,}",
        "scored": f"{len(known):,}",
        "mean score": f"{known.mean():.1f} % of the maximum" if len(known) else "–",
        "median, quartiles": "{1:.1f} % ({0:.1f} to {2:.1f})".format(
            *np.quantile(known, [0.25, 0.5, 0.75])
        )
        if len(known)
        else "–",
        "decisions": f"{len(items):,}",
        "features found": percent(float(items.found.mean()) if len(items) else float("nan")),
        "decisions sent to review": f"{int(items.needs_review.sum()):,}"
        + (f" ({percent(float(items.needs_review.mean()))})" if len(items) else ""),
        "notes with something to review": f"{len(review):,}",
    }
    reasons = Counter(_plain(status) for status in cohort.status if status)
    table = html_table(["not scored because", "notes"], reasons.most_common()) if reasons else ""
    return facts_table(facts) + f"<p>{notes_link('Read the notes with their evidence')}</p>" + table


def _scores(cohort: Cohort) -> str:
    run = cohort.run
    drawn = histogram(
        run.percentage.tolist(),
        Labels("Scores", "score, % of the maximum", "notes", "How many notes have which score."),
        n_bins=20,
        span=(0.0, 100.0),
    )
    items = run.items
    asked = np.bincount(items.note[items.needs_review], minlength=len(run))
    lines: list[list[Value]] = []
    cases = np.array(run.cases)
    for case in dict.fromkeys(run.cases):
        own = cases == case
        known = run.percentage[own & ~np.isnan(run.percentage)]
        spread = float(known.std(ddof=1)) if len(known) > 1 else None
        ends = (float(known.min()), float(known.max())) if len(known) else (None, None)
        lines.append(
            [Cell(notes_link(case, case=case), case), int(own.sum()),
             _one(float(known.mean())) if len(known) else None, _one(spread),
             _one(ends[0]), _one(ends[1]), int((asked[own] > 0).sum())]
        )  # fmt: skip
    table = html_table(
        ["case", "notes", "mean, %", "SD", "lowest", "highest", "notes to review"], lines
    )
    shown = table if len(lines) <= 20 else folded(f"All {len(lines)} cases", table, in_print=True)
    return figure(drawn, "Scores in per cent of each note's maximum.") + shown


def _one(value: float | None) -> Cell | None:
    return None if value is None else Cell(f"{value:.1f}", value, number=True)


def _points(value: float) -> Cell:
    return Cell("–" if np.isnan(value) else f"{value:g}", value, number=True)


def _features(cohort: Cohort) -> str:
    items = cohort.run.items
    n = len(items.features)
    judged = np.bincount(items.feature, minlength=n)
    found = np.bincount(items.feature[items.found], minlength=n)
    asked = np.bincount(items.feature[items.needs_review], minlength=n)
    low, high = proportion_limits(found, judged, method="wilson") if n else (found, found)
    place = {feature: i for i, feature in enumerate(items.features)}
    parts = [paragraph("In how many notes each feature was found, with 95 % intervals (Wilson).")]
    for case, rubric in cohort.rubrics.items():
        own = [place[feature.id] for feature in rubric]
        names = [f"{k} {feature.text}" for k, feature in enumerate(rubric, 1)]
        points = tuple(Point(found[i] / judged[i], float(low[i]), float(high[i])) for i in own)
        drawn = bar_plot(
            names, [Series("found", points)],
            Labels(f"Features of case {case}", "share of notes", description="Rate by feature."),
        )  # fmt: skip
        lines: list[list[Value]] = [
            [k, feature.text, feature.weight, feature.group, int(judged[i]),
             Point(found[i] / judged[i], float(low[i]), float(high[i])), int(asked[i]),
             Cell(notes_link("notes without it", case=case, feature=f"{k - 1} 0"))]
            for k, (feature, i) in enumerate(zip(rubric, own, strict=True), 1)
        ]  # fmt: skip
        header = ["", "feature", "weight", "any of", "notes", "found", "to review", ""]
        body = figure(drawn, f"Case {case}: share of notes in which each feature was found.")
        body += folded("As a table", html_table(header, lines))
        if len(cohort.rubrics) <= _OPEN_CASES:
            parts.append(body)
        else:
            printed = len(cohort.rubrics) <= _PRINTED_CASES
            parts.append(folded(f"Case {case}: {len(rubric)} features", body, in_print=printed))
    return "".join(parts)


def _review(cohort: Cohort) -> str:
    reasons: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for own in cohort.lines:
        reasons.update(_plain(one.review_reason or "no reason given") for one in own if one.review)
        asked.update(one.feature for one in own if one.review)
    parts = []
    if not asked:
        parts.append(paragraph("No decision was sent to review."))
    else:
        parts.append(f"<p>{notes_link('Notes with something to review', show='review')}</p>")
        parts.append(
            html_table(["why", "decisions"], reasons.most_common(20), caption="Why decisions wait.")
        )
        texts = {f.id: (f.case, f.text) for rubric in cohort.rubrics.values() for f in rubric}
        most = asked.most_common(15)
        names = [f"{texts[feature][0]}: {texts[feature][1]}" for feature, _ in most]
        drawn = bar_plot(
            names, [Series("to review", tuple(Point(float(n)) for _, n in most))],
            Labels("Features most often sent to review", "decisions"),
        )  # fmt: skip
        parts.append(figure(drawn, "The features people are asked about most."))
    if cohort.policy.get("curve"):
        parts.append(_curve(dict(cohort.policy)))
    return "".join(parts)


def _curve(policy: dict[str, Any]) -> str:
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
        [Line("errors among the rest", shares, values("error_rate")),
         Line("upper limit", shares, values("upper"))],
        Labels("Review against error", "decisions sent to review, %", "errors, %",
               "The more decisions people see, the fewer of the others are wrong."),
        guides=[Guide(100.0 * limit, f"promised: at most {percent(limit)}")],
    )  # fmt: skip
    return figure(
        drawn,
        "Share sent to review against the error rate of what is not, on the notes the policy was "
        f"tested on. The policy promises at most {percent(limit)} with {percent(confidence)} "
        "confidence; the upper limit drawn holds for one threshold chosen beforehand.",
    )


def _changes(changes: Changes) -> str:
    facts = {
        "notes in both runs": f"{changes.n_shared:,}",
        "new notes": f"{len(changes.came):,}",
        "notes no longer there": f"{len(changes.went):,}",
        "scores that changed": f"{len(changes.scores):,}",
        "decisions that changed": f"{len(changes.decisions):,}",
    }
    if not changes.scores:
        return facts_table(facts)
    moved = sorted(
        changes.scores.items(), key=lambda pair: -abs(np.nan_to_num(pair[1][1] - pair[1][0]))
    )
    lines: list[list[Value]] = [
        [_note_cell(note), _points(before), _points(now), _points(now - before)]
        for note, (before, now) in moved[:MOST_LINES]
    ]
    more = len(moved) - len(lines)
    caption = "Scores that changed most." + (f" {more:,} more are not shown." if more else "")
    link = f"<p>{notes_link('Notes that changed', show='changed')}</p>"
    return (
        facts_table(facts)
        + link
        + html_table(["note", "before", "now", "change"], lines, caption=caption)
    )


def _drift(drift: Drift, cohort: Cohort) -> str:
    lines: list[list[Value]] = [
        [
            one.measure,
            one.before,
            one.after,
            one.distance,
            one.adjusted,
            "drifted" if one.flag else "",
        ]
        for one in drift.measures
    ]
    header = ["measure", "median before", "median now", "distance", "adjusted p", ""]
    caption = (
        f"Distributions over notes ({drift.design}): Kolmogorov-Smirnov distance, permutation "
        f"test, Holm's correction. Flagged from a distance of {drift.settings.min_distance:g} on."
    )
    texts = {f.id: f"{f.case}: {f.text}" for rubric in cohort.rubrics.values() for f in rubric}
    drifted = [one for one in drift.features if one.flag]
    drifted.sort(key=lambda one: -abs(one.difference))
    flagged: list[list[Value]] = [
        [texts.get(one.feature, one.feature), one.before, one.after,
         Point(one.difference, one.low, one.high), one.adjusted]
        for one in drifted[:MOST_LINES]
    ]  # fmt: skip
    rates = html_table(
        ["feature", "before", "now", "difference", "adjusted p"], flagged,
        caption="Features whose rate drifted, with Benjamini and Hochberg's correction.",
        empty="No feature's rate drifted.",
    )  # fmt: skip
    return html_table(header, lines, caption=caption) + rates


def _copies(cohort: Cohort) -> str:
    if not cohort.clusters:
        return paragraph("No two notes of a case are identical or nearly so.")
    lines: list[list[Value]] = []
    for cluster in cohort.clusters[:MOST_LINES]:
        named = ", ".join(notes_link(note, n=note) for note in cluster.notes[:12])
        more = f" and {len(cluster.notes) - 12:,} more" if len(cluster.notes) > 12 else ""
        cases = ", ".join(cluster.cases)
        lines.append(
            [cluster.kind, len(cluster.notes), cluster.similarity, cases, Cell(named + more)]
        )
    left = len(cohort.clusters) - len(lines)
    caption = "Notes that share at least 80 % of their runs of three words, within a case." + (
        f" {left:,} smaller groups are not shown." if left else ""
    )
    link = f"<p>{notes_link('All copied notes', show='copied')}</p>"
    return link + html_table(
        ["kind", "notes", "similarity", "case", "which"], lines, caption=caption
    )


def _gaming(cohort: Cohort) -> str:
    if not cohort.flags:
        return paragraph("No note looks as if it was written for the scorer.")
    lines: list[list[Value]] = [
        [_note_cell(flag.note), flag.kind, flag.sign, flag.value, float(flag.limit)]
        for flag in cohort.flags[:MOST_LINES]
    ]
    left = len(cohort.flags) - len(lines)
    caption = "A flag asks a person to look; it is no verdict." + (
        f" {left:,} more flags are not shown." if left else ""
    )
    link = f"<p>{notes_link('All notes that look gamed', show='gaming')}</p>"
    return link + html_table(
        ["note", "looks like", "sign", "value", "limit"], lines, caption=caption
    )


def _facts(facts: Any, prefix: str = "", depth: int = 0) -> str:
    """Return what run.json says as one flat table."""
    flat: dict[str, object] = {}

    def add(value: Any, name: str, level: int) -> None:
        if isinstance(value, dict) and level < 2:
            for key, part in value.items():
                add(part, f"{name} {key}".strip(), level + 1)
        elif isinstance(value, str | int | float | bool) or value is None:
            flat[name.replace("_", " ")] = "–" if value is None else value

    add(facts, prefix, depth)
    return facts_table(flat)


def _plain(text: str) -> str:
    """Return a reason without its numbers, so that like ones are counted together."""
    return _NUMBER.sub("…", text)
