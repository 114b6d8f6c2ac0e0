"""Limits where errors are few: by items at a stated design effect, joined to the bootstrap.

Where no note is wrong every resample is perfect, and where one or two are, resamples say little of
how many there might have been. The limit is then that of Clopper & Pearson (1934) for items, at the
size that remains if the items of a note go together, and it gives way to the bootstrap as the
number of wrong notes grows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64
from rubricate.stats.bootstrap import Bootstrapped
from rubricate.stats.limits import raw_limits

#: Correlation assumed between items of one note, where too few are wrong to estimate it.
ITEM_CORRELATION = 0.3
#: From this many wrong notes on, the bootstrap stands alone.
FEW = 10


@dataclass(frozen=True, eq=False, slots=True)
class Support:
    """What values rest on; all arrays have the shape of the estimates, or broadcast to it.

    ``items``: items that inform each value, at their effective number (`effective_items`); NaN
    where it is unknown, as with unequal weights.
    ``wrong``, ``right``: notes whose own value is below 1, and above 0; infinite where the value is
    no share.
    """

    items: npt.ArrayLike
    wrong: npt.ArrayLike
    right: npt.ArrayLike


def effective_items(per_note: npt.ArrayLike) -> F64:
    """Return how many independent items those of some notes are worth.

    M / (1 + (m - 1) rho) for M items, with m = sum m_i^2 / M the number that an item meets in its
    note (Kish 1965; Kerry & Bland 2001) and rho their correlation, assumed to be 0.3.

    ``per_note`` (notes, ...): items of each note.

    Without items it is 0.

    >>> float(effective_items([15] * 20).round(1)), float(effective_items([1] * 20))
    (57.7, 20.0)
    """
    items = np.asarray(per_note, dtype=np.float64)
    return effective_number(items.sum(axis=0), (items**2).sum(axis=0))


def effective_number(items: npt.ArrayLike, squares: npt.ArrayLike) -> F64:
    """Return the same from the sum of the items of each note, and the sum of their squares."""
    total, square = np.asarray(items, dtype=np.float64), np.asarray(squares, dtype=np.float64)
    met = np.divide(square, total, out=np.ones_like(total), where=total > 0)
    return np.asarray(total / (1 + np.maximum(met - 1, 0.0) * ITEM_CORRELATION))


def limit_by_items(
    found: Bootstrapped,
    support: Support,
    *,
    through_jaccard: npt.ArrayLike = False,
    twice: npt.ArrayLike = False,
) -> Bootstrapped:
    """Widen intervals whose value rests on few wrong (or few right) notes.

    With e wrong notes the limits are w times those by items and 1 - w times the bootstrap's, w =
    1 - e / 10, and never inside the bootstrap's: all by items without an error, all by bootstrap
    from ten wrong notes on, and never a leap between them. The limits by items are those of
    Clopper & Pearson (1934) at the effective number of items (Korn & Graubard 1998). A value
    other than 0 and 1 that never varies, as that of a single note, gets no limits.

    ``through_jaccard``: which of them are F1: their items are a share J = F1 / (2 - F1) of those
    either side found.
    ``twice``: which of them are twice a share, less one, as agreement corrected for chance by half.

    >>> from rubricate.stats.bootstrap import bootstrap_interval
    >>> from rubricate.stats.resampling import precision_recall_f1
    >>> found = bootstrap_interval([[15, 0, 0]] * 20, precision_recall_f1)
    >>> items = effective_items([15] * 20)
    >>> limit_by_items(found, Support(items, 0, 20)).low.round(3).tolist()
    [0.938, 0.938, 0.938]
    """
    value = found.estimate
    items = np.broadcast_to(np.asarray(support.items, dtype=np.float64), value.shape)
    few = np.minimum(np.asarray(support.wrong), np.asarray(support.right))
    still = (found.low == found.high) & ~np.isnan(value)
    usable = ~np.isnan(items) & (value >= 0) & (value <= 1) & (items > 0)
    weight = np.where(usable, np.clip(1 - few / FEW, 0.0, 1.0), 0.0)
    share = np.where(usable, value, 0.0)
    as_jaccard, doubled = np.asarray(through_jaccard, dtype=bool), np.asarray(twice, dtype=bool)
    share = np.where(as_jaccard, share / (2 - share), np.where(doubled, (1 + share) / 2, share))
    size = np.where(usable, items, 1.0)
    low, high = raw_limits(share * size, size, 1 - found.confidence, "clopper-pearson")
    low, high = (
        np.where(as_jaccard, 2 * one / (1 + one), np.where(doubled, 2 * one - 1, one))
        for one in (low, high)
    )
    no_share = (value == 0) & np.isinf(np.asarray(support.right))
    unknown = still & (~usable | ((value > 0) & (value < 1)) | no_share)
    mixed = [
        np.where(np.isnan(old) | unknown, np.nan, (1 - weight) * old + weight * outer(old, new))
        for old, new, outer in ((found.low, low, np.minimum), (found.high, high, np.maximum))
    ]
    return replace(found, low=mixed[0], high=mixed[1], by_items=(weight > 0) & ~unknown)
