from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rubricate.matchers.phrases.scanning import (
    Hit,
    PhraseScanner,
    chain_fragments,
    fold_text,
    keep_best,
    word_edges,
)

letters = st.text(alphabet="ab 1,", min_size=0, max_size=30)
pieces = st.text(alphabet="ab 1,", min_size=1, max_size=4).filter(lambda t: t.strip() == t)


@given(letters, st.lists(pieces, min_size=1, max_size=6, unique=True))
def test_all_overlapping_hits_on_word_edges(text: str, phrases: list[str]) -> None:
    starts, ends = word_edges(text)
    expected = {
        (i, a, a + len(phrase))
        for i, phrase in enumerate(phrases)
        for a in range(len(text))
        if text.startswith(phrase, a) and a in starts and a + len(phrase) in ends
    }
    hits = PhraseScanner([(p,) for p in phrases], window=5).scan(text)
    assert {(h.phrase, *h.spans[0]) for h in hits} == expected
    assert len(hits) == len(expected)


@given(st.text(max_size=20))
def test_folding_moves_no_character(text: str) -> None:
    assert len(fold_text(text)) == len(text)


def test_folding_ignores_case_where_lower_case_is_longer() -> None:
    note = "İİ SOB"
    folded = fold_text(note)
    assert folded.index("sob") == 3
    assert [h.spans for h in PhraseScanner([("sob",)], window=5).scan(folded)] == [((3, 6),)]


def test_a_phrase_inside_a_word_is_no_hit() -> None:
    assert PhraseScanner([("pain",)], window=5).scan("painful spain") == []


def test_letters_part_from_digits() -> None:
    assert [h.spans for h in PhraseScanner([("m",)], window=5).scan("58m, 3mm")] == [((2, 3),)]


def test_fragments_must_come_in_order_within_the_window() -> None:
    scanner = PhraseScanner([("denies", "chills")], window=10)
    assert [h.spans for h in scanner.scan("denies fever, chills")] == [((0, 6), (14, 20))]
    assert scanner.scan("chills; denies fever") == []
    assert scanner.scan("denies fever, sweats, chills") == []


def test_chaining_takes_the_nearest() -> None:
    assert chain_fragments([[(0, 1)], [(9, 10), (3, 4)]], 20) == [((0, 1), (3, 4))]


def test_best_hits_share_no_character() -> None:
    kept = keep_best([Hit(0, ((0, 5), (9, 12))), Hit(1, ((4, 11),)), Hit(2, ((20, 22),), 1)])
    assert [h.phrase for h in kept] == [0, 2]


def test_no_phrases() -> None:
    assert PhraseScanner([], window=5).scan("any text") == []
