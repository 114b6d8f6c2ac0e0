"""How far values differ from site to site, beyond chance."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from rubricate.errors import Fault
from rubricate.stats.checks import raise_if_any


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """Cochran's Q with its p value, I² and τ²."""

    q: float
    degrees: int
    p_value: float
    i_squared: float
    tau_squared: float

    def to_dict(self) -> dict[str, float | int | None]:
        """Return plain values for JSON; undefined ones are None."""
        return {k: None if v != v else v for k, v in asdict(self).items()}


def heterogeneity(effects: npt.ArrayLike, variances: npt.ArrayLike) -> Heterogeneity:
    """Test whether sites share one effect, and say how much of the spread is theirs.

    With w = 1 / v, Q = Σ w (y - ȳ)², ȳ = Σ w y / Σ w, is compared with chi-squared at k - 1 degrees
    of freedom (Cochran 1954). I² = max(0, (Q - (k - 1)) / Q) is the share of the spread that is not
    chance (Higgins & Thompson 2002), τ² = max(0, (Q - (k - 1)) / (Σ w - Σ w² / Σ w)) the variance
    of the sites' effects (DerSimonian & Laird 1986). With few sites the test finds little.

    Parameters
    ----------
    effects, variances : array_like, shape (k,)
        Of each site, on a scale where effects are about normal, such as logits of rates. Sites
        whose effect is undefined are left out.

    Returns
    -------
    Heterogeneity
        Undefined (NaN) where fewer than two sites have an effect.

    Raises
    ------
    InputError
        If a variance is not above 0.

    Examples
    --------
    >>> found = heterogeneity([2.2, 1.7, 0.4], [0.11, 0.08, 0.04])
    >>> round(found.q, 1), found.degrees, round(found.i_squared, 2)
    (27.8, 2, 0.93)
    """
    from scipy.stats import chi2

    y, v = (np.asarray(a, dtype=np.float64) for a in (effects, variances))
    y, v = y[np.isfinite(y)], v[np.isfinite(y)]
    if np.any(v <= 0):
        raise_if_any([Fault("every variance must be above 0")])
    k = len(y)
    if k < 2:
        nan = float("nan")
        return Heterogeneity(nan, max(k - 1, 0), nan, nan, nan)
    weight = 1 / v
    q = float((weight * (y - (weight * y).sum() / weight.sum()) ** 2).sum())
    beyond = max(0.0, q - (k - 1))
    spread = weight.sum() - (weight**2).sum() / weight.sum()
    return Heterogeneity(
        q, k - 1, float(chi2.sf(q, k - 1)), beyond / q if q else 0.0, float(beyond / spread)
    )
