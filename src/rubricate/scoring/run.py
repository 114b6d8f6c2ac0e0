"""Scoring notes in bulk: evidence batch by batch, then totals, review and corrections."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from rubricate.batch import BatchStore, Retries
from rubricate.corpus import Corpus, Note
from rubricate.errors import OutputExistsError
from rubricate.formats.notes import NoteSource, open_notes
from rubricate.formats.rubric.files import RubricFile
from rubricate.matchers import Matcher
from rubricate.progress import Progress, silent, watched
from rubricate.rubric import Rubric
from rubricate.run.evidence import EvidenceLine
from rubricate.run.results import NoteResult, RunCounts
from rubricate.run.writing import RUN, RunRecord, RunTables, RunTimes, read_record, write_run
from rubricate.scoring.evidence_search import find_evidence
from rubricate.scoring.job import (
    MODEL,
    Given,
    Job,
    ScoreSettings,
    evidence_plan,
    open_job,
    run_record,
)
from rubricate.scoring.results import judge_note
from rubricate.scoring.run_folder import EVIDENCE, hold_run_folder


class Audience(Protocol):
    """Whoever wants the results beside the tables, such as a report."""

    def add(self, result: NoteResult, text: str | None) -> None:
        """Take one result with the text of its note; None where the note has none of its own."""

    def write(self, folder: Path, *, overwrite: bool, progress: Progress) -> Path:
        """Write what was made of the results beside the tables, and put its hash into run.json."""
        ...


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """What a run wrote."""

    folder: Path
    run: RunRecord = field(repr=False)
    times: RunTimes = field(repr=False)


def score_notes(
    notes: str | Path | Corpus | NoteSource,
    out: str | Path,
    *,
    rubric: str | Path | RubricFile | None = None,
    model: str | Path | Matcher | None = None,
    policy: str | Path | None = None,
    corrections: str | Path | None = None,
    settings: ScoreSettings | None = None,
    report: Audience | None = None,
    progress: Progress = silent,
) -> FinishedRun:
    """Score notes against a rubric and write scores, items and what they rest on.

    Notes are read twice, one batch at a time where the format allows it; a third time where
    ``report`` wants their texts. Evidence of finished batches is kept in ``out/evidence``: a run
    that was killed goes on there when started again, and a run with other corrections or another
    policy does not search the notes again. One process holds the folder at a time, and an earlier
    run in it is replaced only by a complete one.

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
    chosen = settings or ScoreSettings()
    folder = Path(out)
    if (folder / RUN).exists() and not chosen.overwrite:
        raise OutputExistsError(folder)
    clock = _Clock()
    source = notes if isinstance(notes, NoteSource) else open_notes(notes)
    given = Given(rubric, model, policy, corrections)
    with hold_run_folder(folder, overwrite=chosen.overwrite) as place:
        job = open_job(source, place.making, given, chosen)
        store = place.open_store(
            evidence_plan(job),
            [mark.notes for mark in job.survey.batches],
            job.check_lines,
            overwrite=chosen.overwrite,
        )
        retries = Retries()
        clock.stop("opening")
        kept = find_evidence(job, store, retries, progress=progress)
        clock.stop("matching")
        counts = _write_tables(job, store, place.making, report, progress)
        record = run_record(job, given, counts)
        clock.stop("writing")
        times: RunTimes = {
            "started": clock.started.isoformat(timespec="seconds"),
            "seconds": clock.seconds(),
            "workers": chosen.workers,
            "dask": chosen.dask is not None,
            "batches": job.n_batches,
            "batches_kept": kept.used,
            "batches_refused": kept.refused,
            "worker_deaths": retries.deaths,
            "notes_lost": retries.lost,
        }
        more = {EVIDENCE: store.folder}
        if job.model.parent == place.making:
            more[MODEL] = job.model
        write_run(place.making, record, times, more)
        if report is not None:
            report.write(place.making, overwrite=True, progress=progress)
        whole = read_record(place.making)
        place.publish(store)
    return FinishedRun(folder, whole, times)


class _Clock:
    """How long each part of a run takes."""

    def __init__(self) -> None:
        self.started = datetime.now(UTC)
        self._stops = {"": time.perf_counter()}

    def stop(self, part: str) -> None:
        self._stops[part] = time.perf_counter()

    def seconds(self) -> dict[str, float]:
        names, stops = list(self._stops), list(self._stops.values())
        parts = {names[i]: round(stops[i] - stops[i - 1], 3) for i in range(1, len(stops))}
        return {**parts, "all": round(stops[-1] - stops[0], 3)}


def _write_tables(
    job: Job, store: BatchStore, folder: Path, report: Audience | None, progress: Progress
) -> RunCounts:
    """Write the tables, and show each result to the report with the text of its note."""
    texts = _texts(job) if report is not None else iter(())
    with RunTables(folder) as tables:
        results = watched(_results(job, store), progress, "writing results", job.survey.n_notes)
        for result in results:
            tables.add(result)
            if report is not None:
                report.add(result, next(texts))
        # The last batch is compared with the survey, too.
        next(texts, None)
    return tables.counts


def _texts(job: Job) -> Iterator[str | None]:
    """Yield the text of each note; of several notes with one id the first one's alone."""
    number = 0
    for batch in job.batches():
        for note in batch:
            own = isinstance(note, Note) and not job.survey.repeated[number]
            yield note.text if isinstance(note, Note) and own else None
            number += 1


def _results(job: Job, store: BatchStore) -> Iterator[NoteResult]:
    size = job.settings.batch_size
    for key in range(job.n_batches):
        for number, line in enumerate(store.get(key), start=key * size):
            whole: EvidenceLine = line
            same_as = ""
            if "same_as" in line:
                whole = store.get(line["same_as"] // size)[line["same_as"] % size].copy()
                same_as, whole["note"] = whole["note"], line["note"]
            # A second note with the same id is not the one that was corrected.
            own = {} if job.survey.repeated[number] else job.corrections.of(line["note"])
            yield judge_note(
                whole,
                job.rubrics.get(line["case"], Rubric(line["case"], ())),
                corrections=own,
                policy=job.policy or job.settings.unsure,
                any_text=job.settings.any_text,
                same_as=same_as,
            )
