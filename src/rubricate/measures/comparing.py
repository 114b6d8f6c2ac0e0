"""Two systems on the same notes: differences with intervals and a permutation test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rubricate.arrays import F64
from rubricate.errors import InputError
from rubricate.measures.counts import CountTable, GroupCounts
from rubricate.measures.evaluate import Evaluation, nested
from rubricate.measures.families import MeasureKey
from rubricate.stats import Comparison, Estimate, Resampling, compare_paired, defined


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
) -> SystemsComparison:
    """Compare two systems, each with its name, measured against the same reference rows.

    >>> from rubricate import load_corpus
    >>> from rubricate.measures import evaluate
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
        found = compare_paired(
            *_aligned(table, second[1].tables[key], weights), table.measure.statistics["f1"],
            settings, strata=table.keys.case_of_notes(),
        )  # fmt: skip
        differences[key] = PairedDifference.of(found)
    return SystemsComparison(first[0], second[0], differences)


def weighted_by_note(counts: GroupCounts, weights: Mapping[str, float] | None) -> F64:
    """Return the counts of each note times its weight.

    >>> import numpy as np
    >>> from rubricate.measures.formulas import PRESENCE
    >>> counts = GroupCounts(PRESENCE, ("n",), np.array([[1, 0, 2, 0]]))
    >>> weighted_by_note(counts, {"n": 4.0}).tolist()
    [[4.0, 0.0, 8.0, 0.0]]
    """
    values = counts.values.astype(np.float64)
    if weights is None:
        return values
    factors = np.array([weights[note] for note in counts.ids], dtype=np.float64)
    return np.asarray(values * factors[:, None])


def _aligned(
    first: CountTable, second: CountTable, weights: Mapping[str, float] | None
) -> tuple[F64, F64]:
    """Return both tables' counts by note, in the order of the first."""
    one, two = first.by("note"), second.by("note")
    place = {note: i for i, note in enumerate(two.ids)}
    order = [place[note] for note in one.ids]
    return weighted_by_note(one, weights), weighted_by_note(two, weights)[order]
