"""From probabilities of pieces to runs with exact characters, of one network or of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rubricate.neural.pieces import Pieces
from rubricate.neural.runs import NEVER, Runs, likeliest_runs
from rubricate.stats.calibration import logit

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I32 = npt.NDArray[np.int32]

#: Logit of an annotation's beginning or ending inside what a network takes for one piece.
UNLIKELY = -7.0


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which probability on a piece is inside an annotation, and a feature present.

    Parameters
    ----------
    inside : float
        Pieces at least this probable are inside, where nothing else counts.
    presence : float
        Features at least this probable are present; others get no annotation.
    rescue : float
        A feature that is present although no piece reaches ``inside`` keeps the pieces above
        this share of its most probable one.
    edges : float
        How much it counts, beside the pieces inside, that a run begins and ends where the
        network says annotations do (in logits, see `rubricate.neural.runs`).
    cost : float
        What a run must bring, in logits, to be there at all; less than 0 favours many short ones.
    """

    inside: float = 0.5
    presence: float = 0.5
    rescue: float = 0.5
    edges: float = 0.0
    cost: float = 0.0

    @property
    def plain(self) -> bool:
        """Whether a piece is inside by its own probability alone."""
        return not self.edges and not self.cost


class Decoded(NamedTuple):
    """One run of pieces: its characters and the mean probability of its pieces."""

    start: int
    end: int
    confidence: float


class Opinion(NamedTuple):
    """What one network says of the pieces of a note, and how much it counts.

    ``inside`` and ``edges`` are those of `RowScores`, of one feature or, with an axis before the
    others, of several.
    """

    pieces: Pieces
    inside: F32
    weight: float = 1.0
    edges: F32 | None = None


def inside_limit(highest: float, presence: float, at: Thresholds) -> float:
    """Return from which probability on pieces of this row are inside; infinite when absent.

    Examples
    --------
    >>> inside_limit(0.9, 0.8, Thresholds())
    0.5
    >>> inside_limit(0.4, 0.8, Thresholds())
    0.2
    >>> inside_limit(0.9, 0.2, Thresholds())
    inf
    """
    if presence < at.presence or highest <= 0:
        return float("inf")
    return at.inside if highest >= at.inside else highest * at.rescue


def decode_row(
    pieces: Pieces, inside: F32, presence: float, at: Thresholds, edges: F32 | None = None
) -> list[Decoded]:
    """Return the runs of pieces inside an annotation of one feature, each with its characters.

    A run goes from the first character of its first piece to the last of its last one, so it
    neither begins nor ends with white space.

    Examples
    --------
    >>> place = lambda *x: np.array(x, np.int32)
    >>> pieces = Pieces(place(1, 2, 3), place(0, 3, 8), place(2, 7, 9))
    >>> decode_row(pieces, np.array([0.75, 0.75, 0.1], np.float32), 0.9, Thresholds())
    [Decoded(start=0, end=7, confidence=0.75)]
    """
    return decode_rows(Opinion(*_as_rows(pieces, inside, edges)), [presence], [at])[0]


def decode_rows(
    said: Opinion, presence: Sequence[float], at: Sequence[Thresholds]
) -> list[list[Decoded]]:
    """Return for each feature of a note what `decode_row` does, faster."""
    units = _units(said)
    if not len(units.start):
        return [[] for _ in presence]
    common = at[0]
    runs: Runs | None = None
    if not common.plain:
        score = logit(units.inside) - logit(common.inside)
        runs = likeliest_runs(score, common.edges * units.first - common.cost,
                              common.edges * units.last)  # fmt: skip
    return [
        [
            Decoded(int(units.start[a]), int(units.end[b - 1]), float(chance[a:b].mean()))
            for a, b in _chosen(chance, runs, k, presence[k], at[k])
        ]
        for k, chance in enumerate(units.inside)
    ]


