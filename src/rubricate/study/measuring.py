"""Each variable of a study measured: between annotators, and against the reference with weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rubricate.corpus import Corpus
from rubricate.evaluation import CountTable, Evaluation
from rubricate.evaluation.agreement import pair_evaluation
from rubricate.evaluation.design import AS_THEY_COME, SampleDesign, population_tables
from rubricate.evaluation.estimates import estimate_rows
from rubricate.progress import Progress, silent, watched
from rubricate.stats import Estimate, Resampling, heterogeneity, random_effects
from rubricate.stats.calibration import sigmoid
from rubricate.study.population import Variable
from rubricate.study.summaries import AgreementSummary, BySite, SiteResult, VariableAgreement


def by_variable(evaluation: Evaluation, variables: Sequence[Variable]) -> Evaluation:
    """Return the evaluation with the study's variables in the place of features."""
    return evaluation.by_variable({one.name: one.features for one in variables})


def measure_agreement(
    corpus: Corpus,
    variables: Sequence[Variable],
    settings: Resampling | None = None,
    *,
    threshold: float = 0.8,
    progress: Progress = silent,
) -> AgreementSummary:
    """Measure agreement on each variable, as the paper's Table 2.

    F1 of presence and of characters and kappa on presence, with the intervals that `agree` shows.
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
    measured = by_variable(evaluation, variables)
    lines: list[VariableAgreement] = []
    for variable in watched(variables, progress, "agreement", len(variables)):
        table = measured.presence.where(features=[variable.name])
        if not len(table):
            continue
        tp, fp, fn, tn = table.values.sum(axis=0).tolist()
        presence = estimate_rows(table, settings)
        words = measured.characters.where(features=[variable.name])
        presence_f1, characters_f1 = presence.at("f1"), estimate_rows(words, settings).at("f1")
        lines.append(
            {
                "variable": variable.name,
                "role": variable.role,
                "notes": len(table.by("note")),
                "both": tp,
                "first_only": fn,
                "second_only": fp,
                "neither": tn,
                "presence_f1": presence_f1.to_dict(),
                "presence_kappa": table.total()["kappa"],
                "kappa": presence.at("kappa").to_dict(),
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
    table: CountTable,
    sites: Mapping[str, str],
    settings: Resampling,
    design: SampleDesign = AS_THEY_COME,
) -> BySite:
    """Measure presence at each site as if it were the study, and compare the sites.

    Sites are compared by Cochran's Q. The logits of a site's precision and recall and their
    variances are those of its posterior (`design_posterior`, of notes like these), which knows how
    unequal the weights are; `rubricate.stats.heterogeneity` has the formulas.

    >>> from rubricate.evaluation.counts import PRESENCE, RowKeys
    >>> ids, none = tuple(str(i) for i in range(100)), np.zeros(100, dtype=np.int64)
    >>> cells = np.repeat(np.eye(4, dtype=np.int64), [40, 10, 10, 40], axis=0)
    >>> keys = RowKeys(np.arange(100), none, none, ids, ("f",), ("c",))
    >>> table = CountTable(PRESENCE, keys, cells)
    >>> found = measure_sites(table, {i: "AB"[int(i) % 2] for i in ids}, Resampling())
    >>> [(line["site"], line["tp"]) for line in found["sites"]]
    [('A', 20), ('B', 20)]
    >>> found["heterogeneity"]["recall"]["i_squared"]
    0.0
    """
    lines: list[SiteResult] = []
    logits: dict[str, list[tuple[float, float]]] = {name: [] for name in _OF}
    here = table.by("note").ids
    for site in sorted({sites[i] for i in here}):
        part = table.where(notes=[i for i in here if sites[i] == site])
        measured = estimate_rows(part, settings, design)
        tp, fp, fn, tn = part.values.sum(axis=0).tolist()
        lines.append(
            {
                "site": site, "notes": len(part), "tp": tp, "fp": fp, "fn": fn, "tn": tn,
                "precision": measured.at("precision").to_dict(),
                "recall": measured.at("recall").to_dict(),
            }
        )  # fmt: skip
        notes = design.notes_of(part)
        tables = population_tables(notes, settings.seed, finite=False)
        drawn = np.maximum(tables, np.finfo(float).tiny)
        for name, (right, wrong) in _OF.items():
            logit = np.log(drawn[:, right]) - np.log(drawn[:, wrong])
            known = notes.cells[:, [right, wrong]].any()
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
