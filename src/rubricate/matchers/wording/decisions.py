"""The cuts above which logits count, and the probabilities they stand for, from held-out notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, Bools
from rubricate.matchers.model_files import finite
from rubricate.matchers.wording.logistic import fit_one
from rubricate.stats.calibration import sigmoid

#: Cuts that are tried.
GRID = np.arange(-3.0, 1.51, 0.1)
#: The common cut counts as much as this many notes with the feature.
PULL = 15.0


@dataclass(frozen=True, slots=True)
class LogitScale:
    """From a logit to a probability: ``sigmoid(slope * logit + shift)`` (Platt 1999)."""

    slope: float = 1.0
    shift: float = 0.0

    def __call__(self, logit: float) -> float:
        """Return the probability.

        >>> LogitScale()(0.0)
        0.5
        """
        return float(sigmoid(self.slope * logit + self.shift))


@dataclass(frozen=True, slots=True)
class Decision:
    """How logits become decisions: where to cut, and what probabilities they stand for."""

    threshold: float = -1.0
    presence: LogitScale = field(default_factory=LogitScale)
    span: LogitScale = field(default_factory=LogitScale)

    def to_json(self) -> dict[str, float | list[float]]:
        """Return the decision as JSON values."""
        return {
            "threshold": round(self.threshold, 4),
            "presence": [round(self.presence.slope, 4), round(self.presence.shift, 4)],
            "span": [round(self.span.slope, 4), round(self.span.shift, 4)],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Decision:
        """Return a decision from JSON values."""
        presence, span = (LogitScale(*map(finite, value[k])) for k in ("presence", "span"))
        return cls(finite(value["threshold"]), presence, span)


def choose_thresholds(
    logits: npt.NDArray[Any], marked: Bools, lengths: npt.NDArray[Any], n_present: Sequence[int]
) -> tuple[float, list[float]]:
    """Return the cut with the best character F1 for all features, and one for each feature.

    A feature's own best cut is drawn towards the common one, the more the fewer notes have the
    feature: (n own + k common) / (n + k) with k = `PULL`, the usual shrinkage of a mean (Efron &
    Morris 1975, JASA 70:311-319).

    >>> logits, marked = np.array([[2.0], [0.0], [-2.0]]), np.array([[True], [False], [False]])
    >>> common, own = choose_thresholds(logits, marked, np.ones(3), [5])
    >>> bool(0 <= common < 2)
    True
    """
    f1 = np.stack([_shared_characters(logits, marked, lengths, cut) for cut in GRID])
    common = float(GRID[_f1(f1.sum(axis=1)).argmax()])
    own = []
    for j, n in enumerate(n_present):
        best = float(GRID[_smooth(_f1(f1[:, j])).argmax()]) if n else common
        own.append((n * best + PULL * common) / (n + PULL))
    return common, own


def _shared_characters(
    logits: npt.NDArray[Any], marked: Bools, lengths: npt.NDArray[Any], cut: float
) -> F64:
    """Return, for each feature, characters shared, only found, only marked."""
    found = logits > cut
    weight = lengths[:, None]
    both = (weight * (found & marked)).sum(axis=0)
    counts = [both, (weight * found).sum(axis=0) - both, (weight * marked).sum(axis=0) - both]
    return np.stack(counts, axis=1).astype(np.float64)


def _f1(counts: F64) -> F64:
    both, found, marked = counts[:, 0], counts[:, 1], counts[:, 2]
    result: F64 = 2 * both / np.maximum(2 * both + found + marked, 1e-9)
    return result


def _smooth(values: F64) -> F64:
    """Average over neighbouring cuts: with few notes a single peak may be chance."""
    padded = np.pad(values, 3, mode="edge")
    return np.convolve(padded, np.ones(7) / 7, mode="valid")


def calibrate(logits: Sequence[float], right: Sequence[bool]) -> LogitScale:
    """Return how logits become probabilities (Platt 1999, Advances in Large Margin Classifiers).

    With fewer than 20 values or only one outcome nothing can be learned, and logits are taken as
    they are.

    >>> scale = calibrate([-2.0] * 20 + [2.0] * 20, [False] * 18 + [True] * 22)
    >>> scale(2.0) > 0.8 > 0.3 > scale(-2.0)
    True
    """
    outcome = np.asarray(right, dtype=np.float64)
    if len(outcome) < 20 or outcome.min() == outcome.max():
        return LogitScale()
    columns = np.stack([np.asarray(logits, dtype=np.float64), np.ones(len(outcome))], axis=1)
    slope, shift = fit_one(columns, outcome, np.ones(len(outcome)), penalty=1.0)
    return LogitScale(float(max(slope, 0.0)), float(shift))
