"""Everything the evaluate command does: systems, intervals, comparisons, the human ceiling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rubricate.agreement import Agreement, agree
from rubricate.agreement.ceiling import below_ceiling
from rubricate.corpus import Corpus
from rubricate.errors import UnknownNameError
from rubricate.measures import Matching, evaluate
from rubricate.measures.comparing import compare_evaluations
from rubricate.measures.intervals import Interpreted, add_intervals
from rubricate.measures.weighting import note_weights, refuse_unweighted
from rubricate.stats import Resampling

#: The annotator taken as reference when a corpus has several and nobody is named.
DEFAULT_REFERENCE = "reference"


@dataclass(frozen=True, eq=False)
class SystemsEvaluation:
    """One or more systems measured against one reference.

    Parameters
    ----------
    systems : mapping from name to Interpreted
    ceiling : Agreement, optional
    comparisons : tuple of dict
        The first system with each other one.
    below : mapping from name to dict
        How far each system stays below the ceiling.
    """

    systems: Mapping[str, Interpreted]
    ceiling: Agreement | None
    comparisons: tuple[dict[str, Any], ...]
    below: Mapping[str, dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return all values; a single system's stand at the top level."""
        systems = {}
        for name, found in self.systems.items():
            systems[name] = found.to_dict()
            _add_calibration(systems[name], found)
            if name in self.below:
                systems[name]["below_ceiling"] = self.below[name]
        if len(systems) == 1:
            return next(iter(systems.values()))
        return {"systems": systems, "comparisons": list(self.comparisons)}


def evaluate_systems(
    reference: Corpus,
    predicted: Mapping[str, Corpus],
    *,
    reference_annotator: str | None = None,
    predicted_annotator: str | None = None,
    missing: Literal["empty", "error", "skip"] = "empty",
    matching: tuple[Any, Any] = ("one-to-one", "token"),
    weights: str | None = None,
    ceiling: Corpus | None = None,
    settings: Resampling | None = None,
) -> SystemsEvaluation:
    """Measure systems against a reference, with intervals, differences and the human line.

    Parameters
    ----------
    reference : Corpus
        Where it has several annotators and none is named, ``reference`` is taken.
    predicted : mapping from name to Corpus
        The systems.
    matching : (protocol, unit)
        How spans are matched; see `rubricate.measures.Matching`.
    weights : str, optional
        Metadata field of inclusion probabilities. A sample with unequal ones is refused without.
    ceiling : Corpus, optional
        Annotators to take the human line from.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> rater = corpus.select(annotators=["second_rater"])
    >>> found = evaluate_systems(corpus, {"rater": rater}, missing="skip")
    >>> round(found.to_dict()["characters"]["f1"], 3)
    0.972
    """
    settings = settings or Resampling()
    if reference_annotator is None and DEFAULT_REFERENCE in reference.annotator_index:
        reference_annotator = DEFAULT_REFERENCE
    if weights is None:
        refuse_unweighted(reference)
    by_note = note_weights(reference, weights) if weights else None
    how = Matching(*matching)
    _need_annotator(predicted_annotator, predicted)
    systems = {}
    for name, corpus in predicted.items():
        evaluation = evaluate(
            reference,
            corpus,
            reference_annotator=reference_annotator,
            predicted_annotator=predicted_annotator if len(corpus.annotators) > 1 else None,
            missing=missing,
            matching=how,
        )
        systems[name] = add_intervals(evaluation, settings, weights=by_note)
    names = list(systems)
    comparisons = tuple(
        {
            "first": names[0],
            "second": other,
            **compare_evaluations(
                systems[names[0]].evaluation,
                systems[other].evaluation,
                settings,
                weights=by_note,
            ),
        }
        for other in names[1:]
    )
    human = None if ceiling is None else agree(ceiling, matching=how, settings=settings)
    below = (
        {}
        if human is None
        else {
            name: below_ceiling(system.evaluation, human, settings, weights=by_note)
            for name, system in systems.items()
        }
    )
    return SystemsEvaluation(systems, human, comparisons, below)


def _add_calibration(result: dict[str, Any], found: Interpreted) -> None:
    """Put what predicted probabilities are worth beside the other values, where there are any."""
    calibration = found.calibration
    if calibration is None:
        return
    result["calibration"] = calibration.to_dict()
    for level, groups in (("cases", calibration.cases), ("features", calibration.features)):
        for name, group in groups.items():
            result[level][name]["calibration"] = group.to_dict()


def _need_annotator(name: str | None, predicted: Mapping[str, Corpus]) -> None:
    """Refuse an annotator that no system has; a system with one annotator needs no name."""
    known = list(dict.fromkeys(a.id for corpus in predicted.values() for a in corpus.annotators))
    if name is not None and name not in known:
        raise UnknownNameError("annotator in the predicted corpus", name, known)
