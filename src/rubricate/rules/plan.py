"""What a note's plan does: drugs that it begins, and advice when to come back.

"PLAN: heparin gtt, metoprolol" states "Starts beta blocker", "RTC if fever" states "Return
precautions given".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from rubricate.knowledge.rows import table_rows
from rubricate.knowledge.tables import pattern, words
from rubricate.reading.drugs import classes_above
from rubricate.reading.earlier import names_earlier_time
from rubricate.reading.note import NoteReading
from rubricate.reading.tokens import CueTable
from rubricate.requirement.asked import AskedFor, read_asked
from rubricate.spans import any_overlap

_ASKS = pattern("planned.asks")
_BESIDE = words("planned.beside")
_DOUBT = pattern("planned.doubt")
_GOES_ON = pattern("planned.goes_on")


@lru_cache(maxsize=4096)
def _wanted(feature: str) -> tuple[AskedFor, ...]:
    """Return what a feature asks for where it wants a drug to be begun, and nothing else."""
    wanted = read_asked(feature) if _ASKS.search(feature) else ()
    for one in wanted:
        names = {word for name in one.drug_names for word in name.split()}
        beside = (form for form in one.forms if form.isalpha() and form not in _BESIDE)
        plain = all(form in names or form.removesuffix("s") in names for form in beside)
        if one.negated or len(one.drugs) != 1 or not plain:
            return ()
    return wanted


def find_planned(feature: str, reading: NoteReading) -> list[tuple[int, int]]:
    """Return where a note surely does what a feature wants of its plan; empty where in doubt.

    >>> from rubricate.reading.note import read_note
    >>> text = "Sprain. Plan: ibuprofen. ED if foot cold or numb."
    >>> [text[slice(*x)] for x in find_planned("Safety-net advice given", read_note(text))]
    ['ED if foot cold or numb']
    """
    if not asks_when_to_return(feature):
        return _find_started(feature, reading)
    advice = _RETURN.search(reading.text)
    return [advice.span()] if advice else []


_WHEN_TO_RETURN = pattern("planned.when_to_return")
_RETURN = pattern("planned.return")


@lru_cache(maxsize=4096)
def asks_when_to_return(feature: str) -> bool:
    """Tell whether a feature wants to know whether the patient was told when to come back.

    >>> asks_when_to_return("Return precautions given"), asks_when_to_return("Returned to work")
    (True, False)
    """
    return _WHEN_TO_RETURN.fullmatch(feature) is not None


def _find_started(feature: str, reading: NoteReading) -> list[tuple[int, int]]:
    """Return where the plan of a note begins the drug that a feature wants; empty where in doubt.

    A drug that the note names before its plan may be one that only goes on.

    >>> from rubricate.reading.note import read_note
    >>> reading = read_note("Takes atenolol. PLAN: heparin gtt, metoprolol, hold lisinopril")
    >>> find_planned("Starts anticoagulant", reading), find_planned("Starts ACE inhibitor", reading)
    ([(22, 29)], [])
    >>> find_planned("Starts beta blocker", reading)
    []
    """
    wanted = _wanted(feature)
    for one in wanted:
        places = list(_named(one, reading))
        if places and all(_is_begun(reading, *place) for place in places):
            return places[:1]
    return []


def _named(asked: AskedFor, reading: NoteReading) -> Iterator[tuple[int, int]]:
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


def only_goes_on(feature: str, reading: NoteReading, spans: Sequence[tuple[int, int]]) -> bool:
    """Tell whether all words found say that a drug goes on which a feature wants to be begun.

    >>> from rubricate.reading.note import read_note
    >>> only_goes_on("Starts lisinopril", read_note("Continue lisinopril 10 mg."), [(9, 19)])
    True
    >>> note = read_note("Continue diet, lisinopril 10 mg.")
    >>> only_goes_on("Starts lisinopril", note, [(15, 25)])
    False
    """
    named = [
        (start, end)
        for one in _wanted(feature)
        for start, end in _named(one, reading)
        if any_overlap(spans, [(start, end)])
    ]
    return bool(named) and all(_goes_on(reading, *place) for place in named)


def _goes_on(reading: NoteReading, start: int, end: int) -> bool:
    begin, _ = reading.statement(start, end)
    item = begin + reading.text[begin:start].rfind(",") + 1
    tokens = [token for token in reading.raw if item <= token.start < end]
    return any(_continued().at(tokens, i) is not None for i in range(len(tokens)))
