"""Counts that add: one line per (note, feature) row, summed by note, feature or case when asked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Literal

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, I64, Bools
from rubricate.errors import Fault, InputError
from rubricate.stats import defined, join_strata
from rubricate.stats import ratio as ratio
from rubricate.stats.resampling import f1, precision, recall

#: ``statistic(counts[..., k]) -> values[...]``
Statistic = Callable[[npt.ArrayLike], F64]

CONFUSION_COLUMNS = ("tp", "fp", "fn", "tn")
SPAN_COLUMNS = ("reference", "predicted", "reference_hits", "predicted_hits")


def _columns(counts: npt.ArrayLike) -> tuple[F64, F64, F64, F64]:
    values = np.asarray(counts, dtype=np.float64)
    return values[..., 0], values[..., 1], values[..., 2], values[..., 3]


def jaccard(counts: npt.ArrayLike) -> F64:
    """Return TP / (TP + FP + FN), Jaccard's index (1912); equals F1 / (2 - F1)."""
    tp, fp, fn, _ = _columns(counts)
    return ratio(tp, tp + fp + fn)


def accuracy(counts: npt.ArrayLike) -> F64:
    """Return (TP + TN) / n of (tp, fp, fn, tn) counts."""
    tp, fp, fn, tn = _columns(counts)
    return ratio(tp + tn, tp + fp + fn + tn)


def specificity(counts: npt.ArrayLike) -> F64:
    """Return TN / (TN + FP) of (tp, fp, fn, tn) counts."""
    _, fp, _, tn = _columns(counts)
    return ratio(tn, tn + fp)


def kappa(counts: npt.ArrayLike) -> F64:
    """Return Cohen's kappa (1960), (p_o - p_e) / (1 - p_e), of (tp, fp, fn, tn) counts.

    p_o is the share of agreement and p_e the agreement expected from both sides' own shares.
    For two categories it equals 2 (TP TN - FP FN) / ((TP+FP)(FP+TN) + (TP+FN)(FN+TN)), the form
    used here because it does not cancel when p_e is near 1.

    >>> round(float(kappa([20, 5, 10, 15])), 3)
    0.4
    """
    tp, fp, fn, tn = _columns(counts)
    return ratio(2 * (tp * tn - fp * fn), (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))


def prevalence(counts: npt.ArrayLike) -> F64:
    """Return (TP + FN) / n of (tp, fp, fn, tn) counts: the share of rows that the reference has."""
    tp, fp, fn, tn = _columns(counts)
    return ratio(tp + fn, tp + fp + fn + tn)


def negative_predictive_value(counts: npt.ArrayLike) -> F64:
    """Return TN / (TN + FN) of (tp, fp, fn, tn) counts: the share of absent findings that hold."""
    _, _, fn, tn = _columns(counts)
    return ratio(tn, tn + fn)


def pabak(counts: npt.ArrayLike) -> F64:
    """Return kappa adjusted for prevalence and bias, 2 p_o - 1 (Byrt, Bishop & Carlin 1993).

    >>> float(pabak([90, 5, 5, 0])), round(float(kappa([90, 5, 5, 0])), 3)
    (0.8, -0.053)
    """
    return 2 * accuracy(counts) - 1


def gwet_ac1(counts: npt.ArrayLike) -> F64:
    """Return Gwet's AC1 (2008), (p_o - p_e) / (1 - p_e) with p_e = 2 q (1 - q).

    q is the mean of both sides' shares of present rows. Where nearly all rows are present, or
    absent, kappa falls although the sides agree as often (the prevalence paradox: Feinstein &
    Cicchetti 1990); AC1 does not. With two categories AC2 is the same.

    >>> round(float(gwet_ac1([90, 5, 5, 0])), 3)
    0.89
    """
    tp, fp, fn, tn = _columns(counts)
    n = tp + fp + fn + tn
    share = ratio(2 * tp + fp + fn, 2 * n)
    chance = 2 * share * (1 - share)
    return ratio(accuracy(counts) - chance, 1 - chance)


def span_precision(counts: npt.ArrayLike) -> F64:
    """Return predicted hits / predicted annotations (columns as in ``SPAN_COLUMNS``)."""
    _, predicted, _, predicted_hits = _columns(counts)
    return ratio(predicted_hits, predicted)


