"""Finding the evidence of all notes, batch by batch, in any order and only once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from rubricate import __version__
from rubricate.batch import BatchStore, Lost, Retries, open_pool, run_batches
from rubricate.corpus import Note
from rubricate.scoring.evidence import ScoringWork
from rubricate.scoring.job import Job
from rubricate.scoring.note_streams import Unreadable
from rubricate.scoring.screening import why_not_scored


def find_evidence(job: Job, store: BatchStore, retries: Retries) -> None:
    """Find the evidence of all batches that are not done yet."""
    done = store.done()
    if len(done) == job.n_batches:
        return
    work = ScoringWork(
        str(job.model.absolute()), tuple(job.rubrics.values()), job.settings.seed, __version__
    )
    pool = open_pool(work, workers=job.settings.workers, dask=job.settings.dask)
    lines_of: dict[int, list[dict[str, Any]]] = {}
    try:
        batches = _batches(job, done, lines_of)
        for n_done, (key, results) in enumerate(
            run_batches(pool, batches, retries=retries), start=len(done) + 1
        ):
            found = iter(results)
            lines = lines_of.pop(key)
            for line in lines:
                if not line.keys() & {"failed", "same_as"}:
                    line.update(_worked(next(found)))
            store.put(key, lines)
            if job.settings.watch is not None:
                job.settings.watch(n_done, job.n_batches)
    finally:
        pool.close()


def _worked(result: dict[str, Any] | Lost) -> dict[str, Any]:
    return {"failed": result.reason} if isinstance(result, Lost) else result


def _batches(
    job: Job, done: set[int], lines_of: dict[int, list[dict[str, Any]]]
) -> Iterator[tuple[int, list[Note]]]:
    """Yield the notes of each batch that must be searched; the other lines are ready."""
    numbered = enumerate(job.notes())
    for key in range(job.n_batches):
        batch = list(islice(numbered, job.settings.batch_size))
        if key in done:
            continue
        lines, searched = [], []
        for number, note in batch:
            line: dict[str, Any] = {"note": _writable(note.id), "case": _writable(note.case)}
            failed = _why_not(job, number, note)
            first = int(job.survey.first[number])
            if failed:
                line["failed"] = failed
            elif first != number:
                line["same_as"] = first
            elif isinstance(note, Note):
                searched.append(note)
            lines.append(line)
        lines_of[key] = lines
        yield key, searched


def _why_not(job: Job, number: int, note: Note | Unreadable) -> str:
    if isinstance(note, Unreadable):
        return note.reason
    if job.survey.repeated[number]:
        return "an earlier note has the same id"
    return why_not_scored(note, job.rubrics, longest=job.settings.longest)


def _writable(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()
