"""Tests that the error rate of accepted decisions is below a limit, and the notes they need."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, I64, Bools
from rubricate.errors import Fault, InputError, at_least, inside_unit, one_of, raise_if_any
from rubricate.evaluation.pairing import Pairing
from rubricate.run.results import certainty, kept_digits
from rubricate.stats.sizes import smallest_size

#: The boldest bet, as a share of the one that could lose everything.
_BOLDEST = 0.95
_STEPS = 30


def binomial_p_value(errors: npt.ArrayLike, accepted: npt.ArrayLike, limit: float) -> F64:
    """Return the p-value of "the error rate is above the limit" for independent items.

    P(X <= errors) for X binomial(accepted, limit): the test whose inversion is the upper limit of
    Clopper & Pearson (1934). With nothing accepted it is 1.

    >>> binomial_p_value([0, 1], [149, 149], 0.02).round(3).tolist()
    [0.049, 0.199]
    """
    from scipy.stats import binom

    wrong, kept = (np.asarray(counts, dtype=np.float64) for counts in (errors, accepted))
    p_value: F64 = np.asarray(binom.cdf(wrong, kept, limit), dtype=np.float64)
    return p_value


def betting_p_value(
    errors: npt.ArrayLike, accepted: npt.ArrayLike, limit: float, most: npt.ArrayLike
) -> F64:
    r"""Return the p-value of "the error rate is above the limit" for notes with several items.

    Items of one note may depend on each other in any way; notes are independent. With E errors
    among A accepted of at most ``most`` items of a note, the error rate of accepted items is above
    the limit :math:`\alpha` iff the mean of L = (E + alpha (most - A)) / most, which lies between
    0 and 1, is above alpha. That is tested by betting: the capital :math:`\prod_t (1 + \nu_t
    (\alpha - L_t))`, where the bet nu_t depends only on earlier notes, has a mean of at most 1
    if the mean of L is at least alpha, so one over its maximum is a p-value (Ville's inequality;
    Waudby-Smith & Ramdas 2023, "Estimating means of bounded random variables by betting",
    JRSS B). The bets maximise the growth expected from the mean and variance so far.

    >>> none = np.zeros((1, 160))
    >>> bool(betting_p_value(none, none + 10, 0.02, 10)[0] < 0.05)
    True
    >>> float(betting_p_value(none, none, 0.02, 10)[0])
    1.0
    """
    wrong = np.atleast_2d(np.asarray(errors, dtype=np.float64))
    kept = np.atleast_2d(np.asarray(accepted, dtype=np.float64))
    whole = np.asarray(most, dtype=np.float64).reshape(-1, 1)
    loss = (wrong + limit * (whole - kept)) / whole
    n_notes = loss.shape[1]
    # One made-up note at the limit stands for what is believed before the first.
    seen = np.arange(1, n_notes + 1, dtype=np.float64)
    before = np.zeros((len(loss), 1))
    mean = (limit + np.hstack([before, np.cumsum(loss, axis=1)[:, :-1]])) / seen
    squares = np.hstack([before, np.cumsum((loss - mean) ** 2, axis=1)[:, :-1]])
    variance = (limit * (1 - limit) / whole + squares) / seen
    gap = np.maximum(limit - mean, 0.0)
    # Before anything is seen the gap is nothing, and so would be the first bet.
    gap[:, 0] = limit / 2
    bet = np.minimum(gap / (variance + gap**2), _BOLDEST / (1.0 - limit))
    capital = np.cumsum(np.log1p(bet * (limit - loss)), axis=1)
    best = capital.max(axis=1, initial=0.0)
    p_value: F64 = np.exp(-best)
    return p_value


def upper_limits(p_value: Callable[[float], F64], estimate: F64, confidence: float) -> F64:
    """Return the smallest limit that each test rejects, by halving; 1 where none is rejected.

    >>> found = upper_limits(lambda x: binomial_p_value([0], [149], x), np.array([0.0]), 0.95)
    >>> round(float(found[0]), 3)
    0.02
    """
    found = []
    for i, start in enumerate(np.nan_to_num(estimate, nan=0.0)):
        low, high = float(start), 1.0
        for _ in range(_STEPS):
            middle = (low + high) / 2
            if 0.0 < middle < 1.0 and p_value(middle)[i] <= 1.0 - confidence:
                high = middle
            else:
                low = middle
        found.append(high)
    return np.array(found)


@dataclass(frozen=True, eq=False, slots=True)
class JudgedItems:
    """Decisions beside a reference: one entry per note and feature."""

    note: I64
    feature: I64
    found: Bools
    wrong: Bools
    certainty: F64
    note_ids: Sequence[str]
    feature_ids: Sequence[str]
    most: int

    def take(self, keep: Bools) -> JudgedItems:
        """Return the items under a mask."""
        return replace(
            self,
            note=self.note[keep],
            feature=self.feature[keep],
            found=self.found[keep],
            wrong=self.wrong[keep],
            certainty=self.certainty[keep],
        )


def judged_items(pairing: Pairing) -> JudgedItems:
    """Return the decisions of a pairing: right where presence is what the reference says."""
    present = np.diff(pairing.reference.rows.first_annotation)[pairing.reference_row] > 0
    rows, own = pairing.predicted.rows, pairing.predicted_row
    found = np.diff(rows.first_annotation)[own] > 0
    confidence, probability = np.full(len(own), np.nan), np.full(len(own), np.nan)
    if rows.confidence is not None:
        best = np.full(len(rows), -np.inf)
        np.maximum.at(best, rows.annotation_row, np.nan_to_num(rows.confidence, nan=-np.inf))
        confidence = np.where(np.isfinite(best[own]), best[own], np.nan)
    if rows.probability is not None:
        probability = rows.probability[own].astype(np.float64)
    # To the digits that a run keeps, so that a run decides alike.
    sure = [
        certainty(is_found, kept_digits(p), kept_digits(c))
        for is_found, p, c in zip(
            found.tolist(), probability.tolist(), confidence.tolist(), strict=True
        )
    ]
    return JudgedItems(
        note=pairing.keys.note.astype(np.int64),
        feature=pairing.keys.feature.astype(np.int64),
        found=found,
        wrong=found != present,
        certainty=np.array(sure, dtype=np.float64),
        note_ids=[note.id for note in pairing.reference.notes],
        feature_ids=[feature.id for feature in pairing.reference.features],
        most=max(len(rubric) for rubric in pairing.reference.rubrics),
    )


def ranks_in_notes(items: JudgedItems, risk: F64) -> I64:
    """Return for each item its rank in its note: the number of items with more certainty.

    >>> note, feature, no = np.array([0, 0, 1]), np.array([0, 1, 0]), np.zeros(3, dtype=bool)
    >>> items = JudgedItems(note, feature, no, no, np.ones(3), ["m", "n"], ["f", "g"], 2)
    >>> ranks_in_notes(items, np.array([0.2, 0.1, 0.3])).tolist()
    [1, 0, 0]
    """
    order = np.lexsort((items.feature, risk, items.note))
    note = items.note[order]
    first = np.searchsorted(note, note)
    ranks = np.empty(len(note), dtype=np.int64)
    ranks[order] = np.arange(len(note)) - first
    return ranks


#: Simulated routings.
STUDIES = 200
#: Beyond this many testing notes a policy is called out of reach.
MOST = 20_000
#: Notes drawn at a time.
_PART = 256


@dataclass(frozen=True, slots=True)
class RouteExpected:
    """Error limit of a rule, and the expected errors of the items that would skip review.

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
