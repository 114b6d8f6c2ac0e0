"""Plans with the intervals that are reported, as SLiCE's and for several variables; curves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from rubricate.arrays import F64
from rubricate.errors import ArgumentError, at_least
from rubricate.stats.planning import (
    STUDY_INTERVAL,
    Chances,
    Sampling,
    check_possible,
    plan_assurance,
    plan_of_size,
    width_chances,
)
from rubricate.stats.plans import Cells, Expected, Plan, PlanMethod, Target, design_faults
from rubricate.stats.sizes import (
    assured_half_width,
    doubled,
    first_size,
    smallest_size,
)

#: Studies that are simulated, and draws from the posterior of each.
STUDIES, DRAWS = 1000, 400
#: Added to each cell that a note can fall into (Jeffreys), here and in a study's evaluation.
PRIOR = 0.5
#: Sizes that are looked at are at most this; beyond it the width cannot be met.
_MOST = 2_000_000


def reported_chances(expected: Expected, target: Target, sampling: Sampling) -> Chances:
    """Return the probability that the intervals of ``study evaluate`` are as narrow as asked.

    Studies are simulated: TP ~ Binomial(positives, P) and FN ~ Binomial(negatives, share missed);
    for precision, which has the positives alone, the binomial outcomes are summed. Each gets the
    equal-tailed posterior limits of `rubricate.evaluation.design.design_posterior`, Beta with 1/2
    added to each count, positives and negatives weighted by their shares of the population.

    >>> found = reported_chances(Expected(0.85, 0.80, 0.48), Target(), Sampling(249, 270))
    >>> found.precision > 0.98, found.recall > 0.98
    (True, True)
    """
    return Chances(
        precision_chance(expected, target, sampling),
        _recall_chance(expected, target, sampling, STUDIES),
    )


def precision_chance(expected: Expected, target: Target, sampling: Sampling) -> float:
    """Return the chance for precision, which is exact: its posterior is Jeffreys' interval."""
    exact = replace(target, drawing="fixed", interval="jeffreys")
    return width_chances(expected, exact, sampling).precision


def _recall_chance(expected: Expected, target: Target, sampling: Sampling, studies: int) -> float:
    p, r, f = expected.precision, expected.recall, expected.detected
    rng = np.random.default_rng(0)
    positives, negatives = sampling.positives, sampling.negatives
    tp = rng.binomial(positives, p, size=(studies, 1)).astype(np.float64)
    fn = rng.binomial(negatives, f * p * (1 - r) / r / (1 - f), size=(studies, 1)).astype(float)
    found = _shapes(tp, positives, float(sampling.worth(positives, f)))
    lost = _shapes(fn, negatives, float(sampling.worth(negatives, 1 - f)))
    tail, size = (1 - target.confidence) / 2, (studies, DRAWS)
    right, missed = f * rng.beta(*found, size=size), (1 - f) * rng.beta(*lost, size=size)
    low, high = np.quantile(right / (right + missed), [tail, 1 - tail], axis=1)
    return float((high - low < 2 * target.half_width).mean())


def _shapes(one: F64, n: int, worth: float) -> tuple[F64, F64]:
    """Return the posterior's shapes for `one` of `n` notes that are worth another number."""
    return one * worth / n + PRIOR, (n - one) * worth / n + PRIOR


def plan_reported(
    expected: Expected,
    target: Target | None = None,
    *,
    sites: int = 1,
    pool: int | None = None,
    design_effect: float = 1.0,
    studies: int = STUDIES,
) -> Plan:
    """Plan a sample whose reported intervals are narrow enough with the probability asked.

    The smallest number of notes, positives and negatives in the proportion in which they occur,
    at which `reported_chances` reaches the assurance for precision and for recall.

    ``sites``, ``pool``, ``design_effect``: as for `rubricate.stats.plan_assurance`.

    `n_precision` and `n_recall` are what is expected in the sample.

    >>> plan = plan_reported(Expected(0.85, 0.80, 0.48), sites=6)
    >>> 420 < plan.total < 519, plan.met["design-posterior"]["precision"] >= 0.9
    (True, True)
    """
    target = target or Target(drawing="fixed")
    ArgumentError.raise_any(design_faults(sites, pool, design_effect))
    check_possible(expected)

    def drawn(total: int) -> Sampling:
        positives = min(max(1, round(total * expected.detected)), total - 1)
        return Sampling(positives, total - positives, pool, design_effect)

    most = _MOST if pool is None else max(pool, 2)

    def narrow(total: int) -> bool:
        return total >= most or (
            precision_chance(expected, target, drawn(total)) >= target.assurance
        )

    def holds(total: int) -> bool:
        return total >= most or (
            _recall_chance(expected, target, drawn(total), studies) >= target.assurance
        )

    total = smallest_size(narrow, 2, doubled(narrow, 64, most), in_a_row=5)
    if not holds(total):
        total = smallest_size(holds, total, doubled(holds, total, most), in_a_row=1)
    sampling = drawn(min(total, most))
    return plan_of_size(
        "reported", expected, target, sampling, sites,
        (sampling.positives, math.floor(sampling.total * expected.prevalence)),
        reported_chances(expected, target, sampling),
    )  # fmt: skip


