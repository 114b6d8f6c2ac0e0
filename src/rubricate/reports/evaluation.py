"""The page of an evaluation: what was reached, by case and by feature, and what was not."""

from __future__ import annotations

from collections.abc import Mapping

from rubricate.agreement import Agreement
from rubricate.corpus import Corpus
from rubricate.display import counted
from rubricate.errors import InputError
from rubricate.measures import LABELS
from rubricate.measures.comparing import weighted_by_note
from rubricate.measures.intervals import EvaluationWithIntervals
from rubricate.progress import Progress, silent
from rubricate.reports.by_note import MarkSource, costly_notes, difference_figure, presence_scores
from rubricate.reports.calibration import calibration_section
from rubricate.reports.highlight import Sides
from rubricate.reports.levels import (
    Measuring,
    case_figure,
    case_values_table,
    feature_section,
    method_section,
    span_table,
)
from rubricate.reports.page import (
    Value,
    figure,
    figure_row,
    folded,
    html_table,
    make_sections,
    paragraph,
    render_page,
)
from rubricate.reports.plots import Labels, confusion_plot

#: At least so many notes are shown for each of several systems.
MIN_NOTES = 5


def evaluation_page(
    systems: Mapping[str, EvaluationWithIntervals],
    reference: Corpus,
    predicted: Mapping[str, Corpus],
    *,
    ceiling: Agreement | None = None,
    worst: int = 30,
    inputs: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> str:
    """Return one self-contained HTML page about one or more systems.

    >>> from rubricate import load_corpus
    >>> from rubricate.measures import evaluate
    >>> from rubricate.measures.intervals import add_intervals
    >>> from rubricate.stats import Resampling
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> evaluation = evaluate(
    ...     corpus, corpus, missing="skip",
    ...     reference_annotator="reference", predicted_annotator="second_rater",
    ... )
    >>> found = {"second_rater": add_intervals(evaluation, Resampling(resamples=100))}
    >>> page = evaluation_page(found, corpus, {"second_rater": corpus}, worst=3)
    >>> page.count("<div data-note")
    3
    """
    missing = [name for name in systems if name not in predicted]
    if not systems or missing:
        raise InputError(
            f"no predicted corpus for: {', '.join(missing)}" if missing else "no system to report"
        )
    human = None if ceiling is None else ceiling.pooled
    measuring = Measuring(systems, reference, human)
    parts = [
        ("headline", "What was reached", lambda: _headline(measuring)),
        ("cases", "Case by case", lambda: _cases(measuring)),
        ("features", "Feature by feature", lambda: feature_section(measuring)),
        ("presence", "Presence", lambda: _confusions(systems) + _scores(systems, reference)),
        ("probabilities", "Probabilities", lambda: calibration_section(systems, reference)),
        ("notes", "Notes that cost most", lambda: _notes(systems, reference, predicted, worst)),
        ("method", "How it was measured", lambda: method_section(systems, inputs or {}, human)),
    ]
    warnings = [
        f"{name}: {warning}" for name, f in systems.items() for warning in f.evaluation.warnings()
    ]
    sections = make_sections(parts, progress)
    return render_page("Evaluation", sections, lead=_lead(measuring), warnings=warnings)


def _lead(measuring: Measuring) -> str:
    first = next(iter(measuring.systems.values())).evaluation
    who = ", ".join(measuring.systems)
    return (
        f"{who} against {first.reference_annotator}: "
        f"{counted(first.coverage.n_notes, 'note')} of {counted(len(measuring.cases), 'case')}, "
        f"{counted(len(first.characters.by('feature')), 'feature')}, "
        f"{counted(first.coverage.n_rows, 'judged row')}."
    )


def _headline(measuring: Measuring) -> str:
    everybody = measuring.everybody
    lines: list[list[Value]] = []
    for path, name in LABELS.items():
        for place, (who, found) in enumerate(everybody.items()):
            rates = [found.overall(*path, statistic=s) for s in ("precision", "recall", "f1")]
            means = [found.macro_mean(*path, level=level) for level in ("cases", "features")]
            lines.append(["" if place else name, who, *rates, *means])
    header = ["Measure", "System", "Precision", "Recall", "F1", "F1, mean of cases",
              "F1, mean of features"]  # fmt: skip
    said = (
        "Characters: which characters express a feature. Presence: whether the note has it. "
        "Spans: whole annotations, with the same ends, with one end the same, or overlapping."
    )
    caption = (
        f"Precision, recall and F1 of summed counts (micro), then F1 averaged over cases and over "
        f"features (macro), with {measuring.confidence} intervals by note."
    )
    others: list[list[Value]] = [
        [
            who,
            *(found.overall("characters", statistic=s) for s in ("jaccard", "kappa")),
            *(found.overall("presence", statistic=s) for s in ("accuracy", "kappa", "specificity")),
        ]
        for who, found in everybody.items()
    ]
    more = ["System", "Characters: Jaccard", "Characters: kappa", "Presence: accuracy",
            "Presence: kappa", "Presence: specificity"]  # fmt: skip
    return (
        paragraph(said)
        + html_table(header, lines, caption=caption, sortable=False)
        + html_table(more, others, caption="Further measures.", sortable=False)
        + span_table(everybody)
    )


def _cases(measuring: Measuring) -> str:
    paths = [("characters",), ("presence",)]
    drawn = "".join(case_figure(measuring, path) for path in paths)
    return drawn + folded("The same in a table", case_values_table(measuring, paths))


def _confusions(systems: Mapping[str, EvaluationWithIntervals]) -> str:
    figures = []
    for name, found in systems.items():
        by_note = found.evaluation.presence.by("note")
        sums = weighted_by_note(by_note, found.weights).sum(axis=0).tolist()
        counts = dict(zip(by_note.measure.columns, sums, strict=True))
        labels = Labels(
            f"Presence: {name}",
            description=", ".join(f"{key} {value:,.0f}" for key, value in counts.items()),
        )
        who = found.evaluation.reference_annotator
        svg = confusion_plot(counts, labels, sides=(who, name))
        weighted = "" if found.weights is None else " Counts are weighted by the design."
        figures.append(figure(svg, f"Rows (a note and a feature) by presence: {name}.{weighted}"))
    said = "Every judged row, by whether each side has the feature in the note; errors are hatched."
    return paragraph(said) + figure_row(figures)


def _scores(systems: Mapping[str, EvaluationWithIntervals], reference: Corpus) -> str:
    return "".join(
        difference_figure(
            *presence_scores(found.evaluation, reference),
            (found.evaluation.reference_annotator, name),
            found.settings.confidence,
        )
        for name, found in systems.items()
    )


def _notes(
    systems: Mapping[str, EvaluationWithIntervals],
    reference: Corpus,
    predicted: Mapping[str, Corpus],
    worst: int,
) -> str:
    limit = worst if len(systems) == 1 else max(worst // len(systems), min(worst, MIN_NOTES))
    parts = []
    for name, found in systems.items():
        sides = Sides(found.evaluation.reference_annotator, name)
        source = MarkSource(found.evaluation, reference, predicted[name], sides)
        if len(systems) > 1:
            parts.append(paragraph(name, class_="subhead"))
        parts.append(costly_notes([source], limit))
    return "".join(parts)
