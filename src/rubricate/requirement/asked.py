"""What a feature asks for, read from its wording."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from rubricate.knowledge.tables import numbers, pattern, values, words
from rubricate.reading import opposites
from rubricate.reading.drugs import DrugName, drugs_among
from rubricate.reading.numbers import figure, time_unit
from rubricate.reading.quantities import Quantity
from rubricate.reading.tokens import Token, stem
from rubricate.requirement.wordings import ReadWording, read_wording
from rubricate.rubric import Feature

EMPTY_WORDS = words("asked.empty_words")
_WITHIN = words("asked.within")
_STRETCHES = words("asked.stretches")


@dataclass(frozen=True, slots=True)
class AskedFor:
    """What one alternative of a feature asks for."""

    negated: bool
    plainly_negated: bool
    words: frozenset[str]
    quantities: tuple[Quantity, ...]
    numerals: frozenset[str]
    counts: frozenset[tuple[str, str]]
    sides: frozenset[str]
    heights: frozenset[str]
    sites: frozenset[str]
    persons: frozenset[str]
    any_relative: bool
    drugs: tuple[DrugName, ...]
    drug_names: frozenset[str]
    matters: tuple[tuple[str, frozenset[str]], ...]
    types: frozenset[str]
    limit: tuple[bool, float] | None
    forms: frozenset[str]
    about_advice: bool


@lru_cache(maxsize=4096)
def read_asked(feature: str) -> tuple[AskedFor, ...]:
    """Return what each alternative of a feature asks for."""
    return tuple(_read_alternative(part) for part in Feature("", "", feature).wordings)


def _read_alternative(text: str) -> AskedFor:
    wording = read_wording(text)
    tokens = wording.tokens
    forms = [token.form for token in tokens]
    drugs = drugs_among(wording.words)
    known = {
        matter: frozenset(table[form] for form in forms if form in table)
        for matter, table in opposites.MATTERS.items()
    }
    return AskedFor(
        negated=wording.denies or forms[:1] in (["no"], ["not"], ["never"]),
        plainly_negated=_plainly_negated(forms),
        words=frozenset(stem(form) for form in forms if form not in EMPTY_WORDS),
        quantities=_asked_quantities(wording),
        numerals=numerals_of(forms),
        counts=frozenset() if _COMPARING & set(forms) else counts_in(tokens),
        sides=sides_in(text, tokens, range(len(tokens))),
        heights=values_named(opposites.HEIGHTS, forms),
        sites=opposites.sites_named(forms),
        persons=persons_in(tokens, range(len(tokens))) or _whose_history(forms),
        any_relative=not opposites.ANY_RELATIVE.isdisjoint(forms),
        drugs=tuple(drug for _, drug in drugs),
        drug_names=frozenset(name for name, _ in drugs),
        matters=tuple((matter, values) for matter, values in known.items() if len(values) == 1),
        types=types_in(forms),
        limit=_limit_in(forms) if not wording.quantities[1:] else None,
        forms=frozenset(forms),
        about_advice=_ABOUT_ADVICE.search(text) is not None,
    )


_ABOUT_ADVICE = pattern("asked.about_advice")

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


def _limit_in(forms: Sequence[str]) -> tuple[bool, float] | None:
    """Return whether a feature asks for a value above a number, or below, and the number."""
    before, last = ["", "", *forms][-2:]
    numbers = [form for form in forms if form[:1].isdigit()]
    value = figure(last) if numbers == [last] and before in _ABOVE | _BELOW else None
    return None if value is None else (before in _ABOVE, value)


_ABOVE, _BELOW = words("asked.above"), words("asked.below")


def _plainly_negated(forms: Sequence[str]) -> bool:
    """Tell whether a feature denies all it names: "No fever", "Denies cough"."""
    if forms[:1] == ["non"]:  # "Non-smoker"
        return True
    if len(forms) < 2 or forms[0] not in _PLAIN_DENIALS:
        return False
    return forms[1] not in _NOT_PLAIN and not _NOT_PLAIN_ANYWHERE & set(forms)


_PLAIN_DENIALS = words("asked.plain_denials")
_NOT_PLAIN = words("asked.not_plain")

_NOT_PLAIN_ANYWHERE = words("asked.not_plain_anywhere")

_AT_MOST = words("asked.at_most")

_AT_LEAST = words("asked.at_least")

_COMPARING = _AT_MOST | _AT_LEAST | words("asked.comparing")


_SAME_NUMBER = values("asked.same_number")

_MINUTE = 1 / 24 / 60
#: So many words before a number may say that it is the least or the most.
_FAR_BEFORE = 40


def numerals_of(forms: Sequence[str]) -> frozenset[str]:
    """Return the numbers among word forms, in digits."""
    return frozenset(
        _SAME_NUMBER.get(form, form)
        for form in forms
        if (form[0].isdigit() or form in _SAME_NUMBER) and form not in ("a", "an")
    )


def _asked_quantities(wording: ReadWording) -> tuple[Quantity, ...]:
    """Return what a feature asks for in numbers; "within 4 weeks" asks for at most as much."""
    found: list[Quantity] = []
    tokens = wording.tokens
    starts, ends = [token.start for token in tokens], [token.end for token in tokens]
    for quantity in wording.quantities:
        if quantity.kind == "number" or (
            quantity.kind == "duration" and quantity.high < 0.9 * _MINUTE
        ):
            continue
        first = bisect_right(ends, quantity.span.start)
        end = bisect_left(starts, quantity.span.end)
        earlier = [token.form for token in tokens[max(0, first - _FAR_BEFORE) : first]]
        before = set(earlier) - ({"last"} if _is_lasting(earlier) else set())
        after = [token.form for token in tokens[end : end + 2]]
        if after[:1] == ["ago"]:  # "Last drink 24 hours ago"
            before -= {"last"}
        # "5 days or longer"; "or" alone begins another alternative.
        bound = set(after[1:]) if after[:1] == ["or"] else set()
        if before & _AT_MOST or bound & _AT_MOST or _in_the_last(tokens[max(0, end - 5) : end]):
            quantity = replace(quantity, low=0.0)
        # "10 lb over 3 months" took 3 months; "pain over 3 months" more than that.
        over_a_time = quantity.kind == "duration" and bool(found) and "over" in before
        if (before & _AT_LEAST and not over_a_time) or bound & _AT_LEAST:
            quantity = replace(quantity, high=math.inf)
        if quantity.kind == "frequency":
            # Who does it three times a day does it daily.
            plain = not numerals_of([token.form for token in tokens[first:end]])
            quantity = replace(quantity, high=math.inf) if plain else quantity
        found.append(quantity)
    return tuple(found)


def _is_lasting(forms: Sequence[str]) -> bool:
    """Tell whether "last" says how long: "Episodes last 30 minutes", not "symptoms in the last"."""
    return any(
        after == "last" and form.endswith("s") and form not in _NO_PLURAL
        for form, after in pairwise(forms)
    )


_NO_PLURAL = words("asked.no_plural")


def _in_the_last(tokens: Sequence[Token]) -> bool:
    """Tell whether a time is one that something lies in: "in the past year", "in first 24 h"."""
    near = [token.form for token in tokens if token.form != "the"]
    return any(one in _WITHIN and other in _STRETCHES for one, other in pairwise(near))


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
    if not opposites.names_person(tokens[i].form):
        return ""
    form, *after = (token.form for token in tokens[i : i + 4])
    if opposites.names_reflexes(form, *after):
        return ""
    before = [token.form for token in tokens[max(0, i - 3) : i]]
    of_whom = before[:-2] + before[-2:-1] if "of" in before[-2:] else []
    if after[:1] == ["side"] or any(opposites.kin_of_kin(f"{form}s", who) for who in of_whom):
        return ""
    kin = (one for one in after if one not in opposites.AGES_OF_KIN)
    if opposites.kin_of_kin(form, next(kin, "")):
        return ""
    # "Her brother's little boy", "dad's younger sister".
    near = (one for one in reversed(before) if one not in opposites.AGES_OF_KIN)
    owners = [next(near, "")]
    if after[:1] == ["of"]:
        owners += [f"{one}s" for one in after[1:]]
    own = (opposites.kin_of_kin(owner, form) for owner in owners)
    return next(filter(None, own), "") or opposites.PERSONS.get(form, "")


def _whose_history(forms: Sequence[str]) -> frozenset[str]:
    """Return the relative whose history a feature asks for: "Maternal history of gout"."""
    asked = "history" in forms or "hx" in forms
    return values_named(opposites.WHOSE_HISTORY, forms) if asked else frozenset()


def counts_in(tokens: Sequence[Token]) -> frozenset[tuple[str, str]]:
    """Return what is counted, with the number: ("pillow", "3").

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
        side = opposites.SIDES.get(token.form)
        if side is None:
            continue
        after = tokens[i + 1].form if i + 1 < len(tokens) else ""
        before = tokens[i - 1].form if i else ""
        if len(token.form) == 1 and (text[token.start].islower() or tokens[i - 1].kind == "number"):
            continue
        if token.form in opposites.EYES and not _is_eye(text, tokens, i):
            continue
        if token.form in ("left", "right") and (
            after in opposites.NO_SIDE_AFTER
            or (after == "hand" and _DOMINANT & {t.form for t in tokens[i + 2 : i + 4]})
            or (before in opposites.NO_SIDE_BEFORE and after not in _SIDED)  # "has left knee pain"
        ):
            continue
        found.add(side)
    return frozenset(found)


_DOMINANT = words("asked.dominant")
_SIDED = frozenset(opposites.SITES) | frozenset(opposites.HEIGHTS) | words("asked.sided")


def _is_eye(text: str, tokens: Sequence[Token], i: int) -> bool:
    """Tell whether "OD" and the like name an eye; after a dose it is "once daily"."""
    written = text[tokens[i].start : tokens[i].end]
    before = tokens[i - 1] if i else tokens[i]
    return written.isupper() and before.kind != "number" and before.form not in _DOSES


_DOSES = words("asked.doses")
