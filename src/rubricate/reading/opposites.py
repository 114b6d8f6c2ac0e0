"""Words that exclude each other: sides, places of the body, courses, onsets, relatives, types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from rubricate.knowledge.tables import groups, numbers, pattern, phrases, value_lists, values, words
from rubricate.reading.numbers import time_unit
from rubricate.reading.tokens import Token, stem

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


#: Words that carry no meaning of their own.
EMPTY_WORDS = words("asked.empty_words")

_TYPES = values("asked.types")
_ROMAN = values("asked.roman")
_NUMBERED = words("asked.numbered")


_SCALES = values("asked.scales")
_ORDINAL = numbers("asked.ordinal")
_BY_ORDINAL = words("asked.by_ordinal")
_STEP = pattern("asked.step")
_OR = words("asked.or")
_UPWARDS = words("asked.upwards")
_DOWNWARDS = words("asked.downwards")


def types_in(forms: Sequence[str]) -> frozenset[str]:
    """Return the types and stages that word forms name: "type 2", "T1DM", "stage IV".

    >>> sorted(types_in("nyha class iii or iv".split())), sorted(types_in(["asa", "ii"]))
    (['class 3', 'class 4'], ['class 2'])
    >>> sorted(types_in("second - degree burn".split())), sorted(types_in(["bipolar", "ii"]))
    (['degree 2'], ['type 2'])
    """
    named = {f"type {_TYPES[form]}" for form in forms if form in _TYPES}
    plain = [form for form in forms if form != "-"]
    for form, what in pairwise(plain):
        if what in _BY_ORDINAL and form in _ORDINAL:
            named.add(f"{what} {_ORDINAL[form]}")
    for i, form in enumerate(forms[:-1]):
        before = forms[i - 1] if i else ""
        kind = _SCALES.get(before, form) if form in _NUMBERED else _SCALES.get(form)
        step = _step(forms[i + 1])
        if kind is None or step is None:
            continue
        steps, joined, *further = {step}, *forms[i + 2 : i + 4], ""
        if joined in _OR and further:
            if further[0] in _UPWARDS:
                steps |= set(range(step, 6))
            elif further[0] in _DOWNWARDS:
                steps |= set(range(1, step))
            elif (other := _step(further[0])) is not None:
                steps |= set(range(step, other + 1)) | {other}
        named |= {f"{kind} {one}" for one in steps}
    return frozenset(named)


def _step(form: str) -> int | None:
    """Return the number of a step: 3 of "III", "3" and "IIIb"."""
    match = _STEP.fullmatch(_ROMAN.get(form, form))
    return None if match is None else int(_ROMAN.get(match[1], match[1]))


_SAME_NUMBER = values("asked.same_number")


def numerals_of(forms: Sequence[str]) -> frozenset[str]:
    """Return the numbers among word forms, in digits."""
    return frozenset(
        _SAME_NUMBER.get(form, form)
        for form in forms
        if (form[0].isdigit() or form in _SAME_NUMBER) and form not in ("a", "an")
    )


def values_named(table: Mapping[str, str], forms: Sequence[str]) -> frozenset[str]:
    """Return the values that word forms have in a table."""
    return frozenset(table[form] for form in forms if form in table)


def persons_in(tokens: Sequence[Token], where: Sequence[int]) -> frozenset[str]:
    """Return the relatives and others that some tokens name."""
    found = set()
    for i in where:
        person = _person_at(tokens, i)
        if person:
            law = [t.form for t in tokens[i + 1 : i + 5]] == ["-", "in", "-", "law"]
            found.add(f"{person}-in-law" if law else person)
    return frozenset(found)


def _person_at(tokens: Sequence[Token], i: int) -> str:
    """Return whom a token names: the aunt in "mother's sister", nobody in "on dad's side"."""
    if not names_person(tokens[i].form):
        return ""
    form, *after = (token.form for token in tokens[i : i + 4])
    if names_reflexes(form, *after):
        return ""
    before = [token.form for token in tokens[max(0, i - 3) : i]]
    of_whom = before[:-2] + before[-2:-1] if "of" in before[-2:] else []
    if after[:1] == ["side"] or any(kin_of_kin(f"{form}s", who) for who in of_whom):
        return ""
    kin = (one for one in after if one not in AGES_OF_KIN)
    if kin_of_kin(form, next(kin, "")):
        return ""
    # "Her brother's little boy", "dad's younger sister".
    near = (one for one in reversed(before) if one not in AGES_OF_KIN)
    owners = [next(near, "")]
    if after[:1] == ["of"]:
        owners += [f"{one}s" for one in after[1:]]
    own = (kin_of_kin(owner, form) for owner in owners)
    return next(filter(None, own), "") or PERSONS.get(form, "")


def counts_in(tokens: Sequence[Token]) -> frozenset[tuple[str, str]]:
    """Return the things that are counted, with the number: ("pillow", "3").

    Only whole numbers up to 99 count things; what has a unit or says how often is a quantity.
    """
    found = set()
    tokens = [token for token in tokens if token.form not in _EARLIER]
    for before, token, after in zip([None, *tokens], tokens, tokens[1:], strict=False):
        number = _SAME_NUMBER.get(token.form, token.form)
        plain = token.form not in _NO_COUNT and (before is None or before.form not in _TENS)
        if plain and number.isdigit() and len(number) < 3 and _is_thing(after):
            found.add((stem(after.form), number))
    return frozenset(found)


def _is_thing(token: Token) -> bool:
    named = token.kind == "word" and token.form not in EMPTY_WORDS | _NO_THING
    return named and time_unit(token.form) is None


_EARLIER = words("asked.earlier")
_TENS = words("asked.tens")

_NO_COUNT = words("asked.no_count")
_NO_THING = words("asked.no_thing")


def sides_in(text: str, tokens: Sequence[Token], where: Sequence[int]) -> frozenset[str]:
    """Return the sides of the body that some tokens name."""
    found = set()
    for i in where:
        token = tokens[i]
        side = SIDES.get(token.form)
        if side is None:
            continue
        after = tokens[i + 1].form if i + 1 < len(tokens) else ""
        before = tokens[i - 1].form if i else ""
        if len(token.form) == 1 and (text[token.start].islower() or tokens[i - 1].kind == "number"):
            continue
        if token.form in EYES and not _is_eye(text, tokens, i):
            continue
        if token.form in ("left", "right") and (
            after in NO_SIDE_AFTER
            or (after == "hand" and _DOMINANT & {t.form for t in tokens[i + 2 : i + 4]})
            or (before in NO_SIDE_BEFORE and after not in _SIDED)  # "has left knee pain"
        ):
            continue
        found.add(side)
    return frozenset(found)


_DOMINANT = words("asked.dominant")
_SIDED = frozenset(SITES) | frozenset(HEIGHTS) | words("asked.sided")


def _is_eye(text: str, tokens: Sequence[Token], i: int) -> bool:
    """Tell whether "OD" and the like name an eye; after a dose it is "once daily"."""
    written = text[tokens[i].start : tokens[i].end]
    before = tokens[i - 1] if i else tokens[i]
    return written.isupper() and before.kind != "number" and before.form not in _DOSES


_DOSES = words("asked.doses")
