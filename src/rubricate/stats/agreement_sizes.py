"""Number of units or notes that two or more raters must judge: for kappa and for the ICC.

A width that holds on average fails in about half of the studies, so each size can be asked for with
an assurance: the share of studies whose interval is as narrow as asked (Zou 2012, Statistics in
Medicine 31: 3972). The chance is summed over the outcomes of a study.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64
from rubricate.errors import ArgumentError, Fault, at_least, shares
from rubricate.stats.planning import likely_counts
from rubricate.stats.resampling import half_width_in_sds, ratio
from rubricate.stats.sizes import doubled, smallest_size

_MOST = 10_000_000
#: Quantiles of the variance ratio that stand for its distribution.
_QUANTILES = 4001


def inflated(n: float, design_effect: float) -> int:
    """Return the number of clustered units that are worth `n` independent ones (Kish 1965).

    >>> inflated(167, 1.6)
    268
    """
    return math.ceil(n * design_effect - 1e-9)


def cluster_design_effect(size: float, correlation: float) -> float:
    """Return the design effect of clusters of one size: 1 + (m - 1) rho (Kish 1965).

    ``size``: units in a cluster, such as notes of a patient, at least 1.
    ``correlation``: intraclass correlation of the units of a cluster.

    >>> cluster_design_effect(3, 0.3)
    1.6
    """
    faults = at_least("cluster-size", size, 1)
    if not 0 <= correlation < 1:
        faults.append(Fault(f"cluster-correlation is {correlation}: it must be from 0 to below 1"))
    ArgumentError.raise_any(faults)
    return 1 + (size - 1) * correlation


def _smallest(chance: Callable[[int], float], assurance: float, low: int) -> int:
    """Return the smallest size from which on the width is met with the probability asked."""

    def holds(n: int) -> bool:
        return chance(n) >= assurance

    return smallest_size(holds, low - 1, doubled(holds, max(low, 2), _MOST))


def kappa_size(
    kappa: float,
    frequency: float,
    half_width: float,
    *,
    confidence: float = 0.95,
    assurance: float | None = None,
    design_effect: float = 1.0,
) -> int:
    """Return the number of units two raters must judge for an interval of Cohen's kappa.

    Without assurance n = z^2 V / d^2, which the width meets on average, with
    V = (1 - k) ((1 - k)(1 - 2 k) + k (2 - k) / (2 f (1 - f))), the large-sample variance for two
    categories that both raters use at the frequency f (Donner & Eliasziw 1992, Statistics in
    Medicine 11: 1511). With assurance n is the smallest number whose interval (`kappa_limits`, of
    the same paper) is as narrow in that share of studies, summed over their outcomes.

    ``kappa``: expected kappa, between 0 and 1.
    ``frequency``: share of units that hold the feature.
    ``assurance``: probability with which the width must hold.
    ``design_effect``: variance inflation where units go together, as those of a patient.

    >>> kappa_size(0.8, 0.3, 0.1), kappa_size(0.8, 0.05, 0.1)
    (167, 768)
    >>> kappa_size(0.8, 0.3, 0.1, assurance=0.9)
    213
    """
    given = {} if assurance is None else {"assurance": assurance}
    ArgumentError.raise_any(
        shares(
            kappa=kappa, frequency=frequency, half_width=half_width, confidence=confidence, **given
        )
        + at_least("design-effect", design_effect, 1)
    )
    spread = 2 * frequency * (1 - frequency)
    variance = (1 - kappa) * ((1 - kappa) * (1 - 2 * kappa) + kappa * (2 - kappa) / spread)
    mean = (half_width_in_sds(confidence, None) / half_width) ** 2 * variance
    if assurance is None:
        return inflated(mean, design_effect)

    def chance(n: int) -> float:
        apart, chance_apart = likely_counts(n, spread * (1 - kappa))
        together = 1 - spread * (1 - kappa)
        share = (frequency**2 + spread / 2 * kappa) / together
        found = 0.0
        for d, p in zip(apart.astype(int).tolist(), chance_apart.tolist(), strict=True):
            if p < 1e-9:
                continue
            both, chance_both = likely_counts(n - d, share)
            low, high = kappa_limits(both, d, n - d - both, confidence=confidence)
            found += p * float(chance_both[high - low <= 2 * half_width].sum())
        return found

    return inflated(_smallest(chance, assurance, 10), design_effect)


def kappa_limits(
    both: npt.ArrayLike, one: npt.ArrayLike, neither: npt.ArrayLike, *, confidence: float = 0.95
) -> tuple[F64, F64]:
    """Return limits of kappa by the goodness of fit (Donner & Eliasziw 1992).

    They are the values k at which the chi-squared distance between the three counts and those
    expected, n (f^2 + f (1 - f) k), 2 n f (1 - f)(1 - k) and n ((1 - f)^2 + f (1 - f) k), reaches
    its quantile at one degree of freedom, f being the share found: two roots of a cubic, which the
    paper gives in closed form. Where all units are alike kappa is unknown: the limits are -1 and 1.

    ``both``, ``one``, ``neither``: units that both raters, one of them, or none found.

    >>> low, high = kappa_limits(40, 8, 52)
    >>> round(float(low), 2), round(float(high), 2)
    (0.7, 0.92)
    """
    from scipy.special import chdtri

    x, d, y = (np.asarray(a, dtype=np.float64) for a in np.broadcast_arrays(both, one, neither))
    n = x + d + y
    q = float(chdtri(1, 1 - confidence))
    f = ratio(2 * x + d, 2 * n)
    v = f * (1 - f)
    below = 4 * n * v**2 * (q + n)
    first = ratio((d - 2 * n * v) ** 2 + 4 * n**2 * v**2, below) - 1
    second = ratio(d**2 - 4 * n * v * (1 - 4 * v) * q, below) - 1
    third = ratio(d + (1 - 2 * v) * q, v * (q + n)) - 1
    a = third**3 / 27 - (second * third - 3 * first) / 6
    root = np.maximum(third**2 / 9 - second / 3, 0.0)
    angle = np.arccos(np.clip(ratio(a, root**1.5), -1.0, 1.0))
    low = np.sqrt(root) * (
        np.cos((angle + 2 * np.pi) / 3) + math.sqrt(3) * np.sin((angle + 2 * np.pi) / 3)
    )
    high = 2 * np.sqrt(root) * np.cos((angle + 5 * np.pi) / 3)
    unknown = ~(v > 0)
    return (
        np.where(unknown, -1.0, np.clip(low - third / 3, -1.0, 1.0)),
        np.where(unknown, 1.0, np.clip(high - third / 3, -1.0, 1.0)),
    )


def icc_size(
    icc: float,
    raters: int,
    half_width: float,
    *,
    confidence: float = 0.95,
    assurance: float | None = None,
    design_effect: float = 1.0,
) -> int:
    """Return the number of notes some raters must score for an interval of the ICC.

    Without assurance n = 8 z^2 (1 - r)^2 (1 + (k - 1) r)^2 / (k (k - 1) w^2) + 1 for k raters and a
    full width w, plus 5 r for two raters and r of .7 or more: so the mean width is w (Bonett 2002,
    Statistics in Medicine 21: 1331). With assurance n is the smallest number whose interval is as
    narrow in that share of studies: the ratio of mean squares between and within notes is
    (1 + k r / (1 - r)) F with n - 1 and n (k - 1) degrees of freedom, and the limits are those of
    Shrout & Fleiss (1979, Psychological Bulletin 86: 420).

    ``icc``: expected correlation, between 0 and 1.
    ``raters``: raters of each note, at least 2.
    ``half_width``, ``confidence``: half the width of the interval, and its confidence.
    ``assurance``: probability with which the width must hold.
    ``design_effect``: variance inflation where notes go together, as those of a patient.

    >>> icc_size(0.8, 2, 0.1), icc_size(0.8, 2, 0.1, assurance=0.9)
    (55, 81)
    """
    given = {} if assurance is None else {"assurance": assurance}
    ArgumentError.raise_any(
        shares(icc=icc, half_width=half_width, confidence=confidence, **given)
        + at_least("raters", raters, 2)
        + at_least("design-effect", design_effect, 1)
    )
    width, k = 2 * half_width, raters
    if assurance is None:
        top = 8 * half_width_in_sds(confidence, None) ** 2 * (1 - icc) ** 2
        n = top * (1 + (k - 1) * icc) ** 2 / (k * (k - 1) * width**2) + 1
        more = 5 * icc if k == 2 and icc >= 0.7 else 0.0
        return inflated(math.ceil(n - 1e-9) + more, design_effect)

    def chance(n: int) -> float:
        return icc_width_chance(n, icc, raters, half_width, confidence=confidence)

    return inflated(_smallest(chance, assurance, 3), design_effect)


def icc_width_chance(
    n: int, icc: float, raters: int, half_width: float, *, confidence: float = 0.95
) -> float:
    """Return the share of studies of `n` notes whose interval of the ICC is as narrow as asked.

    >>> round(icc_width_chance(55, 0.8, 2, 0.1), 2)
    0.53
    """
    from scipy.special import fdtri

    k = raters
    between, within = n - 1.0, n * (k - 1.0)
    tail = 1 - (1 - confidence) / 2
    least, most = float(fdtri(between, within, tail)), float(fdtri(within, between, tail))
    u = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    found = (1 + k * icc / (1 - icc)) * fdtri(between, within, u)
    low, high = ((x - 1) / (x + k - 1) for x in (found / least, found * most))
    return float((high - low <= 2 * half_width).mean())


def icc_test_size(
    icc: float,
    least: float,
    raters: int,
    *,
    confidence: float = 0.95,
    power: float = 0.8,
    design_effect: float = 1.0,
) -> int:
    """Return the number of notes some raters must score to show that the ICC exceeds a value.

    n = 1 + 2 (z_a + z_b)^2 k / ((k - 1) (ln C)^2) with C = (1 + k t_0) / (1 + k t_1) and
    t = r / (1 - r) (Walter, Eliasziw & Donner 1998, Statistics in Medicine 17: 101); z_a is
    one-sided at (1 - confidence) / 2, so the lower limit of the two-sided interval exceeds `least`.

    ``icc``: expected correlation, between 0 and 1.
    ``least``: the correlation that must be exceeded, from 0 to below `icc`.
    ``power``: probability of showing it.

    Two raters, .6 against .8, one-sided at 5 %:

    >>> icc_test_size(0.8, 0.6, 2, confidence=0.9)
    39
    """
    from scipy.special import ndtri

    faults = shares(icc=icc, confidence=confidence, power=power) + at_least("raters", raters, 2)
    faults += at_least("design-effect", design_effect, 1)
    if not 0 <= least < icc:
        faults.append(Fault(f"least is {least}: it must be from 0 to below the expected ICC"))
    ArgumentError.raise_any(faults)
    reach = half_width_in_sds(confidence, None) + float(ndtri(power))
    one, two = (1 + raters * r / (1 - r) for r in (least, icc))
    n = 1 + 2 * reach**2 * raters / ((raters - 1) * math.log(one / two) ** 2)
    return inflated(n, design_effect)
