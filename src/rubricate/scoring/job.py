"""Everything a run was given: opened, checked, and named by its hash."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rubricate import __version__
from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError
from rubricate.files import file_hash
from rubricate.formats.encoding import rubric_to_json
from rubricate.formats.rubric_files import read_rubrics
from rubricate.matchers import Matcher, fit_matcher, load_matcher
from rubricate.rubric import Rubric
from rubricate.scoring.corrections import Corrections, read_corrections
from rubricate.scoring.note_streams import Unreadable
from rubricate.scoring.notes import NoteSource
from rubricate.scoring.routing import Policy, read_policy
from rubricate.scoring.screening import LONGEST
from rubricate.scoring.survey import Survey, survey_notes, with_only_case

MODEL = "model"


@dataclass(frozen=True, slots=True)
class ScoreSettings:
    """How a run is done.

    Parameters
    ----------
    matcher : str
        Which matcher, where no model is given; it then knows nothing but the rubric.
    workers : int
        Worker processes; with 0 this process does the work.
    dask : str, optional
        Address of a Dask scheduler, instead of workers.
    batch_size : int
        Notes of a batch.
    longest : int
        Most characters of a note that is scored.
    seed : int
        Set before each batch.
    overwrite : bool
        Replace results that are there; evidence of the same notes, rubric and model is kept.
    watch : callable, optional
        Called with the number of batches done and of all batches.
    """

    matcher: str = "lexicon"
    workers: int = 0
    dask: str | None = None
    batch_size: int = 200
    longest: int = LONGEST
    seed: int = 0
    overwrite: bool = False
    watch: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        faults = [
            Fault(f"{name} is {value}: it must be at least {least}")
            for name, value, least in (
                ("batch_size", self.batch_size, 1),
                ("longest", self.longest, 1),
                ("seed", self.seed, 0),
                ("workers", self.workers, 0),
            )
            if value < least
        ]
        if faults:
            raise InputError(faults)


@dataclass(frozen=True, eq=False, slots=True)
class Job:
    """Everything a run was given, opened and checked."""

    source: NoteSource
    rubrics: dict[str, Rubric]
    matcher: Matcher
    model: Path
    policy: Policy | None
    corrections: Corrections
    survey: Survey
    settings: ScoreSettings

    def notes(self) -> Iterator[Note | Unreadable]:
        """Yield all notes anew."""
        return with_only_case(self.source.notes(), self.rubrics)

    @property
    def n_batches(self) -> int:
        """How many batches there are."""
        return -(-self.survey.n_notes // self.settings.batch_size)


Given = tuple[str | Path | None, str | Path | None, str | Path | None, str | Path | None]


def open_job(source: NoteSource, folder: Path, given: Given, settings: ScoreSettings) -> Job:
    """Open what a run was given (rubric, model, policy, corrections) and check that it fits."""
    rubric, model, policy_path, corrections_path = given
    rubrics = _rubrics(source, rubric)
    policy = None if policy_path is None else read_policy(policy_path)
    corrections = (
        Corrections([]) if corrections_path is None else read_corrections(corrections_path)
    )
    matcher = (
        fit_matcher(settings.matcher, Corpus((), tuple(rubrics.values())))
        if model is None
        else load_matcher(model)
    )
    # Says at once when the model was made for another rubric.
    matcher.predict(Corpus((), tuple(rubrics.values())))
    if policy is not None:
        policy.check(rubrics, matcher.name)
    survey = survey_notes(
        with_only_case(source.notes(), rubrics), rubrics=rubrics, corrections=corrections
    )
    if survey.faults:
        raise InputError(survey.faults)
    if survey.n_notes and not survey.cases & set(rubrics):
        raise InputError(
            f"no note is of a case that has a rubric. Cases of notes: {_listed(survey.cases)}; "
            f"cases with a rubric: {_listed(rubrics)}"
        )
    if not survey.n_notes:
        raise InputError(f"{source.name}: there is no note to score")
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / MODEL if model is None else Path(model)
    if model is None:
        matcher.save(place, overwrite=True)
    return Job(source, rubrics, matcher, place, policy, corrections, survey, settings)


def _listed(cases: Iterable[str]) -> str:
    names = sorted(cases)
    return ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")


def _rubrics(source: NoteSource, path: str | Path | None) -> dict[str, Rubric]:
    rubrics = {rubric.case: rubric for rubric in source.rubrics if len(rubric)}
    if path is not None:
        rubrics |= {rubric.case: rubric for rubric in read_rubrics(path)}
    if not rubrics:
        raise InputError("the notes come without a rubric. Give one with --rubric FILE.")
    ids: dict[str, str] = {}
    twice = [
        Fault(f"feature id {feature.id!r} is in the rubrics of {ids[feature.id]!r} and {case!r}")
        for case, rubric in rubrics.items()
        for feature in rubric
        if ids.setdefault(feature.id, case) != case
    ]
    if twice:
        raise InputError(twice)
    return rubrics


def evidence_plan(job: Job) -> dict[str, Any]:
    """Return what evidence depends on; batches of another plan are of no use."""
    return {
        "rubricate": __version__,
        "notes": job.survey.hash,
        "rubrics": _rubric_hash(job.rubrics),
        "model": file_hash(job.model),
        "batch_size": job.settings.batch_size,
        "longest": job.settings.longest,
        "seed": job.settings.seed,
    }


def _rubric_hash(rubrics: Mapping[str, Rubric]) -> str:
    values = [rubric_to_json(rubrics[case]) for case in sorted(rubrics)]
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def run_record(job: Job, given: Given) -> dict[str, Any]:
    """Return what run.json says but for counts: nothing that differs between equal runs."""
    rubric, model, policy, corrections = given
    features = sum(len(one) for one in job.rubrics.values())
    record: dict[str, Any] = {
        "rubricate": __version__,
        "matcher": job.matcher.name,
        "parameters": job.matcher.get_params(),
        "model": {"name": Path(model).name if model else MODEL, "sha256": file_hash(job.model)},
        "rubric": {
            "name": Path(rubric).name if rubric else job.source.name,
            "sha256": _rubric_hash(job.rubrics),
            "cases": len(job.rubrics),
            "features": features,
        },
        "input": {
            "name": job.source.name,
            **({"sha256": job.source.hash} if job.source.hash else {}),
            "notes_sha256": job.survey.hash,
            "where": list(job.source.where),
        },
        "settings": {
            "batch_size": job.settings.batch_size,
            "longest": job.settings.longest,
            "seed": job.settings.seed,
        },
        "versions": {"python": platform.python_version(), **_versions()},
    }
    if policy is not None and job.policy is not None:
        record["policy"] = {
            "name": Path(policy).name,
            "sha256": file_hash(Path(policy)),
            "max_error": job.policy.max_error,
            "confidence": job.policy.confidence,
            "unit": job.policy.unit,
        }
    if corrections is not None:
        record["corrections"] = {
            "name": Path(corrections).name,
            "sha256": file_hash(Path(corrections)),
            "items": [one.to_dict() for one in job.corrections.all()],
        }
    return record


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("numpy", "scipy")}
