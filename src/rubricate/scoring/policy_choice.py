"""Choosing a review policy from judged notes, so that what it promises holds."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, I64
from rubricate.corpus import Corpus
from rubricate.errors import Advice, InputError, Setting, inside_unit, one_of, raise_if_any
from rubricate.evaluation.pairing import pair_rows
from rubricate.progress import Progress, silent, watched
from rubricate.scoring.policy import (
    CurvePoint,
    ErrorModel,
    Policy,
    ReviewRule,
    fit_error_model,
    is_accepted,
)
from rubricate.scoring.risk_bounds import (
    JudgedItems,
    betting_p_value,
    binomial_p_value,
    judged_items,
    ranks_in_notes,
    upper_limits,
)

#: Thresholds tried, at most.
_MOST_THRESHOLDS = 60
#: A feature gets a rule of its own with this many times the notes that a faultless one needs.
_MARGIN = 1.5
#: Below this p value errors are taken to go together in notes.
_CLUSTERED = 0.1
#: Parts of the tuning notes; each is looked at with a model of the others.
_PARTS = 5
#: Of this share of the tuning notes no accepted item is left out by the most that a note may have.
_WHOLE_NOTES = 0.9


@dataclass(frozen=True, slots=True)
class RouteSettings:
    """Error limit and confidence of a review policy, and settings of its test."""

    max_error: float = 0.02
    confidence: float = 0.95
    unit: Literal["note", "item"] = "note"
    tuning_share: float = 0.3
    per_feature: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        raise_if_any(
            inside_unit("max_error", self.max_error)
            + inside_unit("confidence", self.confidence)
            + inside_unit("tuning_share", self.tuning_share)
            + one_of("unit", self.unit, ("note", "item"))
        )


def choose_policy(
    reference: Corpus,
    predicted: Corpus,
    *,
    reference_annotator: str | None = None,
    predicted_annotator: str | None = None,
    settings: RouteSettings | None = None,
    progress: Progress = silent,
) -> Policy:
    """Choose which items a person must see, from notes that a reference judged.

    The predictions must come from a matcher that has not learned from these notes. An item is
    wrong where presence differs from the reference's. See `choose_rules` for the method.
    """
    chosen = settings or RouteSettings()
    pairing = pair_rows(
        reference,
        predicted,
        reference_annotator=reference_annotator,
        predicted_annotator=predicted_annotator,
        missing="skip",
    )
    if not len(pairing):
        raise InputError("the two have no judged note and feature in common")
    items = judged_items(pairing)
    model, rules, pooled = choose_rules(items, chosen, progress=progress)
    curve = review_curve(items, model, chosen, progress=progress)
    texts = {f.id: f.text for f in reference.features if f.id in model.features}
    return Policy(
        chosen.max_error,
        chosen.confidence,
        chosen.unit,
        pairing.predicted_annotator,
        model,
        rules,
        pooled,
        texts,
        curve,
        {
            "seed": chosen.seed,
            "tuning_share": chosen.tuning_share,
            "notes": len(np.unique(items.note)),
            "items": len(items.note),
            "errors": int(items.wrong.sum()),
        },
    )


def choose_rules(
    items: JudgedItems, settings: RouteSettings, *, progress: Progress = silent
) -> tuple[ErrorModel, dict[str, ReviewRule], ReviewRule | None]:
    """Choose thresholds whose promise holds, whatever the matcher's certainties are worth.

    Notes are divided at random. From the first part an `ErrorModel` is learned, thresholds are
    taken from its estimates, and for each rule the threshold that is safest there is the start.
    On the second part the hypothesis "more than ``max_error`` of the accepted items are wrong" is
    tested at the start and then at ever larger thresholds until one is not rejected; the last
    rejected one is chosen. The order of tests is fixed before the second part is looked at, so the
    chance that any wrong hypothesis is rejected stays below one minus the confidence (fixed
    sequence testing; Angelopoulos, Bates, Candès, Jordan & Lei 2021, "Learn then Test"; selective
    classification with a guaranteed risk: Geifman & El-Yaniv 2017). The confidence is divided
    between the rules, so that all hold together, and with them the whole. A feature of its own
    has one item per note: the exact binomial test. Pooled features are tested by `betting_p_value`
    on notes, or with ``unit="item"`` by the binomial test. What a note can lose at most decides how
    many notes that test needs, so no more items of one note are accepted than nine of ten tuning
    notes have at the threshold; of more the surest are.

    The promise is for notes drawn like these, in the same mix of cases. With ``unit="item"`` it
    also assumes that errors do not go together in notes. That is tested on these notes
    (`clustering_p_value`), and refused where they do (p below .1). The test cannot prove that they
    do not: by note nothing is assumed.
    """
    if settings.unit == "item":
        p_value = clustering_p_value(items, seed=settings.seed)
        if p_value < _CLUSTERED:
            raise InputError(
                f"errors go together in notes (p {p_value:.3f}): unit item assumes that they do "
                "not, and its promise would break too often.",
                advice=Advice("Use {}", (Setting("unit", "note"),)),
            )
    (tuning, tuned), (testing, tested) = _divided(items, settings)
    model = _fitted(tuning)
    sides = (
        _Side(tuning, _held_out_risks(tuning, tuned), tuned),
        _Side(testing, _risks(model, testing), tested),
    )
    own = _own_features(testing, settings)
    known = set(model.features)
    rest = [f for f in items.feature_ids if f not in own and f in known]
    n_rules = len(own) + bool(rest)
    confidence = 1.0 - (1.0 - settings.confidence) / max(n_rules, 1)
    single = replace(settings, unit="item", confidence=confidence)
    alone = [name for name in own if name in known]
    rules = {
        name: _rule(sides, {name}, single)
        for name in watched(alone, progress, "choosing thresholds", len(alone))
    }
    pooled = None
    if rest:
        pooled = _rule(sides, set(rest), replace(settings, confidence=confidence))
    return model, rules, pooled


def clustering_p_value(items: JudgedItems, *, permutations: int = 199, seed: int = 0) -> float:
    """Test whether errors go together in notes.

    The number of pairs of errors in a note, sum of e (e - 1) / 2, is compared with that of errors
    moved at random among the notes of the same feature, so that hard features are no reason:
    p = (1 + b) / (1 + m), b of m as large (Phipson & Smyth 2010).

    >>> from rubricate.scoring.risk_bounds import JudgedItems
    >>> note, feature = np.repeat(np.arange(40), 5), np.tile(np.arange(5), 40)
    >>> found, sure = np.ones(200, dtype=bool), np.ones(200)
    >>> ids = [f"n{i}" for i in range(40)], [f"f{i}" for i in range(5)]
    >>> together = JudgedItems(note, feature, found, note < 4, sure, *ids, 5)
    >>> clustering_p_value(together)
    0.005
    """
    order = np.argsort(items.feature, kind="stable")
    note, wrong, feature = items.note[order], items.wrong[order], items.feature[order]
    blocks = np.split(wrong, np.flatnonzero(np.diff(feature)) + 1)
    rng = np.random.default_rng(seed)

    def pairs(errors: npt.NDArray[np.bool_]) -> int:
        n = np.bincount(note[errors])
        return int((n * (n - 1)).sum())

    observed = pairs(wrong)
    as_large = sum(
        pairs(np.concatenate([rng.permutation(block) for block in blocks])) >= observed
        for _ in range(permutations)
    )
    return (1 + as_large) / (1 + permutations)


def _divided(
    items: JudgedItems, settings: RouteSettings
) -> tuple[tuple[JudgedItems, I64], tuple[JudgedItems, I64]]:
    """Return the items for tuning and for testing, with their notes in the order of the tests."""
    order = _order(items, settings.seed)
    n_tuning = math.ceil(settings.tuning_share * len(order))
    in_tuning = np.zeros(len(items.note_ids), dtype=bool)
    in_tuning[order[:n_tuning]] = True
    chosen = in_tuning[items.note]
    return (items.take(chosen), order[:n_tuning]), (items.take(~chosen), order[n_tuning:])


def _order(items: JudgedItems, seed: int) -> I64:
    """Return the judged notes in an order that depends on the seed and their ids alone."""
    numbers = np.unique(items.note)
    keys = [
        hashlib.blake2b(f"{seed}\0{items.note_ids[i]}".encode(), digest_size=8).digest()
        for i in numbers
    ]
    return numbers[sorted(range(len(numbers)), key=lambda k: (keys[k], k))]


def _fitted(items: JudgedItems) -> ErrorModel:
    return fit_error_model(
        items.feature_ids, items.feature, items.found, items.certainty, items.wrong
    )


def _held_out_risks(items: JudgedItems, order: I64) -> F64:
    """Return estimated errors from models that have not seen the note.

    With estimates of its own items a model looks better than it is, and the tests would start
    where they cannot pass.
    """
    part = np.zeros(len(items.note_ids), dtype=np.int64)
    part[order] = np.arange(len(order)) % _PARTS
    own = part[items.note]
    risk = np.full(len(own), np.inf)
    for k in range(_PARTS):
        here = own == k
        if here.any() and not here.all():
            risk[here] = _risks(_fitted(items.take(~here)), items.take(here))
    return risk


def _risks(model: ErrorModel, items: JudgedItems) -> F64:
    """Return each item's estimated error; infinite (always reviewed) for unknown features."""
    return model.estimates(items.feature_ids, items.feature, items.found, items.certainty)


