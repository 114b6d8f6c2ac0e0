from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from rubricate.matchers.phrases.fuzzy_scanning import FuzzyScanner, Tolerance, cut_pieces
from rubricate.matchers.phrases.scanning import word_edges


def levenshtein(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, start=1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


def brute_force(phrase: str, text: str, tolerance: Tolerance) -> set[tuple[int, int, int]]:
    """Compare every word-aligned stretch; keep the best of overlapping ones."""
    limit = tolerance.edits(len(phrase))
    starts, ends = word_edges(text)
    near = [
        (distance, a - b, a, b)
        for a in starts
        for b in ends
        if a < b and (distance := levenshtein(phrase, text[a:b])) <= limit
    ]
    kept: list[tuple[int, int, int]] = []
    for distance, _, a, b in sorted(near):
        if all(b <= c or d <= a for c, d, _ in kept):
            kept.append((a, b, distance))
    return set(kept)


words = st.sampled_from(["ab", "ba", "aab", "b", "abba", "1", ",", "bab", "aaaaab"])
texts = st.lists(words, max_size=10).map(" ".join)


@settings(max_examples=300, deadline=None)
@given(texts, st.lists(texts.filter(bool), min_size=1, max_size=5, unique=True))
def test_same_as_brute_force_on_random_words(text: str, phrases: list[str]) -> None:
    tolerance = Tolerance(3, 6)
    hits = FuzzyScanner([(p,) for p in phrases], window=9, tolerance=tolerance).scan(text)
    for i, phrase in enumerate(phrases):
        found = {(*h.spans[0], h.distance) for h in hits if h.phrase == i}
        assert found == brute_force(phrase, text, tolerance)


def test_same_as_brute_force_on_misspelt_phrases() -> None:
    rng = random.Random(7)
    known = ["shortness of breath", "chest tightness", "no fever", "smokes", "sob", "3 weeks ago"]
    scanner = FuzzyScanner([(p,) for p in known], window=60)
    for _ in range(60):
        parts = []
        for _ in range(6):
            part = list(rng.choice(known))
            for _ in range(rng.randrange(4)):
                place = rng.randrange(len(part))
                part[place] = rng.choice(["", "x", part[place] * 2, " "])
            parts.append("".join(part))
        text = ", ".join(parts)
        hits = scanner.scan(text)
        for i, phrase in enumerate(known):
            found = {(*h.spans[0], h.distance) for h in hits if h.phrase == i}
            assert found == brute_force(phrase, text, Tolerance())


def test_fragments_add_their_edits() -> None:
    hits = FuzzyScanner([("denies", "fainting")], window=20).scan("denys palps, fanting")
    assert [(h.spans, h.distance) for h in hits] == [(((0, 5), (13, 20)), 3)] or hits == []


def test_short_phrases_must_stand_as_they_are() -> None:
    assert FuzzyScanner([("htn",)], window=5).scan("hta htns") == []


@given(st.text(min_size=3, max_size=40), st.integers(1, 3))
def test_pieces_make_up_the_phrase(text: str, n: int) -> None:
    pieces = cut_pieces(text, n)
    assert "".join(piece for _, piece in pieces) == text
    assert all(text.startswith(piece, offset) and piece for offset, piece in pieces)


def test_empty_text_and_no_phrases() -> None:
    assert FuzzyScanner([], window=5).scan("text") == []
    assert FuzzyScanner([("abcdef",)], window=5).scan("") == []


def test_a_tolerance_leaves_something_of_every_phrase() -> None:
    scanner = FuzzyScanner([("a",), ("ab",)], window=9, tolerance=Tolerance(-1, 0))
    assert {hit.phrase for hit in scanner.scan("a ab")} == {0, 1}
