"""Scoring notes in bulk: evidence batch by batch, then totals; a folder is held by one process."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rubricate import __version__
from rubricate.batch import BatchStore, Retries
from rubricate.corpus import Corpus, Note
from rubricate.errors import OutputExistsError
from rubricate.files import PART, file_hash, hold_folder
from rubricate.formats.notes import NoteSource, open_notes
from rubricate.formats.rubric import RubricFile
from rubricate.matchers import Matcher, ShippedModel
from rubricate.progress import Progress, silent, watched
from rubricate.rubric import Rubric
from rubricate.run.folder import (
    MODEL,
    NEXT_EVIDENCE,
    PENDING,
    check_folder,
    check_log,
    check_model,
    write_pending,
)
from rubricate.run.folder import accept_log as accept_unknown_log
from rubricate.run.reading import ITEMS, SCORES
from rubricate.run.results import EvidenceLine, NoteResult, RunCounts
from rubricate.run.writing import (
    EVIDENCE,
    LOG,
    PRODUCTS,
    REPORT,
    RUN,
    TIMES,
    WORKBOOK,
    LogWriter,
    RunRecord,
    RunTables,
    RunTimes,
    read_record,
    write_record,
)
from rubricate.scoring.evidence_search import find_evidence
from rubricate.scoring.job import (
    Given,
    Job,
    ScoreSettings,
    evidence_plan,
    open_job,
    run_record,
)
from rubricate.scoring.results import judge_note

if TYPE_CHECKING:
    from rubricate.reports.scoring import ScoringReport

_MAKING = ".making-"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of a run, and the folder in it where the run is made.

    Everything is made in ``making`` and moved into place at the end, ``run.json`` last: a folder
    with a ``run.json`` holds a complete run, and a run that fails leaves an earlier one as it was.
    """

    folder: Path
    making: Path

    def open_store(
        self,
        plan: Mapping[str, Any],
        items: Sequence[str],
        check: Callable[[int, list[Any]], str],
        *,
        overwrite: bool,
    ) -> BatchStore:
        """Return the evidence of this plan that is already there, or a place for it."""
        usual, later = self.folder / EVIDENCE, self.folder / NEXT_EVIDENCE
        stores = [BatchStore(place, items, check) for place in (later, usual)]
        store = next((one for one in stores if one.is_of(plan)), None)
        if store is None:
            # The evidence of a finished run stays until there is another one.
            store = stores[0] if (self.folder / RUN).exists() else stores[1]
        store.open(plan, overwrite=overwrite or store is stores[0])
        if store is stores[1]:
            shutil.rmtree(later, ignore_errors=True)
        return store

    def publish(self, store: BatchStore, log: LogWriter) -> None:
        """Move what was made into place; of an earlier run its model stays, and its log goes on."""
        for path in self.making.iterdir():
            if path.is_file():
                # No power cut leaves the name of a file alone.
                number = os.open(path, os.O_RDWR)
                try:
                    os.fsync(number)
                finally:
                    os.close(number)
        write_pending(self.folder, [log.before, log.state])
        # Without this file the folder holds no finished run: the same command makes the rest again.
        (self.folder / RUN).unlink(missing_ok=True)
        # At once: what people decided is never away, whenever a run is killed.
        (self.making / LOG).replace(self.folder / LOG)
        made = sorted(path.name for path in self.making.iterdir() if path.name != RUN)
        for name in {*made, *REPORT, *PRODUCTS}:
            _remove(self.folder / name)
        for name in made:
            (self.making / name).replace(self.folder / name)
        if store.folder.name != EVIDENCE:
            _remove(self.folder / EVIDENCE)
            store.folder.replace(self.folder / EVIDENCE)
        (self.making / RUN).replace(self.folder / RUN)
        (self.folder / PENDING).unlink(missing_ok=True)


@contextmanager
def hold_run_folder(
    folder: Path, *, overwrite: bool, accept_log: bool = False, inputs: Sequence[str | Path] = ()
) -> Iterator[RunFolder]:
    """Hold the folder of a run; what killed runs left half done is removed.

    InputError if another process holds it, or its log is not the one that the run knows;
    OutputExistsError if it holds a finished run that may not be overwritten. No input is touched.
    """
    with hold_folder(folder):
        if (folder / RUN).exists() and not overwrite:
            raise OutputExistsError(folder)
        check_folder(folder, inputs)
        if accept_log:
            accept_unknown_log(folder)
        else:
            check_log(folder)
        for left in (*folder.glob(f"{_MAKING}*"), *folder.glob(f".*{PART}")):
            _remove(left)
        making = Path(tempfile.mkdtemp(prefix=_MAKING, dir=folder))
        try:
            yield RunFolder(folder, making)
        finally:
            shutil.rmtree(making, ignore_errors=True)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """Result of a run that was written to a folder."""

    folder: Path
    run: RunRecord = field(repr=False)
    times: RunTimes = field(repr=False)


