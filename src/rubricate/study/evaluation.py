"""Phase 5: the system against the reference, weighted by design, beside the annotators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from rubricate.errors import ArgumentError, Fault, InputError
from rubricate.evaluation import CountTable, Evaluation, evaluate
from rubricate.evaluation.agreement import pair_evaluation
from rubricate.evaluation.design import AS_THEY_COME, SampleDesign, population_tables
from rubricate.evaluation.estimates import estimate_rows
from rubricate.evaluation.pairing import annotator_number
from rubricate.formats import read_corpus
from rubricate.progress import Progress, silent, watched
from rubricate.stats import (
    Estimate,
    Resampling,
    Side,
    compare_with_ceiling,
    heterogeneity,
    random_effects,
)
from rubricate.stats.calibration import sigmoid
from rubricate.study.decisions import REFERENCE
from rubricate.study.population import Variable, by_variable, read_population, site_of
from rubricate.study.record import StepResult, Study, run_step
from rubricate.study.sampling import NONE, SIDES
from rubricate.study.settings import AnnotationSource
from rubricate.study.summaries import (
    BySite,
    CeilingJson,
    EvaluateSummary,
    Rates,
    SiteResult,
    StratumJson,
    VariableResult,
    WeightedAgreement,
    WidthJson,
)

_NAMES = ("precision", "recall", "f1")
_PRESENCE = (*_NAMES, "specificity", "npv", "prevalence")


def measure_variable(
    measured: Evaluation,
    variable: Variable,
    design: SampleDesign,
    settings: Resampling,
    sites: Mapping[str, str] | None = None,
) -> VariableResult:
    """Measure one variable of an evaluation by variable: presence by note, characters and spans.

    Each value has the interval of `rubricate.evaluation.estimates.estimate_rows`.
    """
    presence = measured.presence.where(features=[variable.name])
    ids = presence.by("note").ids
    if not ids:
        return {"variable": variable.name, "role": variable.role, "notes": 0}
    tp, fp, fn, tn = presence.values.sum(axis=0).tolist()
    found = estimate_rows(presence, settings, design)
    line: VariableResult = {
        "variable": variable.name,
        "role": variable.role,
        "notes": len(ids),
        "manual": tp + fn,
        "detections": tp + fp,
        "tp": tp,
        "fp": fp,
        "fn": fn,
        "tn": tn,
        "presence": {name: found.at(name).to_dict() for name in _PRESENCE},
    }
    if sites is not None and len({sites[i] for i in ids}) > 1:
        line["by_site"] = measure_sites(presence, sites, settings, design)
    for key, table in measured.tables.items():
        if key == ("presence",):
            continue
        words = estimate_rows(table.where(features=[variable.name]), settings, design)
        rates = {name: words.at(name).to_dict() for name in words.statistics if name in _NAMES}
        line["_".join(key)] = rates  # type: ignore[literal-required]  # one for each measure
    return line


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


def beside_ceiling(
    measured: Evaluation, agreement: Evaluation, variable: Variable, settings: Resampling
) -> dict[str, CeilingJson] | None:
    """Compare the system's F1 with the annotators' on the notes both annotated.

    Both evaluations are by variable. None where no note of the variable has two annotators.
    """
    found: dict[str, CeilingJson] = {}
    for name in ("presence", "characters"):
        tables = [
            one.tables[name,].where(features=[variable.name]) for one in (measured, agreement)
        ]
        both = set.intersection(*(set(table.by("note").ids) for table in tables))
        if not both:
            return None
        kept = [table.where(notes=both) for table in tables]
        sides = [
            Side(
                estimate_rows(table, settings).at("f1"), table.by("note").values,
                table.by("note").ids,
            )
            for table in kept
        ]  # fmt: skip
        difference = compare_with_ceiling(
            sides[0], sides[1], kept[0].measure.statistics["f1"], settings
        )
        found[name] = {
            "notes": len(both),
            "system_f1": sides[0].estimate.value,
            "ceiling_f1": sides[1].estimate.value,
            "ceiling": sides[1].estimate.to_dict(),
            "difference": difference.to_dict(),
        }
    return found


def weigh_agreement(
    agreement: Evaluation, variable: Variable, design: SampleDesign, settings: Resampling
) -> WeightedAgreement | None:
    """Estimate how far two annotators of a note agree in the population, not in the sample.

    Each note counts as many times as the notes it stands for (Horvitz & Thompson 1952). The
    evaluation is by variable. None where no note of the variable has two annotators, and where all
    have one weight: then the values of the sample are these values.
    """
    presence, words = (
        table.where(features=[variable.name])
        for table in (agreement.presence, agreement.characters)
    )
    ids = presence.by("note").ids
    if len(np.unique(design.of_notes(ids)[0])) < 2:
        return None
    own = replace(design, of_system=False)
    found = estimate_rows(presence, settings, own)
    return {
        "notes": len(ids),
        "presence_f1": found.at("f1").to_dict(),
        "kappa": found.at("kappa").to_dict(),
        "characters_f1": estimate_rows(words, settings, own).at("f1").to_dict(),
    }


def width_met(presence: Rates, half_width: float) -> WidthJson:
    """Tell whether precision and recall of presence got the width that was planned.

    >>> interval = Estimate(0.9, 0.87, 0.93).to_dict()
    >>> width_met({"precision": interval, "recall": interval, "f1": interval}, 0.05)["met"]
    True
    """
    precision, recall = (
        Estimate.from_dict(presence[name]).width / 2 for name in ("precision", "recall")
    )
    met = precision < half_width and recall < half_width
    return {"planned": half_width, "precision": precision, "recall": recall, "met": met}


def half_widths(width: WidthJson) -> str:
    """Return in words the half widths that `width_met` found, as recorded.

    >>> half_widths({"planned": 0.05, "precision": 0.0412, "recall": None, "met": False})
    'precision ±0.041, recall undefined'
    """
    return ", ".join(
        f"{name} undefined" if value is None else f"{name} ±{value:.3f}"
        for name, value in (("precision", width["precision"]), ("recall", width["recall"]))
    )


def evaluate_study(
    study: Study, *, unweighted: bool = False, overwrite: bool = False, progress: Progress = silent
) -> StepResult[EvaluateSummary]:
    """Measure the system of ``study.toml`` against the reference; writes ``evaluation.json``."""
    study.need("curate")
    source = study.settings.system if study.settings.system.corpus else study.settings.detection
    if not source.corpus:
        raise InputError("system.corpus: name the system's output in study.toml")
    settings = study.settings
    resampling = Resampling(
        resamples=settings.evaluation.resamples,
        confidence=settings.plan.confidence,
        seed=settings.seed,
    )

    return run_step(
        study,
        "evaluate",
        lambda _: _evaluation_summary(
            study, source, resampling, unweighted=unweighted, progress=progress
        ),
        inputs={
            "reference": study.output("curate"),
            "collected": study.output("collect"),
            "sample": study.output("sample"),
            "system": study.source(source.corpus),
        },
        settings=study.tables("evaluation", "plan", "population", "system", "detection", "seed")
        | {"unweighted": unweighted},
        overwrite=overwrite,
    )


def _evaluation_summary(
    study: Study,
    source: AnnotationSource,
    resampling: Resampling,
    *,
    unweighted: bool,
    progress: Progress,
) -> EvaluateSummary:
    """Read reference, annotations and output, and measure every variable."""
    reference = study.corpus("curate", "reference.jsonl")
    output = read_corpus(study.source(source.corpus), format=source.format or None)
    collected = study.corpus("collect", "annotations.jsonl")
    own = study.settings
    design = SampleDesign.of_sample(
        reference, finite=own.population.finite, cluster=own.evaluation.cluster
    )
    if unweighted:
        refuse_unweighted(study.need("sample")["strata"])
        design = replace(design, weights=None, finite=False)
    InputError.raise_any(
        [
            Fault(f"system: note {note.id} is not in its output")
            for note in reference.notes
            if note.id not in output.note_index
        ]
    )
    who = output.annotators[annotator_number(output, source.annotator or None)].id
    evaluation = evaluate(
        reference, output,
        reference_annotator=REFERENCE, predicted_annotator=who, unknown="skip",
    )  # fmt: skip
    agreement = pair_evaluation(collected)
    _, variables = read_population(study)
    measured = by_variable(evaluation, variables)
    humans = None if agreement is None else by_variable(agreement, variables)
    field = own.population.site
    sites = {note.id: site_of(note, field) for note in reference.notes}
    lines = []
    for variable in watched(variables, progress, "measuring variables", len(variables)):
        line = measure_variable(measured, variable, design, resampling, sites)
        if line["notes"] and humans is not None:
            line["ceiling"] = beside_ceiling(measured, humans, variable, resampling)
            weighted = weigh_agreement(humans, variable, design, resampling)
            if weighted is not None:
                line["agreement"] = weighted
        lines.append(line)
    primary = next(line for line in lines if line["role"] == "primary")
    if not primary["notes"]:
        raise InputError("evaluate: no row of the primary variable was decided")
    clusters: dict[str, int] = {}
    if design.clusters is not None:
        clusters["clusters"] = len({design.clusters[note.id] for note in reference.notes})
    return {
        **clusters,  # type: ignore[typeddict-item]
        "system": evaluation.predicted_annotator,
        "weighted": not unweighted,
        "finite": design.finite,
        "confidence": resampling.confidence,
        "resamples": resampling.resamples,
        "seed": resampling.seed,
        "width": width_met(primary["presence"], own.plan.half_width),
        "variables": lines,
        "warnings": evaluation.warnings(),
    }


def refuse_unweighted(strata: Sequence[StratumJson]) -> None:
    """Raise where values without weights would be biased by how the sample was drawn.

    Notes the system missed are among the predicted negatives. Where those were drawn at a lower
    rate than the positives, the missed notes are under-represented and plain recall is far too
    high: with 250 + 250 notes at a frequency of .10, .97 for a true .80. Precision is unharmed.
    Notes with a secondary variable must have been drawn at the rate of the others, too.

    >>> from rubricate.study.sampling import SampleStratum
    >>> refuse_unweighted([
    ...     SampleStratum("all", "positive", "none", population=50, sampled=5).to_dict(),
    ...     SampleStratum("all", "negative", "none", population=50, sampled=5).to_dict(),
    ... ])
    """
    if oversampled(strata, lambda stratum: stratum["side"] == "positive"):
        drawn = []
        for side in SIDES:
            sampled, held = _drawn([stratum for stratum in strata if stratum["side"] == side])
            drawn.append(f"{sampled} of {held} predicted {side}s")
        raise InputError(
            f"recall cannot be reported without weights: {' but '.join(drawn)} were sampled. "
            "Give each note the weight population / sampled of its stratum."
        )
    if oversampled(strata, lambda stratum: stratum["part"] != NONE):
        raise InputError(
            "values cannot be reported without weights: notes with a secondary variable were "
            'drawn at a higher rate than others (sampling.allocation = "proportional" avoids it)'
        )


def oversampled(strata: Sequence[StratumJson], chosen: Callable[[StratumJson], bool]) -> bool:
    """Tell whether the notes of the chosen strata were drawn at another rate than the others.

    They were not, as far as anyone can tell, where the sample holds within one note as many of
    them as a proportional sample of its size would: whole notes cannot be split.
    """
    empty = [i for i, one in enumerate(strata) if one["population"] and not one["sampled"]]
    if empty:
        raise ArgumentError(f"strata {empty} (from 0) hold notes but none was sampled")
    sampled, held = _drawn(strata)
    own_sampled, own_held = _drawn([stratum for stratum in strata if chosen(stratum)])
    return abs(own_sampled - sampled * own_held / max(held, 1)) > 1


def _drawn(strata: Sequence[StratumJson]) -> tuple[int, int]:
    """Return the number of sampled notes and of all notes in these strata."""
    return sum(s["sampled"] for s in strata), sum(s["population"] for s in strata)
