"""Words of a note that are another person's."""

from __future__ import annotations

from bisect import bisect_left

from rubricate.knowledge.tables import values, words
from rubricate.reading import opposites
from rubricate.reading.note import NEAR, REACH, NoteReading, Place
from rubricate.reading.opposites import EMPTY_WORDS, persons_in
from rubricate.reading.subjects import Context
from rubricate.reading.tokens import stem
from rubricate.requirement.alternative import Alternative
from rubricate.rules.reasons import Reason

_SHARED = words("persons.shared")
_OWNERS = words("persons.owners") | {""}

_CHILDREN = words("persons.children")

_SIDE_OF_FAMILY = words("persons.side_of_family")


def another_person(asked: Alternative, place: Place) -> Reason | None:
    """Return the person whose matter it is, where the feature asks about another."""
    reading = place.reading
    start, end = reading.starts[place.inside[0]], reading.tokens[place.inside[-1]].end
    if asked.persons or asked.any_relative:
        return _another_relative(asked, place)
    if not _SHARED.isdisjoint(asked.forms):
        return None
    middle = reading.starts[place.inside[len(place.inside) // 2]]
    for context in reading.contexts_at((place.inside[0], place.inside[len(place.inside) // 2])):
        inside = context.scope_span.start <= start and end <= context.scope_span.end + 1
        if inside or context.scope_span.start <= middle < context.scope_span.end:
            cue = context.cue_span.text(reading.text).lower().removesuffix("'s")
            if _is_the_patient(reading, context):
                continue
            if context.kind == "family" and (owners := _owners(asked, place)):
                return Reason("person.other", min(owners))
            person = opposites.PERSONS.get(cue)
            if person is None and context.kind == "family":
                own = persons_in(reading.tokens, place.around(REACH))
                person = min(own) if own else None
                return Reason("person.other", person) if person else Reason("person.family")
            return Reason("person.other", person or cue)
    return None


def _is_the_patient(reading: NoteReading, context: Context) -> bool:
    """Tell whether a context's person is the patient: "your son" in a letter to parents."""
    i = bisect_left(reading.starts, context.cue_span.start)
    before = reading.tokens[i - 1].form if i else ""
    return reading.tokens[i].form in _CHILDREN and before in _OWNERS


def _another_relative(asked: Alternative, place: Place) -> Reason | None:
    said = _owners(asked, place)
    if not said:
        said = persons_in(place.reading.tokens, place.inside)
    if not said:
        said = persons_in(place.reading.tokens, place.around(NEAR))
    if not said:
        return None
    if side := _other_side(asked, place):
        return side
    if asked.persons and not asked.any_relative and not asked.forms & _SIDE_OF_FAMILY:
        fit = opposites.persons_fit(asked.persons, said)
        return None if fit else Reason("person.other", min(said))
    return _not_kin(asked, said)


def not_kin(asked: Alternative, place: Place) -> Reason | None:
    """Return the person whose matter it is, where a feature asks for the family and it is none."""
    if not asked.any_relative:
        return None
    said = persons_in(place.reading.tokens, place.inside)
    return _not_kin(asked, said) if said else None


def _not_kin(asked: Alternative, said: frozenset[str]) -> Reason | None:
    of_family = {"family", "history"} <= asked.forms or not asked.forms.isdisjoint(("fh", "fhx"))
    near = "degree 1" in asked.types and not asked.forms.isdisjoint(("relative", "relatives"))
    others = opposites.NOT_FIRST_DEGREE if near else opposites.NOT_KIN
    asks = (of_family or near) and not asked.persons
    return Reason("person.no_kin", min(said)) if asks and said <= others else None


_SIDE = values("persons.side")


def _other_side(asked: Alternative, place: Place) -> Reason | None:
    """Return the side of the family said where the feature asks for the other one."""
    if len(wanted := asked.forms & {"maternal", "paternal"}) != 1 or not asked.persons:
        return None
    said = {_SIDE[form] for form in place.forms(place.around(NEAR)) if form in _SIDE}
    other = len(said) == 1 and said != wanted
    return Reason("person.side_of_family", min(said)) if other else None


_NO_MATTER = words("persons.no_matter")


def _owners(asked: Alternative, place: Place) -> frozenset[str]:
    """Return the owners of the words' matter: the last people named before it, or after it.

    "Father MI at 60, brother well": the infarction is the father's, although both are in the words.
    """
    tokens = place.reading.tokens
    named = [*_before_dash(place), *range(place.first, place.end), *_after_dash(place)]
    persons = {i: own for i in named if (own := persons_in(tokens, [i]))}
    matter = [
        i
        for i in place.inside
        if i not in persons
        and tokens[i].form not in opposites.PERSONS
        and tokens[i].kind == "word"
        and tokens[i].form not in EMPTY_WORDS
        and tokens[i].form not in _NO_MATTER
    ]
    if not persons or not matter:
        return frozenset()
    if len([i for i in persons if place.inside[0] <= i <= place.inside[-1]]) > 1:
        matter = _best_part(asked, place, sorted(persons), matter)
    last = matter[-1]
    if last + 1 < place.end and tokens[last + 1].form in _IN:  # "diabetes in mother, gout in son"
        following = [i for i in persons if last + 1 < i <= last + NEAR]
        if following:
            return persons[following[0]]
    before = [i for i in persons if i < matter[0]]
    chain = [before[-1]] if before else [next((i for i in persons if i > matter[0]), -1)]
    if chain[0] < 0:
        return frozenset()
    others = before[-2::-1] if before else [i for i in persons if i > chain[0]]
    for i in others:
        low, high = sorted((i, chain[-1]))
        if not all(token.form in _JOINS for token in tokens[low + 1 : high]):
            break
        chain.append(i)
    kin = ""
    if before and chain[0] - 1 in persons:
        kin = opposites.kin_of_kin(tokens[chain[0] - 1].form, tokens[chain[0]].form)
    return frozenset([kin]) if kin else frozenset().union(*(persons[i] for i in chain))


def _before_dash(place: Place) -> list[int]:
    """Return the place of a person set off before the words: "brother - kidney stones"."""
    tokens, first = place.reading.tokens, place.first
    return [first - 2] if first > 1 and tokens[first - 1].form == "-" else []


def _after_dash(place: Place) -> list[int]:
    """Return the places after a dash behind the words: "breast ca - paternal grandmother"."""
    tokens, end = place.reading.tokens, place.end
    return list(range(end, min(end + 2, len(tokens)))) if tokens[end - 1].form == "-" else []


def _best_part(
    asked: Alternative, place: Place, persons: list[int], matter: list[int]
) -> list[int]:
    """Return the matter of the person that has most of the feature's words, where one has."""
    tokens = place.reading.tokens
    parts = []
    for i, end in zip(persons, [*persons[1:], place.end], strict=True):
        own = [k for k in matter if i < k < end]
        parts.append((len({stem(tokens[k].form) for k in own} & asked.stems), own))
    most = max(n for n, _ in parts)
    best = [own for n, own in parts if n == most and own]
    return best[0] if len(best) == 1 and most else matter


_IN = words("persons.in")
_JOINS = words("persons.joins")