def character_chances(pieces: Pieces, inside: F32, length: int) -> F32:
    """Return for each character of a note the probability that it is inside an annotation.

    A piece gives its characters its own probability; characters between two neighbours take the
    lower of the two, so that a run goes on only where both are inside. Others have 0.

    Examples
    --------
    >>> place = lambda *x: np.array(x, np.int32)
    >>> pieces = Pieces(place(1, 2), place(0, 3), place(2, 5))
    >>> character_chances(pieces, np.array([0.75, 0.5], np.float32), 6).tolist()
    [0.75, 0.75, 0.5, 0.5, 0.5, 0.0]
    """
    if not len(pieces):
        return np.zeros(length, np.float32)
    units = _units(Opinion(*_as_rows(pieces, inside, None)))
    spread: F32 = _spread(units, units.inside, length)[0]
    return spread


def decode_characters(
    text: str, opinions: Sequence[Opinion], presence: float, at: Thresholds
) -> list[Decoded]:
    """Return the runs of characters that several networks, taken together, say are inside.

    The networks may cut the note into different pieces: what they say is averaged character by
    character. Runs are trimmed of white space; the confidence of a run is the mean of what each
    network says of the pieces in it. One network alone gives what `decode_row` does.

    Examples
    --------
    >>> place = lambda *x: np.array(x, np.int32)
    >>> words = Pieces(place(1, 2), place(0, 6), place(5, 10))
    >>> halves = Pieces(place(1, 2, 3), place(0, 3, 6), place(3, 5, 10))
    >>> chance = lambda *x: np.array(x, np.float32)
    >>> said = [Opinion(words, chance(0.75, 0.25)), Opinion(halves, chance(0.5, 0.75, 0.25))]
    >>> decode_characters("chest pain", said, 0.9, Thresholds())
    [Decoded(start=0, end=5, confidence=0.6875)]
    """
    rows = [
        Opinion(one.pieces, one.inside[None], one.weight, None if one.edges is None else
                one.edges[None])
        for one in opinions
    ]  # fmt: skip
    return decode_texts(text, rows, [presence], [at])[0]


def decode_texts(
    text: str, opinions: Sequence[Opinion], presence: Sequence[float], at: Sequence[Thresholds]
) -> list[list[Decoded]]:
    """Return for each feature of a note what `decode_characters` does, faster."""
    if not text:
        return [[] for _ in presence]
    weights = np.array([one.weight for one in opinions])
    members = [_units(one) for one in opinions]
    mean = np.average(
        [_spread(one, one.inside, len(text)) for one in members], axis=0, weights=weights
    ).astype(np.float32)
    runs = None if at[0].plain else _character_runs(members, weights, len(text), at[0])
    found: list[list[Decoded]] = []
    for k, chance in enumerate(mean):
        found.append([])
        for first, last in _chosen(chance, runs, k, presence[k], at[k]):
            run = text[first:last]
            start, end = last - len(run.lstrip()), first + len(run.rstrip())
            if start < end:
                said = [_mean_inside(one, k, start, end) for one in members]
                found[-1].append(Decoded(start, end, float(np.average(said, weights=weights))))
    return found


class _Units(NamedTuple):
    """Pieces, those that share a character as one: a character is marked whole or not at all.

    ``inside`` is a probability (feature, unit), the highest of the pieces; ``first`` and ``last``
    are logits that an annotation begins and ends with the unit.
    """

    start: I32
    end: I32
    inside: F32
    first: F64
    last: F64


def _as_rows(
    pieces: Pieces, inside: F32, edges: F32 | None
) -> tuple[Pieces, F32, float, F32 | None]:
    return pieces, inside[None], 1.0, None if edges is None else edges[None]


