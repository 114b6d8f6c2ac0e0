"""Diagnoses by their names, abbreviations and lay words, and the groups they belong to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from rubricate.knowledge.rows import reached_from, split_cell, table_rows
from rubricate.knowledge.tables import words
from rubricate.reading.senses import find_senses
from rubricate.reading.tokens import Token, american, find_tokens, phrase_key, phrase_words

#: The group of what is felt or found and may be a diagnosis too.
_SYMPTOM = "symptom"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A diagnosis or a group of them.

    ``names`` mean the same, ``kinds`` are names of narrower ones, ``broader`` are the groups it is
    part of, ``near`` are others whose words may mean it or that go with it.
    """

    name: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    broader: tuple[str, ...]
    near: tuple[str, ...]


class NamedDiagnosis(NamedTuple):
    """A name among tokens: its first token, the one after its last, what it may mean, its key."""

    first: int
    end: int
    meant: frozenset[str]
    key: str


@cache
def diagnoses() -> dict[str, Diagnosis]:
    """Return the diagnoses of the table ``diagnoses.tsv`` by name.

    >>> diagnoses()["gout"].broader
    ('crystal arthropathy',)
    """
    rows = table_rows("diagnoses.tsv")
    return {name: Diagnosis(name, *map(split_cell, cells)) for name, *cells in rows}


@cache
def groups_above(name: str) -> frozenset[str]:
    """Return a diagnosis and all groups it is part of.

    >>> sorted(groups_above("pulmonary embolism"))
    ['lung disease', 'pulmonary embolism', 'venous thromboembolism']
    """
    return reached_from(name, lambda one: diagnoses()[one].broader)


def is_symptom(name: str) -> bool:
    """Tell whether a name is that of something felt or found: many words say it without naming it.

    >>> is_symptom("syncope"), is_symptom("vasovagal syncope")
    (True, False)
    """
    return _SYMPTOM in diagnoses()[name].broader


@cache
def _near(name: str) -> frozenset[str]:
    """Return the diagnoses near to one, whichever of both rows says so."""
    own = set(diagnoses()[name].near)
    return frozenset(own | {one.name for one in diagnoses().values() if name in one.near})


@cache
def may_be_meant(asked: str, said: str) -> bool:
    """Tell whether words for one diagnosis leave a way to mean another.

    They do where one is a kind of the other, and where one goes with the other.

    >>> may_be_meant("ischemic heart disease", "myocardial infarction")
    True
    >>> may_be_meant("peptic ulcer disease", "gerd")
    False
    """
    wide, narrow = groups_above(asked), groups_above(said)
    return (
        asked in narrow
        or said in wide
        or any(said in _near(one) for one in wide)
        or any(asked in _near(one) for one in narrow)
    )


@cache
def _by_name() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    """Return the meanings of names: by their words, and of names in capitals as they stand."""
    plain: dict[str, frozenset[str]] = {}
    exact: dict[str, frozenset[str]] = {}
    for one in diagnoses().values():
        for name in (one.name, *one.names, *one.kinds) if one.name != _SYMPTOM else ():
            table, key = (exact, name) if name.isupper() else (plain, name_key(name))
            table[key] = table.get(key, frozenset()) | {one.name}
    return plain, exact


def name_key(name: str) -> str:
    """Return a name in the form that the names of diagnoses are compared in.

    >>> name_key("Gastro-oesophageal reflux")
    'gastro esophageal reflux'
    """
    return " ".join(american(form) for form in phrase_words(name)) or phrase_key(name)


@cache
def _lengths() -> dict[str, tuple[int, ...]]:
    """Return the numbers of words of the names that begin with a word, the longest first."""
    lengths: dict[str, set[int]] = {}
    for key in _by_name()[0]:
        words = key.split(" ")
        lengths.setdefault(words[0], set()).add(len(words))
        if len(words) == 1:
            lengths.setdefault(f"{key}s", set()).add(1)
    return {first: tuple(sorted(own, reverse=True)) for first, own in lengths.items()}


_NO_ILLNESS = words("diagnosis.no_illness")
_NOT_IT = words("diagnosis.not_it")
_SPELLED = words("diagnosis.spelled")


def find_diagnoses(
    text: str, tokens: Sequence[Token], raw: Sequence[Token] | None = None
) -> list[NamedDiagnosis]:
    """Return the names of diagnoses among the tokens of a text, the longest at each place.

    ``raw`` are the tokens with the line breaks, which part what tells the meaning of a word.

    >>> from rubricate.reading.tokens import find_tokens
    >>> text = "r/o NSTEMI vs. gastro-oesophageal reflux, had his flu shot"
    >>> [sorted(one.meant) for one in find_diagnoses(text, find_tokens(text))]
    [['myocardial infarction'], ['gerd']]
    """
    plain, exact = _by_name()
    lengths = _lengths()
    raw = find_tokens(text) if raw is None else raw
    senses = {raw[i].start: one.means for i, one in find_senses(text, raw).items()}
    found: list[NamedDiagnosis] = []
    i = 0
    while i < len(tokens):
        form = american(tokens[i].form)
        written = text[tokens[i].start : tokens[i].end]
        hit = None
        if tokens[i].kind != "mark" and form in lengths:
            hit = next(filter(None, (_name_at(tokens, i, n, plain) for n in lengths[form])), None)
        if written in exact and (hit is None or hit[0] == i + 1):
            meant = exact[written] | (plain[hit[1]] if hit else frozenset())
            hit = (i + 1, written)
        elif hit is not None:
            meant = plain[hit[1]]
        if hit is None:
            i += 1
            continue
        if hit[0] == i + 1 and tokens[i].start in senses:
            meant = _in_sense(meant, senses[tokens[i].start])
        if meant and not _is_other_thing(text, tokens, i, hit[0]):
            found.append(NamedDiagnosis(i, hit[0], meant, hit[1]))
        i = hit[0]
    return found


def _name_at(
    tokens: Sequence[Token], first: int, length: int, plain: Collection[str]
) -> tuple[int, str] | None:
    """Return the end and the key of a name of so many words that begins at a token."""
    forms: list[str] = []
    i = first
    while i < len(tokens) and len(forms) < length:
        if tokens[i].kind != "mark":
            forms.append(american(tokens[i].form))
        elif tokens[i].form not in _SPELLED or (tokens[i].form == "." and len(forms[-1]) > 1):
            return None
        i += 1
    key = " ".join(forms)
    if len(forms) < length:
        return None
    if key in plain:
        return i, key
    return (i, key[:-1]) if key.endswith("s") and key[:-1] in plain else None


def _is_other_thing(text: str, tokens: Sequence[Token], first: int, end: int) -> bool:
    """Tell whether a name is part of something that is no illness: "flu shot", "non-diabetic"."""
    after = next((t for t in tokens[end : end + 2] if t.form not in _SPELLED), None)
    if after is not None and after.form in _NO_ILLNESS:
        # A heading on the next line is no part of it.
        return "\n" not in text[tokens[end - 1].end : after.start]
    before = [t.form for t in tokens[max(0, first - 2) : first]]
    joined = before[-1:] == ["-"]
    word = before[0] if joined else (before[-1] if before else "")
    return word in _NOT_IT and (joined or word != "no")


def _in_sense(meant: frozenset[str], means: frozenset[str]) -> frozenset[str]:
    """Return those of some diagnoses that a word stands for whose meaning is known."""
    return frozenset(one for one in meant if not means.isdisjoint(phrase_words(one)))
