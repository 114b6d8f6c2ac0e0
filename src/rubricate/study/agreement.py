"""How far two annotators agree on each variable of a study, and where it is too little."""

from __future__ import annotations

from collections.abc import Sequence

from rubricate.agreement import pair_annotators
from rubricate.corpus import Corpus
from rubricate.errors import InputError
from rubricate.measures import CountTable, Evaluation, evaluate_pairing
from rubricate.measures.families import four_cells
from rubricate.measures.formulas import kappa
from rubricate.progress import Progress, silent, watched
from rubricate.rows import I64
from rubricate.stats import (
    Estimate,
    Resampling,
    Support,
    bootstrap_interval,
    f1_interval,
    limit_by_items,
    precision_recall_f1,
)
from rubricate.study.population import Variable
from rubricate.study.summaries import AgreementSummary, VariableAgreement


def variable_counts(table: CountTable, variable: Variable) -> tuple[tuple[str, ...], I64]:
    """Return a variable's counts by note: characters or spans summed over its features.

    >>> from rubricate import load_corpus
    >>> from rubricate.measures import evaluate
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> found = evaluate(corpus, corpus, missing="skip",
    ...     reference_annotator="reference", predicted_annotator="second_rater")
    >>> ids, counts = variable_counts(found.characters, Variable("smoking", "primary", ("12",)))
    >>> counts.shape
    (20, 4)
    """
    groups = table.where(features=variable.features).by("note")
    return groups.ids, groups.values


def variable_presence(table: CountTable, variable: Variable) -> tuple[tuple[str, ...], I64]:
    """Return, for each note, which of TP, FP, FN and TN the variable is (one of them is 1).

    A variable of several features is present where any of them is.
    """
    ids, sums = variable_counts(table, variable)
    reference = (sums[:, 0] + sums[:, 2]) > 0
    predicted = (sums[:, 0] + sums[:, 1]) > 0
    return ids, four_cells(reference, predicted)


def presence_estimate(cells: I64, settings: Resampling) -> Estimate:
    """Return F1 of presence by note, with an interval through the Jaccard index."""
    tp, fp, fn = cells.sum(axis=0)[:3].tolist()
    return f1_interval(tp, fp, fn, confidence=settings.confidence)


def characters_estimate(counts: I64, settings: Resampling) -> Estimate:
    """Return F1 of characters by note; each note in which somebody marked is one item.

    >>> import numpy as np
    >>> characters_estimate(np.array([[9, 0, 0, 5]] * 5), Resampling()).low.__round__(3)
    0.647
    """
    marked = counts[:, :3].any(axis=1)
    wrong, right = (counts[:, 1:3].any(axis=1)).sum(), (counts[:, 0] > 0).sum()
    drawn = bootstrap_interval(counts[:, :3], lambda s: precision_recall_f1(s)[..., 2], settings)
    return limit_by_items(drawn, Support(marked.sum(), wrong, right), through_jaccard=True).at()


def pair_evaluation(corpus: Corpus) -> Evaluation | None:
    """Compare every two annotators of a note; None where no note has two."""
    if len(corpus.annotators) < 2:
        return None
    try:
        return evaluate_pairing(pair_annotators(corpus, ordered=False).pairing)
    except InputError:
        return None


def measure_agreement(
    corpus: Corpus,
    variables: Sequence[Variable],
    settings: Resampling | None = None,
    *,
    threshold: float = 0.8,
    progress: Progress = silent,
) -> AgreementSummary:
    """Measure agreement on each variable, as the paper's Table 2.

    Presence F1 with an interval through the Jaccard index (`rubricate.stats.f1_interval`), kappa
    on presence, and F1 of characters with a bootstrap by note (by items where few are wrong).
    Agreement is low where the lower of the two F1 values is below ``threshold``, and undefined
    where nobody marked the variable.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> found = measure_agreement(corpus, [Variable("smoking", "primary", ("12",))])
    >>> found["variables"][0]["notes"], found["low"]
    (20, [])
    """
    settings = settings or Resampling()
    evaluation = pair_evaluation(corpus)
    if evaluation is None:
        return {"notes": 0, "threshold": threshold, "variables": [], "low": [], "undefined": []}
    lines: list[VariableAgreement] = []
    for variable in watched(variables, progress, "agreement", len(variables)):
        ids, presence = variable_presence(evaluation.presence, variable)
        if not len(ids):
            continue
        tp, fp, fn, _ = presence.sum(axis=0).tolist()
        presence_f1 = presence_estimate(presence, settings)
        characters_f1 = characters_estimate(
            variable_counts(evaluation.characters, variable)[1], settings
        )
        lines.append(
            {
                "variable": variable.name,
                "role": variable.role,
                "notes": len(ids),
                "both": tp,
                "first_only": fn,
                "second_only": fp,
                "neither": len(ids) - tp - fp - fn,
                "presence_f1": presence_f1.to_dict(),
                "presence_kappa": float(kappa(presence.sum(axis=0))),
                "characters_f1": characters_f1.to_dict(),
                "low": bool(min(presence_f1.value, characters_f1.value) < threshold),
            }
        )
    return {
        "notes": evaluation.coverage.n_notes,
        "threshold": threshold,
        "confidence": settings.confidence,
        "variables": lines,
        "low": [line["variable"] for line in lines if line["low"]],
        "undefined": [
            line["variable"]
            for line in lines
            if not (line["both"] or line["first_only"] or line["second_only"])
        ],
    }
