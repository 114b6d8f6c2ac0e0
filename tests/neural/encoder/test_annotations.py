import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.neural.encoder.decoding import (
    Decoded,
    contradicting_words,
    join_fragments,
    whole_words,
)
from rubricate.neural.encoder.pieces import Pieces


@pytest.mark.parametrize(
    ("text", "run", "words"),
    [
        ("takes lisinopril daily", (6, 11), "lisinopril"),
        ("takes lisinopril daily", (11, 13), "lisinopril"),
        ("45M with pain", (0, 2), "45"),
        ("45M with pain", (2, 3), "M"),
        ("no fever, no cough", (3, 8), "fever"),
        ("pain", (1, 3), "pain"),
    ],
)
def test_annotations_begin_and_end_with_words(text: str, run: tuple[int, int], words: str) -> None:
    (found,) = whole_words(text, [Decoded(*run, 0.5)])
    assert text[found.start : found.end] == words


def test_runs_of_one_word_become_one() -> None:
    runs = [Decoded(0, 2, 0.25), Decoded(3, 5, 0.75), Decoded(8, 12, 0.5)]
    found = whole_words("abdomen pain", runs)
    assert [(one.start, one.end, one.confidence) for one in found] == [(0, 7, 0.5), (8, 12, 0.5)]


@given(st.text(alphabet="ab1 -", min_size=1, max_size=20), st.data())
def test_whole_words_never_cut_and_never_overlap(text: str, data: st.DataObject) -> None:
    edges = data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=6, unique=True))
    edges.sort()
    runs = [Decoded(a, b, 0.5) for a, b in zip(edges[::2], edges[1::2], strict=False)]
    found = whole_words(text, runs)
    for one in found:
        for place in (one.start, one.end):
            if 0 < place < len(text):
                assert not (text[place - 1].isalpha() and text[place].isalpha())
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))
    for run in runs:
        assert any(one.start <= run.start and run.end <= one.end for one in found)


def test_contradicting_words_are_the_run_around_the_likeliest_piece() -> None:
    text = "Right knee hurts. Left hip is fine"
    edges = [(m, n) for m, n in ((0, 5), (6, 10), (11, 16), (18, 22), (23, 26), (27, 29), (30, 34))]
    start, end = (np.array([e[k] for e in edges], np.int32) for k in (0, 1))
    pieces = Pieces(np.arange(len(edges), dtype=np.int32), start, end)
    chance = np.array([0.1, 0.1, 0.1, 0.9, 0.6, 0.2, 0.1], np.float32)
    assert contradicting_words(text, pieces, chance) == ((18, 26),)
    assert contradicting_words("", Pieces(pieces.ids[:0], start[:0], end[:0]), chance[:0]) == ()


def test_contradicting_words_have_no_marks_at_their_edges() -> None:
    edges = [(0, 2), (2, 3), (4, 9), (10, 16), (16, 17)]
    start, end = (np.array([e[k] for e in edges], np.int32) for k in (0, 1))
    pieces = Pieces(np.arange(len(edges), dtype=np.int32), start, end)
    chance = np.array([0.1, 0.8, 0.9, 0.8, 0.8], np.float32)
    assert contradicting_words("HR: white sputum, no blood", pieces, chance) == ((4, 16),)
    only = Pieces(pieces.ids[:1], start[1:2], end[1:2])
    assert contradicting_words("HR: white", only, chance[:1]) == ((2, 3),)


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
