"""SLiCE's sample size, number for number, and sizes as a function of one expected value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from rubricate.errors import InputError
from rubricate.stats.drawing import Sampling
from rubricate.stats.limits import at_least, one_of, raise_if_any
from rubricate.stats.planning import STUDY_INTERVAL, plan_assurance
from rubricate.stats.plans import Cells, Expected, Plan, PlanMethod, Target
from rubricate.stats.reported import plan_reported, reported_chances
from rubricate.stats.sizes import first_size, width_probability

_EXACT = "Clopper-Pearson"


def _warnings(expected: Expected, met: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return what SLiCE's numbers hide."""
    said = []
    if expected.frequency >= expected.highest_frequency:
        said.append(
            f"frequency {expected.frequency} is impossible with this precision and recall "
            f"(it must stay below {expected.highest_frequency:.3f}): true negatives were set to 0"
        )
    exact = met["clopper-pearson"]
    words = (
        f"with {_EXACT} intervals the width is met in {exact['precision']:.0%} (precision) and "
        f"{exact['recall']:.0%} (recall) of repeated studies of this size"
    )
    if STUDY_INTERVAL in met:
        reported = met[STUDY_INTERVAL]
        words += (
            f", with those that 'study evaluate' reports in {reported['precision']:.0%} and "
            f"{reported['recall']:.0%}"
        )
    return [*said, f"{words}; the methods 'assurance' and 'reported' plan for a chosen probability"]


def _met(
    expected: Expected, target: Target, cells: Cells, *, simulate: bool
) -> dict[str, dict[str, float]]:
    """Return how often the width is met, by the paper's intervals and by those of a study.

    By the paper's, precision has all positives of the plan and recall the notes that are expected
    to hold the variable.
    """
    sizes = ((cells.tp + cells.fp, expected.precision), (cells.tp + cells.fn, expected.recall))
    shares = [
        width_probability(n, p, target.half_width, confidence=target.confidence) for n, p in sizes
    ]
    met = {"clopper-pearson": {"precision": shares[0], "recall": shares[1]}}
    sampling = Sampling(cells.tp + cells.fp, cells.fn + cells.tn)
    possible = expected.frequency < expected.highest_frequency
    if simulate and possible and min(sampling.positives, sampling.negatives):
        found = reported_chances(expected, target, sampling)
        met[STUDY_INTERVAL] = {"precision": found.precision, "recall": found.recall}
    return met


def plan_slice(
    expected: Expected,
    *,
    half_width: float = 0.05,
    confidence: float = 0.95,
    sites: int = 1,
    simulate: bool = True,
) -> Plan:
    """Plan a sample as SLiCE does (Canales et al. 2021, Multimedia Appendix 1).

    n_P and n_R are the first n whose Clopper-Pearson interval of round(n p) of n is narrower than
    2 `half_width`. Each gives a confusion table: TP = n_P P, FP = n_P - TP, FN = TP (1 - R) / R
    from precision, and likewise from recall; N = (TP + FP) / f for an internal and
    N = (TP + FN) / f for an external frequency, TN = max(0, N - TP - FP - FN). The larger of
    the two is taken cell by cell and rounded. Positive means found by the system.

    Parameters
    ----------
    expected : Expected
        Expected precision, recall and frequency.
    half_width : float
        Half the width asked for ("interval width 5 %" in the paper means 0.05 here).
    confidence : float
        Confidence of the intervals.
    sites : int
        Sites that share the notes; each site's share is rounded up.
    simulate : bool
        Whether to say how often the intervals of ``study evaluate`` meet the width.

    Returns
    -------
    Plan
        SLiCE's numbers, with warnings where they are impossible or unsafe.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> plan = plan_slice(Expected(0.85, 0.80, 0.48), sites=6)
    >>> plan.positives, plan.negatives, plan.total, plan.per_site.total
    (249, 270, 519, 87)
    """
    raise_if_any(at_least("sites", sites, 1))
    target = Target(half_width=half_width, confidence=confidence, drawing="fixed")
    p, r, f = expected.precision, expected.recall, expected.frequency
    n_precision = first_size(p, half_width, confidence=confidence)
    n_recall = first_size(r, half_width, confidence=confidence)

    # The order of operations is SLiCE's: it decides how exact halves round.
    tp = n_precision * p, n_recall * r
    fp = n_precision - tp[0], tp[1] / (p / (1 - p))
    fn = tp[0] / (r / (1 - r)), n_recall - tp[1]
    if expected.frequency_kind == "internal":
        tn = [((t + a) * (1 - f) - f * b) / f for t, a, b in zip(tp, fp, fn, strict=True)]
    else:
        tn = [((t + b) * (1 - f) - f * a) / f for t, a, b in zip(tp, fp, fn, strict=True)]
    cells = Cells(round(max(tp)), round(max(fp)), round(max(fn)), round(max(0.0, *tn)))
    met = _met(expected, target, cells, simulate=simulate)
    return Plan(
        method="slice",
        positives=cells.tp + cells.fp,
        negatives=cells.fn + cells.tn,
        sites=sites,
        n_precision=n_precision,
        n_recall=n_recall,
        cells=cells,
        expected=expected,
        target=target,
        warnings=tuple(_warnings(expected, met)),
        met=met,
    )


Varied = Literal["precision", "recall", "frequency"]
#: Studies simulated for a point of a curve.
_FEW_STUDIES = 100


@dataclass(frozen=True, slots=True)
class PlanCurve:
    """Sizes along one varied value."""

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
