"""Sets of word runs, the pairs that may be alike, and how alike they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]

#: A run shared by more sets than this links each of them to its nearest in size only.
_CROWD = 200
_NEIGHBOURS = 8
#: Pairs compared at a time.
_CHUNK = 20_000


@dataclass(frozen=True, eq=False, slots=True)
class Sets:
    """Sets of numbers: members of set ``i`` are ``member[first[i]:first[i + 1]]``, rarest first.

    ``spread`` says in how many sets each number is.
    """

    first: I64
    member: I64
    spread: I64

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def sizes(self) -> I64:
        """How many members each set has."""
        return np.diff(self.first)


def shingle_sets(texts: Sequence[I64], salts: I64, words: int) -> Sets:
    """Return the runs of ``words`` words of each text; texts of different salts share none.

    A text shorter than that is one run.

    Examples
    --------
    >>> texts = [np.array([0, 1, 2, 3]), np.array([1, 2, 3])]
    >>> shingle_sets(texts, np.array([0, 0]), 3).sizes.tolist()
    [2, 1]
    """
    hashes, owner = [np.zeros(0, dtype=np.uint64)], [np.zeros(0, dtype=np.int64)]
    for i, ids in enumerate(texts):
        run = min(words, len(ids))
        mixed = _mix(ids.astype(np.uint64) + np.uint64(1))
        value = np.full(len(ids) - run + 1, np.uint64(int(salts[i]) + 1), dtype=np.uint64)
        for k in range(run):
            value = _mix(value * np.uint64(31) + mixed[k : len(ids) - run + 1 + k])
        unique = np.unique(value)
        hashes.append(unique)
        owner.append(np.full(len(unique), i, dtype=np.int64))
    _, member, counts = np.unique(np.concatenate(hashes), return_inverse=True, return_counts=True)
    note = np.concatenate(owner)
    order = np.lexsort((member, counts[member], note))
    first = np.searchsorted(note, np.arange(len(texts) + 1))
    return Sets(first.astype(np.int64), member[order].astype(np.int64), counts.astype(np.int64))


def candidate_pairs(sets: Sets, threshold: float) -> tuple[I64, I64]:
    """Return pairs of sets that share one of their rarest members and fit in size.

    Examples
    --------
    >>> texts = [np.arange(9), np.arange(9), np.arange(20, 29)]
    >>> pairs = candidate_pairs(shingle_sets(texts, np.zeros(3, dtype=np.int64), 3), 0.8)
    >>> [side.tolist() for side in pairs]
    [[0], [1]]
    """
    sizes = sets.sizes
    owner = np.repeat(np.arange(len(sets)), sizes)
    place = np.arange(len(sets.member)) - sets.first[owner]
    prefix = sizes - np.ceil(threshold * sizes - 1e-9).astype(np.int64) + 1
    used = (place < prefix[owner]) & (sets.spread[sets.member] > 1)
    member, own = sets.member[used], owner[used]
    order = np.lexsort((own, sizes[own], member))
    member, own = member[order], own[order]
    crowd = np.bincount(member, minlength=1)[member] > _CROWD
    found: list[I64] = []
    for gap in range(1, _CROWD):
        if gap >= len(own):
            break
        joined = member[gap:] == member[:-gap]
        if gap > _NEIGHBOURS:
            joined &= ~crowd[gap:]
        if not joined.any():
            break
        low, high = own[:-gap][joined], own[gap:][joined]
        # Sets lie in order of size: the smaller one must reach the share of the larger
        fits = sizes[low] >= threshold * sizes[high] - 1e-9
        found.append(np.stack([np.minimum(low, high), np.maximum(low, high)], axis=1)[fits])
    pairs = np.unique(np.concatenate([np.zeros((0, 2), dtype=np.int64), *found]), axis=0)
    return pairs[:, 0], pairs[:, 1]


def jaccard(sets: Sets, first: I64, second: I64) -> npt.NDArray[np.float64]:
    """Return |A ∩ B| / |A ∪ B| of each pair of sets.

    Examples
    --------
    >>> sets = shingle_sets([np.arange(5), np.arange(1, 6)], np.zeros(2, dtype=np.int64), 2)
    >>> jaccard(sets, np.array([0]), np.array([1])).tolist()
    [0.6]
    """
    from scipy.sparse import csr_array

    ones = np.ones(len(sets.member), dtype=np.int32)
    shape = (len(sets), max(len(sets.spread), 1))
    table = csr_array((ones, sets.member, sets.first), shape=shape)
    both = np.zeros(len(first))
    for start in range(0, len(first), _CHUNK):
        part = slice(start, start + _CHUNK)
        both[part] = table[first[part]].multiply(table[second[part]]).sum(axis=1)
    sizes = sets.sizes
    return np.asarray(both / (sizes[first] + sizes[second] - both))


def _mix(value: U64) -> U64:
    """Scatter numbers over 64 bits (the finaliser of splitmix64, Steele et al. 2014)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))
