"""Everything the evaluate command does: systems, intervals, comparisons, the human ceiling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from rubricate.arrays import F64
from rubricate.corpus import Corpus
from rubricate.errors import (
    InputError,
    UnknownNameError,
)
from rubricate.evaluation.agreement import Agreement, agree
from rubricate.evaluation.counts import CountTable, GroupCounts
from rubricate.evaluation.design import (
    SampleDesign,
    clusters_of,
    refuse_unweighted,
)
from rubricate.evaluation.evaluation import Evaluation, add_intervals, evaluate, nested
from rubricate.evaluation.matching import Matching, MeasureKey
from rubricate.evaluation.pairing import Missing, Unknown
from rubricate.evaluation.probabilities import CalibrationResult
from rubricate.merge import share_labels
from rubricate.progress import Progress, silent, watched
from rubricate.rubric import HUMAN, SYSTEM
from rubricate.stats import (
    Comparison,
    Discordance,
    Estimate,
    MarginTest,
    Resampling,
    Side,
    adjust_margin_tests,
    compare_paired,
    compare_with_ceiling,
    defined,
    margin_test,
)

#: The annotator taken as reference when a corpus has several and nobody is named.
DEFAULT_REFERENCE = "reference"


@dataclass(frozen=True, eq=False)
class SystemsEvaluation:
    """One or more systems measured against one reference."""

    systems: Mapping[str, Evaluation]
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
        return "".join(found.html_table(name) for name, found in self.systems.items())


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
        usual = DEFAULT_REFERENCE in reference.annotator_index
        reference_annotator = DEFAULT_REFERENCE if usual else _first_of(reference, HUMAN)
    if weights is None:
        refuse_unweighted(reference)
    clusters = clusters_of(reference, cluster) if cluster else None
    design = SampleDesign(clusters=clusters)
    if weights is not None:
        design = replace(SampleDesign.of_column(reference, weights), clusters=clusters)
    how = matching or Matching(unit="token")
    # A system with one annotator needs no name; a name must be one of some system's.
    known = list(dict.fromkeys(a.id for corpus in predicted.values() for a in corpus.annotators))
    if predicted_annotator is not None and predicted_annotator not in known:
        raise UnknownNameError("annotator in the predicted corpus", predicted_annotator, known)
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
            design=design,
            progress=progress,
            label=f"intervals of {name}",
        )
    first, *others = systems
    comparisons = tuple(
        compare_evaluations(
            (first, systems[first]),
            (other, systems[other]),
            settings,
            weights=design.weights,
            clusters=design.clusters,
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


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Two values, first minus second with its interval, and the p value of the difference."""

    first: float
    second: float
    difference: Estimate
    p_value: float

    @classmethod
    def of(cls, found: Comparison) -> PairedDifference:
        """Take a comparison of one value."""
        difference, p_value = found.difference.at(), float(found.p_value)
        return cls(float(found.first), float(found.second), difference, p_value)

    def to_dict(self) -> dict[str, object]:
        """Return the values ready for JSON."""
        return {
            "first": defined(self.first),
            "second": defined(self.second),
            "difference": defined(self.difference.value),
            "interval": self.difference.to_dict(),
            "p_value": defined(self.p_value),
        }


@dataclass(frozen=True, slots=True)
class SystemsComparison:
    """The F1 of two systems on the same rows, by measure."""

    first: str
    second: str
    differences: Mapping[MeasureKey, PairedDifference]

    def to_dict(self) -> dict[str, object]:
        """Return everything, ready for JSON."""
        found = {key: one.to_dict() for key, one in self.differences.items()}
        return {"first": self.first, "second": self.second, **nested(found)}


def compare_evaluations(
    first: tuple[str, Evaluation],
    second: tuple[str, Evaluation],
    settings: Resampling | None = None,
    *,
    weights: Mapping[str, float] | None = None,
    clusters: Mapping[str, str] | None = None,
) -> SystemsComparison:
    """Compare two systems, each with its name, measured against the same reference rows.

    With ``clusters``, the cluster of each note, clusters are drawn and swapped in place of notes.

    >>> from rubricate import load_corpus
    >>> from rubricate.evaluation import evaluate
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> one, two = (
    ...     (name, evaluate(corpus, corpus, missing="skip", reference_annotator="second_rater",
    ...                     predicted_annotator=name))
    ...     for name in ("second_rater", "reference")
    ... )
    >>> found = compare_evaluations(one, two, Resampling(resamples=200))
    >>> found.differences["characters",].first, found.differences["characters",].difference.low > 0
    (1.0, True)
    """
    keys = [
        {(e.characters.keys.notes[n], e.characters.keys.features[f])
         for n, f in zip(e.characters.keys.note, e.characters.keys.feature, strict=True)}
        for _, e in (first, second)
    ]  # fmt: skip
    if keys[0] != keys[1]:
        names = [e.predicted_annotator for _, e in (first, second)]
        raise InputError(
            f"the systems {names[0]} and {names[1]} were not "
            f"measured on the same rows ({len(keys[0] ^ keys[1])} differ)"
        )
    differences = {}
    for key, table in first[1].tables.items():
        one, other = table, _in_rows_of(table, second[1].tables[key])
        if clusters is not None:
            one, other = one.by_cluster(clusters), other.by_cluster(clusters)
        found = compare_paired(
            weighted_by_note(one.by("note"), weights),
            weighted_by_note(other.by("note"), weights),
            table.measure.statistics["f1"], settings,
            strata=one.keys.strata_of_notes(), discordance=_discordance(one, other, weights),
        )  # fmt: skip
        differences[key] = PairedDifference.of(found)
    return SystemsComparison(first[0], second[0], differences)


