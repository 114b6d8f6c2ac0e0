"""What goes through the network at once: a note and some of its features, as padded arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rubricate.arrays import I32, I64

#: Owner of a padding piece in `Batch.owner`.
NOBODY = -1


@dataclass(frozen=True, eq=False, slots=True)
class Pass:
    """One trip through the network: a note (or a window of it) and the features sought in it."""

    note: I32
    features: tuple[I32, ...]

    def __len__(self) -> int:
        return len(self.note) + sum(len(one) + 1 for one in self.features) + 2


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """Several passes as rectangles."""

    note: I64
    note_length: I64
    feature: I64
    owner: I64
    position: I64
    n_features: int


@dataclass(frozen=True, slots=True)
class SpecialPieces:
    """Numbers of the special pieces of a vocabulary."""

    start: int
    stop: int
    fill: int


def make_batch(passes: Sequence[Pass], special: SpecialPieces) -> Batch:
    """Put passes side by side.

    >>> passes = [Pass(np.array([7, 8]), (np.array([5]), np.array([6, 9])))]
    >>> batch = make_batch(passes, SpecialPieces(start=1, stop=2, fill=0))
    >>> batch.note.tolist(), batch.feature.tolist(), batch.owner.tolist()
    ([[1, 7, 8, 2]], [[5, 2, 6, 9, 2]], [[0, 0, 1, 1, 1]])
    """
    length = np.array([len(one.note) + 2 for one in passes], np.int64)
    sizes = [[len(f) + 1 for f in one.features] for one in passes]
    width = max((sum(own) for own in sizes), default=0)
    note = np.full((len(passes), int(length.max(initial=2))), special.fill, np.int64)
    feature = np.full((len(passes), max(width, 1)), special.fill, np.int64)
    owner = np.full(feature.shape, NOBODY, np.int64)
    position = np.zeros(feature.shape, np.int64)
    for i, one in enumerate(passes):
        n = int(length[i])
        note[i, 0] = special.start
        note[i, 1 : n - 1] = one.note
        note[i, n - 1] = special.stop
        place = 0
        for k, pieces in enumerate(one.features):
            stop = place + len(pieces)
            feature[i, place:stop] = pieces
            feature[i, stop] = special.stop
            owner[i, place : stop + 1] = k
            position[i, place : stop + 1] = np.arange(stop + 1 - place)
            place = stop + 1
    most = max((len(one.features) for one in passes), default=0)
    return Batch(note, length, feature, owner, position, max(most, 1))


def by_length(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Yield groups of numbers of passes alike in length, each of at most ``budget`` pieces.

    A pass longer than the budget goes alone. The order of the groups is that of length.

    >>> list(by_length([5, 100, 6, 5], budget=16))
    [[0, 3], [2], [1]]
    """
    group: list[int] = []
    for i in np.argsort(np.asarray(lengths), kind="stable").tolist():
        if group and lengths[i] * (len(group) + 1) > budget:
            yield group
            group = []
        group.append(i)
    if group:
        yield group


def divide(n: int, size: int | None) -> list[range]:
    """Cut ``n`` features into runs of at most ``size`` (None: all in one), as even as can be.

    >>> divide(10, 4)
    [range(0, 4), range(4, 7), range(7, 10)]
    >>> divide(3, None)
    [range(0, 3)]
    """
    if n == 0:
        return []
    parts = 1 if size is None else -(-n // size)
    edges = [-(-n * i // parts) for i in range(parts + 1)]
    return [range(a, b) for a, b in pairwise(edges)]
