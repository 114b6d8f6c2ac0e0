"""Finding the evidence of all notes, batch by batch, in any order and only once."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
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
from rubricate.formats.annotations import writable
from rubricate.formats.format import Unreadable
from rubricate.matchers import Matcher, load_matcher, notes_at_once
from rubricate.progress import Progress, silent
from rubricate.rows import Contradiction
from rubricate.rubric import NOT_MENTIONED, Rubric
from rubricate.run.results import CounterEvidence, Evidence, EvidenceLine, kept_digits
from rubricate.scoring.job import Job, evidence_program
from rubricate.scoring.survey import why_no_note, why_not_scored
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
            self._lines[key], searched = _begin(self._job, key, batch)
            self._missing[key] = len(searched)
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


def _begin(
    job: Job, key: int, batch: Sequence[Note | Unreadable]
) -> tuple[list[EvidenceLine], list[tuple[EvidenceLine, Note]]]:
    """Return the lines of a batch, and those of them whose notes must be searched."""
    lines, searched = [], []
    for number, note in enumerate(batch, start=key * job.settings.batch_size):
        line: EvidenceLine = {"note": writable(note.id), "case": writable(note.case)}
        if isinstance(note, Unreadable):
            failed = note.reason
        else:
            failed = why_not_scored(note, job.rubrics, longest=job.settings.longest)
        first = int(job.survey.first[number])
        if failed:
            line["failed"] = failed
        elif first != number:
            line["same_as"] = first
        elif isinstance(note, Note):
            searched.append((line, note))
        lines.append(line)
    return lines, searched


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
        probability = None if rows.probability is None else float(rows.probability[row])
        found[predicted.features[int(rows.feature[row])].id] = Evidence(
            spans=tuple(tuple((s.start, s.end) for s in one.spans) for one in annotations),
            probability=kept_digits(probability),
            confidence=kept_digits(max(known, default=None)),
            text=tuple(one.text(note.text) for one in annotations),
            reason="; ".join(dict.fromkeys(one.detail.reason for one in annotations)),
            against=_against(rows.contradictions.get(row), note.text),
        )
    return found


def _against(said: Contradiction | None, text: str) -> CounterEvidence | None:
    if said is None:
        return None
    words = words_at(said.spans, text)
    return CounterEvidence(said.spans, words, kept_digits(said.probability), said.reason)


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
