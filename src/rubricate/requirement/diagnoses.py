"""Features that ask for a diagnosis, and for nothing else."""

from __future__ import annotations

from typing import NamedTuple

from rubricate.knowledge.tables import words
from rubricate.reading import opposites
from rubricate.reading.diagnoses import (
    NamedDiagnosis,
    diagnoses,
    find_diagnoses,
    is_symptom,
    name_key,
)
from rubricate.reading.tokens import find_tokens
from rubricate.requirement.alternative import read_wording

FRAME = words("diagnosis.frame")


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
    if wording.denies or not all(is_beside(form, FRAME) for form in others):
        return ()
    if any(is_symptom(name) for one in named for name in one.meant):
        return ()
    return tuple(one.meant for one in named)


def is_beside(form: str, known: frozenset[str]) -> bool:
    """Tell whether a word names no diagnosis: a mark, a person, or one that is known so."""
    return form in known or not any(one.isalpha() for one in form) or form in opposites.PERSONS


class WantedDiagnosis(NamedTuple):
    """A diagnosis asked for: what it may be, and the name of a kind where it is named by one."""

    meant: frozenset[str]
    kind: str


def wanted_diagnoses(named: str) -> tuple[WantedDiagnosis, ...]:
    """Return the diagnoses that the names of some, as a feature lists them, stand for.

    >>> [sorted(one.meant) for one in wanted_diagnoses("PE OR pneumonia")]
    [['pulmonary embolism'], ['pneumonia']]
    """
    found = find_diagnoses(named, find_tokens(named))
    return tuple(WantedDiagnosis(one.meant, _kind_named(one)) for one in found)


def _kind_named(one: NamedDiagnosis) -> str:
    """Return the key of a name that is that of a kind of what its row is about."""
    table = diagnoses()
    names = (name for row in one.meant for name in (row, *table[row].names))
    return "" if one.key in {_key(name) for name in names} else one.key


def _key(name: str) -> str:
    return name if name.isupper() else name_key(name)
