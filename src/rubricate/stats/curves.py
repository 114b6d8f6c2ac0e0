"""Sample size as a function of one expected value, for plotting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from rubricate.errors import InputError
from rubricate.stats.checks import one_of, raise_if_any
from rubricate.stats.planning import plan_assurance
from rubricate.stats.plans import Expected, PlanMethod, Target
from rubricate.stats.reported import plan_reported
from rubricate.stats.slice import plan_slice

Varied = Literal["precision", "recall", "frequency"]
#: Studies simulated for a point of a curve.
_FEW_STUDIES = 100


@dataclass(frozen=True, slots=True)
class PlanCurve:
    """Sizes along one varied value.

    Parameters
    ----------
    vary : {"precision", "recall", "frequency"}
        What varies.
    values : tuple of float
        Its values.
    positives, negatives, totals : tuple of int
        The plan at each value.
    skipped : tuple of float
        Values left out because they cannot go with the rest.
    """

    vary: Varied
    values: tuple[float, ...]
    positives: tuple[int, ...]
    negatives: tuple[int, ...]
    totals: tuple[int, ...]
    skipped: tuple[float, ...]


def plan_curve(
    expected: Expected,
    target: Target | None = None,
    *,
    vary: Varied,
    values: Sequence[float] | None = None,
    method: PlanMethod = "assurance",
) -> PlanCurve:
    """Return the sample size against one expected value, the others as given.

    Parameters
    ----------
    expected : Expected
        The point through which the curve runs.
    target : Target, optional
        Width, confidence, assurance and interval.
    vary : {"precision", "recall", "frequency"}
        What varies.
    values : sequence of float, optional
        Its values; by default .50 to .98 for precision and recall, .02 to .98 for frequency, in
        steps of .02 (of .08 where sizes are simulated).
    method : {"assurance", "slice", "reported"}
        Rule of the plan.

    Returns
    -------
    PlanCurve
        One size per value; impossible values are in `skipped`.

    Raises
    ------
    InputError
        If `vary` or `method` is not known.

    Examples
    --------
    >>> curve = plan_curve(
    ...     Expected(0.85, 0.80, 0.48), vary="frequency", values=[0.1, 0.48, 0.9], method="slice"
    ... )
    >>> curve.values, curve.totals, curve.skipped
    ((0.1, 0.48), (2494, 519), (0.9,))
    """
    raise_if_any(
        one_of("vary", vary, ["precision", "recall", "frequency"])
        + one_of("method", method, get_args(PlanMethod))
    )
    target = target or Target()
    if values is None:
        start = 0.02 if vary == "frequency" else 0.50
        step = 0.08 if method == "reported" else 0.02  # those are simulated
        values = np.arange(start, 0.981, step).round(2).tolist()
    points: list[tuple[float, int, int]] = []
    skipped: list[float] = []
    for value in values:
        changes: dict[str, Any] = {vary: value}
        try:
            here = replace(expected, **changes)
        except InputError:
            skipped.append(value)
            continue
        if here.frequency >= here.highest_frequency:
            skipped.append(value)
            continue
        if method == "slice":
            plan = plan_slice(
                here,
                half_width=target.half_width,
                confidence=target.confidence,
                simulate=False,
            )
        elif method == "reported":
            plan = plan_reported(here, target, studies=_FEW_STUDIES)
        else:
            plan = plan_assurance(here, target)
        points.append((value, plan.positives, plan.negatives))
    return PlanCurve(
        vary=vary,
        values=tuple(point[0] for point in points),
        positives=tuple(point[1] for point in points),
        negatives=tuple(point[2] for point in points),
        totals=tuple(point[1] + point[2] for point in points),
        skipped=tuple(skipped),
    )
