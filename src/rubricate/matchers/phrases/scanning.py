"""Text folded without moving an offset, and many phrases found in it at once (Aho-Corasick)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import NamedTuple

import ahocorasick_rs

_EDGES = re.compile(r"[^\W\d_]+|\d+|\S")


def fold_text(text: str) -> str:
    """Return the text in lower case with every character in its place.

    A character whose lower case is longer than one character (``İ``) stays as it is.

    >>> fold_text("SOB İ"), len(fold_text("İ"))
    ('sob İ', 1)
    """
    low = text.lower()
    if len(low) == len(text) and "Σ" not in text:
        return low
    # Character by character: str.lower lengthens some and looks at neighbours of the Greek sigma.
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


class _Classes(dict[str, str]):
    """The class of each character, determined when it is first seen."""

    def __missing__(self, char: str) -> str:
        if char.isspace():
            kind = " "
        elif char.isdecimal():
            kind = "0"
        else:
            kind = "a" if char.isalnum() else "."
        self[char] = kind
        return kind


#: From a character to its class: ``a`` letter, ``0`` digit, ``.`` mark, or space. A stretch lies on
#: word edges (see `word_edges`) when it neither begins nor ends with a space, and the classes on
#: both sides of each end differ or are marks.
CHARACTER_CLASS = _Classes()


def word_edges(text: str) -> tuple[set[int], set[int]]:
    """Return the offsets where a word, number or mark begins, and those where one ends.

    Letters part from digits, so that "wks" is a word of "3wks"; any other mark stands alone. A
    matcher's span begins and ends at such an offset.

    >>> starts, ends = word_edges("58yo, M")
    >>> sorted(starts), sorted(ends)
    ([0, 2, 4, 6], [2, 4, 5, 7])
    """
    starts: set[int] = set()
    ends: set[int] = set()
    for match in _EDGES.finditer(text):
        start, end = match.span()
        starts.add(start)
        ends.add(end)
    return starts, ends


class Hit(NamedTuple):
    """A phrase found in a text; ``distance`` counts the edits."""

    phrase: int
    spans: tuple[tuple[int, int], ...]
    distance: int = 0


class PhraseScanner:
    """Finds where phrases stand in a text, all overlapping hits, on word edges only.

    The fragments of a phrase must follow each other in order, with at most ``window`` characters
    between two; from each place of the first fragment the nearest next one is taken.

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

    >>> chain_fragments([[(0, 6)], [(8, 13), (20, 25)]], window=10)
    [((0, 6), (8, 13))]
    """
    chains: list[tuple[tuple[int, int], ...]] = []
    later = [sorted(options) for options in places[1:]]
    for first in places[0]:
        chain = [first]
        end = first[1]
        for options in later:
            at = bisect_left(options, (end,))
            if at == len(options) or options[at][0] > end + window:
                break
            nearest = options[at]
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

    >>> keep_best([Hit(0, ((0, 5),)), Hit(1, ((0, 10),)), Hit(2, ((12, 14),))])
    [Hit(phrase=1, spans=((0, 10),), distance=0), Hit(phrase=2, spans=((12, 14),), distance=0)]
    """
    ordered = list(hits)
    if len(ordered) < 2:
        return ordered
    ordered.sort(key=_rank)
    taken = TakenCharacters()
    kept = [hit for hit in ordered if taken.take(hit.spans)]
    kept.sort(key=_spans)
    return kept


_spans = itemgetter(1)

#: Characters are noted by stretches of this length; most hits are in one or two of them.
_STRETCH = 64


class TakenCharacters:
    """The characters that are in a hit already; a new hit must share none of them.

    >>> taken = TakenCharacters()
    >>> taken.take([(0, 5)]), taken.take([(4, 8)]), taken.take([(5, 8)])
    (True, False, True)
    """

    def __init__(self) -> None:
        self._stretches: dict[int, list[tuple[int, int]]] = {}

    def take(self, spans: Sequence[tuple[int, int]]) -> bool:
        """Take the characters of a hit; False, and nothing is taken, when one is not free."""
        # Plain loops: this is called for every hit, and generators would cost more than the test.
        stretches = self._stretches
        for a, b in spans:
            for key in range(a // _STRETCH, (b - 1) // _STRETCH + 1):
                for c, d in stretches.get(key, ()):
                    if a < d and c < b:
                        return False
        for a, b in spans:
            for key in range(a // _STRETCH, (b - 1) // _STRETCH + 1):
                stretches.setdefault(key, []).append((a, b))
        return True
