"""Scoring notes in bulk: evidence batch by batch, then totals, review and corrections."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rubricate.batch import BatchStore, Retries
from rubricate.corpus import Corpus
from rubricate.errors import OutputExistsError
from rubricate.rubric import Rubric
from rubricate.scoring.job import Job, ScoreSettings, evidence_plan, open_job, run_record
from rubricate.scoring.judging import NoteResult, judge_note
from rubricate.scoring.notes import NoteSource, open_notes
from rubricate.scoring.outputs import PRODUCTS, RUN, write_run, write_tables
from rubricate.scoring.searching import find_evidence

EVIDENCE = "evidence"


@dataclass(frozen=True, slots=True)
class ScoreRun:
    """What a run wrote.

    Parameters
    ----------
    folder : Path
        Where.
    run, times : mapping
        What run.json and times.json say.
    """

    folder: Path
    run: Mapping[str, Any] = field(repr=False)
    times: Mapping[str, Any] = field(repr=False)


def score_notes(
    notes: str | Path | Corpus | NoteSource,
    out: str | Path,
    *,
    rubric: str | Path | None = None,
    model: str | Path | None = None,
    policy: str | Path | None = None,
    corrections: str | Path | None = None,
    settings: ScoreSettings | None = None,
) -> ScoreRun:
    """Score notes against a rubric and write scores, items and what they rest on.

    Notes are read twice, a batch at a time where the format allows it. Evidence of finished
    batches is kept in ``out/evidence``: a run that was killed goes on there when started again,
    and a run with other corrections or another policy does not search the notes again.

    Parameters
    ----------
    notes : str, Path, Corpus or NoteSource
        See `open_notes`.
    out : str or Path
        Folder to write to.
    rubric : str or Path, optional
        A rubric file; by default the notes' own rubrics. Cases it lacks keep theirs.
    model : str or Path, optional
        A fitted model; by default `ScoreSettings.matcher` with the rubric alone.
    policy : str or Path, optional
        Which items a person must see (`choose_policy`).
    corrections : str or Path, optional
        What reviewers changed (`read_corrections`).
    settings : ScoreSettings, optional
        How the run is done.

    Raises
    ------
    OutputExistsError
        If ``out`` holds results, and overwriting was not asked for.
    InputError
        If an input is wrong. A note that cannot be scored is a row with its reason instead.

    Examples
    --------
    >>> import tempfile
    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["30"])
    >>> run = score_notes(corpus, Path(tempfile.mkdtemp()) / "out",
    ...                   settings=ScoreSettings(matcher="exact"))
    >>> run.run["counts"]["scored"]
    8
    """
    begun, started = time.perf_counter(), datetime.now(UTC)
    chosen = settings or ScoreSettings()
    folder = Path(out)
    if (folder / RUN).exists() and not chosen.overwrite:
        raise OutputExistsError(folder)
    source = notes if isinstance(notes, NoteSource) else open_notes(notes)
    job = open_job(source, folder, (rubric, model, policy, corrections), chosen)
    store = BatchStore(folder / EVIDENCE)
    n_kept = store.open(evidence_plan(job), overwrite=chosen.overwrite)
    retries = Retries()
    surveyed = time.perf_counter()
    find_evidence(job, store, retries)
    matched = time.perf_counter()
    # The file that says the run is complete goes first.
    for name in reversed(PRODUCTS):
        (folder / name).unlink(missing_ok=True)
    counts = write_tables(_results(job, store), folder)
    record = {**run_record(job, (rubric, model, policy, corrections)), "counts": counts.to_dict()}
    ended = time.perf_counter()
    times = {
        "started": started.isoformat(timespec="seconds"),
        "seconds": {
            "opening": round(surveyed - begun, 3),
            "matching": round(matched - surveyed, 3),
            "writing": round(ended - matched, 3),
            "all": round(ended - begun, 3),
        },
        "workers": chosen.workers,
        "dask": chosen.dask is not None,
        "batches": job.n_batches,
        "batches_kept": n_kept,
        "worker_deaths": retries.deaths,
        "notes_lost": retries.lost,
    }
    return ScoreRun(folder, write_run(folder, record, times), times)


def _results(job: Job, store: BatchStore) -> Iterator[NoteResult]:
    size = job.settings.batch_size
    for key in range(job.n_batches):
        for number, line in enumerate(store.get(key), start=key * size):
            whole, same_as = line, ""
            if "same_as" in line:
                first = store.get(line["same_as"] // size)[line["same_as"] % size]
                same_as = first["note"]
                whole = {**first, "note": line["note"]}
            # A second note with the same id is not the one that was corrected.
            own = {} if job.survey.repeated[number] else job.corrections.of(line["note"])
            yield judge_note(
                whole,
                job.rubrics.get(line["case"], Rubric(line["case"], ())),
                corrections=own,
                policy=job.policy,
                same_as=same_as,
            )
