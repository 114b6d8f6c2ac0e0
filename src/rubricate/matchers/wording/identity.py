"""Age and gender: who the patient is, read by rule and marked at the first mention only."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rubricate.matchers.wording.profile import PRONOUNS, FeatureProfile
from rubricate.matchers.wording.reading import NoteReading
from rubricate.text.quantities import same_quantity

#: Logits of a token that says the age or gender, and of any other.
SAID, NOT_SAID = 3.0, -6.0


def identity_logits(profile: FeatureProfile, reading: NoteReading) -> npt.NDArray[np.float32]:
    """Return the logit that each token says the age or gender the feature asks for.

    Examples
    --------
    >>> from rubricate.matchers.wording.profile import read_feature
    >>> from rubricate.matchers.wording.reading import read_note
    >>> from rubricate.rubric import Feature
    >>> reading = read_note("58yo M, brother 58")
    >>> identity_logits(read_feature(Feature("0", "c", "58 year"), 0), reading).tolist()
    [3.0, 3.0, -6.0, -6.0, -6.0, -6.0]
    >>> float(identity_logits(read_feature(Feature("1", "c", "Male"), 0), reading)[2])
    3.0
    """
    logits = np.full(len(reading), NOT_SAID, dtype=np.float32)
    if profile.kind == "age":
        asked = [q for one in profile.alternatives for q in one.quantities]
        for i, quantity in enumerate(reading.quantities):
            if any(same_quantity(q, quantity) for q in asked):
                logits[reading.quantity == i] = SAID
                break
    else:
        said = _gender_words(profile.genders, reading)
        if said:
            logits[said[0]] = SAID
    return logits


def _gender_words(wanted: frozenset[str], reading: NoteReading) -> list[int]:
    """Return the tokens that name the gender, nouns if there are any, else pronouns."""
    nouns, pronouns = [], []
    for i, token in enumerate(reading.tokens):
        if token.form not in wanted:
            continue
        if token.form in PRONOUNS:
            pronouns.append(i)
        elif len(token.form) > 1 or _is_sign(reading, i):
            nouns.append(i)
    return nouns or pronouns


def _is_sign(reading: NoteReading, i: int) -> bool:
    """Tell whether a single letter stands for a gender: a capital, or next to the age."""
    capital = reading.text[reading.tokens[i].start].isupper()
    after_age = i > 0 and reading.quantity[i - 1] >= 0
    return capital or bool(after_age)