def _units(said: Opinion) -> _Units:
    """Return the units of a note; a byte-level vocabulary cuts characters in two."""
    pieces, inside = said.pieces, said.inside
    edges = None if said.edges is None else logit(said.edges)
    first, last = (np.zeros(inside.shape),) * 2 if edges is None else (edges[..., 0], edges[..., 1])
    shared = pieces.start[1:] < np.maximum.accumulate(pieces.end)[:-1]
    if not shared.any():
        return _Units(pieces.start, pieces.end, inside, first, last)
    begin = np.flatnonzero(np.concatenate(([True], ~shared)))
    final = np.append(begin[1:], len(pieces)) - 1
    return _Units(
        pieces.start[begin],
        np.maximum.reduceat(pieces.end, begin),
        np.maximum.reduceat(inside, begin, axis=1),
        first[:, begin],
        last[:, final],
    )


def _spread(units: _Units, values: npt.NDArray[Any], length: int) -> npt.NDArray[Any]:
    """Give each character its unit's value, and one between two units the lower of theirs."""
    if not len(units.start):
        return np.zeros((len(values), length), values.dtype)
    edges = np.stack([units.start, units.end], axis=1).ravel()
    between = np.zeros_like(values)
    between[:, :-1] = np.minimum(values[:, :-1], values[:, 1:])
    both = np.stack([values, between], axis=2).reshape(len(values), -1)
    sizes = np.diff(np.append(edges, length))
    start = np.zeros((len(values), int(edges[0])), values.dtype)
    return np.concatenate([start, np.repeat(both, sizes, axis=1)], axis=1)


def _character_runs(
    members: Sequence[_Units], weights: npt.NDArray[Any], length: int, at: Thresholds
) -> Runs:
    """Return the likeliest runs of characters by the mean of several networks' logits.

    A unit's score is divided among its characters, so that a run of units weighs what it does
    for one network alone. Runs begin and end where some network has an edge of a unit; one that
    has none there says that they hardly do.
    """
    n_features = len(members[0].inside)
    total = np.zeros((3, n_features, length))
    possible = np.zeros((2, length), bool)
    for one, weight in zip(members, weights / weights.sum(), strict=True):
        score = (logit(one.inside) - logit(at.inside)) / (one.end - one.start)
        sizes = one.end - one.start
        place = np.repeat(one.start - np.append(0, np.cumsum(sizes)[:-1]), sizes)
        said = np.zeros((3, n_features, length))
        said[0][:, place + np.arange(len(place))] = np.repeat(score, sizes, axis=1)
        said[1:] = at.edges * UNLIKELY
        said[1][:, one.start] = at.edges * one.first
        said[2][:, one.end - 1] = at.edges * one.last
        possible[0, one.start] = True
        possible[1, one.end - 1] = True
        total += weight * said
    total[1] -= at.cost
    total[1:][~np.broadcast_to(possible[:, None], total[1:].shape)] = NEVER
    return likeliest_runs(*total)


def _chosen(
    chance: F32, runs: Runs | None, row: int, presence: float, at: Thresholds
) -> list[tuple[int, int]]:
    """Return the runs of a row: the likeliest, or those above the limit."""
    limit = inside_limit(float(chance.max()), presence, at)
    if limit == float("inf"):
        return []
    if runs is None:
        return _runs(chance >= limit)
    if not runs.inside[row].any():
        return _runs(chance >= float(chance.max()) * at.rescue)
    return _runs(runs.inside[row], runs.begins[row])


def _mean_inside(one: _Units, row: int, start: int, end: int) -> float:
    own = (one.start < end) & (one.end > start)
    return float(one.inside[row, own].mean()) if own.any() else 0.0


def _runs(
    chosen: npt.NDArray[np.bool_], begins: npt.NDArray[np.bool_] | None = None
) -> list[tuple[int, int]]:
    """Return where the runs of chosen places begin and end; touching ones apart where told."""
    before = np.concatenate(([False], chosen[:-1]))
    first = chosen & (~before if begins is None else begins | ~before)
    after = np.concatenate((chosen[1:] & ~first[1:], [False]))
    last = chosen & ~after
    return list(
        zip(np.flatnonzero(first).tolist(), (np.flatnonzero(last) + 1).tolist(), strict=True)
    )
