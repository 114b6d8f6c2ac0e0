"""Sizes for kappa, the intraclass correlation, the area under a curve and non-inferiority."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from rubricate.errors import Fault
from rubricate.stats.bootstrap import half_width_in_sds
from rubricate.stats.limits import at_least, raise_if_any, shares
from rubricate.stats.planning import Sampling, plan_assurance, width_chances
from rubricate.stats.plans import Expected, Plan, Target
from rubricate.stats.sizes import assured_half_width, doubled, smallest_size

_MOST = 100_000_000


def kappa_size(
    kappa: float, frequency: float, half_width: float, *, confidence: float = 0.95
) -> int:
    """Return how many units two raters must judge for an interval of Cohen's kappa.

    n = z^2 V / d^2 with V = (1 - k) ((1 - k)(1 - 2 k) + k (2 - k) / (2 f (1 - f))), the
    large-sample variance for two categories that both raters use at the frequency f (Donner &
    Eliasziw 1992, Statistics in Medicine 11: 1511).

    ``kappa``: expected kappa, between 0 and 1.
    ``frequency``: share of units that hold the feature.

    >>> kappa_size(0.8, 0.3, 0.1), kappa_size(0.8, 0.05, 0.1)
    (167, 768)
    """
    raise_if_any(
        shares(kappa=kappa, frequency=frequency, half_width=half_width, confidence=confidence)
    )
    spread = 2 * frequency * (1 - frequency)
    variance = (1 - kappa) * ((1 - kappa) * (1 - 2 * kappa) + kappa * (2 - kappa) / spread)
    return math.ceil((half_width_in_sds(confidence, None) / half_width) ** 2 * variance - 1e-9)


def icc_size(icc: float, raters: int, half_width: float, *, confidence: float = 0.95) -> int:
    """Return how many notes some raters must score for an interval of the ICC.

    n = 8 z^2 (1 - r)^2 (1 + (k - 1) r)^2 / (k (k - 1) w^2) + 1 for k raters and a full width w
    (Bonett 2002, Statistics in Medicine 21: 1331).

    ``icc``: expected correlation, between 0 and 1.
    ``raters``: raters of each note, at least 2.
    ``half_width``, ``confidence``: half the width of the interval, and its confidence.

    >>> icc_size(0.8, 2, 0.1)
    51
    """
    faults = shares(icc=icc, half_width=half_width, confidence=confidence)
    raise_if_any(faults + at_least("raters", raters, 2))
    width, k = 2 * half_width, raters
    top = 8 * half_width_in_sds(confidence, None) ** 2 * (1 - icc) ** 2 * (1 + (k - 1) * icc) ** 2
    return math.ceil(top / (k * (k - 1) * width**2) + 1 - 1e-9)


def auc_size(auc: float, frequency: float, half_width: float, *, confidence: float = 0.95) -> int:
    """Return how many notes the area under the ROC curve needs for its interval.

    SE^2 = (A (1 - A) + (p - 1)(Q1 - A^2) + (q - 1)(Q2 - A^2)) / (p q) for p positives and q
    negatives, Q1 = A / (2 - A), Q2 = 2 A^2 / (1 + A) (Hanley & McNeil 1982, Radiology 143: 29); the
    smallest n = p + q at which z SE is within the half width.

    ``auc``: expected area, between 0 and 1.
    ``half_width``, ``confidence``: half the width of the interval, and its confidence.

    >>> auc_size(0.9, 0.3, 0.05)
    238
    """
    raise_if_any(shares(auc=auc, frequency=frequency, half_width=half_width, confidence=confidence))
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

    return smallest_size(narrow, 1, doubled(narrow, 2, _MOST), in_a_row=1)


def non_inferiority_size(
    margin: float,
    discordant: float,
    *,
    difference: float = 0.0,
    confidence: float = 0.95,
    power: float = 0.8,
) -> int:
    """Return how many paired items show that one side is not worse than another by a margin.

    n = ((z_a + z_b) / (m + d))^2 (s - d^2) for the true difference d of two paired proportions, of
    which a share s of the items is right on one side only; z_a is one-sided at (1 - confidence) / 2
    (Liu, Hsueh, Hsieh & Chen 2002, Statistics in Medicine 21: 231).

    ``margin``: largest loss that is allowed, above 0.
    ``discordant``: share of items that one side has right and the other wrong.
    ``difference``: expected first minus second, above minus the margin.
    ``confidence``: of the two-sided interval whose lower limit must stay above minus the margin.

    Items of one note count less (a design effect).

    >>> non_inferiority_size(0.03, 0.10)
    873
    """
    from scipy.special import ndtri

    faults = shares(margin=margin, discordant=discordant, confidence=confidence, power=power)
    if not -margin < difference < 1 or abs(difference) > discordant:
        faults.append(
            Fault(
                f"difference is {difference}: it must be above minus the margin and no larger than "
                "the share of discordant items"
            )
        )
    raise_if_any(faults)
    reach = half_width_in_sds(confidence, None) + float(ndtri(power))
    return math.ceil((reach / (margin + difference)) ** 2 * (discordant - difference**2) - 1e-9)


@dataclass(frozen=True, slots=True)
class Outlook:
    """What one variable can hope for in a sample of a given size."""

    name: str
    detected: int
    prevalent: int
    half_width_precision: float
    half_width_recall: float
    plan: Plan
    powered: bool


@dataclass(frozen=True, slots=True)
class VariablesPlan:
    """One sample for several variables.

    ``outlooks``: one for each variable, in the order given.
    """

    total: int
    outlooks: tuple[Outlook, ...]

    @property
    def underpowered(self) -> tuple[str, ...]:
        """Names of the variables the sample is too small for."""
        return tuple(outlook.name for outlook in self.outlooks if not outlook.powered)

    def to_dict(self) -> dict[str, object]:
        """Return the plan as plain values, ready for JSON."""
        variables = [
            {**asdict(outlook), "plan": outlook.plan.to_dict()} for outlook in self.outlooks
        ]
        return {
            "total": self.total,
            "underpowered": list(self.underpowered),
            "variables": variables,
        }


def plan_variables(
    variables: Mapping[str, Expected],
    target: Target | None = None,
    *,
    total: int | None = None,
    pool: int | None = None,
    design_effect: float = 1.0,
) -> VariablesPlan:
    """Tell for each variable whether one simple random sample is large enough.

    ``variables``: expected precision, recall and frequency of each variable.
    ``target``: width, confidence, assurance and interval, the same for all.
    ``total``: notes in the sample; by default as many as the most demanding variable needs.
    ``pool``: notes in the finite pool.
    ``design_effect``: variance inflation by clustering.

    Each variable is told what the sample promises and what it would need alone.

    >>> variables = {"asthma": Expected(0.85, 0.80, 0.48), "obesity": Expected(0.90, 0.85, 0.10)}
    >>> plan = plan_variables(variables, total=600)
    >>> plan.underpowered, [outlook.plan.total for outlook in plan.outlooks]
    (('obesity',), [577, 2358])
    """
    target = target or Target()
    raise_if_any(
        at_least("variables", len(variables), 1)
        + ([] if total is None else at_least("total", total, 1))
    )
    plans = {
        name: plan_assurance(expected, target, pool=pool, design_effect=design_effect)
        for name, expected in variables.items()
    }
    size = max(plan.total for plan in plans.values()) if total is None else total
    outlooks = tuple(_outlook(name, plan, size) for name, plan in plans.items())
    return VariablesPlan(size, outlooks)


def _outlook(name: str, plan: Plan, total: int) -> Outlook:
    """Return what a sample of `total` notes promises for the variable of `plan`."""
    target, expected = plan.target, plan.expected
    detected = math.floor(total * expected.detected + 1e-9)
    prevalent = math.floor(total * expected.prevalence + 1e-9)
    whole = plan.pool is not None and total >= plan.pool
    sampling = Sampling(detected, total - detected, plan.pool, plan.design_effect)
    chances = width_chances(expected, target, sampling)

    def half_width(n: int, share: float, p: float) -> float:
        if whole:
            return 0.0  # nothing is left to chance
        return assured_half_width(
            math.floor(float(sampling.worth(n, share)) + 1e-9),
            p,
            assurance=target.assurance,
            confidence=target.confidence,
            method=target.interval,
        )

    return Outlook(
        name=name,
        detected=detected,
        prevalent=prevalent,
        half_width_precision=half_width(detected, expected.detected, expected.precision),
        half_width_recall=half_width(prevalent, expected.prevalence, expected.recall),
        plan=plan,
        powered=whole or chances.least >= target.assurance,
    )
