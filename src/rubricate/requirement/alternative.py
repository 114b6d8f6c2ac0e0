"""The requirement of one wording of a feature."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from rubricate.knowledge.tables import pattern, words
from rubricate.reading import opposites
from rubricate.reading.drugs import DrugName, drugs_among
from rubricate.reading.negation import asks_for_denial
from rubricate.reading.numbers import figure
from rubricate.reading.opposites import (
    EMPTY_WORDS,
    counts_in,
    numerals_of,
    persons_in,
    sides_in,
    types_in,
    values_named,
)
from rubricate.reading.quantities import Quantity, find_quantities
from rubricate.reading.tokens import Token, find_tokens, root, stem

STOP_WORDS = words("profile.stop_words")
NEGATING = words("profile.negating")
RELATIVES = words("lexical.relatives")
_TAKEN = words("modality.taken")
_WITHIN = words("asked.within")
_STRETCHES = words("asked.stretches")


class ReadWording(NamedTuple):
    """A wording's tokens, its words among them, its numbers, and whether it asks for a denial."""

    tokens: tuple[Token, ...]
    words: tuple[Token, ...]
    quantities: tuple[Quantity, ...]
    denies: bool


@lru_cache(maxsize=4096)
def read_wording(text: str) -> ReadWording:
    """Read a wording.

    >>> wording = read_wording("No cough for 3 weeks")
    >>> [word.form for word in wording.words], wording.quantities[0].unit, wording.denies
    (['no', 'cough', 'for', '3', 'weeks'], 'day', True)
    """
    tokens = tuple(find_tokens(text))
    return ReadWording(
        tokens,
        tuple(token for token in tokens if token.kind in ("word", "number")),
        tuple(find_quantities(text, tokens)),
        asks_for_denial(text, tokens),
    )


@dataclass(frozen=True, slots=True)
class Alternative:
    """One of the wordings of a feature that ``OR`` separates, and what it asks for.

    ``stems`` are fine and may be compared word by word, ``roots`` are coarse, those of the
    lexicon's model; so is what it takes for a denial that is asked for, ``asks_denial``.
    """

    text: str
    wording: ReadWording
    roots: tuple[str, ...]
    asks_denial: bool
    family: bool
    negated: bool
    plainly_negated: bool
    stems: frozenset[str]
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
    can_be_left_off: bool


def read_alternative(text: str) -> Alternative:
    """Read one of a feature's wordings.

    >>> one = read_alternative("No palpitations for 2 weeks")
    >>> one.negated, one.roots, [quantity.unit for quantity in one.quantities]
    (True, ('palpit', '2', 'week'), ['day'])
    """
    wording = read_wording(text)
    tokens = wording.tokens
    forms = [token.form for token in tokens]
    said = [word.form for word in wording.words]
    content = [f for f in said if f not in STOP_WORDS and f not in NEGATING and f != "history"]
    drugs = drugs_among(wording.words)
    known = {
        matter: frozenset(table[form] for form in forms if form in table)
        for matter, table in opposites.MATTERS.items()
    }
    return Alternative(
        text=text,
        wording=wording,
        roots=tuple(dict.fromkeys(root(form) for form in content or said)),
        # A negation inside ("pain not relieved by rest") denies as much as one in front.
        asks_denial=wording.denies or any(form in NEGATING for form in said[:1]),
        family=any(form in RELATIVES for form in said),
        negated=wording.denies or forms[:1] in (["no"], ["not"], ["never"]),
        plainly_negated=_plainly_negated(forms),
        stems=frozenset(stem(form) for form in forms if form not in EMPTY_WORDS),
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
        can_be_left_off=bool(drugs) or not _TAKEN.isdisjoint(forms),
    )


_ABOUT_ADVICE = pattern("asked.about_advice")


def _limit_in(forms: Sequence[str]) -> tuple[bool, float] | None:
    """Return the number that a value must be above or below, and True for above."""
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


_MINUTE = 1 / 24 / 60
#: So many words before a number may say that it is the least or the most.
_FAR_BEFORE = 40


def _asked_quantities(wording: ReadWording) -> tuple[Quantity, ...]:
    """Return the numbers that a feature asks for; "within 4 weeks" asks for at most as much."""
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


def _whose_history(forms: Sequence[str]) -> frozenset[str]:
    """Return the relative whose history a feature asks for: "Maternal history of gout"."""
    asked = "history" in forms or "hx" in forms
    return values_named(opposites.WHOSE_HISTORY, forms) if asked else frozenset()
