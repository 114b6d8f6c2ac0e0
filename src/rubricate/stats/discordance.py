"""Rate at which two systems differ item by item, and the uncertainty of their difference.

Where two systems give the same counts of a few notes every resample has the same difference, and
where they differ on some items only, resamples say little of how often they might have differed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64
from rubricate.stats.intervals import raw_limits
from rubricate.stats.resampling import Bootstrapped, effective_number, ratio

#: Up to this many notes on which two systems differ, the limits by items count in full.
FULL = 20
#: From this many on, the bootstrap stands alone.
NONE = 60


@dataclass(frozen=True, eq=False, slots=True)
class Discordance:
    """Counts of two systems' differences; all arrays have the shape of the difference.

    ``better``, ``worse``: share of the items on which the first system is better, or worse.
    ``items``: number of independent items those are worth (`effective_number`).
    ``better_notes``, ``worse_notes``: notes on which the first is better, or worse, in all.
    ``scale``: change of the measure where the share of right items changes by 1.
    """

    better: npt.ArrayLike
    worse: npt.ArrayLike
    items: npt.ArrayLike
    better_notes: npt.ArrayLike
    worse_notes: npt.ArrayLike
    scale: npt.ArrayLike = 1.0

    @classmethod
    def of_items(
        cls,
        first: F64,
        second: F64,
        note: npt.NDArray[np.integer],
        *,
        weights: npt.ArrayLike | None = None,
        scale: npt.ArrayLike = 1.0,
    ) -> Discordance:
        """Count where two systems differ, from the value that each item has by either.

        An item that neither defines is left out; one that a single system defines is right by the
        other, which neither found nor missed anything there. Weights make the items worth fewer, by
        (sum w)^2 / sum w^2 (Kish 1965).

        ``first``, ``second`` (items, ...): value of each item, from 0 to 1; NaN where undefined.
        ``note`` (items,): number of the note of each item.

        >>> values = [np.array([1.0, 1.0, 0.5]), np.array([1.0, 0.0, 0.5])]
        >>> found = Discordance.of_items(*values, np.array([0, 1, 2]))
        >>> float(found.better), float(found.worse), int(found.better_notes)
        (0.333..., 0.0, 1)
        """
        weight = np.ones(len(note)) if weights is None else np.asarray(weights, dtype=np.float64)
        known = ~(np.isnan(first) & np.isnan(second))
        gap = np.clip(np.nan_to_num(first, nan=1.0) - np.nan_to_num(second, nan=1.0), -1.0, 1.0)
        gap = np.where(known, gap, 0.0)
        shaped = weight.reshape(-1, *[1] * (gap.ndim - 1))

        def by_note(values: F64) -> F64:
            sums = np.zeros((int(note.max(initial=-1)) + 1, *gap.shape[1:]))
            np.add.at(sums, note, values)
            return sums

        net = by_note(gap).round(12)
        per_note = by_note(known.astype(np.float64))
        total, squares = (shaped**power * known for power in (1, 2))
        worth = ratio(total.sum(axis=0) ** 2, squares.sum(axis=0)) / np.maximum(
            known.sum(axis=0), 1
        )
        items = effective_number(per_note.sum(axis=0), (per_note**2).sum(axis=0))
        return cls(
            better=ratio((shaped * np.maximum(gap, 0)).sum(axis=0), total.sum(axis=0)),
            worse=ratio((shaped * np.maximum(-gap, 0)).sum(axis=0), total.sum(axis=0)),
            items=np.nan_to_num(worth) * items,
            better_notes=(net > 0).sum(axis=0),
            worse_notes=(net < 0).sum(axis=0),
            scale=scale,
        )


def limit_by_discordance(found: Bootstrapped, discordance: Discordance) -> Bootstrapped:
    """Widen the intervals of differences that rest on few notes where two systems differ.

    With p the share of items on which the first is better and q that on which it is worse, there
    are two ways to limit p - q; each limit is the narrower of both.

    Two shares: p - q - sqrt((p - l_p)^2 + (u_q - q)^2), and likewise upwards (MOVER: Zou & Donner
    2008, Statistics in Medicine 27: 1693), moved to the observed difference.

    A share and a direction: p - q is the share t of items on which the two differ, times 2 s - 1
    with s the share of those that favour the first. s is limited by the notes that favour either,
    as in the sign test, and the limits are the smallest and largest product of the limits of both.

    Limits of shares are those of Clopper & Pearson (1934), at the effective number of items. Times
    the scale, they count in full up to 20 notes on which the two differ, not at all from 60 on, by
    a straight line between, and never inside those of the bootstrap.

    >>> from rubricate.stats.resampling import bootstrap_interval
    >>> alike = bootstrap_interval([[1, 1]] * 3, lambda sums: (sums[..., 0] - sums[..., 1]) / 3)
    >>> limited = limit_by_discordance(alike, Discordance(0, 0, 36, 0, 0))
    >>> float(limited.low.round(2)), float(limited.high.round(2))
    (-0.1, 0.1)
    """
    value = found.estimate
    better, worse, size, ahead, behind, scale = (
        np.broadcast_to(np.asarray(one, dtype=np.float64), value.shape)
        for one in (
            discordance.better, discordance.worse, discordance.items, discordance.better_notes,
            discordance.worse_notes, discordance.scale,
        )
    )  # fmt: skip
    usable = (size > 0) & ~np.isnan(better) & ~np.isnan(worse) & np.isfinite(scale)
    weight = np.where(usable, np.clip((NONE - ahead - behind) / (NONE - FULL), 0.0, 1.0), 0.0)
    n = np.where(usable, size, 1.0)
    p, q = (np.where(usable, one, 0.0) for one in (better, worse))
    factor = np.where(usable, scale, 0.0)

    def limits(successes: F64, trials: F64) -> tuple[F64, F64]:
        return raw_limits(successes, trials, 1 - found.confidence, "clopper-pearson")

    (low_p, high_p), (low_q, high_q) = limits(p * n, n), limits(q * n, n)
    share = limits(np.minimum(p + q, 1.0) * n, n)
    side = [2 * one - 1 for one in limits(ahead, ahead + behind)]
    products = np.stack([factor * one * other for one in share for other in side])
    low = np.maximum(value - factor * np.hypot(p - low_p, high_q - q), products.min(axis=0))
    high = np.minimum(value + factor * np.hypot(high_p - p, q - low_q), products.max(axis=0))
    still = (found.low == found.high) & ~usable
    mixed = [
        np.where(np.isnan(old) | still, np.nan, (1 - weight) * old + weight * outer(old, new))
        for old, new, outer in ((found.low, low, np.minimum), (found.high, high, np.maximum))
    ]
    return replace(found, low=mixed[0], high=mixed[1], by_items=(weight > 0) & ~still)
