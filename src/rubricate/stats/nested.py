"""One bootstrap for all levels: overall, each stratum (case) and each group (feature)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64
from rubricate.errors import ArgumentError
from rubricate.stats.bootstrap import Bootstrapped, bootstrap_interval, summarise_sums
from rubricate.stats.resampling import Resampling, Statistic, as_counts, resample_sums

Ints = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False, slots=True)
class Layout:
    """Where each row of counts belongs; labels may be anything that sorts.

    ``unit`` (rows,): what is drawn: the note of each row.
    ``group`` (rows,): what is measured: the feature of each row. A unit has at most one row in a
    group, or several, which are then added.
    ``stratum`` (rows,): what is kept fixed: the case of each row. A unit, and a group, lies in one
    stratum.

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
    """

    overall: Bootstrapped
    strata: Bootstrapped
    groups: Bootstrapped
    stratum_labels: npt.NDArray[np.generic]
    group_labels: npt.NDArray[np.generic]


def _codes(labels: npt.ArrayLike, rows: int, name: str) -> tuple[npt.NDArray[np.generic], Ints]:
    """Return the sorted distinct labels and the place of each row among them."""
    array = np.asarray(labels)
    if array.shape != (rows,):
        raise ArgumentError(f"{name} has {array.size} labels for {rows} rows of counts")
    distinct, code = np.unique(array, return_inverse=True)
    return distinct, code


def _need_one_stratum(inner: Ints, outer: Ints, name: str) -> None:
    """Refuse units or groups that lie in more than one stratum."""
    owner = np.zeros(inner.max() + 1, dtype=np.intp)
    owner[inner] = outer
    astray = np.unique(inner[owner[inner] != outer])
    if len(astray):
        raise ArgumentError(f"{len(astray)} {name}s lie in more than one stratum")


def _blocks(table: F64, unit: Ints, group: Ints, stratum: Ints) -> Iterator[tuple[Ints, F64]]:
    """Yield for each stratum its groups and a dense block of counts (units, groups, k)."""
    order = np.argsort(stratum, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(stratum))[:-1]):
        _, unit_at = np.unique(unit[rows], return_inverse=True)
        groups, group_at = np.unique(group[rows], return_inverse=True)
        block = np.zeros((unit_at.max() + 1, len(groups), table.shape[1]))
        np.add.at(block, (unit_at, group_at), table[rows])
        yield groups, block


def _overall(
    units: list[F64],
    drawn: list[F64],
    statistic: Statistic,
    settings: Resampling,
    rng: np.random.Generator,
) -> Bootstrapped:
    """Bootstrap the sum over strata from the counts of their units and their replicated sums."""
    sums = np.zeros_like(drawn[0])
    for own, replicated in zip(units, drawn, strict=True):
        if len(own) > 1:
            sums += replicated
    alone = [own for own in units if len(own) == 1]
    if alone:
        sums += resample_sums(np.concatenate(alone), settings.resamples, rng)
    everything = np.concatenate(units)
    stratum = np.repeat(np.arange(len(units)), [len(own) for own in units])
    return summarise_sums(everything, sums, statistic, settings, stratum)


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
    a unit together. The sums of a stratum are those of its groups, the overall sums those of the
    strata, so one resampling serves all levels and the correlation of a note's features is kept.
    For the overall sums, units that are alone in their stratum are drawn together, because alone
    they would add no variance (see `rubricate.stats.resampling.stratum_rows`). Where the settings
    ask for "cases-like-these", the overall sums are those of whole strata drawn with replacement.

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
    _need_one_stratum(unit, stratum, "unit")
    _need_one_stratum(group, stratum, "group")

    rng = np.random.default_rng(settings.seed)
    group_parts, stratum_parts, group_order = [], [], []
    units: list[F64] = []
    drawn: list[F64] = []
    for groups, block in _blocks(table, unit, group, stratum):
        sums = resample_sums(block, settings.resamples, rng)
        group_parts.append(summarise_sums(block, sums, statistic, settings))
        group_order.append(groups)
        by_unit, by_draw = block.sum(axis=1, keepdims=True), sums.sum(axis=1, keepdims=True)
        stratum_parts.append(summarise_sums(by_unit, by_draw, statistic, settings))
        units.append(by_unit[:, 0])
        drawn.append(by_draw[:, 0])
    if settings.population == "cases-like-these":
        totals = np.stack([own.sum(axis=0) for own in units])
        overall = bootstrap_interval(totals, statistic, settings)
    else:
        overall = _overall(units, drawn, statistic, settings, rng)
    return Levels(
        overall=overall,
        strata=_join(stratum_parts, np.arange(len(stratum_parts))),
        groups=_join(group_parts, np.argsort(np.concatenate(group_order))),
        stratum_labels=stratum_labels,
        group_labels=group_labels,
    )
