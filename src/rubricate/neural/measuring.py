"""How good probabilities of pieces are: characters and presence, over thresholds, on arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rubricate.neural.decoding import Thresholds
from rubricate.neural.inference import RowScores
from rubricate.neural.learning_set import LearningSet
from rubricate.neural.runs import NEVER, Runs, likeliest_runs
from rubricate.stats.calibration import logit

Bool = npt.NDArray[np.bool_]
F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]

#: Thresholds that are tried, of pieces and of presence.
INSIDE = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)
PRESENCE = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


@dataclass(frozen=True, eq=False, slots=True)
class Scored:
    """A network's probabilities for some notes of a learning set.

    ``inside`` has one entry for each piece of each row (the order of ``rows``), ``edges`` two,
    ``presence`` one for each row.
    """

    rows: I64
    inside: F32
    presence: F32
    edges: F32

    @classmethod
    def of(cls, said: Mapping[int, RowScores]) -> Scored:
        """Return what a network says of rows by their numbers, in the order given."""
        every = list(said.values())
        if not every:
            nothing = np.zeros(0, np.float32)
            return cls(np.zeros(0, np.int64), nothing, nothing, nothing.reshape(0, 2))
        return cls(
            np.array(list(said), np.int64),
            np.concatenate([one.inside for one in every]),
            np.array([one.presence for one in every], np.float32),
            np.concatenate([one.edges for one in every]),
        )


@dataclass(frozen=True, slots=True)
class Figures:
    """F1 of characters, of presence and of runs that are exactly right, over all rows."""

    characters: float
    presence: float
    runs: float


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

    def decide(self, scored: Scored, at: Thresholds) -> Runs:
        """Tell of each piece of each row whether it is inside an annotation, and begins one."""
        highest = np.zeros(len(self.rows), np.float32)
        np.maximum.at(highest, self._row_of, scored.inside)
        present = scored.presence >= at.presence
        limit = np.where(highest >= at.inside, at.inside, highest * at.rescue)
        plain = scored.inside >= np.where(present, limit, np.inf)[self._row_of]
        if at.plain:
            return Runs(plain, plain & ~self._before(plain))
        found = self._likeliest(scored, at)
        some = np.zeros(len(self.rows), bool)
        np.logical_or.at(some, self._row_of, found.inside)
        rescued = scored.inside >= (highest * at.rescue)[self._row_of]
        inside = np.where(some[self._row_of], found.inside, rescued) & present[self._row_of]
        begins = np.where(some[self._row_of], found.begins, False) | ~self._before(inside)
        return Runs(inside, inside & begins)

    def _before(self, inside: Bool) -> Bool:
        """Tell of each piece whether the one before it in its row is inside."""
        before = np.zeros_like(inside)
        before[1:] = inside[:-1] & (self._row_of[1:] == self._row_of[:-1])
        return before

    def _likeliest(self, scored: Scored, at: Thresholds) -> Runs:
        score = logit(scored.inside) - logit(at.inside)
        edges = at.edges * logit(scored.edges)
        inside, begins = np.zeros(len(score), bool), np.zeros(len(score), bool)
        sizes = np.diff(self.first)
        place = np.arange(len(score)) - self.first[self._row_of]
        # Rows alike in length together, few at a time: the rest of a rectangle is waste.
        for rows in np.array_split(np.argsort(sizes, kind="stable"), -(-len(sizes) // 2048)):
            own = np.isin(self._row_of, rows)
            number = np.zeros(len(sizes), np.int64)
            number[rows] = np.arange(len(rows))
            where = number[self._row_of[own]], place[own]
            given = np.full((3, len(rows), int(sizes[rows].max(initial=0))), NEVER)
            for part, values in enumerate((score, edges[:, 0] - at.cost, edges[:, 1])):
                given[part][where] = values[own]
            found = likeliest_runs(*given)
            inside[own], begins[own] = found.inside[where], found.begins[where]
        return Runs(inside, begins)

    def counts(self, found: Runs) -> tuple[I64, I64, I64]:
        """Return shared, predicted and marked characters of each row."""
        n, inside = len(self.rows), found.inside
        both = np.zeros_like(inside)
        both[:-1] = inside[:-1] & (self._before(inside) & inside & ~found.begins)[1:]
        shared = np.where(inside, self._marked, 0) + np.where(both, self._after, 0)
        covered = np.where(inside, self._length, 0) + np.where(both, self._gap, 0)
        return (
            np.bincount(self._row_of, shared, n).astype(np.int64),
            np.bincount(self._row_of, covered, n).astype(np.int64),
            self._total,
        )

    def run_counts(self, found: Runs) -> tuple[I64, I64, I64]:
        """Return how many runs of each row are exactly right, found and marked.

        Pieces half marked count as marked, and marks that touch as one run.
        """
        marked = self._marked * 2 >= self._length
        wanted = Runs(marked, marked & ~self._before(marked))
        n = len(self.rows)
        # A run is right where both begin at a piece and the piece after it ends both.
        begun = found.begins & wanted.begins
        right = np.flatnonzero(begun)[self._last(found)[begun] == self._last(wanted)[begun]]
        return (
            np.bincount(self._row_of[right], minlength=n),
            np.bincount(self._row_of[found.begins], minlength=n),
            np.bincount(self._row_of[wanted.begins], minlength=n),
        )

    def _last(self, found: Runs) -> I64:
        """Return for each piece where the run that begins there ends, not included."""
        size = len(found.inside)
        stops = np.ones(size + 1, bool)
        stops[1:size] = ~(found.inside & self._before(found.inside) & ~found.begins)[1:]
        place = np.where(stops, np.arange(size + 1), size)
        nearest = np.minimum.accumulate(place[::-1])[::-1]
        return np.asarray(nearest[1:], np.int64)

    def figures(self, scored: Scored, at: Thresholds, among: Bool | None = None) -> Figures:
        """Return the F1 values, of all rows or of those ``among`` names."""
        return self.figures_of(self.decide(scored, at), among)

    def figures_of(self, found: Runs, among: Bool | None = None) -> Figures:
        """Return the F1 values of what was found."""
        own = slice(None) if among is None else among
        shared, covered, total = (part[own] for part in self.counts(found))
        right, runs, wanted = (part[own].sum() for part in self.run_counts(found))
        present, there = covered > 0, total > 0
        return Figures(
            characters=_f1(shared.sum(), covered.sum(), total.sum()),
            presence=_f1((present & there).sum(), present.sum(), there.sum()),
            runs=_f1(right, runs, wanted),
        )

    def best_thresholds(self, scored: Scored, among: Bool | None = None) -> Thresholds:
        """Return the thresholds with the highest sum of the figures.

        First the two probabilities, then how much edges count and what a run costs: presence
        does not depend on those.
        """

        def worth(at: Thresholds) -> float:
            found = self.figures(scored, at, among)
            return found.characters + found.presence + found.runs

        first = max(
            (Thresholds(inside, presence) for inside in INSIDE for presence in PRESENCE), key=worth
        )
        others = [
            replace(first, inside=inside, edges=edges, cost=cost)
            for inside in (0.4, 0.5, 0.6)
            for edges in (0.5, 1.0)
            for cost in (-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0)
        ]
        return max([first, *others], key=worth)


def _join(parts: Iterable[npt.NDArray[np.generic]]) -> npt.NDArray[np.float64]:
    every = list(parts)
    return np.concatenate(every).astype(np.float64) if every else np.zeros(0)


def _f1(shared: int, predicted: int, marked: int) -> float:
    return float(2 * shared / (predicted + marked)) if predicted + marked else 1.0
