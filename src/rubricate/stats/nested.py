"""One bootstrap for all levels: overall, each stratum (case) and each group (feature)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, Bools
from rubricate.errors import ArgumentError
from rubricate.stats.bootstrap import (
    Bootstrapped,
    apply,
    bootstrap_interval,
    summarise_sums,
)
from rubricate.stats.resampling import (
    Resampling,
    Statistic,
    as_counts,
    join_strata,
    ratio,
    resample_sums,
)

Ints = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False, slots=True)
class Layout:
    """Membership of each row of counts; labels may be anything that sorts.

    ``unit`` (rows,): what is drawn: the note of each row.
    ``group`` (rows,): what is measured: the feature of each row. A unit has at most one row in a
    group, or several, which are then added.
    ``stratum`` (rows,): what is kept fixed: the case of each row. A group lies in one stratum;
    strata that share a unit are drawn as one.

    >>> Layout(unit=[0, 0, 1], group=["a", "b", "a"], stratum=[0, 0, 0]).stratum
    [0, 0, 0]
    """

    unit: npt.ArrayLike
    group: npt.ArrayLike
    stratum: npt.ArrayLike


@dataclass(frozen=True, eq=False, slots=True)
class Levels:
    """Bootstrapped measures of every level, from the same resamples.

    ``strata``, ``groups``: one first-axis entry per stratum, or per group.
    ``stratum_labels``, ``group_labels``: the labels of those entries, sorted.
    ``stratum_means``, ``group_means``: in each resample, the mean over the strata, or groups, where
    the measure is defined. The replicates themselves would take gigabytes for thousands of groups.
    """

    overall: Bootstrapped
    strata: Bootstrapped
    groups: Bootstrapped
    stratum_labels: npt.NDArray[np.generic]
    group_labels: npt.NDArray[np.generic]
    stratum_means: F64
    group_means: F64


class _Means:
    """Means over the replicates of parts that come one after the other."""

    def __init__(self) -> None:
        self._total: F64 | float = 0.0
        self._known: F64 | float = 0.0

    def add(self, replicates: F64) -> None:
        """Add the replicates of a part; undefined ones are left out."""
        self._total = self._total + np.nansum(replicates, axis=1)
        self._known = self._known + (~np.isnan(replicates)).sum(axis=1)

    def means(self) -> F64:
        """Return the mean in each resample; NaN where nothing is defined."""
        return ratio(self._total, self._known)


def _codes(labels: npt.ArrayLike, rows: int, name: str) -> tuple[npt.NDArray[np.generic], Ints]:
    """Return the sorted distinct labels and the place of each row among them."""
    array = np.asarray(labels)
    if array.shape != (rows,):
        raise ArgumentError(f"{name} has {array.size} labels for {rows} rows of counts")
    distinct, code = np.unique(array, return_inverse=True)
    return distinct, code


def _stratum_of(group: Ints, stratum: Ints) -> Ints:
    """Return the stratum of each group; a group in more than one is refused."""
    owner = np.zeros(group.max() + 1, dtype=np.intp)
    owner[group] = stratum
    astray = np.unique(group[owner[group] != stratum])
    if len(astray):
        raise ArgumentError(f"{len(astray)} groups lie in more than one stratum")
    return owner


def _blocks(
    table: F64, unit: Ints, group: Ints, stratum: Ints
) -> Iterator[tuple[Ints, F64, Bools]]:
    """Yield for each stratum its groups, a dense block of counts, and who has which group.

    The block has the shape (units, groups, k).
    """
    order = np.argsort(stratum, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(stratum))[:-1]):
        _, unit_at = np.unique(unit[rows], return_inverse=True)
        groups, group_at = np.unique(group[rows], return_inverse=True)
        block = np.zeros((unit_at.max() + 1, len(groups), table.shape[1]))
        np.add.at(block, (unit_at, group_at), table[rows])
        has = np.zeros(block.shape[:2], dtype=np.bool_)
        has[unit_at, group_at] = True
        yield groups, block, has


def _alone(block: F64, has: Bools, statistic: Statistic, settings: Resampling) -> Bootstrapped:
    """Bootstrap each group from the units that have it, as if nothing else had been measured.

    So a value has the same interval whatever else is measured beside it: draws begin with the seed.
    """
    parts, order = [], []
    everywhere = has.all(axis=0)
    for own in (np.flatnonzero(everywhere), *np.flatnonzero(~everywhere)[:, None]):
        if len(own):
            part = block[has[:, own].all(axis=1)][:, own]
            sums = resample_sums(part, settings.resamples, np.random.default_rng(settings.seed))
            parts.append(summarise_sums(part, sums, statistic, settings))
            order.append(own)
    return _join(parts, np.argsort(np.concatenate(order)))


def _join(parts: list[Bootstrapped], order: Ints) -> Bootstrapped:
    """Concatenate results along the first axis of their estimates, then sort them."""
    keep = [part.replicates for part in parts if part.replicates is not None]
    return Bootstrapped(
        estimate=np.concatenate([part.estimate for part in parts])[order],
        low=np.concatenate([part.low for part in parts])[order],
        high=np.concatenate([part.high for part in parts])[order],
        undefined=np.concatenate([part.undefined for part in parts])[order],
        confidence=parts[0].confidence,
        method=parts[0].method,
        replicates=np.concatenate(keep, axis=1)[:, order] if keep else None,
    )


def bootstrap_levels(
    counts: npt.ArrayLike,
    layout: Layout,
    statistic: Statistic,
    settings: Resampling | None = None,
    *,
    weights: npt.ArrayLike | None = None,
) -> Levels:
    """Bootstrap a measure overall, for each stratum and for each group in one go.

    Units (notes) are drawn with replacement inside their stratum (case), all groups (features) of
    a unit together. Strata that share units, as where a patient has notes of two cases, are drawn
    as one. The sums of a stratum are those of its groups, the overall sums those of the
    strata, so one resampling serves all levels and the correlation of a note's features is kept.
    For the overall sums, units that are alone in their stratum are drawn together, because alone
    they would add no variance (see `rubricate.stats.resampling.stratum_rows`). Where the settings
    ask for "cases-like-these", the overall sums are those of whole strata drawn with replacement.
    A stratum or group has the interval that it has alone: its own units, drawn from the seed on.

    ``counts`` (rows, k): additive counts, one row per unit and group.
    ``statistic``: maps sums of shape (..., k) to values of shape (...) or (..., m).
    ``weights`` (rows,): design weight of each row's unit.

    >>> from rubricate.stats import precision_recall_f1
    >>> counts = [[3, 1, 0], [2, 0, 2], [5, 1, 1], [4, 0, 1]]
    >>> layout = Layout(unit=[0, 0, 1, 1], group=["a", "b", "a", "b"], stratum=["x"] * 4)
    >>> levels = bootstrap_levels(counts, layout, precision_recall_f1)
    >>> levels.group_labels.tolist(), levels.groups.estimate[:, 2].round(2).tolist()
    (['a', 'b'], [0.84, 0.8])
    """
    settings = settings or Resampling()
    table = as_counts(counts, weights=weights)
    _, unit = _codes(layout.unit, len(table), "unit")
    group_labels, group = _codes(layout.group, len(table), "group")
    stratum_labels, stratum = _codes(layout.stratum, len(table), "stratum")
    stratum_of = _stratum_of(group, stratum)

    rng = np.random.default_rng(settings.seed)
    group_parts, stratum_parts, group_order, stratum_order = [], [], [], []
    units: list[F64] = []
    group_means, stratum_means = _Means(), _Means()
    for groups, block, has in _blocks(table, unit, group, join_strata(unit, stratum)):
        # the means over strata and groups need draws of the strata that are independent
        sums = resample_sums(block, settings.resamples, rng)
        group_means.add(apply(statistic, sums))
        group_parts.append(_alone(block, has, statistic, settings))
        group_order.append(groups)
        for one in np.unique(stratum_of[groups]).tolist():
            own = stratum_of[groups] == one
            by_unit, by_draw = (all_[:, own].sum(axis=1, keepdims=True) for all_ in (block, sums))
            stratum_means.add(apply(statistic, by_draw))
            inside = np.asarray(has[:, own].any(axis=1, keepdims=True))
            stratum_parts.append(_alone(by_unit, inside, statistic, settings))
            stratum_order.append(one)
        units.append(block.sum(axis=1))
    if settings.population == "cases-like-these":
        totals = np.stack([own.sum(axis=0) for own in units])
        overall = bootstrap_interval(totals, statistic, settings)
    else:
        of = np.repeat(np.arange(len(units)), [len(own) for own in units])
        overall = bootstrap_interval(np.concatenate(units), statistic, settings, strata=of)
    return Levels(
        overall=overall,
        strata=_join(stratum_parts, np.argsort(stratum_order)),
        groups=_join(group_parts, np.argsort(np.concatenate(group_order))),
        stratum_labels=stratum_labels,
        group_labels=group_labels,
        stratum_means=stratum_means.means(),
        group_means=group_means.means(),
    )
