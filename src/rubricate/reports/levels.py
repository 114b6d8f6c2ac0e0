"""Case by case and feature by feature: what evaluations measured, as points, plots and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rubricate import __version__
from rubricate.corpus import Corpus
from rubricate.evaluation import LABELS
from rubricate.evaluation.evaluation import Evaluation
from rubricate.reports.blocks import Block, FactsBlock, Figure, Fold, Paragraph, TableBlock
from rubricate.reports.page import Value
from rubricate.reports.plots import (
    ForestGroup,
    ForestRow,
    Guide,
    Labels,
    Series,
    dot_plots,
    forest_plot,
)
from rubricate.reports.plots.canvas import limits
from rubricate.reports.plots.data import UNDEFINED, paged_groups, worst_rows
from rubricate.reports.plots.points import label_room

Path = tuple[str, ...]


def case_names(corpus: Corpus) -> dict[str, str]:
    """Return the name of each case: its number and the title of its rubric.

    >>> from rubricate import load_corpus
    >>> case_names(load_corpus("open-notes").select(cases=["0"]))
    {'0': '0 Exertional chest tightness'}
    """
    named = {rubric.case: f"{rubric.case} {rubric.title}".strip() for rubric in corpus.rubrics}
    for note in corpus.notes:
        named.setdefault(note.case, note.case)
    return named


def case_order(corpus: Corpus, *found: Evaluation) -> list[str]:
    """Return the cases that any of the evaluations measured, in the corpus's order."""
    measured = {case for one in found for case in one.characters.by("case").ids}
    return [case for case in case_names(corpus) if case in measured]


#: More features than this are not drawn one by one.
MAX_FEATURES = 200
#: How many are drawn instead.
WORST_FEATURES = 60
#: Points that fit on a printed page below each other, headings and space between rows included.
ROWS_PER_PAGE = 76
#: What annotators' agreement is called beside systems.
HUMAN = "annotators"
RULES = (
    "Micro values come from counts summed over rows. A row is a note and a feature that was "
    "judged. A value with a denominator of 0 is undefined and shown as a dash. Means leave "
    "undefined values out. Intervals resample whole notes, so the features of a note stay "
    "together. Intervals for these cases resample notes inside each case. Intervals for cases like "
    "these resample whole cases. If fewer than ten notes have errors, exact limits by item, at a "
    "correlation of 0.3 within a note, widen the intervals."
)
#: What agreement compares.
EVERY_PAIR = "each pair of annotators on the rows that both judged; the first is the reference"


def human_label(human: Evaluation, name: str = HUMAN) -> str:
    """Return the label of the annotators' line, with the number of its notes."""
    return f"{name} ({human.coverage.n_notes:,} notes)"


@dataclass(frozen=True, slots=True)
class Measuring:
    """Systems, corpus and agreement that a page measures."""

    systems: Mapping[str, Evaluation]
    corpus: Corpus
    human: Evaluation | None = None

    @property
    def cases(self) -> list[str]:
        """The cases that were measured, in the corpus's order."""
        return case_order(self.corpus, *self.systems.values())

    @property
    def everybody(self) -> dict[str, Evaluation]:
        """The systems, and the annotators after them."""
        found = dict(self.systems)
        if self.human is not None:
            found[self.human_name] = self.human
        return found

    @property
    def human_name(self) -> str:
        """Label of the agreement with its notes; a system may have taken the usual name."""
        name = HUMAN if HUMAN not in self.systems else f"{HUMAN} with each other"
        return name if self.human is None else human_label(self.human, name)

    @property
    def confidence(self) -> str:
        """The intervals' confidence, in words."""
        first = next(iter(self.systems.values()))
        return f"{100 * first.settings.confidence:g} %"


