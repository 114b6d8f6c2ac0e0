"""Sentences and clauses, by hand-made examples and by properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.reading.clauses import clause_ranges, sentence_ranges
from rubricate.reading.tokens import find_tokens
from rubricate.spans import Span


def sentences(text: str) -> list[Span]:
    tokens = find_tokens(text)
    return [Span(tokens[a].start, tokens[b - 1].end) for a, b in sentence_ranges(text, tokens)]


def clauses(text: str) -> list[Span]:
    tokens = find_tokens(text)
    return [Span(tokens[a].start, tokens[b - 1].end) for a, b in clause_ranges(text, tokens)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No CP. Has SOB.", ["No CP.", "Has SOB."]),
        ("Pt. denies CP", ["Pt. denies CP"]),
        ("58 y.o. M with CP", ["58 y.o. M with CP"]),
        ("temp 98.6 today", ["temp 98.6 today"]),
        ("lasts 10 min. Denies CP", ["lasts 10 min.", "Denies CP"]),
        ("lasts 10 min. at most", ["lasts 10 min. at most"]),
        ("Dr. Smith said so", ["Dr. Smith said so"]),
        ("no fever. has cough", ["no fever.", "has cough"]),
        ("no fever.Has cough", ["no fever.", "Has cough"]),
        ("Fever? No.", ["Fever?", "No."]),
        ("?asthma", ["?asthma"]),
        ("HPI\nCP", ["HPI", "CP"]),
        ("denies fever,\nchills", ["denies fever,\nchills"]),
        ("• CP • SOB", ["• CP", "• SOB"]),
        ("1. CP\n2. SOB", ["1. CP", "2. SOB"]),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [span.text(text) for span in sentences(text)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No fever; has cough", ["No fever", "has cough"]),
        ("No fever but has cough", ["No fever", "but has cough"]),
        ("PMH: HTN", ["PMH", "HTN"]),
        ("at 10:30 today", ["at 10:30 today"]),
        ("cough - dry", ["cough", "dry"]),
        ("x-ray clear", ["x-ray clear"]),
        ("neg aside from cough", ["neg", "aside from cough"]),
        ("fever, chills", ["fever, chills"]),
    ],
)
def test_clauses(text: str, expected: list[str]) -> None:
    assert [span.text(text) for span in clauses(text)] == expected


@given(st.text(alphabet="ab .;:\n-?!•,1 but", max_size=40))
def test_sentences_hold_all_words_in_order(text: str) -> None:
    for spans in (sentences(text), clauses(text)):
        end = 0
        for span in spans:
            assert end <= span.start < span.end <= len(text)
            end = span.end
    outside = list(text)
    for span in sentences(text):
        outside[span.start : span.end] = [" "] * len(span)
    assert "".join(outside).strip() == ""
