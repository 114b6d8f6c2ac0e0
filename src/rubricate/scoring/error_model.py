"""How likely a decision is wrong, learned from decisions a reference judged; orders items only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rubricate.matchers.model_files import finite

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

#: Certainties are moved this far from 0 and 1.
_EDGE = 1e-4
#: How many items the shared estimate weighs beside a feature's own.
_SHARED_WEIGHT = 20.0
_RIDGE = 1.0
_STEPS = 50
_HALVES = [0.5**k for k in range(20)]


@dataclass(frozen=True, slots=True)
class ErrorCurve:
    """Log odds of an error as a line in the log odds of certainty; never rising."""

    intercept: float
    slope: float

    def errors(self, certainty: F64) -> F64:
        """Return the probability of an error at each certainty; NaN counts as none known."""
        known = _log_odds(certainty)
        return _inverse(self.intercept + self.slope * known)


@dataclass(frozen=True, slots=True)
class ErrorModel:
    """Estimates how likely decisions are wrong.

    Found and absent decisions have a curve each, so that a matcher which gives no probability for
    absences is judged there by how often it was wrong. Each feature's own rate of errors, of each
    kind, is drawn towards the curve with the weight of twenty items. Nothing rests on these
    estimates but the order in which items are sent to a person.
    """

    found: ErrorCurve
    absent: ErrorCurve
    features: Mapping[str, tuple[float, float, float, float]]

    def estimate(self, feature: str, found: bool, certainty: float | None) -> float | None:
        """Return the probability of an error; None for a feature nothing is known of."""
        if feature not in self.features:
            return None
        value = np.array([np.nan if certainty is None else certainty])
        return float(self.estimates([feature], np.zeros(1, np.int64), [found], value)[0])

    def estimates(
        self, names: Sequence[str], feature: I64, found: npt.ArrayLike, certainty: F64
    ) -> F64:
        """Return the probabilities of many decisions; infinity for features nothing is known of.

        ``feature`` holds for each decision the place of its feature in ``names``.
        """
        is_found = np.asarray(found, dtype=bool)
        shared = np.where(is_found, self.found.errors(certainty), self.absent.errors(certainty))
        unknown = (np.nan,) * 4
        counts = np.array([self.features.get(f, unknown) for f in names]).reshape(-1, 4)[feature]
        errors = np.where(is_found, counts[:, 0], counts[:, 2])
        items = np.where(is_found, counts[:, 1], counts[:, 3])
        risk = (errors + _SHARED_WEIGHT * shared) / (items + _SHARED_WEIGHT)
        # Equal decisions must be equal to the last bit, which vector arithmetic does not promise.
        return np.nan_to_num(risk.round(9), nan=np.inf)

    def to_dict(self) -> dict[str, object]:
        """Return plain values."""
        return {
            "found": [self.found.intercept, self.found.slope],
            "absent": [self.absent.intercept, self.absent.slope],
            "features": {name: list(counts) for name, counts in self.features.items()},
        }

    @staticmethod
    def from_dict(value: Mapping[str, Any]) -> ErrorModel:
        """Inverse of `to_dict`."""
        features = {}
        for name, counts in value["features"].items():
            a, b, c, d = (finite(count) for count in counts)
            features[str(name)] = (a, b, c, d)
        found, absent = (ErrorCurve(*map(finite, value[name])) for name in ("found", "absent"))
        return ErrorModel(found, absent, features)


def fit_error_model(
    names: Sequence[str],
    feature: I64,
    found: npt.ArrayLike,
    certainty: F64,
    wrong: npt.ArrayLike,
) -> ErrorModel:
    """Learn from judged decisions; ``feature`` holds the place of each one's in ``names``.

    Examples
    --------
    >>> sure = np.array([0.9] * 50 + [0.6] * 50)
    >>> wrong = np.arange(100) >= 80
    >>> model = fit_error_model(["f"], np.zeros(100, int), np.ones(100, bool), sure, wrong)
    >>> model.estimate("f", True, 0.6) > model.estimate("f", True, 0.9)
    True
    """
    is_found, is_wrong = np.asarray(found, dtype=bool), np.asarray(wrong, dtype=bool)
    curves = [
        _fit_curve(certainty[kind], is_wrong[kind].astype(np.float64))
        for kind in (is_found, ~is_found)
    ]
    columns = [
        np.bincount(feature[kind], weights=weights, minlength=len(names))
        for kind in (is_found, ~is_found)
        for weights in (is_wrong[kind].astype(np.float64), None)
    ]
    counts = {
        name: (float(a), float(b), float(c), float(d))
        for name, a, b, c, d in zip(names, *columns, strict=True)
        if b + d
    }
    return ErrorModel(curves[0], curves[1], counts)


def _fit_curve(certainty: F64, wrong: F64) -> ErrorCurve:
    """Fit a logistic curve with a slight pull towards a flat one, by Newton's method."""
    x = np.column_stack([np.ones(len(wrong)), _log_odds(certainty)])
    beta = np.array([np.log((wrong.sum() + 0.5) / (len(wrong) - wrong.sum() + 0.5)), 0.0])
    pull = np.array([[1e-3, 0.0], [0.0, _RIDGE]])

    def badness(at: F64) -> float:
        odds = x @ at
        return float(np.sum(np.logaddexp(0.0, odds) - wrong * odds) + at @ pull @ at / 2)

    for _ in range(_STEPS):
        p = _inverse(x @ beta)
        gradient = x.T @ (wrong - p) - pull @ beta
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + pull, gradient)
        # Far from the best a whole step may overshoot.
        share = next((h for h in _HALVES if badness(beta + h * step) < badness(beta)), 0.0)
        beta = beta + share * step
        if float(np.abs(share * step).max()) < 1e-8:
            break
    return ErrorCurve(float(beta[0]), min(float(beta[1]), 0.0))


def _log_odds(certainty: F64) -> F64:
    known = np.clip(np.nan_to_num(certainty, nan=0.5), _EDGE, 1 - _EDGE)
    result: F64 = np.log(known / (1 - known))
    return result


def _inverse(x: F64) -> F64:
    result: F64 = 1.0 / (1.0 + np.exp(-np.clip(x, -30.0, 30.0)))
    return result
