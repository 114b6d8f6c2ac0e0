"""Sizes for the intervals that a study reports: the posterior of positives and negatives."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from rubricate.arrays import F64
from rubricate.stats.drawing import Chances, Sampling, doubled, smallest_size, width_chances
from rubricate.stats.limits import design_faults, raise_if_any
from rubricate.stats.planning import check_possible, plan_of_size
from rubricate.stats.plans import Expected, Plan, Target

#: Studies that are simulated, and draws from the posterior of each.
STUDIES, DRAWS = 1000, 400
#: Added to each cell that a note can fall into (Jeffreys), as the study's evaluation does.
PRIOR = 0.5
#: Sizes that are looked at are at most this; beyond it the width cannot be met.
_MOST = 2_000_000


def reported_chances(expected: Expected, target: Target, sampling: Sampling) -> Chances:
    """Return how often the intervals that ``study evaluate`` reports are as narrow as asked.

    Studies are simulated: TP ~ Binomial(positives, P) and FN ~ Binomial(negatives, share missed);
    for precision, which has the positives alone, the binomial outcomes are summed. Each gets the
    equal-tailed posterior limits of `rubricate.stats.stratified_posterior`, Beta with 1/2 added to
    each count, positives and negatives weighted by their shares of the population.

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

    Parameters
    ----------
    expected : Expected
        Expected precision, recall and frequency.
    target : Target, optional
        Width, confidence and assurance.
    sites, pool, design_effect
        As for `rubricate.stats.plan_assurance`.
    studies : int
        Studies simulated at each size that is looked at.

    Returns
    -------
    Plan
        The sizes; `n_precision` and `n_recall` are what is expected in the sample.

    Raises
    ------
    InputError
        If a value is out of range, or precision, recall and frequency cannot go together.

    Examples
    --------
    >>> plan = plan_reported(Expected(0.85, 0.80, 0.48), sites=6)
    >>> 420 < plan.total < 519, plan.met["design-posterior"]["precision"] >= 0.9
    (True, True)
    """
    target = target or Target(drawing="fixed")
    raise_if_any(design_faults(sites, pool, design_effect))
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
