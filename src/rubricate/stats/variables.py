"""Several variables in one sample: which stay under-powered, and what each would need."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from rubricate.stats.checks import at_least, raise_if_any
from rubricate.stats.drawing import Sampling, width_chances
from rubricate.stats.planning import plan_assurance
from rubricate.stats.plans import Expected, Plan, Target
from rubricate.stats.sizes import assured_half_width


@dataclass(frozen=True, slots=True)
class Outlook:
    """What one variable can hope for in a sample of a given size.

    Parameters
    ----------
    name : str
        The variable.
    detected, prevalent : int
        Notes in which the system will find it, and that truly hold it, expected in the sample.
    half_width_precision, half_width_recall : float
        Half widths that these notes promise with the assurance asked, if so many are found.
    plan : Plan
        What the variable alone would need.
    powered : bool
        Whether the sample holds enough notes for both precision and recall.
    """

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

    Parameters
    ----------
    total : int
        Notes in the sample.
    outlooks : tuple of Outlook
        One for each variable, in the order given.
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


def _effective(n: int, pool: float | None, design_effect: float) -> int:
    """Return the independent draws from an endless pool that `n` notes are worth, rounded down.

    The inverse of the two steps of the planned size: without replacement n notes of a pool N are
    worth n (N - 1) / (N - n); clustering divides by the design effect.
    """
    worth = float(n)
    if pool is not None:
        # The cap keeps a nearly exhausted pool from being worth endless draws.
        worth = min(n * (pool - 1) / (pool - n), 1e6) if n < pool else 1e6
    return math.floor(worth / design_effect + 1e-9)


def plan_variables(
    variables: Mapping[str, Expected],
    target: Target | None = None,
    *,
    total: int | None = None,
    pool: int | None = None,
    design_effect: float = 1.0,
) -> VariablesPlan:
    """Tell for each variable whether one simple random sample is large enough.

    Parameters
    ----------
    variables : mapping of str to Expected
        Expected precision, recall and frequency of each variable.
    target : Target, optional
        Width, confidence, assurance and interval, the same for all.
    total : int, optional
        Notes in the sample; by default as many as the most demanding variable needs.
    pool : int, optional
        Notes in the finite pool.
    design_effect : float
        Variance inflation by clustering.

    Returns
    -------
    VariablesPlan
        For each variable what the sample promises and what it would need alone.

    Raises
    ------
    InputError
        If there is no variable or a value is out of range.

    Examples
    --------
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
        pool = None if plan.pool is None else plan.pool * share
        return assured_half_width(
            _effective(n, pool, plan.design_effect),
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
