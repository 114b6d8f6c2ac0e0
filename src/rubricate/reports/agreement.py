"""The page of an agreement study: how far annotators agree, on what, and where they do not."""

from __future__ import annotations

from collections.abc import Mapping

from rubricate import __version__
from rubricate.agreement import Agreement
from rubricate.reports.agreement_tables import (
    across_groups_tables,
    lengths_table,
    within_groups_table,
)
from rubricate.reports.costly_notes import Source, costly_notes
from rubricate.reports.levels import HUMAN, Measuring, case_figure, feature_section
from rubricate.reports.marks import Sides
from rubricate.reports.methods import EVERY_PAIR, RULES, measuring_facts
from rubricate.reports.page import Section, facts_table, figure, folded, paragraph, render_page
from rubricate.reports.plots import Labels, Point, matrix_plot
from rubricate.reports.readings import MEASURES, case_names, macro_point, overall_point
from rubricate.reports.tables import Value, counted, html_table

#: A matrix of more annotators than this is illegible; those who share most rows are drawn.
MAX_MATRIX = 30
EMPTY_RULES = {
    "zero": "an annotator who marked nothing scores 0 in that row, as in the PICO paper",
    "agree": "two annotators who both marked nothing agree fully",
    "skip": "rows in which an annotator marked nothing are left out",
}


def agreement_page(
    agreement: Agreement,
    *,
    worst: int = 20,
    inputs: Mapping[str, str] | None = None,
    title: str = "Agreement among annotators",
) -> str:
    """Return one self-contained HTML page about an agreement study.

    Parameters
    ----------
    agreement : Agreement
        What `rubricate.agreement.agree` found.
    worst : int
        How many of the notes in which two annotators differ most are shown.
    inputs : mapping from name to hash, optional
        What was read, to be printed with the method.
    title : str
        Heading.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> from rubricate.agreement import agree
    >>> from rubricate.stats import Resampling
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> page = agreement_page(agree(corpus, settings=Resampling(resamples=100)), worst=2)
    >>> "second_rater" in page
    True
    """
    measuring = Measuring({HUMAN: agreement.pooled}, agreement.corpus)
    figures = [case_figure(measuring, path) for path in (("characters",), ("presence",))]
    if len(measuring.cases) < 2:
        figures = []  # one point in a figure says less than the table above it
    sections = [
        Section("headline", "How far annotators agree", _headline(agreement)),
        Section("cases", "Case by case", _case_table(agreement) + "".join(figures)),
        Section("pairs", "Pair by pair", _pairs(agreement)),
        Section("spans", "Spans, note by note", _spans(agreement)),
        Section("features", "Feature by feature", feature_section(measuring)),
        Section("notes", "Notes in which annotators differ most", _notes(agreement, worst)),
        Section("method", "How it was measured", _method(agreement, inputs or {})),
    ]
    evaluation = agreement.pooled.evaluation
    lead = (
        f"{counted(len(agreement.corpus.annotators), 'annotator')}, "
        f"{counted(len(agreement.pairs), 'pair')}: "
        f"{counted(len(evaluation.characters.by('note')), 'note')} of "
        f"{counted(len(measuring.cases), 'case')}, "
        f"{counted(len(evaluation.characters), 'row')} judged by two."
    )
    return render_page(title, sections, lead=lead, warnings=evaluation.warnings())


def _headline(agreement: Agreement) -> str:
    found = agreement.pooled
    lines: list[list[Value]] = []
    for path, name in MEASURES.items():
        kappa: Value = None
        if path[0] != "spans":
            kappa = overall_point(found, path, "kappa")
        means = [macro_point(found, path, level) for level in ("cases", "features")]
        lines.append([name, overall_point(found, path), kappa, *means])
    header = ["Measure", "F1", "Kappa", "F1, mean of cases", "F1, mean of features"]
    caption = (
        f"All pairs together, with {100 * found.settings.confidence:g} % intervals by note. "
        "F1 is the same whichever of the two is taken as reference, except for spans under the "
        "protocol “paper”."
    )
    table = html_table(header, lines, caption=caption, sortable=False)
    if not agreement.chance_corrected:
        return table
    names = {"fleiss_kappa": "Fleiss’ kappa", "krippendorff_alpha": "Krippendorff’s alpha"}
    rest: list[list[Value]] = [
        [
            names.get(key, key),
            Point(_number(value["value"]), *(_number(end) for end in value["interval"])),
            value["n_units"],
        ]
        for key, value in agreement.chance_corrected.items()
    ]
    said = "Presence, more than two annotators at once, corrected for chance."
    return table + html_table(["Coefficient", "Value", "Rows"], rest, caption=said, sortable=False)


def _case_table(agreement: Agreement) -> str:
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
    return html_table(header, body, caption=caption, footer=foot)


def _pairs(agreement: Agreement) -> str:
    lines: list[list[Value]] = []
    for (first, second), found in agreement.pairs.items():
        characters, presence = found.characters.total(), found.presence.total()
        lines.append(
            [first, second, found.coverage.n_notes, found.coverage.n_rows, characters.f1,
             characters["kappa"], presence.f1, presence["kappa"]]
        )  # fmt: skip
    header = ["First", "Second", "Notes", "Rows", "Characters F1", "Characters kappa",
              "Presence F1", "Presence kappa"]  # fmt: skip
    table = html_table(header, lines)
    drawn = _matrix(agreement)
    return drawn + (folded(f"All {len(lines):,} pairs", table) if len(lines) > 15 else table)


def _matrix(agreement: Agreement) -> str:
    if len(agreement.pairs) < 2:
        return ""
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
    said = "Characters F1 of each pair; darker is higher; empty where two judged no common row."
    if len(names) < len(shared):
        said += f" Drawn: the {len(names)} of {len(shared)} annotators who share most rows."
    return figure(matrix_plot(names, values, labels), said)


def _spans(agreement: Agreement) -> str:
    evaluation = agreement.pooled.evaluation
    said = (
        f"Span agreement the PICO paper’s way: ordered pairs of annotators averaged inside a "
        f"note, then notes averaged (protocol {evaluation.protocol}, by {evaluation.unit}; "
        f"{EMPTY_RULES[agreement.empty]}). Mean and standard deviation over notes."
    )
    return (
        paragraph(said)
        + within_groups_table(agreement)
        + across_groups_tables(agreement)
        + lengths_table(agreement)
    )


def _notes(agreement: Agreement, worst: int) -> str:
    sources = [
        Source(found, agreement.corpus, agreement.corpus, Sides(*pair))
        for pair, found in agreement.pairs.items()
    ]
    legend = None if len(sources) == 1 else Sides("first annotator", "second annotator")
    return costly_notes(sources, worst, legend=legend)


def _method(agreement: Agreement, inputs: Mapping[str, str]) -> str:
    facts = measuring_facts(agreement.pooled)
    del facts["rows without prediction"], facts["left out"]
    facts["compared"] = EVERY_PAIR
    facts["annotators"] = ", ".join(
        f"{a.id} ({a.group})" if a.group else a.id for a in agreement.corpus.annotators
    )
    facts["nothing marked"] = EMPTY_RULES[agreement.empty]
    versions = facts_table({"rubricate": __version__, **inputs}, caption="Version and inputs")
    return paragraph(RULES) + facts_table(facts, caption="All pairs") + versions


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
