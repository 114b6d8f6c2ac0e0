"""A first look at all notes: which are identical, which cannot be scored, what corrections fit."""

from __future__ import annotations

import hashlib
import json
import re
from array import array
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rubricate.corpus import Note
from rubricate.errors import Fault
from rubricate.formats.format import Unreadable
from rubricate.rubric import Rubric
from rubricate.scoring.corrections import Corrections

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]

#: Longest note, in characters, that is scored unless told otherwise.
LONGEST = 100_000
#: Share of characters no text has, from which a note is taken for something else.
_MOST_STRANGE = 0.1
#: Control characters but tab and line ends, and the sign for bytes that could not be decoded.
_STRANGE = re.compile(r"[\x01-\x08\x0e-\x1b\x7f\ufffd]")


class BatchMark(NamedTuple):
    """What a batch is known by when it is read again, and when its evidence is.

    ``notes`` is a hash of ids, cases and texts; ``ids`` one of ids and cases as they are written.
    """

    notes: str
    ids: str


def mark_batch(first: int, notes: Iterable[Note | Unreadable]) -> BatchMark:
    """Return what a batch is known by; ``first`` is the number of its first note."""
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


def writable(text: str) -> str:
    r"""Return a text with half surrogate pairs written as escapes.

    Examples
    --------
    >>> writable("a\ud800")
    'a\\ud800'
    """
    return text.encode(errors="backslashreplace").decode()


@dataclass(frozen=True, eq=False, slots=True)
class Survey:
    """What all notes have in common; some forty bytes per note are kept, whatever their length."""

    n_notes: int
    hash: str
    batches: tuple[BatchMark, ...]
    first: I64
    repeated: npt.NDArray[np.bool_]
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

    Examples
    --------
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
    repeated = _first_alike(_pairs(ids), np.zeros(len(ids) // 2, dtype=bool))
    is_repeated = repeated != np.arange(len(repeated))
    first = _first_alike(_pairs(texts), is_repeated)
    return Survey(
        len(first),
        whole.hexdigest(),
        tuple(marks),
        first,
        is_repeated,
        frozenset(cases),
        tuple(faults),
    )


def _note_bytes(number: int, note: Note | Unreadable) -> tuple[bytes, bytes]:
    text = note.text if isinstance(note, Note) else f"{number} cannot be read: {note.reason}"
    return _bytes(note.id), _bytes(note.case) + b"\0" + _bytes(text)


def _bytes(text: str) -> bytes:
    # Half surrogate pairs must not stop the survey: the screening names them.
    return text.encode(errors="surrogatepass")


def _pairs(values: array[int]) -> U64:
    return np.frombuffer(values, dtype=np.uint64).reshape(-1, 2)


def _first_alike(keys: U64, left_out: npt.NDArray[np.bool_]) -> I64:
    """Return, for each key, the number of the first equal one; those left out stand alone."""
    n = len(keys)
    first = np.arange(n, dtype=np.int64)
    used = np.flatnonzero(~left_out)
    if len(used) < 2:
        return first
    own = keys[used]
    order = np.lexsort((used, own[:, 1], own[:, 0]))
    ordered = own[order]
    starts = np.concatenate(([True], (ordered[1:] != ordered[:-1]).any(axis=1)))
    group = np.cumsum(starts) - 1
    first[used[order]] = used[order][np.flatnonzero(starts)[group]]
    return first


def why_not_scored(note: Note, cases: Container[str], *, longest: int = LONGEST) -> str:
    """Return why a note cannot be scored; empty if it can.

    Examples
    --------
    >>> why_not_scored(Note("1", "c", "  "), {"c"})
    'the note is empty'
    >>> why_not_scored(Note("1", "d", "no fever"), {"c"})
    "no rubric for case 'd'"
    """
    text = note.text
    if not text.strip():
        return "the note is empty"
    if len(text) > longest:
        return f"the note has {len(text):,} characters; at most {longest:,} are scored"
    if "\0" in text or len(_STRANGE.findall(text)) > _MOST_STRANGE * len(text):
        return "the note is not text: it holds control characters"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"the note is not text: half a surrogate pair at {error.start}"
    if not note.case and "" not in cases:
        return "the note names no case"
    if note.case not in cases:
        return f"no rubric for case {note.case!r}"
    return ""
