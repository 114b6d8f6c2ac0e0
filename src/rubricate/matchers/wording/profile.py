"""What a rubric asks for, read from its words: alternatives, negation, relatives, numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rubricate.arrays import F32
from rubricate.knowledge.tables import groups, words
from rubricate.matchers.wording.reading import RELATIVES, NoteColumns
from rubricate.matchers.wording.stems import stem
from rubricate.reading.quantities import Quantity, same_quantity
from rubricate.requirement.wordings import read_wording
from rubricate.rubric import Feature

STOP_WORDS = words("profile.stop_words")
_NAMING_GENDER = words("profile.of_gender") | {""}
_NAMING_AGE = words("profile.of_age")
NEGATING = words("profile.negating")
MALE = words("profile.male")
FEMALE = words("profile.female")
_GENDERS = {"male": MALE, "female": FEMALE, "man": MALE, "woman": FEMALE, "boy": MALE,
            "girl": FEMALE}  # fmt: skip
#: What names a gender less plainly than a noun, the plainest first.
_LESS_PLAIN = tuple(groups("profile.less_plain").values())


@dataclass(frozen=True, slots=True)
class Alternative:
    """One of the wordings of a feature that ``OR`` separates."""

    feature: int
    words: tuple[str, ...]
    negated: bool
    family: bool
    quantities: tuple[Quantity, ...]


@dataclass(frozen=True, slots=True)
class FeatureProfile:
    """A feature as a matcher reads it; ``kind`` is ``"age"``, ``"gender"`` or empty.

    ``words`` and ``quantities`` are those of all its alternatives.
    """

    feature: Feature
    kind: str
    alternatives: tuple[Alternative, ...]
    words: frozenset[str]
    quantities: tuple[Quantity, ...]

    @property
    def genders(self) -> frozenset[str]:
        """The words for the gender the feature asks for; empty when it asks for none."""
        return _gender(self.feature) or frozenset()


def read_feature(feature: Feature, place: int) -> FeatureProfile:
    """Read a feature's text.

    >>> profile = read_feature(Feature("14", "0", "No palpitations OR no syncope"), 0)
    >>> [(one.words, one.negated) for one in profile.alternatives]
    [(('palpit',), True), (('syncop',), True)]
    >>> read_feature(Feature("0", "0", "58 year"), 0).kind
    'age'
    >>> read_feature(Feature("1", "0", "Male"), 0).kind
    'gender'
    """
    alternatives = tuple(read_alternative(text, place) for text in feature.wordings)
    words = frozenset(word for one in alternatives for word in one.words)
    quantities = tuple(q for one in alternatives for q in one.quantities)
    return FeatureProfile(feature, _kind(feature), alternatives, words, quantities)


def _gender(feature: Feature) -> frozenset[str] | None:
    """Return the words for the gender that a feature asks for and nothing else: "Male patient"."""
    named, _, rest = feature.text.strip().lower().partition(" ")
    return _GENDERS.get(named) if rest in _NAMING_GENDER else None


def _kind(feature: Feature) -> str:
    if _gender(feature):
        return "gender"
    wording = read_wording(feature.text)
    found = wording.quantities
    whole = [token for token in wording.tokens if token.form not in _NAMING_AGE]
    if len(found) == 1 and found[0].kind == "age" and len(whole) <= 4:
        covered = [t for t in whole if found[0].span.start <= t.start < found[0].span.end]
        return "age" if len(covered) == len(whole) else ""
    return ""


def read_alternative(text: str, place: int) -> Alternative:
    """Read one of a feature's alternatives."""
    wording = read_wording(text)
    forms = [word.form for word in wording.words]
    content = [f for f in forms if f not in STOP_WORDS and f not in NEGATING and f != "history"]
    words = tuple(dict.fromkeys(stem(form) for form in content or forms))
    # A negation inside ("pain not relieved by rest") denies as much as one in front.
    negated = wording.denies or any(form in NEGATING for form in forms[:1])
    family = any(form in RELATIVES for form in forms)
    return Alternative(place, words, negated, family, wording.quantities)


#: Logit of a token that gives the age or gender, and of any other token.
SAID, NOT_SAID = 3.0, -6.0


def identity_logits(profile: FeatureProfile, reading: NoteColumns) -> F32:
    """Return the logit that each token says the age or gender the feature asks for.

    >>> from rubricate.matchers.wording.profile import read_feature
    >>> from rubricate.matchers.wording.reading import read_columns
    >>> from rubricate.rubric import Feature
    >>> reading = read_columns("58yo M, brother 58")
    >>> identity_logits(read_feature(Feature("0", "c", "58 year"), 0), reading).tolist()
    [3.0, 3.0, -6.0, -6.0, -6.0, -6.0]
    >>> float(identity_logits(read_feature(Feature("1", "c", "Male"), 0), reading)[2])
    3.0
    """
    logits = np.full(len(reading), NOT_SAID, dtype=np.float32)
    if profile.kind == "age":
        asked = profile.quantities
        said = [
            i for i, q in enumerate(reading.quantities) if any(same_quantity(a, q) for a in asked)
        ]
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


def other_identity(profile: FeatureProfile, reading: NoteColumns) -> int | None:
    """Return the token that gives another age or gender than the feature asks for, if any.

    >>> from rubricate.matchers.wording.reading import read_columns
    >>> reading = read_columns("58yo M, brother 57")
    >>> other_identity(read_feature(Feature("1", "c", "Female"), 0), reading)
    2
    >>> other_identity(read_feature(Feature("0", "c", "58 year"), 0), reading) is None
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
