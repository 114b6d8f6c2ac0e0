"""How good probabilities of pieces are: characters and presence, over thresholds, on arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rubricate.neural.decoding import Thresholds
from rubricate.neural.learning_set import LearningSet

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Scored:
    """A network's probabilities for some notes of a learning set.

    ``inside`` has one entry for each piece of each row (the order of ``rows``), ``presence``
    one for each row.
    """

    rows: I64
    inside: F32
    presence: F32


@dataclass(frozen=True, slots=True)
class Figures:
    """Character and presence F1, micro-averaged over rows."""

    characters: float
    presence: float


class Ruler:
    """Measures probabilities for chosen rows against what was marked.

    A piece above the threshold covers its characters, two neighbours also the gap between them,
    exactly as `rubricate.neural.decoding` makes spans, so the figures are those of the spans.
    """

    def __init__(self, data: LearningSet, notes: Sequence[int]) -> None:
        own = [(i, r) for i in notes for r in data.rows(i)]
        self.rows = np.array([r for _, r in own], np.int64)
        lengths = {i: data.lengths(i) for i in notes}
        sizes = [len(lengths[i][0]) for i, _ in own]
        self.first = np.cumsum([0, *sizes], dtype=np.int64)
        self._row_of = np.repeat(np.arange(len(own)), sizes)
        self._length = _join(lengths[i][0] for i, _ in own)
        self._gap = _join(lengths[i][1] for i, _ in own)
        self._marked = _join(data.marks(r)[0] for _, r in own)
        self._after = _join(data.marks(r)[1] for _, r in own)
        self._total = data.row_marked[self.rows].astype(np.int64)

    def decide(self, scored: Scored, at: Thresholds) -> npt.NDArray[np.bool_]:
        """Tell of each piece of each row whether it is inside an annotation."""
        inside = self._lifted(scored.inside)
        highest = np.zeros(len(self.rows), np.float32)
        np.maximum.at(highest, self._row_of, inside)
        present = scored.presence >= at.presence
        limit = np.minimum(at.inside, highest * at.rescue)
        limit = np.where(highest >= at.inside, at.inside, limit)
        limit = np.where(present, limit, np.inf)
        return np.asarray(inside >= limit[self._row_of])

    def _lifted(self, inside: F32) -> F32:
        """Give pieces that share a character the highest of theirs, as decoding does."""
        if not (self._gap < 0).any():
            return inside
        group = np.concatenate(([0], np.cumsum(self._gap[:-1] >= 0)))
        highest = np.zeros(int(group[-1]) + 1, np.float32)
        np.maximum.at(highest, group, inside)
        return highest[group]

    def counts(self, inside: npt.NDArray[np.bool_]) -> tuple[I64, I64, I64]:
        """Return shared, predicted and marked characters of each row."""
        n = len(self.rows)
        both = np.zeros_like(inside)
        both[:-1] = inside[:-1] & inside[1:] & (self._row_of[:-1] == self._row_of[1:])
        shared = np.where(inside, self._marked, 0) + np.where(both, self._after, 0)
        covered = np.where(inside, self._length, 0) + np.where(both, self._gap, 0)
        return (
            np.bincount(self._row_of, shared, n).astype(np.int64),
            np.bincount(self._row_of, covered, n).astype(np.int64),
            self._total,
        )

    def figures(
        self, scored: Scored, at: Thresholds, among: npt.NDArray[np.bool_] | None = None
    ) -> Figures:
        """Return both F1 values, of all rows or of those ``among`` names."""
        shared, covered, total = self.counts(self.decide(scored, at))
        if among is not None:
            shared, covered, total = shared[among], covered[among], total[among]
        found, there = covered > 0, total > 0
        return Figures(
            characters=_f1(shared.sum(), covered.sum(), total.sum()),
            presence=_f1((found & there).sum(), found.sum(), there.sum()),
        )

    def best_thresholds(
        self, scored: Scored, among: npt.NDArray[np.bool_] | None = None
    ) -> Thresholds:
        """Return the thresholds with the highest sum of both figures."""
        tried = [
            Thresholds(inside, presence, rescue)
            for inside in (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)
            for presence in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
            for rescue in (0.5,)
        ]

        def worth(at: Thresholds) -> float:
            found = self.figures(scored, at, among)
            return found.characters + found.presence

        return max(tried, key=worth)


def _join(parts: Iterable[npt.NDArray[np.generic]]) -> npt.NDArray[np.float64]:
    every = list(parts)
    return np.concatenate(every).astype(np.float64) if every else np.zeros(0)


def _f1(shared: int, predicted: int, marked: int) -> float:
    return float(2 * shared / (predicted + marked)) if predicted + marked else 1.0
