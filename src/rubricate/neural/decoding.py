"""From probabilities of pieces to annotations with exact characters."""

from __future__ import annotations

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
    chosen = inside >= inside_limit(float(inside.max()), presence, at)
    edge = np.diff(np.concatenate(([0], chosen.astype(np.int8), [0])))
    return [
        Decoded(int(pieces.start[a]), int(pieces.end[b - 1]), float(inside[a:b].mean()))
        for a, b in zip(np.flatnonzero(edge == 1), np.flatnonzero(edge == -1), strict=True)
    ]
