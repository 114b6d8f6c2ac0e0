"""Notes nobody annotated, with what a network that was taught the others says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rubricate.neural.batching import SpecialPieces
from rubricate.neural.learning_set import LearningSet
from rubricate.neural.network import Network
from rubricate.neural.passes import Taught
from rubricate.neural.scoring_torch import score_rows


def with_case_rows(
    data: LearningSet, notes: Sequence[int], features_of_case: Mapping[int, Sequence[int]]
) -> LearningSet:
    """Give these notes, which have no rows, one to judge for each feature of their case."""
    return data.with_rows({i: features_of_case.get(int(data.note_case[i]), ()) for i in notes})


def pseudo_labels(
    network: Network,
    data: LearningSet,
    notes: Sequence[int],
    special: SpecialPieces,
    *,
    features_per_pass: int | None,
) -> Taught:
    """Let the network judge these notes of ``data``, which has rows for them; all others are known.

    The labels are probabilities, so that what the network doubts is taught as doubtful.
    """
    scored = score_rows(
        network, data, notes, special, features_per_pass=features_per_pass, budget=4096
    )
    n_judged = np.diff(data.row_first)
    n_judged[list(notes)] = 0
    return Taught.of(data, scored, n_judged)
