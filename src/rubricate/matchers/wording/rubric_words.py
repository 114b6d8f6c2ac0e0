"""The words of a rubric, and how much the words of notes stand for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np

from rubricate.arrays import F32, I64, Bools
from rubricate.matchers.wording.logistic import product
from rubricate.matchers.wording.synonyms import Synonyms, Translation, parts_of
from rubricate.reading.senses import meant_by
from rubricate.reading.tokens import root
from rubricate.requirement.requirement import Requirement

#: A synonym of several words is worth this much where all stand together, in any order, with at
#: most so many others between them.
AS_A_WHOLE, PHRASE_SLACK = 0.9, 2
#: How the last stems compare is remembered, of so many: notes of one rubric have most in common.
MOST_STEMS = 8192
#: A word is evidence of a rubric's word if it counts at least this much.
LEAST_EVIDENCE = 0.2
#: Between a stem and the key of its meaning.
SENSE = "#"
_Phrases = dict[str, list[tuple[tuple[str, ...], I64, I64]]]


class RubricWords:
    """A rubric prepared for comparing: how much each stem seen so far counts for its words."""

    def __init__(
        self,
        profiles: Sequence[Requirement],
        translation: Translation,
        rarity: Callable[[str], float],
        synonyms: Synonyms | None = None,
        neighbours: Mapping[str, Mapping[str, float]] | None = None,
    ) -> None:
        self.profiles = tuple(profiles)
        self.alternatives = [a for profile in profiles for a in profile.alternatives]
        of = [j for j, profile in enumerate(profiles) for _ in profile.alternatives]
        self.feature_of = np.array(of, dtype=np.int64)
        self.words = tuple(dict.fromkeys(w for a in self.alternatives for w in a.roots))
        self._place = {word: i for i, word in enumerate(self.words)}
        self.weights = np.zeros((len(self.words), len(self.alternatives)), dtype=np.float32)
        for k, alternative in enumerate(self.alternatives):
            for word in alternative.roots:
                self.weights[self._place[word], k] = max(rarity(word), 0.5)
            self.weights[:, k] /= max(float(self.weights[:, k].sum()), 1e-6)
        own = [np.flatnonzero(self.weights[:, k]) for k in range(len(self.alternatives))]
        self._order = np.concatenate(own) if own else np.zeros(0, dtype=np.int64)
        lengths = np.array([len(one) for one in own], dtype=np.int64)
        # A wording without a letter or digit ("-") has no words: nothing stands for it.
        self._worded = np.flatnonzero(lengths)
        self._starts = (np.cumsum(lengths) - lengths)[self._worded]
        self._sureness = [translation.sureness(word) for word in self.words]
        self._usual = frozenset().union(*self._sureness)
        self._synonyms = synonyms.words if synonyms else {}
        self._phrases = self._index_phrases(synonyms.phrases if synonyms else {})
        self._parts = {i: p for i, word in enumerate(self.words) if (p := parts_of(word))}
        self._part_stems = frozenset().union(*(part for p in self._parts.values() for part in p))
        self._neighbours = neighbours or {}
        near = (self._neighbours.get(word, ()) for word in self.words)
        #: Stems that have something to do with a word (neighbours have each other); of the others
        #: only their parts may.
        self._related = self._usual.union(self._place, self._synonyms, self._part_stems, *near)
        self.rarity = rarity
        self._closest: dict[str, F32] = {}
        self._asked = [[self._place[word] for word in profile.roots] for profile in profiles]
        width = len(self.words) + 6 * len(self.alternatives) + 1
        # Replaced as one, since threads may share a rubric.
        self._seen: tuple[dict[str, int], F32] = {}, np.zeros((0, width), dtype=np.float32)

    def _index_phrases(self, phrases: Mapping[tuple[str, ...], Set[str]]) -> _Phrases:
        """Return the phrases by their first stem, with the columns of words and wordings meant."""
        found: _Phrases = {}
        # Many phrases mean the same words.
        known: dict[frozenset[str], tuple[I64, I64]] = {}
        for stems, meant in phrases.items():
            own = frozenset(meant)
            if own not in known:
                words = np.array(sorted(self._place[w] for w in own if w in self._place), dtype=int)
                known[own] = words, np.flatnonzero(self.weights[words].any(axis=0))
            found.setdefault(stems[0], []).append((stems, *known[own]))
        return found

    def _said_in_phrases(self, stems: Sequence[str]) -> Iterator[tuple[int, I64, I64]]:
        """Yield the places of whole synonyms' words, with the words and wordings they mean."""
        stems = [one.partition(SENSE)[0] for one in stems]
        for t, one in enumerate(stems):
            for phrase, words, wordings in self._phrases.get(one, ()):
                near = stems[t : t + len(phrase) + PHRASE_SLACK]
                if all(word in near for word in phrase[1:]):
                    for word in phrase:
                        yield t + near.index(word), words, wordings

    def compare(self, stems: Sequence[str]) -> F32:
        """Compare stems with each word: same, synonym, usual wording, neighbour.

        A stem with a meaning ("ra#ra: room air") compares only with wordings that have it.
        """
        compared = np.zeros((4, len(stems), len(self.words)), dtype=np.float32)
        # Most stems have nothing to do with most words: only what is not 0 is written down.
        found = [(way, t, i, x) for t, one in enumerate(stems) for way, i, x in self._ways(one)]
        if found:
            ways, tokens, words, values = zip(*found, strict=True)
            compared[ways, tokens, words] = values
        return compared

    def _ways(self, stem_: str) -> Iterator[tuple[int, int, float]]:
        """Yield how a stem stands for words: in which of the four ways, for which, how much."""
        stem_, _, sense = stem_.partition(SENSE)
        if sense:
            meant = {root(form) for form in meant_by(sense)}
            able = [not meant.isdisjoint(one.roots) for one in self.alternatives]
            fits = np.any(self.weights[:, able] > 0, axis=1)
            yield from (one for one in self._ways(stem_) if fits[one[1]])
            return
        if stem_ not in self._related and not parts_of(stem_):
            return
        place = self._place
        if stem_ in place:
            yield 0, place[stem_], 1.0
        alike = {place[word]: part for word, part in self._synonyms.get(stem_, {}).items()
                 if word in place and word != stem_}  # fmt: skip
        for i, part in self._shared_parts(stem_):
            alike[i] = max(alike.get(i, 0.0), part)
        for i, part in alike.items():
            yield 1, i, part
        if stem_ in self._usual:
            for i, sureness in enumerate(self._sureness):
                if stem_ in sureness:
                    yield 2, i, sureness[stem_]
        for word, value in self._neighbours.get(stem_, {}).items():
            if word in place:
                yield 3, place[word], value

    def _shared_parts(self, stem_: str) -> Iterator[tuple[int, float]]:
        """Yield the words that share parts with a stem, and what part of each: "arthralgia"."""
        own_parts = parts_of(stem_)
        meant = {stem_}.union(*own_parts)
        if not meant.isdisjoint(self._part_stems):
            for i, parts in self._parts.items():
                shared = sum(not meant.isdisjoint(part) for part in parts)
                if shared and self.words[i] != stem_:
                    yield i, shared / len(parts)
        yield from ((self._place[one], 1.0) for one in meant - {stem_} if one in self._place)

    @property
    def known_stems(self) -> Set[str]:
        """The stems that are known to stand for a word of the rubric."""
        return self._synonyms.keys() | self._usual

    def closest(self, stem_: str) -> F32:
        """Return the best comparison of a stem with each word; computed once."""
        found = self._closest.get(stem_)
        if found is None:
            if len(self._closest) >= MOST_STEMS:
                self._closest.clear()
            found = self._closest[stem_] = self.compare([stem_])[:, 0].max(axis=0)
        return found

    def is_evidence(self, stem_: str, feature: int) -> bool:
        """Tell whether a stem alone is evidence of a word of the feature of a number."""
        closest = self.closest(stem_)
        return any(closest[i] >= LEAST_EVIDENCE for i in self._asked[feature])

    def worth(self, stems: Sequence[str], stop: Bools) -> StemWorth:
        """Return the worth of the stems for the words and alternatives."""
        rows = self._rows_of(stems)
        w, a = len(self.words), len(self.alternatives)
        same, share, alike, means, close, evidence = (
            rows[:, w + k * a : w + (k + 1) * a] for k in range(6)
        )
        part = _part_of_stop_words(stop)
        worth = StemWorth(
            rows[:, :w] * part, same, share, alike, means, close, evidence * part, rows[:, -1]
        )
        for s, words, wordings in self._said_in_phrases(stems):
            _raise(worth.strength[s], words)
            _raise(worth.alike[s], wordings)
            _raise(worth.evidence[s], wordings)
        return worth

    def strength(self, stems: Sequence[str], stop: Bools) -> F32:
        """Return the strength with which the stems stand for the words, as `worth` has it."""
        found: F32 = self._rows_of(stems, len(self.words)) * _part_of_stop_words(stop)
        for s, words, _ in self._said_in_phrases(stems):
            _raise(found[s], words)
        return found

    def _rows_of(self, stems: Sequence[str], width: int | None = None) -> F32:
        """Return the first columns of the table for stems, which come to it where they are new."""
        number, table = self._seen
        new = [one for one in dict.fromkeys(stems) if one not in number]
        if len(number) + len(new) > MOST_STEMS:
            number, table, new = {}, table[:0], list(dict.fromkeys(stems))
        if new:
            number = number | {one: len(number) + i for i, one in enumerate(new)}
            table = np.vstack([table, self._rows(new)])
            self._seen = number, table
        rows: F32 = table[[number[one] for one in stems], :width]
        return rows

    def _rows(self, stems: Sequence[str]) -> F32:
        """Return the rows of the table for stems not seen before."""
        compared = self.compare(stems)
        if len(self._closest) + len(stems) > MOST_STEMS:
            self._closest.clear()
        self._closest.update(zip(stems, compared.max(axis=0), strict=True))
        same, alike, means, close = compared
        strength = strengths(same, alike, means, close)

        def best(values: F32) -> F32:
            found = np.zeros((len(values), len(self.alternatives)), dtype=np.float32)
            if len(self._worded):
                own = values[:, self._order]
                found[:, self._worded] = np.maximum.reduceat(own, self._starts, axis=1)
            return found

        rarity = np.array([self.rarity(one) for one in stems], dtype=np.float32)[:, None]
        return np.hstack(
            [strength, best(same), product(same, self.weights), best(alike), best(means),
             best(close), best(strength), rarity]
        )  # fmt: skip


def strengths(same: F32, alike: F32, means: F32, close: F32) -> F32:
    """Return the strength of stems as rubric words: the highest of all kinds of evidence."""
    strongest: F32 = np.maximum(np.maximum(same, 0.9 * alike), np.maximum(means, 0.8 * close))
    return strongest


def _part_of_stop_words(stop: Bools) -> F32:
    """Return, in a column, what part of its worth each token has: words without meaning little."""
    return np.where(stop, 0.3, 1.0)[:, None].astype(np.float32)


class StemWorth(NamedTuple):
    """Worth of the tokens' stems: for each rubric word, then for each alternative."""

    strength: F32
    same: F32
    share: F32
    alike: F32
    means: F32
    close: F32
    evidence: F32
    rarity: F32


def _raise(values: F32, columns: I64) -> None:
    values[columns] = np.maximum(values[columns], AS_A_WHOLE)
