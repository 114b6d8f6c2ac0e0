"""The page of an agreement study: how far annotators agree, on what, and where they do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rubricate import __version__
from rubricate.display import counted
from rubricate.evaluation import LABELS
from rubricate.evaluation.agreement import Agreement
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
from rubricate.reports.by_note import MarkSource, costly_notes, difference_figure
from rubricate.reports.highlight import Sides
from rubricate.reports.levels import (
    EVERY_PAIR,
    HUMAN,
    RULES,
    Measuring,
    case_figure,
    case_names,
    feature_section,
    measuring_facts,
    span_table,
)
from rubricate.reports.page import Cell, Value, mean_sd
from rubricate.reports.plots import Labels, matrix_plot

#: A matrix of more annotators than this is illegible; those who share most rows are drawn.
MAX_MATRIX = 30
KINDS = {"exact": "exact", "one_side_boundary": "one side", "token_overlap": "overlap"}
#: Longer tables are folded, with the line of all features before them.
MAX_LINES = 20
EMPTY_RULES = {
    "zero": "an annotator who marked nothing scores 0 in that row, as in the PICO paper",
    "agree": "two annotators who both marked nothing agree fully",
    "skip": "rows in which an annotator marked nothing are left out",
}


def agreement_report(
    agreement: Agreement,
    *,
    worst: int = 20,
    inputs: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> Report:
    """Return the report about an agreement study: a page, Markdown or a Word document.

    ``worst`` is the number of notes that are shown.

    >>> from rubricate.reports.blocks import to_html
    >>> from rubricate import load_corpus
    >>> from rubricate.evaluation.agreement import agree
    >>> from rubricate.stats import Resampling
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> page = to_html(agreement_report(agree(corpus, settings=Resampling(resamples=100)), worst=2))
    >>> "second_rater" in page
    True
    """
    measuring = Measuring({HUMAN: agreement.pooled}, agreement.corpus)

    def cases() -> list[Block]:
        # One point in a figure says less than the table above it.
        several = len(measuring.cases) > 1
        drawn = [
            one
            for path in (("characters",), ("presence",))
            for one in (case_figure(measuring, path) if several else [])
        ]
        return [_case_table(agreement), *drawn]

    def notes() -> list[Block]:
        sources = [
            MarkSource(found, agreement.corpus, agreement.corpus, Sides(*pair))
            for pair, found in agreement.pairs.items()
        ]
        legend = None if len(sources) == 1 else Sides("first annotator", "second annotator")
        return costly_notes(sources, worst, legend=legend)

    def method() -> list[Block]:
        facts = measuring_facts(agreement.pooled)
        del facts["rows without prediction"], facts["left out"]
        facts["compared"] = EVERY_PAIR
        facts["annotators"] = ", ".join(
            f"{a.id} ({a.group})" if a.group else a.id for a in agreement.corpus.annotators
        )
        facts["nothing marked"] = EMPTY_RULES[agreement.empty]
        versions = {"rubricate": __version__, **(inputs or {})}
        return [
            Paragraph(RULES),
            FactsBlock(facts, "All pairs"),
            FactsBlock(versions, "Version and inputs"),
        ]

    chapters = make_chapters(
        [
            ("headline", "How far annotators agree", lambda: _headline(agreement)),
            ("items", "Item by item", lambda: [_items(agreement)]),
            ("scores", "Scores", lambda: _scores(agreement)),
            ("cases", "Case by case", cases),
            ("pairs", "Pair by pair", lambda: _pairs(agreement)),
            ("spans", "Spans, note by note", lambda: _spans(agreement)),
            ("features", "Feature by feature", lambda: feature_section(measuring)),
            ("notes", "Notes in which annotators differ most", notes),
            ("method", "Methods", method),
        ],
        progress,
    )
    evaluation = agreement.pooled
    lead = (
        f"{counted(len(agreement.corpus.annotators), 'annotator')}, "
        f"{counted(len(agreement.pairs), 'pair')}: "
        f"{counted(len(evaluation.characters.by('note')), 'note')} of "
        f"{counted(len(measuring.cases), 'case')}, "
        f"{counted(len(evaluation.characters), 'row')} that two annotators judged."
    )
    return Report("Agreement among annotators", chapters, lead, evaluation.warnings())


def _headline(agreement: Agreement) -> list[Block]:
    found = agreement.pooled
    lines: list[list[Value]] = []
    for path, name in LABELS.items():
        kappa: Value = None
        if path[0] != "spans":
            kappa = found.overall(*path, statistic="kappa")
        means = [found.macro_mean(*path, level=level) for level in ("cases", "features")]
        lines.append([name, found.overall(*path), kappa, *means])
    header = ["Measure", "F1", "Kappa", "F1, mean of cases", "F1, mean of features"]
    caption = (
        f"All pairs together, with {100 * found.settings.confidence:g} % intervals by note. "
        "F1 does not depend on which annotator is the reference, except for spans with the "
        "protocol “paper”."
    )
    corrected: list[list[Value]] = [
        [name, found.overall("presence", statistic=key)]
        for key, name in (("kappa", "Cohen’s kappa"), ("pabak", "PABAK"), ("ac1", "Gwet’s AC1"))
    ]
    chance = (
        "Presence, corrected for chance. If nearly all rows are present, or nearly all are "
        "absent, kappa is low although annotators agree often (the prevalence paradox). AC1 is not "
        "affected."
    )
    blocks: list[Block] = [
        TableBlock(caption, header, lines),
        TableBlock(chance, ["Coefficient", "Value"], corrected),
        span_table({HUMAN: found}),
    ]
    if not agreement.chance_corrected:
        return blocks
    names = {"fleiss_kappa": "Fleiss’ kappa", "krippendorff_alpha": "Krippendorff’s alpha"}
    rest: list[list[Value]] = [
        [names.get(key, key), value.estimate, value.n_units]
        for key, value in agreement.chance_corrected.items()
    ]
    said = "Presence, all annotators together, corrected for chance."
    return [*blocks, TableBlock(said, ["Coefficient", "Value", "Rows"], rest)]


def _items(agreement: Agreement) -> Block:
    names = case_names(agreement.corpus)
    lines: list[list[Value]] = [
        [
            line["wording"], names[line["case"]], line["rows"], line["agreed"], line["kappa"],
            line["ac1"], line["both"], line["first_only"] + line["second_only"], line["neither"],
            line["characters_f1"], line["exact_spans_f1"],
        ]
        for line in sorted(agreement.item_table(), key=lambda line: line["agreed"])
    ]  # fmt: skip
    header = ["Item", "Case", "Rows", "Share agreed", "Kappa", "AC1", "Both found it",
              "Only one found it", "Neither", "Characters F1", "Exact spans F1"]  # fmt: skip
    caption = (
        "Agreement on whether the note has the item, lowest first. The two F1 values compare the "
        "marked words, only in rows in which both annotators found the item."
    )
    table = TableBlock(caption, header, lines, sortable=True)
    return Fold(f"All {len(lines):,} items", [table]) if len(lines) > MAX_LINES else table


def _scores(agreement: Agreement) -> list[Block]:
    found = agreement.scores
    if found is None:
        return []
    lines: list[list[Value]] = [
        ["ICC(A,1): absolute agreement", found.absolute],
        ["ICC(C,1): apart from a constant difference", found.consistent],
        ["Gwet’s AC2, quadratic weights", found.ac2],
    ]
    caption = (
        f"Scores of {counted(found.n_notes, 'note')} in which all annotators judged the same "
        "features."
    )
    first, second = (a.id for a in agreement.corpus.annotators[:2])
    confidence = agreement.pooled.settings.confidence
    return [
        TableBlock(caption, ["Coefficient", "Value"], lines),
        *difference_figure(found.scores[:, 0], found.scores[:, 1], (first, second), confidence),
    ]


def _case_table(agreement: Agreement) -> TableBlock:
    names = case_names(agreement.corpus)
    body: list[list[Value]] = []
    foot: list[list[Value]] = []
    for line in agreement.case_table():
        values: list[Value] = [
            line["f1"], line["jaccard"], line["kappa"], line["yes_no_f1"], line["n_notes"],
        ]  # fmt: skip
        summary = line["n_notes"] is None
        name = {"mean": "Mean", "sd": "SD"}[line["case"]] if summary else names[line["case"]]
        (foot if summary else body).append([name, *values])
    header = ["Case", "F1", "Jaccard", "Kappa", "Yes/no F1", "Notes"]
    caption = (
        "Agreement by case, as Table 2 of the NBME paper: micro F1 of characters, Jaccard (mean "
        "over rows, both empty counting as 1), Cohen’s kappa over characters, and F1 of presence."
    )
    return TableBlock(caption, header, body, foot, sortable=True)


def _pairs(agreement: Agreement) -> list[Block]:
    lines: list[list[Value]] = []
    for (first, second), found in agreement.pairs.items():
        characters, presence = found.characters.total(), found.presence.total()
        lines.append(
            [first, second, found.coverage.n_notes, found.coverage.n_rows, characters.f1,
             characters["kappa"], presence.f1, presence["kappa"]]
        )  # fmt: skip
    header = ["First", "Second", "Notes", "Rows", "Characters F1", "Characters kappa",
              "Presence F1", "Presence kappa"]  # fmt: skip
    table = TableBlock("", header, lines, sortable=True)
    long = len(lines) > 15
    return [*_matrix(agreement), Fold(f"All {len(lines):,} pairs", [table]) if long else table]


def _matrix(agreement: Agreement) -> list[Block]:
    if len(agreement.pairs) < 2:
        return []
    shared: dict[str, int] = {annotator.id: 0 for annotator in agreement.corpus.annotators}
    for pair, found in agreement.pairs.items():
        for annotator in pair:
            shared[annotator] += found.coverage.n_rows
    most = sorted(shared, key=lambda a: -shared[a])[:MAX_MATRIX]
    names = [a for a in shared if a in set(most)]
    nan = float("nan")
    values = [[nan] * len(names) for _ in names]
    for (first, second), found in agreement.pairs.items():
        if first in names and second in names:
            i, j = names.index(first), names.index(second)
            values[i][j] = values[j][i] = found.characters.total().f1
    labels = Labels("Characters F1 of each pair of annotators")
    said = "Characters F1 of each pair. Darker is higher. Empty: the pair has no common row."
    if len(names) < len(shared):
        said += f" Shown: the {len(names)} of {len(shared)} annotators with most common rows."
    return [Figure("", matrix_plot(names, values, labels), said)]


def _spans(agreement: Agreement) -> list[Block]:
    evaluation = agreement.pooled
    said = (
        f"Agreement on spans as in Lee and Sun (2019): the mean over ordered pairs of annotators "
        f"in a note, then the mean and standard deviation over notes (protocol "
        f"{evaluation.protocol}, by {evaluation.unit}; {EMPTY_RULES[agreement.empty]})."
    )
    return [
        Paragraph(said),
        *_within_groups(agreement),
        *_across_groups(agreement),
        _lengths(agreement),
    ]


def _within_groups(agreement: Agreement) -> list[Block]:
    """Return mean F1 (SD) inside each group: one line per feature, columns by kind and group.

    The layout of Table 2 of Lee and Sun (2019).
    """
    groups = [pair for pair in agreement.per_note if pair[0] == pair[1]]
    if not groups:
        return []
    header = ["Feature"]
    header += [f"{_named(one)}: {name}" for name in KINDS.values() for one, _ in groups]
    lines: list[list[Value]] = [
        [text, *(_cell(agreement, pair, feature, kind, "f1") for kind in KINDS for pair in groups)]
        for feature, text in _features(agreement, groups)
    ]
    return _table(header, lines, "Within groups: mean F1 (SD) of pairs, over notes.")


def _across_groups(agreement: Agreement) -> list[Block]:
    """Return precision, recall and F1 (SD) of one group against another.

    The layout of Table 3 of Lee and Sun (2019).
    """
    blocks: list[Block] = []
    statistics = {"precision": "Pre", "recall": "Rec", "f1": "F1"}
    for pair in agreement.per_note:
        one, two = pair
        if one == two:
            continue
        header = ["Feature", *(f"{n}: {s}" for n in KINDS.values() for s in statistics.values())]
        lines: list[list[Value]] = [
            [text, *(_cell(agreement, pair, feature, k, s) for k in KINDS for s in statistics)]
            for feature, text in _features(agreement, [pair])
        ]
        caption = (
            f"Across groups: {_named(two)} (predicted) against {_named(one)} (reference); "
            "mean (SD) over notes."
        )
        blocks += _table(header, lines, caption)
    return blocks


def _lengths(agreement: Agreement) -> Block:
    """Return tokens per span, mean (SD), by feature and group: Table 4 of Lee and Sun (2019)."""
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
    table = TableBlock("Length of spans in tokens: mean (SD).", header, lines, sortable=True)
    long = len(lines) > MAX_LINES
    return Fold(f"Span lengths of {len(lines):,} features", [table]) if long else table


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


def _table(header: Sequence[str], lines: list[list[Value]], caption: str) -> list[Block]:
    last = [line for line in lines if line[0] == "All features"]
    body = [line for line in lines if line[0] != "All features"]
    if len(body) <= MAX_LINES:
        return [TableBlock(caption, header, body, last, sortable=True)]
    return [
        TableBlock(caption, header, last),
        Fold(
            f"The same for each of {len(body):,} features",
            [TableBlock("", header, body, sortable=True)],
        ),
    ]


def _named(group: str) -> str:
    return group or "all"
