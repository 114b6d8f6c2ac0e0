"""From probabilities of pieces to runs with exact characters, of one network or of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rubricate.neural.pieces import Pieces

F32 = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which probability on a piece is inside an annotation, and a feature present.

    Parameters
    ----------
    inside : float
        Pieces at least this probable are inside.
    presence : float
        Features at least this probable are present; others get no annotation.
    rescue : float
        A feature that is present although no piece reaches ``inside`` keeps the pieces above
        this share of its most probable one.
    """

    inside: float = 0.5
    presence: float = 0.5
    rescue: float = 0.5


class Decoded(NamedTuple):
    """One run of pieces: its characters and the mean probability of its pieces."""

    start: int
    end: int
    confidence: float


class Opinion(NamedTuple):
    """What one network says of the pieces of a note, and how much it counts."""

    pieces: Pieces
    inside: F32
    weight: float = 1.0


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


def decode_row(pieces: Pieces, inside: F32, presence: float, at: Thresholds) -> list[Decoded]:
    """Return the runs of pieces inside an annotation, each with its characters.

    A run goes from the first character of its first piece to the last of its last one, so it
    neither begins nor ends with white space.

    Examples
    --------
    >>> place = lambda *x: np.array(x, np.int32)
    >>> pieces = Pieces(place(1, 2, 3), place(0, 3, 8), place(2, 7, 9))
    >>> decode_row(pieces, np.array([0.75, 0.75, 0.1], np.float32), 0.9, Thresholds())
    [Decoded(start=0, end=7, confidence=0.75)]
    """
    if not len(pieces):
        return []
    chance = _lifted(pieces, inside)
    runs = _runs(chance >= inside_limit(float(inside.max()), presence, at))
    return [
        Decoded(int(pieces.start[a]), int(pieces.end[b - 1]), float(chance[a:b].mean()))
        for a, b in runs
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
    chance = _lifted(pieces, inside)
    # Alternating pieces and gaps; where pieces share characters both parts may be empty.
    edges = np.stack([pieces.start, pieces.end], axis=1).ravel()
    edges = np.maximum.accumulate(edges)
    between = np.append(np.minimum(chance[:-1], chance[1:]), np.float32(0))
    values = np.stack([chance, between], axis=1).ravel()
    sizes = np.diff(np.append(edges, length))
    start = np.zeros(int(edges[0]), np.float32)
    return np.concatenate([start, np.repeat(values, sizes)])


def decode_characters(
    text: str, opinions: Sequence[Opinion], presence: float, at: Thresholds
) -> list[Decoded]:
    """Return the runs of characters that several networks, taken together, say are inside.

    The networks may cut the note into different pieces: their probabilities are averaged
    character by character. Runs are trimmed of white space; the confidence of a run is the mean
    of what each network says of the pieces in it. One network alone gives what `decode_row` does.

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
    if not text:
        return []
    weights = np.array([one.weight for one in opinions])
    each = np.stack([character_chances(one.pieces, one.inside, len(text)) for one in opinions])
    mean = np.average(each, axis=0, weights=weights).astype(np.float32)
    found = []
    for first, last in _runs(mean >= inside_limit(float(mean.max()), presence, at)):
        run = text[first:last]
        start, end = last - len(run.lstrip()), first + len(run.rstrip())
        if start < end:
            said = [_mean_inside(one, start, end) for one in opinions]
            found.append(Decoded(start, end, float(np.average(said, weights=weights))))
    return found


def _mean_inside(one: Opinion, start: int, end: int) -> float:
    own = np.flatnonzero((one.pieces.start < end) & (one.pieces.end > start))
    return float(_lifted(one.pieces, one.inside)[own].mean()) if len(own) else 0.0


def _runs(chosen: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    edge = np.diff(np.concatenate(([0], chosen.astype(np.int8), [0])))
    firsts, lasts = np.flatnonzero(edge == 1).tolist(), np.flatnonzero(edge == -1).tolist()
    return list(zip(firsts, lasts, strict=True))


def _lifted(pieces: Pieces, inside: F32) -> F32:
    """Give pieces that share a character (a byte-level vocabulary cuts them) the highest of theirs.

    A character is marked whole or not at all.
    """
    shared = pieces.start[1:] < np.maximum.accumulate(pieces.end)[:-1]
    if not shared.any():
        return inside
    group = np.concatenate(([0], np.cumsum(~shared)))
    highest = np.zeros(int(group[-1]) + 1, np.float32)
    np.maximum.at(highest, group, inside)
    return highest[group]
