"""Tests of a difference against a margin, and p values adjusted for the number of tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64
from rubricate.errors import Fault
from rubricate.stats.intervals import Estimate, defined
from rubricate.stats.limits import one_of, raise_if_any


def adjust_p_values(
    p_values: npt.ArrayLike, *, method: Literal["holm", "benjamini-hochberg"] = "holm"
) -> F64:
    """Return p values adjusted for having made many tests.

    Holm (1979) keeps the chance of any false finding: p_(i) becomes the largest of
    (m - j + 1) p_(j) over j <= i. Benjamini & Hochberg (1995) keep the expected share of false
    findings: p_(i) becomes the smallest of m p_(j) / j over j >= i. Both stop at 1. Undefined
    p values (NaN) stay undefined and do not count as tests.

    >>> adjust_p_values([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    >>> adjust_p_values([0.01, 0.04, 0.03], method="benjamini-hochberg").tolist()
    [0.03, 0.04, 0.04]
    """
    values = np.asarray(p_values, dtype=np.float64)
    faults = one_of("method", method, ["holm", "benjamini-hochberg"])
    known = ~np.isnan(values)
    if values.ndim != 1 or np.any((values[known] < 0) | (values[known] > 1)):
        faults.append(Fault("p values must be a list of numbers from 0 to 1"))
    raise_if_any(faults)
    tested = values[known]
    order, m = np.argsort(tested, kind="stable"), len(tested)
    rank = np.arange(1, m + 1)
    if method == "holm":
        scaled = np.maximum.accumulate((m - rank + 1) * tested[order])
    else:
        scaled = np.minimum.accumulate((m * tested[order] / rank)[::-1])[::-1]
    adjusted = np.full(values.shape, np.nan)
    adjusted[np.flatnonzero(known)[order]] = np.minimum(scaled, 1.0)
    return adjusted


@dataclass(frozen=True, slots=True)
class MarginTest:
    """Whether a difference stays above minus a margin, and within it on both sides.

    ``margin``: the largest loss that does not matter.
    ``p_non_inferior``, ``p_equivalent``: one-sided p values of "worse by the margin or more", and
    of "apart by it or more".
    ``level``: the p value must be at most this.
    """

    margin: float
    p_non_inferior: float
    p_equivalent: float
    level: float

    @property
    def non_inferior(self) -> bool:
        """Whether the first is shown not to be worse than the second by the margin."""
        return self.p_non_inferior <= self.level

    @property
    def equivalent(self) -> bool:
        """Whether the two are shown to be within the margin of each other."""
        return self.p_equivalent <= self.level

    def to_dict(self) -> dict[str, object]:
        """Return everything, ready for JSON."""
        return {
            "margin": self.margin,
            "level": self.level,
            "non_inferior": self.non_inferior,
            "p_non_inferior": defined(self.p_non_inferior),
            "equivalent": self.equivalent,
            "p_equivalent": defined(self.p_equivalent),
        }


def margin_test(difference: Estimate, margin: float) -> MarginTest:
    """Test a difference with its interval against a margin.

    Not worse by more than the margin (non-inferior): z = (d + m) / s with s the distance from d to
    its lower limit over z_(1 - a/2), one-sided at a / 2, so it is shown where the lower limit of
    the two-sided interval is above minus the margin. Equivalent: two one-sided tests at a / 2 each
    (Schuirmann 1987), so both limits lie within the margin. An interval that is longer on one side
    counts on that side.

    ``difference``: first minus second, with an interval.
    ``margin``: above 0.

    Both p values are nan without an interval.

    >>> found = margin_test(Estimate(-0.01, -0.025, 0.005, 0.95), 0.03)
    >>> found.non_inferior, found.equivalent, round(found.p_non_inferior, 4)
    (True, True, 0.0045)
    """
    from scipy.special import ndtr, ndtri

    if not margin > 0:
        raise_if_any([Fault(f"margin is {margin}: it must be above 0")])
    level = (1 - difference.level) / 2
    if not difference.has_interval:
        return MarginTest(margin, float("nan"), float("nan"), level)
    z = float(ndtri(1 - level))
    below = max((difference.value - difference.low) / z, 1e-12)
    above = max((difference.high - difference.value) / z, 1e-12)
    worse = float(ndtr(-(difference.value + margin) / below))
    better = float(ndtr(-(margin - difference.value) / above))
    return MarginTest(margin, worse, max(worse, better), level)


def adjust_margin_tests(tests: Sequence[MarginTest]) -> list[MarginTest]:
    """Return the tests with p values adjusted for their number (Holm 1979).

    >>> one = margin_test(Estimate(-0.01, -0.025, 0.005, 0.95), 0.03)
    >>> [round(test.p_non_inferior, 4) for test in adjust_margin_tests([one, one])]
    [0.009, 0.009]
    """
    if not tests:
        return []
    worse = adjust_p_values([test.p_non_inferior for test in tests]).tolist()
    apart = adjust_p_values([test.p_equivalent for test in tests]).tolist()
    return [
        replace(test, p_non_inferior=one, p_equivalent=two)
        for test, one, two in zip(tests, worse, apart, strict=True)
    ]
