"""Evaluation, agreement, plans and review policies from a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rubricate.agreement import Agreement
from rubricate.agreement import agree as measure_agreement
from rubricate.corpus import Corpus
from rubricate.evaluation import SystemsEvaluation, evaluate_systems
from rubricate.formats import read_corpus
from rubricate.notebook.inputs import Notes, as_corpus
from rubricate.progress import Progress, silent
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
        Of `rubricate.evaluation.evaluate_systems`: ``reference_annotator``, ``missing``, ...

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
    return notes if isinstance(notes, Corpus) else read_corpus(notes, like=reference)


def agree(notes: Notes, **options: Any) -> Agreement:
    """Measure how far the annotators of a corpus agree.

    Parameters
    ----------
    notes : Corpus or path
        Notes that several people annotated.
    **options
        Of `rubricate.agreement.agree`.

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
