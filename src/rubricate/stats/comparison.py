"""Compare two systems, or a system and the human ceiling; test differences against a margin."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, I64
from rubricate.errors import ArgumentError, Fault, at_least, one_of
from rubricate.stats.discordance import Discordance, limit_by_discordance
from rubricate.stats.intervals import Estimate, defined
from rubricate.stats.resampling import (
    Bootstrapped,
    Resampling,
    Statistic,
    apply,
    as_counts,
    bootstrap_interval,
    resample_sums,
)

#: Coin flips held at a time.
_CHUNK = 4_000_000
#: Two differences closer than this share of the observed one are the same number.
_SAME = 1e-9
#: Member of both sides: 1 for the first and 2 for the second.
_BOTH = 3


@dataclass(frozen=True, eq=False, slots=True)
class Comparison:
    """Two sets of measures and their difference, first minus second.

    ``first``, ``second``: the measures of each.
    ``difference``: first minus second, with its interval.
    ``p_value``: two-sided, from swapping the two within notes.
    """

    first: F64
    second: F64
    difference: Bootstrapped
    p_value: F64


def _difference(statistic: Statistic) -> Statistic:
    """Return the statistic of the first minus that of the second, stacked next to last."""

    def difference(sums: F64) -> F64:
        return apply(statistic, sums[..., 0, :]) - apply(statistic, sums[..., 1, :])

    return difference


def _pair(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[F64, F64]:
    """Return both tables of counts, checked to be of the same notes and counts."""
    one, two = as_counts(first, name="first"), as_counts(second, name="second")
    if one.shape != two.shape or one.ndim != 2:
        raise ArgumentError(
            "paired counts must be two tables of the same notes and counts, "
            f"not {one.shape} and {two.shape}"
        )
    return one, two


def permutation_p_value(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    statistic: Statistic,
    *,
    permutations: int = 10_000,
    seed: int = 0,
) -> F64:
    """Test whether two systems differ by swapping their counts within notes at random.

    If the systems are alike, which of them gave which counts of a note is a coin flip. The
    p value is (1 + b) / (1 + m), b of m random swaps having a difference at least as large as
    the observed one in absolute value: never 0, and valid for any m (Phipson & Smyth 2010;
    approximate randomisation, Noreen 1989). A swap whose difference is undefined counts as
    large. NaN where the observed difference is undefined.

    >>> from rubricate.stats import precision_recall_f1
    >>> first, second = [[5, 1, 0]] * 12, [[3, 1, 2]] * 12
    >>> permutation_p_value(first, second, precision_recall_f1).round(4).tolist()
    [0.0004, 0.0004, 0.0004]
    """
    ArgumentError.raise_any(at_least("permutations", permutations, 1) + at_least("seed", seed, 0))
    one, two = _pair(first, second)
    observed = np.abs(_difference(statistic)(np.stack([one.sum(axis=0), two.sum(axis=0)])))
    gap = one - two
    gap = np.ascontiguousarray(gap[np.any(gap != 0, axis=1)])  # others change nothing
    both = (one + two).sum(axis=0)
    rng = np.random.default_rng(seed)
    as_large = np.zeros(observed.shape)
    step = max(1, _CHUNK // max(1, len(gap)))
    for start in range(0, permutations, step):
        draws = min(step, permutations - start)
        bits = np.unpackbits(
            rng.integers(0, 256, size=(draws, -(-len(gap) // 8)), dtype=np.uint8), axis=1
        )
        moved = (2.0 * bits[:, : len(gap)] - 1.0) @ gap
        sums = np.stack([(both + moved) / 2, (both - moved) / 2], axis=1)
        size = np.abs(_difference(statistic)(sums))
        as_large += (np.isnan(size) | (size >= observed * (1 - _SAME))).sum(axis=0)
    return np.where(np.isnan(observed), np.nan, (1 + as_large) / (1 + permutations))


def compare_paired(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    statistic: Statistic,
    settings: Resampling | None = None,
    *,
    permutations: int = 10_000,
    strata: npt.ArrayLike | None = None,
    discordance: Discordance | None = None,
) -> Comparison:
    """Compare two systems on the same notes: difference, interval and permutation test.

    The interval draws notes with replacement, both systems' counts of a note together, so the
    difficulty of the notes cancels. Its limits are percentiles whatever the method of the settings:
    BCa, which corrects for values near 1, covers less often where differences are near 0. Where
    the two differ on few notes they are joined with those by items (`limit_by_discordance`). The
    test is `permutation_p_value`.

    ``first``, ``second`` (n, k): additive counts of the two systems on the same notes, in the same
    order.
    ``statistic``: maps sums of shape (..., k) to values of shape (...) or (..., m).
    ``settings``: resamples and confidence; its seed serves the test too.
    ``permutations``: number of random swaps.
    ``strata`` (n,): strata inside which notes are drawn.
    ``discordance``: how often the two differ item by item. Without it each note is one item, with
    the statistic of its own counts as its value.

    >>> from rubricate.stats import precision_recall_f1
    >>> first, second = [[5, 1, 0], [4, 0, 1]] * 9, [[3, 1, 2], [4, 1, 1]] * 9
    >>> result = compare_paired(first, second, precision_recall_f1)
    >>> result.difference.estimate.round(2).tolist(), result.p_value.round(4).tolist()
    ([0.12, 0.2, 0.16], [0.0001, 0.0045, 0.0001])
    """
    settings = settings or Resampling()
    one, two = _pair(first, second)
    if discordance is None:
        discordance = Discordance.of_items(
            apply(statistic, one), apply(statistic, two), np.arange(len(one))
        )
    drawn = bootstrap_interval(
        np.stack([one, two], axis=1),
        _difference(statistic),
        replace(settings, method="percentile"),
        strata=strata,
    )
    return Comparison(
        first=apply(statistic, one.sum(axis=0)),
        second=apply(statistic, two.sum(axis=0)),
        difference=limit_by_discordance(drawn, discordance),
        p_value=permutation_p_value(
            one, two, statistic, permutations=permutations, seed=settings.seed
        ),
    )


@dataclass(frozen=True, eq=False, slots=True)
class Side:
    """One side of a comparison on notes that need not be those of the other.

    ``estimate``: the value with its own interval.
    ``counts`` (n, k): additive counts by note.
    ``notes``: the note of each row, as anything that tells notes apart.
    """

    estimate: Estimate
    counts: npt.ArrayLike
    notes: Sequence[Hashable]


def difference_of_estimates(
    first: Estimate, second: Estimate, *, correlation: float = 0.0
) -> Estimate:
    """Return first minus second with an interval made from those of both.

    The limits are d - sqrt(a^2 + b^2 - 2 r a b), a how far the first value is above its lower
    limit, b how far the second is below its upper one and r the correlation of the two, and
    likewise upwards (MOVER: Zou 2007, Psychological Methods 12: 399; Zou & Donner 2008,
    Statistics in Medicine 27: 1693). So a side that rests on few notes, or that shows no error,
    counts with all it does not know. Without an interval on either side there is none.

    >>> system = Estimate(0.9, 0.87, 0.92, 0.95, "bootstrap-bca")
    >>> humans = Estimate(1.0, 0.77, 1.0, 0.95, "bootstrap-bca+items")
    >>> str(difference_of_estimates(system, humans))
    '-0.100 [-0.130, 0.131]'
    """

    def reach(one: float, two: float) -> float:
        return math.sqrt(max(0.0, one**2 + two**2 - 2 * correlation * one * two))

    gap = first.value - second.value
    low = gap - reach(first.value - first.low, second.high - second.value)
    high = gap + reach(first.high - first.value, second.value - second.low)
    return Estimate(gap, low, high, first.level, "mover")


def compare_with_ceiling(
    system: Side, ceiling: Side, statistic: Statistic, settings: Resampling | None = None
) -> Estimate:
    """Compare a system with human agreement: how far below the ceiling it stays.

    Both are uncertain, so the interval is made from both intervals
    (`difference_of_estimates`). Notes that both sides have make the two go together; their
    correlation is that of replicates in which such notes are drawn for both at once. No test is
    made: that a system equals the ceiling is not the question.

    ``system``: the system against the reference.
    ``ceiling``: one annotator against another.
    ``statistic``: maps sums of shape (..., k) to one value of shape (...).

    The value is system minus ceiling, negative where the system is below.

    >>> from rubricate.stats import bootstrap_interval, precision_recall_f1
    >>> f1 = lambda sums: precision_recall_f1(sums)[..., 2]
    >>> sides = [
    ...     Side(bootstrap_interval(counts, f1).at(), counts, range(len(counts)))
    ...     for counts in ([[3, 1, 2], [4, 1, 1]] * 9, [[5, 1, 0], [4, 0, 1]] * 4)
    ... ]
    >>> round(compare_with_ceiling(*sides, f1).value, 2)
    -0.16
    """
    one = as_counts(system.counts, name="system")
    two = as_counts(ceiling.counts, name="ceiling")
    if one.ndim != 2 or one.shape[1:] != two.shape[1:]:
        raise ArgumentError(
            f"system and ceiling must hold the same counts, not {one.shape}, {two.shape}"
        )
    place = {note: i for i, note in enumerate(dict.fromkeys([*system.notes, *ceiling.notes]))}
    counts = np.zeros((len(place), 2, one.shape[1]))
    member = np.zeros(len(place), dtype=np.int64)
    for side, (own, table) in enumerate(((system.notes, one), (ceiling.notes, two))):
        rows = [place[note] for note in own]
        counts[rows, side] = table
        member[rows] += side + 1
    settings = settings or Resampling()
    correlation = _correlation(counts, member, statistic, settings)
    return difference_of_estimates(system.estimate, ceiling.estimate, correlation=correlation)


def _correlation(counts: F64, member: I64, statistic: Statistic, settings: Resampling) -> float:
    """Return the correlation of both sides' values; strata keep both sample sizes fixed."""
    if (member == _BOTH).sum() < 2:
        return 0.0
    rng = np.random.default_rng(settings.seed)
    sums = resample_sums(counts, settings.resamples, rng, strata=member)
    values = np.stack([apply(statistic, sums[:, side]) for side in (0, 1)])
    values = values[:, np.isfinite(values).all(axis=0)]
    if values.shape[1] < 2 or (values.std(axis=1) == 0).any():
        return 0.0
    return float(np.asarray(np.corrcoef(values))[0, 1])


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
    ArgumentError.raise_any(faults)
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
    """Tests that a difference stays above minus a margin, and within it on both sides.

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
        """True if the first is shown not to be worse than the second by the margin."""
        return self.p_non_inferior <= self.level

    @property
    def equivalent(self) -> bool:
        """True if the two are shown to be within the margin of each other."""
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
        raise ArgumentError(f"margin is {margin}: it must be above 0")
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
