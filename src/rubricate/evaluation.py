"""Everything the evaluate command does: systems, intervals, comparisons, the human ceiling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from rubricate.agreement import Agreement, agree
from rubricate.agreement.agree import BelowCeiling, below_ceiling
from rubricate.corpus import Corpus
from rubricate.errors import (
    ArgumentError,
    Fault,
    InputError,
    UnknownNameError,
    did_you_mean,
    option,
)
from rubricate.measures import Matching, evaluate
from rubricate.measures.calibration import CalibrationResult
from rubricate.measures.clusters import clusters_of
from rubricate.measures.comparing import SystemsComparison, compare_evaluations
from rubricate.measures.intervals import EvaluationWithIntervals, add_intervals
from rubricate.measures.pairing import Missing, Unknown
from rubricate.merge import share_labels
from rubricate.progress import Progress, silent, watched
from rubricate.rubric import HUMAN, SYSTEM
from rubricate.stats import Estimate, MarginTest, Resampling, adjust_margin_tests, margin_test

#: The annotator taken as reference when a corpus has several and nobody is named.
DEFAULT_REFERENCE = "reference"
#: Where a sample keeps each note's probability of having been drawn.
INCLUSION = "inclusion_probability"


@dataclass(frozen=True, eq=False)
class SystemsEvaluation:
    """One or more systems measured against one reference."""

    systems: Mapping[str, EvaluationWithIntervals]
    ceiling: Agreement | None
    comparisons: tuple[SystemsComparison, ...]
    below: Mapping[str, Mapping[str, BelowCeiling]]
    margins: Mapping[tuple[str, str], MarginTest] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """Return all values; a single system's stand at the top level."""
        systems = {}
        for name, found in self.systems.items():
            systems[name] = found.to_dict()
            _add_calibration(systems[name], found.calibration)
            if found.ranking is not None:
                systems[name]["ranking"] = found.ranking.to_dict()
            if name in self.below:
                below = {what: one.to_dict() for what, one in self.below[name].items()}
                systems[name]["below_ceiling"] = below
        for (name, what), test in self.margins.items():
            place = systems.get(name)
            if place is not None:
                cast(dict[str, object], place.setdefault("margins", {}))[what] = test.to_dict()
        if len(systems) == 1:
            return next(iter(systems.values()))
        return {"systems": systems, "comparisons": [one.to_dict() for one in self.comparisons]}

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {found!r}" for name, found in self.systems.items())

    def _repr_html_(self) -> str:
        return "".join(found._table(name) for name, found in self.systems.items())


def evaluate_systems(
    reference: Corpus,
    predicted: Mapping[str, Corpus],
    *,
    reference_annotator: str | None = None,
    predicted_annotator: str | None = None,
    missing: Missing = "empty",
    unknown: Unknown = "error",
    matching: Matching | None = None,
    weights: str | None = None,
    ceiling: Corpus | None = None,
    settings: Resampling | None = None,
    margin: float | None = None,
    cluster: str | None = None,
    progress: Progress = silent,
) -> SystemsEvaluation:
    """Measure systems against a reference, with intervals, differences and the human line.

    ``cluster`` names a field of the notes' metadata, such as the patient: intervals and tests then
    draw whole clusters, since notes of one patient go together.

    With a ``margin``, each difference is tested: the system is not worse than the annotators, or
    than the first system, by more than the margin, and within it of them
    (`rubricate.stats.margin_test`). P values are adjusted for the number of differences (Holm).

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> rater = corpus.select(annotators=["second_rater"])
    >>> found = evaluate_systems(corpus, {"rater": rater}, missing="skip")
    >>> round(found.systems["rater"].overall("characters").value, 3)
    0.972
    """
    settings = settings or Resampling()
    reference, *sharing = share_labels([reference, *predicted.values()])
    predicted = dict(zip(predicted, sharing, strict=True))
    if reference_annotator is None:
        known = DEFAULT_REFERENCE in reference.annotator_index
        reference_annotator = DEFAULT_REFERENCE if known else _first_of(reference, HUMAN)
    if weights is None:
        refuse_unweighted(reference)
    by_note = note_weights(reference, weights) if weights else None
    clusters = clusters_of(reference, cluster) if cluster else None
    how = matching or Matching(unit="token")
    _need_annotator(predicted_annotator, predicted)
    systems = {}
    for name, corpus in predicted.items():
        evaluation = evaluate(
            reference,
            corpus,
            reference_annotator=reference_annotator,
            predicted_annotator=(predicted_annotator or _first_of(corpus, SYSTEM))
            if len(corpus.annotators) > 1
            else None,
            missing=missing,
            unknown=unknown,
            matching=how,
        )
        systems[name] = add_intervals(
            evaluation,
            settings,
            weights=by_note,
            clusters=clusters,
            progress=progress,
            label=f"intervals of {name}",
        )
    first, *others = systems
    comparisons = tuple(
        compare_evaluations(
            (first, systems[first].evaluation),
            (other, systems[other].evaluation),
            settings,
            weights=by_note,
            clusters=clusters,
        )
        for other in watched(others, progress, "comparing systems", len(others))
    )
    human = (
        None
        if ceiling is None
        else agree(ceiling, matching=how, settings=settings, cluster=cluster, progress=progress)
    )
    below = (
        {}
        if human is None
        else {name: below_ceiling(system, human) for name, system in systems.items()}
    )
    found = SystemsEvaluation(systems, human, comparisons, below)
    return found if margin is None else replace(found, margins=_margins(found, margin))