def score_notes(
    notes: str | Path | Corpus | NoteSource,
    out: str | Path,
    *,
    rubric: str | Path | RubricFile | None = None,
    model: str | Path | Matcher | ShippedModel | None = None,
    policy: str | Path | None = None,
    corrections: str | Path | None = None,
    settings: ScoreSettings | None = None,
    report: ScoringReport | None = None,
    progress: Progress = silent,
) -> FinishedRun:
    """Score notes against a rubric and write scores, items and what they rest on.

    Notes are read twice, one batch at a time where the format allows it; a third time where
    ``report`` wants their texts. Evidence of finished batches is kept in ``out/evidence``: a run
    that was killed goes on there when started again, and a run with other corrections or another
    policy does not search the notes again. One process holds the folder at a time, and an earlier
    run in it is replaced only by a complete one.

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
    started, stops = datetime.now(UTC), {"": time.perf_counter()}
    source = notes if isinstance(notes, NoteSource) else open_notes(notes)
    given = Given(rubric, model, policy, corrections)
    read = [one for one in (source.path, *given) if isinstance(one, str | Path)]
    with hold_run_folder(
        folder, overwrite=chosen.overwrite, accept_log=chosen.accept_log, inputs=read
    ) as place:
        job = open_job(source, place.making, given, chosen, folder, progress)
        check_model(folder, place.making / MODEL)
        plan = evidence_plan(job)
        store = place.open_store(
            plan,
            [mark.notes for mark in job.survey.batches],
            job.check_lines,
            overwrite=chosen.overwrite,
        )
        retries = Retries()
        stops["opening"] = time.perf_counter()
        kept = find_evidence(job, store, retries, progress=progress)
        stops["matching"] = time.perf_counter()
        with LogWriter(folder, place.making) as log:
            log.add(
                "run",
                at=started.isoformat(timespec="seconds"),
                rubricate=__version__,
                matcher=job.matcher.name,
                model=str(plan["model"]),
                rubric=str(plan["rubrics"]),
                notes=str(plan["notes"]),
                policy=None if policy is None else file_hash(Path(policy)),
                corrections=None if corrections is None else file_hash(Path(corrections)),
            )
            counts = _write_tables(job, store, (place.making, log), report, progress)
            # Neither times.json nor the log: they are not the same for equal runs.
            made = {name: place.making / name for name in (SCORES, ITEMS, WORKBOOK)}
            made[EVIDENCE] = store.folder
            if isinstance(job.model, Path) and job.model.parent == place.making:
                made[MODEL] = job.model
            outputs = {name: file_hash(path) for name, path in made.items()}
            log.add("tables", sha256={name: outputs[name] for name in (SCORES, ITEMS)})
        record = run_record(job, given, counts)
        record["log"] = log.state["seal"]
        record["outputs"] = outputs
        stops["writing"] = time.perf_counter()
        seconds = {
            part: round(end - start, 3) for (_, start), (part, end) in pairwise(stops.items())
        }
        seconds["all"] = round(stops["writing"] - stops[""], 3)
        times: RunTimes = {
            "started": started.isoformat(timespec="seconds"),
            "seconds": seconds,
            "workers": chosen.workers,
            "dask": chosen.dask is not None,
            "batches": len(job.survey.batches),
            "batches_kept": kept.used,
            "batches_refused": kept.refused,
            "worker_deaths": retries.deaths,
            "notes_lost": retries.lost,
            "log": {"entries": log.entries, "head": log.head},
        }
        write_record(place.making / TIMES, times)
        write_record(place.making / RUN, record)
        if report is not None:
            report.write(place.making, overwrite=True, progress=progress)
        whole = read_record(place.making)
        place.publish(store, log)
    return FinishedRun(folder, whole, times)


def _write_tables(
    job: Job,
    store: BatchStore,
    to: tuple[Path, LogWriter],
    report: ScoringReport | None,
    progress: Progress,
) -> RunCounts:
    """Write the tables and the log, and show each result to the report with its note's text."""
    texts: Iterator[str | None] = iter(())
    if report is not None:
        # A note that cannot be read has no text.
        texts = (
            note.text if isinstance(note, Note) else None
            for batch in job.batches()
            for note in batch
        )
    with RunTables(to[0]) as tables:
        results = _results(job, store, to[1])
        results = watched(results, progress, "writing results", job.survey.n_notes)
        for result in results:
            tables.add(result)
            if report is not None:
                report.add(result, next(texts))
        # The last batch is compared with the survey, too.
        next(texts, None)
        tables.add_seal(to[1].state["seal"])
    return tables.counts


def _results(job: Job, store: BatchStore, log: LogWriter) -> Iterator[NoteResult]:
    """Yield the result of each note after all decisions, of which the log takes the new ones."""
    size = job.settings.batch_size
    for key in range(len(job.survey.batches)):
        for line in store.get(key):
            whole: EvidenceLine = line
            same_as = ""
            if "same_as" in line:
                whole = store.get(line["same_as"] // size)[line["same_as"] % size].copy()
                same_as, whole["note"] = whole["note"], line["note"]
            judge = partial(
                judge_note,
                whole,
                job.rubrics.get(line["case"], Rubric(line["case"], ())),
                policy=job.policy or job.settings.unsure,
                any_text=job.settings.any_text,
                same_as=same_as,
            )
            machine = judge()
            log.add_machine(machine)
            own = job.corrections.of(line["note"])
            if not own:
                yield machine
                continue
            said = {item.feature.id: item.found for item in machine.items}
            for one, before, after in job.corrections.steps(line["note"]):
                was = said[one.correction.feature] if before is None else before.found
                log.add_person(one.correction, one.about, was, judge(corrections=after))
            yield judge(corrections=own)