def case_series(
    measuring: Measuring, path: Path, cases: Iterable[str]
) -> tuple[list[Series], Series | None]:
    """Return each system's F1 in these cases, and that of the annotators where it is known."""

    def series(name: str, found: Evaluation) -> Series:
        points = found.by_group(*path, level="cases")
        return Series(name, tuple(points.get(case, UNDEFINED) for case in cases))

    human = None if measuring.human is None else series(measuring.human_name, measuring.human)
    return [series(name, found) for name, found in measuring.systems.items()], human


def case_figure(measuring: Measuring, path: Path) -> list[Figure]:
    """Return values by case: each system, and the annotators' line where it is known."""
    cases, names = measuring.cases, case_names(measuring.corpus)
    series, human = case_series(measuring, path, cases)
    measure = LABELS[path]
    labels = Labels(
        f"{measure}: F1 by case",
        y=f"{measure} F1",
        description=f"F1 of {', '.join(measuring.systems)} for each of {len(cases)} cases"
        + (", with the agreement of annotators as a line." if human else "."),
    )
    said = f"{measure}: micro F1 by case; whiskers are {measuring.confidence} intervals by note."
    if human:
        said += " The line is the agreement of the annotators, the band its interval."
    drawn = dot_plots([names[c] for c in cases], series, labels, human=human)
    return figures(drawn, said)


def case_values_table(measuring: Measuring, paths: Sequence[Path]) -> TableBlock:
    """Return F1 with intervals, one line per case, one column per system and measure."""
    names, columns = case_names(measuring.corpus), []
    for path in paths:
        columns += [
            (f"{LABELS[path]}: {name}", found.by_group(*path, level="cases"))
            for name, found in measuring.everybody.items()
        ]
    first = next(iter(measuring.systems.values())).characters
    n_notes = {c: len(first.where(cases=[c]).by("note")) for c in measuring.cases}
    lines: list[list[Value]] = [
        [names[case], n_notes[case], *(points.get(case, UNDEFINED) for _, points in columns)]
        for case in measuring.cases
    ]
    header = ["Case", "Notes", *(f"{name} F1" for name, _ in columns)]
    return TableBlock("F1 by case, with intervals by note.", header, lines, sortable=True)


