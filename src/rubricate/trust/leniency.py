"""Whether scores are lenient beside people's, and whether a feature favours one group's notes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, I64
from rubricate.errors import InputError
from rubricate.run.reading import ScoredRun, shared_notes
from rubricate.stats import Estimate, Resampling, adjust_p_values, bootstrap_interval, ratio

#: Lower ends of the bands, in per cent of the maximum.
BANDS = (0.0, 40.0, 60.0, 80.0)
#: Normal quantile of the limits of agreement, whatever the confidence of intervals.
_LIMIT = 1.96
_NAMES = ("difference", "sd", "lower limit", "upper limit", "kappa", "slope")
Verdict = Literal["lenient", "severe", "neither", "too few notes"]
#: With fewer notes no verdict is given.
MIN_NOTES = 10


@dataclass(frozen=True, slots=True)
class Band:
    """Notes of about the same score: how many, and the mean difference among them."""

    low: float
    high: float
    n: int
    difference: float
    interval: Estimate


@dataclass(frozen=True, slots=True)
class Leniency:
    """How scores differ from people's, in points of 100 (per cent of each note's maximum)."""

    n: int
    difference: float
    sd: float
    limits: tuple[float, float]
    kappa: float
    slope: float
    intervals: dict[str, Estimate]
    higher: float
    lower: float
    bands: tuple[Band, ...]
    verdict: Verdict

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "notes": self.n,
            "verdict": self.verdict,
            "difference": self.difference,
            "sd": self.sd,
            "limits_of_agreement": list(self.limits),
            "weighted_kappa": self.kappa,
            "slope": self.slope,
            "share_higher": self.higher,
            "share_lower": self.lower,
            "intervals": {name: [i.low, i.high] for name, i in self.intervals.items()},
            "bands": [
                {
                    "from": band.low,
                    "to": band.high,
                    "notes": band.n,
                    "difference": band.difference,
                    "interval": [band.interval.low, band.interval.high],
                }
                for band in self.bands
            ],
        }


def measure_leniency(
    reference: ScoredRun, predicted: ScoredRun, settings: Resampling | None = None
) -> Leniency:
    """Compare scores with people's on the notes both have: mean difference, limits, bands.

    Scores are taken in per cent of each note's maximum, so that cases can be pooled. With d the
    predicted minus the reference score and s its standard deviation, the limits of agreement
    are mean(d) ± 1.96 s (Bland & Altman 1986). Bands are by the mean of both scores: by one of
    them, chance alone would make low notes look lenient and high ones severe (Bland & Altman
    1995). Quadratic-weighted kappa is 1 - mean(d²) / (var x + var y + (mean x - mean y)²), which
    is what Cohen's (1968) weights come to for totals (Fleiss & Cohen 1973; Lin 1989). Intervals
    are bootstrapped by note.

    >>> notes, cases, most = ("a", "b", "c"), ("0",) * 3, np.full(3, 10.0)
    >>> people = ScoredRun(notes, cases, np.array([4.0, 6.0, 8.0]), most)
    >>> found = measure_leniency(people, ScoredRun(notes, cases, np.array([5.0, 7.0, 8.0]), most))
    >>> round(found.difference, 2), found.higher, found.verdict
    (6.67, 0.666..., 'too few notes')
    """
    settings = settings or Resampling()
    one, two = shared_notes(reference, predicted)
    if not len(one):
        raise InputError("reference and predicted share no scored note: compare the note ids")
    x, y = reference.percentage[one], predicted.percentage[two]
    gap, middle = y - x, (x + y) / 2
    sums = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)
    done = bootstrap_interval(sums, _moments, settings)
    value = dict(zip(_NAMES, done.estimate.tolist(), strict=True))
    intervals = {name: done.at(i) for i, name in enumerate(_NAMES)}
    return Leniency(
        n=len(gap),
        difference=value["difference"],
        sd=value["sd"],
        limits=(value["lower limit"], value["upper limit"]),
        kappa=value["kappa"],
        slope=value["slope"],
        intervals=intervals,
        higher=float(np.mean(gap > 1e-9)),
        lower=float(np.mean(gap < -1e-9)),
        bands=_bands(gap, middle, settings),
        verdict=_verdict(len(gap), intervals["difference"]),
    )


def _moments(sums: F64) -> F64:
    """Return the values of `_NAMES` from sums over notes of 1, x, y, x², y² and xy."""
    n, sx, sy, sxx, syy, sxy = np.moveaxis(sums, -1, 0)
    mean = (sy - sx) / n
    squares = (syy - 2 * sxy + sxx) / n
    # Rounding may leave a variance a hair below 0 where all differences are the same
    variance = np.maximum(squares - mean**2, 0.0)
    sd = np.sqrt(np.where(n > 1, variance * n / (n - 1), np.nan))
    var_x, var_y = sxx / n - (sx / n) ** 2, syy / n - (sy / n) ** 2
    spread = var_x + var_y + mean**2
    kappa = 1 - squares / np.where(spread > 1e-9, spread, np.nan)
    var_middle = (var_x + var_y + 2 * (sxy / n - sx * sy / n**2)) / 4
    # cov(y - x, (x + y) / 2) = (var y - var x) / 2
    slope = (var_y - var_x) / 2 / np.where(var_middle > 1e-9, var_middle, np.nan)
    return np.stack([mean, sd, mean - _LIMIT * sd, mean + _LIMIT * sd, kappa, slope], axis=-1)


def _bands(gap: F64, middle: F64, settings: Resampling) -> tuple[Band, ...]:
    ends = (*BANDS[1:], 100.0)
    band: npt.NDArray[np.intp] = np.clip(np.digitize(middle, BANDS) - 1, 0, len(BANDS) - 1)
    member = band[:, None] == np.arange(len(BANDS))
    counts = np.stack([member, member * gap[:, None]], axis=-1).astype(np.float64)
    done = bootstrap_interval(counts, lambda sums: ratio(sums[..., 1], sums[..., 0]), settings)
    return tuple(
        Band(low, high, int(member[:, k].sum()), float(done.estimate[k]), done.at(k))
        for k, (low, high) in enumerate(zip(BANDS, ends, strict=True))
        if member[:, k].any()
    )


def _verdict(n: int, interval: Estimate) -> Verdict:
    if n < MIN_NOTES:
        return "too few notes"
    if interval.low > 0:
        return "lenient"
    return "severe" if interval.high < 0 else "neither"


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
