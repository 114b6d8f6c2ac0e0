"""Phase 2: plan the sample and draw it, every note with its inclusion probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np

from rubricate.arrays import I64
from rubricate.corpus import Corpus, Note
from rubricate.errors import InputError
from rubricate.formats import write_corpus
from rubricate.formats.tables import write_table
from rubricate.progress import Progress, silent
from rubricate.rubric import Metadata, Scalar
from rubricate.stats import Estimate, Expected, Plan, Target, estimate_frequency
from rubricate.study.planning import Design, make_plan, write_plan_plot
from rubricate.study.population import (
    Detection,
    Variable,
    detect,
    detection_inputs,
    primary_variable,
    read_population,
    site_of,
)
from rubricate.study.record import StepResult, Study, run_step
from rubricate.study.settings import ALLOCATIONS
from rubricate.study.summaries import PlanSummary, SampleSummary, StratumJson

SIDES = ("positive", "negative")
#: How a warning of a frequency that was not found begins.
COUNTS_ON = "the plan counts on"
#: The part of notes in which no secondary variable is detected.
NONE = "none"


def plan_study(
    study: Study, *, overwrite: bool = False, progress: Progress = silent
) -> StepResult[PlanSummary]:
    """Plan the sample of the primary variable over the population there is.

    A frequency of 0 in ``study.toml`` is estimated from the detection. Writes ``plan.json`` and
    a plot.
    """
    settings = study.settings.plan
    sources = detection_inputs(study)

    def work(place: Path) -> PlanSummary:
        population, variables = read_population(study)
        detection = detect(study, population, variables)
        primary = primary_variable(variables)
        found, judged = detection.share(primary.name)
        if not settings.frequency and found in (0, judged):
            raise InputError(
                f"plan.frequency: {primary.name!r} is detected in {found:,} of {judged:,} notes, "
                "which is no frequency to plan with. Give plan.frequency in study.toml, or a "
                "detection that tells notes apart"
            )
        estimate = estimate_frequency(found, judged)
        pool = len(population.notes) if study.settings.population.finite else None
        sites = {site_of(n, study.settings.population.site) for n in population.notes}
        plan = make_plan(
            Expected(
                settings.precision,
                settings.recall,
                settings.frequency or estimate.value,
                settings.frequency_kind,  # type: ignore[arg-type]
            ),
            Target(
                settings.half_width,
                settings.confidence,
                settings.assurance,
                settings.interval,  # type: ignore[arg-type]
                "fixed",
            ),
            Design(settings.method, len(sites), pool, settings.design_effect),  # type: ignore[arg-type]
        )
        plan = replace(plan, warnings=(*plan.warnings, *_frequency_warnings(plan, estimate)))
        write_plan_plot(plan, place / "plan.html", overwrite=True, progress=progress)
        return {
            **plan.to_dict(),
            "frequency_estimate": estimate.to_dict(),
            "detected": {
                v.name: dict(zip(("detected", "judged"), detection.share(v.name), strict=True))
                for v in variables
            },
        }

    return run_step(
        study,
        "plan",
        work,
        inputs={**sources, "population": study.output("population")},
        settings=study.tables("plan", "detection", "population"),
        overwrite=overwrite,
    )


def _frequency_warnings(plan: Plan, detected: Estimate) -> list[str]:
    """Say where the share of notes the plan counts on is not the one that was detected."""
    share = plan.expected.detected
    if detected.low <= share <= detected.high:
        return []
    return [
        f"{COUNTS_ON} a detection in {share:.1%} of the notes, but in the population it is "
        f"{detected.value:.1%} ({detected.low:.1%} to {detected.high:.1%}): leave out "
        "plan.frequency to plan with that"
    ]


@dataclass(frozen=True, slots=True)
class SampleStratum:
    """Notes drawn at one rate."""

    site: str
    side: str
    part: str
    population: int
    sampled: int

    @property
    def name(self) -> str:
        """One name for the note's metadata."""
        return f"{self.site}/{self.side}/{self.part}"

    @property
    def probability(self) -> float:
        """The inclusion probability of each of its notes."""
        return self.sampled / self.population

    def to_dict(self) -> StratumJson:
        """Return the fields and the probability."""
        return cast(StratumJson, {**asdict(self), "probability": self.probability})


@dataclass(frozen=True, slots=True)
class Draw:
    """A sample: its notes in random order with their strata, and what fell short of the plan."""

    notes: tuple[tuple[str, SampleStratum], ...]
    strata: tuple[SampleStratum, ...]
    shortfall: Mapping[str, int]


