from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate import Feature, Rubric
from rubricate.neural.encoder.decoding import (
    NEVER,
    SURE_OF_NO,
    SURE_OF_YES,
    Decoded,
    Opinion,
    Runs,
    Thresholds,
    Votes,
    decide,
    decode_characters,
    decode_pieces,
    lexicon_votes,
    likeliest_runs,
    run_scores,
)
from rubricate.neural.encoder.pieces import PieceMaker, Pieces
from rubricate.stats.calibration import logit


def places(*edges: tuple[int, int]) -> Pieces:
    start, end = (np.array([e[k] for e in edges], np.int32) for k in (0, 1))
    return Pieces(np.arange(len(edges), dtype=np.int32), start, end)


def chances(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def decode_row(
    pieces: Pieces, inside: np.ndarray, presence: float, at: Thresholds, edges=None
) -> list[Decoded]:
    one = Opinion(pieces, inside[None], 1.0, None if edges is None else edges[None])
    return decode_pieces(one, [presence], [at])[0]


def decode_text(
    text: str, opinions: list[Opinion], presence: float, at: Thresholds
) -> list[Decoded]:
    """Predict one feature with several networks; each one alone would give its own outputs."""
    rows = [
        one._replace(inside=one.inside[None], edges=None if one.edges is None else one.edges[None])
        for one in opinions
    ]
    return decode_characters(text, rows, [presence], [at])[0]


@st.composite
def cut_text(draw: st.DrawFn) -> tuple[str, Pieces, np.ndarray]:
    """A text of words and white space, cut into pieces that may share a character."""
    text, edges = draw(st.sampled_from(["", " ", "\n "])), []
    for _ in range(draw(st.integers(0, 12))):
        size = draw(st.integers(1, 4))
        edges.append((len(text), len(text) + size))
        if draw(st.integers(0, 4)) == 0:
            # A character of several bytes may be cut into several pieces.
            edges.append((len(text) + size - 1, len(text) + size))
        text += "w" * size + draw(st.sampled_from(["", "", " ", "\n", " - ", " \t"]))
    value = st.floats(0, 1, width=32)
    inside = draw(st.lists(value, min_size=len(edges), max_size=len(edges)))
    return text, places(*edges), chances(*inside)


THRESHOLDS = st.builds(
    Thresholds,
    st.sampled_from([0.3, 0.5, 0.7]),
    st.sampled_from([0.2, 0.5]),
    st.sampled_from([0.5, 1.0]),
)


@given(cut_text(), st.floats(0, 1), THRESHOLDS)
def test_one_network_gives_the_same_in_pieces_and_in_characters(
    cut: tuple[str, Pieces, np.ndarray], presence: float, at: Thresholds
) -> None:
    text, pieces, inside = cut
    found = decode_text(text, [Opinion(pieces, inside)], presence, at)
    assert found == decode_row(pieces, inside, presence, at)


@given(cut_text(), st.integers(1, 3), THRESHOLDS)
def test_copies_of_a_network_say_what_it_says(
    cut: tuple[str, Pieces, np.ndarray], n: int, at: Thresholds
) -> None:
    text, pieces, inside = cut
    halves = np.round(inside * 8) / 8  # their sums are exact
    one = Opinion(pieces, halves.astype(np.float32))
    found = decode_text(text, [one] * 2**n, 0.9, at)
    alone = decode_row(pieces, one.inside, 0.9, at)
    assert [d[:2] for d in found] == [d[:2] for d in alone]


@given(cut_text(), cut_text())
def test_runs_of_several_networks_are_trimmed_and_apart(
    first: tuple[str, Pieces, np.ndarray], second: tuple[str, Pieces, np.ndarray]
) -> None:
    text = first[0] if len(first[0]) >= len(second[0]) else second[0]
    opinions = [Opinion(pieces, inside) for _, pieces, inside in (first, second)]
    last = -1
    for start, end, confidence in decode_text(text, opinions, 0.9, Thresholds(0.3)):
        assert text[start:end] == text[start:end].strip() != ""
        assert last < start
        assert 0 <= confidence <= 1
        last = end


def test_words_on_which_networks_differ() -> None:
    text = "chest pain today"
    words = Opinion(places((0, 5), (6, 10), (11, 16)), chances(0.9, 0.9, 0.0))
    halves = Opinion(places((0, 5), (6, 8), (8, 10), (11, 16)), chances(0.8, 0.6, 0.0, 0.2))
    ((start, end, _),) = decode_text(text, [words, halves], 0.9, Thresholds())
    assert text[start:end] == "chest pa"
    doubled = words._replace(weight=3.0)
    ((start, end, _),) = decode_text(text, [doubled, halves], 0.9, Thresholds())
    assert text[start:end] == "chest pain"


def test_a_gap_is_inside_where_both_neighbours_are() -> None:
    text, pieces = " ab  c  ", places((1, 3), (5, 6))
    for lower, runs in ((0.5, [(1, 6)]), (0.49, [(5, 6)])):
        said = [Opinion(pieces, chances(lower, 0.75))] * 2
        assert [d[:2] for d in decode_text(text, said, 0.9, Thresholds())] == runs
    assert decode_text("abc", [Opinion(places(), chances())] * 2, 0.9, Thresholds()) == []


def test_a_character_cut_in_two_is_marked_whole() -> None:
    pieces = places((0, 1), (1, 2), (1, 2), (2, 3))
    inside = chances(0.9, 0.1, 0.75, 0.9)
    found = decode_row(pieces, inside, 0.9, Thresholds())
    assert [d[:2] for d in found] == [(0, 3)]


def test_runs_are_cut_where_a_piece_is_outside(maker: PieceMaker) -> None:
    text = "\n 58 year old\n man"
    (pieces,) = maker.cut([text])
    inside = chances(0.9, 0.8, 0.1, 0.7)
    found = decode_row(pieces, inside, 0.9, Thresholds())
    assert [text[d.start : d.end] for d in found] == ["58 year", "man"]


def test_an_absent_feature_has_no_runs(maker: PieceMaker) -> None:
    (pieces,) = maker.cut(["58 year"])
    inside = chances(0.9, 0.9)
    assert decode_row(pieces, inside, 0.2, Thresholds()) == []
    assert decode_text("58 year", [Opinion(pieces, inside)], 0.2, Thresholds()) == []


def test_a_present_feature_keeps_its_best_pieces(maker: PieceMaker) -> None:
    (pieces,) = maker.cut(["58 year"])
    (only,) = decode_row(pieces, chances(0.4, 0.1), 0.9, Thresholds())
    assert (only.start, only.end) == (0, 2)


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_note_has_none(text: str) -> None:
    empty = places()
    assert decode_row(empty, chances(), 1.0, Thresholds()) == []
    assert decode_text(text, [Opinion(empty, chances())], 1.0, Thresholds()) == []


def random_note(rng: np.random.Generator) -> tuple[str, Pieces, np.ndarray, np.ndarray]:
    """A text cut into pieces, some of which share a character, and what a network says."""
    text, edges = "", []
    for _ in range(int(rng.integers(1, 12))):
        size = int(rng.integers(1, 5))
        edges.append((len(text), len(text) + size))
        if rng.random() < 0.2:
            edges.append((len(text) + size - 1, len(text) + size))
        text += "w" * size + str(rng.choice(["", " ", " - "]))
    n = len(edges)
    # Drawn from a continuum: equal sums, which either path may break its own way, do not occur.
    return (
        text,
        places(*edges),
        rng.random(n).astype(np.float32),
        rng.random((n, 2)).astype(np.float32),
    )


def test_edges_give_the_same_in_pieces_and_in_characters() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        text, pieces, inside, edges = random_note(rng)
        at = Thresholds(
            0.5, 0.5, 0.5, float(rng.choice([0.5, 1.0])), float(rng.choice([-1.0, 0.0, 2.0]))
        )
        found = decode_text(text, [Opinion(pieces, inside, 1.0, edges)] * 2, 0.9, at)
        alone = decode_row(pieces, inside, 0.9, at, edges)
        assert [d[:2] for d in found] == [d[:2] for d in alone]
        assert [d.confidence for d in found] == pytest.approx([d.confidence for d in alone])


def test_runs_begin_and_end_where_the_network_says() -> None:
    pieces = places((0, 2), (3, 7), (8, 12), (13, 16))
    inside = chances(0.6, 0.9, 0.9, 0.6)
    sharp = np.array([[0.01, 0.01], [0.95, 0.02], [0.02, 0.95], [0.01, 0.01]], np.float32)
    assert [d[:2] for d in decode_row(pieces, inside, 0.9, Thresholds())] == [(0, 16)]
    found = decode_row(pieces, inside, 0.9, Thresholds(edges=1.0), sharp)
    assert [d[:2] for d in found] == [(3, 12)]


def test_runs_may_touch() -> None:
    pieces = places((0, 2), (3, 7))
    sharp = np.array([[0.95, 0.95], [0.95, 0.95]], np.float32)
    found = decode_row(pieces, chances(0.9, 0.9), 0.9, Thresholds(edges=1.0), sharp)
    assert [d[:2] for d in found] == [(0, 2), (3, 7)]


def test_a_run_must_bring_its_cost() -> None:
    pieces = places((0, 2), (3, 7), (8, 12))
    inside = chances(0.99, 0.05, 0.55)
    found = decode_row(pieces, inside, 0.9, Thresholds(cost=2.0))
    assert [d[:2] for d in found] == [(0, 2)]
    # Nothing brings so much: the best pieces of a feature that is present are kept all the same.
    found = decode_row(pieces, inside, 0.9, Thresholds(cost=50.0))
    assert [d[:2] for d in found] == [(0, 2), (8, 12)]
    assert decode_row(pieces, inside, 0.1, Thresholds(cost=2.0)) == []


BARELY = float(np.nextafter(np.float32(0.5), np.float32(0)))


@pytest.mark.parametrize(
    ("inside", "presence", "at", "found"),
    [
        # A piece at the threshold is inside, one just below is not.
        ([0.5, BARELY, 0.75], 0.9, Thresholds(), [True, False, True]),
        # A feature at its threshold of presence is present.
        ([0.75, 0.25, 0.25], 0.5, Thresholds(), [True, False, False]),
        ([0.75, 0.25, 0.25], BARELY, Thresholds(), [False, False, False]),
        # The highest at the threshold needs no rescue; just below, pieces at its half are kept.
        ([0.5, 0.25, 0.125], 0.9, Thresholds(), [True, False, False]),
        ([0.25, 0.125, 0.124], 0.9, Thresholds(), [True, True, False]),
        # Nothing is rescued where nothing is possible.
        ([0.0, 0.0, 0.0], 0.9, Thresholds(rescue=0.0), [False, False, False]),
        ([0.0, 0.0, 0.25], 0.9, Thresholds(rescue=0.0), [True, True, True]),
    ],
)
def test_what_lies_on_a_threshold(
    inside: list[float], presence: float, at: Thresholds, found: list[bool]
) -> None:
    row = chances(*inside)[None]
    assert decide(row, [presence], at.presence, at, None).inside[0].tolist() == found
    pieces = places((0, 1), (2, 3), (4, 5))
    spans = [d[:2] for d in decode_row(pieces, row[0], presence, at)]
    inner = {i for start, end in spans for i in range(start, end)}
    assert [2 * k in inner for k in range(3)] == found


def test_pieces_at_the_share_of_the_highest_are_rescued_from_runs_too() -> None:
    pieces = places((0, 1), (2, 3), (4, 5))
    found = decode_row(pieces, chances(0.5, 0.25, 0.2), 0.9, Thresholds(cost=50.0))
    assert [d[:2] for d in found] == [(0, 3)]


def test_each_feature_has_its_own_threshold_of_presence() -> None:
    pieces = places((0, 2))
    said = Opinion(pieces, np.full((2, 1), 0.9, np.float32))
    at = [Thresholds(presence=0.6), Thresholds(presence=0.61)]
    first, second = decode_pieces(said, [0.6, 0.6], at)
    assert [d[:2] for d in first] == [(0, 2)]
    assert second == []


def test_a_run_that_brings_exactly_its_cost_is_left_out() -> None:
    pieces = places((0, 2))
    inside = chances(0.9)
    worth = float(logit(inside[0]))
    for cost, found in ((worth + 1e-9, 0.0), (worth - 1e-9, 1.0)):
        at = Thresholds(cost=cost)
        scores = run_scores(inside[None], np.zeros((1, 1)), np.zeros((1, 1)), at)
        assert float(likeliest_runs(*scores).inside.sum()) == found
    # Left out by its cost, the feature is still present: its best piece is kept.
    assert [d[:2] for d in decode_row(pieces, inside, 0.9, Thresholds(cost=50.0))] == [(0, 2)]


def value(
    cuts: list[tuple[int, int]], score: np.ndarray, opening: np.ndarray, closing: np.ndarray
) -> float:
    return sum(float(score[a:b].sum() + opening[a] + closing[b - 1]) for a, b in cuts)


def every_choice(n: int) -> list[list[tuple[int, int]]]:
    """All ways to choose runs among n places; runs may touch."""
    found: list[list[tuple[int, int]]] = [[]]
    spans = [(a, b) for a in range(n) for b in range(a + 1, n + 1)]
    for size in range(1, n + 1):
        for some in combinations(spans, size):
            if all(first[1] <= second[0] for first, second in pairwise(some)):
                found.append(list(some))
    return found


def cuts_of(found: Runs, row: int) -> list[tuple[int, int]]:
    cuts: list[tuple[int, int]] = []
    for place in np.flatnonzero(found.inside[row]).tolist():
        if found.begins[row, place]:
            cuts.append((place, place + 1))
        else:
            cuts[-1] = (cuts[-1][0], place + 1)
    return cuts


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_no_choice_of_runs_is_better(n: int) -> None:
    rng = np.random.default_rng(n)
    given = rng.normal(0, 2, (3, 40, n))
    found = likeliest_runs(*given)
    choices = every_choice(n)
    for row in range(40):
        own = given[:, row]
        best = max(value(cuts, *own) for cuts in choices)
        assert value(cuts_of(found, row), *own) == pytest.approx(best)


def test_without_edges_a_place_is_inside_by_its_own_score() -> None:
    score = np.random.default_rng(0).normal(size=(50, 30))
    nothing = np.zeros_like(score)
    assert np.array_equal(likeliest_runs(score, nothing, nothing).inside, score > 0)


def test_what_fills_a_row_up_is_never_inside() -> None:
    given = np.random.default_rng(1).normal(1, 1, (3, 20, 12))
    short = given.copy()
    short[:, :, 7:] = NEVER
    alone = likeliest_runs(*(part[:, :7] for part in given))
    filled = likeliest_runs(*short)
    assert np.array_equal(filled.inside[:, :7], alone.inside)
    assert np.array_equal(filled.begins[:, :7], alone.begins)
    assert not filled.inside[:, 7:].any()


def test_no_places_and_no_rows() -> None:
    assert likeliest_runs(*np.zeros((3, 2, 0))).inside.shape == (2, 0)
    assert likeliest_runs(*np.zeros((3, 0, 4))).begins.shape == (0, 4)


def test_of_equal_choices_there_is_no_run() -> None:
    nothing = np.zeros((1, 3))
    assert not likeliest_runs(nothing, nothing, nothing).inside.any()
    worth = np.array([[0.0, 2.0, 0.0]])
    # What a run brings and what its ends cost are equal: it is not worth beginning.
    assert not likeliest_runs(worth, nothing - 1.0, nothing - 1.0).inside.any()
    assert likeliest_runs(worth, nothing - 1.0, nothing - 0.999).inside.any()


def test_a_run_goes_on_where_ending_and_beginning_cost_as_much() -> None:
    score = np.array([[1.0, 1.0]])
    nothing = np.zeros_like(score)
    found = likeliest_runs(score, nothing, nothing)
    assert found.inside.tolist() == [[True, True]]
    assert found.begins.sum() == 1


def test_the_lexicon_votes_for_the_words_it_found() -> None:
    pieces = places((0, 3), (4, 9), (10, 12))
    votes = Votes(np.zeros(3), [[(4, 9)], [], [(0, 2), (11, 12)]])
    assert votes.on_pieces(pieces).tolist() == [[-0.5, 1, -0.5], [0, 0, 0], [1, -0.5, 1]]


def test_the_lexicon_is_surer_of_what_a_synonym_states() -> None:
    rubric = Rubric("c", (Feature("1", "c", "Shortness of breath"), Feature("2", "c", "Rash")))
    (votes,) = lexicon_votes(rubric, ["c/o SOB since Monday"])
    assert votes.presence[0] > 0 > votes.presence[1]
    assert ((votes.presence >= SURE_OF_NO) & (votes.presence <= SURE_OF_YES)).all()
    assert [len(spans) for spans in votes.spans] == [1, 0]