def feature_section(measuring: Measuring) -> list[Block]:
    """Return forest plots of the features' characters F1, by case, and a table of all of them.

    Up to `MAX_FEATURES` features are all drawn, one plot per case; of more, the worst.
    """
    points = [
        found.by_group("characters", level="features") for found in measuring.systems.values()
    ]
    titles = case_names(measuring.corpus)
    found = next(iter(measuring.systems.values())).presence.by("feature")
    n_present = found.values[:, 0] + found.values[:, 2]
    present = dict(zip(found.ids, n_present.tolist(), strict=True))
    groups: tuple[ForestGroup, ...] = ()
    for rubric in measuring.corpus.rubrics:
        rows = tuple(
            ForestRow(
                feature.text,
                tuple(own.get(feature.id, UNDEFINED) for own in points),
                "" if len(points) == 1 else f"in {present[feature.id]} notes",
            )
            for feature in rubric
            if any(feature.id in own for own in points)
        )
        if rows:
            groups += (ForestGroup(titles[rubric.case], rows),)

    n_features = sum(len(group.rows) for group in groups)
    first_name, first = next(iter(measuring.systems.items()))
    whole = first.overall("characters")
    guide = Guide(whole.value, f"{first_name}, all features: {whole.value:.3f}")
    names = list(measuring.systems)
    ends = limits(p for group in groups for row in group.rows for p in row.points)
    blocks: list[Block] = []
    if n_features > MAX_FEATURES:
        groups, left_out = worst_rows(groups, WORST_FEATURES)
        blocks.append(
            Paragraph(
                f"Of {n_features:,} features the {n_features - left_out} with the lowest F1 of "
                f"{first_name} are drawn; the other {left_out:,} are in the table."
            )
        )
    room, svgs = label_room(groups), []
    for some in paged_groups(groups, ROWS_PER_PAGE // (1 + len(names))):
        labels = Labels(
            f"Characters F1 by feature: {', '.join(g.label for g in some)}",
            x="Characters F1",
            description="A point with its interval for each feature and system.",
        )
        svgs.append(forest_plot(some, names, labels, guide=guide, span=ends, label_width=room))
    said = f"Characters F1 by feature with {measuring.confidence} intervals by note."
    blocks += figures(svgs, said)

    everybody = measuring.everybody
    characters = {name: f.by_group("characters", level="features") for name, f in everybody.items()}
    presence = {name: f.by_group("presence", level="features") for name, f in everybody.items()}
    lines: list[list[Value]] = [
        [
            feature.text,
            feature.case,
            present[feature.id],
            *(own.get(feature.id, UNDEFINED) for own in characters.values()),
            *(own.get(feature.id, UNDEFINED) for own in presence.values()),
        ]
        for feature in measuring.corpus.features
        if feature.id in present
    ]
    header = [
        "Feature",
        "Case",
        "Notes that have it",
        *(f"Characters F1: {name}" for name in characters),
        *(f"Presence F1: {name}" for name in presence),
    ]
    table = TableBlock("", header, lines, sortable=True)
    return [*blocks, Fold(f"All {n_features:,} features in a table", [table])]


def figures(svgs: Sequence[str], caption: str) -> list[Figure]:
    """Return drawings that belong together, each on its own, the caption under the last."""
    return [
        Figure("", svg, caption if place == len(svgs) else "") for place, svg in enumerate(svgs, 1)
    ]


def span_table(everybody: Mapping[str, Evaluation]) -> TableBlock:
    """Return a table of matched, partial, missed and spurious spans, counted as nervaluate does."""
    names = ("correct", "partial", "missed", "spurious", "strict_f1", "f1")
    lines: list[list[Value]] = []
    for who, found in everybody.items():
        met = found.span_outcomes()
        lines.append([who, *(met[name] for name in names)])
    caption = (
        "Matches of spans: the same, in part, missed, or spurious. In part is “incorrect” or "
        "“partial” in nervaluate. In strict F1 a match in part counts 0, in partial F1 one half."
    )
    header = ["System", "The same", "In part", "Missed", "Spurious", "F1, strict", "F1, partial"]
    return TableBlock(caption, header, lines)


def method_section(
    systems: Mapping[str, Evaluation],
    inputs: Mapping[str, str],
    human: Evaluation | None = None,
) -> list[Block]:
    """Return rules, settings, coverage and inputs."""
    blocks: list[Block] = [Paragraph(RULES)]
    blocks += [FactsBlock(measuring_facts(found), name) for name, found in systems.items()]
    if human is not None:
        facts = {**measuring_facts(human), "compared": EVERY_PAIR}
        blocks.append(FactsBlock(facts, "annotators"))
    return [*blocks, FactsBlock({"rubricate": __version__, **inputs}, "Version and inputs")]


def measuring_facts(found: Evaluation) -> dict[str, str]:
    """Return the settings and coverage of an evaluation."""
    evaluation, coverage, settings = found, found.coverage, found.settings
    return {
        "compared": f"{evaluation.predicted_annotator} against {evaluation.reference_annotator}",
        "notes, rows": f"{coverage.n_notes:,} notes, {coverage.n_rows:,} rows",
        "rows without prediction": f"{coverage.n_missing_rows:,} rows, "
        f"{coverage.n_missing_notes:,} whole notes",
        "left out": f"{coverage.n_unjudged_rows:,} predicted rows the reference did not judge, "
        f"{coverage.n_unknown_rows:,} of unknown notes or features",
        "span protocol": f"{evaluation.protocol}, by {evaluation.unit}",
        "intervals": f"bootstrap by note, {settings.method}, {100 * settings.confidence:g} %, "
        f"{settings.resamples:,} resamples, seed {settings.seed}; about "
        f"{settings.population.replace('-', ' ')}",
        "weights": "none" if found.design.weights is None else "by the sampling design",
    }
