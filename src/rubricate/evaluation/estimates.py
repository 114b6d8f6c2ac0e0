"""Values at every level with their intervals, from one resampling of notes per table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, I64
from rubricate.errors import InputError
from rubricate.evaluation.counts import PRESENCE, CountTable, mean_defined, sum_groups
from rubricate.evaluation.design import (
    AS_THEY_COME,
    SampleDesign,
    design_bootstrap,
    design_posterior,
)
from rubricate.stats import (
    Bootstrapped,
    Estimate,
    Layout,
    Resampling,
    Support,
    bootstrap_interval,
    bootstrap_levels,
    degrees_of_freedom,
    join_strata,
    limit_by_items,
    ratio,
    summarise,
)
from rubricate.stats.resampling import effective_number

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


def estimate_rows(
    table: CountTable, settings: Resampling, design: SampleDesign = AS_THEY_COME
) -> Estimates:
    """Return the values over all rows of a table, with the interval that every command shows.

    Where all notes count alike, notes are drawn with replacement inside their case, with all their
    rows, or whole clusters of notes; where few notes are wrong the limits are joined with those by
    items (`rubricate.stats.limit_by_items`). Where some notes count more than others, or the
    population is finite, presence of one item or variable in each note has the limits of
    `design_posterior`, and sums over rows those of `design_bootstrap`.

    >>> from rubricate import load_corpus
    >>> from rubricate.evaluation import evaluate
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> found = evaluate(corpus, corpus, missing="skip",
    ...     reference_annotator="reference", predicted_annotator="second_rater")
    >>> smoking = found.presence.where(features=["12"])
    >>> str(estimate_rows(smoking, Resampling()).at("f1"))
    '1.000 [0.892, 1.000]'
    """
    names, by_note = tuple(table.measure.statistics), table.by("note")
    if not design.is_unequal(by_note.ids):
        drawn = table if design.clusters is None else table.by_cluster(design.clusters)
        strata = _strata(drawn)
        counts: I64 = drawn.by("note").values
        if settings.population == "cases-like-these":
            counts = sum_groups(strata, counts, int(strata.max()) + 1)
            found = bootstrap_interval(counts, table.measure.values, settings)
        else:
            found = bootstrap_interval(counts, table.measure.values, settings, strata=strata)
        return Estimates.of(_limited(found, drawn, _support(drawn, settings)), names)
    if table.measure.name == PRESENCE.name and len(table) == len(by_note):
        rates = design_posterior(design.notes_of(table), settings, finite=design.finite)
        value, low, high, method = (
            np.array([[getattr(rates[name], part) for name in names]])
            for part in ("value", "low", "high", "method")
        )
        return Estimates(("",), names, value, low, high, method, settings.confidence)
    weights, sides = design.of_notes(by_note.ids)
    if design.sides is None and not design.finite:
        counts_of = by_note.values * weights[:, None]
        strata = _strata(table)
        found = bootstrap_interval(counts_of, table.measure.values, settings, strata=strata)
    else:
        found = design_bootstrap(
            by_note.values, table.measure.values, (weights, sides), settings,
            finite=design.finite, clusters=design.cluster_of(by_note.ids),
        )  # fmt: skip
    return Estimates.of(_limited(found, table, None), names)


def _strata(table: CountTable) -> I64:
    """Return the stratum of each note, its case, numbered by the names of cases."""
    keys = table.keys
    notes, place = keys.groups("note")
    case = np.unique(np.array(keys.cases, dtype=object)[keys.case].astype(str), return_inverse=True)
    stratum = np.zeros(len(notes), dtype=np.int64)
    stratum[place] = join_strata(place, case[1])
    return stratum


def _support(table: CountTable, settings: Resampling) -> Support:
    """Return the data of the values over all rows.

    Items of a note stay together; where whole cases are drawn, those of a case.
    """
    unit = table.keys.case if settings.population == "cases-like-these" else None
    found = item_support(table, np.zeros(len(table), dtype=np.int64), 1, unit=unit)
    return Support(*(np.asarray(one)[0] for one in (found.items, found.wrong, found.right)))


def _limited(found: Bootstrapped, table: CountTable, support: Support | None) -> Bootstrapped:
    """Join intervals with the limits by items; without support values that never vary have none."""
    names = list(table.measure.statistics)
    return limit_by_items(
        found,
        Support(np.nan, np.inf, np.inf) if support is None else support,
        through_jaccard=np.array([name == "f1" for name in names]),
        twice=np.array([name in _CORRECTED for name in names]),
    )


def estimate_table(
    table: CountTable, settings: Resampling, design: SampleDesign = AS_THEY_COME
) -> dict[Level, Estimates]:
    """Return the values of a table at every level, each with the interval of `estimate_rows`.

    One resampling of notes serves all levels where all notes count alike
    (`rubricate.stats.bootstrap_levels`), and the means over cases and features in any case. The
    values over all cases are about these cases; where the settings ask for cases like these, whole
    cases are drawn for them.
    """
    if settings.population == "cases-like-these" and len(table.by("case")) < 2:
        raise InputError(
            "one case says nothing of cases like it: intervals for cases-like-these need two cases "
            "or more; ask for these-cases"
        )
    of_row = None if design.weights is None else table.keys.weights(design.weights)
    unequal = design.is_unequal(table.by("note").ids)
    one_by_one = table
    if design.clusters is not None:
        table = table.by_cluster(design.clusters)
    keys, measure, names = table.keys, table.measure, tuple(table.measure.statistics)
    feature, case = (
        np.array(ids, dtype=object)[index].astype(str)
        for ids, index in ((keys.features, keys.feature), (keys.cases, keys.case))
    )
    drawn = bootstrap_levels(
        table.values, Layout(keys.note, feature, case), measure.values, settings, weights=of_row
    )
    new_cases = settings.population == "cases-like-these"
    whole = None if unequal else _support(table, settings)
    found: dict[Level, Estimates] = {
        "overall": estimate_rows(one_by_one, settings, design)
        if unequal and not new_cases
        else Estimates.of(_limited(drawn.overall, table, whole), names)
    }
    owners = np.unique(feature, return_index=True)[1]
    levels: tuple[tuple[Groups, Level, Bootstrapped, F64, I64], ...] = (
        ("features", "macro features", drawn.groups, drawn.group_means,
         np.unique(case[owners], return_inverse=True)[1]),
        ("cases", "macro cases", drawn.strata, drawn.stratum_means,
         np.arange(len(drawn.strata.estimate))),
    )  # fmt: skip
    for level, macro, groups, means, owner in levels:
        labels, place = np.unique(feature if level == "features" else case, return_inverse=True)
        ids = tuple(labels.tolist())
        if unequal:
            here = replace(settings, population="these-cases")
            found[level] = _stacked(
                [estimate_rows(one_by_one.where(**{level: [one]}), here, design) for one in ids],
                ids,
            )
        else:
            own = item_support(table, place, len(labels))
            found[level] = Estimates.of(_limited(groups, table, own), names, ids)
        if len(ids) == 1:
            # The mean of one group is the value over all rows: one value, one interval.
            found[macro] = found["overall"]
            continue
        plain = replace(settings, method=MACRO_METHOD)
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
        found[macro] = Estimates.of(_limited(mean, table, whole), names)
    return found


def _stacked(parts: list[Estimates], ids: tuple[str, ...]) -> Estimates:
    """Put estimates of single groups one below the other."""
    first = parts[0]
    value, low, high, method = (
        np.concatenate([getattr(one, name) for one in parts])
        for name in ("value", "low", "high", "method")
    )
    return Estimates(ids, first.statistics, value, low, high, method, first.confidence)


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
