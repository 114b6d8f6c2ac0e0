"""Which annotated notes a network learns from and which are held out of its training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rubricate.errors import InputError
from rubricate.neural.learning_set import LearningSet

#: A case with fewer notes can spare none to choose the best step on: all are learned from.
FEWEST_TO_HOLD_OUT = 20


class Part(NamedTuple):
    """The notes one network learns from, and those it never does."""

    learn: list[int]
    held: list[int]


def judged_in(data: LearningSet) -> list[int]:
    """Return the notes that have a judged row and any text."""
    return [i for i in range(data.n_notes) if len(data.rows(i)) and len(data.note(i))]


def unjudged_in(data: LearningSet) -> list[int]:
    """Return the notes with text and without a judged row."""
    return [i for i in range(data.n_notes) if not len(data.rows(i)) and len(data.note(i))]


def hold_out(data: LearningSet, share: float, seed: int) -> Part:
    """Divide the judged notes of each case into those to learn from and those held out.

    A case with fewer than `FEWEST_TO_HOLD_OUT` notes gives none away.
    """
    rng = np.random.default_rng(seed)
    learn: list[int] = []
    held: list[int] = []
    judged = judged_in(data)
    for case in sorted({int(data.note_case[i]) for i in judged}):
        own = rng.permutation([i for i in judged if data.note_case[i] == case]).tolist()
        n = round(share * len(own)) if len(own) >= FEWEST_TO_HOLD_OUT else 0
        held += own[:n]
        learn += own[n:]
    return Part(sorted(learn), sorted(held))


def grouped_folds(data: LearningSet, n_folds: int, seed: int) -> list[Part]:
    """Divide the judged notes into folds: each note is held out once, cases are spread evenly.

    All rows of a note are in its fold, and so are notes with the same text.

    Raises
    ------
    InputError
        If there are fewer different notes than folds.
    """
    rng = np.random.default_rng(seed)
    judged = judged_in(data)
    groups: dict[tuple[int, bytes], list[int]] = {}
    for i in judged:
        groups.setdefault((int(data.note_case[i]), data.note(i).tobytes()), []).append(i)
    if len(groups) < n_folds:
        raise InputError(
            f"recipe: folds is {n_folds}, and {len(groups)} different notes are annotated; "
            "need at least as many notes as folds"
        )
    fold_of: dict[int, int] = {}
    dealt = 0
    for case in sorted({case for case, _ in groups}):
        own = [notes for (other, _), notes in groups.items() if other == case]
        for k in rng.permutation(len(own)).tolist():
            fold_of |= dict.fromkeys(own[k], dealt % n_folds)
            dealt += 1
    return [
        Part([i for i in judged if fold_of[i] != fold], [i for i in judged if fold_of[i] == fold])
        for fold in range(n_folds)
    ]


def parts_of(data: LearningSet, n_folds: int, share: float, seed: int) -> Sequence[Part]:
    """Return the parts of a fit: one with a share held out, or one for each fold."""
    if n_folds == 1:
        return [hold_out(data, share, seed)]
    return grouped_folds(data, n_folds, seed)
