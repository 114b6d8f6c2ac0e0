"""Everything a run was given: opened, checked, and named by its hash.

All notes are read once before any is scored: how many there are, and which are identical.
"""

from __future__ import annotations

import hashlib
import json
import platform
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from rubricate import __version__
from rubricate.arrays import I64
from rubricate.corpus import Corpus, Note
from rubricate.errors import Advice, ArgumentError, Fault, InputError, Setting, listed, shown
from rubricate.files import file_hash, program_hash
from rubricate.formats.encoding import rubric_to_json
from rubricate.formats.format import Unreadable
from rubricate.formats.notes import NoteSource, with_only_case
from rubricate.formats.reading import Faults, writable
from rubricate.formats.rubric import RubricFile, rubrics_for
from rubricate.matchers import (
    NOTE_SECONDS,
    UNFITTED,
    Matcher,
    ShippedModel,
    fit_matcher,
    load_matcher,
    model_of_name,
    shipped_model,
)
from rubricate.matchers.model_files import DECIDING
from rubricate.matchers.predictions import check_rubrics
from rubricate.progress import Progress, silent, watched
from rubricate.rubric import Rubric, weight_fault
from rubricate.run.folder import MODEL
from rubricate.run.results import RunCounts
from rubricate.run.writing import RunRecord, read_record
from rubricate.scoring.corrections import Corrections, read_corrections
from rubricate.scoring.policy import Policy, read_policy
from rubricate.scoring.results import UNSURE_BY_DEFAULT, UnsureRange
from rubricate.screening.readable import LONGEST


@dataclass(frozen=True, slots=True)
class ScoreSettings:
    """Settings of a run."""

    #: None: `lexicon`, which needs no network. `rubricate.score` and the command take `cascade`.
    matcher: str | None = None
    workers: int = 0
    dask: str | None = None
    batch_size: int = 200
    longest: int = LONGEST
    note_seconds: float = NOTE_SECONDS
    seed: int = 0
    overwrite: bool = False
    #: Whether to go on with a log of decisions that is not the one the run knows.
    accept_log: bool = False
    #: Without a policy: which items a person must see; None for none of them.
    unsure: UnsureRange | None = UNSURE_BY_DEFAULT
    #: Whether texts that do not read like clinical notes get a score, too.
    any_text: bool = False

    def __post_init__(self) -> None:
        faults = [
            Fault(f"{name} is {value}: it must be at least {least}")
            for name, value, least in (
                ("batch_size", self.batch_size, 1),
                ("longest", self.longest, 1),
                ("seed", self.seed, 0),
                ("workers", self.workers, 0),
                ("note_seconds", self.note_seconds, 0),
            )
            if not value >= least
        ]
        ArgumentError.raise_any(faults)


class BatchMark(NamedTuple):
    """Hashes that identify a batch and its evidence.

    ``notes`` is a hash of ids, cases and texts; ``ids`` one of ids and cases as they are written.
    """

    notes: str
    ids: str


def mark_batch(
    first: int, notes: Iterable[Note | Unreadable]
) -> tuple[BatchMark, list[tuple[bytes, bytes]]]:
    """Return the hashes of a batch, and each note as bytes: its id, and its case and text.

    ``first`` is the number of the first note.
    """
    whole, listed, keys = hashlib.sha256(), [], []
    for number, note in enumerate(notes, start=first):
        text = note.text if isinstance(note, Note) else f"{number} cannot be read: {note.reason}"
        # Half surrogate pairs must not stop the survey: the screening names them.
        own_id = note.id.encode(errors="surrogatepass")
        own_text = f"{note.case}\0{text}".encode(errors="surrogatepass")
        whole.update(own_id + b"\0" + own_text + b"\0")
        listed.append((writable(note.id), writable(note.case)))
        keys.append((own_id, own_text))
    return BatchMark(whole.hexdigest(), mark_ids(listed)), keys


def mark_ids(listed: Iterable[tuple[str, str]]) -> str:
    """Return a hash of ids and cases as evidence has them."""
    return hashlib.sha256(json.dumps(list(listed)).encode()).hexdigest()


@dataclass(frozen=True, eq=False, slots=True)
class Survey:
    """Result of the first reading of all notes; it keeps about forty bytes per note."""

    n_notes: int
    hash: str
    batches: tuple[BatchMark, ...]
    first: I64
    repeated: bool
    cases: frozenset[str]
    faults: tuple[Fault, ...] = ()


