"""Features that ask for a diagnosis, and for nothing else."""

from __future__ import annotations

from functools import lru_cache

from rubricate.knowledge.tables import words
from rubricate.reading import opposites
from rubricate.reading.diagnoses import find_diagnoses, is_symptom
from rubricate.requirement.wordings import read_wording

FRAME = words("diagnosis.frame")


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
    if wording.denies or not all(is_beside(form, FRAME) for form in others):
        return ()
    if any(is_symptom(name) for one in named for name in one.meant):
        return ()
    return tuple(one.meant for one in named)


def is_beside(form: str, known: frozenset[str]) -> bool:
    """Tell whether a word names no diagnosis: a mark, a person, or one that is known so."""
    return form in known or not any(one.isalpha() for one in form) or form in opposites.PERSONS
