"""Notes nobody annotated, with what a network that was taught the others says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from rubricate.neural.batching import SpecialPieces
from rubricate.neural.learning_set import LearningSet
from rubricate.neural.network import Network
from rubricate.neural.passes import Taught
from rubricate.neural.scoring_torch import score_rows

I32 = npt.NDArray[np.int32]


def with_case_rows(
    data: LearningSet, notes: Sequence[int], features_of_case: Mapping[int, Sequence[int]]
) -> LearningSet:
    """Give these notes, which have no rows, one with nothing marked for each feature of their case.

    Whether a feature is in such a note nobody knows: the rows are for a network to judge.
    """
    chosen = set(notes)
    row_feature: list[I32] = []
    marked, after, totals, sizes = [], [], [], []
    first = [0]
    for i in range(data.n_notes):
        rows = slice(int(data.row_first[i]), int(data.row_first[i + 1]))
        marks = slice(data.mark_first[rows.start], data.mark_first[rows.stop])
        new = features_of_case.get(int(data.note_case[i]), ()) if i in chosen else ()
        length = len(data.note(i))
        row_feature += [data.row_feature[rows], np.asarray(new, np.int32)]
        marked += [data.marked[marks], np.zeros(len(new) * length, np.uint16)]
        after += [data.marked_after[marks], np.zeros(len(new) * length, np.int32)]
        totals += [data.row_marked[rows], np.zeros(len(new), np.int32)]
        n_rows = rows.stop - rows.start + len(new)
        sizes += [length] * n_rows
        first.append(first[-1] + n_rows)
    return replace(
        data,
        row_first=np.asarray(first, np.int64),
        row_feature=np.concatenate(row_feature),
        mark_first=np.cumsum([0, *sizes], dtype=np.int64),
        marked=np.concatenate(marked),
        marked_after=np.concatenate(after),
        row_marked=np.concatenate(totals),
    )


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
    inside = np.zeros(len(data.marked), np.float16)
    place = 0
    for row in scored.rows.tolist():
        own = slice(int(data.mark_first[row]), int(data.mark_first[row + 1]))
        size = own.stop - own.start
        inside[own] = scored.inside[place : place + size]
        place += size
    n_judged = np.diff(data.row_first)
    n_judged[list(notes)] = 0
    return Taught(inside, n_judged)
