"""Words of a note that are denied, or affirmed, against what a feature asks for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from rubricate.knowledge.tables import groups, phrases, words
from rubricate.reading.note import NEAR, Place
from rubricate.reading.numbers import time_unit
from rubricate.reading.opposites import EMPTY_WORDS, persons_in
from rubricate.reading.quantities import same_quantity
from rubricate.reading.tokens import stem
from rubricate.requirement.alternative import Alternative
from rubricate.rules.reasons import Reason

_DENYING = words("polarity.denying")
_NOT = words("polarity.not")
_WEIGHED = words("polarity.weighed")
_NEXT = words("polarity.next")

_LACKING = words("polarity.lacking")

#: Words whose denial says that a feature is there ("fatigue": "no energy"), by the words that show
#: such a feature.
_SAID_BY_DENIAL = tuple(
    (asked, groups("polarity.said_by_denial")[matter])
    for matter, asked in groups("polarity.shown_by_denial").items()
)

_ONLY_DENYING = words("polarity.only_denying")

_PLAIN_CUES = phrases("polarity.plain_cues")

_WELL = words("polarity.well")

_POSITIVE = words("polarity.positive")
_NEGATIVE = words("polarity.negative")
_NO_RESULT = words("polarity.no_result")


def _other_result(asked: Alternative, place: Place) -> Reason | None:
    """Return the result of a test said where the feature asks for the other one."""
    wants = (bool(asked.forms & _POSITIVE), bool(asked.forms & _NEGATIVE))
    if wants[0] == wants[1]:
        return None
    near = set(place.forms(place.around(1)))
    if near & _NO_RESULT or (near & _POSITIVE and near & _NEGATIVE):
        return None
    other = near & (_NEGATIVE if wants[0] else _POSITIVE)
    return Reason("polarity.result", min(other)) if other else None


def denied(asked: Alternative, place: Place) -> Reason | None:
    """Return the reason if words are denied, or affirmed, that should not be."""
    reading = place.reading
    own = [
        i
        for i in place.inside
        if reading.cue[i] < 0
        and reading.tokens[i].kind == "word"
        and reading.tokens[i].form not in EMPTY_WORDS
    ]
    if result := _other_result(asked, place):
        return result
    worded = not asked.stems.isdisjoint({stem(reading.tokens[i].form) for i in own})
    named = worded or bool(place.meant)
    lost = (asked.forms & _LACKING) - _ONLY_DENYING
    if asked.negated:
        # "No loss of consciousness": "conscious" does not say the loss.
        said_lost = not lost or not lost.isdisjoint(place.meant.union(place.forms(own)))
        plain = named and asked.plainly_negated and said_lost
        return _affirmed(place) if plain else None
    agreeing = (same_quantity(a, b) for a in asked.quantities for b in place.quantities(NEAR))
    if not own or (asked.quantities and any(agreeing)):
        return None
    if _denied_beside(asked, place, own):
        return Reason("polarity.denied")
    own = _predicate(asked, place, own)
    scopes = [reading.scope[i] for i in own]
    if min(scopes) < 0 or any(reading.negations[i].kind != "negation" for i in scopes):
        return None
    said = {reading.tokens[i].form for i in own}
    lacking = asked.forms & _LACKING
    if {"low", "back"} <= asked.forms:  # a place
        lacking -= {"low"}
    # "No weight loss" denies the loss itself, "no weight" may be one.
    if (lacking and lacking.isdisjoint(said | place.meant)) or not _WELL.isdisjoint(asked.forms):
        return None
    # "No shortness of breath" names what it denies; "no breath" alone would say that it is there.
    if not worded and any(asked.forms & one and said & other for one, other in _SAID_BY_DENIAL):
        return None
    negation = reading.negations[scopes[0]]
    cue = negation.cue_span.text(reading.text).lower()
    plain = cue.startswith(_PLAIN_CUES)
    if any(reading.cue[i] >= 0 for i in place.inside):
        return Reason("polarity.denied") if named and plain else None
    first = bisect_left(reading.starts, negation.scope_span.start)
    near = plain or place.inside[0] <= first + 1
    return Reason("polarity.denied") if near else None


def _predicate(asked: Alternative, place: Place, own: list[int]) -> list[int]:
    """Return the denied ones of the words where the others are what they are said of.

    "Legs not swollen", "swallows without difficulty".
    """
    reading = place.reading
    within = [i for i in own if reading.scope[i] >= 0]
    if not within or len(within) == len(own):
        return own
    named = any(stem(reading.tokens[i].form) in asked.stems for i in within)
    if not named and reading.tokens[within[0] - 1].form in _NOT:
        named = asked.stems <= {stem(form) for form in place.meant} | EMPTY_WORDS
    cue = bisect_left(reading.starts, reading.negations[reading.scope[within[0]]].cue_span.start)
    before = all(i < cue for i in own if reading.scope[i] < 0)
    joined = 0 < within[0] - cue <= 2 and within[0] - own[0] <= 2 * NEAR
    comma = any(reading.tokens[i].form in (",", ";") for i in range(own[0], within[-1]))
    return within if named and before and joined and not comma else own


def _denied_beside(asked: Alternative, place: Place, own: Sequence[int]) -> bool:
    """Tell whether a word of the feature that was not found is denied beside the words.

    "His belly gives no pain": the belly was found, the pain is denied.
    """
    reading, last = place.reading, place.inside[-1]
    if asked.forms & _LACKING or asked.forms & _WELL or any(reading.scope[i] >= 0 for i in own):
        return False
    said = {stem(reading.tokens[i].form) for i in own}
    for i in range(last + 1, min(place.end, last + 1 + NEAR)):
        form, scope = reading.tokens[i].form, reading.scope[i]
        if form in (",", ";", "(") or reading.tokens[i].kind == "number":
            return False
        if scope >= 0 and stem(form) in asked.stems - said:
            one = reading.negations[scope]
            return one.kind == "negation" and one.cue_span.text(reading.text).lower() == "no"
    return False


def _affirmed(place: Place) -> Reason | None:
    reading = place.reading
    for i in range(place.first, place.end):
        if reading.cue[i] >= 0 or reading.scope[i] >= 0:
            return None
        if reading.tokens[i].form in _DENYING and not _is_recent(place, i):
            return None
    before = reading.tokens[place.first - 1].form if place.first else ""
    # A mark that ends the clause is its last token.
    after = {token.form for token in reading.tokens[place.end - 1 : place.end + 1]}
    if before in (":", "-") or not after.isdisjoint((":", "-", "?")):
        return None
    return Reason("polarity.affirmed")


def _is_recent(place: Place, i: int) -> bool:
    """Tell whether "last" gives a time: "last night", not "last period"."""
    tokens = place.reading.tokens
    after = tokens[i + 1].form if i + 1 < place.end else ""
    return tokens[i].form == "last" and (after == "night" or time_unit(after) is not None)


_NORMAL = words("polarity.normal")

_ENOUGH = words("polarity.enough")
_TOO_LITTLE = words("polarity.too_little")

_STEADY = words("polarity.steady")

_NOT_NORMAL = words("polarity.not_normal")

_MAY_BE_FINE = _WELL | _NORMAL | words("polarity.may_be_fine")


def _of_the_matter(asked: Alternative, place: Place, i: int) -> bool:
    """Tell whether a word stands in the part of a list that has the feature's words, if one has."""
    tokens = place.reading.tokens
    first, last = place.inside[0], place.inside[-1]
    named = [k for k in range(first, last + 1) if stem(tokens[k].form) in asked.stems]
    commas = [k for k in range(first, last + 1) if tokens[k].form in (",", ";")]
    between = (any(min(i, k) < comma < max(i, k) for comma in commas) for k in named)
    return not named or not all(between)


