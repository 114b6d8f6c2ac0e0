"""Inputs and results of a sample-size plan: the values, not the search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypedDict, get_args

from rubricate.errors import ArgumentError, Fault, at_least, one_of, shares
from rubricate.stats.intervals import METHODS, Method
from rubricate.stats.sizes import half_width_faults

FrequencyKind = Literal["internal", "external"]
#: Notes as they occur, or fixed numbers of notes with and without a detection.
Drawing = Literal["as-they-occur", "fixed"]
PlanMethod = Literal["assurance", "slice", "reported"]


def design_faults(sites: int, pool: int | None, design_effect: float) -> list[Fault]:
    """Return the faults in the sites, the finite pool and the design effect of a plan."""
    faults = at_least("sites", sites, 1) + at_least("design-effect", design_effect, 1)
    return faults + ([] if pool is None else at_least("pool", pool, 1))


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected figures of the system on one variable before the study.

    ``precision``, ``recall``: expected precision and recall, strictly between 0 and 1.
    ``frequency``: share of notes, strictly between 0 and 1.
    ``frequency_kind``: whose share: of the notes in which the system finds the variable (internal),
    or of those that truly hold it (external).

    >>> expected = Expected(0.85, 0.80, 0.48)
    >>> expected.detected, round(expected.prevalence, 2), round(expected.highest_frequency, 3)
    (0.48, 0.51, 0.825)
    """

    precision: float
    recall: float
    frequency: float
    frequency_kind: FrequencyKind = "internal"

    def __post_init__(self) -> None:
        ArgumentError.raise_any(
            shares(precision=self.precision, recall=self.recall, frequency=self.frequency)
            + one_of("frequency-kind", self.frequency_kind, get_args(FrequencyKind))
        )

    @property
    def detected(self) -> float:
        """Share of notes in which the system finds the variable: prevalence * R / P."""
        if self.frequency_kind == "internal":
            return self.frequency
        return self.frequency * self.recall / self.precision

    @property
    def prevalence(self) -> float:
        """Share of notes that truly hold the variable: detected * P / R."""
        if self.frequency_kind == "external":
            return self.frequency
        return self.frequency * self.precision / self.recall

    @property
    def highest_frequency(self) -> float:
        """Frequency at which found and missed notes fill the pool, leaving no true negative.

        From detected + missed = f + f P (1 - R) / R = 1 (internal), and from
        prevalence + false alarms = f + f R (1 - P) / P = 1 (external).
        """
        p, r = self.precision, self.recall
        if self.frequency_kind == "internal":
            return r / (r + p * (1 - r))
        return p / (p + r * (1 - p))


@dataclass(frozen=True, slots=True)
class Target:
    """Required width of the intervals, and the probability of reaching it.

    ``half_width``: the full width must stay below twice this.
    ``assurance``: probability with which the study must meet the width.
    ``interval``: the interval that will be reported.
    ``drawing``: how the notes will be drawn: all alike, or a fixed number with and without a
    detection.

    >>> Target(half_width=0.03).confidence
    0.95
    """

    half_width: float = 0.05
    confidence: float = 0.95
    assurance: float = 0.9
    interval: Method = "clopper-pearson"
    drawing: Drawing = "as-they-occur"

    def __post_init__(self) -> None:
        ArgumentError.raise_any(
            half_width_faults(self.half_width)
            + shares(confidence=self.confidence, assurance=self.assurance)
            + one_of("interval", self.interval, METHODS)
            + one_of("drawing", self.drawing, get_args(Drawing))
        )


@dataclass(frozen=True, slots=True)
class PerSite:
    """Notes each site contributes, rounded up."""

    positives: int
    negatives: int
    total: int


@dataclass(frozen=True, slots=True)
class Cells:
    """The confusion table expected in the sample, as whole notes."""

    tp: int
    fp: int
    fn: int
    tn: int


class PlanJson(TypedDict):
    """`Plan` in JSON; the target of one like SLiCE's has no assurance."""

    method: PlanMethod
    positives: int
    negatives: int
    total: int
    sites: int
    per_site: dict[str, int]
    n_precision: int
    n_recall: int
    tp: int
    fp: int
    fn: int
    tn: int
    expected: dict[str, Any]
    target: dict[str, Any]
    pool: int | None
    design_effect: float
    warnings: list[str]
    met: dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class Plan:
    """A sample size and how it came about.

    ``method``: which rule gave the numbers.
    ``positives``, ``negatives``: notes to draw in which the system finds, and does not find, the
    variable.
    ``n_precision``, ``n_recall``: detected notes that precision needs, notes that truly hold the
    variable that recall needs.
    ``cells``: the confusion table expected.
    ``target``: the width asked for; `assurance` says nothing under the method "slice".
    ``pool``: notes in the finite pool, None where it is as good as endless.
    ``design_effect``: factor by which clustering inflates the variance.
    ``warnings``: what the reader of the plan must know.
    ``met``: probability with which the width is met, for precision and recall, by name of interval.
    """

    method: PlanMethod
    positives: int
    negatives: int
    sites: int
    n_precision: int
    n_recall: int
    cells: Cells
    expected: Expected
    target: Target
    pool: int | None = None
    design_effect: float = 1.0
    warnings: tuple[str, ...] = ()
    met: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """All notes to annotate."""
        return self.positives + self.negatives

    @property
    def per_site(self) -> PerSite:
        """Notes of each site."""
        each = -(-self.positives // self.sites), -(-self.negatives // self.sites)
        return PerSite(*each, sum(each))

    def to_dict(self) -> PlanJson:
        """Return the plan as plain values, ready for JSON.

        >>> from rubricate.stats import plan_slice
        >>> plan = plan_slice(Expected(0.85, 0.80, 0.48), sites=6).to_dict()
        >>> plan["positives"], plan["negatives"], plan["total"], plan["per_site"]["total"]
        (249, 270, 519, 87)
        """
        target = asdict(self.target)
        if self.method == "slice":
            del target["assurance"]
        return {
            "method": self.method,
            "positives": self.positives,
            "negatives": self.negatives,
            "total": self.total,
            "sites": self.sites,
            "per_site": asdict(self.per_site),
            "n_precision": self.n_precision,
            "n_recall": self.n_recall,
            "tp": self.cells.tp,
            "fp": self.cells.fp,
            "fn": self.cells.fn,
            "tn": self.cells.tn,
            "expected": asdict(self.expected),
            "target": target,
            "pool": self.pool,
            "design_effect": self.design_effect,
            "warnings": list(self.warnings),
            "met": {name: dict(chances) for name, chances in self.met.items()},
        }
