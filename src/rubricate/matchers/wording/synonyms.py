"""A rubric's words in other words: synonyms of the lexicon, and wordings learned from notes."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import NamedTuple

from rubricate.files import packaged_text
from rubricate.lexicon.groups import NARROWER, Lexicon
from rubricate.lexicon.store import load_default_lexicon
from rubricate.reading.tokens import phrase_words, root
from rubricate.requirement.alternative import STOP_WORDS
from rubricate.requirement.requirement import Requirement

#: Log ratio that counts as certain: of how often a word stands for a rubric word, to how often it
#: stands for any.
SURE = 5.0
#: How much a narrower term counts ("ibuprofen" for "NSAID").
NARROWER_PART = 0.9


class Synonyms(NamedTuple):
    """Equivalents of a rubric's stems: single stems, each with its part, and whole phrases."""

    words: Mapping[str, Mapping[str, float]]
    phrases: Mapping[tuple[str, ...], Set[str]]


def find_synonyms(profiles: Iterable[Requirement], lexicon: Lexicon | None = None) -> Synonyms:
    """Return the synonyms of a rubric's words: the stems they are made of, and what these mean.

    Of a synonym of several words each alone is a part: of the two words of "blood pressure" each is
    half of it.

    >>> from rubricate.requirement.requirement import read_requirement
    >>> found = find_synonyms([read_requirement("Shortness of breath")])
    >>> found.words["sob"]
    {'short': 1.0, 'breath': 1.0}
    >>> sorted(found.phrases["difficult", "breath"])
    ['breath', 'short']
    """
    known = load_default_lexicon() if lexicon is None else lexicon
    found: dict[str, dict[str, float]] = {}
    phrases: dict[tuple[str, ...], set[str]] = {}
    for profile in profiles:
        if profile.kind:
            continue
        for one in profile.alternatives:
            text, words = one.text, one.wording.words
            for first, end, key in known.phrases_among(words):
                meant = content_stems(text[words[first].start : words[end - 1].end])
                for synonym, source in known.synonyms(key):
                    stems = _content_stems(synonym)
                    if len(stems) > 1:
                        phrases.setdefault(stems, set()).update(meant)
                    part = NARROWER_PART if source.endswith(NARROWER) else 1.0
                    for word in stems:
                        own = found.setdefault(word, {})
                        for said in meant:
                            own[said] = max(own.get(said, 0.0), part / len(stems))
    return Synonyms(found, phrases)


def content_stems(text: str) -> list[str]:
    """Return the stems of the words that carry meaning, each once."""
    return list(_content_stems(text))


@lru_cache(maxsize=65536)
def _content_stems(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(root(f) for f in phrase_words(text) if f not in STOP_WORDS))


@cache
def _word_parts() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    """Return the stems that the roots and the endings of medical words stand for."""
    text = packaged_text("lexicon", "word_parts.tsv")
    roots, ends = {}, {}
    for line in text.split("\n")[1:]:
        if line:
            part, place, means = line.split("\t")
            meant = frozenset(root(word) for word in means.split(" "))
            if place == "root":
                roots[part] = meant
            else:
                # An ending as it is left in stems: "algia" is "alg" in "arthralg".
                ends[root(f"{_ANY_ROOT}{part}").removeprefix(_ANY_ROOT)] = meant
    return roots, ends


_ANY_ROOT = "bcdaf"
_LINKS = ("", "o", "i", "a")


@lru_cache(maxsize=65536)
def parts_of(word: str) -> tuple[frozenset[str], ...]:
    """Return the meanings of the parts of a medical word's stem; empty for other words.

    >>> [sorted(part) for part in parts_of(root("nephrolithiasis"))]
    [['kidn'], ['ston']]
    >>> parts_of(root("stone"))
    ()
    """
    found = _divide(word, ())
    return found if len(found) > 1 else ()


def _divide(word: str, before: tuple[frozenset[str], ...]) -> tuple[frozenset[str], ...]:
    """Return the parts of a word, long roots first; empty when it cannot be divided."""
    roots, ends = _word_parts()
    if not word or (before and word in ends):
        return (*before, ends[word]) if word else before
    for end in range(len(word), 1, -1):
        if word[:end] in roots:
            for link in _LINKS:
                if word.startswith(link, end):
                    rest = word[end + len(link) :]
                    found = _divide(rest, (*before, roots[word[:end]]))
                    if found:
                        return found
    return ()


