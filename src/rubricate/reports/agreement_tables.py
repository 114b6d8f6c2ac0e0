"""Span agreement within and across groups, and span lengths, as the PICO paper's Tables 2–4."""

from __future__ import annotations

from collections.abc import Sequence

from rubricate.agreement import Agreement
from rubricate.reports.page import folded
from rubricate.reports.tables import Cell, Value, html_table, mean_sd

KINDS = {
    "exact": "exact",
    "one_side_boundary": "one side",
    "token_overlap": "overlap",
}
#: Longer tables are folded, with the line of all features before them.
MAX_LINES = 20


def within_groups_table(agreement: Agreement) -> str:
    """Return mean F1 (SD) inside each group: a line a feature, columns by kind and group.

    The layout of Table 2 of Lee and Sun (2019).
    """
    groups = [pair for pair in agreement.per_note if pair[0] == pair[1]]
    if not groups:
        return ""
    header = ["Feature"]
    header += [f"{_named(one)}: {name}" for name in KINDS.values() for one, _ in groups]
    lines: list[list[Value]] = []
    for feature, text in _features(agreement, groups):
        cells: list[Value] = []
        for kind in KINDS:
            for pair in groups:
                cells.append(_cell(agreement, pair, feature, kind, "f1"))
        lines.append([text, *cells])
    return _table(header, lines, "Within groups: mean F1 (SD) of pairs, over notes.")


def across_groups_tables(agreement: Agreement) -> str:
    """Return precision, recall and F1 (SD) of one group against another.

    The layout of Table 3 of Lee and Sun (2019).
    """
    parts = []
    statistics = {"precision": "Pre", "recall": "Rec", "f1": "F1"}
    for pair in agreement.per_note:
        one, two = pair
        if one == two:
            continue
        header = ["Feature", *(f"{n}: {s}" for n in KINDS.values() for s in statistics.values())]
        lines: list[list[Value]] = []
        for feature, text in _features(agreement, [pair]):
            cells: list[Value] = []
            for kind in KINDS:
                cells += [_cell(agreement, pair, feature, kind, name) for name in statistics]
            lines.append([text, *cells])
        caption = (
            f"Across groups: {_named(two)} (predicted) against {_named(one)} (reference); "
            "mean (SD) over notes."
        )
        parts.append(_table(header, lines, caption))
    return "".join(parts)


def lengths_table(agreement: Agreement) -> str:
    """Return tokens a span, mean (SD), by feature and group: Table 4 of Lee and Sun (2019)."""
    groups = list(agreement.lengths)
    lines: list[list[Value]] = []
    for feature in agreement.corpus.features:
        found = [agreement.lengths[group].get(feature.id) for group in groups]
        if not any(found):
            continue
        cells: list[Value] = []
        for one in found:
            tokens = one["tokens"] if one else {"mean": None, "sd": None}
            cells += [mean_sd(tokens["mean"], tokens["sd"]), one["n_spans"] if one else 0]
        lines.append([feature.text, *cells])
    header = ["Feature"]
    for group in groups:
        header += [f"{_named(group)}: tokens", "spans"]
    table = html_table(header, lines, caption="Length of spans in tokens: mean (SD).")
    long = len(lines) > MAX_LINES
    return folded(f"Span lengths of {len(lines):,} features", table) if long else table


def _features(agreement: Agreement, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return ids and words of the features these groups share, after that of all together."""
    known = {feature for pair in pairs for feature in agreement.per_note[pair]}
    own = [(f.id, f.text) for f in agreement.corpus.features if f.id in known]
    return [*own, ("", "All features")] if len(own) > 1 else own


def _cell(
    agreement: Agreement, pair: tuple[str, str], feature: str, kind: str, statistic: str
) -> Cell:
    found = agreement.per_note[pair].get(feature, {}).get(kind)
    return mean_sd(found.mean[statistic], found.sd[statistic]) if found else mean_sd(None, None)


def _table(header: Sequence[str], lines: list[list[Value]], caption: str) -> str:
    last = [line for line in lines if line[0] == "All features"]
    body = [line for line in lines if line[0] != "All features"]
    if len(body) <= MAX_LINES:
        return html_table(header, body, caption=caption, footer=last)
    return html_table(header, last, caption=caption, sortable=False) + folded(
        f"The same for each of {len(body):,} features", html_table(header, body)
    )


def _named(group: str) -> str:
    return group or "all"
