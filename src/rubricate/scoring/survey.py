"""A first look at all notes: how many, which are identical, and whether corrections fit them."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rubricate.corpus import Note
from rubricate.errors import Fault
from rubricate.rubric import Rubric
from rubricate.scoring.corrections import Corrections
from rubricate.scoring.note_streams import Unreadable

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False, slots=True)
class Survey:
    """What all notes have in common; some forty bytes a note are kept, whatever their length.

    Parameters
    ----------
    n_notes : int
        How many there are.
    hash : str
        SHA-256 of their ids, cases and texts, in order.
    first : int64 array
        For each note the number of the first with the same case and text; its own if there is
        none before it.
    repeated : bool array
        Notes whose id an earlier note has.
    cases : frozenset of str
        The cases seen.
    faults : tuple of Fault
        What is wrong with the corrections.
    """

    n_notes: int
    hash: str
    first: I64
    repeated: npt.NDArray[np.bool_]
    cases: frozenset[str]
    faults: tuple[Fault, ...] = ()


def survey_notes(
    notes: Iterable[Note | Unreadable],
    *,
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
    for number, note in enumerate(notes):
        text = note.text if isinstance(note, Note) else f"{number} cannot be read: {note.reason}"
        own_id, own_text = _bytes(note.id), _bytes(note.case) + b"\0" + _bytes(text)
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
    repeated = _first_alike(_pairs(ids), np.zeros(len(ids) // 2, dtype=bool))
    is_repeated = repeated != np.arange(len(repeated))
    first = _first_alike(_pairs(texts), is_repeated)
    return Survey(
        len(first), whole.hexdigest(), first, is_repeated, frozenset(cases), tuple(faults)
    )


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


def with_only_case(
    notes: Iterable[Note | Unreadable], rubrics: Mapping[str, Rubric]
) -> Iterator[Note | Unreadable]:
    """Give notes without a case the only case there is a rubric for."""
    only = next(iter(rubrics)) if len(rubrics) == 1 else ""
    for note in notes:
        if only and not note.case and isinstance(note, Note):
            yield Note(note.id, only, note.text, note.metadata)
        else:
            yield note
