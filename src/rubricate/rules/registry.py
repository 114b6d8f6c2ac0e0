"""Contradictions: words of a note that speak of a feature and say otherwise, and why.

The rules that find contradictions keep silent where words leave a way to be read as the feature.
Where a network says that words contradict one (`explain_contradiction`), no such way is left, so a
cue, a value or a person within the words is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from rubricate.knowledge.tables import words
from rubricate.reading import opposites
from rubricate.reading.note import NoteReading, Place, find_place, read_note
from rubricate.reading.opposites import counts_in, numerals_of, persons_in, sides_in
from rubricate.reading.quantities import Quantity, same_quantity
from rubricate.requirement.alternative import Alternative
from rubricate.requirement.requirement import Requirement, read_requirement
from rubricate.rules import modality, time
from rubricate.rules.person import another_person, not_kin
from rubricate.rules.polarity import denied, normal
from rubricate.rules.precedence import weighed_questions
from rubricate.rules.reasons import Reason, in_words, is_on
from rubricate.rules.value import (
    another_drug,
    another_number,
    another_side,
    another_site,
    another_type,
    opposite,
)


def why_contradicted(
    feature: str, text: str, spans: Sequence[tuple[int, int]], rules: Collection[str] | None = None
) -> str | None:
    """Return the reason for which words contradict a feature, in a few words; None if they do not.

    ``feature``: the feature's wording; alternatives are separated by ``OR``.
    ``spans``: the words that speak of the feature's matter, half-open, in code points.
    ``rules``: those of `RULES` to go by; all where none are named.

    It says "denied", "says left", "says 3 months", "mother's", "in the past" and the like. Words
    that leave a way to be read as the feature are not called a contradiction.

    >>> text = "Mother has asthma. Denies fever. Pain in the left knee for 3 months."
    >>> why_contradicted("Asthma", text, [(11, 17)])
    "mother's"
    >>> why_contradicted("Fever", text, [(26, 31)]), why_contradicted("No fever", text, [(19, 31)])
    ('denied', None)
    >>> why_contradicted("Right knee pain", text, [(33, 54)])
    'says left'
    >>> why_contradicted("Knee pain for 2 weeks", text, [(33, 67)])
    'says 3 months'
    """
    why = why_contradicted_in(read_note(text), read_requirement(feature), spans, rules)
    return None if why is None else in_words(why)


def why_contradicted_in(
    reading: NoteReading,
    asked: Requirement,
    spans: Sequence[tuple[int, int]],
    rules: Collection[str] | None = None,
    meant: frozenset[str] = frozenset(),
) -> Reason | None:
    """Return the reason of `why_contradicted` for a text that was read before.

    ``meant`` are words of the feature that the spans are known to stand for: "LOC" for "loss of
    consciousness".
    """
    place = find_place(reading, spans, meant)
    if place is None:
        return None
    reason = None
    for one in asked.alternatives:
        found = broken_rule(one, place, rules)
        if found is None:
            return None
        reason = reason or found[1]
    return reason


def broken_rule(
    asked: Alternative, place: Place, rules: Collection[str] | None = None
) -> tuple[str, Reason] | None:
    """Return the first rule by which words contradict what is asked for, and why; or None."""
    for rule in RULES if rules is None else rules:
        said = _CHECKS[rule](asked, place)
        if said and is_on(said.code):
            return rule, said
    return None


#: The rule about what is denied, or is there where a feature denies it.
DENIED = "denied or there"
_CHECKS: dict[str, Callable[[Alternative, Place], Reason | None]] = {
    "another person": another_person,
    DENIED: denied,
    "normal": normal,
    "not meant": modality.not_meant,
    "another number": another_number,
    "another side": another_side,
    "another site": another_site,
    "another drug": another_drug,
    "not now": time.not_now,
    "opposite": opposite,
}
#: The names of the rules, in the order of the table of precedence.
RULES = weighed_questions()
#: The parts of two rules that are sure enough to go by alone: types, stages, classes, kinds that
#: exclude each other, and illnesses of people who are no relatives in a family history.
TYPE = "another type"


def _another_kind(asked: Alternative, place: Place) -> Reason | None:
    return another_type(asked, place) or not_kin(asked, place)


_CHECKS[TYPE] = _another_kind


#: Of so few words a quotation is a reason.
_SHORT = 4
_ONE_SIDED = words("explained.one_sided")
_NEGATIVE = words("explained.negative")
_LACK = words("explained.lack")
_BESIDE_NUMBERS = tuple(rule for rule in RULES if rule != "another number")
_IN_ORDER = words("polarity.well") | words("explained.in_order")


def explain_contradiction(
    asked: Requirement, reading: NoteReading, spans: Sequence[tuple[int, int]]
) -> Reason | None:
    """Return the way in which words contradict a feature, when it is known that they do.

    It takes what `why_contradicted` takes; the words are those that
    contradict the feature.

    What `why_contradicted` says; where that is nothing, the first thing within the words that
    differs, and where none is known the words if they are few. None where there are no words.

    >>> from rubricate.reading.note import read_note
    >>> from rubricate.requirement.requirement import read_requirement
    >>> asked = read_requirement("Coughing up blood")
    >>> explain_contradiction(asked, read_note("Cough, no hemoptysis"), [(7, 20)])
    Reason(code='polarity.denied', said='')
    >>> asked = read_requirement("Works full time")
    >>> explain_contradiction(asked, read_note("Part time only"), [(0, 9)])
    Reason(code='words.quoted', said='Part time')
    """
    place = find_place(reading, spans)
    if place is None:
        return None
    own = [place.reading.tokens[i] for i in place.inside]
    # Words that open with a denial are denied, whoever is spoken of around them.
    rules = (DENIED, *RULES) if own[0].form in _NEGATIVE else RULES
    broken = [found[1] for one in asked.alternatives if (found := broken_rule(one, place, rules))]
    if broken:
        return broken[0]
    in_order = next((token.form for token in own if token.form in _IN_ORDER), None)
    for one in asked.alternatives:
        if other := _another_value(one, place) or _said_differently(one, place):
            return other
        if in_order is not None:
            return Reason("polarity.normal", in_order)
    # The words themselves if few and of one sentence.
    said = place.reading.text[own[0].start : own[-1].end]
    few = len(own) <= _SHORT and not any(mark in said for mark in ("\n", ". "))
    return Reason("words.quoted", said) if few else Reason("words.otherwise")


def gives_asked_number(
    asked: Requirement, reading: NoteReading, spans: Sequence[tuple[int, int]]
) -> bool:
    """Tell whether words give the very number a feature asks for, in another unit or notation.

    Networks do not reckon: they take "LMP 49 days ago" for another time than "seven weeks ago".
    Where the number is written alike, what differs is something else.

    >>> from rubricate.reading.note import read_note
    >>> from rubricate.requirement.requirement import read_requirement
    >>> asked = read_requirement("Last period 7 weeks ago")
    >>> gives_asked_number(asked, read_note("LMP 49 days ago"), [(0, 15)])
    True
    >>> gives_asked_number(asked, read_note("LMP 5 weeks ago"), [(0, 15)])
    False
    """
    place = find_place(reading, spans)
    # What is counted, and whether a weight rose or fell, the words would have to say as well.
    if place is None or any(one.kind in ("number", "weight") for one in asked.quantities):
        return False
    written, within = numerals_of(place.forms(place.inside)), _quantities_within(place)
    return any(
        one.quantities
        and not one.negated
        and not one.numerals & written
        and all(any(_amounts_to(q, said) for said in within) for q in one.quantities)
        and broken_rule(one, place, _BESIDE_NUMBERS) is None
        and _said_differently(one, place) is None
        for one in asked.alternatives
    )


_DAYS_IN_YEAR = 365.25
_CIGARETTES_IN_PACK = 20


def _amounts_to(wanted: Quantity, said: Quantity) -> bool:
    """Tell whether one quantity is another: infants' ages in months, cigarettes in packs."""
    if (wanted.kind, said.kind) == ("age", "duration"):
        years = said.low / _DAYS_IN_YEAR, said.high / _DAYS_IN_YEAR
        return wanted.low <= years[1] and years[0] <= wanted.high
    if (wanted.kind, said.unit) == ("frequency", "packs/day"):
        each = _CIGARETTES_IN_PACK
        said = replace(said, kind="frequency", unit="per day", low=each * said.low,
                       high=each * said.high)  # fmt: skip
    return same_quantity(wanted, said)


