"""Counts that add: one line per (note, feature) row, summed by note, feature or case when asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, I64, Bools
from rubricate.errors import Fault, InputError
from rubricate.measures.formulas import Measure, Measured, mean_defined
from rubricate.stats import join_strata

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
        return self._groups[by]

    @cached_property
    def _groups(self) -> dict[By, tuple[tuple[str, ...], I64]]:
        return {
            "note": _used(self.notes, self.note),
            "feature": _used(self.features, self.feature),
            "case": _used(self.cases, self.case),
        }

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

    >>> from rubricate.measures.formulas import PRESENCE
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

    def __len__(self) -> int:
        return len(self.values)

    def __add__(self, other: CountTable) -> CountTable:
        return CountTable.concatenate([self, other])

    @cached_property
    def _summed(self) -> dict[By, GroupCounts]:
        return {}

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

    def by_cluster(self, cluster_of: Mapping[str, str]) -> CountTable:
        """Return the table with clusters of notes, such as patients, in the place of notes.

        >>> from rubricate.measures.formulas import PRESENCE
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


def _used(ids: tuple[str, ...], index: I64) -> tuple[tuple[str, ...], I64]:
    """Drop ids without rows."""
    used = np.bincount(index, minlength=len(ids)) > 0
    place = np.cumsum(used) - 1
    return tuple(i for i, u in zip(ids, used.tolist(), strict=True) if u), place[index]


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
