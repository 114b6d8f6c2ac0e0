"""A note read once for all its features: tokens with their stems and their surroundings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rubricate.arrays import I32, Bools
from rubricate.spans import Span
from rubricate.text.clauses import clause_ranges
from rubricate.text.negation import NegationScope, find_negations
from rubricate.text.quantities import Quantity, find_quantities
from rubricate.text.sections import SECTION_NAMES, find_sections
from rubricate.text.words import Token, find_tokens, word_set

RELATIVES = word_set(
    "father mother dad mom mum brother sister sibling siblings parent parents grandfather uncle"
    " grandmother grandparent grandparents aunt cousin son daughter twin maternal paternal mat pat"
    " family fam fhx fh fmhx familial relatives relative gf gm mgm mgf pgm pgf dads moms mothers"
    " fathers brothers sisters children"
)
SECTION_NUMBER = {name: i + 1 for i, name in enumerate(SECTION_NAMES)}
#: What separates the items of a list.
SEPARATORS = word_set(", / and or & nor + ;")
MARK, NUMBER, WORD = 0, 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class NoteReading:
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


def read_note(text: str) -> NoteReading:
    """Read a note.

    >>> reading = read_note("Denies fever, chills. FHx: dad MI at 52")
    >>> [t.form for t, s in zip(reading.tokens, reading.scope) if s >= 0]
    ['fever', ',', 'chills']
    >>> [t.form for t, f in zip(reading.tokens, reading.family) if f]
    ['fhx', ':', 'dad', 'mi', 'at', '52']
    """
    raw = find_tokens(text)
    tokens = [token for token in raw if token.kind != "newline"]
    n = len(tokens)
    place = np.zeros(len(text) + 2, dtype=np.int32)
    starts = [token.start for token in tokens]
    # place[c] = number of tokens that start before offset c: the first token at or after c.
    place[np.array(starts, dtype=np.int64) + 1] = 1
    np.cumsum(place, out=place)

    def cover(spans: list[Span]) -> I32:
        column = np.full(n, -1, dtype=np.int32)
        for i, span in enumerate(spans):
            column[place[span.start] : place[span.end]] = i
        return column

    def deny(negations: list[NegationScope]) -> tuple[I32, I32]:
        """Return what is denied and what denies; a word that denies itself is the former."""
        scope = cover([one.scope_span for one in negations])
        cue = cover([one.cue_span for one in negations])
        for i, one in enumerate(negations):
            if one.is_one_word:
                token = place[min(one.cue_span.start, one.scope_span.start)]
                scope[token], cue[token] = i, -1
        return scope, cue

    negations = find_negations(text, raw)
    quantities = find_quantities(text, raw)
    clause, family = _clauses(text, raw, place, n)
    scope, cue = deny(negations)
    section = np.zeros(n, dtype=np.int32)
    for one in find_sections(text, raw):
        end = one.heading.end if one.body is None else one.body.end
        section[place[one.heading.start] : place[end]] = SECTION_NUMBER[one.name]
    family |= section == SECTION_NUMBER["family"]
    return NoteReading(
        text=text,
        tokens=tokens,
        kind=np.array([_KINDS[token.kind] for token in tokens], dtype=np.int32),
        clause=clause,
        scope=scope,
        cue=cue,
        quantity=cover([one.span for one in quantities]),
        section=section,
        family=family.astype(np.int32),
        negations=negations,
        quantities=quantities,
        item=_items(tokens, clause),
    )


def _items(tokens: Sequence[Token], clause: I32) -> I32:
    """Number the items; a separator belongs to the item after it."""
    begins = np.array([token.form in SEPARATORS for token in tokens], dtype=np.bool_)
    if len(tokens):
        begins[1:] |= clause[1:] != clause[:-1]
        begins[0] = False
    return np.cumsum(begins).astype(np.int32)


def _clauses(text: str, raw: list[Token], place: I32, n: int) -> tuple[I32, Bools]:
    begins = np.zeros(n + 1, dtype=np.int32)
    family = np.zeros(n, dtype=np.bool_)
    for i, (first, end) in enumerate(clause_ranges(text, raw)):
        a, b = place[raw[first].start], place[raw[end - 1].end]
        begins[a] = i
        if any(raw[k].form in RELATIVES for k in range(first, end)):
            family[a:b] = True
    return np.maximum.accumulate(begins[:n]), family


#: A note of more tokens is compared with its rubric in parts, so that memory stays small.
MOST_TOKENS = 4096


def split_reading(reading: NoteReading) -> list[NoteReading]:
    """Return a reading in parts of at most `MOST_TOKENS` tokens; nearly always it is one.

    >>> [len(part) for part in split_reading(read_note("a " * 5000))]
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


def join_readings(readings: Sequence[NoteReading]) -> NoteReading:
    """Return several notes as one reading, so that arrays are few and long.

    Clauses, negations and quantities are numbered on; offsets stay those of each note. Notes
    without tokens are left out of ``first``.

    >>> both = join_readings([read_note("no fever"), read_note(""), read_note("no cough")])
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
    return NoteReading(
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