def weighted_by_note(counts: GroupCounts, weights: Mapping[str, float] | None) -> F64:
    """Return the counts of each note times its weight.

    >>> import numpy as np
    >>> from rubricate.evaluation.counts import PRESENCE
    >>> counts = GroupCounts(PRESENCE, ("n",), np.array([[1, 0, 2, 0]]))
    >>> weighted_by_note(counts, {"n": 4.0}).tolist()
    [[4.0, 0.0, 8.0, 0.0]]
    """
    values = counts.values.astype(np.float64)
    if weights is None:
        return values
    factors = np.array([weights[note] for note in counts.ids], dtype=np.float64)
    return np.asarray(values * factors[:, None])


def _discordance(
    first: CountTable, second: CountTable, weights: Mapping[str, float] | None
) -> Discordance:
    """Count the rows on which two systems differ.

    A row is right by the share J = F1 / (2 - F1), and F1 changes with the share of right rows by
    F1 - F1' = 2 (J - J') / ((1 + J) (1 + J')).
    """
    sides, shares = [], []
    for table in (first, second):
        f1 = table.measure.statistics["f1"]
        own, whole = f1(table.values), float(f1(table.values.sum(axis=0)))
        sides.append(own / (2 - own))
        shares.append(whole / (2 - whole))
    return Discordance.of_items(
        sides[0],
        sides[1],
        first.keys.note,
        weights=None if weights is None else first.keys.weights(weights),
        scale=2 / ((1 + shares[0]) * (1 + shares[1])),
    )


def _in_rows_of(first: CountTable, second: CountTable) -> CountTable:
    """Return the second table with its rows in the order of the first's notes and features."""
    one, two = first.keys, second.keys
    note, feature = (
        np.array([place.get(name, -1) for name in others], dtype=np.int64)
        for place, others in (
            ({name: i for i, name in enumerate(one.notes)}, two.notes),
            ({name: i for i, name in enumerate(one.features)}, two.features),
        )
    )
    width = len(one.features)
    orders = (
        np.argsort(one.note * width + one.feature, kind="stable"),
        np.argsort(note[two.note] * width + feature[two.feature], kind="stable"),
    )
    values = np.empty_like(second.values)
    values[orders[0]] = second.values[orders[1]]
    return CountTable(second.measure, one, values)


@dataclass(frozen=True, slots=True)
class BelowCeiling:
    """A system's F1 beside the annotators' own, and the notes that each rests on."""

    system: Estimate
    ceiling: Estimate
    difference: Estimate
    system_notes: int
    ceiling_notes: int
    same_notes: bool

    def to_dict(self) -> dict[str, object]:
        """Return everything, ready for JSON."""
        return {
            "system": defined(self.system.value),
            "ceiling": defined(self.ceiling.value),
            "difference": defined(self.difference.value),
            "interval": self.difference.to_dict(),
            "ceiling_interval": self.ceiling.to_dict(),
            "system_notes": self.system_notes,
            "ceiling_notes": self.ceiling_notes,
            "same_notes": self.same_notes,
        }


def below_ceiling(system: Evaluation, ceiling: Agreement) -> dict[str, BelowCeiling]:
    """Compare a system's F1 with the annotators' own, characters and presence.

    Both are uncertain; see `rubricate.stats.compare_with_ceiling`.

    >>> from rubricate import load_corpus
    >>> from rubricate.evaluation import evaluate
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> few = Resampling(resamples=200)
    >>> perfect = evaluate(
    ...     corpus, corpus, reference_annotator="reference", predicted_annotator="reference"
    ... )
    >>> found = below_ceiling(add_intervals(perfect, few), agree(corpus, settings=few))
    >>> found["characters"].difference.value > 0, found["characters"].ceiling_notes
    (True, 20)
    """
    result = {}
    human = ceiling.pooled
    weights = system.design.weights
    if weights is not None and set(human.characters.by("note").ids) <= set(weights):
        own = {note: weights.get(note, 1.0) for note in human.characters.keys.notes}
        human = add_intervals(human, system.settings, design=replace(system.design, weights=own))
    for name in ("characters", "presence"):
        ours, theirs = system.drawn.tables[name,], human.drawn.tables[name,]
        one, two = ours.by("note"), theirs.by("note")
        sides = (
            Side(system.overall(name), weighted_by_note(one, system.design.weights), one.ids),
            Side(human.overall(name), weighted_by_note(two, human.design.weights), two.ids),
        )
        difference = compare_with_ceiling(*sides, ours.measure.statistics["f1"], system.settings)
        both = [side.tables[name,].by("note").ids for side in (system, human)]
        result[name] = BelowCeiling(
            sides[0].estimate,
            sides[1].estimate,
            difference,
            len(both[0]),
            len(both[1]),
            set(both[0]) == set(both[1]),
        )
    return result
