"""Compare scores with people's scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64
from rubricate.errors import InputError
from rubricate.run.reading import ScoredRun, shared_notes
from rubricate.stats import Estimate, Resampling, bootstrap_interval, ratio

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
    """Difference between scores and people's scores, in per cent of each note's maximum."""

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
