"""Features that want an examination to have been done, whatever it showed.

"No rebound or guarding" shows that rebound was tested. The examinations, how they are asked for
and what shows that they were done are data: ``knowledge/examinations.tsv`` and
``knowledge/examination_words.tsv``.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

from rubricate.knowledge.rows import split_cell, table_rows
from rubricate.knowledge.tables import words
from rubricate.reading.clauses import clause_ranges
from rubricate.reading.note import NoteReading
from rubricate.reading.tokens import CueTable, find_tokens
from rubricate.requirement.asked import EMPTY_WORDS

_NO_NAMES = words("checklist.no_names")

_Spans = tuple[tuple[int, int], ...]


class Examined(NamedTuple):
    """Where a note shows that an examination was done, and where that it was not."""

    done: _Spans
    undone: _Spans


@cache
def _examinations() -> tuple[CueTable, dict[str, CueTable]]:
    """Return the examinations by their names in features, and what shows each in notes."""
    rows = table_rows("examinations.tsv")
    names = {name: key for key, asked, _ in rows for name in split_cell(asked)}
    shown = {
        key: CueTable(dict.fromkeys((*split_cell(asked), *split_cell(shows)), key))
        for key, asked, shows in rows
    }
    return CueTable(names), shown


@cache
def _words(side: str) -> CueTable:
    rows = table_rows("examination_words.tsv")
    return CueTable({phrase: own for own, phrase in rows if own == side})


@lru_cache(maxsize=4096)
def asked_examination(feature: str) -> str | None:
    """Return the examination that a feature wants to have been done; None of other features.

    >>> asked_examination("Tests for rebound tenderness"), asked_examination("Fundoscopy performed")
    ('rebound', 'fundoscopy')
    >>> asked_examination("Rebound tenderness"), asked_examination("Tests for influenza")
    (None, None)
    """
    tokens = [token for token in find_tokens(feature) if token.form not in _NO_NAMES]
    first, end, told = 0, len(tokens), False
    if tokens and (hit := _words("before").at(tokens, 0)):
        first, told = hit[1], True
    for i in range(first + 1, end):
        hit = _words("after").at(tokens, i)
        if hit is not None and hit[1] == len(tokens):
            end, told = i, True
            break
    while end > first and tokens[end - 1].form in EMPTY_WORDS:
        end -= 1
    if not told or first >= end:
        return None
    named = _examinations()[0].at(tokens[:end], first)
    return named[0] if named is not None and named[1] == end else None


def find_examined(examination: str, reading: NoteReading) -> Examined:
    """Return where a note tells of an examination, and where it says that it was not done.

    >>> from rubricate.reading.note import read_note
    >>> note = read_note("No rebound or guarding. Heart not auscultated.")
    >>> find_examined("rebound", note), find_examined("heart", note)
    (Examined(done=((3, 10),), undone=()), Examined(done=(), undone=((24, 45),)))
    """
    tokens, shows, undoes = reading.raw, _examinations()[1][examination], _words("undone")
    done, undone = list[tuple[int, int]](), list[tuple[int, int]]()
    for first, end in clause_ranges(reading.text, tokens, reading.sentences):
        hits = ((i, shows.at(tokens, i)) for i in range(first, end) if tokens[i].form in shows)
        hit = next(((i, one[1]) for i, one in hits if one is not None), None)
        if hit is None:
            continue
        # What stands behind a comma is said of the next thing: "lungs clear, heart not heard".
        commas = [i for i in range(first, end) if tokens[i].form == ","]
        begin = max((i + 1 for i in commas if i < hit[0]), default=first)
        stop = min((i for i in commas if i >= hit[1]), default=end)
        if any(undoes.at(tokens, i) for i in range(begin, stop) if tokens[i].form in undoes):
            undone.append((tokens[begin].start, tokens[stop - 1].end))
        else:
            done.append((tokens[hit[0]].start, tokens[hit[1] - 1].end))
    return Examined(tuple(done), tuple(undone))
