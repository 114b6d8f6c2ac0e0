"""Finding words that speak of a feature's matter and say otherwise, where nothing states it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from rubricate.arrays import Bools
from rubricate.matchers.lexicon.model import ReadNote
from rubricate.matchers.wording.naming import FeatureNames, qualifiers
from rubricate.matchers.wording.relation import WINDOW
from rubricate.matchers.wording.rubric_words import RubricWords
from rubricate.matchers.wording.runs import TokenRun
from rubricate.reading.note import NEAR
from rubricate.reading.numbers import time_unit
from rubricate.reading.tokens import root
from rubricate.requirement.alternative import STOP_WORDS, Alternative
from rubricate.requirement.requirement import Requirement
from rubricate.rules.findings import Against
from rubricate.rules.reasons import Reason
from rubricate.rules.registry import why_contradicted_in

#: Words of a note speak of a feature's matter if they stand for at least this part of it.
LEAST_COVERED = 0.75
#: From here on they stand for all of it; the rest is rounding.
ALL = 0.99
#: Words that are all that is denied need to stand for less of it: "no fracture".
LEAST_DENIED = 0.5
#: So strongly a word stands for a rubric's word.
LEAST_STRENGTH = 0.7


class Wording(NamedTuple):
    """One of a feature's wordings: its matter, each word's part of it, and all columns of it."""

    matter: dict[int, float]
    columns: list[int]


class AskedMatter(NamedTuple):
    """The search for one feature; ``plain``: it is the patient's, and nothing denied."""

    requirement: Requirement
    names: FeatureNames
    wordings: list[Wording]
    counted: bool
    plain: bool


class ContradictionFinder:
    """Looks in a note for the matter of features that were not found in it."""

    def __init__(
        self, profiles: Sequence[Requirement], words: RubricWords, names: Sequence[FeatureNames]
    ) -> None:
        self._place = {word: i for i, word in enumerate(words.words)}
        self._features = [
            AskedMatter(
                profile,
                own,
                [
                    Wording(_matter(one, self._place, words), [self._place[w] for w in one.roots])
                    for one in profile.alternatives
                ],
                bool(profile.quantities),
                not any(one.asks_denial or one.family for one in profile.alternatives),
            )
            for profile, own in zip(profiles, names, strict=True)
        ]

    def find(self, note: ReadNote, missing: Sequence[int]) -> Iterator[tuple[int, Against]]:
        """Yield the features among those missing that the note contradicts, by number."""
        strong = note.strength >= LEAST_STRENGTH
        for j in missing:
            asked, named = self._features[j], self._named(j, note)
            each = (self._contradicted(asked, one, note, strong, named) for one in asked.wordings)
            if against := next(filter(None, each), None):
                yield j, Against(against[0], None, (against[1],))
            elif found := self.find_opposite(j, note):
                yield j, found

    def denied_elsewhere(
        self, j: int, note: ReadNote, spans: Sequence[tuple[int, int]]
    ) -> Against | None:
        """Return the place that denies feature ``j``, if ``spans`` do not name it surely.

        "Bled after the operation, no nosebleeds": a bleeding is no nosebleed.
        """
        asked = self._features[j]
        if not asked.plain or asked.counted or len(asked.wordings) > 1:
            return None
        named = self._named(j, note)
        tokens = note.reading.tokens
        ordered = sorted(spans)
        reach = [0, *accumulate((end for _, end in ordered), max)]
        found = [
            t
            for t in named
            if reach[bisect_right(ordered, tokens[t].start, key=itemgetter(0))] > tokens[t].start
        ]
        wording = asked.wordings[0]
        said = {self._place.get(root(f)) for f in note.places.meant(asked.names, found)}
        if sum(part for i, part in wording.matter.items() if i in said) >= LEAST_COVERED:
            return None
        if not named:
            return None
        nothing = np.broadcast_to(np.False_, note.strength.shape)
        against = self._contradicted(asked, wording, note, nothing, named)
        denied = against is not None and against[1].is_denial
        return Against(against[0], None, (against[1],)) if against is not None and denied else None

    def _named(self, j: int, note: ReadNote) -> dict[int, frozenset[str]]:
        """Return the tokens that surely name words of feature ``j``, with these words."""
        named: dict[int, frozenset[str]] = {}
        for t, meant in note.places.words(self._features[j].names):
            named[t] = named.get(t, frozenset()) | meant
        return named

    def find_opposite(
        self, j: int, note: ReadNote, group: Sequence[TokenRun] | None = None
    ) -> Against | None:
        """Return words that say that feature ``j`` is not there without naming it: "afebrile".

        All words of a ``group`` belong to them, where one is given.
        """
        asked, within = self._features[j], None
        if group is not None and asked.names.opposites:
            within = frozenset(t for run in group for t in range(run.first, run.end))
        for phrase in asked.names.opposites:
            for tokens in note.places.phrase(phrase, within):
                if len(phrase) > 1 and any(note.scope[t] >= 0 for t in tokens):
                    continue
                if within is not None and not within.issuperset(tokens):
                    continue
                spans = _spans(tokens, note)
                of_others = why_contradicted_in(
                    note.whole, asked.requirement, spans, _SAID_OF_OTHERS
                )
                if of_others is None:
                    text = note.reading.text[spans[0][0] : spans[-1][1]]
                    return Against(spans, None, (Reason("word.opposite", text),))
        return None

    def _contradicted(
        self,
        asked: AskedMatter,
        wording: Wording,
        note: ReadNote,
        strong: Bools,
        named: Mapping[int, frozenset[str]],
    ) -> tuple[tuple[tuple[int, int], ...], Reason] | None:
        """Return the first contradiction if every place that speaks of the matter is one."""
        own = list(wording.matter)
        if not own:
            return None
        also = {
            t: {self._place[s] for f in m if (s := root(f)) in self._place}
            for t, m in named.items()
        }
        hits = set(np.flatnonzero(strong[:, own].any(axis=1)).tolist())
        hits |= {t for t, columns in also.items() if not columns.isdisjoint(own)}
        first: tuple[tuple[tuple[int, int], ...], Reason] | None = None
        groups: list[tuple[list[int], float]] = []
        for group in _near_each_other(sorted(hits), note):
            said = set(np.flatnonzero(strong[group].any(axis=0)).tolist())
            said = said.union(*(also[t] for t in group if t in also))
            covered = sum(part for i, part in wording.matter.items() if i in said)
            groups.append((group, covered))
        # Where all of the matter is named, places that speak of a part say nothing of it.
        whole = max((covered for _, covered in groups), default=0.0) >= ALL
        for group, covered in groups:
            partly = covered < (ALL if whole else LEAST_COVERED)
            if partly and (covered < LEAST_DENIED or not _denied_alone(group, note)):
                continue
            tokens = _with_qualifiers(group, wording, note, strong, named)
            if asked.counted:
                tokens = _with_numbers(tokens, note)
            spans = _spans(tokens, note)
            meant = frozenset().union(*(named[t] for t in tokens if t in named))
            why = why_contradicted_in(note.whole, asked.requirement, spans, meant=meant)
            if partly and not (why and why.is_denial):
                continue
            if why is None or (why.is_denial and note.places.said_by_denial(asked.names, tokens)):
                return None
            first = first or (spans, why)
        return first


