"""Sections that several pages share: values by case and by feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rubricate.corpus import Corpus
from rubricate.measures.intervals import Interpreted
from rubricate.reports.page import figures, folded, paragraph
from rubricate.reports.plots import (
    ForestGroup,
    ForestRow,
    Guide,
    Labels,
    Point,
    Series,
    dot_plots,
    forest_plot,
    label_room,
    paged_groups,
    worst_rows,
)
from rubricate.reports.plots.data import limits
from rubricate.reports.readings import (
    MEASURES,
    Path,
    case_names,
    case_order,
    case_points,
    feature_points,
    overall_point,
    point_or_undefined,
)
from rubricate.reports.tables import Value, html_table

#: More features than this are not drawn one by one.
MAX_FEATURES = 200
#: How many are drawn instead.
WORST_FEATURES = 60
#: Points that fit on a printed page below each other, headings and space between rows included.
ROWS_A_PAGE = 76
#: What annotators' agreement is called beside systems.
HUMAN = "annotators"


@dataclass(frozen=True, slots=True)
class Measuring:
    """What is measured on a page.

    Parameters
    ----------
    systems : mapping from name to Interpreted
        At least one.
    corpus : Corpus
        Names of cases and features come from it.
    human : Interpreted, optional
        How far annotators agree.
    """

    systems: Mapping[str, Interpreted]
    corpus: Corpus
    human: Interpreted | None = None

    @property
    def cases(self) -> list[str]:
        """The cases that were measured, in the corpus's order."""
        return case_order(self.corpus, *self.systems.values())

    @property
    def everybody(self) -> dict[str, Interpreted]:
        """The systems, and the annotators after them."""
        found = dict(self.systems)
        if self.human is not None:
            found[self.human_name] = self.human
        return found

    @property
    def human_name(self) -> str:
        """What agreement is called; a system may have taken the usual name."""
        return HUMAN if HUMAN not in self.systems else f"{HUMAN} with each other"

    @property
    def confidence(self) -> str:
        """The intervals' confidence, in words."""
        first = next(iter(self.systems.values()))
        return f"{100 * first.settings.confidence:g} %"


def case_figure(measuring: Measuring, path: Path) -> str:
    """Return values by case: each system, and the annotators' line where it is known."""
    cases, names = measuring.cases, case_names(measuring.corpus)
    series = [
        Series(name, _in_order(case_points(found, path), cases))
        for name, found in measuring.systems.items()
    ]
    human = None
    if measuring.human is not None:
        human = Series(measuring.human_name, _in_order(case_points(measuring.human, path), cases))
    measure = MEASURES[path]
    labels = Labels(
        f"{measure}: F1 by case",
        y=f"{measure} F1",
        description=f"F1 of {', '.join(measuring.systems)} for each of {len(cases)} cases"
        + (", with the agreement of annotators as a line." if human else "."),
    )
    said = f"{measure}: micro F1 by case; whiskers are {measuring.confidence} intervals by note."
    if human:
        said += " The line is how far annotators agree with each other, the band its interval."
    drawn = dot_plots([names[c] for c in cases], series, labels, human=human)
    return figures(drawn, said)


def case_values_table(measuring: Measuring, paths: Sequence[Path], caption: str) -> str:
    """Return F1 with intervals, a line a case and a column a system and measure."""
    names, columns = case_names(measuring.corpus), []
    for path in paths:
        columns += [
            (f"{MEASURES[path]}: {name}", case_points(found, path))
            for name, found in measuring.everybody.items()
        ]
    first = next(iter(measuring.systems.values())).evaluation.characters
    n_notes = {c: len(first.where(cases=[c]).by("note")) for c in measuring.cases}
    lines: list[list[Value]] = [
        [names[case], n_notes[case], *(point_or_undefined(points, case) for _, points in columns)]
        for case in measuring.cases
    ]
    return html_table(
        ["Case", "Notes", *(f"{name} F1" for name, _ in columns)], lines, caption=caption
    )


def feature_section(measuring: Measuring, path: Path = ("characters",)) -> str:
    """Return forest plots of the features, by case, and a table of all of them.

    Up to `MAX_FEATURES` features are all drawn, one plot a case; of more, the worst.
    """
    groups = _feature_groups(measuring, path)
    n_features = sum(len(group.rows) for group in groups)
    first_name, first = next(iter(measuring.systems.items()))
    whole = overall_point(first, path)
    guide = Guide(whole.value, f"{first_name}, all features: {whole.value:.3f}")
    names = list(measuring.systems)
    ends = limits(p for group in groups for row in group.rows for p in row.points)
    parts = []
    if n_features > MAX_FEATURES:
        groups, left_out = worst_rows(groups, WORST_FEATURES)
        parts.append(
            paragraph(
                f"Of {n_features:,} features the {n_features - left_out} with the lowest F1 of "
                f"{first_name} are drawn; the other {left_out:,} are in the table."
            )
        )
    room, svgs = label_room(groups), []
    for some in paged_groups(groups, ROWS_A_PAGE // (1 + len(names))):
        labels = Labels(
            f"{MEASURES[path]} F1 by feature: {', '.join(g.label for g in some)}",
            x=f"{MEASURES[path]} F1",
            description="A point with its interval for each feature and system.",
        )
        svgs.append(forest_plot(some, names, labels, guide=guide, span=ends, label_width=room))
    said = f"{MEASURES[path]} F1 by feature with {measuring.confidence} intervals by note."
    parts.append(figures(svgs, said))
    parts.append(folded(f"All {n_features:,} features in a table", _feature_table(measuring)))
    return "".join(parts)


def _feature_groups(measuring: Measuring, path: Path) -> tuple[ForestGroup, ...]:
    points = [feature_points(found, path) for found in measuring.systems.values()]
    names = case_names(measuring.corpus)
    present = _n_present(measuring)
    groups = []
    for rubric in measuring.corpus.rubrics:
        rows = tuple(
            ForestRow(
                feature.text,
                tuple(point_or_undefined(own, feature.id) for own in points),
                "" if len(points) == 1 else f"in {present[feature.id]} notes",
            )
            for feature in rubric
            if any(feature.id in own for own in points)
        )
        if rows:
            groups.append(ForestGroup(names[rubric.case], rows))
    return tuple(groups)


def _feature_table(measuring: Measuring) -> str:
    everybody = measuring.everybody
    characters = {name: feature_points(f, ("characters",)) for name, f in everybody.items()}
    presence = {name: feature_points(f, ("presence",)) for name, f in everybody.items()}
    present = _n_present(measuring)
    lines: list[list[Value]] = [
        [
            feature.text,
            feature.case,
            present[feature.id],
            *(point_or_undefined(own, feature.id) for own in characters.values()),
            *(point_or_undefined(own, feature.id) for own in presence.values()),
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
    return html_table(header, lines)


def _n_present(measuring: Measuring) -> dict[str, int]:
    """Return in how many notes the reference has each feature."""
    table = next(iter(measuring.systems.values())).evaluation.presence.by("feature")
    counts = table.values[:, 0] + table.values[:, 2]
    return dict(zip(table.ids, counts.tolist(), strict=True))


def _in_order(points: Mapping[str, Point], names: Sequence[str]) -> tuple[Point, ...]:
    return tuple(point_or_undefined(points, name) for name in names)