def _own_features(testing: JudgedItems, settings: RouteSettings) -> list[str]:
    """Return the features with enough notes for a rule of their own, by their number alone."""
    if not settings.per_feature:
        return []
    counts = np.bincount(testing.feature, minlength=len(testing.feature_ids))
    chosen = len(counts)
    while chosen:
        level = (1.0 - settings.confidence) / (chosen + 1)
        needed = _MARGIN * math.log(level) / math.log1p(-settings.max_error)
        enough = counts >= needed
        if int(enough.sum()) >= chosen:
            return [testing.feature_ids[i] for i in np.flatnonzero(enough).tolist()]
        chosen = int(enough.sum())
    return []


def _thresholds(risk: F64) -> F64:
    """Return thresholds that cut the items into parts of equal size, ascending."""
    known = np.sort(risk[np.isfinite(risk)])
    if not len(known):
        return np.zeros(0)
    at = np.linspace(0, len(known) - 1, min(_MOST_THRESHOLDS, len(known))).astype(int)
    return np.unique(known[at])


@dataclass(frozen=True, eq=False, slots=True)
class _Side:
    """JudgedItems with their estimated errors, and their notes in the order of the tests."""

    items: JudgedItems
    risk: F64
    order: I64

    def only(self, features: set[str]) -> _Side:
        """Return the items of these features."""
        wanted = np.array([name in features for name in self.items.feature_ids], dtype=bool)
        keep = wanted[self.items.feature]
        return _Side(self.items.take(keep), self.risk[keep], self.order)


