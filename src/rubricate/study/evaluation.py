"""Phase 5: the system against the reference, weighted by design, beside the annotators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from rubricate.corpus import Corpus
from rubricate.errors import ArgumentError, Fault, InputError
from rubricate.evaluation import Evaluation, evaluate
from rubricate.evaluation.agreement import pair_evaluation
from rubricate.evaluation.design import SampleDesign
from rubricate.evaluation.estimates import estimate_rows
from rubricate.evaluation.pairing import annotator_number
from rubricate.formats import read_corpus
from rubricate.progress import Progress, silent, watched
from rubricate.stats import Estimate, Resampling, Side, compare_with_ceiling
from rubricate.study.decisions import REFERENCE
from rubricate.study.measuring import by_variable, measure_sites
from rubricate.study.population import Variable, read_population, site_of
from rubricate.study.record import StepResult, Study, run_step
from rubricate.study.sampling import NONE, SIDES
from rubricate.study.settings import AnnotationSource
from rubricate.study.summaries import (
    CeilingJson,
    EvaluateSummary,
    Rates,
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
    design = _design(study, reference, unweighted=unweighted)
    evaluation = _compare(reference, output, source.annotator or None)
    agreement = pair_evaluation(collected)
    _, variables = read_population(study)
    measured = by_variable(evaluation, variables)
    humans = None if agreement is None else by_variable(agreement, variables)
    field = study.settings.population.site
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
        "width": width_met(primary["presence"], study.settings.plan.half_width),
        "variables": lines,
        "warnings": evaluation.warnings(),
    }


def _compare(reference: Corpus, output: Corpus, annotator: str | None) -> Evaluation:
    missing = [n.id for n in reference.notes if n.id not in output.note_index]
    if missing:
        raise InputError(Fault(f"system: note {i} is not in its output") for i in missing)
    who = output.annotators[annotator_number(output, annotator)].id
    return evaluate(
        reference, output,
        reference_annotator=REFERENCE, predicted_annotator=who, unknown="skip",
    )  # fmt: skip


def _design(study: Study, reference: Corpus, *, unweighted: bool) -> SampleDesign:
    population = study.settings.population
    cluster = study.settings.evaluation.cluster
    design = SampleDesign.of_sample(reference, finite=population.finite, cluster=cluster)
    if not unweighted:
        return design
    refuse_unweighted(study.need("sample")["strata"])
    return replace(design, weights=None, finite=False)


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