_DONE = phrases("polarity.done")
_TESTS = words("polarity.tests")


def normal(asked: Alternative, place: Place) -> Reason | None:
    """Return "normal" where what a feature says is amiss is said to be in order."""
    if asked.negated or not _MAY_BE_FINE.isdisjoint(asked.forms):
        return None
    # A test or an operation may be normal.
    if len(asked.stems) <= 2 and asked.forms & _TESTS:
        return None
    if any(form.endswith(_DONE) for form in asked.forms):
        return None
    tokens = place.reading.tokens
    first, last = place.inside[0], place.inside[-1]
    weighed = "weight" in asked.forms and not asked.forms.isdisjoint(_WEIGHED)
    for i in range(max(place.first, first - 1), min(place.end, last + 4)):
        if i > last and tokens[i].form in _NEXT:
            return None
        enough = tokens[i].form in _ENOUGH and not _TOO_LITTLE.isdisjoint(asked.forms)
        enough = enough or (
            bool(asked.persons) and tokens[i].form == "well" and tokens[i - 1].form != "as"
        )
        if tokens[i].form in _NORMAL or enough or (weighed and tokens[i].form in _STEADY):
            if not _of_the_matter(asked, place, i):
                return None
            if (asked.persons or asked.any_relative) and persons_in(tokens, range(first + 1, i)):
                return None  # "mom has diabetes, dad fine"
            near = {token.form for token in tokens[max(0, i - 2) : i + 2]}
            return None if near & _NOT_NORMAL else Reason("polarity.normal", tokens[i].form)
    return None
