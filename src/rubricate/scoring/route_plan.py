"""How many judged notes a review policy needs before it can let anything pass unseen."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from rubricate.errors import Fault, InputError
from rubricate.scoring.risk_bounds import F64, betting_p_value, binomial_p_value
from rubricate.stats.checks import at_least, inside_unit, one_of, raise_if_any
from rubricate.stats.drawing import smallest_size

#: Simulated routings.
STUDIES = 200
#: Beyond this many testing notes a policy is called out of reach.
MOST = 20_000
#: Notes drawn at a time.
_PART = 256


@dataclass(frozen=True, slots=True)
class RouteExpected:
    """What is promised, and what is expected of the items that would pass.

    ``error_rate`` is the share of them that is wrong, ``items`` how many of a note would pass, and
    ``correlation`` how far errors of one note go together.
    """

    max_error: float = 0.02
    confidence: float = 0.95
    error_rate: float = 0.005
    items: int = 10
    correlation: float = 0.1
    unit: Literal["note", "item"] = "note"
    tuning_share: float = 0.3
    assurance: float = 0.9

    def __post_init__(self) -> None:
        faults = [
            fault
            for name in ("max_error", "confidence", "tuning_share", "assurance")
            for fault in inside_unit(name.replace("_", "-"), getattr(self, name))
        ]
        if not 0 <= self.error_rate < self.max_error:
            faults.append(
                Fault(
                    f"error-rate is {self.error_rate}: it must be at least 0 and below max-error "
                    f"({self.max_error}), or no number of notes can show that it is"
                )
            )
        if not 0 <= self.correlation < 1:
            faults.append(Fault(f"correlation is {self.correlation}: it must be from 0 to below 1"))
        raise_if_any(
            faults + at_least("items", self.items, 1) + one_of("unit", self.unit, ("note", "item"))
        )


@dataclass(frozen=True, slots=True)
class RoutePlan:
    """Judged notes that a policy needs: those that test it, and all with those that tune it."""

    testing: int
    total: int
    expected: RouteExpected

    def to_dict(self) -> dict[str, object]:
        """Return everything, ready for JSON."""
        return {
            "method": "route",
            "testing": self.testing,
            "total": self.total,
            "expected": asdict(self.expected),
        }


def plan_route(expected: RouteExpected | None = None, *, seed: int = 0) -> RoutePlan:
    """Return the smallest number of judged notes from which a policy is likely to pass its test.

    Routings are simulated: each note has ``items`` items that would pass, wrong at ``error_rate``
    and, within a note, correlated (beta-binomial). The test is that of `rubricate route`: betting
    on notes (`betting_p_value`), or the binomial one on items. The number is the smallest at which
    it rejects "more than max_error are wrong" in the share ``assurance`` of routings; the notes
    that tune come on top.

    Examples
    --------
    >>> plan_route(RouteExpected(max_error=0.05, error_rate=0.0)).total
    89
    >>> from_errors = plan_route(RouteExpected(max_error=0.05, error_rate=0.02))
    >>> from_errors.total > 150
    True
    """
    known = expected or RouteExpected()
    rng = np.random.default_rng(seed)
    level = 1.0 - known.confidence
    drawn: list[F64] = []

    def passes(n: int) -> bool:
        while sum(part.shape[1] for part in drawn) < n:
            drawn.append(_errors(known, rng))
        errors = np.concatenate(drawn, axis=1)[:, :n]
        if known.unit == "item":
            tests = binomial_p_value(errors.sum(axis=1), n * known.items, known.max_error)
        else:
            kept = np.full_like(errors, known.items)
            tests = betting_p_value(errors, kept, known.max_error, known.items)
        return float((tests <= level).mean()) >= known.assurance

    high = 16
    while not passes(high):
        high *= 2
        if high > MOST:
            raise InputError(
                f"error-rate {known.error_rate} is too near to max-error {known.max_error}: more "
                f"than {MOST:,} notes would be needed. Allow more errors, or let fewer items pass"
            )
    testing = smallest_size(passes, 0, high, in_a_row=1)
    return RoutePlan(testing, math.ceil(testing / (1 - known.tuning_share) - 1e-9), known)


def _errors(expected: RouteExpected, rng: np.random.Generator) -> F64:
    """Draw the wrong items of some notes of each routing; without errors one routing is enough."""
    rate = expected.error_rate
    if not rate:
        return np.zeros((1, _PART))
    risk: float | F64 = rate
    if expected.correlation:
        odds = 1 / expected.correlation - 1
        risk = rng.beta(rate * odds, (1 - rate) * odds, size=(STUDIES, _PART))
    return rng.binomial(expected.items, risk, size=(STUDIES, _PART)).astype(np.float64)
