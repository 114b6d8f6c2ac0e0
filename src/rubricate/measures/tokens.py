"""Tokens: turning character spans into runs of tokens, for measures that count in tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from rubricate.errors import Fault, InputError
from rubricate.measures.marks import Marks, zones
from rubricate.measures.pairing import Pairing
from rubricate.rows import I64

#: Gives the (start, end) of each token of a text, in order, none overlapping another.
Tokenizer = Callable[[str], npt.ArrayLike]
#: A tokenizer, or the tokens of each note by note id.
Tokens = Tokenizer | Mapping[str, npt.ArrayLike]

_WORD = re.compile(r"\w+|[^\w\s]")


def words(text: str) -> list[tuple[int, int]]:
    """Cut a text into runs of letters, digits and underscores, and single other characters.

    Every character but white space belongs to a token.

    Examples
    --------
    >>> words("58 yo M, no CP")
    [(0, 2), (3, 5), (6, 7), (7, 8), (9, 11), (12, 14)]
    """
    return [match.span() for match in _WORD.finditer(text)]


def to_tokens(pairing: Pairing, tokens: Tokens = words) -> tuple[Marks, Marks, I64]:
    """Restate both sides of a pairing in tokens.

    A fragment becomes the run of tokens it shares a character with. One that holds no token
    (only white space) disappears; its annotation stays, perhaps without any fragment.
    """
    first, start, end, base = _token_line(pairing, tokens)
    number = pairing.keys.note
    reference, predicted = (
        _restated(side, number, base, first, start, end)
        for side in (pairing.reference_marks, pairing.predicted_marks)
    )
    return reference, predicted, np.diff(first)[number]


def _token_line(pairing: Pairing, tokens: Tokens) -> tuple[I64, I64, I64, I64]:
    """Lay the tokens of all paired notes on one line of characters."""
    notes = pairing.reference.notes
    # notes without any mark need no tokens, and cutting text is the slow part
    marked = np.zeros(len(notes), dtype=bool)
    for side in (pairing.reference_marks, pairing.predicted_marks):
        marked[pairing.keys.note[side.row]] = True
    lengths = np.array([len(note.text) for note in notes], dtype=np.int64)
    base = zones(lengths)
    none = np.zeros((0, 2), dtype=np.int64)
    found, faults = [none], []
    counts = np.zeros(len(notes), dtype=np.int64)
    for i in np.flatnonzero(marked).tolist():
        note = notes[i]
        if isinstance(tokens, Mapping) and note.id not in tokens:
            faults.append(Fault(f"no tokens are given for note {note.id!r}"))
            continue
        given = tokens[note.id] if isinstance(tokens, Mapping) else tokens(note.text)
        pairs = np.asarray(given, dtype=np.int64).reshape(-1, 2)
        if not _is_tokenization(pairs, len(note.text)):
            faults.append(
                Fault(
                    f"note {note.id!r}: tokens must be sorted, not overlap, and lie within "
                    f"0 to {len(note.text)}"
                )
            )
        counts[i] = len(pairs)
        found.append(pairs + base[i])
    if faults:
        raise InputError(faults)
    line = np.concatenate(found)
    return np.concatenate(([0], np.cumsum(counts))), line[:, 0], line[:, 1], base


def _is_tokenization(pairs: I64, length: int) -> bool:
    flat = pairs.ravel()
    if len(flat) == 0:
        return True
    in_order = (np.diff(flat) >= 0).all() and (pairs[:, 0] < pairs[:, 1]).all()
    return bool(in_order and flat[0] >= 0 and flat[-1] <= length)


def _restated(marks: Marks, number: I64, base: I64, first: I64, start: I64, end: I64) -> Marks:
    note = number[marks.fragment_row]
    low = np.searchsorted(end, marks.start + base[note], side="right")
    high = np.searchsorted(start, marks.end + base[note], side="left")
    kept = low < high
    per_annotation = np.bincount(marks.fragment_annotation[kept], minlength=len(marks))
    return Marks(
        marks.row,
        np.concatenate(([0], np.cumsum(per_annotation))).astype(np.int64),
        (low - first[note])[kept],
        (high - first[note])[kept],
    )
