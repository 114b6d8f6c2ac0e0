"""Intervals for every value of an evaluation, from one resampling of the notes' counts a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rubricate.errors import Fault, InputError
from rubricate.measures.calibration import CalibrationResult, calibrate
from rubricate.measures.counts import CountTable
from rubricate.measures.evaluate import Evaluation
from rubricate.measures.exact_limits import widen_levels, widen_overall
from rubricate.measures.formulas import defined, mean_defined
from rubricate.stats import Bootstrapped, Interval, Layout, Levels, Resampling, bootstrap_levels
from rubricate.stats.bootstrap import summarise

Path = tuple[str, ...]
#: Macro means have percentiles: BCa needs their jackknife, which groups' results do not hold.
_MACRO_METHOD: Literal["percentile"] = "percentile"


@dataclass(frozen=True, eq=False)
class Interpreted:
    """An evaluation with an interval for every value.

    Parameters
    ----------
    evaluation : Evaluation
        The counts.
    settings : Resampling
        How intervals were made.
    levels : mapping from path to Levels
        One entry a count table; see `Evaluation.tables`.
    macro : mapping from (path, "features" or "cases") to Bootstrapped
        Intervals of macro means.
    weights : mapping from note id to weight, optional
        Design weights; values are then weighted too.
    """

    evaluation: Evaluation
    settings: Resampling
    levels: Mapping[Path, Levels]
    macro: Mapping[tuple[Path, str], Bootstrapped]
    weights: Mapping[str, float] | None = None

    @cached_property
    def calibration(self) -> CalibrationResult | None:
        """How far predicted probabilities can be believed; None where there is none."""
        evaluation = self.evaluation
        if evaluation.probability is None or np.isnan(evaluation.probability).all():
            return None
        return calibrate(
            evaluation.presence, evaluation.probability, self.settings, weights=self.weights
        )

    def interval(self, *path: str, statistic: str = "f1") -> Interval:
        """Return the interval of an overall value, e.g. ``interval("spans", "exact")``."""
        table = dict(self.evaluation.tables())[path]
        place = list(table.measure.statistics).index(statistic)
        return self.levels[path].overall.interval(place)

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluation's values with intervals beside them, ready for JSON.

        Each measure gets ``interval`` (of its F1: low, high) and ``intervals`` (of every
        statistic). With weights, the values themselves are the weighted ones.
        """
        result = self.evaluation.to_dict(self.weights)
        result["intervals"] = {
            "confidence": self.settings.confidence,
            "method": f"bootstrap-{self.settings.method}",
            "macro_method": f"bootstrap-{_MACRO_METHOD}",
            "unit": "note",
            "resamples": self.settings.resamples,
            "seed": self.settings.seed,
            "weighted": self.weights is not None,
        }
        for path, table in self.evaluation.tables():
            levels = self.levels[path]
            names = list(table.measure.statistics)
            _fill(_find(result, path), levels.overall, (), names)
            for level, labels, found in (
                ("cases", levels.stratum_labels, levels.strata),
                ("features", levels.group_labels, levels.groups),
            ):
                for i, label in enumerate(labels.tolist()):
                    _fill(_find(result[level][label], path), found, (i,), names)
                target = _find(result, path)["macro"][level]
                _fill(target, self.macro[path, level], (), names)
        return result


def _find(value: dict[str, Any], path: Path) -> dict[str, Any]:
    for name in path:
        value = value[name]
    return value


def _fill(target: dict[str, Any], found: Bootstrapped, index: Any, names: list[str]) -> None:
    values = found.estimate[index] if index else found.estimate
    low = found.low[index] if index else found.low
    high = found.high[index] if index else found.high
    for i, name in enumerate(names):
        target[name] = defined(values[i])
    target["intervals"] = {
        name: [defined(low[i]), defined(high[i])] for i, name in enumerate(names)
    }
    target["interval"] = target["intervals"]["f1"]


def add_intervals(
    evaluation: Evaluation,
    settings: Resampling | None = None,
    *,
    weights: Mapping[str, float] | None = None,
) -> Interpreted:
    """Bootstrap every value of an evaluation by note.

    Notes are drawn with replacement inside their case, with all their features, so the
    correlation of a note's rows is kept (the design of `rubricate.stats.bootstrap_levels`). Where
    every note that informs a value is perfect the limit is exact, by note; with unequal weights
    it is unknown (nan).

    Parameters
    ----------
    evaluation : Evaluation
        What `rubricate.measures.evaluate` returned.
    settings : Resampling, optional
        Resamples, confidence, method (percentile or BCa), seed.
    weights : mapping from note id to weight, optional
        Design weights (1 / inclusion probability) of a stratified sample.

    Raises
    ------
    InputError
        If a note has no weight, or there is no row to measure.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> from rubricate.measures import evaluate
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> evaluation = evaluate(
    ...     corpus, corpus, missing="skip",
    ...     reference_annotator="reference", predicted_annotator="second_rater",
    ... )
    >>> found = add_intervals(evaluation, Resampling(resamples=200))
    >>> interval = found.interval("characters")
    >>> interval.low < evaluation.characters.total().f1 < interval.high
    True
    """
    settings = settings or Resampling()
    if not len(evaluation.characters):
        raise InputError("there is no row that both sides judged, so there is nothing to measure")
    row_weights = _row_weights(evaluation.characters, weights)
    keep = Resampling(
        settings.resamples, settings.confidence, settings.method, settings.seed,
        keep_replicates=True,
    )  # fmt: skip
    unequal = row_weights is not None and len(np.unique(row_weights)) > 1
    levels: dict[Path, Levels] = {}
    macro: dict[tuple[Path, str], Bootstrapped] = {}
    for path, table in evaluation.tables():
        found = bootstrap_levels(
            table.values, _layout(table), table.measure.values, keep, weights=row_weights
        )
        macro[path, "features"] = widen_overall(
            _macro(found.groups, settings), table, unequal=unequal
        )
        macro[path, "cases"] = widen_overall(_macro(found.strata, settings), table, unequal=unequal)
        levels[path] = _without_replicates(widen_levels(found, table, unequal=unequal))
    return Interpreted(evaluation, settings, levels, macro, weights)


def _layout(table: CountTable) -> Layout:
    keys = table.keys
    return Layout(
        unit=keys.note,
        group=np.array(keys.features, dtype=object)[keys.feature].astype(str),
        stratum=np.array(keys.cases, dtype=object)[keys.case].astype(str),
    )


def _row_weights(
    table: CountTable, weights: Mapping[str, float] | None
) -> npt.NDArray[np.float64] | None:
    if weights is None:
        return None
    missing = [i for i in table.keys.notes if i not in weights]
    if missing:
        raise InputError([Fault(f"note {i} has no weight") for i in missing])
    by_note = np.array([weights[i] for i in table.keys.notes], dtype=np.float64)
    return by_note[table.keys.note]


def _macro(found: Bootstrapped, settings: Resampling) -> Bootstrapped:
    """Return the mean over groups and its interval, by percentiles whatever the rest is made by."""
    estimate = mean_defined(found.estimate, axis=0)
    replicates = (
        mean_defined(found.replicates, axis=1) if found.replicates is not None else estimate
    )
    return summarise(estimate, replicates, replace(settings, method=_MACRO_METHOD), None)


def _without_replicates(levels: Levels) -> Levels:
    return replace(
        levels,
        overall=replace(levels.overall, replicates=None),
        strata=replace(levels.strata, replicates=None),
        groups=replace(levels.groups, replicates=None),
    )