def _quantities_within(place: Place) -> list[Quantity]:
    own = [place.reading.tokens[i] for i in place.inside]
    return [one for one in place.reading.quantities if own[0].start <= one.span.start < own[-1].end]


def _another_value(asked: Alternative, place: Place) -> Reason | None:
    reading = place.reading
    own = [reading.tokens[i] for i in place.inside]
    within = _quantities_within(place)
    for wanted in asked.quantities:
        said = [q for q in within if (q.kind, q.unit) == (wanted.kind, wanted.unit)]
        if said and not any(same_quantity(wanted, q) for q in said):
            return Reason("value.number", said[0].span.text(reading.text))
    counted = dict(counts_in(own))
    for thing, number in sorted(asked.counts):
        if counted.get(thing, number) != number:
            return Reason("value.count", counted[thing])
    sides = sides_in(reading.text, reading.tokens, place.inside)
    if sides and asked.forms & _ONE_SIDED:
        both = "both" in sides or len(sides) > 1
        return Reason("side.other", "both") if both else None
    if sides and asked.sides and sides.isdisjoint(asked.sides):
        return Reason("side.other", min(sides))
    return None


def _said_differently(asked: Alternative, place: Place) -> Reason | None:
    """Return the value, polarity or person within the words that the feature does not have."""
    reading, inside = place.reading, place.forms(place.inside)
    for matter, values in asked.matters:
        table = opposites.MATTERS[matter]
        value = next((table[form] for form in inside if form in table), None)
        if value is not None and value not in values:
            return Reason("value.opposite", value)
    cued = any(reading.cue[i] >= 0 or reading.scope[i] >= 0 for i in place.inside)
    if asked.negated or not _LACK.isdisjoint(asked.forms):
        if not cued:
            return Reason("polarity.affirmed")
    else:
        # The words themselves may say that something is past or only advised.
        tokens, reasons = reading.tokens, time.REASONS | modality.REASONS
        for cues in (time.NO_MORE, time.GONE, modality.NOT_MEANT, modality.NOT_DONE):
            for i in place.inside:
                hit = cues.at(tokens, i) if tokens[i].form in cues else None
                if hit is not None and tokens[i].form not in ("never", "not"):  # that is a denial
                    return reasons[hit[0]]
        if cued or not _NEGATIVE.isdisjoint(inside):
            return Reason("polarity.denied")
    said = persons_in(reading.tokens, place.inside) if asked.persons else None
    if said and not opposites.persons_fit(asked.persons, said):
        return Reason("person.other", min(said))
    return None
