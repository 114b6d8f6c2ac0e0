"""Which items a person must see: the policy, what it promises, and how it is applied."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, I64
from rubricate.errors import Fault, InputError
from rubricate.files import whole_output
from rubricate.formats.reading import read_text
from rubricate.matchers.model_files import finite
from rubricate.outputs import Kind
from rubricate.rubric import Rubric
from rubricate.run.results import Evidence
from rubricate.values import is_of, write_json

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
    names: Sequence[str], feature: I64, found: npt.ArrayLike, certainty: F64, wrong: npt.ArrayLike
) -> ErrorModel:
    """Learn from judged decisions; ``feature`` holds the place of each one's in ``names``.

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


FORMAT_VERSION = 1


def is_accepted(risk: Any, threshold: float, rank: Any = 0, most: int | None = None) -> Any:
    """Tell whether nobody must see an item: the one rule, when a threshold is chosen and after.

    ``risk`` is its estimated error, or those of many items; ``rank`` says how many accepted items
    of its note are surer, of which ``most`` go unseen. Thresholds are risks of items that were
    accepted when they were tested, so an item at the threshold is accepted.

    >>> is_accepted(0.05, 0.05), is_accepted(0.051, 0.05), is_accepted(0.01, 0.05, 2, 2)
    (True, False, False)
    """
    return (risk <= threshold) & (True if most is None else rank < most)


@dataclass(frozen=True, slots=True)
class ReviewRule:
    """A threshold, and the test it passed."""

    threshold: float | None
    confidence: float
    notes: int
    accepted: int
    errors: int
    review_share: float
    upper: float
    method: str
    most: int | None = None


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One threshold: what share goes to a person, and how wrong the rest is.

    ``upper`` is the limit at this threshold alone, at the policy's confidence: it holds for a
    threshold chosen beforehand, not for the best looking one of the curve.
    """

    threshold: float
    review_share: float
    accepted: int
    errors: int
    error_rate: float | None
    upper: float


@dataclass(frozen=True, slots=True)
class Policy:
    """Which items a person must see, chosen by `choose_policy`."""

    max_error: float
    confidence: float
    unit: str
    matcher: str
    model: ErrorModel
    rules: Mapping[str, ReviewRule]
    pooled: ReviewRule | None
    texts: Mapping[str, str]
    curve: tuple[CurvePoint, ...]
    settings: Mapping[str, Any]

    @property
    def accepted_share(self) -> float:
        """The share of the test notes' items that skip review, about."""
        every = [*self.rules.values(), *([self.pooled] if self.pooled else [])]
        tested = self.settings["items"] * (1 - self.settings["tuning_share"])
        return min(1.0, sum(rule.accepted for rule in every) / tested) if tested else 0.0

    def why_review(self, found: Mapping[str, Evidence]) -> dict[str, str]:
        """Return the review reason of each item of a note; empty for items that skip review.

        ``found`` has what was found for each feature of the note's rubric, in its order.
        """
        risks = {
            name: self.model.estimate(name, one.found, one.certainty) for name, one in found.items()
        }
        reasons = {name: self._why(name, one, risks[name]) for name, one in found.items()}
        pooled = [name for name, why in reasons.items() if not why and name not in self.rules]
        if self.pooled is not None and self.pooled.threshold is not None:
            limit, most = self.pooled.threshold, self.pooled.most
            for rank, name in enumerate(sorted(pooled, key=lambda name: risks[name] or 0.0)):
                if not is_accepted(risks[name] or 0.0, limit, rank, most):
                    reasons[name] = f"{most} items of the note are surer: no more go unseen"
        return reasons

    def _why(self, feature: str, evidence: Evidence, risk: float | None) -> str:
        rule = self.rules.get(feature, self.pooled)
        if risk is None or rule is None:
            return "the policy was chosen without this feature"
        if rule.threshold is None:
            return "no threshold keeps the promised error rate"
        if is_accepted(risk, rule.threshold):
            return ""
        kind = "found" if evidence.found else "absent"
        sure = evidence.certainty
        stated = "of unknown certainty" if sure is None else f"with certainty {sure:.2f}"
        return f"{kind} {stated}: estimated error {risk:.1%}, at most {rule.threshold:.1%} allowed"

    def check(self, rubrics: Mapping[str, Rubric], matcher: str) -> None:
        """Raise InputError when the policy is for another matcher or other wording."""
        faults = []
        if matcher != self.matcher:
            faults.append(
                Fault(f"the policy is for the matcher {self.matcher!r}, the model is {matcher!r}")
            )
        for rubric in rubrics.values():
            faults += [
                Fault(f"feature {f.id!r} has another text than when the policy was chosen")
                for f in rubric
                if self.texts.get(f.id, f.text) != f.text
            ]
        InputError.raise_any(faults)

    def to_dict(self) -> dict[str, object]:
        """Return plain values."""
        return {
            "policy": FORMAT_VERSION,
            "max_error": self.max_error,
            "confidence": self.confidence,
            "unit": self.unit,
            "matcher": self.matcher,
            "settings": dict(self.settings),
            "pooled": None if self.pooled is None else asdict(self.pooled),
            "rules": {name: asdict(rule) for name, rule in self.rules.items()},
            "curve": [asdict(point) for point in self.curve],
            "model": self.model.to_dict(),
            "texts": dict(self.texts),
        }


def write_policy(policy: Policy, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a policy as JSON, whole or not at all."""
    with whole_output(Path(path), overwrite=overwrite, kind=POLICY) as place:
        write_json(place, policy.to_dict())


def read_policy(path: str | Path) -> Policy:
    """Read a policy written by `write_policy`."""
    place = Path(path)
    try:
        value = json.loads(read_text(place))
        if value["policy"] != FORMAT_VERSION:
            fault = Fault(f"version {value['policy']!r}; this one reads {FORMAT_VERSION}", place)
            raise InputError([fault])
        return Policy(
            finite(value["max_error"]),
            finite(value["confidence"]),
            str(value["unit"]),
            str(value["matcher"]),
            ErrorModel.from_dict(value["model"]),
            {str(name): _made(ReviewRule, rule) for name, rule in value["rules"].items()},
            None if value["pooled"] is None else _made(ReviewRule, value["pooled"]),
            dict(value["texts"]),
            tuple(_made(CurvePoint, point) for point in value["curve"]),
            dict(value["settings"]),
        )
    except InputError:
        raise
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise InputError([Fault("not a policy written by `rubricate route`", place)]) from None


T = TypeVar("T")


def _policy_fault(path: Path) -> str:
    read_policy(path)
    return ""


POLICY = Kind("a policy", _policy_fault)


def _made(kind: type[T], value: Mapping[str, Any]) -> T:
    """Return a value of a dataclass; TypeError or KeyError where a field is of another kind."""
    kinds = get_type_hints(kind)
    if not all(is_of(one, kinds[name]) for name, one in value.items()):
        raise TypeError
    return kind(**value)