def survey_notes(
    notes: Iterable[Note | Unreadable],
    *,
    batch_size: int = 200,
    rubrics: Mapping[str, Rubric] | None = None,
    corrections: Corrections | None = None,
) -> Survey:
    """Go through all notes once.

    Identical notes are told by 128 bits of a hash of case and text.

    >>> notes = [Note("1", "c", "no fever"), Note("2", "c", "cough"), Note("3", "c", "no fever")]
    >>> survey_notes(notes).first.tolist()
    [0, 1, 0]
    """
    whole = hashlib.sha256()
    ids, texts = array("Q"), array("Q")
    cases: set[str] = set()
    faults: list[Fault] = []
    marks: list[BatchMark] = []
    notes = iter(notes)
    while batch := list(islice(notes, batch_size)):
        mark, keys = mark_batch(len(marks) * batch_size, batch)
        marks.append(mark)
        for note, (own_id, own_text) in zip(batch, keys, strict=True):
            whole.update(own_id + b"\0" + own_text + b"\0")
            ids.frombytes(hashlib.blake2b(own_id, digest_size=16).digest())
            texts.frombytes(hashlib.blake2b(own_text, digest_size=16).digest())
            cases.add(note.case)
            if corrections is not None:
                rubric = (rubrics or {}).get(note.case)
                stated = note.text if isinstance(note, Note) else ""
                faults += corrections.check(note.id, rubric, stated)
    if corrections is not None:
        faults += corrections.unseen()
    first = _first_alike(texts)
    repeated = bool((_first_alike(ids) != np.arange(len(first))).any())
    return Survey(
        len(first),
        whole.hexdigest(),
        tuple(marks),
        first,
        repeated,
        frozenset(cases),
        tuple(faults),
    )


def _first_alike(hashes: array[int]) -> I64:
    """Return, for each key of two numbers, the number of the first equal one."""
    keys = np.frombuffer(hashes, dtype=np.uint64).reshape(-1, 2)
    first = np.arange(len(keys), dtype=np.int64)
    if len(keys) < 2:
        return first
    order = np.lexsort((first, keys[:, 1], keys[:, 0]))
    ordered = keys[order]
    starts = np.concatenate(([True], (ordered[1:] != ordered[:-1]).any(axis=1)))
    first[order] = order[np.flatnonzero(starts)[np.cumsum(starts) - 1]]
    return first


@dataclass(frozen=True, eq=False, slots=True)
class Job:
    """Everything a run was given, opened and checked."""

    source: NoteSource
    rubrics: dict[str, Rubric]
    matcher: Matcher
    model: Path | ShippedModel
    model_hash: str
    rubric_hash: str
    policy: Policy | None
    corrections: Corrections
    survey: Survey
    settings: ScoreSettings

    def batches(self) -> Iterator[list[Note | Unreadable]]:
        """Yield all notes anew, batch by batch; InputError if they are not those surveyed."""
        size = self.settings.batch_size
        notes = with_only_case(self.source.notes(), self.rubrics)
        for key, mark in enumerate(self.survey.batches):
            batch = list(islice(notes, size))
            if mark_batch(key * size, batch)[0] != mark:
                raise self._changed(key * size + 1, min((key + 1) * size, self.survey.n_notes))
            yield batch
        if next(notes, None) is not None:
            raise self._changed(self.survey.n_notes + 1)

    def _changed(self, first: int, last: int | None = None) -> InputError:
        where = f"from note {first} on" if last is None else f"in notes {first} to {last}"
        return InputError(
            f"{self.source.name} changed {where} while it was scored.",
            advice=Advice(
                "Nothing is lost: put back the notes as they were and start the same command "
                "again, or score the new ones with {}.",
                (Setting("overwrite", True),),
            ),
        )

    def check_lines(self, key: int, lines: list[Any]) -> str:
        """Return the fault of the stored evidence of a batch; empty if it fits."""
        try:
            listed = [(line["note"], line["case"]) for line in lines]
            if mark_ids(listed) != self.survey.batches[key].ids:
                return "of other notes"
            for number, line in enumerate(lines, start=key * self.settings.batch_size):
                if "items" in line:
                    if len(line["items"]) != len(self.rubrics[line["case"]]):
                        return "of another rubric"
                elif "same_as" in line:
                    if line["same_as"] != self.survey.first[number]:
                        return "of other notes"
                elif not isinstance(line["failed"], str):
                    return "not evidence"
        except (KeyError, TypeError, IndexError):
            return "not evidence"
        return ""


