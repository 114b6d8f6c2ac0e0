"""Tokens that give the age or gender that a feature asks for, and those that give another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rubricate.arrays import F32
from rubricate.knowledge.tables import groups
from rubricate.matchers.wording.reading import NoteColumns
from rubricate.reading.quantities import Quantity, compare_quantities, same_quantity
from rubricate.requirement.requirement import FEMALE, MALE, Requirement

#: What names a gender less plainly than a noun, the plainest first.
_LESS_PLAIN = tuple(groups("profile.less_plain").values())

#: Logit of a token that gives the age or gender, and of any other token.
SAID, NOT_SAID = 3.0, -6.0


def identity_logits(profile: Requirement, reading: NoteColumns) -> F32:
    """Return the logit that each token says the age or gender the feature asks for.

    >>> from rubricate.matchers.wording.reading import read_columns
    >>> from rubricate.requirement.requirement import read_requirement
    >>> reading = read_columns("58yo M, brother 58")
    >>> identity_logits(read_requirement("58 year"), reading).tolist()
    [3.0, 3.0, -6.0, -6.0, -6.0, -6.0]
    >>> float(identity_logits(read_requirement("Male"), reading)[2])
    3.0
    """
    logits = np.full(len(reading), NOT_SAID, dtype=np.float32)
    if profile.kind == "age":
        asked = profile.quantities
        said, _ = compare_quantities(asked, enumerate(reading.quantities))
        for i in said or _bare_ages(asked, reading):
            logits[reading.quantity == i] = SAID
            break
    else:
        said = _gender_words(profile.genders, reading)
        if said:
            logits[said[0]] = SAID
    return logits


#: A number among so many first tokens may be the age without saying so.
_OPENING = 12


def _bare_ages(asked: Sequence[Quantity], reading: NoteColumns) -> list[int]:
    """Return the numbers at the beginning that may be the age asked for: "Age/sex: 15/F"."""
    first = set(reading.quantity[:_OPENING].tolist()) - {-1}
    wanted = {(q.low, q.high) for q in asked}
    own = ((i, reading.quantities[i]) for i in sorted(first))
    return [i for i, q in own if q.kind == "number" and (q.low, q.high) in wanted]


def other_identity(profile: Requirement, reading: NoteColumns) -> int | None:
    """Return the token that gives another age or gender than the feature asks for, if any.

    >>> from rubricate.matchers.wording.reading import read_columns
    >>> from rubricate.requirement.requirement import read_requirement
    >>> reading = read_columns("58yo M, brother 57")
    >>> other_identity(read_requirement("Female"), reading)
    2
    >>> other_identity(read_requirement("58 year"), reading) is None
    True
    """
    if profile.kind == "gender":
        said = _gender_words(FEMALE if profile.genders is MALE else MALE, reading)
        own = _gender_words(profile.genders, reading)
        return said[0] if said and not own else None
    asked = profile.quantities
    ages = [i for i, quantity in enumerate(reading.quantities) if quantity.kind == "age"]
    if not ages or any(same_quantity(q, reading.quantities[i]) for q in asked for i in ages):
        return None
    first = int(np.argmax(reading.quantity == ages[0]))
    return None if reading.family[first] else first


def _gender_words(wanted: frozenset[str], reading: NoteColumns) -> list[int]:
    """Return the tokens that name the gender most plainly: nouns, "she", titles, "her"."""
    named = [i for i, token in enumerate(reading.tokens) if token.form in wanted]
    forms = [reading.tokens[i].form for i in named]
    plainness = [next((k for k, own in enumerate(_LESS_PLAIN, 1) if f in own), 0) for f in forms]
    for k in range(len(_LESS_PLAIN) + 1):
        found = [i for i, own in zip(named, plainness, strict=True) if own == k]
        if k == 0:
            found = [i for i in found if len(reading.tokens[i].form) > 1 or _is_sign(reading, i)]
        if found:
            return found
    return []


def _is_sign(reading: NoteColumns, i: int) -> bool:
    """Tell whether a single letter stands for a gender: a capital, or next to the age."""
    capital = reading.text[reading.tokens[i].start].isupper()
    after_age = i > 0 and reading.quantity[i - 1] >= 0
    return capital or bool(after_age)
