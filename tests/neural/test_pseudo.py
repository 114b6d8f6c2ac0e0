from __future__ import annotations

import numpy as np
import pytest

from rubricate import Corpus
from rubricate.neural.batching import SpecialPieces
from rubricate.neural.folds import unjudged_in
from rubricate.neural.learning_set import LearningSet, learning_set
from rubricate.neural.network import Network
from rubricate.neural.passes import ALL, Lessons, Variation
from rubricate.neural.pieces import PieceMaker
from rubricate.neural.pseudo import pseudo_labels, with_case_rows
from rubricate.neural.scoring_torch import score_rows


@pytest.fixture(scope="module")
def partly(corpus: Corpus, maker: PieceMaker) -> LearningSet:
    some = corpus.with_rows(corpus.rows.take(corpus.rows.note < 4), corpus.annotators)
    return learning_set(some, "ann", maker)


def test_rows_are_added_to_notes_without_any(partly: LearningSet, data: LearningSet) -> None:
    wider = with_case_rows(partly, [4, 5], {0: [0, 1, 2]})
    assert np.array_equal(wider.row_first, data.row_first)
    assert np.array_equal(wider.row_feature, data.row_feature)
    assert np.array_equal(wider.mark_first, data.mark_first)
    for row in range(12):
        assert np.array_equal(wider.marks(row)[0], data.marks(row)[0])
    assert not wider.row_marked[12:].any()
    none = with_case_rows(partly, [4, 5], {1: [0]})
    assert np.array_equal(none.row_first, partly.row_first)


def test_labels_are_what_the_network_says(
    partly: LearningSet, network: Network, special: SpecialPieces
) -> None:
    notes = unjudged_in(partly)
    assert notes == [4, 5]
    wider = with_case_rows(partly, notes, {0: [0, 1, 2]})
    taught = pseudo_labels(network, wider, notes, special, features_per_pass=None)
    assert taught.n_judged.tolist() == [3, 3, 3, 3, 0, 0]
    said = score_rows(network, wider, notes, special, features_per_pass=None)
    first = int(wider.mark_first[12])
    np.testing.assert_allclose(taught.inside[first:], said.inside, atol=1e-3)
    assert not taught.inside[:first].any()


@pytest.mark.parametrize("share", [0.25, 0.75])
def test_passes_over_them_come_as_often_as_asked(
    partly: LearningSet, network: Network, special: SpecialPieces, maker: PieceMaker, share: float
) -> None:
    wider = with_case_rows(partly, [4, 5], {0: [0, 1, 2]})
    taught = pseudo_labels(network, wider, [4, 5], special, features_per_pass=None)
    variation = Variation({ALL: 0.5, 1: 0.5}, {ALL: 4, 1: 4}, phrase=0, masked=0, pseudo=share)
    lessons = Lessons(
        wider, range(6), special, maker.mask_id, variation=variation, seed=0, taught=taught
    )
    soft = known = 0
    for step in range(200):
        targets = lessons.lesson(step).targets
        doubtful = ((targets > 0) & (targets < 1)).any(axis=(1, 2))
        soft += int(doubtful.sum())
        known += int((~doubtful).sum())
    assert abs(soft / (soft + known) - share) < 0.1
