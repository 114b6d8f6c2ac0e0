from __future__ import annotations

import numpy as np

from rubricate.neural.decoding import Thresholds, decode_row
from rubricate.neural.pieces import PieceMaker, Pieces


def test_runs_are_cut_where_a_piece_is_outside(maker: PieceMaker) -> None:
    text = "\n 58 year old\n man"
    (pieces,) = maker.cut([text])
    inside = np.array([0.9, 0.8, 0.1, 0.7], np.float32)
    found = decode_row(pieces, inside, 0.9, Thresholds())
    assert [text[d.start : d.end] for d in found] == ["58 year", "man"]


def test_an_absent_feature_has_no_runs(maker: PieceMaker) -> None:
    (pieces,) = maker.cut(["58 year"])
    assert decode_row(pieces, np.array([0.9, 0.9], np.float32), 0.2, Thresholds()) == []


def test_a_present_feature_keeps_its_best_pieces(maker: PieceMaker) -> None:
    (pieces,) = maker.cut(["58 year"])
    (only,) = decode_row(pieces, np.array([0.4, 0.1], np.float32), 0.9, Thresholds())
    assert (only.start, only.end) == (0, 2)


def test_an_empty_note_has_none() -> None:
    none = np.zeros(0, np.int32)
    empty = Pieces(none, none, none)
    assert decode_row(empty, np.zeros(0, np.float32), 1.0, Thresholds()) == []
