"""Whether words found for a diagnosis name only others: a list of them says nothing of one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rubricate.knowledge.tables import words
from rubricate.text import opposites
from rubricate.text.contradiction.place import TextReading, find_place, read_text
from rubricate.text.contradiction.reasons import Reason
from rubricate.text.diagnoses import NamedDiagnosis, find_diagnoses, is_symptom, may_be_meant
from rubricate.text.wordings import read_wording
from rubricate.text.words import RECENT_TEXTS

_FRAME = words("diagnosis.frame")
_BESIDE = _FRAME | words("diagnosis.beside")


_JOINTS = words("diagnosis.joints")


@lru_cache(maxsize=4096)
def asked_diagnoses(feature: str) -> tuple[frozenset[str], ...]:
    """Return the diagnoses that a feature asks for, and for nothing else; else nothing.

    >>> [sorted(one) for one in asked_diagnoses("Differential: PUD OR GERD")]
    [['peptic ulcer disease'], ['gerd']]
    >>> asked_diagnoses("Asthma since childhood"), asked_diagnoses("No asthma")
    ((), ())
    """
    wording = read_wording(feature)
    named = find_diagnoses(feature, wording.tokens)
    within = {i for one in named for i in range(one.first, one.end)}
    others = (token.form for i, token in enumerate(wording.tokens) if i not in within)
    if wording.denies or not all(_is_beside(form, _FRAME) for form in others):
        return ()
    if any(is_symptom(name) for one in named for name in one.meant):
        return ()
    return tuple(one.meant for one in named)


def says_nothing(reading: TextReading, spans: Sequence[tuple[int, int]]) -> bool:
    """Tell whether words only frame something: "likely", "number two"."""
    place = find_place(reading, spans)
    return place is None or all(_is_beside(reading.tokens[i].form, _BESIDE) for i in place.inside)


def _is_beside(form: str, known: frozenset[str]) -> bool:
    return form in known or not any(one.isalpha() for one in form) or form in opposites.PERSONS


def named_in(reading: TextReading) -> list[NamedDiagnosis]:
    """Return the names of diagnoses in a text, found once for the last texts."""
    return _named_in(reading.text)


@lru_cache(maxsize=RECENT_TEXTS)
def _named_in(text: str) -> list[NamedDiagnosis]:
    return find_diagnoses(text, read_text(text).tokens)


def another_diagnosis(
    feature: str, reading: TextReading, spans: Sequence[tuple[int, int]], *, listed: bool = False
) -> Reason | None:
    """Return the diagnosis said where a feature asks for another, and the words name only others.

    They do not contradict the feature: what a list names beside others is not mentioned. Of what
    is ``listed`` one item may have further words: "infective endocarditis of slow onset".

    >>> from rubricate.text.contradiction.place import read_text
    >>> said = read_text("DDx: GERD, gastritis")
    >>> another_diagnosis("Differential: PUD", said, [(5, 20)])
    Reason(code='diagnosis.other', said='gerd')
    >>> another_diagnosis("Differential: dyspepsia", said, [(5, 20)]) is None
    True
    """
    asked = asked_diagnoses(feature)
    place = find_place(reading, spans) if asked else None
    if place is None:
        return None
    inside = set(place.inside)
    said = [one for one in named_in(reading) if not inside.isdisjoint(range(one.first, one.end))]
    wanted = frozenset().union(*asked)
    if not said or any(may_be_meant(a, b) for a in wanted for one in said for b in one.meant):
        return None
    inside -= {i for one in said for i in range(one.first, one.end)}
    forms = [reading.tokens[i].form for i in inside]
    if not all(_is_beside(form, _BESIDE) for form in forms):
        further = listed and _JOINTS.isdisjoint(forms)
        return Reason("diagnosis.other", said[0].key) if further else None
    return Reason("diagnosis.other", said[0].key)
