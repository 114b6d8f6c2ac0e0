"""The page of an evaluation: what was reached, what was not, how far probabilities hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rubricate.corpus import Corpus
from rubricate.display import counted
from rubricate.errors import InputError
from rubricate.evaluation import LABELS
from rubricate.evaluation.agreement import Agreement
from rubricate.evaluation.evaluation import Evaluation
from rubricate.evaluation.probabilities import CalibrationResult, Ranking
from rubricate.evaluation.systems import weighted_by_note
from rubricate.progress import Progress, silent
from rubricate.reports.blocks import (
    Block,
    Figure,
    FigureRow,
    Fold,
    Paragraph,
    Report,
    TableBlock,
    make_chapters,
)
from rubricate.reports.by_note import MarkSource, costly_notes, difference_figure, presence_scores
from rubricate.reports.highlight import Sides
from rubricate.reports.levels import (
    Measuring,
    case_figure,
    case_names,
    case_values_table,
    feature_section,
    method_section,
    span_table,
)
from rubricate.reports.page import Cell, Value
from rubricate.reports.plots import (
    Guide,
    Labels,
    Line,
    PlotBin,
    Point,
    confusion_plot,
    curve_plot,
    reliability_plot,
)

#: At least so many notes are shown for each of several systems.
MIN_NOTES = 5


def evaluation_report(
    systems: Mapping[str, Evaluation],
    reference: Corpus,
    predicted: Mapping[str, Corpus],
    *,
    ceiling: Agreement | None = None,
    worst: int = 30,
    inputs: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> Report:
    """Return the report about one or more systems: a page, Markdown or a Word document.

    ``ceiling`` is how far annotators agree with each other, and ``worst`` the number of notes that
    are shown.

    >>> from rubricate.reports.blocks import to_html
    >>> from rubricate import load_corpus
    >>> from rubricate.evaluation import evaluate
    >>> from rubricate.evaluation.evaluation import add_intervals
    >>> from rubricate.stats import Resampling
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> evaluation = evaluate(
    ...     corpus, corpus, missing="skip",
    ...     reference_annotator="reference", predicted_annotator="second_rater",
    ... )
    >>> found = {"second_rater": add_intervals(evaluation, Resampling(resamples=100))}
    >>> page = to_html(evaluation_report(found, corpus, {"second_rater": corpus}, worst=3))
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
    first = next(iter(systems.values()))

    def cases() -> list[Block]:
        paths = [("characters",), ("presence",)]
        drawn = [one for path in paths for one in case_figure(measuring, path)]
        return [*drawn, Fold("The same in a table", [case_values_table(measuring, paths)])]

    def scores() -> list[Block]:
        return [
            block
            for name, found in systems.items()
            for block in difference_figure(
                *presence_scores(found, reference),
                (found.reference_annotator, name),
                found.settings.confidence,
            )
        ]

    def notes() -> list[Block]:
        limit = worst if len(systems) == 1 else max(worst // len(systems), min(worst, MIN_NOTES))
        blocks: list[Block] = []
        for name, found in systems.items():
            sides = Sides(found.reference_annotator, name)
            if len(systems) > 1:
                blocks.append(Paragraph(name, "subhead"))
            blocks += costly_notes([MarkSource(found, reference, predicted[name], sides)], limit)
        return blocks

    def method() -> list[Block]:
        return [Fold("Methods and inputs", method_section(systems, inputs or {}, human))]

    chapters = make_chapters(
        [
            ("decisions", "Right and wrong decisions", lambda: _confusions(systems)),
            ("headline", "Results", lambda: _headline(measuring)),
            ("cases", "Case by case", cases),
            ("features", "Feature by feature", lambda: feature_section(measuring)),
            ("scores", "Scores", scores),
            ("probabilities", "Probabilities", lambda: calibration_section(systems, reference)),
            ("notes", "Notes with most differences", notes),
            ("method", "Methods", method),
        ],
        progress,
    )
    said = " ".join(
        f"{name}: {found.decisions()}" if len(systems) > 1 else found.decisions()
        for name, found in systems.items()
    )
    lead = (
        f"{said} Compared: {', '.join(systems)} against {first.reference_annotator}, "
        f"{counted(first.coverage.n_notes, 'note')} of {counted(len(measuring.cases), 'case')}, "
        f"{counted(len(first.characters.by('feature')), 'feature')}, "
        f"{counted(first.coverage.n_rows, 'judged row')}."
    )
    warnings = [f"{name}: {warning}" for name, f in systems.items() for warning in f.warnings()]
    return Report("Evaluation", chapters, lead, warnings)


def _headline(measuring: Measuring) -> list[Block]:
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
        "Characters compares the marked characters. Presence compares the decisions about each "
        "feature in each note. Spans compares whole annotations: with both ends the same, with one "
        "end the same, or overlapping."
    )
    caption = (
        "Precision, recall and F1 of the summed counts (micro), then the mean F1 of cases and of "
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
    further = [TableBlock("Further measures.", more, others), span_table(everybody)]
    return [
        Paragraph(said),
        TableBlock(caption, header, lines),
        Fold("Further measures, and matches of spans", further),
    ]


def _confusions(systems: Mapping[str, Evaluation]) -> list[Block]:
    figures = []
    for name, found in systems.items():
        by_note = found.presence.by("note")
        sums = weighted_by_note(by_note, found.design.weights).sum(axis=0).tolist()
        counts = dict(zip(by_note.measure.columns, sums, strict=True))
        labels = Labels(
            f"Presence: {name}",
            description=", ".join(f"{key} {value:,.0f}" for key, value in counts.items()),
        )
        who = found.reference_annotator
        svg = confusion_plot(counts, labels, sides=(who, name))
        weighted = "" if found.design.weights is None else " Counts are weighted by the design."
        said = f"Rows (a note and a feature) by presence: {name}.{weighted}"
        figures.append(Figure("", svg, said))
    said = "Each judged row counts once, in the cell of both decisions. Errors are hatched."
    return [Paragraph(said), FigureRow(figures)]


#: Features shown for each system.
WORST = 10
#: A feature with fewer rows says too little about itself.
MIN_ROWS = 10

_SAID = (
    "Of 10 rows with a probability of 0.8, 8 should be present. The Brier score is the mean "
    "squared difference between probability and presence; 0 is best (Brier 1950). The skill "
    "compares it with a system that gives every row the share present; 1 is best, 0 is no better "
    "than that system (Murphy 1973). ECE, the expected calibration error, is the mean gap between "
    "the mean probability of a bin and its share present, weighted by rows (Naeini et al. 2015; "
    "Guo et al. 2017). By chance is the ECE of perfect probabilities with the same number of rows."
)
_FIGURE = (
    "Share of present rows against the predicted probability, in bins of a tenth. Whiskers are "
    "{confidence} intervals (Wilson, rows of a note taken together). On the dashed line the "
    "probabilities are right. Below it they are too high, above it too low. The bars below show "
    "the number of rows of each bin."
)


def calibration_section(systems: Mapping[str, Evaluation], corpus: Corpus) -> list[Block]:
    """Return diagrams and tables of the systems that state probabilities, if any does."""
    found = {name: one.calibration for name, one in systems.items() if one.calibration is not None}
    if not found:
        return []
    confidence = f"{100 * next(iter(systems.values())).settings.confidence:g} %"
    drawn = []
    for name, one in found.items():
        bins = [PlotBin(b.probability, b.present, b.n_rows, (b.low, b.high)) for b in one.bins]
        values, n_rows = one.overall.values, one.overall.n_rows
        svg = reliability_diagram(
            name, bins, brier=values["brier"], ece=values["ece"], n_rows=n_rows
        )
        drawn.append(Figure("", svg, f"Reliability: {name}."))

    lines: list[list[Value]] = []
    for name, one in found.items():
        n_rows = systems[name].coverage.n_rows
        some = counted(one.overall.n_rows, "row")
        lines.append(
            [
                name,
                some if one.overall.n_rows == n_rows else f"{some} of {n_rows:,}",
                *(one.estimates[value] for value in ("brier", "brier_skill", "ece")),
                one.overall.ece_by_chance,
                one.overall.values["mean_probability"],
                one.overall.values["share_present"],
            ]
        )
    header = ["System", "Rows with a probability", "Brier score", "Brier skill", "ECE",
              "ECE by chance", "Mean probability", "Share present"]  # fmt: skip
    caption = (
        f"Probabilities of presence, all features together, with {confidence} intervals by note."
    )

    numbers = [
        TableBlock(
            name,
            ["Probability", "Rows", "Mean probability", "Share present"],
            [
                [Cell(f"{b.low:.1f} to {b.high:.1f}", b.low), b.n_rows, b.probability, b.present]
                for b in one.bins
            ],
            sortable=True,
        )
        for name, one in found.items()
    ]
    blocks: list[Block] = [
        Paragraph(_SAID),
        TableBlock(caption, header, lines),
        *_curves({name: one.ranking for name, one in systems.items()}, confidence),
        FigureRow(drawn),
        Paragraph(_FIGURE.format(confidence=confidence), "aside"),
        *(_worst(name, one, corpus) for name, one in found.items()),
        Fold("The diagrams in numbers", numbers),
    ]
    return [Fold("Calibration and ranking of the probabilities", blocks)]


def _curves(found: Mapping[str, Ranking | None], confidence: str) -> list[Block]:
    """Return ROC and precision-recall curves of the systems that have them, with their areas."""
    known = {name: one for name, one in found.items() if one is not None}
    if not known:
        return []
    first = next(iter(known.values()))
    roc, recall = (
        [
            Line(name, tuple(p[0] for p in curve), tuple(Point(p[1]) for p in curve))
            for name, curve in curves.items()
        ]
        for curves in (
            {name: one.roc for name, one in known.items()},
            {name: one.precision_recall for name, one in known.items()},
        )
    )
    said = {
        "ROC": "; ".join(f"{name}: area {one.auc}" for name, one in known.items()),
        "Precision and recall": "; ".join(
            f"{name}: average precision {one.average_precision}" for name, one in known.items()
        ),
    }
    chance = Line("chance", (0.0, 1.0), (Point(0.0), Point(1.0)))
    share = first.n_present / first.n_rows
    drawings = [
        curve_plot(
            [*roc, chance], Labels("ROC", "share of absent rows found", "share of present rows "
            "found (recall)", said["ROC"]), shares=True, size=(430, 400),
        ),
        curve_plot(
            recall, Labels("Precision and recall", "recall", "precision",
                           said["Precision and recall"]),
            guides=[Guide(share, f"share present {share:.2f}")], shares=True, size=(430, 400),
        ),
    ]  # fmt: skip
    figures = [
        Figure("", drawing, f"{title}. {text} ({confidence} intervals by note).")
        for drawing, (title, text) in zip(drawings, said.items(), strict=True)
    ]
    return [FigureRow(figures)]


def reliability_diagram(
    name: str, bins: Sequence[PlotBin], *, brier: float, ece: float, n_rows: int
) -> str:
    """Draw how often what was stated with a probability came true."""
    labels = Labels(
        f"Reliability of probabilities: {name}",
        x="predicted probability",
        y="share present",
        description=f"{counted(n_rows, 'row')}, Brier score {brier:.3f}, ECE {ece:.3f}.",
    )
    return reliability_plot(bins, labels)


def _worst(name: str, found: CalibrationResult, corpus: Corpus) -> Block:
    enough = {i: one for i, one in found.features.items() if one.n_rows >= MIN_ROWS}
    order = sorted(enough, key=lambda i: (-enough[i].beyond_chance, i))
    shown = [i for i in order[:WORST] if enough[i].beyond_chance > 0]
    if not shown:
        return Paragraph(
            f"{name}: no feature with {MIN_ROWS} rows or more has a larger ECE than by chance.",
            "aside",
        )
    names = case_names(corpus)
    caption = (
        f"{name}: the {counted(len(shown), 'feature')} with the largest excess over chance, of "
        f"{len(enough):,} with {MIN_ROWS} rows or more. Among many features, chance alone makes "
        "some gaps large. Look for features with many rows and a large gap."
    )
    header = ["Feature", "Case", "Rows", "Mean probability", "Share present", "Brier score", "ECE",
              "ECE by chance"]  # fmt: skip
    lines: list[list[Value]] = []
    for feature, one in ((corpus.feature(i), enough[i]) for i in shown):
        values = [one.values[v] for v in ("mean_probability", "share_present", "brier", "ece")]
        lines.append([feature.text, names[feature.case], one.n_rows, *values, one.ece_by_chance])
    return TableBlock(caption, header, lines, sortable=True)
