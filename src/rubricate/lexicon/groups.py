"""Groups of phrases that mean the same, and the lexicon that finds them by any of their phrases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rubricate.reading.tokens import Token, find_words, phrase_key, stem
from rubricate.spans import Span

#: Sources from the most to the least to be trusted with the words of a note; unknown ones follow.
SOURCE_ORDER = (
    "lay_terms",
    "abbreviations",
    "drug_classes",
    "bank",
    "hpo_lay",
    "hpo",
    "drugs",
    "mesh",
    "umls",
    "wordnet",
)
_RANK = {source: place for place, source in enumerate(SOURCE_ORDER)}
#: So many phrases' synonyms are remembered: rubrics ask for the same ones again and again.
MOST_REMEMBERED = 16384
#: Suffix of the source of phrases that are narrower than the phrase asked for.
NARROWER = "_narrower"


class Phrase(NamedTuple):
    """A phrase of a group, where it comes from, and whether its case matters ("MS", "PE")."""

    text: str
    source: str
    exact_case: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Phrases that mean the same."""

    id: str
    phrases: tuple[Phrase, ...]
    members: tuple[str, ...] = ()
    area: str = ""


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """Source of phrases: name, version and licence."""

    name: str
    version: str
    licence: str


@dataclass(frozen=True, slots=True)
class SourceCount:
    """Counts of a lexicon for one source."""

    source: SourceInfo
    groups: int
    phrases: int


@dataclass(frozen=True, slots=True)
class LexiconSummary:
    """Counts of a lexicon."""

    groups: int
    phrases: int
    sources: tuple[SourceCount, ...]