#: Cosines that count as nothing and as certain.
FAR_COSINE, CLOSE_COSINE = 0.4, 0.9


@cache
def load_neighbours() -> dict[str, dict[str, float]]:
    """Return, for each stem, the stems close to it in meaning, and how close, 0 to 1.

    >>> "breathles" in load_neighbours()["dyspn"]
    True
    """
    text = packaged_text("lexicon", "neighbours.tsv")
    scale = CLOSE_COSINE - FAR_COSINE
    worth = {str(n): min(max((n / 100 - FAR_COSINE) / scale, 0.0), 1.0) for n in range(101)}
    found: dict[str, dict[str, float]] = {}
    for line in text.split("\n")[1:]:
        if line:
            one, said = line.split("\t")
            parts = said.split(" ")
            own = found.setdefault(one, {})
            for other, percent in zip(parts[::2], parts[1::2], strict=True):
                value = worth[percent]
                if own.get(other, -1.0) < value:
                    own[other] = value
                back = found.setdefault(other, {})
                if back.get(one, -1.0) < value:
                    back[one] = value
    return found


#: Stands for words of an annotation that no rubric word explains ("with", "reports").
NOTHING = ""
_ROUNDS = 6
#: Rarer wordings are left out: by probability, and by how often they were seen.
_LEAST, _LEAST_COUNT = 0.012, 0.6


@dataclass(frozen=True, slots=True)
class Translation:
    """The probability of a note's word given a rubric's word, and of a note's word at all."""

    given: Mapping[str, Mapping[str, float]]
    overall: Mapping[str, float]
    _sure: dict[str, dict[str, float]] = field(default_factory=dict, repr=False, compare=False)

    def sureness(self, word: str) -> Mapping[str, float]:
        """Return the certainty, 0 to 1, that note words mean a rubric's word; computed once."""
        found = self._sure.get(word)
        if found is None:
            found = self._sure[word] = {}
            for one, p in self.given.get(word, {}).items():
                base = max(self.overall.get(one, 0.0), 1e-6)
                found[one] = min(max(math.log(p / base) / SURE, 0.0), 1.0)
        return found


def learn_translation(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Translation:
    """Learn which note words stand for which rubric words.

    IBM model 1 (Brown et al. 1993, Computational Linguistics 19:263-311): each word of an
    annotation comes from one word of the feature's text or from none, whichever explains it best
    over all pairs, found by expectation maximisation.

    >>> pairs = [(["diaphores"], ["sweat"]), (["diaphores", "fev"], ["sweat", "febril"])] * 3
    >>> table = learn_translation(pairs)
    >>> max(table.given["fev"], key=table.given["fev"].get)
    'febril'
    """
    data = [((*dict.fromkeys(a), NOTHING), b) for a, b in pairs if b]
    overall = Counter(word for _, b in data for word in set(b))
    total = sum(overall.values())
    share = {word: n / total for word, n in overall.items()}
    given: dict[str, dict[str, float]] = {}
    counts: dict[str, defaultdict[str, float]] = {}
    for _ in range(_ROUNDS):
        counts = {}
        for sources, targets in data:
            for target in targets:
                weights = [given[a].get(target, 0.0) if given else share[target] for a in sources]
                whole = sum(weights)
                if whole <= 0:
                    continue
                for source, weight in zip(sources, weights, strict=True):
                    if weight > 0:
                        counts.setdefault(source, defaultdict(float))[target] += weight / whole
        given = {}
        for source, own in counts.items():
            mass = sum(own.values())
            given[source] = {target: n / mass for target, n in own.items()}
    kept = {
        source: {
            target: round(p, 4)
            for target, p in sorted(own.items())
            if p >= _LEAST and counts[source][target] >= _LEAST_COUNT
        }
        for source, own in sorted(given.items())
        if source != NOTHING
    }
    return Translation(kept, {word: round(p, 7) for word, p in sorted(share.items())})
