"""Finding many phrases at once in a folded text: Aho-Corasick, fragments chained in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import NamedTuple

import ahocorasick_rs

from rubricate.matchers.folding import CHARACTER_CLASS


class Hit(NamedTuple):
    """A phrase found in a text; ``distance`` counts the edits."""

    phrase: int
    spans: tuple[tuple[int, int], ...]
    distance: int = 0


class PhraseScanner:
    """Finds where phrases stand in a text, all overlapping hits, on word edges only.

    The fragments of a phrase must follow each other in order, with at most ``window`` characters
    between two; from each place of the first fragment the nearest next one is taken.

    Parameters
    ----------
    phrases : sequence of tuples of str
        Fragments, folded.
    window : int
        Most characters between two fragments.

    Examples
    --------
    >>> scanner = PhraseScanner([("fever",), ("denies", "chills")], window=60)
    >>> [tuple(hit) for hit in scanner.scan("denies fever, chills")]
    [(0, ((7, 12),), 0), (1, ((0, 6), (14, 20)), 0)]
    """

    def __init__(self, phrases: Sequence[tuple[str, ...]], *, window: int) -> None:
        pieces: dict[str, int] = {}
        for fragments in phrases:
            for fragment in fragments:
                pieces.setdefault(fragment, len(pieces))
        self._automaton = ahocorasick_rs.AhoCorasick(
            list(pieces), implementation=ahocorasick_rs.Implementation.ContiguousNFA
        )
        self._whole: list[list[int]] = [[] for _ in pieces]
        self._fragmented: dict[int, list[tuple[int, tuple[int, ...], int]]] = {}
        self._in_fragmented = [False] * len(pieces)
        for i, fragments in enumerate(phrases):
            numbers = tuple(pieces[fragment] for fragment in fragments)
            if len(numbers) == 1:
                self._whole[numbers[0]].append(i)
            else:
                # Listed under its longest fragment, which is found least often.
                rare, next_rare = sorted(fragments, key=len)[:-3:-1]
                entry = (i, numbers, pieces[next_rare])
                self._fragmented.setdefault(pieces[rare], []).append(entry)
                for number in numbers:
                    self._in_fragmented[number] = True
        self._window = window

    def scan(self, folded: str) -> list[Hit]:
        """Return the hits in a folded text, phrases of one fragment first."""
        classes = CHARACTER_CLASS
        # text[-1] is the space added at the end: a text begins as if after a space.
        text = folded + " "
        hits: list[Hit] = []
        places: dict[int, list[tuple[int, int]]] = {}
        whole, in_fragmented = self._whole, self._in_fragmented
        for piece, start, end in self._automaton.find_matches_as_indexes(folded, overlapping=True):
            first, last = classes[text[start]], classes[text[end - 1]]
            if (first == classes[text[start - 1]] and first != ".") or first == " ":
                continue
            if (last == classes[text[end]] and last != ".") or last == " ":
                continue
            for phrase in whole[piece]:
                hits.append(Hit(phrase, ((start, end),)))
            if in_fragmented[piece]:
                places.setdefault(piece, []).append((start, end))
        for piece in places:
            for phrase, pieces, other in self._fragmented.get(piece, ()):
                if other in places and (len(pieces) == 2 or places.keys() >= set(pieces)):
                    chains = chain_fragments([places[part] for part in pieces], self._window)
                    hits.extend(Hit(phrase, spans) for spans in chains)
        return hits


def chain_fragments(
    places: Sequence[Sequence[tuple[int, int]]], window: int
) -> list[tuple[tuple[int, int], ...]]:
    """Return, for each place of the first fragment, the nearest places of the next ones.

    Examples
    --------
    >>> chain_fragments([[(0, 6)], [(8, 13), (20, 25)]], window=10)
    [((0, 6), (8, 13))]
    """
    chains: list[tuple[tuple[int, int], ...]] = []
    later = places[1:]
    for first in places[0]:
        chain = [first]
        end = first[1]
        for options in later:
            following = [p for p in options if end <= p[0] <= end + window]
            if not following:
                break
            nearest = min(following)
            chain.append(nearest)
            end = nearest[1]
        else:
            chains.append(tuple(chain))
    return chains


def _rank(hit: Hit) -> tuple[int, int, tuple[tuple[int, int], ...], int]:
    phrase, spans, distance = hit
    if len(spans) == 1:
        return distance, spans[0][0] - spans[0][1], spans, phrase
    return distance, sum(start - end for start, end in spans), spans, phrase


def keep_best(hits: Iterable[Hit]) -> list[Hit]:
    """Return hits of one feature that share no character: fewest edits first, then the longest.

    Examples
    --------
    >>> keep_best([Hit(0, ((0, 5),)), Hit(1, ((0, 10),)), Hit(2, ((12, 14),))])
    [Hit(phrase=1, spans=((0, 10),), distance=0), Hit(phrase=2, spans=((12, 14),), distance=0)]
    """
    ordered = list(hits)
    if len(ordered) < 2:
        return ordered
    ordered.sort(key=_rank)
    kept: list[Hit] = []
    taken: list[tuple[int, int]] = []
    for hit in ordered:
        if _is_free(hit.spans, taken):
            kept.append(hit)
            taken.extend(hit.spans)
    kept.sort(key=_spans)
    return kept


_spans = itemgetter(1)


def _is_free(spans: Iterable[tuple[int, int]], taken: Iterable[tuple[int, int]]) -> bool:
    # Plain loops: this is asked for every hit, and a generator costs more than the answer.
    for a, b in spans:
        for c, d in taken:
            if a < d and c < b:
                return False
    return True
