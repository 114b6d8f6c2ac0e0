from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rubricate.neural.encoder.pieces import (
    NOBODY,
    Pass,
    SpecialPieces,
    by_length,
    divide,
    make_batch,
)


@given(st.lists(st.integers(1, 50), max_size=30), st.integers(1, 100))
def test_by_length_holds_each_pass_once_within_the_budget(lengths: list[int], budget: int) -> None:
    groups = list(by_length(lengths, budget))
    assert sorted(i for group in groups for i in group) == list(range(len(lengths)))
    for group in groups:
        assert len(group) == 1 or max(lengths[i] for i in group) * len(group) <= budget


@given(st.integers(0, 60), st.one_of(st.none(), st.integers(1, 20)))
def test_divide_covers_all_in_order(n: int, size: int | None) -> None:
    parts = divide(n, size)
    assert [k for part in parts for k in part] == list(range(n))
    assert all(0 < len(part) <= (size or n) for part in parts)


def test_padding_belongs_to_nobody() -> None:
    one = np.array([7], np.int32)
    passes = [Pass(one, (one,)), Pass(np.array([7, 8, 9], np.int32), (one, one))]
    batch = make_batch(passes, SpecialPieces(1, 2, 0))
    assert batch.note_length.tolist() == [3, 5]
    assert batch.owner.tolist() == [[0, 0, NOBODY, NOBODY], [0, 0, 1, 1]]
    assert batch.position.tolist()[1] == [0, 1, 0, 1]
    assert batch.n_features == 2
