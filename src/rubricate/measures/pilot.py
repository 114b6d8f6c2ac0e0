"""How many notes a study needs, from a pilot that is measured as the study will be."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rubricate.corpus import Corpus
from rubricate.errors import InputError, UnknownNameError
from rubricate.measures.evaluate import evaluate
from rubricate.measures.formulas import Measure
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

    The interval of each simulated study is the one `rubricate.measures.add_intervals` gives a study
    of one case: a bootstrap by note, joined with limits by items where few notes are wrong.

    Examples
    --------
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

    def measured(drawn: npt.NDArray[np.float64]) -> Estimate:
        return _f1(drawn, table.measure, settings)

    return plan_pilot(
        counts, measured, half_width=half_width, assurance=assurance, studies=studies, seed=seed
    )


def _f1(drawn: npt.NDArray[np.float64], measure: Measure, settings: Resampling) -> Estimate:
    """Return F1 of some notes; the last column holds the items of each."""
    counts = drawn[:, :-1]
    wrong, right = counts[:, 1:3].any(axis=1).sum(), (counts[:, 0] > 0).sum()
    support = Support(effective_items(drawn[:, -1]), wrong, right)
    found = bootstrap_interval(counts, measure.statistics["f1"], settings)
    return limit_by_items(found, support, through_jaccard=True).at()