def span_recall(counts: npt.ArrayLike) -> F64:
    """Return reference hits / reference annotations (columns as in ``SPAN_COLUMNS``)."""
    reference, _, reference_hits, _ = _columns(counts)
    return ratio(reference_hits, reference)


def span_f1(counts: npt.ArrayLike) -> F64:
    """Return the harmonic mean of span precision and recall.

    0 where nothing hits, also if one side is empty; nan where both are. With one number of hits
    for both sides it is 2 hits / (reference + predicted).

    >>> span_f1([[2, 3, 2, 2], [2, 0, 0, 0], [0, 0, 0, 0]]).tolist()
    [0.8, 0.0, nan]
    """
    reference, predicted, reference_hits, predicted_hits = _columns(counts)
    value = ratio(
        2 * predicted_hits * reference_hits, predicted_hits * reference + reference_hits * predicted
    )
    nothing_hits = (predicted_hits == 0) & (reference_hits == 0) & (reference + predicted > 0)
    return np.where(nothing_hits, 0.0, value)


@dataclass(frozen=True, slots=True)
class Measure:
    """A family of statistics over one set of count columns.

    ``name``: ``"characters"``, ``"presence"`` or ``"spans.exact"`` and the like.
    ``columns``: what the last axis of the counts holds.
    ``statistics``: in the order in which they are reported.
    ``row_means``: statistics whose mean over rows is reported too, empty against empty counting as
    1.
    ``settings``: what else makes counts comparable (protocol and unit of spans).
    """

    name: str
    columns: tuple[str, ...]
    statistics: Mapping[str, Statistic] = field(repr=False)
    row_means: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()

    def values(self, counts: npt.ArrayLike) -> F64:
        """Return all statistics in a new last axis, so that one bootstrap serves them all.

        >>> CHARACTERS.values([[3, 2, 2, 4], [5, 0, 0, 1]]).round(2).tolist()
        [[0.6, 0.6, 0.6, 0.43, 0.27], [1.0, 1.0, 1.0, 1.0, 1.0]]
        """
        return np.stack([formula(counts) for formula in self.statistics.values()], axis=-1)


_RATES: dict[str, Statistic] = {"precision": precision, "recall": recall, "f1": f1}

