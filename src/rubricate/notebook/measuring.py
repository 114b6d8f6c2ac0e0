"""Evaluation, agreement, plans, review policies and plots from a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rubricate.corpus import Corpus
from rubricate.errors import InputError
from rubricate.evaluation.agreement import Agreement
from rubricate.evaluation.agreement import agree as measure_agreement
from rubricate.evaluation.evaluation import Evaluation
from rubricate.evaluation.systems import SystemsEvaluation, evaluate_systems
from rubricate.files import whole_output
from rubricate.formats import read_corpus
from rubricate.notebook.inputs import Notes, as_corpus, need_there
from rubricate.notebook.scoring import ScoredNotes
from rubricate.outputs import DRAWING
from rubricate.progress import Progress, silent
from rubricate.reports.plots import (
    UNDEFINED,
    ForestGroup,
    ForestRow,
    Labels,
    Line,
    Point,
    curve_plot,
    forest_plot,
    histogram,
)
from rubricate.reports.scoring.page import score_span
from rubricate.scoring import Policy, RouteSettings, choose_policy
from rubricate.stats import Expected, FrequencyKind, Plan, Target
from rubricate.study.planning import Design, make_plan


def evaluate(
    reference: Notes, predicted: Notes | Mapping[str, Notes], **options: Any
) -> SystemsEvaluation:
    """Measure predictions against a reference, with intervals.

    Parameters
    ----------
    reference : Corpus or path
        Annotations that are trusted.
    predicted : Corpus or path, or several by name
        What `match` found.
    **options
        Of `rubricate.evaluation.systems.evaluate_systems`: ``missing``, ``unknown``, ...

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["30"])
    >>> found = evaluate(corpus, corpus.select(annotators=["reference"]),
    ...                  reference_annotator="reference")
    >>> found.to_dict()["characters"]["f1"]
    1.0
    """
    trusted = as_corpus(reference)
    given = predicted if isinstance(predicted, Mapping) else {"predicted": predicted}
    systems = {name: _predicted(one, trusted) for name, one in given.items()}
    return evaluate_systems(trusted, systems, **options)


def _predicted(notes: Notes, reference: Corpus) -> Corpus:
    """Return predictions; a submission has no notes but the reference's."""
    if isinstance(notes, str | Path):
        need_there(str(notes))
        return read_corpus(notes, like=reference)
    return as_corpus(notes)


def agree(notes: Notes, **options: Any) -> Agreement:
    """Measure how far the annotators of a corpus agree.

    Parameters
    ----------
    notes : Corpus or path
        Notes that several people annotated.
    **options
        Of `rubricate.evaluation.agreement.agree`.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> found = agree(load_corpus("open-notes").select(cases=["0"]))
    >>> [line["case"] for line in found.case_table()]
    ['0']
    """
    return measure_agreement(as_corpus(notes), **options)


def plan(
    *,
    precision: float,
    recall: float,
    frequency: float,
    frequency_kind: FrequencyKind = "internal",
    target: Target | None = None,
    design: Design | None = None,
) -> Plan:
    """Say how many notes a study needs.

    Parameters
    ----------
    precision, recall : float
        Expected, between 0 and 1.
    frequency : float
        Share of notes with the variable.
    frequency_kind : {"internal", "external"}
        Share of notes the system finds it in, or of those that truly hold it.
    target : Target, optional
        How narrow the intervals must be (`rubricate.stats.Target`).
    design : Design, optional
        Method, sites, pool (`rubricate.study.planning.Design`).

    Examples
    --------
    >>> plan(precision=0.85, recall=0.8, frequency=0.48).total > 300
    True
    """
    expected = Expected(precision, recall, frequency, frequency_kind)
    return make_plan(expected, target or Target(), design)


def route(
    reference: Notes,
    predicted: Notes,
    *,
    settings: RouteSettings | None = None,
    reference_annotator: str | None = None,
    predicted_annotator: str | None = None,
    progress: Progress = silent,
) -> Policy:
    """Choose which items a person must see, so that the rest has few errors.

    Parameters
    ----------
    reference, predicted : Corpus or path
        Notes that people judged, and what `match` found in them without having learned from them.
    settings : RouteSettings, optional
        Largest error and confidence of the promise (`rubricate.scoring.RouteSettings`).

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> found = corpus.select(annotators=["second_rater"])
    >>> route(corpus, found, reference_annotator="reference").max_error
    0.02
    """
    trusted = as_corpus(reference)
    return choose_policy(
        trusted,
        _predicted(predicted, trusted),
        reference_annotator=reference_annotator,
        predicted_annotator=predicted_annotator,
        settings=settings or RouteSettings(),
        progress=progress,
    )


class Drawing(str):
    """A plot as the text of an SVG file; a notebook shows it."""

    def _repr_html_(self) -> str:
        return str(self)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the plot to an .svg file and return its path."""
        with whole_output(Path(path), overwrite=overwrite, kind=DRAWING) as place:
            place.write_text(self, encoding="utf-8")
        return Path(path)


def plot(
    value: ScoredNotes[Any] | SystemsEvaluation | Agreement | Policy,
    *,
    rubric: Corpus | None = None,
) -> Drawing:
    """Draw what matters most of a result.

    Scores as a histogram, evaluations and agreement by feature with their intervals, a policy's
    error against the share that people see. Features of an evaluation are called by their ids, or
    as the ``rubric`` of a corpus words them.

    Examples
    --------
    >>> from rubricate.notebook.scoring import score
    >>> drawn = plot(score(["Pt denies fever."], ["No fever"], matcher="lexicon"))
    >>> drawn.startswith("<svg")
    True
    """
    if isinstance(value, ScoredNotes):
        scores = [result.total.percentage for result in value.results if result.total]
        labels = Labels("Scores", x="score, % of the maximum", y="notes")
        return Drawing(histogram(scores, labels, n_bins=20, span=score_span(scores)))
    if isinstance(value, SystemsEvaluation):
        labels = Labels("F1 of presence by feature", x="F1 of presence, with intervals")
        return _by_feature(dict(value.systems), rubric, labels)
    if isinstance(value, Agreement):
        what = "agreement on presence (F1), with intervals"
        labels = Labels("Agreement on presence by feature", x=what)
        return _by_feature({"annotators": value.pooled}, rubric or value.corpus, labels)
    if isinstance(value, Policy):
        known = [p for p in value.curve if p.error_rate is not None]
        shares = tuple(p.review_share for p in known)
        lines = [
            Line("error of the rest", shares, tuple(Point(p.error_rate or 0.0) for p in known)),
            Line("upper limit", shares, tuple(Point(p.upper) for p in known)),
        ]
        labels = Labels("Error against review", x="share that people see", y="error of the rest")
        return Drawing(curve_plot(lines, labels))
    raise InputError("plot draws results of score, evaluate, agree and route")


def _by_feature(systems: dict[str, Evaluation], rubric: Corpus | None, labels: Labels) -> Drawing:
    values = {n: one.by_group("presence", level="features") for n, one in systems.items()}
    measured = dict.fromkeys(feature for own in values.values() for feature in own)
    words = {f.id: f.text for f in rubric.features if f.id in measured} if rubric else {}
    rows = tuple(
        ForestRow(text, tuple(own.get(feature, UNDEFINED) for own in values.values()))
        for feature, text in (words | {f: f for f in measured if f not in words}).items()
    )
    return Drawing(forest_plot([ForestGroup("", rows)], list(values), labels))
