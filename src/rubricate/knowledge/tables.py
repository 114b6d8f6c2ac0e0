"""Lists of words, phrases, cues, values and patterns by their names.

A name begins with that of its file: ``polarity.lacking`` is in ``data/words/polarity.tsv``. A file
is read when the first of its lists is asked for, and once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType

from rubricate.errors import UnknownNameError
from rubricate.knowledge.loader import load, table_names
from rubricate.knowledge.schemas import (
    FLAGS,
    FOLDERS,
    INSERTED,
    CueRow,
    GroupRow,
    PatternRow,
    PhraseRow,
    RowT,
    ValueRow,
    WordRow,
)


def _rows(shape: type[RowT], name: str) -> list[RowT]:
    kind, table = FOLDERS[shape], name.split(".")[0]
    if table not in table_names(shape):
        raise UnknownNameError(f"table of {kind}", table, table_names(shape))
    rows = load(shape, table).rows(name)
    if not rows:
        raise UnknownNameError(f"list of {kind}", name, list(load(shape, table).lists))
    return rows


@cache
def words(name: str) -> frozenset[str]:
    """Return the words of a list, in the form that the tokeniser gives them.

    >>> sorted(words("sentences.contrasts"))[:3]
    ['although', 'besides', 'but']
    """
    return frozenset(row.word for row in _rows(WordRow, name))


@cache
def phrases(name: str) -> tuple[str, ...]:
    """Return the texts of a list that are compared as they stand, in their order."""
    return tuple(row.phrase for row in _rows(PhraseRow, name))


@cache
def cues(name: str) -> Mapping[str, str]:
    """Return the kind of each phrase of a table of cues."""
    return MappingProxyType({row.phrase: row.kind for row in _rows(CueRow, name)})


@cache
def values(name: str) -> Mapping[str, str]:
    """Return the value that each form of a table says, in the order of the table."""
    return MappingProxyType({row.form: row.value for row in _rows(ValueRow, name)})


def value_lists(table: str) -> list[str]:
    """Return the names of the lists of a table of values, in their order.

    >>> value_lists("exclusive")[0]
    'exclusive.course'
    """
    return list(load(ValueRow, table).lists)


@cache
def numbers(name: str) -> Mapping[str, float]:
    """Return the number that each form of a table says."""
    return MappingProxyType({form: number(value) for form, value in values(name).items()})


@cache
def parts(name: str) -> Mapping[str, tuple[str, ...]]:
    """Return the parts of the value that each form of a table says: ``2 | 5``."""
    said = values(name).items()
    return MappingProxyType({form: tuple(value.split(" | ")) for form, value in said})


def number(written: str) -> float:
    """Return a number of a table: a whole one, one with a point, or a quotient.

    >>> number("30"), number("0.5"), number("1/4")
    (30, 0.5, 0.25)
    """
    above, _, below = written.partition("/")
    if below:
        return float(above) / float(below)
    return int(above) if above.lstrip("-").isdigit() else float(above)


@cache
def groups(name: str) -> Mapping[str, frozenset[str]]:
    """Return the words of each group of a list, in the order of the groups."""
    found: dict[str, set[str]] = {}
    for row in _rows(GroupRow, name):
        found.setdefault(row.group, set()).add(row.word)
    return MappingProxyType({group: frozenset(own) for group, own in found.items()})


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Return a regular expression; the rows of its name are its alternatives.

    >>> bool(pattern("clean.copy").match("Copy of the above:"))
    True
    """
    return compile_rows(_rows(PatternRow, name))


def compile_rows(rows: Sequence[PatternRow]) -> re.Pattern[str]:
    """Return one regular expression of the rows of a pattern.

    ``{people.kin}`` in a row inserts another pattern, or a list of words as alternatives.
    """
    flags = re.RegexFlag(0)
    for letter in rows[0].flags:
        flags |= FLAGS[letter]
    return re.compile(_expression(rows), flags)


def _expression(rows: Sequence[PatternRow]) -> str:
    return "|".join(INSERTED.sub(lambda place: _inserted(place[1]), row.pattern) for row in rows)


def _inserted(name: str) -> str:
    """Return a pattern or a list of words as a group within another pattern."""
    table = name.split(".")[0]
    if table in table_names(PatternRow) and name in load(PatternRow, table).lists:
        return f"(?:{_expression(_rows(PatternRow, name))})"
    longest_first = sorted(words(name), key=lambda word: (-len(word), word))
    return f"(?:{'|'.join(map(re.escape, longest_first))})"
