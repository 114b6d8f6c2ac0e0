"""Words that name a feature besides its own, that state the contrary, or that name it by a denial.

Unlike what is learned from notes these are whole synonyms of the lexicon, sure enough to decide
that a note contradicts a feature.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import NamedTuple

from rubricate.knowledge.tables import phrases, words
from rubricate.lexicon.groups import NARROWER, Lexicon
from rubricate.lexicon.store import load_default_lexicon
from rubricate.matchers.wording.reading import NoteColumns
from rubricate.matchers.wording.relation import WINDOW
from rubricate.matchers.wording.rubric_words import SENSE
from rubricate.reading import opposites
from rubricate.reading.senses import meant_by
from rubricate.reading.tokens import phrase_key, phrase_words, root
from rubricate.requirement.alternative import NEGATING, STOP_WORDS
from rubricate.requirement.requirement import Requirement

_ABSENT = phrases("naming.absent")
#: Words of a phrase lie at most so far apart.
_SLACK = 3
_LEAST_STEM = 4
_DENIALS = NEGATING | words("naming.denials")
_DENYING_STEMS = frozenset(root(form) for form in _DENIALS)
_TROUBLE = frozenset(root(form) for form in words("naming.trouble"))
_PARTICLES = words("naming.particles")
#: Phrases of the bank may express other features too.
_UNSURE = f"bank{NARROWER}"
Phrase = tuple[str, ...]


@dataclass(slots=True, eq=False)
class FeatureNames:
    """Names of a feature's matter, by the stems of a note's words.

    ``words`` and ``phrases`` lead to the feature's word forms that they stand for, ``by_denial``
    are words whose denial says that the feature is there ("no energy" of fatigue), ``opposites``
    phrases that say that it is not ("afebrile"), ``same`` what says all of a denial that is asked
    for ("NKDA").
    """

    words: dict[str, frozenset[str]] = field(default_factory=dict)
    phrases: dict[Phrase, frozenset[str]] = field(default_factory=dict)
    by_denial: list[frozenset[str]] = field(default_factory=list)
    opposites: list[Phrase] = field(default_factory=list)
    same: list[Phrase] = field(default_factory=list)


@cache
def qualifiers() -> frozenset[str]:
    """Return the stems of words that qualify a matter and do not name it."""
    tables = (
        opposites.SIDES,
        opposites.HEIGHTS,
        opposites.PERSONS,
        # Words for pain name a matter themselves.
        *(table for name, table in opposites.MATTERS.items() if name != "pain"),
    )
    others = (
        "history present daily current currently week weeks month months year years day days use"
        " uses using user"
    )
    return frozenset(root(form) for table in tables for form in table) | frozenset(
        root(form) for form in others.split()
    )


def read_names(asked: Requirement, lexicon: Lexicon | None = None) -> FeatureNames:
    """Return the names of a feature, from the lexicon.

    >>> from rubricate.requirement.requirement import read_requirement
    >>> names = read_names(read_requirement("Fever"))
    >>> sorted(names.words["pyrex"]), ("afebril",) in names.opposites
    (['fever'], True)
    """
    known = load_default_lexicon() if lexicon is None else lexicon
    names = FeatureNames()
    if asked.kind:
        return names
    for alternative in asked.alternatives:
        text, words = alternative.text, alternative.wording.words
        forms = [word.form for word in words]
        for form in forms:
            if form not in STOP_WORDS and form not in NEGATING:
                names.words[root(form)] = frozenset([form])
        if alternative.asks_denial and (key := phrase_key(text)) in known:
            phrases = (_read_phrase(synonym) for synonym, _ in known.synonyms(key))
            names.same += [p.stems for p in phrases if p.stems and not p.denies]
        # Of "No fever" also what is a fever.
        lead = next((i for i, form in enumerate(forms) if form not in NEGATING), 0)
        for first, end, key in known.phrases_among(words[lead:]):
            meant = frozenset(forms[lead + first : lead + end]) - STOP_WORDS
            _add_synonyms(names, known.synonyms(key), meant, negated=alternative.asks_denial)
            whole = {root(form) for form in meant} >= set(alternative.roots) - qualifiers()
            if whole and not alternative.asks_denial and not alternative.family:
                # "No alcohol" for "alcohol use"; but "no appetite" is a loss of it.
                plain = " ".join(f for f in key.split(" ") if root(f) not in qualifiers())
                same = {synonym for synonym, _ in known.synonyms(key)}
                for one in dict.fromkeys((key, plain)):
                    for absent in (f"{no} {one}" for no in _ABSENT):
                        if absent in known and absent not in same:
                            _add_opposites(names, (s for s, _ in known.synonyms(absent)))
    return names


def _add_synonyms(
    names: FeatureNames,
    synonyms: Iterable[tuple[str, str]],
    meant: frozenset[str],
    *,
    negated: bool,
) -> None:
    for synonym, source in synonyms:
        forms, stems, denies = _read_phrase(synonym)
        if denies:
            said = frozenset(stems) - _DENYING_STEMS
            if not negated and said:
                names.by_denial.append(said)
        elif source != _UNSURE and len(stems) > 1:
            names.phrases.setdefault(stems, meant)
        elif source != _UNSURE and stems and len(forms) == 1:
            # "Goes down" is more than "goes".
            names.words.setdefault(stems[0], meant)


def _add_opposites(names: FeatureNames, phrases: Iterable[str]) -> None:
    for phrase in phrases:
        forms, stems, denies = _read_phrase(phrase)
        # Short stems are of several words: "sober" and "SOB".
        one_word = len(forms) == 1 and len("".join(stems)) >= _LEAST_STEM
        if not denies and (len(stems) > 1 or one_word) and stems not in names.opposites:
            names.opposites.append(stems)


class _ReadPhrase(NamedTuple):
    """A phrase of the lexicon: its words, their stems, and whether it denies something."""

    forms: tuple[str, ...]
    stems: Phrase
    denies: bool


@lru_cache(maxsize=65536)
def _read_phrase(phrase: str) -> _ReadPhrase:
    """Read a phrase; "out" of "pass out" is one of its words that mean something."""
    forms = phrase_words(phrase)
    said = [f for f in forms if f in _PARTICLES or f not in STOP_WORDS]
    stems = tuple(dict.fromkeys(root(form) for form in said))
    return _ReadPhrase(forms, stems, not _DENIALS.isdisjoint(forms))


class StemPlaces:
    """Places of a note's stems; a word that denies itself is also a place of its rest."""

    def __init__(self, stems: Sequence[str], reading: NoteColumns) -> None:
        at: dict[str, list[int]] = {}
        self._stems: list[str] = []
        self._senses: dict[int, frozenset[str]] = {}
        for t, one in enumerate(stems):
            plain, _, sense = one.partition(SENSE)
            self._stems.append(plain)
            at.setdefault(plain, []).append(t)
            if sense:
                self._senses[t] = meant_by(sense)
        starts = [token.start for token in reading.tokens]
        for denial in reading.negations:
            if denial.is_one_word:
                start = min(denial.cue_span.start, denial.scope_span.start)
                rest = root(denial.scope_span.text(reading.text).lower())
                insort(at.setdefault(rest, []), bisect_left(starts, start))
        self.at: Mapping[str, list[int]] = at
        self._found: dict[FeatureNames, list[tuple[list[int], frozenset[str]]]] = {}
        self._numbers: dict[FeatureNames, dict[int, list[int]]] = {}
        self._clause, self._scope = reading.clause.tolist(), reading.scope.tolist()

    def words(self, names: FeatureNames) -> Iterator[tuple[int, frozenset[str]]]:
        """Yield the tokens that name a feature's words, alone or as a phrase, and these words."""
        for tokens, meant in self._placed(names):
            for t in tokens:
                yield t, meant

    def _placed(self, names: FeatureNames) -> list[tuple[list[int], frozenset[str]]]:
        """Return the tokens of each word and phrase that names a feature's words; found once."""
        found = self._found.get(names)
        if found is None:
            found = self._found[names] = []
            for one in names.words.keys() & self.at.keys():
                meant = names.words[one]
                for t in self.at[one]:
                    if t not in self._senses or not self._senses[t].isdisjoint(meant):
                        found.append(([t], meant))
            for phrase, meant in names.phrases.items():
                if phrase[0] in self.at:
                    found += [(tokens, meant) for tokens in self.phrase(phrase)]
        return found

    def meant(self, names: FeatureNames, tokens: Sequence[int]) -> frozenset[str]:
        """Return the feature's words that some tokens stand for."""
        within, placed = set(tokens), self._placed(names)
        numbers = self._numbers.get(names)
        if numbers is None:
            numbers = self._numbers[names] = {}
            for number, (own, _) in enumerate(placed):
                for t in own:
                    numbers.setdefault(t, []).append(number)
        near = (placed[i] for i in {i for t in within for i in numbers.get(t, ())})
        # All words of a phrase but one, and at least two of several.
        return frozenset().union(
            *(
                meant
                for own, meant in near
                if len(within.intersection(own)) >= min(len(own), max(2, len(own) - 1))
            )
        )

    def phrase(self, phrase: Phrase, within: Collection[int] | None = None) -> Iterator[list[int]]:
        """Yield the tokens of each place where all words of a phrase stand near each other.

        Only those places that may have one of the tokens ``within``, where these are given.
        """
        at, clause = self.at, self._clause
        if not all(one in at for one in phrase):
            return
        begins = at[phrase[0]]
        if within is not None:
            furthest = len(phrase) - 1 + _SLACK
            first = bisect_left(begins, min(within, default=0) - furthest)
            begins = begins[first : bisect_right(begins, max(within, default=-1) + furthest)]
        for t in begins:
            found = [t]
            for one in phrase[1:]:
                reach = len(phrase) - 1 + _SLACK
                low, high = bisect_left(at[one], t - reach), bisect_right(at[one], t + reach)
                near = (k for k in at[one][low:high] if clause[k] == clause[t])
                k = min(near, key=lambda k: abs(k - t), default=None)
                if k is None:
                    break
                found.append(k)
            else:
                yield sorted(set(found))

    def says_all(self, names: FeatureNames, tokens: Sequence[int]) -> bool:
        """Tell whether words are known to say all that a feature asks for: "no energy", "NKDA"."""
        if any(self._scope[t] >= 0 for t in tokens) and self.said_by_denial(names, tokens):
            return True
        within = set(tokens)
        return any(
            not within.isdisjoint(own) for one in names.same for own in self.phrase(one, within)
        )

    def said_by_denial(self, names: FeatureNames, tokens: Sequence[int]) -> bool:
        """Tell whether words say by being denied that a feature is there: "no bowel movement"."""
        if not names.by_denial:
            return False
        scopes = {self._scope[t] for t in tokens} - {-1}
        near = range(max(0, tokens[0] - WINDOW), min(tokens[-1] + WINDOW, len(self._stems)))
        stems = {self._stems[t] for t in near if self._scope[t] in scopes}
        # "No loss of appetite" denies it, "no appetite" says it.
        more = stems & (names.words.keys() | _TROUBLE)
        more = more.union(*(one for one in names.phrases if stems.issuperset(one)))
        return any(phrase <= stems and more <= phrase for phrase in names.by_denial)
