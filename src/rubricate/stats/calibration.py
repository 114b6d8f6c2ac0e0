"""Probabilities that mean what they say: temperature, Brier, ECE, reliability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, I64
from rubricate.errors import InputError

#: Probabilities are kept this far from 0 and 1 before a logit is taken.
TINY = 1e-6


@dataclass(frozen=True, slots=True)
class Calibration:
    """A straight line in logits: calibrated = sigmoid(slope · logit(p) + shift).

    The slope is the inverse of a temperature (Guo et al. 2017, "On calibration of modern neural
    networks"); the shift makes it Platt's scaling (1999).

    >>> Calibration(slope=1.0, shift=0.0)(np.array([0.25])).round(3).tolist()
    [0.25]
    """

    slope: float = 1.0
    shift: float = 0.0

    def __call__(self, probability: npt.ArrayLike) -> F64:
        """Return the calibrated probabilities."""
        return sigmoid(self.slope * logit(probability) + self.shift)

    def to_json(self) -> dict[str, float]:
        """Return the two numbers."""
        return {"slope": self.slope, "shift": self.shift}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Calibration:
        """Read the two numbers."""
        return cls(float(value["slope"]), float(value["shift"]))


def fit_calibration(probability: npt.ArrayLike, present: npt.ArrayLike) -> Calibration:
    """Return the line that makes the observed presences most likely.

    Newton's method on the log likelihood with the weak prior N(1, 1) on the slope and N(0, 1)
    on the shift, so that a handful of rows, or rows that are all present, give finite numbers.

    >>> rng = np.random.default_rng(0)
    >>> logit = rng.normal(0, 2, 4000)
    >>> present = rng.random(4000) < 1 / (1 + np.exp(-logit))
    >>> overconfident = 1 / (1 + np.exp(-2 * logit))
    >>> round(fit_calibration(overconfident, present).slope, 1)
    0.5
    """
    x, y = logit(probability), np.asarray(present, np.float64)
    if x.shape != y.shape:
        raise InputError(f"{x.size} probabilities for {y.size} rows")
    design = np.stack([x, np.ones_like(x)], axis=1)
    prior = np.array([1.0, 0.0])
    theta = prior.copy()

    def loss(at: F64) -> float:
        z = design @ at
        return float(np.sum(np.logaddexp(0, z) - y * z) + 0.5 * np.sum((at - prior) ** 2))

    for _ in range(100):
        p = sigmoid(design @ theta)
        gradient = design.T @ (y - p) - (theta - prior)
        curvature = design.T @ (design * (p * (1 - p))[:, None]) + np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        # A full step overshoots where most probabilities are near 0 or 1.
        while loss(theta + step) > loss(theta) and float(np.abs(step).max()) > 1e-12:
            step = step / 2
        theta = theta + step
        if float(np.abs(step).max()) < 1e-9:
            break
    return Calibration(float(theta[0]), float(theta[1]))


def brier_score(present: npt.ArrayLike, probability: npt.ArrayLike) -> float:
    """Return the mean squared difference of probability and presence (Brier 1950).

    >>> brier_score([1, 0], [0.5, 0.5])
    0.25
    """
    y, p = np.asarray(present, np.float64), np.asarray(probability, np.float64)
    return float(np.mean((p - y) ** 2)) if y.size else float("nan")


def place_in_bins(probability: F64, bins: int) -> I64:
    """Return the bin of each probability, of so many of equal width; 1 falls into the last.

    >>> place_in_bins(np.array([0.0, 0.1, 0.95, 1.0]), 10).tolist()
    [0, 1, 9, 9]
    """
    return np.clip((probability * bins).astype(np.int64), 0, bins - 1)


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Rows whose probability is between two edges: how many, the mean of both sides."""

    low: float
    high: float
    n_rows: int
    probability: float
    present: float


def reliability(
    present: npt.ArrayLike, probability: npt.ArrayLike, *, bins: int = 10
) -> list[ReliabilityBin]:
    """Return the points of a reliability diagram, in bins of equal width; empty ones left out.

    >>> [(b.n_rows, b.present) for b in reliability([1, 0, 1], [0.95, 0.05, 0.92])]
    [(1, 0.0), (2, 1.0)]
    """
    y, p = np.asarray(present, np.float64), np.asarray(probability, np.float64)
    place = place_in_bins(p, bins)
    return [
        ReliabilityBin(
            b / bins, (b + 1) / bins, int(own.sum()), float(p[own].mean()), float(y[own].mean())
        )
        for b in range(bins)
        if (own := place == b).any()
    ]


@dataclass(frozen=True, slots=True)
class Reliability:
    """Probabilities beside what came true, summed up: rows, Brier score, ECE and bins.

    >>> found = Reliability.of([1, 0], [0.9, 0.2])
    >>> Reliability.from_json(found.to_json()) == found
    True
    """

    n_rows: int
    brier: float
    ece: float
    bins: tuple[ReliabilityBin, ...]

    @classmethod
    def of(cls, present: npt.ArrayLike, probability: npt.ArrayLike) -> Reliability:
        """Sum up rows."""
        return cls(
            int(np.asarray(present).size),
            brier_score(present, probability),
            expected_calibration_error(present, probability),
            tuple(reliability(present, probability)),
        )

    def to_json(self) -> dict[str, object]:
        """Return plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Reliability:
        """Read plain values."""
        bins = tuple(ReliabilityBin(**one) for one in value["bins"])
        return cls(int(value["n_rows"]), float(value["brier"]), float(value["ece"]), bins)


def expected_calibration_error(
    present: npt.ArrayLike, probability: npt.ArrayLike, *, bins: int = 10
) -> float:
    """Return the mean gap of a reliability diagram, weighted by rows.

    ECE = Σ (n_b / n) · |mean probability − share present| (Naeini et al. 2015).

    >>> expected_calibration_error([1, 1, 0, 0], [0.75, 0.75, 0.25, 0.25])
    0.25
    """
    found = reliability(present, probability, bins=bins)
    n = sum(one.n_rows for one in found)
    if not n:
        return float("nan")
    return float(sum(one.n_rows * abs(one.probability - one.present) for one in found) / n)


def chance_error(
    spread: npt.ArrayLike, spread_squared: npt.ArrayLike, total: float
) -> tuple[float, float]:
    """Return mean and standard deviation of the ECE that perfect probabilities would show.

    A bin's gap is then a sum of independent y - p with variance v = sum p (1 - p), so that its
    mean size is near sqrt(2 v / pi), and never above 2 v; gaps of all bins, over the rows. These
    are the consistency bars of Bröcker & Smith (2007), averaged.

    >>> mean, deviation = chance_error([25.0], [25.0], 100)
    >>> round(mean, 3), round(deviation, 3)
    (0.04, 0.03)
    """
    linear = np.asarray(spread, np.float64)
    squared = np.asarray(spread_squared, np.float64)
    gaps = np.minimum(np.sqrt(2 * squared / np.pi), 2 * linear)
    deviation = np.sqrt(np.sum(squared * (1 - 2 / np.pi)))
    return float(gaps.sum() / total), float(deviation / total)


def logit(probability: npt.ArrayLike) -> F64:
    """Return the logarithm of the odds, finite also for 0 and 1.

    >>> logit([0.5, 0.75]).round(3).tolist()
    [0.0, 1.099]
    """
    p = np.clip(np.asarray(probability, np.float64), TINY, 1 - TINY)
    return np.asarray(np.log(p) - np.log1p(-p))


def raised(probability: npt.ArrayLike, by: npt.ArrayLike) -> F64:
    """Return probabilities whose logits are higher ``by`` so much.

    >>> raised([0.5, 0.5], [0, np.log(3)]).round(3).tolist()
    [0.5, 0.75]
    """
    return sigmoid(logit(probability) + np.asarray(by))


def sigmoid(logits: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return the probabilities that logits stand for, in their own precision.

    >>> sigmoid([0.0, 800.0]).tolist()
    [0.5, 1.0]
    """
    return np.asarray(1 / (1 + np.exp(-np.minimum(np.maximum(logits, -60), 60))))