@dataclass(frozen=True, eq=False, slots=True)
class _Counts:
    """Errors and accepted items, by threshold and note; columns in the order of the tests.

    ``most`` items of a note are accepted at each threshold.
    """

    errors: F64
    accepted: F64
    most: I64

    @staticmethod
    def of(side: _Side, thresholds: F64, most: I64) -> _Counts:
        items, risk, order = side.items, side.risk, side.order
        place = np.full(len(items.note_ids), -1)
        place[order] = np.arange(len(order))
        shape = (len(thresholds), len(order))
        errors, accepted = np.zeros(shape), np.zeros(shape)
        column, ranks = place[items.note], ranks_in_notes(items, risk)
        for i, threshold in enumerate(thresholds):
            kept = is_accepted(risk, threshold, ranks, int(most[i]))
            accepted[i] = np.bincount(column[kept], minlength=len(order))
            errors[i] = np.bincount(column[kept & items.wrong], minlength=len(order))
        return _Counts(errors, accepted, most)

    def p_values(self, limit: float, unit: str) -> F64:
        if unit == "item":
            return binomial_p_value(self.errors.sum(axis=1), self.accepted.sum(axis=1), limit)
        return betting_p_value(self.errors, self.accepted, limit, self.most)

    def rates(self) -> F64:
        with np.errstate(invalid="ignore"):
            rates: F64 = self.errors.sum(axis=1) / self.accepted.sum(axis=1)
        return rates

    def at(self, i: int, unit: str, confidence: float) -> tuple[int, int, float, float]:
        """Return accepted items, errors, their rate and its upper limit at one threshold."""
        own = slice(i, i + 1)
        row = _Counts(self.errors[own], self.accepted[own], self.most[own])
        rates = row.rates()
        upper = upper_limits(partial(row.p_values, unit=unit), rates, confidence)
        return int(row.accepted.sum()), int(row.errors.sum()), float(rates[0]), float(upper[0])


