"""Tests of a difference against a margin: not worse than, and as good as."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rubricate.errors import Fault
from rubricate.stats.checks import raise_if_any
from rubricate.stats.intervals import Estimate, defined
from rubricate.stats.multiplicity import adjust_p_values


@dataclass(frozen=True, slots=True)
class MarginTest:
    """Whether a difference stays above minus a margin, and within it on both sides.

    Parameters
    ----------
    margin : float
        The largest loss that does not matter.
    p_non_inferior, p_equivalent : float
        One-sided p values of "worse by the margin or more", and of "apart by it or more".
    level : float
        The p value must be at most this.
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

    Parameters
    ----------
    difference : Estimate
        First minus second, with an interval.
    margin : float
        Above 0.

    Returns
    -------
    MarginTest
        Both p values; nan without an interval.

    Raises
    ------
    InputError
        If the margin is not above 0.

    Examples
    --------
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

    Examples
    --------
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
