"""Plans of a note: drugs that it begins, and advice when to come back.

"PLAN: heparin gtt, metoprolol" states "Starts beta blocker", "RTC if fever" states "Return
precautions given".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from rubricate.knowledge.rows import table_rows
from rubricate.knowledge.tables import pattern
from rubricate.reading.drugs import classes_above
from rubricate.reading.note import NoteReading
from rubricate.reading.times import names_earlier_time
from rubricate.reading.tokens import CueTable
from rubricate.requirement.alternative import Alternative
from rubricate.requirement.requirement import Requirement
from rubricate.spans import any_overlap

_DOUBT = pattern("planned.doubt")
_GOES_ON = pattern("planned.goes_on")
_RETURN = pattern("planned.return")


def find_planned(asked: Requirement, reading: NoteReading) -> list[tuple[int, int]]:
    """Return the places that surely do what a feature wants of the plan; none where in doubt.

    >>> from rubricate.reading.note import read_note
    >>> from rubricate.requirement.requirement import read_requirement
    >>> text = "Sprain. Plan: ibuprofen. ED if foot cold or numb."
    >>> asked = read_requirement("Safety-net advice given")
    >>> [text[slice(*x)] for x in find_planned(asked, read_note(text))]
    ['ED if foot cold or numb']

    A drug that the note names before its plan may be one that only goes on.

    >>> reading = read_note("Takes atenolol. PLAN: heparin gtt, metoprolol, hold lisinopril")
    >>> find_planned(read_requirement("Starts anticoagulant"), reading)
    [(22, 29)]
    >>> find_planned(read_requirement("Starts ACE inhibitor"), reading)
    []
    >>> find_planned(read_requirement("Starts beta blocker"), reading)
    []
    """
    if asked.wants_return_advice:
        advice = _RETURN.search(reading.text)
        return [advice.span()] if advice else []
    for one in asked.started_drugs:
        places = list(_named(one, reading))
        if places and all(_is_begun(reading, *place) for place in places):
            return places[:1]
    return []


def _named(asked: Alternative, reading: NoteReading) -> Iterator[tuple[int, int]]:
    """Yield where a note names the drug, or one of the class, that a feature asks for."""
    (drug,) = asked.drugs
    for key, said, start, end in reading.drugs:
        above = frozenset().union(*map(classes_above, said.classes))
        if key in asked.drug_names or (drug.is_class and above & drug.classes):
            yield start, end


def _is_begun(reading: NoteReading, start: int, end: int) -> bool:
    if reading.section_at(start) != "plan":
        return False
    text, (first, last) = reading.text, reading.statement(start, end)
    item = text[first:start].rsplit(",", 1)[-1] + re.split(r"[,;]", text[start:last])[0]
    if _GOES_ON.match(text, end, last) is None:
        return False
    return not _DOUBT.search(item) and not names_earlier_time(item)


@cache
def _continued() -> CueTable:
    rows = table_rows("continued.tsv")
    return CueTable({row[0]: "continued" for row in rows})


def only_goes_on(
    asked: Requirement, reading: NoteReading, spans: Sequence[tuple[int, int]]
) -> bool:
    """Tell whether all words found say that a drug goes on which a feature wants to be begun.

    >>> from rubricate.reading.note import read_note
    >>> from rubricate.requirement.requirement import read_requirement
    >>> asked = read_requirement("Starts lisinopril")
    >>> only_goes_on(asked, read_note("Continue lisinopril 10 mg."), [(9, 19)])
    True
    >>> only_goes_on(asked, read_note("Continue diet, lisinopril 10 mg."), [(15, 25)])
    False
    """
    named = [
        (start, end)
        for one in asked.started_drugs
        for start, end in _named(one, reading)
        if any_overlap(spans, [(start, end)])
    ]
    return bool(named) and all(_goes_on(reading, *place) for place in named)


def _goes_on(reading: NoteReading, start: int, end: int) -> bool:
    begin, _ = reading.statement(start, end)
    item = begin + reading.text[begin:start].rfind(",") + 1
    tokens = [token for token in reading.raw if item <= token.start < end]
    return any(_continued().at(tokens, i) is not None for i in range(len(tokens)))