_EXACT = "Clopper-Pearson intervals"


def _warnings(expected: Expected, met: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return warnings about faults that SLiCE's numbers hide."""
    said = []
    if expected.frequency >= expected.highest_frequency:
        said.append(
            f"frequency {expected.frequency} is impossible with this precision and recall "
            f"(it must stay below {expected.highest_frequency:.3f}): true negatives were set to 0"
        )
    for name, chances in met.items():
        words = _EXACT if name == "clopper-pearson" else "those that 'study evaluate' reports"
        said.append(
            f"with {words} the width is met in {chances['precision']:.1%} (precision) and "
            f"{chances['recall']:.1%} (recall) of repeated studies of this size"
        )
    return [*said, "the methods 'assurance' and 'reported' plan for a chosen probability"]


def _met(
    expected: Expected, target: Target, cells: Cells, *, simulate: bool
) -> dict[str, dict[str, float]]:
    """Return the probability of reaching the width, by exact intervals and by those of a study.

    Nothing is known of a frequency that cannot be.
    """
    if expected.frequency >= expected.highest_frequency:
        return {}
    sampling = Sampling(cells.tp + cells.fp, cells.fn + cells.tn)
    met = {"clopper-pearson": asdict(width_chances(expected, target, sampling))}
    if simulate and min(sampling.positives, sampling.negatives):
        met[STUDY_INTERVAL] = asdict(reported_chances(expected, target, sampling))
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

    ``half_width``: half the width asked for ("interval width 5 %" in the paper means 0.05 here).
    ``sites``: sites that share the notes; each site's share is rounded up.
    ``simulate``: whether to say how often the intervals of ``study evaluate`` meet the width.

    Warnings say where the numbers are impossible or unsafe.

    >>> plan = plan_slice(Expected(0.85, 0.80, 0.48), sites=6)
    >>> plan.positives, plan.negatives, plan.total, plan.per_site.total
    (249, 270, 519, 87)
    """
    ArgumentError.raise_any(at_least("sites", sites, 1))
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


def plan_curve(
    expected: Expected, target: Target, *, vary: Varied, method: PlanMethod
) -> dict[float, int]:
    """Return the notes to annotate against one expected value, the others as given.

    The values run from .50 to .98 for precision and recall and from .02 to .98 for frequency, in
    steps of .02 (of .08 where sizes are simulated); impossible ones are left out.

    >>> curve = plan_curve(Expected(0.85, 0.80, 0.48), Target(), vary="frequency", method="slice")
    >>> curve[0.1], curve[0.48], 0.9 in curve
    (2494, 519, False)
    """
    start = 0.02 if vary == "frequency" else 0.50
    step = 0.08 if method == "reported" else 0.02
    totals = {}
    for value in np.arange(start, 0.981, step).round(2).tolist():
        changes: dict[str, Any] = {vary: value}
        here = replace(expected, **changes)
        if here.frequency >= here.highest_frequency:
            continue
        if method == "slice":
            plan = plan_slice(
                here, half_width=target.half_width, confidence=target.confidence, simulate=False
            )
        elif method == "reported":
            plan = plan_reported(here, target, studies=_FEW_STUDIES)
        else:
            plan = plan_assurance(here, target)
        totals[value] = plan.total
    return totals


@dataclass(frozen=True, slots=True)
class Outlook:
    """Prospects of one variable in a sample of a given size."""

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
    ArgumentError.raise_any(
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
    """Return the prospects of the variable of `plan` in a sample of `total` notes."""
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
