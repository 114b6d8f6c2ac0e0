"""The first difference of words from a feature, when it is known that they contradict it.

The rules that find contradictions keep silent where words leave a way to be read as the feature;
here no such way is left, so a cue, a value or a person within the words is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rubricate.knowledge.tables import words
from rubricate.reading import opposites
from rubricate.reading.note import NoteReading, Place, find_place
from rubricate.reading.opposites import counts_in, numerals_of, persons_in, sides_in
from rubricate.reading.quantities import Quantity, same_quantity
from rubricate.requirement.alternative import Alternative
from rubricate.requirement.requirement import Requirement
from rubricate.rules import modality, time
from rubricate.rules.reasons import Reason
from rubricate.rules.registry import DENIED, RULES, broken_rule

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

    It takes what `rubricate.rules.registry.why_contradicted` takes; the words are those that
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
    # Words that open with a denial are denied, whoever is spoken of around them.
    first = place.reading.tokens[place.inside[0]].form in _NEGATIVE
    rules = (DENIED, *RULES) if first else RULES
    broken = [found[1] for one in asked.alternatives if (found := broken_rule(one, place, rules))]
    differing = (said for one in asked.alternatives if (said := _first_difference(one, place)))
    return broken[0] if broken else next(differing, None) or _quotation(place)


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
    counted = any(one.kind in ("number", "weight") for one in asked.quantities)
    return (
        place is not None
        and not counted
        and any(_gives_number(one, place) for one in asked.alternatives)
    )


def _gives_number(asked: Alternative, place: Place) -> bool:
    inside = place.forms(place.inside)
    if not asked.quantities or asked.negated or asked.numerals & numerals_of(inside):
        return False
    within = _quantities_within(place)
    if not all(any(_amounts_to(one, said) for said in within) for one in asked.quantities):
        return False
    return broken_rule(asked, place, _BESIDE_NUMBERS) is None and not any(
        look(asked, place) for look in (_said_otherwise, _another_polarity, _another_person)
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


def _first_difference(asked: Alternative, place: Place) -> Reason | None:
    """Return the first difference of the words from what is asked for; or None."""
    looks = (_another_value, _said_otherwise, _another_polarity, _another_person, _in_order)
    return next((said for look in looks if (said := look(asked, place))), None)


def _quotation(place: Place) -> Reason:
    """Return the words themselves if few and of one sentence."""
    tokens = [place.reading.tokens[i] for i in place.inside]
    words = place.reading.text[tokens[0].start : tokens[-1].end]
    one = not any(mark in words for mark in ("\n", ". "))
    few = len(tokens) <= _SHORT and one
    return Reason("words.quoted", words) if few else Reason("words.otherwise")


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


def _said_otherwise(asked: Alternative, place: Place) -> Reason | None:
    inside = place.forms(place.inside)
    for matter, values in asked.matters:
        table = opposites.MATTERS[matter]
        said = next((form for form in inside if form in table), None)
        if said is not None and table[said] not in values:
            return Reason("value.opposite", table[said])
    return None


def _another_polarity(asked: Alternative, place: Place) -> Reason | None:
    reading = place.reading
    cued = any(reading.cue[i] >= 0 or reading.scope[i] >= 0 for i in place.inside)
    if asked.negated or not _LACK.isdisjoint(asked.forms):
        return None if cued else Reason("polarity.affirmed")
    inside = set(place.forms(place.inside))
    if cue := _cue_within(place):
        return cue
    return Reason("polarity.denied") if cued or inside & _NEGATIVE else None


def _another_person(asked: Alternative, place: Place) -> Reason | None:
    said = persons_in(place.reading.tokens, place.inside) if asked.persons else None
    if not said or opposites.persons_fit(asked.persons, said):
        return None
    return Reason("person.other", min(said))


def _in_order(_asked: Alternative, place: Place) -> Reason | None:
    said = next((form for form in place.forms(place.inside) if form in _IN_ORDER), None)
    return Reason("polarity.normal", said) if said else None


def _cue_within(place: Place) -> Reason | None:
    """Return the reason if the words themselves say that something is past or only advised."""
    tokens, reasons = place.reading.tokens, time.REASONS | modality.REASONS
    for table in (time.NO_MORE, time.GONE, modality.NOT_MEANT, modality.NOT_DONE):
        for i in place.inside:
            hit = table.at(tokens, i) if tokens[i].form in table else None
            if hit is not None and tokens[i].form not in ("never", "not"):  # that is a denial
                return reasons[hit[0]]
    return None