@dataclass(frozen=True)
class Lexicon:
    """Groups of synonyms and where they come from; a value that never changes.

    Phrases are found whatever their case, punctuation and accents (see
    :func:`rubricate.reading.tokens.phrase_key`).

    >>> lexicon = Lexicon((Group("a:1", (Phrase("dyspnea", "a"), Phrase("SOB", "a"))),))
    >>> lexicon.synonyms("sob")
    [('dyspnea', 'a')]
    """

    groups: tuple[Group, ...]
    sources: tuple[SourceInfo, ...] = ()

    def __len__(self) -> int:
        return len(self.groups)

    @cached_property
    def _by_key(self) -> dict[str, tuple[int, ...]]:
        by_key: dict[str, list[int]] = {}
        for number, group in enumerate(self.groups):
            for phrase in group.phrases:
                places = by_key.setdefault(phrase_key(phrase.text), [])
                if not places or places[-1] != number:
                    places.append(number)
        # Not lists: those make every collection of garbage longer.
        return {key: tuple(places) for key, places in by_key.items()}

    @cached_property
    def _by_stems(self) -> dict[str, list[int]]:
        by_stems: dict[str, list[int]] = {}
        for key, places in self._by_key.items():
            by_stems.setdefault(_stemmed(key), []).extend(places)
        return by_stems

    @cached_property
    def _lengths(self) -> dict[tuple[str, str], tuple[int, ...]]:
        """Numbers of words of the phrases that begin with two words, the largest first."""
        lengths: dict[tuple[str, str], set[int]] = {}
        for key in self._by_key:
            first, *more = key.split(" ", 2)
            if more:
                lengths.setdefault((first, more[0]), set()).add(key.count(" ") + 1)
        return {pair: tuple(sorted(own, reverse=True)) for pair, own in lengths.items()}

    @cached_property
    def _exact(self) -> frozenset[str]:
        loose = {p.text for group in self.groups for p in group.phrases if not p.exact_case}
        return frozenset(
            p.text
            for group in self.groups
            for p in group.phrases
            if p.exact_case and p.text not in loose
        )

    @cached_property
    def _remembered(self) -> dict[str, list[tuple[str, str]]]:
        """The synonyms of the last phrases asked for."""
        return {}

    def groups_of(self, phrase: str) -> list[Group]:
        """Return the groups that hold a phrase; its plural or another tense when it is in none.

        A phrase whose case matters is found in that case only.

        >>> lexicon = Lexicon((Group("a:1", (Phrase("headache", "a"), Phrase("HA", "a"))),))
        >>> [group.id for group in lexicon.groups_of("Headaches")]
        ['a:1']
        """
        key = phrase_key(phrase)
        places = self._by_key.get(key)
        if places is None:
            places = tuple(self._by_stems.get(_stemmed(key), ()))
        groups = [self.groups[place] for place in dict.fromkeys(places)]
        return [group for group in groups if _in_right_case(group, key, phrase)]

    def __contains__(self, phrase: str) -> bool:
        return phrase_key(phrase) in self._by_key

    def synonyms(
        self, phrase: str, *, sources: Collection[str] | None = None
    ) -> list[tuple[str, str]]:
        """Return the synonyms of a phrase, each with its source, the most trusted first.

        A phrase narrower than the one asked for has a source that ends in ``_narrower``.

        >>> group = Group("a:1", (Phrase("NSAID", "a"),), members=("ibuprofen",))
        >>> Lexicon((group,)).synonyms("nsaid"), Lexicon((group,)).synonyms("ibuprofen")
        ([('ibuprofen', 'a_narrower')], [])
        """
        if sources is not None:
            return self._find_synonyms(phrase, sources)
        found = self._remembered.get(phrase)
        if found is None:
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            found = self._remembered[phrase] = self._find_synonyms(phrase, None)
        return found.copy()

    def _find_synonyms(self, phrase: str, sources: Collection[str] | None) -> list[tuple[str, str]]:
        key = phrase_key(phrase)
        found: dict[str, tuple[str, str]] = {}
        groups = self.groups_of(phrase)
        entries = (entry for group in groups for entry in group.phrases)
        for entry in sorted(entries, key=lambda entry: _order(entry.source)):
            if sources is None or entry.source in sources:
                found.setdefault(phrase_key(entry.text), (entry.text, entry.source))
        for group in groups:
            source = group.phrases[0].source
            if sources is None or source in sources:
                for member in group.members:
                    found.setdefault(phrase_key(member), (member, source + NARROWER))
        found.pop(key, None)
        return list(found.values())

    def phrases_in(self, text: str) -> list[tuple[Span, str]]:
        """Return the known phrases of a text and their keys, the longest first at each place.

        >>> lexicon = Lexicon((Group("a:1", (Phrase("chest pain", "a"), Phrase("CP", "a"))),))
        >>> lexicon.phrases_in("No chest-pain")
        [(Span(start=3, end=13), 'chest pain')]
        """
        words = find_words(text)
        return [
            (Span(words[i].start, words[j - 1].end), key) for i, j, key in self.phrases_among(words)
        ]

    def phrases_among(self, words: Sequence[Token]) -> list[tuple[int, int, str]]:
        """Return the known phrases among words: places of their first and next word, and key."""
        forms = [word.form for word in words]
        known, lengths = self._by_key, self._lengths
        found: list[tuple[int, int, str]] = []
        free = 0
        for i, (form, after) in enumerate(zip(forms, [*forms[1:], ""], strict=False)):
            if i < free:
                continue
            for length in lengths.get((form, after), ()):
                key = " ".join(forms[i : i + length])
                if i + length <= len(forms) and key in known:
                    break
            else:
                length, key = 1, form
            if length > 1 or key in known:
                free = i + length
                found.append((i, free, key))
        return found

    def summary(self) -> LexiconSummary:
        """Return the number of groups and phrases of the lexicon, in all and of each source.

        >>> Lexicon((Group("a:1", (Phrase("dyspnea", "a"), Phrase("SOB", "a"))),)).summary().phrases
        2
        """
        groups: Counter[str] = Counter()
        phrases: Counter[str] = Counter()
        for group in self.groups:
            groups.update({phrase.source for phrase in group.phrases})
            phrases.update(phrase.source for phrase in group.phrases)
            phrases[group.phrases[0].source] += len(group.members)
        known = {source.name: source for source in self.sources}
        counts = tuple(
            SourceCount(known.get(name, SourceInfo(name, "", "")), groups[name], phrases[name])
            for name in sorted(phrases, key=lambda name: (_order(name), name))
        )
        return LexiconSummary(len(self.groups), sum(phrases.values()), counts)


def _order(source: str) -> int:
    return _RANK.get(source, len(_RANK))


def _in_right_case(group: Group, key: str, phrase: str) -> bool:
    same = [entry for entry in group.phrases if phrase_key(entry.text) == key]
    return not same or any(not entry.exact_case or entry.text == phrase for entry in same)


def _stemmed(key: str) -> str:
    return " ".join(stem(word) for word in key.split(" "))


def merge_lexicons(lexicons: Iterable[Lexicon]) -> Lexicon:
    """Return one lexicon with the groups of all, in order.

    >>> len(merge_lexicons([Lexicon(()), Lexicon(())]))
    0
    """
    parts = list(lexicons)
    return Lexicon(
        tuple(group for part in parts for group in part.groups),
        tuple(dict.fromkeys(source for part in parts for source in part.sources)),
    )
