"""Values at every level with their intervals, from one resampling of notes per table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, I64
from rubricate.errors import InputError
from rubricate.evaluation.counts import CountTable, mean_defined, sum_groups
from rubricate.stats import (
    Bootstrapped,
    Estimate,
    Layout,
    Resampling,
    Support,
    bootstrap_interval,
    bootstrap_levels,
    degrees_of_freedom,
    limit_by_items,
    ratio,
    summarise,
)
from rubricate.stats.bootstrap import effective_number

#: What values are grouped by, as JSON calls it.
Groups = Literal["cases", "features"]
#: Where values stand: all rows, each case or feature, and the means over cases or features.
Level = Literal["overall", "cases", "features", "macro cases", "macro features"]
#: Agreement corrected for chance that a single row defines: 0 is chance, not none of the notes.
_CORRECTED = ("pabak", "ac1")
#: Macro means have percentiles: BCa needs their jackknife, which groups' results do not hold.
MACRO_METHOD: Literal["percentile"] = "percentile"


@dataclass(frozen=True, eq=False)
class Estimates:
    """The values of one measure at one level, with their intervals.

    ``ids``: the cases or features; one without a name where the level is all rows.
    ``value``, ``low``, ``high``, ``method`` (ids, statistics): each value, its limits, and how
    these were made.
    """

    ids: tuple[str, ...]
    statistics: tuple[str, ...]
    value: F64
    low: F64
    high: F64
    method: npt.NDArray[np.str_]
    confidence: float

    @classmethod
    def of(
        cls, found: Bootstrapped, statistics: tuple[str, ...], ids: tuple[str, ...] = ("",)
    ) -> Estimates:
        """Take the results of a bootstrap, one line per id."""
        few = False if found.by_items is None else np.atleast_2d(found.by_items)
        method = f"bootstrap-{found.method}"
        value, low, high = map(np.atleast_2d, (found.estimate, found.low, found.high))
        methods = np.broadcast_to(np.where(few, f"{method}+items", method), value.shape)
        return cls(ids, statistics, value, low, high, methods, found.confidence)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.ids)}

    def of_group(self, group: str = "") -> dict[str, Estimate]:
        """Return every statistic of one case or feature, by name."""
        return {name: self.at(name, group) for name in self.statistics}

    def at(self, statistic: str = "f1", group: str = "") -> Estimate:
        """Return one statistic of one case or feature."""
        i, j = self._place[group], self.statistics.index(statistic)
        return Estimate(
            float(self.value[i, j]),
            float(self.low[i, j]),
            float(self.high[i, j]),
            self.confidence,
            str(self.method[i, j]),
        )


def estimate_table(
    table: CountTable, settings: Resampling, weights: Mapping[str, float] | None = None
) -> dict[Level, Estimates]:
    """Return the values of a table at every level, with intervals from drawing its notes.

    Notes are drawn with replacement inside their case, with all their features, so the
    correlation of a note's rows is kept (the design of `rubricate.stats.bootstrap_levels`). The
    values over all cases are then about these cases; where the settings ask for cases like these,
    whole cases are drawn for them. Where few notes are wrong the limits are joined with those by
    items (`rubricate.stats.limit_by_items`); with unequal weights a value that never varies has
    none.
    """
    keys, measure, names = table.keys, table.measure, tuple(table.measure.statistics)
    new_cases = settings.population == "cases-like-these"
    if new_cases and len(table.by("case")) < 2:
        raise InputError(
            "one case says nothing of cases like it: intervals for cases-like-these need two cases "
            "or more; ask for these-cases"
        )
    of_row = None if weights is None else keys.weights(weights)
    unequal = of_row is not None and len(np.unique(of_row)) > 1
    feature, case = (
        np.array(ids, dtype=object)[index].astype(str)
        for ids, index in ((keys.features, keys.feature), (keys.cases, keys.case))
    )
    drawn = bootstrap_levels(
        table.values, Layout(keys.note, feature, case), measure.values, settings, weights=of_row
    )

    def limited(found: Bootstrapped, support: Support | None) -> Bootstrapped:
        return limit_by_items(
            found,
            Support(np.nan, np.inf, np.inf) if unequal or support is None else support,
            through_jaccard=np.array([name == "f1" for name in names]),
            twice=np.array([name in _CORRECTED for name in names]),
        )

    # Items of a note stay together; where whole cases are drawn, those of a case.
    everything = np.zeros(len(table), dtype=np.int64)
    support = item_support(table, everything, 1, unit=keys.case if new_cases else None)
    whole = Support(*(np.asarray(one)[0] for one in (support.items, support.wrong, support.right)))
    found: dict[Level, Estimates] = {"overall": Estimates.of(limited(drawn.overall, whole), names)}
    owners = np.unique(feature, return_index=True)[1]
    levels: tuple[tuple[Groups, Level, Bootstrapped, F64, I64], ...] = (
        ("features", "macro features", drawn.groups, drawn.group_means,
         np.unique(case[owners], return_inverse=True)[1]),
        ("cases", "macro cases", drawn.strata, drawn.stratum_means,
         np.arange(len(drawn.strata.estimate))),
    )  # fmt: skip
    for level, macro, groups, means, owner in levels:
        labels, place = np.unique(feature if level == "features" else case, return_inverse=True)
        own = item_support(table, place, len(labels))
        found[level] = Estimates.of(limited(groups, own), names, tuple(labels.tolist()))
        plain = replace(settings, method=MACRO_METHOD)
        if len(labels) == 1:
            # The mean of one group is the value over all rows: one value, one interval.
            found[macro] = found["overall"]
            continue
        if new_cases:
            known = ~np.isnan(groups.estimate)
            sums = np.zeros((int(owner.max()) + 1, len(names), 2))
            values = np.where(known, groups.estimate, 0.0)
            np.add.at(sums, owner, np.stack([values, known], axis=-1))
            mean = bootstrap_interval(sums, lambda pair: ratio(pair[..., 0], pair[..., 1]), plain)
        else:
            strata = keys.strata_of_notes()
            freedom = degrees_of_freedom(strata, len(strata))
            mean = summarise(mean_defined(groups.estimate, axis=0), means, plain, freedom=freedom)
        found[macro] = Estimates.of(limited(mean, whole), names)
    return found


def item_support(
    table: CountTable, group: I64, n_groups: int, *, unit: I64 | None = None
) -> Support:
    """Count the items that inform each statistic of each group, and the notes that are wrong.

    An item is a row whose own counts define the statistic: precision is informed by rows in which
    something was predicted, recall by those in which the reference has something. A note is wrong
    where its own value is below 1. Kappa, which a single row never defines, is informed by the
    rows that inform F1; a kappa of 0 is chance, not none of the notes.

    >>> from rubricate.evaluation.counts import RowKeys
    >>> from rubricate.evaluation.counts import PRESENCE
    >>> none = np.zeros(3, dtype=np.int64)
    >>> keys = RowKeys(np.arange(3), none, none, ("a", "b", "c"), ("f",), ("c",))
    >>> table = CountTable(PRESENCE, keys, np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]))
    >>> found = item_support(table, none, 1)
    >>> names = list(PRESENCE.statistics)
    >>> place = [names.index(name) for name in ("precision", "recall", "accuracy")]
    >>> found.items[0, place].tolist(), found.wrong[0, place].tolist()
    ([1.0, 2.0, 3.0], [0.0, 1.0, 1.0])
    """
    unit = table.keys.note if unit is None else unit
    n_units = int(unit.max(initial=0)) + 1
    pairs, place = np.unique(group * n_units + unit, return_inverse=True)
    owner = pairs // n_units
    informs = ~np.isnan(table.measure.values(table.values))
    values = table.measure.values(sum_groups(place, table.values, len(pairs)))
    names = list(table.measure.statistics)
    if "kappa" in names:
        for one in (informs, values):
            one[:, names.index("kappa")] = one[:, names.index("f1")]
    per_unit = sum_groups(place, informs.astype(np.int64), len(pairs))
    items = effective_number(
        sum_groups(owner, per_unit, n_groups), sum_groups(owner, per_unit**2, n_groups)
    )
    wrong, right = (
        sum_groups(owner, one.astype(np.int64), n_groups).astype(np.float64)
        for one in (values < 1, values > 0)
    )
    for name in ("kappa", *_CORRECTED):
        if name in names:
            right[:, names.index(name)] = np.inf
    return Support(items, wrong, right)
