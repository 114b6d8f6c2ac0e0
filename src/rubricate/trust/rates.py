"""Each feature's rate in two runs: difference, interval, exact test."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from rubricate.run.reading import ScoredRun, paired_items
from rubricate.stats import adjust_p_values, proportion_limits


@dataclass(frozen=True, slots=True)
class FeatureDrift:
    """How a feature's rate moved."""

    feature: str
    n_before: int
    n_after: int
    before: float
    after: float
    difference: float
    low: float
    high: float
    effect: float
    p_value: float
    adjusted: float
    flag: bool


def feature_rates(
    before: ScoredRun,
    after: ScoredRun,
    same: bool,
    alpha: float,
    min_rate: float,
    confidence: float,
) -> tuple[FeatureDrift, ...]:
    """Compare the rates of the features both runs judged; see `rubricate.trust.measure_drift`.

    Different notes: Fisher's exact test and Newcombe's (1998) interval from two Wilson
    intervals. Same notes: McNemar's exact test of the decisions that changed, and the interval
    of Agresti & Min (2005). The effect is Cohen's (1988) h = 2 asin √p2 - 2 asin √p1.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> from rubricate.trust import run_of_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> run = run_of_corpus(corpus)
    >>> rates = feature_rates(run, run, True, 0.05, 0.1, 0.95)
    >>> len(rates), {rate.difference for rate in rates}
    (16, {0.0})
    """
    found = _paired(before, after, confidence) if same else _apart(before, after, confidence)
    adjusted = adjust_p_values([one.p_value for one in found], method="benjamini-hochberg")
    return tuple(
        replace(
            one,
            adjusted=float(p),
            flag=bool(p <= alpha and abs(one.difference) >= min_rate),
        )
        for one, p in zip(found, adjusted, strict=True)
    )


def _apart(before: ScoredRun, after: ScoredRun, confidence: float) -> list[FeatureDrift]:
    from scipy.stats import fisher_exact

    tables = [_judged_and_found(run) for run in (before, after)]
    found = []
    for feature in tables[0]:
        if feature not in tables[1]:
            continue
        (n1, k1), (n2, k2) = tables[0][feature], tables[1][feature]
        p1, p2 = k1 / n1, k2 / n2
        low, high = proportion_limits([k1, k2], [n1, n2], method="wilson", confidence=confidence)
        gap = p2 - p1
        under = math.hypot(p2 - low[1], high[0] - p1)
        over = math.hypot(high[1] - p2, p1 - low[0])
        p_value = float(fisher_exact(np.array([[k1, n1 - k1], [k2, n2 - k2]]))[1])
        found.append(_drift(feature, (n1, p1), (n2, p2), (gap - under, gap + over), p_value))
    return found


def _paired(before: ScoredRun, after: ScoredRun, confidence: float) -> list[FeatureDrift]:
    from scipy.special import ndtri
    from scipy.stats import binomtest

    first, second = paired_items(before, after)
    feature = before.items.feature[first]
    old, new = before.items.found[first], after.items.found[second]
    n_features = len(before.items.features)
    n = np.bincount(feature, minlength=n_features)
    lost = np.bincount(feature[old & ~new], minlength=n_features)
    gained = np.bincount(feature[~old & new], minlength=n_features)
    held = np.bincount(feature[old], minlength=n_features)
    z = float(ndtri(0.5 + confidence / 2))
    found = []
    for i in np.flatnonzero(n):
        b, c, size = int(gained[i]), int(lost[i]), int(n[i])
        p1, p2 = held[i] / size, (held[i] + b - c) / size
        p_value = float(binomtest(b, b + c).pvalue) if b + c else 1.0
        middle = (b - c) / (size + 2)
        half = z * math.sqrt((b + c + 1) - (b - c) ** 2 / (size + 2)) / (size + 2)
        limits = (middle - half, middle + half)
        name = before.items.features[i]
        found.append(_drift(name, (size, float(p1)), (size, float(p2)), limits, p_value))
    return found


def _judged_and_found(run: ScoredRun) -> dict[str, tuple[int, int]]:
    items, n_features = run.items, len(run.items.features)
    judged = np.bincount(items.feature, minlength=n_features).tolist()
    found = np.bincount(items.feature[items.found], minlength=n_features).tolist()
    return {name: (n, k) for name, n, k in zip(items.features, judged, found, strict=True) if n}


def _drift(
    feature: str,
    before: tuple[int, float],
    after: tuple[int, float],
    limits: tuple[float, float],
    p_value: float,
) -> FeatureDrift:
    effect = 2 * math.asin(math.sqrt(after[1])) - 2 * math.asin(math.sqrt(before[1]))
    return FeatureDrift(
        feature, before[0], after[0], before[1], after[1], after[1] - before[1],
        max(limits[0], -1.0), min(limits[1], 1.0), effect, min(p_value, 1.0), math.nan, flag=False,
    )  # fmt: skip
