"""What the page of a comparison is made from: plain values that any protocol can fill in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from rubricate.measures.intervals import Interpreted
from rubricate.reports.plots import Point
from rubricate.reports.readings import case_points, overall_point
from rubricate.reports.tables import Cell, mean_sd

#: The two measures of the NBME paper's Section 6.
BOTH = {"characters": "Characters", "presence": "Presence"}


@dataclass(frozen=True, slots=True)
class Reached:
    """One measure's F1: over all rows, and for each case."""

    overall: Point
    by_case: Mapping[str, Point]

    def mean_sd(self) -> Cell:
        """Return mean (SD) over cases, as the NBME paper reports it."""
        values = [p.value for p in self.by_case.values() if p.is_defined]
        if not values:
            return mean_sd(None, None)
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
        return mean_sd(float(np.mean(values)), sd)


@dataclass(frozen=True, slots=True)
class Compared:
    """What one matcher, or the annotators, reached.

    Parameters
    ----------
    name : str
        As shown.
    characters, presence : Reached
        F1 of both measures.
    remark : str
        At the end of its line, e.g. its speed.
    """

    name: str
    characters: Reached
    presence: Reached
    remark: str = ""

    @classmethod
    def of(cls, name: str, found: Interpreted, remark: str = "") -> Compared:
        """Take the values out of an evaluation with intervals."""
        reached = [
            Reached(overall_point(found, (measure,)), case_points(found, (measure,)))
            for measure in BOTH
        ]
        return cls(name, reached[0], reached[1], remark)

    def reached(self, measure: str) -> Reached:
        """Return the values of ``"characters"`` or ``"presence"``."""
        return self.characters if measure == "characters" else self.presence


@dataclass(frozen=True, slots=True)
class Difference:
    """First minus second on the same notes, with interval and p value (nan where not tested)."""

    first: str
    second: str
    measure: str
    point: Point
    p_value: float = float("nan")


@dataclass(frozen=True, slots=True)
class LearningCurve:
    """F1 against the number of annotated notes a case; one point a number."""

    name: str
    n_notes: tuple[int, ...]
    characters: tuple[Point, ...]
    presence: tuple[Point, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparing:
    """Everything a page of a comparison shows.

    Parameters
    ----------
    protocol : str
        A sentence or two: folds, what was learned from what.
    cases : mapping from id to name
        In the order in which they are shown.
    matchers : tuple of Compared
        In the order in which they are shown.
    human : Compared, optional
        How far annotators agree.
    differences : tuple of Difference
        Paired comparisons.
    curves : tuple of LearningCurve
        If numbers of notes were varied.
    facts : mapping
        Seed, resamples, inputs with hashes: what is needed to repeat it.
    """

    protocol: str
    cases: Mapping[str, str]
    matchers: tuple[Compared, ...]
    human: Compared | None = None
    differences: tuple[Difference, ...] = ()
    curves: tuple[LearningCurve, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
