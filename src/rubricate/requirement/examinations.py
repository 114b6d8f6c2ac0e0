"""Features that want an examination to have been done, whatever it showed.

The examinations, how they are asked for and what shows that they were done are data:
``knowledge/examinations.tsv`` and ``knowledge/examination_words.tsv``.
"""

from __future__ import annotations

from functools import cache

from rubricate.knowledge.rows import split_cell, table_rows
from rubricate.knowledge.tables import words
from rubricate.reading.opposites import EMPTY_WORDS
from rubricate.reading.tokens import CueTable, find_tokens

_NO_NAMES = words("checklist.no_names")


@cache
def examinations() -> tuple[CueTable, dict[str, CueTable]]:
    """Return the examinations by their names in features, and what shows each in notes."""
    rows = table_rows("examinations.tsv")
    names = {name: key for key, asked, _ in rows for name in split_cell(asked)}
    shown = {
        key: CueTable(dict.fromkeys((*split_cell(asked), *split_cell(shows)), key))
        for key, asked, shows in rows
    }
    return CueTable(names), shown


@cache
def examination_words(side: str) -> CueTable:
    """Return the words around examinations: ``before`` and ``after`` in features, ``undone``."""
    rows = table_rows("examination_words.tsv")
    return CueTable({phrase: own for own, phrase in rows if own == side})


def asked_examination(feature: str) -> str | None:
    """Return the examination that a feature wants to have been done; None of other features.

    >>> asked_examination("Tests for rebound tenderness"), asked_examination("Fundoscopy performed")
    ('rebound', 'fundoscopy')
    >>> asked_examination("Rebound tenderness"), asked_examination("Tests for influenza")
    (None, None)
    """
    tokens = [token for token in find_tokens(feature) if token.form not in _NO_NAMES]
    first, end, told = 0, len(tokens), False
    if tokens and (hit := examination_words("before").at(tokens, 0)):
        first, told = hit[1], True
    for i in range(first + 1, end):
        hit = examination_words("after").at(tokens, i)
        if hit is not None and hit[1] == len(tokens):
            end, told = i, True
            break
    while end > first and tokens[end - 1].form in EMPTY_WORDS:
        end -= 1
    if not told or first >= end:
        return None
    named = examinations()[0].at(tokens[:end], first)
    return named[0] if named is not None and named[1] == end else None
