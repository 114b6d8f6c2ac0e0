"""Quality of a network on rows of a learning set: characters, presence and runs as decoded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rubricate.arrays import F32, F64, I32, I64, Bools
from rubricate.neural.encoder.decoding import (
    NEVER,
    Runs,
    RunScores,
    Thresholds,
    decide,
    run_scores,
    unit_firsts,
)
from rubricate.neural.encoder.inference import CHANNELS, Engine, Outputs, RowScores, score_notes
from rubricate.neural.encoder.pieces import Batch, Pieces, SpecialPieces
from rubricate.neural.training.learning_set import LearningSet
from rubricate.neural.training.network import Logits, Network
from rubricate.progress import Progress, silent, watched
from rubricate.stats.calibration import logit

#: Thresholds that are tried, of pieces and of presence.
INSIDE = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)
PRESENCE = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
#: Rows alike in length that are decided at once; the rest of a rectangle is waste.
AT_ONCE = 2048


@dataclass(frozen=True, eq=False, slots=True)
class Scored:
    """A network's probabilities for some notes of a learning set.

    ``pieces`` has one entry for each piece of each row (the order of ``rows``), with all channels;
    ``presence`` has one for each row.
    """

    rows: I64
    pieces: F32
    presence: F32

    @property
    def inside(self) -> F32:
        """That each piece lies in an annotation."""
        return self.pieces[:, 0]

    @classmethod
    def of(cls, said: Mapping[int, RowScores]) -> Scored:
        """Return a network's outputs for rows by their numbers, in the order given."""
        every = list(said.values())
        pieces = [one.pieces for one in every] or [np.zeros((0, len(CHANNELS)), np.float32)]
        return cls(
            np.array(list(said), np.int64),
            np.concatenate(pieces),
            np.array([one.presence for one in every], np.float32),
        )

    @classmethod
    def joined(cls, several: Sequence[Scored]) -> Scored:
        """Return the probabilities of several networks for different notes, one after the other."""
        return cls(
            np.concatenate([one.rows for one in several]),
            np.concatenate([one.pieces for one in several]),
            np.concatenate([one.presence for one in several]),
        )


def tensors(batch: Batch, device: torch.device) -> tuple[Tensor, ...]:
    """Return the arrays of a batch in the order `Network.forward` takes them."""
    arrays = (batch.note, batch.note_length, batch.feature, batch.owner, batch.position)
    moved = [torch.from_numpy(a).to(device, non_blocking=True) for a in arrays]
    return (*moved, torch.arange(batch.n_features, device=device))


class TorchEngine:
    """A network as what computes the logits of a batch, in half precision on a GPU."""

    def __init__(self, network: Network) -> None:
        self._network = network.eval()
        self._device = next(network.parameters()).device

    def __call__(self, batch: Batch) -> Outputs:
        """Return the logits of a batch."""
        half = self._device.type == "cuda"
        with torch.no_grad(), torch.autocast(self._device.type, torch.bfloat16, enabled=half):
            found: Logits = self._network(*tensors(batch, self._device))
        return {name: value.float().cpu().numpy() for name, value in found._asdict().items()}


