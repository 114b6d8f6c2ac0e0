"""Faults of tables that only their use shows: entries that no text can have, false examples."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rubricate.errors import Fault, InputError, UnknownNameError
from rubricate.knowledge.loader import Line, Table, load, table_names
from rubricate.knowledge.schemas import (
    AT_PLACE,
    WHOLE,
    CueRow,
    GroupRow,
    PatternRow,
    PhraseRow,
    RowT,
    ValueRow,
    WordRow,
)
from rubricate.knowledge.tables import compile_rows

#: Returns the forms of the tokens of a text.
Tokenise = Callable[[str], Sequence[str]]
#: The end of a line in an example.
LINE_END = "⏎"


def find_faults(tokenise: Tokenise) -> list[Fault]:
    """Return every fault of every table of the package.

    ``tokenise`` is the tokeniser of notes: a word that it writes otherwise is in no note.
    """
    faults: list[Fault] = []
    for words in _tables(WordRow, faults):
        faults += dead_words(words, tokenise)
    for cues in _tables(CueRow, faults):
        faults += shadowed_cues(cues, tokenise)
    for patterns in _tables(PatternRow, faults):
        faults += false_examples(patterns)
    for groups in _tables(GroupRow, faults):
        faults += dead_words(groups, tokenise)
    list(_tables(PhraseRow, faults))
    list(_tables(ValueRow, faults))
    return faults


def count_entries() -> dict[str, int]:
    """Return the number of lists and of entries in the tables that can be read.

    >>> sorted(count_entries())
    ['entries', 'lists']
    """
    tables: list[Table[Any]] = [
        *_tables(WordRow, []), *_tables(PhraseRow, []), *_tables(CueRow, []),
        *_tables(ValueRow, []), *_tables(GroupRow, []), *_tables(PatternRow, []),
    ]  # fmt: skip
    lists = [lines for table in tables for lines in table.lists.values()]
    return {"lists": len(lists), "entries": sum(map(len, lists))}


def _tables(shape: type[RowT], faults: list[Fault]) -> Iterator[Table[RowT]]:
    """Yield the tables of a shape; add the faults of those that cannot be read."""
    for name in table_names(shape):
        try:
            yield load(shape, name)
        except InputError as error:
            faults += error.faults


def dead_words(table: Table[WordRow] | Table[GroupRow], tokenise: Tokenise) -> Iterator[Fault]:
    """Yield the words that are the form of no token."""
    for lines in table.lists.values():
        for number, row in lines:
            if list(tokenise(row.word)) != [row.word]:
                forms = " ".join(tokenise(row.word))
                what = f"{row.word!r} is in no note: the tokeniser writes {forms!r}"
                yield Fault(what, table.path, number)


def shadowed_cues(table: Table[CueRow], tokenise: Tokenise) -> Iterator[Fault]:
    """Yield the phrases whose tokens are those of an earlier one of their table."""
    for name, lines in table.lists.items():
        first: dict[tuple[str, ...], Line[CueRow]] = {}
        for line in lines:
            forms = tuple(tokenise(line.row.phrase))
            if (other := first.setdefault(forms, line)) is not line:
                what = f"{name}: {line.row.phrase!r} is read as line {other.number} is"
                yield Fault(what, table.path, line.number)


def false_examples(table: Table[PatternRow]) -> Iterator[Fault]:
    """Yield the patterns that do not match their example, or match what they must not."""
    for name, lines in table.lists.items():
        for number, row in lines:
            try:
                own, whole = compile_rows([row]), compile_rows([line.row for line in lines])
            except (re.error, UnknownNameError) as error:
                yield Fault(f"{name}: {error}", table.path, number)
                continue
            if not _finds(own, row.yes, row.flags):
                yield Fault(f"{name} does not match its example {row.yes!r}", table.path, number)
            if _finds(whole, row.no, row.flags):
                yield Fault(f"{name} matches {row.no!r}, which it must not", table.path, number)


def _finds(found: re.Pattern[str], example: str, flags: str) -> bool:
    text = example.replace(LINE_END, "\n")
    if WHOLE in flags:
        return found.fullmatch(text) is not None
    return (found.match(text) if AT_PLACE in flags else found.search(text)) is not None
