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
from rubricate.stats import (
    Comparison,
    Discordance,
    Estimate,
    Resampling,
    compare_paired,
    defined,
)


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
