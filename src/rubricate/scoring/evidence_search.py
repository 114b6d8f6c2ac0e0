"""Finding the evidence of all notes, batch by batch, in any order and only once."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rubricate import __version__
from rubricate.batch import (
    BatchStore,
    Lost,
    OutOfTimeError,
    Retries,
    open_pool,
    run_batches,
    time_limit,
)
from rubricate.corpus import Corpus, Note
from rubricate.errors import InputError, RubricateError
from rubricate.formats.format import Unreadable
from rubricate.matchers import Matcher, load_matcher
from rubricate.progress import Progress, silent
from rubricate.rows import Contradiction
from rubricate.rubric import NOT_MENTIONED, Rubric
from rubricate.run.results import DIGITS, CounterEvidence, Evidence, EvidenceLine
from rubricate.scoring.job import Job, evidence_program
from rubricate.scoring.survey import why_no_note, why_not_scored, writable
from rubricate.spans import words_at


class KeptBatches(NamedTuple):
    """How many batches were there already, and how many files were not what they should be."""

    used: int
    refused: int


def find_evidence(
    job: Job, store: BatchStore, retries: Retries, *, progress: Progress = silent
) -> KeptBatches:
    """Find the evidence of all batches that are not done yet."""
    done = store.done() & set(range(job.n_batches))
    kept = KeptBatches(len(done), store.drop_others(done))
    if len(done) == job.n_batches:
        return kept
    work = ScoringWork(
        str(job.model.absolute()),
        tuple(job.rubrics.values()),
        job.settings.seed,
        evidence_program(),
        job.settings.note_seconds,
    )
    pool = open_pool(work, workers=job.settings.workers, dask=job.settings.dask)
    lines_of: dict[int, list[EvidenceLine]] = {}
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
            progress(n_done, job.n_batches, "finding evidence")
    finally:
        pool.close()
    return kept


def _worked(result: EvidenceLine | Lost) -> EvidenceLine:
    return {"failed": result.reason} if isinstance(result, Lost) else result


def _batches(
    job: Job, done: set[int], lines_of: dict[int, list[EvidenceLine]]
) -> Iterator[tuple[int, list[Note]]]:
    """Yield the notes of each batch that must be searched; the other lines are ready."""
    for key, batch in enumerate(job.batches()):
        if key in done:
            continue
        lines, searched = [], []
        for number, note in enumerate(batch, start=key * job.settings.batch_size):
            line: EvidenceLine = {"note": writable(note.id), "case": writable(note.case)}
            failed = _why_not(job, note)
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


def _why_not(job: Job, note: Note | Unreadable) -> str:
    if isinstance(note, Unreadable):
        return note.reason
    return why_not_scored(note, job.rubrics, longest=job.settings.longest)


def note_evidence(predicted: Corpus, note: Note) -> dict[str, Evidence]:
    """Return what the only annotator of a corpus found in a note, by feature.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["30"], annotators=["reference"])
    >>> note_evidence(corpus, corpus.notes[0])["3012"].text
    ('no fever',)
    """
    rows = predicted.rows
    found = {}
    for row in predicted.note_rows(note.id):
        annotations = predicted.row_annotations(row)
        known = [one.confidence for one in annotations if one.confidence is not None]
        probability = None if rows.probability is None else _known(float(rows.probability[row]))
        found[predicted.features[int(rows.feature[row])].id] = Evidence(
            spans=tuple(tuple((s.start, s.end) for s in one.spans) for one in annotations),
            probability=probability,
            confidence=_known(max(known)) if known else None,
            text=tuple(one.text(note.text) for one in annotations),
            reason="; ".join(dict.fromkeys(one.detail.reason for one in annotations)),
            against=_against(rows.contradictions.get(row), note.text),
        )
    return found


def _against(said: Contradiction | None, text: str) -> CounterEvidence | None:
    if said is None:
        return None
    words = words_at(said.spans, text)
    known = None if said.probability is None else _known(said.probability)
    return CounterEvidence(said.spans, words, known, said.reason)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else round(value, DIGITS)


@dataclass(frozen=True, slots=True)
class ScoringWork:
    """Finds evidence in batches of notes, wherever it is sent."""

    model: str
    rubrics: tuple[Rubric, ...]
    seed: int
    program: str
    note_seconds: float

    def prepare(self) -> Callable[[Sequence[Note]], list[EvidenceLine]]:
        """Load the model, and return the function that finds evidence."""
        if evidence_program() != self.program:
            raise InputError(
                f"the worker has rubricate {__version__} in another state than the one that "
                "started the run. Install the same one everywhere."
            )
        if not Path(self.model).is_dir():
            raise InputError(
                f"the worker sees no model at {self.model}. "
                "Put the output and the model where all workers can read them."
            )
        return EvidenceFinder(
            load_matcher(self.model), self.rubrics, self.seed, note_seconds=self.note_seconds
        )


class EvidenceFinder:
    """Finds evidence in notes with one matcher; a note it fails at gets a reason, not an error.

    A note may take ``note_seconds`` (0: any time). Notes are searched together; if they take longer
    than one note may, and a tenth of that for each other, they are searched one by one.
    """

    def __init__(
        self,
        matcher: Matcher,
        rubrics: Sequence[Rubric],
        seed: int = 0,
        *,
        note_seconds: float = 0.0,
    ) -> None:
        self._matcher = matcher
        self._rubric = {rubric.case: rubric for rubric in rubrics}
        self._seed = seed
        self._note_seconds = note_seconds

    def __call__(self, notes: Sequence[Note]) -> list[EvidenceLine]:
        """Return ``{"items": evidence of each feature in order}`` or ``{"failed": why}``."""
        try:
            with time_limit(self._note_seconds * (9 + len(notes)) / 10):
                return self._find(notes)
        except RubricateError:
            raise
        except OutOfTimeError:
            failed = f"the matcher took longer than {self._note_seconds:g} seconds"
        except Exception as error:
            # The message may hold words of the note; the kind of error does not.
            failed = f"the matcher failed: {type(error).__name__}"
        if len(notes) == 1:
            return [{"failed": failed}]
        # One of them is at fault: alone, the others come through.
        return [found for note in notes for found in self([note])]

    def _find(self, notes: Sequence[Note]) -> list[EvidenceLine]:
        import numpy as np

        random.seed(self._seed)
        np.random.seed(self._seed)
        cases = dict.fromkeys(note.case for note in notes)
        numbered = tuple(Note(str(i), n.case, n.text, n.metadata) for i, n in enumerate(notes))
        corpus = Corpus(numbered, tuple(self._rubric[case] for case in cases))
        predicted = self._matcher.predict(corpus)
        results: list[EvidenceLine] = []
        for note in numbered:
            found = note_evidence(predicted, note)
            rubric = self._rubric[note.case]
            items = [found.get(feature.id, Evidence()) for feature in rubric]
            line: EvidenceLine = {"items": [one.to_json() for one in items]}
            n_met = sum(one.outcome != NOT_MENTIONED for one in items)
            if why := why_no_note(note.text, rubric, n_met):
                line["no_note"] = why
            results.append(line)
        return results
