"""Intervals for every value of an evaluation, one resampling of notes per table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from rubricate.arrays import F64, I64
from rubricate.display import table_html
from rubricate.errors import ArgumentError, InputError
from rubricate.evaluation.counts import CountTable, mean_defined, sum_groups
from rubricate.evaluation.evaluation import Evaluation
from rubricate.evaluation.matching import MeasureKey
from rubricate.evaluation.probabilities import CalibrationResult, Ranking, calibrate, rank
from rubricate.progress import Progress, silent, watched
from rubricate.stats import (
    Bootstrapped,
    Estimate,
    Layout,
    Levels,
    Resampling,
    Support,
    bootstrap_interval,
    bootstrap_levels,
    defined,
    degrees_of_freedom,
    limit_by_items,
    ratio,
    summarise,
)
from rubricate.stats.bootstrap import effective_number

#: What values are grouped by, as JSON calls it.
LEVELS = ("cases", "features")
#: Agreement corrected for chance that a single row defines: 0 is chance, not none of the notes.
_CORRECTED = ("pabak", "ac1")
#: Macro means have percentiles: BCa needs their jackknife, which groups' results do not hold.
_MACRO_METHOD: Literal["percentile"] = "percentile"


@dataclass(frozen=True, eq=False)
class EvaluationWithIntervals:
    """An evaluation with an interval for every value."""

    evaluation: Evaluation
    settings: Resampling
    levels: Mapping[MeasureKey, Levels]
    macro: Mapping[tuple[MeasureKey, str], Bootstrapped]
    weights: Mapping[str, float] | None = None
    clusters: Mapping[str, str] | None = None

    @property
    def unit(self) -> str:
        """The unit that intervals draw: notes, or clusters of notes."""
        return "note" if self.clusters is None else "cluster"

    @cached_property
    def drawn(self) -> Evaluation:
        """The evaluation as it is drawn: by note, or by cluster of notes."""
        if self.clusters is None:
            return self.evaluation
        return self.evaluation.by_cluster(self.clusters)

    @cached_property
    def calibration(self) -> CalibrationResult | None:
        """Calibration of the predicted probabilities; None if there are none."""
        evaluation = self.evaluation
        if evaluation.probability is None or np.isnan(evaluation.probability).all():
            return None
        return calibrate(
            self.drawn.presence, evaluation.probability, self.settings, weights=self.weights
        )

    @cached_property
    def ranking(self) -> Ranking | None:
        """ROC and precision-recall curves; None without probabilities, or rows of both kinds."""
        evaluation = self.evaluation
        if evaluation.probability is None:
            return None
        own = evaluation.presence.values[~np.isnan(evaluation.probability)]
        present = int(own[:, [0, 2]].sum())
        if not 0 < present < len(own):
            return None
        return rank(self.drawn.presence, evaluation.probability, self.settings,
                    weights=self.weights)  # fmt: skip

    def __repr__(self) -> str:
        head = repr(self.evaluation).removesuffix(">").partition(";")[0]
        found = ", ".join(
            f"{key[0]} {one.value:.3f} ({one.low:.3f} to {one.high:.3f})"
            for key in self.levels
            if key in (("characters",), ("presence",)) and (one := self.overall(*key))
        )
        return f"{head}; F1 of {found}>"

    def _repr_html_(self) -> str:
        return self._table(self.evaluation.predicted_annotator)

    def _table(self, name: str) -> str:
        """Return the main measures with their intervals as HTML for a notebook."""
        lines = [
            (" ".join(key), statistic, found.value, found.low, found.high)
            for key in self.levels
            if key in (("characters",), ("presence",), ("spans", "exact"))
            for statistic in ("precision", "recall", "f1")
            if (found := self.overall(*key, statistic=statistic))
        ]
        title = f"{name} against {self.evaluation.reference_annotator}"
        return table_html(("measure", "", "value", "from", "to"), lines, title=title)

    def overall(self, *key: str, statistic: str = "f1") -> Estimate:
        """Return a value over all rows, e.g. ``overall("spans", "exact")``."""
        return self.levels[key].overall.at(self._place(key, statistic))

    def macro_mean(self, *key: str, level: str, statistic: str = "f1") -> Estimate:
        """Return the mean over ``"cases"`` or ``"features"``."""
        return self.macro[key, level].at(self._place(key, statistic))

    def by_group(self, *key: str, level: str, statistic: str = "f1") -> dict[str, Estimate]:
        """Return the value of each of the ``"cases"`` or ``"features"``."""
        found, labels = self._groups(key, level)
        place = self._place(key, statistic)
        return {str(name): found.at(i, place) for i, name in enumerate(labels)}

    def to_dict(self) -> dict[str, object]:
        """Return the evaluation's values with intervals beside them, ready for JSON.

        Each measure gets ``interval`` (of its F1) and ``intervals`` (of every statistic), each an
        `Estimate`. With weights, the values themselves are the weighted ones.
        """
        places = {
            (key, level): {str(label): i for i, label in enumerate(self._groups(key, level)[1])}
            for key in self.evaluation.tables
            for level in LEVELS
        }

        def beside(key: MeasureKey, level: str, group: str) -> Mapping[str, object]:
            index: tuple[int, ...] = ()
            if level == "overall":
                found = self.levels[key].overall
            elif level in LEVELS:
                found, index = self._groups(key, level)[0], (places[key, level][group],)
            elif level.removeprefix("macro ") in LEVELS:
                found = self.macro[key, level.removeprefix("macro ")]
            else:
                return {}
            names = self.evaluation.tables[key].measure.statistics
            estimates = {name: found.at(*index, i) for i, name in enumerate(names)}
            intervals = {name: one.to_dict() for name, one in estimates.items()}
            values = {name: defined(one.value) for name, one in estimates.items()}
            return {**values, "intervals": intervals, "interval": intervals["f1"]}

        result = self.evaluation.to_dict(self.weights, beside)
        result["intervals"] = {
            "confidence": self.settings.confidence,
            "method": f"bootstrap-{self.settings.method}",
            "macro_method": f"bootstrap-{_MACRO_METHOD}",
            "unit": "case" if self.settings.population == "cases-like-these" else self.unit,
            "population": self.settings.population,
            "resamples": self.settings.resamples,
            "seed": self.settings.seed,
            "weighted": self.weights is not None,
        }
        return result

    def _groups(self, key: MeasureKey, level: str) -> tuple[Bootstrapped, list[object]]:
        found = self.levels[key]
        if level == "cases":
            return found.strata, found.stratum_labels.tolist()
        return found.groups, found.group_labels.tolist()

    def _place(self, key: MeasureKey, statistic: str) -> int:
        return list(self.evaluation.tables[key].measure.statistics).index(statistic)


def add_intervals(
    evaluation: Evaluation,
    settings: Resampling | None = None,
    *,
    weights: Mapping[str, float] | None = None,
    clusters: Mapping[str, str] | None = None,
    progress: Progress = silent,
    label: str = "intervals",
) -> EvaluationWithIntervals:
    """Bootstrap every value of an evaluation by note.

    Notes are drawn with replacement inside their case, with all their features, so the
    correlation of a note's rows is kept (the design of `rubricate.stats.bootstrap_levels`). The
    values over all cases are then about these cases; where the settings ask for cases like these,
    whole cases are drawn for them. Where few notes are wrong the limits are joined with those by
    items (`rubricate.stats.limit_by_items`); with unequal weights a value that never varies has
    none. With ``clusters``, the cluster of each note, such as its patient, all notes of a cluster
    are drawn at once.

    >>> from rubricate import load_corpus
    >>> from rubricate.evaluation import evaluate
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> evaluation = evaluate(
    ...     corpus, corpus, missing="skip",
    ...     reference_annotator="reference", predicted_annotator="second_rater",
    ... )
    >>> found = add_intervals(evaluation, Resampling(resamples=200))
    >>> f1 = found.overall("characters")
    >>> f1.low < evaluation.characters.total().f1 < f1.high
    True
    """
    settings = settings or Resampling()
    if not len(evaluation.characters):
        raise InputError("there is no row that both sides judged, so there is nothing to measure")
    new_cases = settings.population == "cases-like-these"
    if new_cases and len(evaluation.characters.by("case")) < 2:
        raise InputError(
            "one case says nothing of cases like it: intervals for cases-like-these need two cases "
            "or more; ask for these-cases"
        )
    row_weights = None if weights is None else evaluation.characters.keys.weights(weights)
    unequal = row_weights is not None and len(np.unique(row_weights)) > 1
    levels: dict[MeasureKey, Levels] = {}
    macro: dict[tuple[MeasureKey, str], Bootstrapped] = {}
    refuse_weighted_clusters(weights, clusters)
    found_by = EvaluationWithIntervals(evaluation, settings, levels, macro, weights, clusters)
    tables = found_by.drawn.tables
    for key, table in watched(tables.items(), progress, label, len(tables)):
        found = bootstrap_levels(
            table.values, _layout(table), table.measure.values, settings, weights=row_weights
        )
        support = None if unequal else _overall_support(table, by_case=new_cases)
        levels[key] = _widen_levels(found, table, support)
        for level, groups, means in (
            ("features", found.groups, found.group_means),
            ("cases", found.strata, found.stratum_means),
        ):
            if len(groups.estimate) == 1:
                # The mean of one group is the value over all rows: one value, one interval.
                macro[key, level] = levels[key].overall
                continue
            if new_cases:
                drawn = _macro_of_cases(groups, table, level, settings)
            else:
                drawn = _macro(groups, means, table, settings)
            macro[key, level] = _widen(drawn, table, support)
    return found_by


def refuse_weighted_clusters(
    weights: Mapping[str, float] | None, clusters: Mapping[str, str] | None
) -> None:
    """Refuse weights with clusters: notes of a cluster may have unlike weights."""
    if weights is not None and clusters is not None:
        raise ArgumentError(
            "weights and clusters cannot be combined here. A study does both: set "
            "evaluation.cluster in study.toml"
        )


def _layout(table: CountTable) -> Layout:
    keys = table.keys
    return Layout(
        unit=keys.note,
        group=np.array(keys.features, dtype=object)[keys.feature].astype(str),
        stratum=np.array(keys.cases, dtype=object)[keys.case].astype(str),
    )


def _macro(
    found: Bootstrapped, means: F64, table: CountTable, settings: Resampling
) -> Bootstrapped:
    """Return the mean over groups and its interval, by percentiles whatever the rest is made by."""
    estimate = mean_defined(found.estimate, axis=0)
    cases = table.keys.strata_of_notes()
    freedom = degrees_of_freedom(cases, len(cases))
    plain = replace(settings, method=_MACRO_METHOD)
    return summarise(estimate, means, plain, freedom=freedom)


def _macro_of_cases(
    found: Bootstrapped, table: CountTable, level: str, settings: Resampling
) -> Bootstrapped:
    """Return the mean over groups with an interval from drawing whole cases."""
    owner = np.arange(len(found.estimate))
    if level == "features":
        # groups of both kinds are sorted by their labels
        layout = _layout(table)
        _, first = np.unique(np.asarray(layout.group), return_index=True)
        _, owner = np.unique(np.asarray(layout.stratum)[first], return_inverse=True)
    known = ~np.isnan(found.estimate)
    sums = np.zeros((int(owner.max()) + 1, found.estimate.shape[1], 2))
    np.add.at(sums, owner, np.stack([np.where(known, found.estimate, 0.0), known], axis=-1))
    plain = replace(settings, method=_MACRO_METHOD)
    return bootstrap_interval(sums, lambda pair: ratio(pair[..., 0], pair[..., 1]), plain)


def _widen_levels(levels: Levels, table: CountTable, overall: Support | None) -> Levels:
    """Join every interval with the limits by items where few notes are wrong."""
    keys = table.keys
    supports: list[Support | None] = [None, None]
    if overall is not None:
        for i, (labels, ids, index) in enumerate(
            (
                (levels.stratum_labels, keys.cases, keys.case),
                (levels.group_labels, keys.features, keys.feature),
            )
        ):
            place = {label: k for k, label in enumerate(labels.tolist())}
            group = np.array([place.get(one, -1) for one in ids], dtype=np.int64)[index]
            supports[i] = item_support(table, group, len(labels))
    return replace(
        levels,
        overall=_widen(levels.overall, table, overall),
        strata=_widen(levels.strata, table, supports[0]),
        groups=_widen(levels.groups, table, supports[1]),
    )


def _overall_support(table: CountTable, *, by_case: bool) -> Support:
    """Return the data of the values over all rows; items of a note or case stay together."""
    found = item_support(
        table, np.zeros(len(table), dtype=np.int64), 1, unit=table.keys.case if by_case else None
    )
    return Support(*(np.asarray(one)[0] for one in (found.items, found.wrong, found.right)))


def _widen(found: Bootstrapped, table: CountTable, support: Support | None) -> Bootstrapped:
    if support is None:
        support = Support(np.nan, np.inf, np.inf)
    names = list(table.measure.statistics)
    is_f1 = np.array([name == "f1" for name in names])
    corrected = np.array([name in _CORRECTED for name in names])
    return limit_by_items(found, support, through_jaccard=is_f1, twice=corrected)


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
