from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from rubricate.neural.encoder.viterbi import NEVER, Runs, likeliest_runs


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
