"""Finding phrases within a few edits: pieces by Aho-Corasick, then verified.

A phrase cut into ``k + 1`` pieces that is at most ``k`` edits away from some text has at least
one piece left whole in it (the pigeonhole principle; Baeza-Yates & Navarro 1999, Algorithmica
23:127-158), shifted by at most ``k`` characters. So only texts around a whole piece are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import ahocorasick_rs
import numpy as np

from rubricate.arrays import I64, Bools
from rubricate.matchers.phrases.scanning import Hit, TakenCharacters, chain_fragments, word_edges

#: Most edits for phrases of any length, as in the published baseline.
MOST_EDITS = 2


class Tolerance(NamedTuple):
    """Edits that a phrase may be away: none below ``one`` characters, two from ``two`` on."""

    one: int = 5
    two: int = 10

    def edits(self, length: int) -> int:
        """Return the edits allowed for a phrase of this length.

        >>> [Tolerance().edits(n) for n in (4, 5, 9, 10)]
        [0, 1, 1, 2]
        """
        # Something of the phrase must be left.
        return min((length >= self.one) + (length >= self.two), max(length - 1, 0))


class FuzzyScanner:
    """Finds where phrases stand in a text within their tolerance, on word edges.

    For each fragment, every stretch from a word's start to a word's end within the tolerance is a
    candidate; of overlapping candidates the one with the fewest edits is kept (then the longest,
    then the first). Fragments are chained as in `PhraseScanner`.

    >>> scanner = FuzzyScanner([("shortness of breath",)], window=60)
    >>> [tuple(hit) for hit in scanner.scan("has shortnes of breth now")]
    [(0, ((4, 21),), 2)]
    """

    def __init__(
        self,
        phrases: Sequence[tuple[str, ...]],
        *,
        window: int,
        tolerance: Tolerance = Tolerance(),  # noqa: B008
    ) -> None:
        texts: dict[str, int] = {}
        for fragments in phrases:
            for fragment in fragments:
                texts.setdefault(fragment, len(texts))
        self._texts = list(texts)
        self._limit = np.array([tolerance.edits(len(t)) for t in texts], dtype=np.int64)
        self._length = np.array([len(t) for t in texts], dtype=np.int64)
        self._phrases = [tuple(texts[part] for part in fragments) for fragments in phrases]
        self._users: list[list[int]] = [[] for _ in texts]
        for i, parts in enumerate(self._phrases):
            if len(parts) == 1:
                self._users[parts[0]].append(i)
        self._fragmented = [i for i, parts in enumerate(self._phrases) if len(parts) > 1]
        self._window = window
        self._build_pieces()

    def _build_pieces(self) -> None:
        pieces: dict[str, int] = {}
        owner: list[list[tuple[int, int]]] = []
        for text, string in enumerate(self._texts):
            for offset, piece in cut_pieces(string, int(self._limit[text]) + 1):
                number = pieces.setdefault(piece, len(pieces))
                if number == len(owner):
                    owner.append([])
                owner[number].append((text, offset))
        self._automaton = ahocorasick_rs.AhoCorasick(
            list(pieces), implementation=ahocorasick_rs.Implementation.ContiguousNFA
        )
        flat = [entry for entries in owner for entry in entries]
        self._owner = np.array(flat, dtype=np.int64).reshape(-1, 2)
        counts = np.array([len(entries) for entries in owner], dtype=np.int64)
        self._n_owners = counts
        self._first_owner = np.cumsum(counts) - counts

    def scan(self, folded: str) -> list[Hit]:
        """Return the hits in a folded text."""
        places = self._fragment_places(folded)
        hits = [
            Hit(phrase, ((start, end),), distance)
            for text, own in places.items()
            for phrase in self._users[text]
            for start, end, distance in own
        ]
        for phrase in self._fragmented:
            parts = self._phrases[phrase]
            if all(part in places for part in parts):
                options = [[(start, end) for start, end, _ in places[part]] for part in parts]
                edits = [{(s, e): d for s, e, d in places[part]} for part in parts]
                for spans in chain_fragments(options, self._window):
                    total = sum(known[span] for known, span in zip(edits, spans, strict=True))
                    hits.append(Hit(phrase, spans, total))
        return hits

    def _fragment_places(self, folded: str) -> dict[int, list[tuple[int, int, int]]]:
        """Return (start, end, edits) of the best stretches for each fragment found."""
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import cpdist

        text, start, end = self._candidates(folded)
        if not len(text):
            return {}
        limit = self._limit[text]
        distances = cpdist(
            [self._texts[i] for i in text.tolist()],
            [folded[a:b] for a, b in zip(start.tolist(), end.tolist(), strict=True)],
            scorer=Levenshtein.distance,
            score_cutoff=MOST_EDITS,
            dtype=np.int32,
        )
        kept = distances <= limit
        places: dict[int, list[tuple[int, int, int]]] = {}
        taken = TakenCharacters()
        order = np.lexsort((start, start - end, distances, text))
        last = -1
        for i in order[kept[order]].tolist():
            if int(text[i]) != last:
                taken, last = TakenCharacters(), int(text[i])
            a, b = int(start[i]), int(end[i])
            if taken.take([(a, b)]):
                places.setdefault(last, []).append((a, b, int(distances[i])))
        return places

    def _candidates(self, folded: str) -> tuple[I64, I64, I64]:
        """Return the stretches of text that may be within the tolerance of a fragment."""
        none = np.zeros(0, dtype=np.int64)
        found = self._automaton.find_matches_as_indexes(folded, overlapping=True)
        if not found:
            return none, none, none
        hits = np.array(found, dtype=np.int64)
        counts = self._n_owners[hits[:, 0]]
        ends_at = np.cumsum(counts)
        which = np.repeat(self._first_owner[hits[:, 0]] - (ends_at - counts), counts)
        owners = self._owner[which + np.arange(len(which))]
        text = owners[:, 0]
        first = np.repeat(hits[:, 1], counts) - owners[:, 1]
        starts, ends = word_edges(folded)
        # A start left or right of the middle already costs edits, which leaves fewer for the end.
        whose, start = _near(first, 0, self._limit[text], _marks(starts, len(folded)))
        text = text[whose]
        middle, limit = start + self._length[text], self._limit[text]
        whose, end = _near(middle, start + 1, limit, _marks(ends, len(folded)))
        text, start = text[whose], start[whose]
        if not len(text):
            return none, none, none
        size = len(folded) + 1
        key = np.unique((text * size + start) * size + end)
        return key // (size * size), key // size % size, key % size


def _marks(places: set[int], length: int) -> Bools:
    marks = np.zeros(length + 1, dtype=np.bool_)
    marks[list(places)] = True
    return marks


def _near(middle: I64, least: I64 | int, limit: I64, marks: Bools) -> tuple[I64, I64]:
    """Return the marks within the limit of each middle, from the least on, and whose they are."""
    whose, places = [], []
    for shift in range(-MOST_EDITS, MOST_EDITS + 1):
        place = middle + shift
        fits = (abs(shift) <= limit) & (place >= least) & (place < len(marks))
        fits[fits] = marks[place[fits]]
        whose.append(np.flatnonzero(fits))
        places.append(place[fits])
    return np.concatenate(whose), np.concatenate(places)


def cut_pieces(text: str, n: int) -> list[tuple[int, str]]:
    """Cut a text into ``n`` pieces of nearly the same length, each with its offset.

    >>> cut_pieces("dyspnea", 3)
    [(0, 'dy'), (2, 'sp'), (4, 'nea')]
    """
    cuts = [len(text) * i // n for i in range(n + 1)]
    return [(a, text[a:b]) for a, b in pairwise(cuts)]
