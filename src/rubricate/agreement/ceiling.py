"""How far a system stays below human agreement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rubricate.agreement.agree import Agreement
from rubricate.measures import Evaluation
from rubricate.measures.comparing import difference_to_dict, weighted_counts
from rubricate.stats import Resampling, compare_with_ceiling


def below_ceiling(
    evaluation: Evaluation,
    ceiling: Agreement,
    settings: Resampling | None = None,
    *,
    weights: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Compare a system's F1 with the annotators' own, characters and presence.

    Parameters
    ----------
    evaluation : Evaluation
        The system against the reference.
    ceiling : Agreement
        Of the annotators of the same cases. Where both were measured on the same notes, notes are
        drawn together; otherwise each is drawn from its own.
    weights : mapping from note id to weight, optional
        Design weights of the system's notes; used for the annotators too where all their notes
        have one.

    Returns
    -------
    dict
        ``characters`` and ``presence``: the two F1 values and the difference, system minus
        ceiling, with its interval. No test: that the two are equal is not the question.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> from rubricate.agreement import agree
    >>> from rubricate.measures import evaluate
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> few = Resampling(resamples=200)
    >>> perfect = evaluate(
    ...     corpus, corpus, reference_annotator="reference", predicted_annotator="reference"
    ... )
    >>> below_ceiling(perfect, agree(corpus, settings=few), few)["characters"]["difference"] > 0
    True
    """
    result: dict[str, Any] = {}
    pooled = ceiling.pooled.evaluation
    for name, ours, theirs in (
        ("characters", evaluation.characters, pooled.characters),
        ("presence", evaluation.presence, pooled.presence),
    ):
        one, two = ours.by("note"), theirs.by("note")
        same = sorted(one.ids) == sorted(two.ids)
        known = weights if weights is not None and set(two.ids) <= set(weights) else None
        counts = weighted_counts(two, known)
        if same:
            place = {note: i for i, note in enumerate(two.ids)}
            counts = counts[[place[note] for note in one.ids]]
        found = compare_with_ceiling(
            weighted_counts(one, weights),
            counts,
            ours.measure.statistics["f1"],
            settings,
            same_notes=same,
        )
        value = difference_to_dict(found)
        result[name] = {"system": value.pop("first"), "ceiling": value.pop("second"), **value,
                        "same_notes": same}  # fmt: skip
    return result
