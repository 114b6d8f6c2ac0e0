"""How far proportions differ from site to site, beyond chance."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from rubricate.errors import Fault
from rubricate.stats.checks import raise_if_any


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """Cochran's Q with its p value, I² and τ² of some proportions on the logit scale."""

    q: float
    degrees: int
    p_value: float
    i_squared: float
    tau_squared: float

    def to_dict(self) -> dict[str, float | int | None]:
        """Return plain values for JSON; undefined ones are None."""
        return {k: None if v != v else v for k, v in asdict(self).items()}


def heterogeneity(successes: npt.ArrayLike, trials: npt.ArrayLike) -> Heterogeneity:
    """Test whether sites share one proportion, and say how much of the spread is theirs.

    Each site's logit y = log((x + 1/2) / (n - x + 1/2)) has the variance
    v = 1 / (x + 1/2) + 1 / (n - x + 1/2) (Gart & Zweifel 1967). With w = 1 / v,
    Q = Σ w (y - ȳ)², ȳ = Σ w y / Σ w, is compared with chi-squared at k - 1 degrees of freedom
    (Cochran 1954). I² = max(0, (Q - (k - 1)) / Q) is the share of the spread that is not chance
    (Higgins & Thompson 2002), τ² = max(0, (Q - (k - 1)) / (Σ w - Σ w² / Σ w)) the variance of the
    sites' logits (DerSimonian & Laird 1986). With few sites or rare failures the test finds little.

    Parameters
    ----------
    successes, trials : array_like, shape (k,)
        Of each site; effective numbers need not be whole. Sites without trials are left out.

    Returns
    -------
    Heterogeneity
        Undefined (NaN) where fewer than two sites have trials.

    Raises
    ------
    InputError
        If there are more successes than trials.

    Examples
    --------
    >>> found = heterogeneity([90, 85, 60], [100, 100, 100])
    >>> round(found.q, 1), found.degrees, round(found.i_squared, 2)
    (27.4, 2, 0.93)
    """
    from scipy.stats import chi2

    x, n = (np.asarray(a, dtype=np.float64) for a in (successes, trials))
    if np.any((x < 0) | (x > n + 1e-9)):
        raise_if_any([Fault("successes must lie between 0 and the trials of their site")])
    x, n = x[n > 0], n[n > 0]
    k = len(n)
    if k < 2:
        nan = float("nan")
        return Heterogeneity(nan, max(k - 1, 0), nan, nan, nan)
    missed = np.maximum(n - x, 0.0) + 0.5
    logit = np.log((x + 0.5) / missed)
    weight = 1 / (1 / (x + 0.5) + 1 / missed)
    q = float((weight * (logit - (weight * logit).sum() / weight.sum()) ** 2).sum())
    beyond = max(0.0, q - (k - 1))
    spread = weight.sum() - (weight**2).sum() / weight.sum()
    return Heterogeneity(
        q, k - 1, float(chi2.sf(q, k - 1)), beyond / q if q else 0.0, float(beyond / spread)
    )
