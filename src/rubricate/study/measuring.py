"""Each variable of a study measured: between annotators, and against the reference with weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rubricate.arrays import I64
from rubricate.corpus import Corpus
from rubricate.errors import InputError
from rubricate.evaluation import CountTable, Evaluation, evaluate_pairing
from rubricate.evaluation.agreement import pair_annotators
from rubricate.evaluation.counts import (
    kappa,
)
from rubricate.evaluation.design import DesignNotes, design_posterior, population_tables
from rubricate.evaluation.evaluation import add_intervals
from rubricate.evaluation.matching import MeasureKey, four_cells
from rubricate.evaluation.pilot import f1_of_notes
from rubricate.progress import Progress, silent, watched
from rubricate.stats import (
    Estimate,
    Resampling,
    Support,
    bootstrap_interval,
    heterogeneity,
    limit_by_items,
    random_effects,
)
from rubricate.stats.calibration import sigmoid
from rubricate.study.population import Variable
from rubricate.study.summaries import AgreementSummary, BySite, SiteResult, VariableAgreement


def variable_counts(table: CountTable, variable: Variable) -> tuple[tuple[str, ...], I64]:
    """Return a variable's counts by note: characters or spans summed over its features.

    >>> from rubricate import load_corpus
    >>> from rubricate.evaluation import evaluate
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


def kappa_estimate(cells: I64, settings: Resampling) -> Estimate:
    """Return Cohen's kappa on presence with an interval: bootstrap by note, percentiles.

    Where fewer than ten notes are disputed it is joined with the limits of agreement by notes
    (`rubricate.stats.limit_by_items`, kappa as twice a share, less one).

    >>> cells = np.repeat(np.eye(4, dtype=np.int64), [40, 5, 5, 50], axis=0)
    >>> str(kappa_estimate(cells, Resampling(500)))
    '0.798 [0.672, 0.918]'
    """
    plain = replace(settings, method="percentile")
    disputed = cells[:, 1:3].any(axis=1).sum()
    support = Support(len(cells), disputed, np.inf)
    return limit_by_items(bootstrap_interval(cells, kappa, plain), support, twice=True).at()


def estimate_f1(counts: I64, settings: Resampling) -> Estimate:
    """Return F1 of presence or of characters from the counts of each note, with its interval.

    Each note in which one of both sides has something is one item. The steps of a study and the
    dashboard of the workbench show this interval, as `agree` does for each item.

    >>> import numpy as np
    >>> estimate_f1(np.array([[9, 0, 0, 5]] * 5), Resampling()).low.__round__(3)
    0.647
    """
    return f1_of_notes(counts, counts[:, :3].any(axis=1), settings)


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

    F1 of presence and of characters with a bootstrap by note (by items where few are wrong), and
    kappa on presence.
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
    keys: tuple[MeasureKey, ...] = (("presence",), ("characters",))
    compared = {key: evaluation.tables[key] for key in keys}
    measured = add_intervals(replace(evaluation, tables=compared), settings)
    by_feature = {key: measured.by_group(*key, level="features") for key in compared}
    lines: list[VariableAgreement] = []
    for variable in watched(variables, progress, "agreement", len(variables)):
        ids, presence = variable_presence(evaluation.presence, variable)
        if not len(ids):
            continue
        tp, fp, fn, _ = presence.sum(axis=0).tolist()
        if len(variable.features) == 1:
            # `agree` shows these values, too: one figure has one interval.
            presence_f1, characters_f1 = (own[variable.features[0]] for own in by_feature.values())
        else:
            presence_f1 = estimate_f1(presence, settings)
            characters_f1 = estimate_f1(
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
                "kappa": kappa_estimate(presence, settings).to_dict(),
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


#: What is right and wrong in precision and recall, among TP, FP, FN, TN.
_OF = {"precision": (0, 1), "recall": (0, 2)}


def _rate_of_logit(one: Estimate) -> Estimate:
    value, low, high = (
        float(sigmoid(np.array(x))) if x == x else x for x in (one.value, one.low, one.high)
    )
    return replace(one, value=value, low=low, high=high)


def measure_sites(
    notes: DesignNotes, sites: Sequence[str], settings: Resampling, *, finite: bool
) -> BySite:
    """Measure each site as if it were the study, and compare the sites with Cochran's Q.

    The logits of a site's precision and recall and their variances are those of its posterior
    (`design_posterior`, of notes like these), which knows how unequal the weights are;
    `rubricate.stats.heterogeneity` has the formulas.

    >>> cells = np.repeat(np.eye(4, dtype=np.int64), [40, 10, 10, 40], axis=0)
    >>> notes = DesignNotes(cells, np.ones(100), cells[:, :2].any(axis=1), True)
    >>> found = measure_sites(notes, list("AB") * 50, Resampling(), finite=False)
    >>> [(line["site"], line["tp"]) for line in found["sites"]]
    [('A', 20), ('B', 20)]
    >>> found["heterogeneity"]["recall"]["i_squared"]
    0.0
    """
    of = np.asarray(sites)
    lines: list[SiteResult] = []
    logits: dict[str, list[tuple[float, float]]] = {name: [] for name in _OF}
    for site in sorted(set(sites)):
        own = of == site
        part = notes.take(own)
        measured = design_posterior(part, settings, finite=finite)
        tp, fp, fn, tn = part.cells.sum(axis=0).tolist()
        lines.append(
            {
                "site": site, "notes": int(own.sum()), "tp": tp, "fp": fp, "fn": fn, "tn": tn,
                "precision": measured.precision.to_dict(), "recall": measured.recall.to_dict(),
            }
        )  # fmt: skip
        drawn = np.maximum(
            population_tables(part, settings.seed, finite=False), np.finfo(float).tiny
        )
        for name, (right, wrong) in _OF.items():
            logit = np.log(drawn[:, right]) - np.log(drawn[:, wrong])
            known = part.cells[:, [right, wrong]].any()
            logits[name].append((float(logit.mean()) if known else np.nan, float(logit.var())))
    pooled = {
        name: random_effects(*np.array(found).T, confidence=settings.confidence)
        for name, found in logits.items()
    }
    return {
        "sites": lines,
        "mean": {name: _rate_of_logit(found.mean).to_dict() for name, found in pooled.items()},
        "prediction": {
            name: _rate_of_logit(found.prediction).to_dict() for name, found in pooled.items()
        },
        "heterogeneity": {
            name: heterogeneity(*np.array(found).T).to_dict() for name, found in logits.items()
        },
    }
