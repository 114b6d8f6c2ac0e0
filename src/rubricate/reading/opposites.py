"""Words that exclude each other: sides, places of the body, courses, onsets, relatives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rubricate.knowledge.tables import groups, phrases, value_lists, values, words
from rubricate.reading.numbers import time_unit

SIDES = values("opposites.sides")
_CLOSE_KIN = words("opposites.close_kin")
EYES = words("opposites.eyes")
NO_SIDE_AFTER = words("opposites.no_side_after")
NO_SIDE_BEFORE = words("opposites.no_side_before")
HEIGHTS = values("opposites.heights")
SITES = values("opposites.sites")
_PARTS = groups("opposites.parts")
#: Other words that exclude each other, one table for each matter.
MATTERS: Mapping[str, Mapping[str, str]] = {
    name.removeprefix("exclusive.").replace("_", " "): values(name)
    for name in value_lists("exclusive")
}
PERSONS = values("opposites.persons")
#: Matters of which another value settles that a feature is not stated, with the words of which a
#: feature must have one where the matter's own may be about something else.
SURE_MATTERS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(phrases("opposites.sure"), frozenset[str]()),
    **groups("opposites.sure_with"),
    "life": frozenset(PERSONS),
}
_PERSON_PARTS = groups("opposites.person_parts")
WHOSE_HISTORY = values("opposites.whose_history")
_REFLEXES_ARE = words("opposites.reflexes_are")
_UNCLE_OR_AUNT = values("opposites.uncle_or_aunt")

AGES_OF_KIN = words("opposites.ages_of_kin")
_YOUNG = values("opposites.young")
_BLOOD = words("opposites.blood")


def names_person(form: str) -> bool:
    """Tell whether a word may name a person, of whom `kin_of_kin` may make another.

    >>> names_person("dad"), names_person("knee")
    (True, False)
    """
    return form in PERSONS or form in _YOUNG


def kin_of_kin(whose: str, who: str) -> str:
    """Return the relative that a relative's relative is, or an empty text.

    >>> kin_of_kin("dads", "brother"), kin_of_kin("dad", "brother")
    ('uncle', '')
    >>> kin_of_kin("brothers", "boy"), kin_of_kin("husbands", "sister")
    ('nephew', 'sister-in-law')
    """
    owner = PERSONS.get(whose.removesuffix("s"), "") if whose.endswith("s") else ""
    person = PERSONS.get(who, "") or _YOUNG.get(who, "")
    if owner in ("mother", "father"):
        return _UNCLE_OR_AUNT.get(person, "")
    if owner in ("brother", "sister", "sibling"):
        return {"son": "nephew", "daughter": "niece"}.get(person, "")
    if owner in ("aunt", "uncle"):
        return "cousin" if person in ("son", "daughter", "child") else ""
    in_law = owner in ("wife", "husband", "partner") and person in _BLOOD
    return f"{person}-in-law" if in_law else ""


def names_reflexes(form: str, *after: str) -> bool:
    """Tell whether "DTR" stands for the tendon reflexes rather than for a daughter.

    >>> names_reflexes("dtr", "3", "+"), names_reflexes("dtr", "has", "asthma")
    (True, False)
    """
    if form != "dtr" or not after:
        return False
    graded = after[0][:1] in tuple("01234") and (len(after[0]) == 1 or "/" in after[0])
    aged = len(after) > 1 and time_unit(after[1]) is not None
    return after[0] in _REFLEXES_ARE or (graded and not aged)


_RETURNING = words("opposites.returning")
_BACK_AT = words("opposites.back_at")


def sites_named(forms: Sequence[str]) -> frozenset[str]:
    """Return the places of the body that word forms name.

    >>> sorted(sites_named("pain in lower back comes back at the femoral neck".split()))
    ['back', 'hip']
    """
    found = set()
    for i, form in enumerate(forms):
        site = SITES.get(form)
        if site is None:
            continue
        before = forms[i - 1] if i else ""
        after = forms[i + 1] if i + 1 < len(forms) else ""
        if form == "head" and {"above", "over"} & set(forms[max(0, i - 2) : i]):
            continue
        if form == "back" and (before in _RETURNING or after in _BACK_AT):
            continue
        found.add("hip" if form == "neck" and before.startswith("femor") else site)
    return frozenset(found)


ANY_RELATIVE = words("opposites.any_relative")
NOT_KIN = words("opposites.not_kin") | {f"{person}-in-law" for person in _CLOSE_KIN}
NOT_FIRST_DEGREE = NOT_KIN | words("opposites.not_first_degree")


def fits(asked: Iterable[str], said: Iterable[str], parts: Mapping[str, frozenset[str]]) -> bool:
    """Tell whether something said is, has or is part of something asked for.

    >>> places_fit(["leg"], ["calf"]), places_fit(["knee"], ["hip"])
    (True, False)
    """
    own = list(said)
    return any(a == b or b in parts.get(a, ()) or a in parts.get(b, ()) for a in asked for b in own)


def places_fit(asked: Iterable[str], said: Iterable[str]) -> bool:
    """Tell whether places of the body overlap."""
    return fits(asked, said, _PARTS)


def persons_fit(asked: Iterable[str], said: Iterable[str]) -> bool:
    """Tell whether one of the people said is one of those asked for."""
    return fits(asked, said, _PERSON_PARTS)