def draw_sample(
    population: Corpus,
    variables: Sequence[Variable],
    detection: Detection,
    wanted: Mapping[str, int],
    *,
    site: str = "",
    allocation: str = "sqrt",
    seed: int = 0,
) -> Draw:
    """Draw positives and negatives of the primary variable, stratified by site and variable.

    Each side (detected or not) is shared evenly among the sites, and within a site among the
    parts: notes are parted by the rarest secondary variable detected in them. Parts get notes in
    proportion to the root of their size (``sqrt``, power allocation: Bankier 1988), their size
    (``proportional``) or evenly (``equal``). Inside a stratum all notes are equally likely, so
    the inclusion probability is sampled / population. Where a stratum holds too few all are
    taken, with probability 1, and the rest comes from other strata of the side.

    >>> from rubricate import load_corpus
    >>> from rubricate.study.population import detect_by_system
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> variables = [Variable("smoking", "primary", ("12",)), Variable("jaw", "secondary", ("7",))]
    >>> detection = detect_by_system(corpus, variables, corpus, "reference")
    >>> draw = draw_sample(corpus, variables, detection, {"positive": 20, "negative": 30})
    >>> len(draw.notes), draw.shortfall
    (37, {'positive': 0, 'negative': 13})
    >>> [(s.name, s.population, s.sampled) for s in draw.strata]  # doctest: +NORMALIZE_WHITESPACE
    [('all/positive/jaw', 73, 15), ('all/positive/none', 10, 5),
     ('all/negative/jaw', 13, 13), ('all/negative/none', 4, 4)]
    """
    rng = np.random.default_rng(seed)
    primary = primary_variable(variables)
    rarity = sorted(
        (v for v in variables if v.role != "primary"),
        key=lambda v: (len(detection.detected[v.name]), v.name),
    )
    strata: list[SampleStratum] = []
    drawn: list[tuple[str, SampleStratum]] = []
    shortfall: dict[str, int] = {}
    for side in SIDES:
        cells: dict[str, dict[str, list[str]]] = {}
        for note in population.notes:
            if (note.id in detection.detected[primary.name]) == (side == "positive"):
                part = next((v.name for v in rarity if note.id in detection.detected[v.name]), NONE)
                own = cells.setdefault(site_of(note, site), {})
                own.setdefault(part, []).append(note.id)
        sizes = [sum(map(len, parts.values())) for parts in cells.values()]
        given = allocate(wanted[side], sizes, [1.0] * len(sizes))
        shortfall[side] = max(0, wanted[side] - sum(given))
        for (name, parts), n in sorted(zip(cells.items(), given, strict=True)):
            for part, ids, k in _shared(parts, n, allocation):
                stratum = SampleStratum(name, side, part, len(ids), k)
                strata.append(stratum)
                picked = rng.choice(len(ids), size=k, replace=False)
                drawn += [(ids[i], stratum) for i in sorted(picked.tolist())]
    order = rng.permutation(len(drawn))
    return Draw(tuple(drawn[i] for i in order.tolist()), tuple(strata), shortfall)


def _shared(
    parts: Mapping[str, list[str]], n: int, allocation: str
) -> list[tuple[str, list[str], int]]:
    """Share a site's notes among its parts; parts too many to have one note each are joined."""
    own = {name: list(ids) for name, ids in sorted(parts.items())}
    while len(own) > max(n, 1):
        smallest = min(own, key=lambda name: (name == NONE, len(own[name]), name))
        target = NONE if NONE in own and smallest != NONE else max(own, key=lambda k: len(own[k]))
        own[target] += own.pop(smallest)
    sizes = [len(ids) for ids in own.values()]
    given = allocate(n, sizes, [size ** ALLOCATIONS[allocation] for size in sizes])
    return [(name, ids, k) for (name, ids), k in zip(own.items(), given, strict=True)]


