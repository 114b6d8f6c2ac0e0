from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.neural.decoding import Decoded
from rubricate.neural.fragments import join_fragments


def joined(text: str, *words: str) -> list[list[str]]:
    runs, place = [], 0
    for one in words:
        place = text.index(one, place)
        runs.append(Decoded(place, place + len(one), 0.9))
        place += len(one)
    return [[text[a:b] for a, b in found.spans] for found in join_fragments(text, runs)]


@pytest.mark.parametrize(
    ("text", "words", "wanted"),
    [
        ("Denies fever, chills", ["Denies fever"], [["Denies fever"]]),
        ("Denies fever, chills", ["Denies", "chills"], [["Denies", "chills"]]),
        (
            "No cough, fever or chills.",
            ["No cough", "fever", "chills"],
            [["No cough"], ["No", "fever"], ["No", "chills"]],
        ),
        ("No cough. Fever and chills", ["No cough", "Fever"], [["No cough"], ["Fever"]]),
        ("cough for 3 weeks with fever", ["cough", "fever"], [["cough"], ["fever"]]),
        ("Rash on arms: none", ["Rash", "none"], [["Rash", "none"]]),
    ],
)
def test_a_cue_goes_with_what_it_denies(
    text: str, words: list[str], wanted: list[list[str]]
) -> None:
    assert joined(text, *words) == wanted


def test_nothing_found_nothing_joined() -> None:
    assert join_fragments("no fever", []) == []


@given(
    st.text(alphabet="no deis,.\nfever", max_size=60),
    st.lists(st.integers(0, 60), max_size=10, unique=True),
)
def test_what_is_covered_stays_the_same(text: str, edges: list[int]) -> None:
    places = sorted(min(edge, len(text)) for edge in edges)
    runs = [Decoded(a, b, 0.5) for a, b in zip(places[::2], places[1::2], strict=False) if a < b]
    found = join_fragments(text, runs)
    assert {i for r in runs for i in range(r.start, r.end)} == {
        i for one in found for a, b in one.spans for i in range(a, b)
    }
    for one in found:
        assert list(one.spans) == sorted(one.spans)
