"""Finding the evidence of all notes, batch by batch, in any order and only once."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import NamedTuple

from rubricate import __version__
from rubricate.batch import BatchStore, Lost, Retries, open_pool, run_batches
from rubricate.corpus import Note
from rubricate.errors import InputError
from rubricate.formats.format import Unreadable
from rubricate.formats.reading import writable
from rubricate.matchers import Matcher, ShippedModel, load_matcher, notes_at_once
from rubricate.matchers.apart import Failure, attempt_together
from rubricate.matchers.predictions import Found, read_with
from rubricate.progress import Progress, silent
from rubricate.rubric import NOT_MENTIONED, Rubric
from rubricate.run.results import CounterEvidence, Evidence, EvidenceLine, kept_digits
from rubricate.scoring.job import Job, evidence_program
from rubricate.screening.readable import why_no_note, why_not_scored
from rubricate.spans import words_at


class KeptBatches(NamedTuple):
    """Number of stored batches, and number of damaged files."""

    used: int
    refused: int


def find_evidence(
    job: Job, store: BatchStore, retries: Retries, *, progress: Progress = silent
) -> KeptBatches:
    """Find the evidence of all batches that are not done yet."""
    done = store.done() & set(range(len(job.survey.batches)))
    kept = KeptBatches(len(done), store.drop_others(done))
    if len(done) == len(job.survey.batches):
        return kept
    work = ScoringWork(
        job.model if isinstance(job.model, ShippedModel) else job.model.absolute(),
        tuple(job.rubrics.values()),
        job.settings.seed,
        evidence_program(),
        job.settings.note_seconds,
    )
    pool = open_pool(work, workers=job.settings.workers, dask=job.settings.dask)
    pieces = _Pieces(job, done)
    progress(pieces.n_done, job.survey.n_notes, "finding evidence")
    try:
        for number, results in run_batches(pool, pieces, retries=retries):
            if batch := pieces.take(number, results):
                store.put(*batch)
            progress(pieces.n_done, job.survey.n_notes, "finding evidence")
    finally:
        pool.close()
    return kept


class _Piece(NamedTuple):
    """Some lines of a batch that wait for a worker."""

    batch: int
    lines: list[EvidenceLine]


class _Pieces:
    """The batches that are not done yet, handed out in pieces of `notes_at_once`.

    ``n_done``: the notes that need no further search, those of finished batches included.
    """

    def __init__(self, job: Job, done: set[int]) -> None:
        size, n_notes = job.settings.batch_size, job.survey.n_notes
        self.n_done = sum(min(size, n_notes - key * size) for key in done)
        self._job, self._done = job, done
        self._size = min(size, notes_at_once(job.matcher))
        self._out: dict[int, _Piece] = {}
        self._lines: dict[int, list[EvidenceLine]] = {}
        self._missing: dict[int, int] = {}

    def __iter__(self) -> Iterator[tuple[int, list[Note]]]:
        number = count()
        for key, batch in enumerate(self._job.batches()):
            if key in self._done:
                continue
            lines: list[EvidenceLine] = []
            searched: list[tuple[EvidenceLine, Note]] = []
            for at, note in enumerate(batch, start=key * self._job.settings.batch_size):
                line: EvidenceLine = {"note": writable(note.id), "case": writable(note.case)}
                lines.append(line)
                first = int(self._job.survey.first[at])
                if isinstance(note, Unreadable):
                    line["failed"] = note.reason
                elif why := why_not_scored(
                    note, self._job.rubrics, longest=self._job.settings.longest
                ):
                    line["failed"] = why
                elif first != at:
                    line["same_as"] = first
                else:
                    searched.append((line, note))
            self._lines[key], self._missing[key] = lines, len(searched)
            self.n_done += len(batch) - len(searched)
            first = 0
            # A batch without a note to search is one piece without any.
            while first < len(searched) or not first:
                piece = searched[first : first + self._size]
                own = next(number)
                self._out[own] = _Piece(key, [line for line, _ in piece])
                yield own, [note for _, note in piece]
                first += len(piece) or 1

    def take(
        self, number: int, results: Sequence[EvidenceLine | Lost]
    ) -> tuple[int, list[EvidenceLine]] | None:
        """Take what was found in a piece; return the batch that is complete with it."""
        key, lines = self._out.pop(number)
        for line, found in zip(lines, results, strict=True):
            line.update({"failed": found.reason} if isinstance(found, Lost) else found)
        self.n_done += len(lines)
        self._missing[key] -= len(lines)
        return None if self._missing[key] else (key, self._lines.pop(key))


def find_in_notes(
    matcher: Matcher, rubric: Rubric, notes: Sequence[Note]
) -> Iterator[dict[str, Evidence]]:
    """Yield what a matcher finds in each note, by feature of the rubric.

    >>> from rubricate import load_corpus
    >>> from rubricate.matchers import fit_matcher
    >>> corpus = load_corpus("open-notes").select(cases=["30"])
    >>> (rubric,), matcher = corpus.rubrics, fit_matcher("exact", corpus)
    >>> next(find_in_notes(matcher, rubric, corpus.notes))["3012"].text
    ('no fever',)
    """
    for note, said in zip(notes, read_with(matcher, rubric, notes), strict=True):
        found: dict[str, list[Found]] = {feature.id: [] for feature in rubric}
        for one in said.found:
            found[one.feature].append(one)
        evidence: dict[str, Evidence] = {}
        for key, own in found.items():
            annotations = sorted((tuple(sorted(one.spans)), one.reason) for one in own)
            known = [one.confidence for one in own if not math.isnan(one.confidence)]
            against = said.contradictions.get(key)
            evidence[key] = Evidence(
                spans=tuple(spans for spans, _ in annotations),
                probability=kept_digits(said.probabilities.get(key)),
                confidence=kept_digits(max(known, default=None)),
                text=tuple(words_at(spans, note.text) for spans, _ in annotations),
                reason="; ".join(dict.fromkeys(reason for _, reason in annotations)),
                against=None
                if against is None
                else CounterEvidence(
                    against.spans,
                    words_at(against.spans, note.text),
                    kept_digits(against.probability),
                    against.reason,
                ),
            )
        yield evidence


@dataclass(frozen=True, slots=True)
class ScoringWork:
    """Finds evidence in batches of notes, wherever it is sent."""

    model: Path | ShippedModel
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
        if isinstance(self.model, ShippedModel):
            matcher = self.model.make()
        elif self.model.is_dir():
            matcher = load_matcher(self.model)
        else:
            raise InputError(
                f"the worker sees no model at {self.model}. "
                "Put the output and the model where all workers can read them."
            )
        return EvidenceFinder(matcher, self.rubrics, self.seed, self.note_seconds)


@dataclass(frozen=True, slots=True)
class EvidenceFinder:
    """Finds evidence in notes with one matcher; a note it fails at gets a reason, not an error.

    A note may take ``note_seconds`` (0: any time). Notes are searched together; if they take longer
    than one note may, and a tenth of that for each other, they are searched one by one.
    """

    matcher: Matcher
    rubrics: Sequence[Rubric]
    seed: int = 0
    note_seconds: float = 0.0

    def __call__(self, notes: Sequence[Note]) -> list[EvidenceLine]:
        """Return ``{"items": evidence of each feature in order}`` or ``{"failed": why}``."""
        lines: list[EvidenceLine] = []
        for _, found in attempt_together(notes, self._find, self.note_seconds):
            lines += [{"failed": found.reason}] if isinstance(found, Failure) else found
        return lines

    def _find(self, notes: Sequence[Note]) -> list[EvidenceLine]:
        import numpy as np

        random.seed(self.seed)
        np.random.seed(self.seed)
        rubrics = {rubric.case: rubric for rubric in self.rubrics}
        by_case: dict[str, list[Note]] = {}
        for note in notes:
            by_case.setdefault(note.case, []).append(note)
        found_in = {
            case: find_in_notes(self.matcher, rubrics[case], own) for case, own in by_case.items()
        }
        results: list[EvidenceLine] = []
        for note in notes:
            found, rubric = next(found_in[note.case]), rubrics[note.case]
            items = [found.get(feature.id, Evidence()) for feature in rubric]
            line: EvidenceLine = {"items": [one.to_json() for one in items]}
            n_met = sum(one.outcome != NOT_MENTIONED for one in items)
            if why := why_no_note(note.text, rubric, n_met):
                line["no_note"] = why
            results.append(line)
        return results
