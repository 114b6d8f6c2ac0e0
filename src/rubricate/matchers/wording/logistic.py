"""Logistic regression with numpy: one outcome with dense columns, or many with sparse ones.

The loss is the penalised negative log likelihood (Hosmer & Lemeshow 2000, Applied Logistic
Regression, ch. 1; ridge penalty: le Cessie & van Houwelingen 1992, Applied Statistics 41:191-201),
minimised with L-BFGS (Liu & Nocedal 1989, Mathematical Programming 45:503-528). A small layer on
top of the weighed evidence learns what kinds of evidence say together. Held-out notes give the cuts
above which logits count, and the probabilities they stand for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F32, F64, I64, Bools
from rubricate.matchers.model_files import finite
from rubricate.stats.calibration import sigmoid


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread only.

    With short vectors a second thread mostly waits, and takes a whole core for it: learning took
    four times as much processor time, matching twice as much.

    >>> with one_blas_thread():
    ...     pass
    """
    with _numpys_blas().limit(limits=1):
        yield


@cache
def _numpys_blas() -> Any:
    """Return numpy's BLAS, looked for once: finding it takes longer than reading a short note."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def fit_one(
    columns: npt.NDArray[Any],
    outcome: npt.NDArray[Any],
    weight: npt.NDArray[Any],
    *,
    penalty: float,
) -> F64:
    """Return the weights of the columns for one outcome; rows count as often as ``weight`` says.

    >>> x = np.array([[1.0, 0], [1, 1], [1, 0], [1, 1]])
    >>> fit_one(x, np.array([0, 1, 0, 1]), np.ones(4), penalty=0.1).round(1).tolist()
    [-1.3, 3.0]
    """
    wanted = outcome.astype(np.float64)

    def loss(weights: F64) -> tuple[float, F64]:
        logit = columns @ weights
        off = weight * (sigmoid(logit) - wanted)
        value = (weight * (np.logaddexp(0, logit) - wanted * logit)).sum()
        return float(value + penalty / 2 * (weights**2).sum()), columns.T @ off + penalty * weights

    return _least(loss, columns.shape[1], {"maxiter": 200})


def fit_many(
    columns: Any,
    outcomes: npt.NDArray[Any],
    offset: npt.NDArray[Any],
    *,
    penalty: float,
    judged: Bools | None = None,
) -> F32:
    """Return weights (columns, outcomes) for a sparse matrix, added to logits already known.

    Rows count for an outcome only where ``judged`` is true; everywhere when it is not given.

    >>> from scipy.sparse import csr_matrix
    >>> x = csr_matrix(np.eye(2))
    >>> weights = fit_many(x, np.array([[1], [0]]), np.zeros((2, 1)), penalty=1.0)
    >>> [round(float(weight), 1) for weight in weights[:, 0]]
    [0.4, -0.4]
    """
    n, f = columns.shape[1], outcomes.shape[1]
    wanted = outcomes.astype(np.float64)
    transposed = columns.T.tocsr()
    counted = np.ones_like(wanted) if judged is None else judged.astype(np.float64)

    def loss(flat: F64) -> tuple[float, F64]:
        weights = flat.reshape(n, f)
        logit = columns @ weights + offset
        value = (counted * (np.logaddexp(0, logit) - wanted * logit)).sum()
        slope = transposed @ (counted * (sigmoid(logit) - wanted))
        return float(value + penalty / 2 * (flat**2).sum()), slope.ravel() + penalty * flat

    return _least(loss, n * f, {"maxiter": 50, "maxcor": 5}).astype(np.float32).reshape(n, f)


def _least(loss: Callable[[F64], tuple[float, F64]], size: int, options: Any) -> F64:
    """Return the weights of least loss, starting from zero."""
    from scipy.optimize import minimize
    from threadpoolctl import threadpool_limits

    # Scipy brings a BLAS of its own.
    with threadpool_limits(1, user_api="blas"):
        found = minimize(loss, np.zeros(size), jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x, dtype=np.float64)


#: Units, passes over the data, rows per step, and the first step's size, which falls to nothing.
N_UNITS = 64
N_ROUNDS = 50
ROWS_PER_STEP = 4096
STEP_SIZE = 4e-3
#: How much large weights cost.
PENALTY = 2e-6
_MOMENTUM, _SCALE = 0.9, 0.999


def product(rows: F32, weights: F32) -> F32:
    """Return the product of each row, whatever rows come with it.

    The order of BLAS's sums depends on the number of rows; rounded from double precision it is
    gone. So a note is judged alike alone and among others, on every processor.
    """
    return (rows.astype(np.float64) @ weights.astype(np.float64)).astype(np.float32)


class HiddenLayer(NamedTuple):
    """Weights into the units, what is added there, and weights out of them."""

    into: F32
    shift: F32
    out: F32

    def __call__(self, columns: F32) -> F32:
        """Return the layer's contribution to the logits of some rows of evidence."""
        units = np.maximum(product(columns, self.into) + self.shift, 0)
        return product(units, self.out)

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
        # Of one number alone, for which an array takes ten times as long.
        return 1 / (1 + math.exp(-min(max(self.slope * logit + self.shift, -60.0), 60.0)))


@dataclass(frozen=True, slots=True)
class Decision:
    """Mapping from logits to decisions: the cut, and the probabilities they stand for."""

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
    """Fit the map from logits to probabilities (Platt 1999, Advances in Large Margin Classifiers).

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