def _first_of(corpus: Corpus, group: str) -> str | None:
    """Return the first person, or machine, of a corpus that has both."""
    groups = [one.group for one in corpus.annotators]
    if HUMAN not in groups or SYSTEM not in groups:
        return None
    return corpus.annotators[groups.index(group)].id


def _margins(found: SystemsEvaluation, margin: float) -> dict[tuple[str, str], MarginTest]:
    """Test every difference from the annotators, and every other system against the first."""
    gaps: dict[tuple[str, str], Estimate] = {}
    for name, below in found.below.items():
        for what, one in below.items():
            gaps[name, f"{what}, annotators"] = one.difference
    for compared in found.comparisons:
        for what in ("characters", "presence"):
            gap = compared.differences[what,].difference
            # the comparison is first minus other; the question is about the other
            turned = replace(gap, value=-gap.value, low=-gap.high, high=-gap.low)
            gaps[compared.second, f"{what}, {compared.first}"] = turned
    tests = adjust_margin_tests([margin_test(gap, margin) for gap in gaps.values()])
    return dict(zip(gaps, tests, strict=True))


def _add_calibration(result: dict[str, object], found: CalibrationResult | None) -> None:
    """Put what predicted probabilities are worth beside the other values, where there are any."""
    if found is None:
        return
    result["calibration"] = found.to_dict()
    for level, groups in (("cases", found.cases), ("features", found.features)):
        blocks = cast(dict[str, dict[str, object]], result[level])
        for name, group in groups.items():
            blocks[name]["calibration"] = group.to_dict()


def _need_annotator(name: str | None, predicted: Mapping[str, Corpus]) -> None:
    """Refuse an annotator that no system has; a system with one annotator needs no name."""
    known = list(dict.fromkeys(a.id for corpus in predicted.values() for a in corpus.annotators))
    if name is not None and name not in known:
        raise UnknownNameError("annotator in the predicted corpus", name, known)


def note_weights(corpus: Corpus, column: str = INCLUSION) -> dict[str, float]:
    """Return each note's design weight, 1 / its inclusion probability (Horvitz & Thompson 1952).

    >>> from rubricate import CorpusBuilder, Metadata, Note
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "", Metadata(inclusion_probability=0.25)))
    >>> note_weights(builder.build())
    {'n': 4.0}
    """
    if corpus.notes and not any(column in note.metadata for note in corpus.notes):
        known = sorted({name for note in corpus.notes for name in note.metadata})
        hint, listed = did_you_mean(column, known), ", ".join(known) if known else "none"
        raise ArgumentError(f"no note has {column!r} in its metadata{hint} There are: {listed}")
    weights, faults = {}, []
    for note in corpus.notes:
        value = note.metadata.get(column)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and 0 < float(value) <= 1:  # type: ignore[arg-type]
            weights[note.id] = 1.0 / float(value)  # type: ignore[arg-type]
        else:
            faults.append(Fault(f"note {note.id}: {column!r} must be a number above 0, up to 1"))
    InputError.raise_any(faults)
    return weights


def refuse_unweighted(corpus: Corpus) -> None:
    """Raise if the notes were drawn with unequal probabilities and no weights are in use.

    A sample that oversampled positives makes plain recall far too high: with 250 + 250 notes at a
    frequency of .10 it says .97 for a true .80.
    """
    found = {note.metadata.get(INCLUSION) for note in corpus.notes} - {None}
    if len(found) > 1:
        raise InputError(
            f"the notes were sampled with {len(found)} different inclusion probabilities, so plain "
            f"recall would be wrong. Use the weights: {option('--weights', INCLUSION)}"
        )
