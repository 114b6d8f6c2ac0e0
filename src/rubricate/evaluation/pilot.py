"""The number of notes that a pilot asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64
from rubricate.corpus import Corpus
from rubricate.errors import InputError, UnknownNameError
from rubricate.evaluation.evaluation import evaluate
from rubricate.stats import (
    Estimate,
    PilotPlan,
    Resampling,
    Support,
    bootstrap_interval,
    effective_items,
    limit_by_items,
    plan_pilot,
)
from rubricate.stats.resampling import f1

#: Resamples of a simulated study; more would not move the size.
_RESAMPLES = 300


def plan_from_pilot(
    pilot: Corpus,
    *,
    reference_annotator: str | None = None,
    predicted_annotator: str | None = None,
    measure: str = "presence",
    half_width: float = 0.05,
    assurance: float = 0.9,
    confidence: float = 0.95,
    studies: int = 100,
    seed: int = 0,
) -> PilotPlan:
    """Return the notes that an F1 needs, by drawing studies from the notes of a pilot.

    The interval of each simulated study is the one `add_intervals` gives a study of one case: a
    bootstrap by note, joined with limits by items where few notes are wrong.

    >>> from rubricate import load_corpus
    >>> pilot = load_corpus("open-notes").select(cases=["0"])
    >>> found = plan_from_pilot(
    ...     pilot, reference_annotator="reference", predicted_annotator="second_rater",
    ...     measure="characters", half_width=0.02, studies=20,
    ... )
    >>> 5 < found.notes < 60
    True
    """
    known = ("characters", "presence")
    if measure not in known:
        raise UnknownNameError("measure", measure, known)
    if len(pilot.annotators) < 2:
        raise InputError(
            f"a pilot needs two annotators, the reference and the system; it has "
            f"{len(pilot.annotators)}"
        )
    evaluation = evaluate(
        pilot,
        pilot,
        reference_annotator=reference_annotator,
        predicted_annotator=predicted_annotator,
        missing="skip",
    )
    table = evaluation.tables[measure,]
    settings = Resampling(_RESAMPLES, confidence, seed=seed)
    notes, place = table.keys.groups("note")
    marked = table.values[:, :3].any(axis=1)
    items = np.bincount(place[marked], minlength=len(notes))
    counts = np.column_stack([table.by("note").values, items]).astype(np.float64)

    def measured(drawn: F64) -> Estimate:
        return f1_of_notes(drawn[:, :-1], drawn[:, -1], settings)

    return plan_pilot(
        counts, measured, half_width=half_width, assurance=assurance, studies=studies, seed=seed
    )


def f1_of_notes(counts: npt.NDArray[Any], items: npt.ArrayLike, settings: Resampling) -> Estimate:
    """Return F1 from the counts of some notes (tp, fp, fn, tn) and the items of each.

    A bootstrap by note, joined with limits by items where few notes are wrong.
    """
    wrong, right = counts[:, 1:3].any(axis=1).sum(), (counts[:, 0] > 0).sum()
    support = Support(effective_items(items), wrong, right)
    found = bootstrap_interval(counts, f1, settings)
    return limit_by_items(found, support, through_jaccard=True).at()
