"""Logistic regression with numpy: one outcome with dense columns, or many with sparse ones.

The loss is the penalised negative log likelihood (Hosmer & Lemeshow 2000, Applied Logistic
Regression, ch. 1; ridge penalty: le Cessie & van Houwelingen 1992, Applied Statistics 41:191-201),
minimised with L-BFGS (Liu & Nocedal 1989, Mathematical Programming 45:503-528).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F32, F64, Bools
from rubricate.stats.calibration import sigmoid


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread only.

    With short vectors a second thread mostly waits, and takes a whole core for it: learning took
    four times as much processor time, matching twice as much.

    >>> with one_blas_thread():
    ...     pass
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


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

    with one_blas_thread():
        found = minimize(loss, np.zeros(size), jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x, dtype=np.float64)
