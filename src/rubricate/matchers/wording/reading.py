"""A note read once for all its features: tokens with their stems and their surroundings."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rubricate.arrays import I32
from rubricate.knowledge.tables import words
from rubricate.reading.negation import NegationScope
from rubricate.reading.note import NoteReading, read_note
from rubricate.reading.quantities import Quantity
from rubricate.reading.sections import SECTION_NAMES
from rubricate.reading.tokens import Speller, Token, root
from rubricate.requirement.alternative import RELATIVES

SECTION_NUMBER = {name: i + 1 for i, name in enumerate(SECTION_NAMES)}
SEPARATORS = words("lexical.separators")
MARK, NUMBER, WORD = 0, 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class NoteColumns:
    """The tokens of a note (line breaks left out), and for each token what surrounds it."""

    text: str
    tokens: list[Token]
    kind: I32
    clause: I32
    scope: I32
    cue: I32
    quantity: I32
    section: I32
    family: I32
    negations: list[NegationScope]
    quantities: list[Quantity]
    item: I32
    first: tuple[int, ...] = (0,)

    def __len__(self) -> int:
        return len(self.tokens)


_KINDS = {"mark": MARK, "number": NUMBER, "word": WORD}


def read_columns(text: str) -> NoteColumns:
    """Read a note.

    >>> reading = read_columns("Denies fever, chills. FHx: dad MI at 52")
    >>> [t.form for t, s in zip(reading.tokens, reading.scope) if s >= 0]
    ['fever', ',', 'chills']
    >>> [t.form for t, f in zip(reading.tokens, reading.family) if f]
    ['fhx', ':', 'dad', 'mi', 'at', '52']
    """
    return read_note(text).once(_columns)


def _columns(whole: NoteReading) -> NoteColumns:
    tokens, starts, n = whole.tokens, whole.starts, len(whole.tokens)
    section = np.zeros(n, dtype=np.int32)
    for one in whole.sections:
        end = one.heading.end if one.body is None else one.body.end
        first = bisect_left(starts, one.heading.start)
        section[first : bisect_left(starts, end)] = SECTION_NUMBER[one.names[0]]
    quantity = np.full(n, -1, dtype=np.int32)
    for i, found in enumerate(whole.quantities):
        first, last = bisect_left(starts, found.span.start), bisect_left(starts, found.span.end)
        quantity[first:last] = i
    # Marks before the first clause belong to it.
    clause = np.maximum(np.array(whole.clause, dtype=np.int32) - 1, 0)
    # A clause that names a relative is about relatives.
    named = np.array([token.form in RELATIVES for token in tokens], dtype=np.bool_)
    family = section == SECTION_NUMBER["family"]
    for first, last in whole.clauses if named.any() else ():
        family[first:last] |= named[first:last].any()
    # An item begins with the separator before it, and with a clause.
    begins = np.array([token.form in SEPARATORS for token in tokens], dtype=np.bool_)
    if n:
        begins[1:] |= clause[1:] != clause[:-1]
        begins[0] = False
    return NoteColumns(
        text=whole.text,
        tokens=tokens,
        kind=np.array([_KINDS[token.kind] for token in tokens], dtype=np.int32),
        clause=clause,
        scope=np.array(whole.scope, dtype=np.int32),
        cue=np.array(whole.cue, dtype=np.int32),
        quantity=quantity,
        section=section,
        family=family.astype(np.int32),
        negations=whole.negations,
        quantities=whole.quantities,
        item=np.cumsum(begins).astype(np.int32),
    )


def stems_of(reading: NoteColumns, speller: Speller) -> list[str]:
    """Return the stems of a note's tokens, with corrected spelling."""
    return [
        root(speller.correct(token.form)) if token.kind == "word" else token.form
        for token in reading.tokens
    ]


#: A note of more tokens is compared with its rubric in parts, so that memory stays small.
MOST_TOKENS = 4096


def split_reading(reading: NoteColumns) -> list[NoteColumns]:
    """Return a reading in parts of at most `MOST_TOKENS` tokens; nearly always it is one.

    >>> [len(part) for part in split_reading(read_columns("a " * 5000))]
    [4096, 904]
    """
    if len(reading) <= MOST_TOKENS:
        return [reading]
    parts = []
    for begin in range(0, len(reading), MOST_TOKENS):
        own = slice(begin, begin + MOST_TOKENS)
        columns = {name: getattr(reading, name)[own] for name in _COLUMNS}
        parts.append(replace(reading, tokens=reading.tokens[own], **columns))
    return parts


_COLUMNS = ("kind", "clause", "scope", "cue", "quantity", "section", "family", "item")


def join_readings(readings: Sequence[NoteColumns]) -> NoteColumns:
    """Return several notes as one reading, so that arrays are few and long.

    Clauses, negations and quantities are numbered on; offsets stay those of each note. Notes
    without tokens are left out of ``first``.

    >>> both = join_readings([read_columns("no fever"), read_columns(""), read_columns("no cough")])
    >>> both.first, both.scope.tolist()
    ((0, 2), [-1, 0, -1, 1])
    """

    def shifted(name: str, counts: list[int]) -> I32:
        parts = []
        add = 0
        for reading, n in zip(readings, counts, strict=True):
            own = getattr(reading, name)
            parts.append(np.where(own >= 0, own + add, own))
            add += n
        return np.concatenate(parts).astype(np.int32)

    sizes = np.cumsum([0] + [len(reading) for reading in readings])
    n_negations = [len(reading.negations) for reading in readings]
    plain = {
        name: np.concatenate([getattr(reading, name) for reading in readings])
        for name in ("kind", "section", "family")
    }
    return NoteColumns(
        text="",
        tokens=[token for reading in readings for token in reading.tokens],
        clause=shifted("clause", [int(r.clause.max(initial=0)) + 1 for r in readings]),
        scope=shifted("scope", n_negations),
        cue=shifted("cue", n_negations),
        quantity=shifted("quantity", [len(r.quantities) for r in readings]),
        negations=[one for reading in readings for one in reading.negations],
        quantities=[one for reading in readings for one in reading.quantities],
        item=shifted("item", [int(r.item.max(initial=0)) + 1 for r in readings]),
        first=tuple(int(sizes[i]) for i, r in enumerate(readings) if len(r)),
        **plain,
    )


def shift_tokens(
    values: npt.NDArray[Any], by: int, clause: I32, fill: float = 0
) -> npt.NDArray[Any]:
    """Return the values ``by`` tokens to the right (left when negative), within each clause.

    >>> shift_tokens(np.array([5, 6, 7]), 1, np.array([0, 0, 1])).tolist()
    [6, 0, 0]
    """
    out = np.full_like(values, fill)
    n, right, left = len(values), max(by, 0), max(-by, 0)
    here, there = slice(left, max(n - right, 0)), slice(right, max(n - left, 0))
    same = clause[here] == clause[there]
    out[here][same] = values[there][same]
    return out
