from __future__ import annotations

from pathlib import Path

import numpy as np

from rubricate import Corpus
from rubricate.neural.encoder.pieces import PieceMaker
from rubricate.neural.training.learning_set import LearningSet, learning_set


def test_marked_characters_add_up(data: LearningSet) -> None:
    for note in range(data.n_notes):
        for row in data.rows(note):
            marked, after = data.marks(row)
            assert int(marked.sum()) + int(after.sum()) == data.row_marked[row]


def test_targets_are_the_pieces_under_the_annotation(data: LearningSet, corpus: Corpus) -> None:
    row = corpus.row("n1", "f2", "ann")
    assert row is not None
    text = corpus.note("n1").text
    inside = data.targets(0, row)
    places = zip(
        data.note_start[: len(inside)][inside], data.note_end[: len(inside)][inside], strict=True
    )
    assert [text[a:b] for a, b in places] == ["chest", "pain"]


def test_saved_and_read_again(data: LearningSet, tmp_path: Path) -> None:
    data.save(tmp_path / "data.npz")
    again = LearningSet.load(tmp_path / "data.npz")
    assert np.array_equal(again.marked, data.marked)
    assert again.n_notes == data.n_notes


def test_no_annotator_means_no_rows(corpus: Corpus, maker: PieceMaker) -> None:
    unlabelled = learning_set(corpus, None, maker)
    assert unlabelled.n_notes == 6
    assert len(unlabelled.row_feature) == 0


def test_rows_are_added_to_notes_without_any(
    corpus: Corpus, maker: PieceMaker, data: LearningSet
) -> None:
    some = corpus.with_rows(corpus.rows.take(corpus.rows.note < 4), corpus.annotators)
    partly = learning_set(some, "ann", maker)
    assert partly.with_text(judged=True) == [0, 1, 2, 3]
    assert partly.with_text(judged=False) == [4, 5]
    wider = partly.with_rows({4: [0, 1, 2], 5: [0, 1, 2]})
    assert np.array_equal(wider.row_first, data.row_first)
    assert np.array_equal(wider.row_feature, data.row_feature)
    assert np.array_equal(wider.mark_first, data.mark_first)
    for row in range(12):
        assert np.array_equal(wider.marks(row)[0], data.marks(row)[0])
    assert not wider.row_marked[12:].any()
    none = partly.with_rows({})
    assert np.array_equal(none.row_first, partly.row_first)
