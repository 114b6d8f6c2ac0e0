"""Sizes for areas and non-inferiority, and for studies that may stop early."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from rubricate.arrays import F64
from rubricate.errors import ArgumentError, Fault, at_least, inside_unit, shares
from rubricate.stats.agreement_sizes import inflated
from rubricate.stats.resampling import half_width_in_sds
from rubricate.stats.sizes import doubled, smallest_size

_MOST = 100_000_000


def auc_size(
    auc: float,
    frequency: float,
    half_width: float,
    *,
    confidence: float = 0.95,
    design_effect: float = 1.0,
) -> int:
    """Return the number of notes that the area under the ROC curve needs for its interval.

    SE^2 = (A (1 - A) + (p - 1)(Q1 - A^2) + (q - 1)(Q2 - A^2)) / (p q) for p positives and q
    negatives, Q1 = A / (2 - A), Q2 = 2 A^2 / (1 + A) (Hanley & McNeil 1982, Radiology 143: 29); the
    smallest n = p + q at which z SE is within the half width.

    ``auc``: expected area, between 0 and 1.
    ``half_width``, ``confidence``: half the width of the interval, and its confidence.
    ``design_effect``: variance inflation where notes go together, as those of a patient.

    >>> auc_size(0.9, 0.3, 0.05)
    238
    """
    ArgumentError.raise_any(
        shares(auc=auc, frequency=frequency, half_width=half_width, confidence=confidence)
        + at_least("design-effect", design_effect, 1)
    )
    one, two, z = auc / (2 - auc), 2 * auc**2 / (1 + auc), half_width_in_sds(confidence, None)

    def narrow(n: int) -> bool:
        positives = n * frequency
        negatives = n - positives
        if min(positives, negatives) < 1:
            return False
        spread = (
            auc * (1 - auc) + (positives - 1) * (one - auc**2) + (negatives - 1) * (two - auc**2)
        ) / (positives * negatives)
        return z * math.sqrt(spread) <= half_width

    n = smallest_size(narrow, 1, doubled(narrow, 2, _MOST), in_a_row=1)
    return inflated(n, design_effect)


def non_inferiority_size(
    margin: float,
    discordant: float,
    *,
    difference: float = 0.0,
    confidence: float = 0.95,
    power: float = 0.8,
    design_effect: float = 1.0,
) -> int:
    """Return the number of paired items that show that one side is not worse by a margin.

    n = ((z_a + z_b) / (m + d))^2 (s - d^2) for the true difference d of two paired proportions, of
    which a share s of the items is right on one side only; z_a is one-sided at (1 - confidence) / 2
    (Liu, Hsueh, Hsieh & Chen 2002, Statistics in Medicine 21: 231).

    ``margin``: largest loss that is allowed, above 0.
    ``discordant``: share of items that one side has right and the other wrong.
    ``difference``: expected first minus second, above minus the margin.
    ``confidence``: of the two-sided interval whose lower limit must stay above minus the margin.
    ``design_effect``: variance inflation where items go together, as those of a note.

    >>> non_inferiority_size(0.03, 0.10)
    873
    """
    from scipy.special import ndtri

    faults = shares(margin=margin, discordant=discordant, confidence=confidence, power=power)
    faults += at_least("design-effect", design_effect, 1)
    if not -margin < difference < 1 or abs(difference) > discordant:
        faults.append(
            Fault(
                f"difference is {difference}: it must be above minus the margin and no larger than "
                "the share of discordant items"
            )
        )
    ArgumentError.raise_any(faults)
    reach = half_width_in_sds(confidence, None) + float(ndtri(power))
    return inflated(
        (reach / (margin + difference)) ** 2 * (discordant - difference**2), design_effect
    )


def non_inferiority_independent_size(
    margin: float,
    rate: float,
    reference_rate: float,
    *,
    confidence: float = 0.95,
    power: float = 0.8,
    design_effect: float = 1.0,
) -> int:
    """Return the number of items of each side that show that one is not worse, on different items.

    n = (z_a + z_b)^2 (p (1 - p) + q (1 - q)) / (m + p - q)^2 for the true rates p and q of two
    independent samples of this size; z_a is one-sided at (1 - confidence) / 2 (Blackwelder 1982,
    Controlled Clinical Trials 3: 345).

    ``margin``: largest loss that is allowed, above 0.
    ``rate``, ``reference_rate``: expected share of right items of the side that is tested, and of
    the other.

    The same items on both sides need fewer (`non_inferiority_size`).

    >>> non_inferiority_independent_size(0.1, 0.85, 0.85)
    201
    """
    from scipy.special import ndtri

    faults = shares(margin=margin, rate=rate, reference_rate=reference_rate,
                    confidence=confidence, power=power)  # fmt: skip
    faults += at_least("design-effect", design_effect, 1)
    if margin + rate - reference_rate <= 1e-9:
        faults.append(Fault("rate must be above the reference rate minus the margin"))
    ArgumentError.raise_any(faults)
    reach = half_width_in_sds(confidence, None) + float(ndtri(power))
    spread = rate * (1 - rate) + reference_rate * (1 - reference_rate)
    return inflated((reach / (margin + rate - reference_rate)) ** 2 * spread, design_effect)


#: Places of the grid on which sums are integrated; the bounds are right to the fourth decimal.
_GRID = 1201
_STUDIES = 20_000


@dataclass(frozen=True, slots=True)
class InterimLook:
    """One look at the data: after ``units``, stop with ``least`` or more, or ``most`` or fewer."""

    units: int
    z: float
    least: int | None
    most: int | None
    stopped: float


@dataclass(frozen=True, slots=True)
class SequentialPlan:
    """When a study may stop, and how it fares by simulation.

    ``false_alarm`` is the share of simulated studies that stop with a difference where there is
    none, ``power`` of those that find the expected one, ``mean_units`` what the latter need.
    """

    goal: float
    expected: float
    fixed_units: int
    looks: tuple[InterimLook, ...]
    false_alarm: float
    power: float
    mean_units: float

    def to_dict(self) -> dict[str, object]:
        """Return everything, ready for JSON."""
        return asdict(self)


def obrien_fleming(looks: int, *, confidence: float = 0.95) -> F64:
    """Return the critical values of z at each of some equally spaced looks.

    z_k = C √(K / k) with C such that a two-sided test without a difference is significant at some
    look with probability 1 - confidence (O'Brien & Fleming 1979, Biometrics 35: 549). Since
    z_k √(k / K) is a random walk, C is the limit that the walk crosses with that probability,
    found by integrating its density from look to look (Armitage, McPherson & Rowe 1969).

    >>> obrien_fleming(5).round(2).tolist()
    [4.56, 3.23, 2.63, 2.28, 2.04]
    """
    from scipy.optimize import brentq

    ArgumentError.raise_any(at_least("looks", looks, 1) + inside_unit("confidence", confidence))
    limit = brentq(lambda c: crossed(c, looks)[0] - (1 - confidence), 1.0, 6.0, xtol=1e-6)
    return np.asarray(limit * np.sqrt(looks / np.arange(1, looks + 1)))


def crossed(limit: float, looks: int, drift: float = 0.0) -> tuple[float, float]:
    """Return the probability that a walk of `looks` steps to `drift` leaves ± limit, and above."""
    from scipy.stats import norm

    step, sd = drift / looks, 1 / math.sqrt(looks)
    grid = np.linspace(-limit, limit, _GRID)
    weight = np.full(_GRID, grid[1] - grid[0])
    weight[[0, -1]] /= 2
    density = _normal(grid, step, sd)
    above = float(norm.sf(limit, step, sd))
    either = above + float(norm.cdf(-limit, step, sd))
    move = _normal(grid[:, None] - grid[None, :], step, sd)
    for _ in range(looks - 1):
        mass = density * weight
        up = float(mass @ norm.sf(limit - grid, step, sd))
        above += up
        either += up + float(mass @ norm.cdf(-limit - grid, step, sd))
        density = move @ mass
    return either, above


def _normal(x: F64, mean: float, sd: float) -> F64:
    """Return the density of a normal variable as scipy does, without its checks of every number."""
    z = (x - mean) / sd
    return np.asarray(np.exp(-(z**2) / 2.0) / math.sqrt(2 * math.pi) / sd)


def plan_sequential(
    goal: float,
    expected: float,
    *,
    looks: int = 4,
    confidence: float = 0.95,
    power: float = 0.9,
    seed: int = 0,
) -> SequentialPlan:
    """Plan a study that shows that a rate differs from a goal, and may stop early.

    The size without looks is n = ((z_a √(g (1 - g)) + z_b √(p (1 - p))) / (p - g))²; it is
    multiplied by the factor that O'Brien and Fleming's bounds cost at this power (Jennison &
    Turnbull 2000, Table 2.4) and rounded up to equal parts. The score test
    z = (p̂ - g) / √(g (1 - g) / n) is made at each look; its false alarms, power and mean size are
    simulated with whole counts, which the bounds are only approximate for. An estimate after an
    early stop is too extreme on average: report it with that remark.

    ``goal``, ``expected``: the rate that must be exceeded, and the rate that is hoped for.
    ``looks``: how often the data are looked at, the last time included.
    ``confidence``, ``power``: 1 minus the probability of a false alarm, and the probability of
    finding `expected`.

    A unit is a note that the rate is a share of: one detected for precision, one that truly holds
    the variable for recall.

    >>> plan = plan_sequential(0.80, 0.88, looks=4)
    >>> plan.fixed_units, [look.units for look in plan.looks]
    (226, [58, 116, 174, 232])
    >>> [look.least for look in plan.looks]
    [None, 106, 152, 198]
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    faults = shares(goal=goal, expected=expected, power=power)
    if goal == expected:
        faults.append(Fault("expected must differ from the goal"))
    ArgumentError.raise_any(faults)
    bounds = obrien_fleming(looks, confidence=confidence)
    z, reach = float(ndtri((1 + confidence) / 2)), float(ndtri(power))
    spread, hoped = math.sqrt(goal * (1 - goal)), math.sqrt(expected * (1 - expected))
    fixed = ((z * spread + reach * hoped) / (expected - goal)) ** 2
    drift = brentq(lambda d: crossed(float(bounds[-1]), looks, d)[1] - power, 0.1, 12.0)
    each = math.ceil(fixed * (drift / (z + reach)) ** 2 / looks)
    units = each * np.arange(1, looks + 1)
    half = bounds * np.sqrt(units) * spread
    least = np.ceil(units * goal + half - 1e-9).astype(int)
    most = np.floor(units * goal - half + 1e-9).astype(int)
    rng = np.random.default_rng(seed)

    def simulate(rate: float) -> tuple[F64, F64]:
        """Return the share that stops at each look, and whether above."""
        counts = rng.binomial(each, rate, size=(_STUDIES, looks)).cumsum(axis=1)
        high, low = counts >= least, counts <= most
        first = (high | low).argmax(axis=1)
        stopped = (high | low).any(axis=1)
        shares = np.bincount(first[stopped], minlength=looks) / _STUDIES
        above = high[np.arange(_STUDIES), first] & stopped
        return shares, np.asarray([above.mean(), stopped.mean()])

    none, found = simulate(goal), simulate(expected)
    stops = found[0].copy()
    stops[-1] += 1 - found[1][1]
    right = found[1][0] if expected > goal else found[1][1] - found[1][0]
    return SequentialPlan(
        goal,
        expected,
        math.ceil(fixed),
        tuple(
            InterimLook(
                int(n), float(z_k), int(up) if up <= n else None,
                int(down) if down >= 0 else None, float(share),
            )
            for n, z_k, up, down, share in zip(units, bounds, least, most, stops, strict=True)
        ),
        float(none[1][1]),
        float(right),
        float((stops * units).sum()),
    )  # fmt: skip