def _most_accepted(tuning: _Side, thresholds: F64, unit: str) -> I64:
    """Return the limit of accepted items per note at each threshold, from the tuning notes."""
    every = np.full(len(thresholds), max(tuning.items.most, 1), dtype=np.int64)
    if unit == "item" or not len(tuning.order):
        return every
    accepted = _Counts.of(tuning, thresholds, every).accepted
    usual: I64 = np.ceil(np.quantile(accepted, _WHOLE_NOTES, axis=1)).astype(np.int64)
    return np.clip(usual, 1, every)


def _rule(sides: tuple[_Side, _Side], features: set[str], settings: RouteSettings) -> ReviewRule:
    """Find the start on the tuning notes, then test on the others until a test fails."""
    tuning, testing = (side.only(features) for side in sides)
    thresholds = _thresholds(tuning.risk)
    level, limit, unit = 1.0 - settings.confidence, settings.max_error, settings.unit
    most = _most_accepted(tuning, thresholds, unit)
    chosen = -1
    counts = _Counts.of(testing, thresholds, most)
    if len(thresholds):
        seen = _Counts.of(tuning, thresholds, most).p_values(limit, unit)
        p_values = counts.p_values(limit, unit)
        for i in range(int(np.argmin(seen)), len(thresholds)):
            if p_values[i] > level:
                break
            chosen = i
    method = "binomial" if unit == "item" else "betting"
    n_items, tested = len(testing.items.note), len(testing.order)
    if chosen < 0:
        return ReviewRule(None, settings.confidence, tested, 0, 0, 1.0, 1.0, method)
    accepted, errors, _, upper = counts.at(chosen, unit, settings.confidence)
    return ReviewRule(
        float(thresholds[chosen]),
        settings.confidence,
        tested,
        accepted,
        errors,
        1.0 - accepted / n_items,
        upper,
        method,
        int(most[chosen]) if unit == "note" else None,
    )


def review_curve(
    items: JudgedItems, model: ErrorModel, settings: RouteSettings, *, progress: Progress = silent
) -> tuple[CurvePoint, ...]:
    """Return the share for review against the error of the rest, on the notes that tested."""
    (tuning, tuned), (items, tested) = _divided(items, settings)
    risk = _risks(model, items)
    thresholds = _thresholds(risk)
    tuning_side = _Side(tuning, _held_out_risks(tuning, tuned), tuned)
    most = _most_accepted(tuning_side, thresholds, settings.unit)
    counts = _Counts.of(_Side(items, risk, tested), thresholds, most)
    points = []
    drawn = watched(thresholds, progress, "drawing the curve", len(thresholds))
    for i, threshold in enumerate(drawn):
        accepted, errors, rate, upper = counts.at(i, settings.unit, settings.confidence)
        share = 1.0 - accepted / len(items.note)
        known = rate if accepted else None
        points.append(CurvePoint(float(threshold), share, accepted, errors, known, upper))
    return tuple(points)
