"""What a sample-size plan starts from and what it says: the values, not the search."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from rubricate.stats.checks import inside_unit, one_of, raise_if_any
from rubricate.stats.limits import METHODS, Method
from rubricate.stats.widths import half_width_faults

FrequencyKind = Literal["internal", "external"]


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected of the system on one variable before the study.

    Parameters
    ----------
    precision, recall : float
        Expected precision and recall, strictly between 0 and 1.
    frequency : float
        Share of notes, strictly between 0 and 1.
    frequency_kind : {"internal", "external"}
        Whose share: of the notes in which the system finds the variable (internal), or of those
        that truly hold it (external).

    Raises
    ------
    InputError
        If a value is not allowed; lists all of them.

    Examples
    --------
    >>> expected = Expected(0.85, 0.80, 0.48)
    >>> expected.detected, round(expected.prevalence, 2), round(expected.highest_frequency, 3)
    (0.48, 0.51, 0.825)
    """

    precision: float
    recall: float
    frequency: float
    frequency_kind: FrequencyKind = "internal"

    def __post_init__(self) -> None:
        raise_if_any(
            inside_unit("precision", self.precision)
            + inside_unit("recall", self.recall)
            + inside_unit("frequency", self.frequency)
            + one_of("frequency-kind", self.frequency_kind, ["internal", "external"])
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
    """How narrow the intervals must be, and how surely.

    Parameters
    ----------
    half_width : float
        The full width must stay below twice this.
    confidence : float
        Confidence of the intervals.
    assurance : float
        Probability with which the study must meet the width.
    interval : {"clopper-pearson", "wilson", "jeffreys", "mid-p"}
        The interval that will be reported.

    Raises
    ------
    InputError
        If a value is not allowed; lists all of them.

    Examples
    --------
    >>> Target(half_width=0.03).confidence
    0.95
    """

    half_width: float = 0.05
    confidence: float = 0.95
    assurance: float = 0.9
    interval: Method = "clopper-pearson"

    def __post_init__(self) -> None:
        raise_if_any(
            half_width_faults(self.half_width)
            + inside_unit("confidence", self.confidence)
            + inside_unit("assurance", self.assurance)
            + one_of("interval", self.interval, METHODS)
        )


@dataclass(frozen=True, slots=True)
class PerSite:
    """Notes each site contributes, rounded up."""

    positives: int
    negatives: int
    total: int

    @classmethod
    def share(cls, positives: int, negatives: int, sites: int) -> PerSite:
        """Divide both kinds of notes among the sites.

        Examples
        --------
        >>> PerSite.share(249, 270, 6)
        PerSite(positives=42, negatives=45, total=87)
        """
        each = -(-positives // sites), -(-negatives // sites)
        return cls(*each, sum(each))


@dataclass(frozen=True, slots=True)
class Cells:
    """The confusion table expected in the sample, as whole notes."""

    tp: int
    fp: int
    fn: int
    tn: int


@dataclass(frozen=True, slots=True)
class Plan:
    """A sample size and how it came about.

    Parameters
    ----------
    method : {"assurance", "slice"}
        Which rule gave the numbers.
    positives, negatives : int
        Notes to draw in which the system finds, and does not find, the variable.
    sites : int
        Sites that share them.
    n_precision, n_recall : int
        Detected notes that precision needs, notes that truly hold the variable that recall needs.
    cells : Cells
        The confusion table expected.
    expected : Expected
        What was expected of the system.
    target : Target
        The width asked for; `assurance` says nothing under the method "slice".
    pool : int, optional
        Notes in the finite pool, None where it is as good as endless.
    design_effect : float
        Factor by which clustering inflates the variance.
    warnings : tuple of str
        What the reader of the plan must know.
    """

    method: Literal["assurance", "slice"]
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

    @property
    def total(self) -> int:
        """All notes to annotate."""
        return self.positives + self.negatives

    @property
    def per_site(self) -> PerSite:
        """Notes of each site."""
        return PerSite.share(self.positives, self.negatives, self.sites)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, ready for JSON.

        Examples
        --------
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
            **asdict(self.cells),
            "expected": asdict(self.expected),
            "target": target,
            "pool": self.pool,
            "design_effect": self.design_effect,
            "warnings": list(self.warnings),
        }
