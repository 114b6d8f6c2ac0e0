"""Drugs and the classes they belong to, by generic, brand and class name (written by hand)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from rubricate.knowledge.rows import reached_from, split_cell, table_rows
from rubricate.reading.tokens import Token, phrase_key

_LONGEST = 5


@dataclass(frozen=True, slots=True)
class DrugClass:
    """A class of drugs: its names, the classes it is part of, and the drugs in it."""

    name: str
    names: tuple[str, ...]
    broader: tuple[str, ...]
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DrugName:
    """A name's meaning: the classes it may mean, and whether it is a class or one drug."""

    classes: frozenset[str]
    is_class: bool


@cache
def drug_classes() -> tuple[DrugClass, ...]:
    """Return the classes of the table ``drug_classes.tsv``, in its order.

    >>> next(one.members[0] for one in drug_classes() if one.name == "statin")
    'atorvastatin'
    """
    return tuple(
        DrugClass(name, *map(split_cell, cells)) for name, *cells in table_rows("drug_classes.tsv")
    )


@cache
def classes_above(name: str) -> frozenset[str]:
    """Return a class and all classes it is part of.

    >>> sorted(classes_above("loop diuretic"))
    ['diuretic', 'loop diuretic']
    """
    broader = {one.name: one.broader for one in drug_classes()}
    return reached_from(name, lambda one: broader.get(one, ()))


@cache
def _by_name() -> dict[str, DrugName]:
    table: dict[str, DrugName] = {}
    for one in drug_classes():
        for name in (one.name, *one.names):
            table[phrase_key(name)] = DrugName(frozenset([one.name]), is_class=True)
    for one in drug_classes():
        for member in one.members:
            key = phrase_key(member)
            before = table.get(key)
            if before is None or not before.is_class:
                own = frozenset() if before is None else before.classes
                table[key] = DrugName(own | {one.name}, is_class=False)
    return table


@cache
def _first_words() -> frozenset[str]:
    firsts = {key.split(" ")[0] for key in _by_name()}
    return frozenset(firsts | {f"{form}s" for form in firsts})


def drugs_among(words: Sequence[Token]) -> list[tuple[str, DrugName]]:
    """Return the drugs and classes that words name, the longest name first at each place.

    >>> from rubricate.reading.tokens import find_words
    >>> words = find_words("on Lasix and a beta-blocker")
    >>> [(name, sorted(drug.classes)) for name, drug in drugs_among(words)]
    [('lasix', ['loop diuretic']), ('beta blocker', ['beta blocker'])]
    """
    return [(key, drug) for key, drug, _, _ in drugs_at(words)]


def drugs_at(words: Sequence[Token]) -> Iterator[tuple[str, DrugName, int, int]]:
    """Yield the same with the number of the first word and of the one after the last."""
    table, firsts = _by_name(), _first_words()
    i = 0
    while i < len(words):
        step = 1
        if words[i].form in firsts:
            for length in range(min(_LONGEST, len(words) - i), 0, -1):
                key = " ".join(word.form for word in words[i : i + length])
                if key not in table and key.endswith("s") and key != "the pills":
                    key = key[:-1]
                if key in table:
                    yield key, table[key], i, i + length
                    step = length
                    break
        i += step


def other_class(asked: Sequence[DrugName], said: Sequence[tuple[str, DrugName]]) -> str:
    """Return the class or drug said where another was asked for; empty when one fits.

    A class is fitted by its drugs, its narrower and its broader classes; a drug by itself (a name
    among ``said`` that is the same drug is left out by the caller) and by the classes it is in.

    >>> from rubricate.reading.tokens import find_words
    >>> asked = [drug for _, drug in drugs_among(find_words("ACE inhibitor use"))]
    >>> said = (drugs_among(find_words(text)) for text in ("takes metoprolol", "Altace"))
    >>> [other_class(asked, one) for one in said]
    ['beta blocker', '']
    """
    wanted = {name for one in asked for name in one.classes}
    if not wanted or not said:
        return ""
    for _, drug in said:
        for name in drug.classes:
            above = classes_above(name)
            # A broader word ("blood pressure tablet") says nothing against a narrower feature.
            if above & wanted or any(name in classes_above(one) for one in wanted):
                return ""
    return min(said[0][1].classes)