class Given(NamedTuple):
    """The files a run was given beside its notes."""

    rubric: str | Path | RubricFile | None = None
    model: str | Path | Matcher | ShippedModel | None = None
    policy: str | Path | None = None
    corrections: str | Path | None = None


def open_job(
    source: NoteSource,
    folder: Path,
    given: Given,
    settings: ScoreSettings,
    earlier: Path,
    progress: Progress = silent,
) -> Job:
    """Open what a run was given (rubric, model, policy, corrections) and check that it fits.

    A model that is made here is written into ``folder``; one of the package is only named. What
    people decided in an ``earlier`` run of that folder holds on.
    """
    rubric, model, policy_path, corrections_path = given
    rubrics = _rubrics(source, rubric)
    InputError.raise_any(
        [
            Fault(f"feature {feature.id!r} of case {case!r}: {fault}")
            for case, own in rubrics.items()
            for feature in own
            if (fault := weight_fault(feature.weight))
        ]
    )
    policy = None if policy_path is None else read_policy(policy_path)
    faults = Faults(Path(corrections_path or ""), source.how)
    corrections = read_corrections(corrections_path, folder=earlier, faults=faults)
    if model is None:
        name = settings.matcher or "lexicon"
        shipped = model_of_name(UNFITTED[name]) if name in UNFITTED else None
    elif isinstance(model, str) and shipped_model(model) is not None:
        shipped = model_of_name(model)
    else:
        shipped = model if isinstance(model, ShippedModel) else None
    if shipped is not None:
        matcher = shipped.make()
    elif model is None:
        matcher = fit_matcher(name, Corpus((), tuple(rubrics.values())))
    elif isinstance(model, str | Path):
        matcher = load_matcher(model)
    else:
        matcher = cast(Matcher, model)
    # Says at once when the model was made for another rubric.
    check_rubrics(matcher, rubrics.values())
    if policy is not None:
        policy.check(rubrics, matcher.name)
    survey = survey_notes(
        watched(with_only_case(source.notes(), rubrics), progress, "reading notes"),
        batch_size=settings.batch_size,
        rubrics=rubrics,
        corrections=corrections,
    )
    source.check_unchanged()
    faults.found += survey.faults
    if survey.repeated:
        # Whoever corrects or reads a score by the id could mean either.
        faults.found += source.duplicates()
    faults.raise_any()
    if survey.n_notes and not survey.cases & set(rubrics):
        _need_readable(source)
        raise InputError(
            "None of the notes belongs to a case that has a rubric. Cases of the notes: "
            f"{_listed(survey.cases)}; cases with a rubric: {_listed(rubrics)}",
            advice=(
                Advice("To give notes a case, use {}", (Setting("case", "NAME"),))
                if "" in survey.cases
                else Advice("Use the same names for the cases in both files", ())
            ),
        )
    if not survey.n_notes:
        raise InputError(f"{source.name}: the input has no notes")
    place: Path | ShippedModel
    if shipped is not None:
        place = shipped
    elif isinstance(model, str | Path):
        place = Path(model)
    else:
        place = folder / MODEL
        matcher.save(place)
    written = [rubric_to_json(rubrics[case]) for case in sorted(rubrics)]
    return Job(
        source,
        rubrics,
        matcher,
        place,
        place.hash if isinstance(place, ShippedModel) else file_hash(place),
        hashlib.sha256(json.dumps(written, sort_keys=True).encode()).hexdigest(),
        policy,
        corrections,
        survey,
        settings,
    )


def _need_readable(source: NoteSource) -> None:
    """Raise InputError if no note at all can be read, with the reasons."""
    notes = list(source.notes())
    faults = [
        Fault(f"note {shown(note.id)} cannot be read: {note.reason}", source.path)
        for note in notes
        if isinstance(note, Unreadable)
    ]
    if len(faults) == len(notes):
        raise InputError(faults)


def _listed(cases: Iterable[str]) -> str:
    return listed(map(repr, sorted(cases)), 10)


