"""What a rubric asks for, read from its words: alternatives, negation, relatives, numbers."""

from __future__ import annotations

from dataclasses import dataclass

from rubricate.matchers.wording.reading import RELATIVES
from rubricate.matchers.wording.stems import stem
from rubricate.rubric import Feature
from rubricate.text.negation import find_negations
from rubricate.text.quantities import Quantity, find_quantities
from rubricate.text.words import find_tokens, word_set

STOP_WORDS = word_set(
    "a an the of in on at to for with w/ and or by from as is are was were be been being has have"
    " had having his her their my its it he she they i we pt patient this that these those there"
    " than then but so if when while during after before since into out up down about over any some"
    " do does did not no nor also just very more most such which who whom whose what where how can"
    " could would will may might must should s t d x per each other own same too only & + , . ; :"
    " / ( ) - ' \" * ? ! = > < ~"
)
NEGATING = word_set(
    "no not denies denied without never none negative neg absent lack lacks non nor w/o nil"
)
MALE = word_set("male man gentleman boy guy m mr gent he his him son")
FEMALE = word_set("female woman lady girl gal f mrs ms miss she her")
_GENDERS = {"male": MALE, "female": FEMALE, "man": MALE, "woman": FEMALE, "boy": MALE,
            "girl": FEMALE}  # fmt: skip
PRONOUNS = word_set("he his him she her son")


@dataclass(frozen=True, slots=True)
class Alternative:
    """One of the wordings of a feature that ``OR`` separates.

    Parameters
    ----------
    feature : int
        The feature's place in its rubric.
    words : tuple of str
        Stems of the words that carry meaning, each once.
    negated : bool
        Whether the feature is that something is absent.
    family : bool
        Whether it is about a relative.
    quantities : tuple of Quantity
        The numbers it names.
    """

    feature: int
    words: tuple[str, ...]
    negated: bool
    family: bool
    quantities: tuple[Quantity, ...]


@dataclass(frozen=True, slots=True)
class FeatureProfile:
    """A feature as a matcher reads it; ``kind`` is ``"age"``, ``"gender"`` or empty."""

    feature: Feature
    kind: str
    alternatives: tuple[Alternative, ...]

    @property
    def genders(self) -> frozenset[str]:
        """The words for the gender the feature asks for; empty when it asks for none."""
        return _GENDERS[self.feature.text.strip().lower()] if self.kind == "gender" else frozenset()


def read_feature(feature: Feature, place: int) -> FeatureProfile:
    """Read a feature's text.

    Examples
    --------
    >>> profile = read_feature(Feature("14", "0", "No palpitations OR no syncope"), 0)
    >>> [(one.words, one.negated) for one in profile.alternatives]
    [(('palpit',), True), (('syncop',), True)]
    >>> read_feature(Feature("0", "0", "58 year"), 0).kind
    'age'
    >>> read_feature(Feature("1", "0", "Male"), 0).kind
    'gender'
    """
    alternatives = tuple(_read_alternative(text, place) for text in feature.alternatives)
    return FeatureProfile(feature, _kind(feature), alternatives)


def _kind(feature: Feature) -> str:
    if feature.text.strip().lower() in _GENDERS:
        return "gender"
    found = find_quantities(feature.text)
    whole = [token for token in find_tokens(feature.text) if token.form not in ("old", "age", "of")]
    if len(found) == 1 and found[0].kind == "age" and len(whole) <= 4:
        covered = [t for t in whole if found[0].span.start <= t.start < found[0].span.end]
        return "age" if len(covered) == len(whole) else ""
    return ""


def _read_alternative(text: str, place: int) -> Alternative:
    tokens = find_tokens(text)
    forms = [token.form for token in tokens if token.kind in ("word", "number")]
    content = [f for f in forms if f not in STOP_WORDS and f not in NEGATING and f != "history"]
    words = tuple(dict.fromkeys(stem(form) for form in content or forms))
    # A negation inside ("pain not relieved by rest") is as much a denial as one in front.
    negated = bool(find_negations(text, tokens)) or any(form in NEGATING for form in forms[:1])
    family = any(form in RELATIVES for form in forms)
    return Alternative(place, words, negated, family, tuple(find_quantities(text, tokens)))
