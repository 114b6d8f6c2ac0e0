"""Two systems on the same notes: differences with intervals and a permutation test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rubricate.errors import InputError
from rubricate.measures.counts import CountTable, GroupCounts
from rubricate.measures.evaluate import Evaluation
from rubricate.measures.formulas import defined
from rubricate.stats import Comparison, Resampling, compare_paired


def compare_evaluations(
    first: Evaluation,
    second: Evaluation,
    settings: Resampling | None = None,
    *,
    weights: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Compare two systems measured against the same reference rows.

    Parameters
    ----------
    first, second : Evaluation
        Of the same notes and features.
    settings : Resampling, optional
        Resamples, confidence, method and seed; the permutation test uses the seed too.
    weights : mapping from note id to weight, optional
        Design weights of a stratified sample; every note's counts are multiplied by its weight.

    Returns
    -------
    dict
        For characters, presence and each kind of span: the two F1 values, their difference (first
        minus second) with its interval, and the p value of `rubricate.stats.permutation_p_value`.

    Raises
    ------
    InputError
        If the two were not measured on the same rows.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> from rubricate.measures import evaluate
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> one, two = (
    ...     evaluate(corpus, corpus, missing="skip", reference_annotator="second_rater",
    ...              predicted_annotator=name)
    ...     for name in ("second_rater", "reference")
    ... )
    >>> found = compare_evaluations(one, two, Resampling(resamples=200))["characters"]
    >>> found["first"], found["interval"][0] > 0
    (1.0, True)
    """
    keys = [
        {(e.characters.keys.notes[n], e.characters.keys.features[f])
         for n, f in zip(e.characters.keys.note, e.characters.keys.feature, strict=True)}
        for e in (first, second)
    ]  # fmt: skip
    if keys[0] != keys[1]:
        raise InputError(
            f"the systems {first.predicted_annotator} and {second.predicted_annotator} were not "
            f"measured on the same rows ({len(keys[0] ^ keys[1])} differ)"
        )
    result: dict[str, Any] = {}
    tables = dict(second.tables())
    for path, table in first.tables():
        found = compare_paired(
            *_aligned(table, tables[path], weights), table.measure.statistics["f1"], settings,
            strata=_strata(table),
        )  # fmt: skip
        target = result
        for name in path[:-1]:
            target = target.setdefault(name, {})
        target[path[-1]] = difference_to_dict(found)
    return result


def difference_to_dict(found: Comparison) -> dict[str, Any]:
    """Return a comparison of one value, ready for JSON."""
    value: dict[str, Any] = {
        "first": defined(float(found.first)),
        "second": defined(float(found.second)),
        "difference": defined(float(found.difference.estimate)),
        "interval": [defined(float(found.difference.low)), defined(float(found.difference.high))],
    }
    if found.p_value is not None:
        value["p_value"] = defined(float(found.p_value))
    return value


def weighted_counts(counts: GroupCounts, weights: Mapping[str, float] | None) -> Any:
    """Return the counts of each note times its weight.

    Examples
    --------
    >>> import numpy as np
    >>> from rubricate.measures.formulas import PRESENCE
    >>> counts = GroupCounts(PRESENCE, ("n",), np.array([[1, 0, 2, 0]]))
    >>> weighted_counts(counts, {"n": 4.0}).tolist()
    [[4.0, 0.0, 8.0, 0.0]]
    """
    if weights is None:
        return counts.values
    return counts.values * np.array([weights[note] for note in counts.ids])[:, None]


def _aligned(
    first: CountTable, second: CountTable, weights: Mapping[str, float] | None
) -> tuple[Any, Any]:
    """Return both tables' counts by note, in the order of the first."""
    one, two = first.by("note"), second.by("note")
    place = {note: i for i, note in enumerate(two.ids)}
    order = [place[note] for note in one.ids]
    return weighted_counts(one, weights), weighted_counts(two, weights)[order]


def _strata(table: CountTable) -> Any:
    """Return the case of each note of ``table.by("note")``."""
    notes, place = table.keys.groups("note")
    case = np.zeros(len(notes), dtype=np.int64)
    case[place] = table.keys.case
    return case
