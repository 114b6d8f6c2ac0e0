"""Words of a note that give another number, count, type, course, side, place or drug."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from rubricate.knowledge.tables import groups, pattern, phrases, words
from rubricate.reading import opposites
from rubricate.reading.drugs import drugs_among, other_class
from rubricate.reading.note import NEAR, REACH, Place
from rubricate.reading.numbers import figure, time_unit
from rubricate.reading.opposites import counts_in, numerals_of, sides_in, types_in, values_named
from rubricate.reading.quantities import Quantity, same_quantity
from rubricate.reading.tokens import stem
from rubricate.requirement.alternative import Alternative
from rubricate.rules.reasons import Reason

_CHANGE = words("drugs.change")
_LEAST_WEIGHT = 35
_IN_A_DAY = frozenset(phrases("drugs.in_a_day"))
_CYCLE = words("drugs.cycle")


def _tells_change(forms: Sequence[str]) -> bool:
    """Tell whether an arrow leads from one value to another."""
    return "→" in forms or ("-", ">") in pairwise(forms)


def another_number(asked: Alternative, place: Place) -> Reason | None:
    """Return the number said where the feature asks for another of its kind."""
    if asked.negated:  # "No steroids in the past year": two years since the last.
        return None
    weighed = any(quantity.kind == "weight" for quantity in asked.quantities)
    if weighed and _tells_change(place.forms(place.around(NEAR))):
        return None  # "82 → 72 kg" lost 10.
    for kind, unit in dict.fromkeys((q.kind, q.unit) for q in asked.quantities):
        wanted = [q for q in asked.quantities if (q.kind, q.unit) == (kind, unit)]
        around = place.quantities(REACH)
        if any(same_quantity(a, b) for a in wanted for b in around):
            continue
        near = place.quantities(NEAR)
        said = [q for q in near if (q.kind, q.unit) == (kind, unit)]
        if kind == "weight" and not _CHANGE.isdisjoint(asked.forms):
            # "Lost 8 kg": "from 80 to 72 kg" gives weights and no loss.
            said = [q for q in said if q.low < _LEAST_WEIGHT or wanted[0].low >= _LEAST_WEIGHT]
        if kind == "duration" and asked.forms & _CYCLE and _is_repeated(around):
            continue
        if kind == "length" and said and _is_last_of_several(place, said[0]):
            continue
        if kind == "dose" and wanted[0].high == math.inf and asked.forms & _IN_A_DAY:
            continue  # "MST 60 mg twice a day": two doses make the sum.
        if said and not asked.numerals & numerals_of(place.forms(_outside(place, around, kind))):
            return Reason("value.number", said[0].span.text(place.reading.text))
    return _beyond_limit(asked, place) or _another_count(asked, place)


def _is_last_of_several(place: Place, quantity: Quantity) -> bool:
    """Tell whether a length is the last side of several: "14 x 11 x 9 cm" is 14 cm large."""
    before = place.reading.text[max(0, quantity.span.start - 20) : quantity.span.start].rstrip()
    return before.endswith(("x", "×", "X")) and before[-2:-1] in (" ", *"0123456789")


def _beyond_limit(asked: Alternative, place: Place) -> Reason | None:
    """Return the number said where the feature asks for one above or below another: "CK 410"."""
    if asked.limit is None:
        return None
    tokens = place.reading.tokens
    near = range(place.inside[0], min(place.end, place.inside[-1] + NEAR))
    said = [form for i in near if (form := tokens[i].form)[:1].isdigit()]
    if any(tokens[i].kind == "number" and tokens[i + 1].form == "k" for i in near[:-1]):
        return None  # "CK 44k"
    value = figure(said[0]) if len(said) == 1 else None
    if value is None:
        return None
    above, limit = asked.limit
    beyond = value < limit if above else value > limit
    return Reason("value.limit", said[0]) if beyond else None


def _is_repeated(quantities: Sequence[Quantity]) -> bool:
    """Tell whether one of them says how often: "cycles q28d x 7d" are cycles of 28 days."""
    return any(one.kind == "frequency" for one in quantities)


def _another_count(asked: Alternative, place: Place) -> Reason | None:
    """Return the number of the same things said: 1 pillow for three pillows."""
    if not asked.counts:
        return None
    if times := _another_number_of_times(asked, place):
        return times
    around = counts_in(place.reading.tokens[place.first : place.end])
    within = place.around(NEAR)
    near = counts_in(place.reading.tokens[within.start : within.stop])
    for thing, number in sorted(asked.counts):
        said = sorted(n for one, n in near if one == thing)
        if said and (thing, number) not in around:
            return Reason("value.count", said[0])
    return None


def _another_number_of_times(asked: Alternative, place: Place) -> Reason | None:
    """Return "x7" of "detox x7" where a feature asks for two: "Two prior detox admissions"."""
    if len(asked.counts) != 1 or len(asked.numerals) != 1:
        return None
    (number,) = asked.numerals
    tokens = place.reading.tokens
    for i in place.inside[1:]:
        if tokens[i].form != "x" or stem(tokens[i - 1].form) not in asked.stems:
            continue
        said = tokens[i + 1].form if i + 1 < place.end else ""
        after = tokens[i + 2].form if i + 2 < len(tokens) else ""
        # "Vomiting x3 days" is a time, "14 x 11" a size.
        if said.isdecimal() and not time_unit(after) and not after[:1].isdigit() and after != "x":
            return Reason("value.times", f"x{said}") if said != number else None
    return None


def _outside(place: Place, quantities: Sequence[Quantity], kind: str) -> list[int]:
    """Return the tokens around that are in no quantity of a kind."""
    spans = [q.span for q in quantities if q.kind == kind]
    starts = place.reading.starts
    return [
        i
        for i in range(place.first, place.end)
        if not any(span.start <= starts[i] < span.end for span in spans)
    ]


_NO_KIND = words("drugs.no_kind")
_LATER = pattern("drugs.later")


def another_type(asked: Alternative, place: Place) -> Reason | None:
    """Return the type said where the feature asks for another."""
    kinds = {one.split()[0] for one in asked.types}
    named = types_in(place.forms(place.around(NEAR))) if kinds else frozenset()
    said = {one for one in named if one.split()[0] in kinds}
    if said and said.isdisjoint(asked.types):
        return Reason("value.type", min(said))
    # Kinds that exclude each other: severe for mild.
    if asked.negated or not _NO_KIND.isdisjoint(asked.forms):
        return None
    for matter, values in asked.matters:
        needed = opposites.SURE_MATTERS.get(matter)
        if needed is None or (needed and needed.isdisjoint(asked.forms)):
            continue
        table, reading = opposites.MATTERS[matter], place.reading
        affirmed = (reading.tokens[i].form for i in place.around(1) if reading.scope[i] < 0)
        said = {table[form] for form in affirmed if form in table}
        around = place.forms(range(place.first, place.end))
        if said and values.isdisjoint(values_named(dict(table), around)):
            return Reason("value.type", min(said))
    return None


def _other_weight(asked: Alternative, place: Place) -> Reason | None:
    """Return "down" where a weight should have risen, and the like."""
    wanted = dict(asked.matters).get("weight", frozenset())
    said = {"up": "gain", "down": "loss"}
    near = {form for form in place.forms(place.around(1)) if form in said}
    if len(near) != 1 or asked.negated:
        return None
    (form,) = near
    return Reason("value.weight", form) if wanted and said[form] not in wanted else None


def opposite(asked: Alternative, place: Place) -> Reason | None:
    """Return the word said that excludes one of the feature's: better for worse."""
    if other := another_type(asked, place):
        return other
    if "first" in asked.forms and not asked.negated:
        near = place.forms(place.around(NEAR))
        later = [form for form in near if _LATER.fullmatch(form)]
        if later and {"first", "1st"}.isdisjoint(near):
            return Reason("value.first", later[0])
    if not asked.matters:
        return None
    if "weight" in asked.forms and (other := _other_weight(asked, place)):
        return other
    inside = place.forms(place.inside)
    around = place.forms(range(place.first, place.end))
    reading = place.reading
    # "Nonproductive" denies a word and is one that says otherwise itself.
    scopes = [reading.scope[i] for i in place.inside if reading.scope[i] >= 0]
    denied = not all(reading.negations[scope].is_one_word for scope in scopes)
    for matter, values in asked.matters:
        table = opposites.MATTERS[matter]
        said = {table[form] for form in inside if form in table}
        if not said and matter == "course" and len(place.inside) == 1:
            # "Worse at rest": only the rest was found.
            low = max(place.first, place.inside[0] - 2)
            beside = place.forms(range(low, place.inside[0]))
            said = {table[form] for form in beside if form in table}
        told = (table[form] for form in around if form in table)
        if len(said) == 1 and not denied and not asked.negated and values.isdisjoint(told):
            return Reason("value.opposite", min(said))
    return None