def _rubrics(source: NoteSource, given: str | Path | RubricFile | None) -> dict[str, Rubric]:
    rubrics = rubrics_for(source, given)
    ids: dict[str, str] = {}
    twice = [
        Fault(f"feature id {feature.id!r} is in the rubrics of {ids[feature.id]!r} and {case!r}")
        for case, rubric in rubrics.items()
        for feature in rubric
        if ids.setdefault(feature.id, case) != case
    ]
    half = [
        Fault(f"the rubric of {writable(case)!r} holds half a surrogate pair: it is not text")
        for case, rubric in rubrics.items()
        if any(writable(one) != one for f in rubric for one in (case, f.id, f.text, f.group))
    ]
    if twice or half:
        raise InputError([*twice, *half])
    return rubrics


def model_of_run(folder: Path) -> Path | ShippedModel:
    """Return the model that a finished run was made with; InputError where it is not at hand.

    With another model, evidence would be searched anew and found elsewhere.
    """
    own = folder / MODEL
    if own.exists():
        return own
    said = read_record(folder)["model"]
    shipped = model_of_name(said["name"])
    if shipped is None or shipped.hash != said["sha256"]:
        raise InputError(
            "the model of the run is in another folder. Copy that folder into the run as 'model'"
            if shipped is None
            else f"the run was made with another version of the model {shipped.name!r}. Score the "
            "notes again, or install the version of rubricate that run.json names"
        )
    return shipped


def evidence_plan(job: Job) -> dict[str, str | float]:
    """Return everything that evidence depends on; batches of another plan are not reused."""
    # Of a lexicon of one's own a model has the name alone.
    lexicon = job.matcher.get_params().get("lexicon")
    return {
        "rubricate": __version__,
        "program": evidence_program(),
        "notes": job.survey.hash,
        "rubrics": job.rubric_hash,
        "model": job.model_hash,
        **({"lexicon": file_hash(Path(lexicon))} if lexicon and Path(lexicon).exists() else {}),
        "batch_size": job.settings.batch_size,
        "longest": job.settings.longest,
        "note_seconds": job.settings.note_seconds,
        "seed": job.settings.seed,
    }


def evidence_program() -> str:
    """Return a hash of the parts of the program that decide what evidence says."""
    return program_hash(*DECIDING, "screening", "scoring")


def run_record(job: Job, given: Given, counts: RunCounts) -> RunRecord:
    """Return the content of run.json without the hashes of the tables."""
    rubric, _, policy, corrections = given
    if isinstance(rubric, str):
        rubric = Path(rubric)
    features = sum(len(one) for one in job.rubrics.values())
    record: RunRecord = {
        "rubricate": __version__,
        "matcher": job.matcher.name,
        "parameters": job.matcher.get_params(),
        "model": {"name": job.model.name, "sha256": job.model_hash},
        "rubric": {
            "name": rubric.name if rubric else job.source.name,
            "sha256": job.rubric_hash,
            "cases": len(job.rubrics),
            "features": features,
        },
        "input": {
            "name": job.source.name,
            **({"sha256": job.source.hash} if job.source.hash else {}),
            "notes_sha256": job.survey.hash,
            "where": list(job.source.where),
            **job.source.read_as,
        },
        "settings": {
            "batch_size": job.settings.batch_size,
            "longest": job.settings.longest,
            "note_seconds": job.settings.note_seconds,
            "seed": job.settings.seed,
            "any_text": job.settings.any_text,
        },
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scipy")},
        },
    }
    if policy is not None and job.policy is not None:
        record["policy"] = {
            "name": Path(policy).name,
            "sha256": file_hash(Path(policy)),
            "max_error": job.policy.max_error,
            "confidence": job.policy.confidence,
            "unit": job.policy.unit,
        }
    elif job.settings.unsure is not None:
        record["unsure"] = asdict(job.settings.unsure)
    held = [one.to_dict() for one in job.corrections.all()]
    if corrections is not None:
        place = Path(corrections)
        record["corrections"] = {"name": place.name, "sha256": file_hash(place)}
    if corrections is not None or held or job.corrections.outdated:
        outdated = job.corrections.outdated
        record["corrections"] = {
            **record.get("corrections", {}), "items": held, "outdated": outdated
        }  # fmt: skip
    without = sorted(case for case, one in job.rubrics.items() if not one.has_floor)
    record["floor"] = {"score": 0.0, "without": without}
    record["counts"] = counts.to_dict()
    return record
