"""Features that want an examination to have been done, whatever it showed.

"No rebound or guarding" shows that rebound was tested. The examinations, how they are asked for
and what shows that they were done are data: ``knowledge/examinations.tsv`` and
``knowledge/examination_words.tsv``.
"""

from __future__ import annotations

from typing import NamedTuple

from rubricate.reading.clauses import clause_ranges
from rubricate.reading.note import NoteReading
from rubricate.requirement.examinations import examination_words, examinations

_Spans = tuple[tuple[int, int], ...]


class Examined(NamedTuple):
    """Where a note shows that an examination was done, and where that it was not."""

    done: _Spans
    undone: _Spans


def find_examined(examination: str, reading: NoteReading) -> Examined:
    """Return where a note tells of an examination, and where it says that it was not done.

    >>> from rubricate.reading.note import read_note
    >>> note = read_note("No rebound or guarding. Heart not auscultated.")
    >>> find_examined("rebound", note), find_examined("heart", note)
    (Examined(done=((3, 10),), undone=()), Examined(done=(), undone=((24, 45),)))
    """
    tokens, shows, undoes = reading.raw, examinations()[1][examination], examination_words("undone")
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
