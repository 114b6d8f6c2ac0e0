"""The likeliest runs of places: each place's own score, and that of where runs begin and end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

#: What makes a run impossible; finite, so that sums stay numbers.
NEVER = -1e9


class Runs(NamedTuple):
    """Which places of each row lie in a run, and at which of them a run begins."""

    inside: Bool
    begins: Bool


def likeliest_runs(score: F64, opening: F64, closing: F64) -> Runs:
    """Return, for each row, the runs with the highest sum.

    A run adds the ``score`` of its places, the ``opening`` of its first and the ``closing`` of
    its last; runs may touch. The best of all choices is found by dynamic programming over two
    states, outside and inside (Viterbi 1967), for all rows at once.

    Examples
    --------
    >>> nothing = np.zeros((1, 4))
    >>> likeliest_runs(np.array([[1.0, 2.0, -1.0, 3.0]]), nothing, nothing).inside.tolist()
    [[True, True, False, True]]
    >>> likeliest_runs(np.array([[1.0, 2.0, -1.0, 3.0]]), nothing - 1.5, nothing).inside.tolist()
    [[True, True, True, True]]
    """
    n_rows, n_places = score.shape
    # By place first: every step below reads one place of all rows.
    adds, opens, closes = (np.ascontiguousarray(part.T) for part in (score, opening, closing))
    from_run = np.zeros((n_places + 1, n_rows), bool)
    begins = np.zeros((n_places + 1, n_rows), bool)
    outside, inside = np.zeros(n_rows), np.full(n_rows, NEVER)
    for place in range(n_places + 1):
        ended = inside + closes[place - 1] if place else inside
        from_run[place] = ended > outside
        outside = np.maximum(outside, ended)
        if place == n_places:
            break
        begun = outside + opens[place]
        begins[place] = begun > inside
        inside = np.maximum(inside, begun) + adds[place]
    held = np.zeros((n_places + 1, n_rows), bool)
    state = np.zeros(n_rows, bool)
    for place in range(n_places, -1, -1):
        held[place] = state
        state = np.where(state & ~begins[place], True, from_run[place])
    return Runs(held[:-1].T, (held & begins)[:-1].T)