_MIDDLE_PARTS = words("drugs.middle_parts")
_MIDDLE = words("drugs.middle")


def another_side(asked: Alternative, place: Place) -> Reason | None:
    """Return the side said where the feature asks for another."""
    if asked.forms & _MIDDLE and asked.forms & _MIDDLE_PARTS and not asked.negated:
        return _not_midline(place)
    if len(asked.sides) != 1:
        return None
    reading = place.reading
    around = sides_in(reading.text, reading.tokens, range(place.first, place.end))
    if asked.sides & around or (asked.sides == {"both"} and {"left", "right"} <= around):
        return None
    said = sides_in(reading.text, reading.tokens, place.around(NEAR))
    if {"left", "right"} <= said:
        return None if asked.sides == {"both"} else Reason("side.other", "both")
    return Reason("side.other", min(said)) if said else None


def _not_midline(place: Place) -> Reason | None:
    """Return the side to which something is said to be that should be in the middle."""
    reading = place.reading
    said = sides_in(reading.text, reading.tokens, place.inside)
    around = place.forms(range(place.first, place.end))
    beside = len(said) == 1 and _MIDDLE.isdisjoint(around)
    return Reason("side.midline", min(said)) if beside else None


def another_site(asked: Alternative, place: Place) -> Reason | None:
    """Return the place of the body said where the feature asks for another."""
    inside = place.forms(place.inside)
    around = place.forms(range(place.first, place.end))
    if len(asked.heights) == 1:
        said = values_named(opposites.HEIGHTS, inside)
        if said and asked.heights.isdisjoint(values_named(opposites.HEIGHTS, around)):
            return Reason("side.site", min(said))
    if not asked.sites:
        return None
    said = opposites.sites_named(inside)
    if not said or opposites.places_fit(asked.sites, opposites.sites_named(around)):
        return None
    return Reason("side.site", min(said))


_NOT_TAKEN = words("drugs.not_taken")
_SAME_DRUG = tuple(groups("drugs.same").values())
_GENERIC = pattern("drugs.generic")
_BRANDS = words("drugs.brands")


def another_drug(asked: Alternative, place: Place) -> Reason | None:
    """Return the class of the drugs said where the feature asks for another."""
    if not asked.drugs or asked.negated or asked.forms & _NOT_TAKEN:
        return None
    named = [t for t in (place.reading.tokens[i] for i in place.inside) if t.kind != "mark"]
    said = drugs_among(named)
    if not said or any(name in asked.drug_names for name, _ in said):
        return None
    other = other_class(asked.drugs, said)
    if other:
        return Reason("drug.class", other)
    # Of one class, but two drugs: brand names are left out, for they may be the one asked for.
    names = [name for name, _ in said]
    drugs = (*asked.drugs, *(drug for _, drug in said))
    both = {*asked.drug_names, *names}
    same = any(one & asked.drug_names and not one.isdisjoint(names) for one in _SAME_DRUG)
    two = not same and all(_GENERIC.search(name) for name in both) and not _BRANDS & both
    two = two and not any(drug.is_class for drug in drugs)
    return Reason("drug.other", names[0]) if two else None
