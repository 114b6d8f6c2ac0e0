"""Evidence for each feature of a note, points and totals, and the counts of a run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypedDict

from rubricate.rubric import (
    CONTRADICTED,
    NOT_MENTIONED,
    STATED,
    Feature,
    Outcome,
    Rubric,
    outcome_of,
)
from rubricate.spans import Spans

#: Digits kept of probabilities, so that the last bits of a sum cannot change a file.
DIGITS = 4


def kept_digits(value: float | None) -> float | None:
    """Return a number to the digits that a run keeps; None where it is undefined.

    >>> kept_digits(0.123456), kept_digits(math.nan)
    (0.1235, None)
    """
    return None if value is None or math.isnan(value) else round(value, DIGITS)


def certainty(
    found: bool, probability: float | None, confidence: float | None = None
) -> float | None:
    """Return the probability that a decision is right: of presence if stated, else of absence.

    The probability of what was decided; where there is none, the confidence of the surest
    annotation; None for absences the matcher gives no probability for. A matcher may find what it
    gives less than one half: such a decision is the least sure of all.

    >>> certainty(True, 0.4), certainty(False, 0.1), certainty(True, None, 0.8)
    (0.4, 0.9, 0.8)
    >>> certainty(False, None, 0.8) is None
    True
    """
    if probability is None:
        return confidence if found else None
    return probability if found else round(1.0 - probability, DIGITS)


class CounterEvidence(NamedTuple):
    """Words of a note that contradict a feature, with the reason ("says left")."""

    spans: tuple[tuple[int, int], ...]
    text: str = ""
    probability: float | None = None
    reason: str = ""


class Evidence(NamedTuple):
    """Evidence for one feature in one note."""

    spans: Spans = ()
    probability: float | None = None
    confidence: float | None = None
    text: tuple[str, ...] = ()
    reason: str = ""
    against: CounterEvidence | None = None

    @property
    def found(self) -> bool:
        """True if the note states the feature."""
        return bool(self.spans)

    @property
    def outcome(self) -> Outcome:
        """Outcome: stated, contradicted or not mentioned."""
        return outcome_of(self.found, self.against is not None)

    @property
    def certainty(self) -> float | None:
        """Probability that the matcher's decision is right."""
        return certainty(self.found, self.probability, self.confidence)

    def to_json(self) -> list[Any]:
        """Return the values as a list."""
        plain = [self.spans, self.probability, self.confidence, self.text, self.reason]
        return plain if self.against is None else [*plain, self.against]

    @staticmethod
    def from_json(value: Sequence[Any]) -> Evidence:
        """Inverse of `to_json`."""
        spans = tuple(tuple((int(s), int(e)) for s, e in one) for one in value[0])
        against = None
        if len(value) > 5:
            words, *more = value[5]
            against = CounterEvidence(tuple((int(s), int(e)) for s, e in words), *more)
        return Evidence(spans, value[1], value[2], tuple(value[3]), value[4], against)


class EvidenceLine(TypedDict, total=False):
    """One note as ``evidence/`` keeps it.

    Beside ``note`` and ``case`` it has one of: the items of its features, why it could not be
    searched, or the number of the earlier note it is identical to. ``no_note`` says why a text
    that has items does not read like a clinical note of its case.
    """

    note: str
    case: str
    items: list[list[Any]]
    no_note: str
    failed: str
    same_as: int


@dataclass(frozen=True, slots=True)
class Total:
    """Score of a note, and the maximum possible score."""

    score: float
    maximum: float
    points: Mapping[str, float]

    @property
    def percentage(self) -> float:
        """The score in percent of the maximum; NaN where nothing can be got.

        >>> Total(3.0, 4.0, {}).percentage
        75.0
        """
        return 100.0 * self.score / self.maximum if self.maximum else math.nan


def total_score(rubric: Rubric, found: Collection[str]) -> Total:
    """Sum the weights of the features found.

    A feature without a group adds its weight. A group ("any of") counts once: it adds the weight
    of its heaviest found member (the first of them where several weigh the same), and the weight
    of its heaviest member to the maximum. A feature with a weight below 0 is a penalty: it takes
    points away where it is found, and the maximum is what a note without penalties can get.
    Penalties take a score down to 0 and no further, unless the rubric has no floor.

    >>> from rubricate import Feature, Metadata
    >>> rubric = Rubric("c", (
    ...     Feature("a", "c", "Chest pain", weight=2.0),
    ...     Feature("b", "c", "Sweating", group="either"),
    ...     Feature("d", "c", "Nausea", weight=0.5, group="either"),
    ... ))
    >>> total = total_score(rubric, {"a", "b", "d"})
    >>> total.score, total.maximum, dict(total.points)
    (3.0, 3.0, {'a': 2.0, 'b': 1.0, 'd': 0.0})
    >>> penalty = (Feature("e", "c", "Wrong diagnosis", weight=-3.0),)
    >>> total_score(Rubric("c", penalty), {"e"}).score
    0.0
    >>> total_score(Rubric("c", penalty, metadata=Metadata(floor="none")), {"e"}).score
    -3.0
    """
    wanted = set(found)
    best: dict[str, str] = {}
    most: dict[str, float] = {}
    weight = {feature.id: feature.weight for feature in rubric}
    for feature in rubric:
        # A feature without a group is a group of its own; ids and groups are told apart.
        group = f"group {feature.group}" if feature.group else f"feature {feature.id}"
        most[group] = max(most.get(group, 0.0), feature.weight)
        if feature.id in wanted and feature.weight > weight.get(best.get(group, ""), -math.inf):
            best[group] = feature.id
    counted = set(best.values())
    points = {f.id: f.weight if f.id in counted else 0.0 for f in rubric if f.id in wanted}
    score = math.fsum(points.values())
    return Total(max(score, 0.0) if rubric.has_floor else score, math.fsum(most.values()), points)