#: Words that say the contrary say nothing of the patient where one of these rules speaks.
_SAID_OF_OTHERS = ("another person", "not meant", "not now")


def _denied_alone(group: Sequence[int], read: ReadNote) -> bool:
    """Tell whether words are all that is denied, as an item or alone: "no fracture"."""
    reading = read.reading
    scope, item = reading.scope[group[0]], reading.item[group[0]]
    if scope < 0:
        return False
    near = range(max(0, group[0] - WINDOW), min(len(reading), group[-1] + WINDOW))
    same = (t for t in near if reading.scope[t] == scope and reading.item[t] == item)
    own = frozenset(group)
    forms = (reading.tokens[t].form for t in same if t not in own)
    return all(form in STOP_WORDS for form in forms)


def _near_each_other(hits: Sequence[int], read: ReadNote) -> Iterator[list[int]]:
    """Yield tokens in groups: of one clause, and none far from the one before."""
    clause, group = read.reading.clause, list[int]()
    for t in hits:
        if group and (t - group[-1] > WINDOW or clause[t] != clause[group[0]]):
            yield group
            group = []
        group.append(t)
    if group:
        yield group


def _with_qualifiers(
    group: Sequence[int], wording: Wording, read: ReadNote, strong: Bools, named: Container[int]
) -> list[int]:
    """Return tokens with the feature's other words beside them: the loss of "weight loss"."""
    clause = read.reading.clause
    near = range(max(0, group[0] - NEAR), min(len(clause), group[-1] + NEAR + 1))
    own = {
        t
        for t in near
        if clause[t] == clause[group[0]] and (t in named or strong[t, wording.columns].any())
    }
    return sorted(own.union(group))


def _matter(one: Alternative, place: dict[str, int], words: RubricWords) -> dict[int, float]:
    """Return the words that name an alternative's matter, with the part each is of it."""
    passed = frozenset() if one.asks_denial else qualifiers()
    own = [w for w in one.roots if w not in passed and not _is_measure(w)]
    weights = {place[w]: max(words.rarity(w), 0.5) for w in own}
    total = sum(weights.values())
    return {i: weight / total for i, weight in weights.items()}


def _with_numbers(group: Sequence[int], read: ReadNote) -> list[int]:
    """Return tokens with those of the numbers next to them, in their clause."""
    quantity, clause = read.reading.quantity, read.reading.clause
    around = range(max(0, group[0] - NEAR), min(len(quantity), group[-1] + NEAR + 1))
    own = {t for t in around if quantity[t] >= 0 and clause[t] == clause[group[0]]}
    return sorted(own.union(group))


def _is_measure(word: str) -> bool:
    return word[0].isdigit() or time_unit(word) is not None


def _spans(tokens: Sequence[int], read: ReadNote) -> tuple[tuple[int, int], ...]:
    """Return the spans of tokens; neighbours make one."""
    spans: list[tuple[int, int]] = []
    last = -2
    for t in tokens:
        token = read.reading.tokens[t]
        if t == last + 1:
            spans[-1] = (spans[-1][0], token.end)
        else:
            spans.append((token.start, token.end))
        last = t
    return tuple(spans)


#: How far from a stretch the words that decide against it may lie.
_QUOTED = 60


def with_said(
    spans: tuple[tuple[int, int], ...], why: Reason | None, text: str
) -> tuple[tuple[int, int], ...]:
    """Return the spans and, where a reason quotes words beside them, those words too.

    >>> with_said(((0, 9),), Reason("value.number", "3 months"), "Cough for 3 months")
    ((0, 9), (10, 18))
    """
    said = why.said if why is not None and why.quotes else ""
    if not said or not spans or any(said in text[start:end] for start, end in spans):
        return spans
    at = text.find(said, max(0, spans[0][0] - _QUOTED))
    if at < 0 or at > spans[-1][1] + _QUOTED:
        return spans
    return tuple(sorted((*spans, (at, at + len(said)))))
