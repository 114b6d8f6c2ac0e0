from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.neural.encoder.inference import (
    OVERLAP,
    RUBRIC_WINDOW,
    WINDOW,
    score_notes,
    window_starts,
)
from rubricate.neural.encoder.pieces import Batch, Pieces, SpecialPieces

SPECIAL = SpecialPieces(1, 2, 0)


def pieces(ids: np.ndarray) -> Pieces:
    return Pieces(ids.astype(np.int32), np.arange(len(ids)), np.arange(len(ids)) + 1)


class Echo:
    """Says of each place the number of its piece, and counts passes."""

    def __init__(self, channels: int = 3, more: tuple[str, ...] = ()) -> None:
        self.channels, self.more = channels, more
        self.n_passes = 0
        self.longest = 0

    def __call__(self, batch: Batch) -> dict[str, np.ndarray]:
        self.n_passes += len(batch.note)
        self.longest = max(self.longest, batch.note.shape[1], batch.feature.shape[1])
        shape = (*batch.note.shape[:1], batch.n_features, batch.note.shape[1], self.channels)
        logits = np.zeros(shape)
        logits[..., 0] = batch.note[:, None, :] / 1000
        logits[..., -1] = batch.note[:, None, :] / 500
        whole = np.zeros(logits.shape[:2], np.float32)
        return {
            "pieces": logits.astype(np.float32),
            "presence": whole,
            **dict.fromkeys(self.more, whole),
        }


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


def test_parts_of_a_note_are_read_as_if_it_had_no_others() -> None:
    ids = np.arange(10, 10 + 2 * WINDOW)
    note, echo = pieces(ids), Echo()
    # Each piece of these notes is one character long.
    read = note.touched([(5, 20), (700, 800)])
    (rows,) = score_notes(echo, [note.only(read)], [pieces(np.array([5]))], SPECIAL)
    wanted = np.where(read, 1 / (1 + np.exp(-ids / 1000)), 0.0)
    np.testing.assert_allclose(rows[0].spread(read).inside, wanted, rtol=1e-5)
    assert read.sum() == 115
    assert echo.n_passes == 1
    assert echo.longest == 117


def test_a_long_rubric_takes_several_passes() -> None:
    echo = Echo()
    features = [pieces(np.full(100, 5))] * 12
    (rows,) = score_notes(echo, [pieces(np.array([9]))], features, SPECIAL)
    assert len(rows) == 12
    assert echo.n_passes > 1
    assert echo.longest <= RUBRIC_WINDOW


def test_no_features_no_rows() -> None:
    assert score_notes(Echo(), [pieces(np.array([9]))], [], SPECIAL) == [[]]


def test_a_network_may_say_more_of_pieces_and_of_rows() -> None:
    ids = np.arange(10, 10 + WINDOW + 5)
    echo = Echo(channels=4, more=("contradicted",))
    (rows,) = score_notes(echo, [pieces(ids)], [pieces(np.array([5]))], SPECIAL)
    assert rows[0].pieces.shape == (len(ids), 4)
    np.testing.assert_allclose(rows[0].pieces[:, 3], 1 / (1 + np.exp(-ids / 500)), rtol=1e-5)
    assert rows[0].edges.shape == (len(ids), 2)
    assert rows[0].chances == {"presence": 0.5, "contradicted": 0.5}


def test_progress_tells_every_pass() -> None:
    seen: list[tuple[int, int | None]] = []
    notes = [pieces(np.arange(10, 20 + i)) for i in range(4)]
    score_notes(Echo(), notes, [pieces(np.array([5]))], SPECIAL, budget=20,
                progress=lambda done, of, _: seen.append((done, of)))  # fmt: skip
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