SCORED = "scored"
NOT_SCORED = "not scored"
BY_HAND = "scored by hand"
#: The status of a note that reads like something else: a person must judge it whole.
FOR_REVIEW = "for review"
#: What the reason of an item begins with that is sent to a person for its probability alone.
UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Correction:
    """One item as a person saw it; the spans of one that is not found say otherwise."""

    note: str
    feature: str
    found: bool
    by: str
    at: str
    spans: Spans | None = None
    comment: str = ""
    text: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the counts for run.json."""
        return {"note": self.note, "feature": self.feature, "found": self.found,
                "by": self.by, "at": self.at, "comment": self.comment}  # fmt: skip


class ItemResult(NamedTuple):
    """One feature in one note; ``found`` is None where the note could not be scored."""

    feature: Feature
    evidence: Evidence
    found: bool | None
    points: float | None = None
    review_reason: str = ""
    correction: Correction | None = None

    @property
    def certainty(self) -> float | None:
        """Probability that the decision is right; None if there is none, or if a person decided."""
        if self.correction is not None or self.found is None:
            return None
        return certainty(self.found, self.evidence.probability, self.evidence.confidence)

    @property
    def outcome(self) -> Outcome | None:
        """Outcome after review: stated, contradicted or not mentioned; None if undecided."""
        if self.found is None:
            return None
        return outcome_of(self.found, self.evidence.against is not None)


@dataclass(frozen=True, slots=True)
class NoteResult:
    """One note with its score and items."""

    note: str
    case: str
    status: str
    reason: str
    total: Total | None
    items: tuple[ItemResult, ...]
    same_as: str = ""

    @property
    def n_found(self) -> int:
        """Number of stated features."""
        return sum(item.found is True for item in self.items)

    @property
    def n_review(self) -> int:
        """Number of items for review."""
        return sum(bool(item.review_reason) for item in self.items)

    @property
    def n_corrected(self) -> int:
        """Number of items that a person corrected."""
        return sum(item.correction is not None for item in self.items)

    @property
    def why_not_scored(self) -> str:
        """Reason why the note has no score; empty if it has one."""
        return "" if self.total is not None else self.reason or self.status or NOT_SCORED

    def decided(self) -> tuple[ItemResult, ...]:
        """Return the items on which there is a decision."""
        return tuple(item for item in self.items if item.found is not None)


class CountsRecord(TypedDict):
    """Counts in run.json."""

    notes: int
    scored: int
    not_scored: dict[str, int]
    for_review: dict[str, int]
    identical: int
    items: int
    found: int
    stated: int
    contradicted: int
    not_mentioned: int
    review: int
    unsure: int
    corrected: int
    mean_percentage: float | None


@dataclass(slots=True)
class RunCounts:
    """Counter for results while they are written."""

    notes: int = 0
    scored: int = 0
    identical: int = 0
    items: int = 0
    found: int = 0
    review: int = 0
    unsure: int = 0
    corrected: int = 0
    percentage: float = 0.0
    not_scored: Counter[str] = field(default_factory=Counter)
    for_review: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[Outcome] = field(default_factory=Counter)

    def add(self, result: NoteResult) -> None:
        """Count one note."""
        self.notes += 1
        self.identical += bool(result.same_as)
        self.items += len(result.items)
        self.found += result.n_found
        self.review += result.n_review
        self.corrected += result.n_corrected
        for item in result.items:
            self.unsure += item.review_reason.startswith(UNSURE)
            if item.outcome is not None:
                self.outcomes[item.outcome] += 1
        if result.status == FOR_REVIEW:
            self.for_review[_kind(result.reason)] += 1
        elif result.total is None:
            self.not_scored[_kind(result.why_not_scored)] += 1
        else:
            self.scored += 1
            self.percentage += result.total.percentage if result.total.maximum else 0.0

    def to_dict(self) -> CountsRecord:
        """Return plain values."""
        mean = self.percentage / self.scored if self.scored else None
        return {
            "notes": self.notes,
            "scored": self.scored,
            "not_scored": dict(sorted(self.not_scored.items())),
            "for_review": dict(sorted(self.for_review.items())),
            "identical": self.identical,
            "items": self.items,
            "found": self.found,
            "stated": self.outcomes[STATED],
            "contradicted": self.outcomes[CONTRADICTED],
            "not_mentioned": self.outcomes[NOT_MENTIONED],
            "review": self.review,
            "unsure": self.unsure,
            "corrected": self.corrected,
            "mean_percentage": None if mean is None else round(mean, 4),
        }


def _kind(reason: str) -> str:
    """Return a reason without its numbers and names, so that like ones are counted together."""
    head = reason.partition(":")[0].partition(";")[0]
    if head.startswith("no rubric"):
        return "no rubric for its case"
    return " ".join(word for word in head.split() if not word[0].isdigit())