def allocate(total: int, sizes: Sequence[int], shares: Sequence[float]) -> list[int]:
    """Share ``total`` among strata as ``shares`` say, no stratum getting more than it holds.

    What a full stratum cannot take goes to the others; whole notes by largest remainder. Every
    stratum that holds notes gets one at least as long as there are enough, so that each has an
    inclusion probability above 0.

    >>> allocate(10, [100, 2, 100], [1, 1, 1])
    [4, 2, 4]
    >>> allocate(10, [90, 10], [9, 1])
    [9, 1]
    """
    size = np.asarray(sizes, dtype=np.int64)
    share = np.where(size > 0, np.asarray(shares, dtype=np.float64), 0.0)
    total = min(total, int(size.sum()))
    given = np.zeros(len(size), dtype=np.float64)
    full = size == 0
    while True:
        rest = total - given[full].sum()
        free = ~full
        if not free.any():
            break
        given[free] = rest * share[free] / share[free].sum()
        over = free & (given > size)
        if not over.any():
            break
        given[over] = size[over]
        full |= over
    whole = np.floor(given + 1e-9).astype(np.int64)
    order = np.argsort(-(given - whole), kind="stable")
    for i in [i for i in order.tolist() if whole[i] < size[i]][: int(total - whole.sum())]:
        whole[i] += 1
    return [int(n) for n in _lift_empty(whole, size)]


def _lift_empty(whole: I64, size: I64) -> I64:
    """Give a note to each empty stratum, from the one that has most."""
    for i in np.flatnonzero((whole == 0) & (size > 0)).tolist():
        richest = int(whole.argmax())
        if whole[richest] < 2:
            break
        whole[richest] -= 1
        whole[i] = 1
    return whole


def sample_study(study: Study, *, overwrite: bool = False) -> StepResult[SampleSummary]:
    """Draw the planned sample.

    Writes ``notes.jsonl`` (each note with ``stratum``, ``side`` and ``inclusion_probability`` in
    its metadata), ``sample.csv`` and ``sample.json``.
    """
    plan: PlanSummary = study.need("plan")
    seed = study.settings.seed

    def work(place: Path) -> SampleSummary:
        population, variables = read_population(study)
        detection = detect(study, population, variables)
        # Over all sites, each site's share rounded up.
        wanted = {side: plan["per_site"][f"{side}s"] * plan["sites"] for side in SIDES}
        field = study.settings.population.site
        draw = draw_sample(
            population, variables, detection, wanted,
            site=field, allocation=study.settings.sampling.allocation, seed=seed,
        )  # fmt: skip
        sample = _sample_corpus(population, draw)
        write_corpus(sample, place / "notes.jsonl", format="jsonl")
        _write_table(place / "sample.csv", sample, variables, detection, field)
        ids = {note.id for note in sample.notes}
        return {
            "wanted": wanted,
            "drawn": {side: sum(s.side == side for _, s in draw.notes) for side in SIDES},
            "shortfall": dict(draw.shortfall),
            "notes": len(sample.notes),
            "population": len(population.notes),
            "seed": seed,
            "sites": _site_counts(draw),
            "strata": [s.to_dict() for s in draw.strata],
            "variables": {
                v.name: {
                    "detected": len(detection.detected[v.name] & ids),
                    "judged": len(detection.judged[v.name] & ids),
                    "detected_in_population": len(detection.detected[v.name]),
                }
                for v in variables
            },
        }

    return run_step(
        study,
        "sample",
        work,
        inputs={
            **detection_inputs(study),
            "population": study.output("population"),
            "plan": study.output("plan"),
        },
        settings=study.tables("sampling", "detection", "seed"),
        overwrite=overwrite,
    )


def _sample_corpus(population: Corpus, draw: Draw) -> Corpus:
    def extended(note: Note, stratum: SampleStratum) -> Note:
        more: dict[str, Scalar] = {
            "stratum": stratum.name,
            "side": stratum.side,
            "inclusion_probability": stratum.probability,
        }
        return replace(note, metadata=Metadata({**note.metadata, **more}))

    notes = tuple(extended(population.note(i), stratum) for i, stratum in draw.notes)
    used = {note.case for note in notes}
    return replace(
        population, notes=notes, rubrics=tuple(r for r in population.rubrics if r.case in used)
    )


def _write_table(
    path: Path, sample: Corpus, variables: Sequence[Variable], detection: Detection, site: str
) -> None:
    names = [v.name for v in variables]
    header = [
        "note", "case", "site", "stratum", "inclusion_probability",
        *(f"detected {name}" for name in names),
    ]  # fmt: skip
    lines = [
        [
            note.id, note.case, site_of(note, site), note.metadata["stratum"],
            note.metadata["inclusion_probability"],
            *("" if note.id not in detection.judged[name]
              else int(note.id in detection.detected[name]) for name in names),
        ]
        for note in sample.notes
    ]  # fmt: skip
    write_table(path, header, lines)


def _site_counts(draw: Draw) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for _, stratum in draw.notes:
        counts = found.setdefault(stratum.site, dict.fromkeys(SIDES, 0))
        counts[stratum.side] += 1
    return dict(sorted(found.items()))
