"""A first look at all notes: how many there are, identical ones, corrections that fit none."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rubricate.arrays import I64
from rubricate.corpus import Note
from rubricate.errors import Fault
from rubricate.formats.format import Unreadable
from rubricate.formats.reading import writable
from rubricate.rubric import Rubric
from rubricate.scoring.corrections import Corrections


class BatchMark(NamedTuple):
    """Hashes that identify a batch and its evidence.

    ``notes`` is a hash of ids, cases and texts; ``ids`` one of ids and cases as they are written.
    """

    notes: str
    ids: str


def mark_batch(first: int, notes: Iterable[Note | Unreadable]) -> BatchMark:
    """Return the hashes of a batch; ``first`` is the number of its first note."""
    whole = hashlib.sha256()
    listed = []
    for number, note in enumerate(notes, start=first):
        own_id, own_text = _note_bytes(number, note)
        whole.update(own_id + b"\0" + own_text + b"\0")
        listed.append((writable(note.id), writable(note.case)))
    return BatchMark(whole.hexdigest(), mark_ids(listed))


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
    batch: list[Note | Unreadable] = []
    for number, note in enumerate(notes):
        if len(batch) == batch_size:
            marks.append(mark_batch(number - batch_size, batch))
            batch.clear()
        batch.append(note)
        own_id, own_text = _note_bytes(number, note)
        whole.update(own_id + b"\0" + own_text + b"\0")
        ids.frombytes(hashlib.blake2b(own_id, digest_size=16).digest())
        texts.frombytes(hashlib.blake2b(own_text, digest_size=16).digest())
        cases.add(note.case)
        if corrections is not None:
            rubric = (rubrics or {}).get(note.case)
            stated = note.text if isinstance(note, Note) else ""
            faults += corrections.check(note.id, rubric, stated)
    if batch:
        marks.append(mark_batch(len(marks) * batch_size, batch))
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


def _note_bytes(number: int, note: Note | Unreadable) -> tuple[bytes, bytes]:
    text = note.text if isinstance(note, Note) else f"{number} cannot be read: {note.reason}"
    whole = f"{note.case}\0{text}"
    # Half surrogate pairs must not stop the survey: the screening names them.
    return note.id.encode(errors="surrogatepass"), whole.encode(errors="surrogatepass")


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