CHARACTERS = Measure(
    "characters",
    CONFUSION_COLUMNS,
    {**_RATES, "jaccard": jaccard, "kappa": kappa},
    row_means=("f1", "jaccard"),
)
PRESENCE = Measure(
    "presence",
    CONFUSION_COLUMNS,
    {
        **_RATES,
        "accuracy": accuracy,
        "kappa": kappa,
        "specificity": specificity,
        "npv": negative_predictive_value,
        "pabak": pabak,
        "ac1": gwet_ac1,
    },
)
#: Presence of a variable in a note, which may be any of several features.
VARIABLE = replace(PRESENCE, statistics={**PRESENCE.statistics, "prevalence": prevalence})
SPANS = Measure(
    "spans",
    SPAN_COLUMNS,
    {"precision": span_precision, "recall": span_recall, "f1": span_f1},
    row_means=("f1",),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """The counts of one measure and the values that follow from them; undefined ones are nan.

    >>> measured = Measured.of(CHARACTERS, [3, 2, 2, 4])
    >>> measured.f1, measured.counts["fn"]
    (0.6, 2)
    """

    counts: Mapping[str, int]
    values: Mapping[str, float]

    @classmethod
    def of(cls, measure: Measure, counts: npt.ArrayLike) -> Measured:
        """Compute every statistic of the measure from one line of counts."""
        line = np.asarray(counts)
        return cls(
            {name: int(count) for name, count in zip(measure.columns, line, strict=True)},
            dict(zip(measure.statistics, measure.values(line).tolist(), strict=True)),
        )

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    @property
    def precision(self) -> float:
        """The share of what was predicted that is right."""
        return self.values["precision"]

    @property
    def recall(self) -> float:
        """The share of the reference that was found."""
        return self.values["recall"]

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return self.values["f1"]

    def to_dict(self) -> dict[str, float | int | None]:
        """Return values, then counts, ready for JSON: undefined values are None."""
        values = {name: defined(value) for name, value in self.values.items()}
        return {**values, **self.counts}


def mean_defined(
    values: npt.ArrayLike, axis: int = -1, *, weights: npt.ArrayLike | None = None
) -> F64:
    """Return the mean of what is defined along the axis; nan where nothing is.

    ``weights``, one for each entry along the axis, make it a weighted mean.

    >>> float(mean_defined([1.0, float("nan"), 0.5]))
    0.75
    >>> float(mean_defined([1.0, float("nan"), 0.5], weights=[1, 5, 3]))
    0.625
    """
    array = np.asarray(values, dtype=np.float64)
    known = (~np.isnan(array)).astype(np.float64)
    if weights is not None:
        shape = [1] * array.ndim
        shape[axis] = -1
        known *= np.asarray(weights, dtype=np.float64).reshape(shape)
    total = (np.nan_to_num(array, nan=0.0) * known).sum(axis=axis)
    return ratio(total, known.sum(axis=axis))


#: What counts can be summed by.
By = Literal["note", "feature", "case"]


@dataclass(frozen=True, eq=False)
class RowKeys:
    """Which note, feature and case each counted row belongs to."""

    note: I64
    feature: I64
    case: I64
    notes: tuple[str, ...]
    features: tuple[str, ...]
    cases: tuple[str, ...]
    _groups: dict[By, tuple[tuple[str, ...], I64]] = field(
        default_factory=dict, init=False, repr=False
    )

    def __len__(self) -> int:
        return len(self.note)

    def take(self, rows: npt.ArrayLike) -> RowKeys:
        """Return the keys of these rows (indices or mask)."""
        picked = np.asarray(rows)
        return RowKeys(
            self.note[picked], self.feature[picked], self.case[picked],
            self.notes, self.features, self.cases,
        )  # fmt: skip

    def groups(self, by: By) -> tuple[tuple[str, ...], I64]:
        """Return the ids that have rows, in order, and each row's position among them."""
        if by not in self._groups:
            ids, index = {
                "note": (self.notes, self.note),
                "feature": (self.features, self.feature),
                "case": (self.cases, self.case),
            }[by]
            used = np.bincount(index, minlength=len(ids)) > 0
            kept = tuple(compress(ids, used.tolist()))
            self._groups[by] = kept, (np.cumsum(used) - 1)[index]
        return self._groups[by]

    def weights(self, by_note: Mapping[str, float] | None) -> F64:
        """Return the weight of each row's note; 1 everywhere without weights."""
        if by_note is None:
            return np.ones(len(self))
        missing = [name for name in self.notes if name not in by_note]
        if missing:
            raise InputError([Fault(f"note {name} has no weight") for name in missing])
        return np.array([by_note[name] for name in self.notes], dtype=np.float64)[self.note]

    def strata_of_notes(self) -> I64:
        """Return the stratum of each note that has rows, in the order of ``groups("note")``.

        It is the note's case. Cases that share a cluster of notes are one stratum.
        """
        notes, place = self.groups("note")
        stratum = np.zeros(len(notes), dtype=np.int64)
        stratum[place] = join_strata(place, self.case)
        return stratum

    def by_cluster(self, cluster_of: Mapping[str, str]) -> RowKeys:
        """Return the keys with clusters in the place of notes."""
        names = list(dict.fromkeys(cluster_of[note] for note in self.notes))
        number = {name: i for i, name in enumerate(names)}
        place = np.array([number[cluster_of[note]] for note in self.notes], dtype=np.int64)
        return replace(self, note=place[self.note], notes=tuple(names))

    @staticmethod
    def concatenate(parts: Sequence[RowKeys]) -> RowKeys:
        """Put the rows of several parts one after the other; equal ids become one."""
        notes, note = _joined([(part.notes, part.note) for part in parts])
        features, feature = _joined([(part.features, part.feature) for part in parts])
        cases, case = _joined([(part.cases, part.case) for part in parts])
        return RowKeys(note, feature, case, notes, features, cases)


@dataclass(frozen=True, eq=False, slots=True)
class GroupCounts:
    """Counts summed by note, feature or case: ``values[i]`` are the counts of ``ids[i]``."""

    measure: Measure
    ids: tuple[str, ...]
    values: I64

    def __len__(self) -> int:
        return len(self.ids)

    def statistic(self, name: str) -> F64:
        """Return one statistic for every group; nan where undefined."""
        return self.measure.statistics[name](self.values)

    def measured(self) -> dict[str, Measured]:
        """Return counts and values by id."""
        lines = zip(
            self.ids, self.values.tolist(), self.measure.values(self.values).tolist(), strict=True
        )
        return {
            group: Measured(
                dict(zip(self.measure.columns, counts, strict=True)),
                dict(zip(self.measure.statistics, values, strict=True)),
            )
            for group, counts, values in lines
        }

    def macro(self, weights: Mapping[str, float] | None = None) -> dict[str, float]:
        """Return the mean of each statistic over the groups where it is defined.

        ``weights`` gives each group's, by id; without them all groups count alike.
        """
        factors = None if weights is None else [weights[i] for i in self.ids]
        means = mean_defined(self.measure.values(self.values), axis=0, weights=factors)
        return dict(zip(self.measure.statistics, means.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class CountTable:
    """The counts of one measure, one line per (note, feature) row.

    Tables add: the table of a whole corpus and the sum of its parts' tables give the same totals
    by note, feature and case, so parts can be counted anywhere and merged.

    >>> from rubricate.evaluation.counts import PRESENCE
    >>> none = np.zeros(2, dtype=np.int64)
    >>> keys = RowKeys(np.array([0, 1]), none, none, ("n1", "n2"), ("f",), ("c",))
    >>> table = CountTable(PRESENCE, keys, np.array([[1, 0, 0, 0], [0, 0, 1, 0]]))
    >>> table.total().recall
    0.5
    >>> table.by("note").statistic("recall").tolist()
    [1.0, 0.0]
    >>> (table + table).total().counts["fn"]
    2
    """

    measure: Measure
    keys: RowKeys
    values: I64
    _summed: dict[By, GroupCounts] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.values)

    def __add__(self, other: CountTable) -> CountTable:
        return CountTable.concatenate([self, other])

    def column(self, name: str) -> I64:
        """Return one column, one entry per row."""
        return self.values[:, self.measure.columns.index(name)]

    def total(self) -> Measured:
        """Return the micro values: the statistics of the sum of all rows."""
        return Measured.of(self.measure, self.values.sum(axis=0))

    def by(self, by: By) -> GroupCounts:
        """Sum by note, feature or case; groups without rows are left out.

        ``by("note").values`` is the (n_notes, k) array that a bootstrap by note resamples.
        """
        if by not in self._summed:
            ids, place = self.keys.groups(by)
            self._summed[by] = GroupCounts(
                self.measure, ids, sum_groups(place, self.values, len(ids))
            )
        return self._summed[by]

    def where(
        self,
        *,
        notes: Collection[str] | None = None,
        features: Collection[str] | None = None,
        cases: Collection[str] | None = None,
    ) -> CountTable:
        """Return the rows of these notes, features and cases.

        ``table.where(features=["3"]).by("note").values`` is what an interval for one feature
        resamples.
        """
        keep = np.ones(len(self), dtype=bool)
        for wanted, ids, index in (
            (notes, self.keys.notes, self.keys.note),
            (features, self.keys.features, self.keys.feature),
            (cases, self.keys.cases, self.keys.case),
        ):
            if wanted is not None:
                kept = set(wanted)
                keep &= np.array([i in kept for i in ids], dtype=bool)[index]
        return self.take(keep)

    def take(self, keep: Bools) -> CountTable:
        """Return the rows for which ``keep`` is true."""
        return CountTable(self.measure, self.keys.take(keep), self.values[keep])

    def row_means(self, weights: Mapping[str, float] | None = None) -> dict[str, float]:
        """Return means over rows, a row where both sides have nothing counting as agreement (1).

        With ``weights`` (by note id) each row counts as its note does. Only for the measure's
        ``row_means`` (F1, Jaccard). This is the one place where empty against empty counts: the
        mean asks how well a row is done, and such a row is done well. (The Jaccard values in
        Table 2 of the NBME paper exceed its F1 values, which no ratio of sums can, but this mean
        does.)
        """
        factors = None
        if weights is not None:
            factors = np.array([weights.get(i, np.nan) for i in self.keys.notes])[self.keys.note]
        means = {}
        for name in self.measure.row_means:
            values = self.measure.statistics[name](self.values)
            defined = np.where(np.isnan(values), 1.0, values)
            means[name] = float(mean_defined(defined, weights=factors))
        return means

    def macro(
        self, weights: Mapping[str, float] | None = None
    ) -> Mapping[str, Mapping[str, float]]:
        """Return means over features, cases and notes, and over rows where defined.

        Design ``weights`` of the notes serve the means over notes and rows; features and cases
        count alike.
        """
        means = {
            "features": self.by("feature").macro(),
            "cases": self.by("case").macro(),
            "notes": self.by("note").macro(weights),
        }
        if self.measure.row_means:
            means["rows"] = self.row_means(weights)
        return means

    def by_variable(self, variables: Mapping[str, Collection[str]]) -> CountTable:
        """Return the table with variables in the place of features.

        Counts of a variable's features are summed note by note; it is present in a note where any
        of its features is.

        >>> none = np.zeros(2, dtype=np.int64)
        >>> keys = RowKeys(none, np.array([0, 1]), none, ("n",), ("f", "g"), ("c",))
        >>> table = CountTable(PRESENCE, keys, np.array([[0, 0, 1, 0], [0, 1, 0, 0]]))
        >>> table.by_variable({"either": ["f", "g"]}).values.tolist()
        [[1, 0, 0, 0]]
        """
        presence = self.measure.name == PRESENCE.name
        rows, values = [], []
        for features in variables.values():
            own = self.where(features=features)
            if len(features) > 1:
                _, first = np.unique(own.keys.note, return_index=True)
                own = CountTable(self.measure, own.keys.take(first), own.by("note").values)
                if presence:
                    tp, fp, fn, _ = own.values.T
                    own = replace(own, values=four_cells(tp + fn > 0, tp + fp > 0))
            rows.append(own.keys)
            values.append(own.values)
        number = np.repeat(np.arange(len(rows)), [len(one) for one in rows])
        keys = RowKeys(
            np.concatenate([one.note for one in rows]), number,
            np.concatenate([one.case for one in rows]),
            self.keys.notes, tuple(variables), self.keys.cases,
        )  # fmt: skip
        measure = VARIABLE if presence else self.measure
        return CountTable(measure, keys, np.concatenate(values))

    def by_cluster(self, cluster_of: Mapping[str, str]) -> CountTable:
        """Return the table with clusters of notes, such as patients, in the place of notes.

        >>> from rubricate.evaluation.counts import PRESENCE
        >>> none = np.zeros(2, dtype=np.int64)
        >>> keys = RowKeys(np.array([0, 1]), none, none, ("n1", "n2"), ("f",), ("c",))
        >>> table = CountTable(PRESENCE, keys, np.array([[1, 0, 0, 0], [0, 0, 1, 0]]))
        >>> table.by_cluster({"n1": "p", "n2": "p"}).by("note").values.tolist()
        [[1, 0, 1, 0]]
        """
        return CountTable(self.measure, self.keys.by_cluster(cluster_of), self.values)

    @staticmethod
    def concatenate(tables: Sequence[CountTable]) -> CountTable:
        """Merge the tables of parts into one."""
        if not tables:
            raise ValueError("nothing to concatenate: need at least one table")
        first = tables[0].measure
        for table in tables[1:]:
            if table.measure != first:
                raise ValueError(
                    f"counts of {first.name} {first.settings} and of {table.measure.name} "
                    f"{table.measure.settings} cannot be added"
                )
        keys = RowKeys.concatenate([table.keys for table in tables])
        return CountTable(first, keys, np.concatenate([table.values for table in tables]))


def sum_groups(place: I64, values: I64, n: int) -> I64:
    """Sum the lines of ``values`` by group; ``place`` is each line's group, of ``n``.

    >>> sum_groups(np.array([0, 1, 0]), np.array([[1, 2], [3, 4], [5, 6]]), 2).tolist()
    [[6, 8], [3, 4]]
    """
    # bincount adds in float64, exact up to 2**53: more characters than any corpus has
    columns = [np.bincount(place, weights=column, minlength=n) for column in values.T]
    return np.stack(columns, axis=-1).astype(np.int64)


def _joined(parts: list[tuple[tuple[str, ...], I64]]) -> tuple[tuple[str, ...], I64]:
    number: dict[str, int] = {}
    indices = []
    for ids, index in parts:
        new = np.array([number.setdefault(i, len(number)) for i in ids], dtype=np.int64)
        indices.append(new[index])
    return tuple(number), np.concatenate(indices)


def four_cells(reference: Bools, predicted: Bools) -> I64:
    """Return TP, FP, FN and TN of each unit, one of which is 1.

    >>> four_cells(np.array([True, False]), np.array([True, True])).tolist()
    [[1, 0, 0, 0], [0, 1, 0, 0]]
    """
    both = (reference & predicted, ~reference & predicted, reference & ~predicted)
    return np.stack([*both, ~(reference | predicted)], axis=-1).astype(np.int64)
