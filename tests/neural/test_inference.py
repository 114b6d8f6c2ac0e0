from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.neural.batching import Batch, SpecialPieces
from rubricate.neural.inference import OVERLAP, RUBRIC_WINDOW, WINDOW, score_notes, window_starts
from rubricate.neural.pieces import Pieces

SPECIAL = SpecialPieces(1, 2, 0)


def pieces(ids: np.ndarray) -> Pieces:
    return Pieces(ids.astype(np.int32), np.arange(len(ids)), np.arange(len(ids)) + 1)


class Echo:
    """Says of each place the number of its piece, and counts passes."""

    def __init__(self) -> None:
        self.n_passes = 0
        self.longest = 0

    def __call__(self, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
        self.n_passes += len(batch.note)
        self.longest = max(self.longest, batch.note.shape[1], batch.feature.shape[1])
        logits = np.zeros((*batch.note.shape[:1], batch.n_features, batch.note.shape[1], 3))
        logits[..., 0] = batch.note[:, None, :] / 1000
        return logits.astype(np.float32), np.zeros(logits.shape[:2], np.float32)


@given(st.integers(1, 3000))
def test_windows_cover_a_note_and_overlap(length: int) -> None:
    starts = window_starts(length)
    covered = {i for s in starts for i in range(s, min(s + WINDOW, length))}
    assert covered == set(range(length))
    assert all(b - a <= WINDOW - OVERLAP for a, b in pairwise(starts))


@pytest.mark.parametrize("length", [0, 1, WINDOW, WINDOW + 1, 1500])
@pytest.mark.parametrize("per_pass", [None, 1, 2])
def test_every_piece_is_read_in_its_place(length: int, per_pass: int | None) -> None:
    ids = np.arange(10, 10 + length)
    features = [pieces(np.array([5]))] * 3
    (rows,) = score_notes(Echo(), [pieces(ids)], features, SPECIAL, features_per_pass=per_pass)
    for row in rows:
        np.testing.assert_allclose(row.inside, 1 / (1 + np.exp(-ids / 1000)), rtol=1e-5)


def test_a_long_rubric_takes_several_passes() -> None:
    echo = Echo()
    features = [pieces(np.full(100, 5))] * 12
    (rows,) = score_notes(echo, [pieces(np.array([9]))], features, SPECIAL)
    assert len(rows) == 12
    assert echo.n_passes > 1
    assert echo.longest <= RUBRIC_WINDOW


def test_no_features_no_rows() -> None:
    assert score_notes(Echo(), [pieces(np.array([9]))], [], SPECIAL) == [[]]