def score_rows(
    network: Network | Engine,
    data: LearningSet,
    notes: Sequence[int],
    special: SpecialPieces,
    *,
    features_per_pass: int | None,
    budget: int = 32768,
    progress: Progress = silent,
) -> Scored:
    """Return the probabilities for every row of the notes, in the order of `Ruler`.

    ``network`` may be anything that computes logits, such as a network in a file; ``progress`` is
    told the notes.
    """
    engine = TorchEngine(network) if isinstance(network, Network) else network
    alike: dict[tuple[int, ...], list[int]] = {}
    for i in notes:
        alike.setdefault(tuple(data.row_feature[list(data.rows(i))].tolist()), []).append(i)
    said: dict[int, RowScores] = {}
    done = 0
    for features, own in alike.items():

        def tell(read: int, of: int | None, label: str, at: int = done, n: int = len(own)) -> None:
            progress(at + n * read // (of or 1), len(notes), label)

        scores = score_notes(
            engine,
            [data.pieces(i) for i in own],
            [_bare(data.feature(f)) for f in features],
            special,
            features_per_pass=features_per_pass,
            budget=budget,
            progress=tell,
        )
        done += len(own)
        for i, found in zip(own, scores, strict=True):
            said.update(zip(data.rows(i), found, strict=True))
    return Scored.of({r: said[r] for i in notes for r in data.rows(i)})


def _bare(ids: I32) -> Pieces:
    """Return pieces whose places nobody asks for."""
    return Pieces(ids, np.zeros_like(ids), np.zeros_like(ids))


@dataclass(frozen=True, slots=True)
class Figures:
    """F1 of characters, of presence and of runs that are exactly right, over all rows."""

    characters: float
    presence: float
    runs: float


class _Rectangle(NamedTuple):
    """Rows of about one length side by side: which, and where each of their units stands."""

    rows: I64
    units: I64
    place: tuple[I64, I64]
    shape: tuple[int, int]


class Ruler:
    """Measures probabilities for chosen rows against what was marked.

    What is inside is decided as for spans (`rubricate.neural.encoder.decoding.decide`); a piece
    inside covers its characters, two neighbours of one run also the gap between them.
    """

    def __init__(self, data: LearningSet, notes: Sequence[int]) -> None:
        own = [(i, r) for i in notes for r in data.rows(i)]
        self.rows = np.array([r for _, r in own], np.int64)
        lengths = {i: data.lengths(i) for i in notes}
        firsts = {i: unit_firsts(data.pieces(i)) for i in notes}
        sizes = [len(lengths[i][0]) for i, _ in own]
        self.first = np.cumsum([0, *sizes], dtype=np.int64)
        self._row_of = np.repeat(np.arange(len(own)), sizes)
        self._length = _join(lengths[i][0] for i, _ in own)
        self._gap = _join(lengths[i][1] for i, _ in own)
        self._marked = _join(data.marks(r)[0] for _, r in own)
        self._after = _join(data.marks(r)[1] for _, r in own)
        self._total = data.row_marked[self.rows].astype(np.int64)
        starts = zip(self.first[:-1], own, strict=True)
        self._units = _join(start + firsts[i] for start, (i, _) in starts).astype(np.int64)
        self._rectangles = self._arrange([len(firsts[i]) for i, _ in own])

    def _arrange(self, sizes: list[int]) -> list[_Rectangle]:
        row_of = np.repeat(np.arange(len(sizes)), sizes)
        place = np.arange(len(row_of)) - np.cumsum([0, *sizes])[row_of]
        found = []
        order = np.argsort(np.array(sizes, np.int64), kind="stable")
        for rows in np.array_split(order, -(-len(sizes) // AT_ONCE)) if sizes else ():
            number = np.full(len(sizes), -1, np.int64)
            number[rows] = np.arange(len(rows))
            units = np.flatnonzero(number[row_of] >= 0)
            where = number[row_of[units]], place[units]
            longest = int(np.array(sizes)[rows].max(initial=0))
            found.append(_Rectangle(rows, units, where, (len(rows), longest)))
        return found

    def decide(self, scored: Scored, at: Thresholds) -> Runs:
        """Tell of each piece of each row whether it is inside an annotation, and begins one."""
        n_pieces = len(scored.pieces)
        if not n_pieces:
            return Runs(np.zeros(0, bool), np.zeros(0, bool))
        final = np.append(self._units[1:], n_pieces) - 1
        likely = np.maximum.reduceat(scored.inside, self._units)
        scores = None
        if not at.plain:
            edges = logit(scored.pieces[self._units, 1]), logit(scored.pieces[final, 2])
            scores = run_scores(likely, *edges, at)
        inside, begins = np.zeros(len(likely), bool), np.zeros(len(likely), bool)
        for box in self._rectangles:
            rows = _filled(likely, box, 0.0).astype(np.float32)
            adds = None if scores is None else RunScores(*(_filled(s, box, NEVER) for s in scores))
            found = decide(rows, scored.presence[box.rows], at.presence, at, adds)
            inside[box.units], begins[box.units] = found.inside[box.place], found.begins[box.place]
        unit_of = np.searchsorted(self._units, np.arange(n_pieces), side="right") - 1
        first = np.zeros(n_pieces, bool)
        first[self._units] = begins
        return Runs(inside[unit_of], first)

    def _before(self, inside: Bools) -> Bools:
        """Tell of each piece whether the one before it in its row is inside."""
        before = np.zeros_like(inside)
        before[1:] = inside[:-1] & (self._row_of[1:] == self._row_of[:-1])
        return before

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
        """Count the runs of each row that are exactly right, found and marked.

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

    def figures(self, scored: Scored, at: Thresholds, among: Bools | None = None) -> Figures:
        """Return the F1 values, of all rows or of those ``among`` names."""
        return self.figures_of(self.decide(scored, at), among)

    def figures_of(self, found: Runs, among: Bools | None = None) -> Figures:
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

    def best_thresholds(
        self, scored: Scored, among: Bools | None = None, *, progress: Progress = silent
    ) -> Thresholds:
        """Return the thresholds with the highest sum of the figures.

        First the two probabilities, then how much edges count and what a run costs: presence
        does not depend on those.
        """

        def worth(at: Thresholds) -> float:
            found = self.figures(scored, at, among)
            return found.characters + found.presence + found.runs

        both = [Thresholds(inside, presence) for inside in INSIDE for presence in PRESENCE]
        first = max(watched(both, progress, "choosing thresholds", len(both)), key=worth)
        others = [
            first,
            *(
                replace(first, inside=inside, edges=edges, cost=cost)
                for inside in (0.4, 0.5, 0.6)
                for edges in (0.5, 1.0)
                for cost in (-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0)
            ),
        ]
        return max(watched(others, progress, "choosing edges", len(others)), key=worth)


def _filled(values: F32 | F64, box: _Rectangle, rest: float) -> F64:
    """Return the units' values as a rectangle, with the same number in all other places."""
    whole = np.full(box.shape, rest)
    whole[box.place] = values[box.units]
    return whole


def _join(parts: Iterable[npt.NDArray[np.generic]]) -> F64:
    every = list(parts)
    return np.concatenate(every).astype(np.float64) if every else np.zeros(0)


def _f1(shared: int, predicted: int, marked: int) -> float:
    return float(2 * shared / (predicted + marked)) if predicted + marked else 1.0
