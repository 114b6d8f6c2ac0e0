"""Finding words that speak of a feature's matter and say otherwise, where nothing states it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from rubricate.matchers.lexicon.model import ReadNote
from rubricate.matchers.wording.profile import Alternative, FeatureProfile
from rubricate.matchers.wording.relation import WINDOW
from rubricate.matchers.wording.rubric_words import RubricWords
from rubricate.matchers.wording.stems import stem
from rubricate.rows import Contradiction
from rubricate.text import opposites
from rubricate.text.contradiction import why_contradicted_in
from rubricate.text.contradiction.place import NEAR
from rubricate.text.numbers import time_unit

F32 = npt.NDArray[np.float32]

#: Words of a note speak of a feature's matter if they stand for at least this part of it.
LEAST_COVERED = 0.75
#: So strongly a word stands for a rubric's word.
LEAST_STRENGTH = 0.7


@cache
def _qualifiers() -> frozenset[str]:
    """Return the stems of words that qualify a matter and do not name it."""
    tables = (
        opposites.SIDES,
        opposites.HEIGHTS,
        opposites.PERSONS,
        # Words for pain name a matter themselves.
        *(table for name, table in opposites.MATTERS.items() if name != "pain"),
    )
    others = "history present daily current currently week weeks month months year years day days"
    return frozenset(stem(form) for table in tables for form in table) | frozenset(
        stem(form) for form in others.split()
    )


class ContradictionFinder:
    """Looks in a note for the matter of features that were not found in it."""

    def __init__(self, profiles: Sequence[FeatureProfile], words: RubricWords) -> None:
        place = {word: i for i, word in enumerate(words.words)}
        self._features = [
            (
                profile.feature.text,
                [_matter(one, place, words) for one in profile.alternatives],
                any(one.quantities for one in profile.alternatives),
            )
            for profile in profiles
        ]

    def find(
        self, read: ReadNote, strength: F32, missing: Sequence[int]
    ) -> Iterator[tuple[int, Contradiction]]:
        """Yield the features among those missing that the note contradicts, by number.

        ``strength`` is how strongly each token stands for each word of the rubric.
        """
        strong = strength >= LEAST_STRENGTH
        for j in missing:
            text, alternatives, counted = self._features[j]
            for matter in alternatives:
                found = self._contradicted(text, matter, read, strong, counted=counted)
                if found is not None:
                    yield j, found
                    break

    @staticmethod
    def _contradicted(
        feature: str,
        matter: dict[int, float],
        read: ReadNote,
        strong: npt.NDArray[np.bool_],
        *,
        counted: bool,
    ) -> Contradiction | None:
        """Return the first contradiction if every place that speaks of the matter is one."""
        own = list(matter)
        if not own:
            return None
        hits = np.flatnonzero(strong[:, own].any(axis=1)).tolist()
        first: Contradiction | None = None
        clause = read.reading.clause
        begin = 0
        while begin < len(hits):
            end = begin + 1
            while (
                end < len(hits)
                and hits[end] - hits[end - 1] <= WINDOW
                and clause[hits[end]] == clause[hits[begin]]
            ):
                end += 1
            group = hits[begin:end]
            begin = end
            said = np.flatnonzero(strong[np.ix_(group, own)].any(axis=0)).tolist()
            if sum(matter[own[k]] for k in said) < LEAST_COVERED:
                continue
            spans = _spans(_with_numbers(group, read) if counted else group, read)
            why = why_contradicted_in(read.for_rules, feature, spans)
            if why is None:
                return None
            first = first or Contradiction(spans, None, why)
        return first


def _matter(one: Alternative, place: dict[str, int], words: RubricWords) -> dict[int, float]:
    """Return the words that name an alternative's matter, with the part each is of it."""
    own = [w for w in one.words if w not in _qualifiers() and not _is_measure(w)]
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
