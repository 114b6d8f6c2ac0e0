"""Whether a feature is found more or less often in one group's notes of the same quality."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from rubricate.errors import InputError
from rubricate.run.scored_run import F64, I64, ScoredRun
from rubricate.stats import adjust_p_values

#: How large a bias is, in the Educational Testing Service's letters.
Size = Literal["A", "B", "C"]
_SCALE = -2.35


@dataclass(frozen=True, slots=True)
class ItemBias:
    """A feature's differential functioning for one group."""

    feature: str
    group: str
    n_group: int
    n_others: int
    odds_ratio: float
    low: float
    high: float
    delta: float
    p_value: float
    adjusted: float
    size: Size

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return asdict(self)


def differential_items(
    run: ScoredRun, groups: Mapping[str, str], *, min_size: int = 30, alpha: float = 0.05
) -> tuple[ItemBias, ...]:
    """Find features that work differently for a group, given the rest of the score.

    Notes are matched by how many other features were found. With a of n1 found in the group's
    and b of n0 in the others' notes of a stratum of N, the common odds ratio is
    sum(a (n0 - b) / N) / sum(b (n1 - a) / N), tested by the chi-square of Mantel & Haenszel
    (1959) with their correction for continuity; its interval uses the variance of Robins,
    Breslow & Greenland (1986). Sizes follow Zieky (1993): C where |delta| is 1.5 or more and
    beyond 1 by its interval, A where it is below 1 or not significant, else B.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> from rubricate.trust import run_of_corpus
    >>> run = run_of_corpus(load_corpus("open-notes").select(cases=["0"]))
    >>> found = differential_items(run, {n: "ab"[i % 2] for i, n in enumerate(run.notes)})
    >>> len(found), {bias.size for bias in found}
    (16, {'A'})
    """
    items = run.items
    sizes = Counter(groups[note] for note in run.notes if note in groups)
    if not len(items) or not sizes:
        raise InputError("need decisions on features, and a group for the notes")
    names = sorted(group for group, n in sizes.items() if n >= min_size)
    number = {group: i for i, group in enumerate(names)}
    label = np.array([number.get(groups.get(note, ""), -1) for note in run.notes])[items.note]
    total = np.bincount(items.note[items.found], minlength=len(run))
    rest = total[items.note] - items.found
    order = np.argsort(items.feature, kind="stable")
    bounds = np.searchsorted(items.feature[order], np.arange(len(items.features) + 1))
    # Of two groups, the second's odds ratio is the first's turned over
    tested = names[:1] if len(names) == 2 else names if len(names) > 2 else []
    found = []
    for k, feature in enumerate(items.features):
        own = order[bounds[k] : bounds[k + 1]]
        own = own[label[own] >= 0]
        for group in tested:
            table = _strata(items.found[own], label[own] == number[group], rest[own])
            if min(table[:, 2:].sum(axis=0), default=0) >= min_size:
                found.append(_bias(feature, group, table))
    adjusted = adjust_p_values([one.p_value for one in found], method="benjamini-hochberg")
    return tuple(_sized(one, float(p), alpha) for one, p in zip(found, adjusted, strict=True))


def _strata(found: np.ndarray[Any, Any], own: np.ndarray[Any, Any], rest: I64) -> F64:
    """Return one row per stratum: found in the group, found in the others, and notes of both."""
    size = int(rest.max(initial=0)) + 1
    return np.stack(
        [
            np.bincount(rest[mask], minlength=size)
            for mask in (found & own, found & ~own, own, ~own)
        ],
        axis=1,
    ).astype(np.float64)


def _bias(feature: str, group: str, table: F64) -> ItemBias:
    from scipy.special import ndtri
    from scipy.stats import chi2

    n_group, n_others = (int(n) for n in table[:, 2:].sum(axis=0))
    both = table[(table[:, 2] > 0) & (table[:, 3] > 0)]
    a, b, n1, n0 = both.T
    n = n1 + n0
    up, down = a * (n0 - b) / n, b * (n1 - a) / n
    expected = n1 * (a + b) / n
    variance = n1 * n0 * (a + b) * (n - a - b) / (n**2 * np.maximum(n - 1, 1))
    nothing = math.nan
    if variance.sum() <= 0:
        return ItemBias(feature, group, n_group, n_others, nothing, nothing, nothing, nothing,
                        nothing, nothing, "A")  # fmt: skip
    chi = max(abs((a - expected).sum()) - 0.5, 0.0) ** 2 / variance.sum()
    p_value = float(chi2.sf(chi, 1))
    if up.sum() <= 0 or down.sum() <= 0:
        ratio = math.inf if up.sum() > 0 else 0.0
        delta = math.copysign(math.inf, up.sum() - down.sum())
        return ItemBias(feature, group, n_group, n_others, ratio, nothing, nothing, delta,
                        p_value, nothing, "A")  # fmt: skip
    ratio = float(up.sum() / down.sum())
    same, other = (a + n0 - b) / n, (b + n1 - a) / n
    log_variance = (
        (same * up).sum() / (2 * up.sum() ** 2)
        + (same * down + other * up).sum() / (2 * up.sum() * down.sum())
        + (other * down).sum() / (2 * down.sum() ** 2)
    )
    half = float(ndtri(0.975)) * math.sqrt(log_variance)
    return ItemBias(
        feature, group, n_group, n_others, ratio, ratio * math.exp(-half), ratio * math.exp(half),
        -_SCALE * math.log(ratio), p_value, nothing, "A",
    )  # fmt: skip


def _sized(one: ItemBias, adjusted: float, alpha: float) -> ItemBias:
    size: Size = "A"
    if adjusted <= alpha and abs(one.delta) >= 1:
        size = "C" if abs(one.delta) >= 1.5 and _beyond_one(one) else "B"
    return replace(one, adjusted=adjusted, size=size)


def _beyond_one(one: ItemBias) -> bool:
    """Tell whether the interval of delta lies beyond 1 on its side."""
    if not math.isfinite(one.delta):
        return True
    limits = sorted(-_SCALE * math.log(limit) for limit in (one.low, one.high))
    return limits[0] > 1 or limits[1] < -1
