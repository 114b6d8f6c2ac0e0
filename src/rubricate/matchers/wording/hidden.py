"""A small layer on top of the weighed evidence: what kinds of evidence say together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F32, I64
from rubricate.stats.calibration import sigmoid

#: Units, passes over the data, rows per step, and the first step's size, which falls to nothing.
N_UNITS = 64
N_ROUNDS = 50
ROWS_PER_STEP = 4096
STEP_SIZE = 4e-3
#: How much large weights cost.
PENALTY = 2e-6
_MOMENTUM, _SCALE = 0.9, 0.999


class HiddenLayer(NamedTuple):
    """Weights into the units, what is added there, and weights out of them."""

    into: F32
    shift: F32
    out: F32

    def __call__(self, columns: F32) -> F32:
        """Return what the layer adds to the logits of some rows of evidence."""
        added: F32 = np.maximum(columns @ self.into + self.shift, 0) @ self.out
        return added

    def to_json(self) -> dict[str, object]:
        """Return the layer as JSON values."""
        return {name: np.round(value, 4).tolist() for name, value in self._asdict().items()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> HiddenLayer:
        """Return a layer from JSON values (KeyError or ValueError when wrong)."""
        into, shift, out = (np.array(value[k], dtype=np.float32) for k in cls._fields)
        fits = into.shape == (len(into), len(shift)) and shift.shape == out.shape
        if not fits or not all(np.isfinite(part).all() for part in (into, shift, out)):
            raise ValueError("sizes of the layer do not fit together")
        return cls(into, shift, out)


def fit_hidden(
    columns: F32,
    outcome: npt.NDArray[Any],
    weight: npt.NDArray[Any],
    linear: npt.NDArray[Any],
    *,
    seed: int,
) -> tuple[F32, HiddenLayer]:
    """Learn the layer together with the linear weights, from those given on.

    Logistic loss by Adam (Kingma & Ba 2015, ICLR), step sizes falling in a straight line.
    """
    rng = np.random.default_rng(seed)
    n, width = columns.shape
    values = [
        linear.astype(np.float32),
        (rng.standard_normal((width, N_UNITS)) / np.sqrt(width)).astype(np.float32),
        np.zeros(N_UNITS, dtype=np.float32),
        np.zeros(N_UNITS, dtype=np.float32),
    ]
    first = [np.zeros_like(one) for one in values]
    second = [np.zeros_like(one) for one in values]
    scale = np.float32(1 / weight.mean())
    n_steps = N_ROUNDS * (-(-n // ROWS_PER_STEP))
    for step, rows in enumerate(_batches(rng, n), start=1):
        x, y, w = columns[rows], outcome[rows].astype(np.float32), weight[rows].astype(np.float32)
        for i, gradient in enumerate(_gradients(values, x, y, w * scale)):
            first[i] += (1 - _MOMENTUM) * (gradient - first[i])
            second[i] += (1 - _SCALE) * (gradient**2 - second[i])
            mean = first[i] / (1 - _MOMENTUM**step)
            spread = np.sqrt(second[i] / (1 - _SCALE**step)) + 1e-8
            size = STEP_SIZE * (1 - (step - 1) / n_steps)
            values[i] -= (size * mean / spread).astype(np.float32)
    return values[0], HiddenLayer(values[1], values[2], values[3])


def _batches(rng: np.random.Generator, n: int) -> Iterator[I64]:
    for _ in range(N_ROUNDS):
        order = rng.permutation(n)
        for begin in range(0, n, ROWS_PER_STEP):
            yield order[begin : begin + ROWS_PER_STEP]


def _gradients(values: list[F32], x: F32, y: F32, w: F32) -> list[F32]:
    linear, into, shift, out = values
    units = np.maximum(x @ into + shift, 0)
    logits = x @ linear + units @ out
    error = w * (sigmoid(logits) - y) / len(x)
    back = np.where(units > 0, error[:, None] * out, 0)
    return [
        x.T @ error + PENALTY * linear,
        x.T @ back + PENALTY * into,
        back.sum(axis=0),
        units.T @ error + PENALTY * out,
    ]
