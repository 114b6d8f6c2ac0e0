"""Phase 5: the system against the reference, weighted by design, beside the annotators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace

import numpy as np

from rubricate.corpus import Corpus
from rubricate.errors import ArgumentError, Fault, InputError
from rubricate.evaluation import Evaluation, evaluate
from rubricate.evaluation.design import (
    DesignNotes,
    SampleDesign,
    WeightedMeasures,
    design_bootstrap,
    design_posterior,
)
from rubricate.evaluation.pairing import annotator_number
from rubricate.formats import read_corpus
from rubricate.progress import Progress, silent, watched
from rubricate.stats import Estimate, Resampling, Side, compare_with_ceiling
from rubricate.study.decisions import REFERENCE
from rubricate.study.measuring import (
    estimate_f1,
    measure_sites,
    pair_evaluation,
    variable_counts,
    variable_presence,
)
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


def measure_variable(
    evaluation: Evaluation,
    variable: Variable,
    design: SampleDesign,
    settings: Resampling,
    sites: Mapping[str, str] | None = None,
) -> VariableResult:
    """Measure one variable: presence by note, characters and spans, each with intervals.

    Presence uses `design_posterior`; characters and spans use `design_bootstrap`.
    """
    ids, cells = variable_presence(evaluation.presence, variable)
    if not len(ids):
        return {"variable": variable.name, "role": variable.role, "notes": 0}
    weights, sides = design.of_notes(ids)
    tp, fp, fn, tn = cells.sum(axis=0).tolist()
    predicted = cells[:, 0] + cells[:, 1] > 0
    fixed = variable.role == "primary" and bool(np.array_equal(predicted, sides))
    notes = DesignNotes(cells, weights, sides, fixed, design.cluster_of(ids))
    measured = design_posterior(notes, settings, finite=design.finite)
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
        "presence": {
            field.name: getattr(measured, field.name).to_dict()
            for field in fields(WeightedMeasures)
        },
    }
    of = [(sites or {}).get(i, "") for i in ids]
    if len(set(of)) > 1:
        line["by_site"] = measure_sites(notes, of, settings, finite=design.finite)
    for key, table in evaluation.tables.items():
        if key == ("presence",):
            continue
        _, counts = variable_counts(table, variable)
        drawn = design_bootstrap(
            counts, table.measure.values, (weights, sides), settings, finite=design.finite,
            clusters=design.cluster_of(ids),
        )  # fmt: skip
        names = enumerate(table.measure.statistics)
        rates = {name: drawn.at(i).to_dict() for i, name in names if name in _NAMES}
        line["_".join(key)] = rates  # type: ignore[literal-required]  # one for each measure
    return line


def beside_ceiling(
    evaluation: Evaluation, agreement: Evaluation, variable: Variable, settings: Resampling
) -> dict[str, CeilingJson] | None:
    """Compare the system's F1 with the annotators' on the notes both annotated.

    None where no note of the variable has two annotators.
    """
    found: dict[str, CeilingJson] = {}
    for name in ("presence", "characters"):
        ours, theirs = getattr(evaluation, name), getattr(agreement, name)
        of = variable_presence if name == "presence" else variable_counts
        (system_ids, system), (human_ids, human) = of(ours, variable), of(theirs, variable)
        both = set(system_ids) & set(human_ids)
        if not both:
            return None
        sides = []
        for ids, counts in ((system_ids, system), (human_ids, human)):
            own = [i for i, note in enumerate(ids) if note in both]
            kept = counts[own]
            sides.append(Side(estimate_f1(kept, settings), kept, [ids[i] for i in own]))
        difference = compare_with_ceiling(
            sides[0], sides[1], ours.measure.statistics["f1"], settings
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

    Each note counts as many times as the notes it stands for (Horvitz & Thompson 1952), with the
    intervals of `design_posterior` and `design_bootstrap`. None where no note of the variable has
    two annotators, and where all have one weight: then the values of the sample are these values.
    """
    ids, cells = variable_presence(agreement.presence, variable)
    weights, sides = design.of_notes(ids)
    if len(np.unique(weights)) < 2:
        return None
    clusters = design.cluster_of(ids)
    presence = design_posterior(
        DesignNotes(cells, weights, sides, clusters=clusters), settings, finite=design.finite
    )
    table = agreement.characters
    characters = design_bootstrap(
        variable_counts(table, variable)[1], table.measure.statistics["f1"], (weights, sides),
        settings, finite=design.finite, clusters=clusters,
    )  # fmt: skip
    return {
        "notes": len(ids),
        "presence_f1": presence.f1.to_dict(),
        "kappa": presence.kappa.to_dict(),
        "characters_f1": characters.at().to_dict(),
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
    field = study.settings.population.site
    sites = {note.id: site_of(note, field) for note in reference.notes}
    lines = []
    for variable in watched(variables, progress, "measuring variables", len(variables)):
        line = measure_variable(evaluation, variable, design, resampling, sites)
        if line["notes"] and agreement is not None:
            line["ceiling"] = beside_ceiling(evaluation, agreement, variable, resampling)
            weighted = weigh_agreement(agreement, variable, design, resampling)
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
