"""Span agreement note by note: ordered pairs averaged inside a note, then notes averaged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rubricate.agreement.pairs import AnnotatorPairs
from rubricate.measures import CountTable, Matching, span_counts
from rubricate.measures.formulas import defined
from rubricate.stats import Resampling, bootstrap_interval, exact_where_still, ratio

F64 = npt.NDArray[np.float64]
#: What an annotator without a span in a row does to the row's value.
Empty = Literal["zero", "agree", "skip"]
STATISTICS = ("precision", "recall", "f1")


@dataclass(frozen=True, eq=False)
class NoteMeans:
    """Mean and sample standard deviation over notes of one kind of span agreement.

    Parameters
    ----------
    mean, sd : mapping from statistic to float
    interval : (float, float)
        Bootstrap interval of the mean F1, by note.
    n_notes, n_pairs : int
        Notes, and ordered pairs of annotators in them.
    """

    mean: dict[str, float]
    sd: dict[str, float]
    interval: tuple[float, float]
    n_notes: int
    n_pairs: int

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        values: dict[str, Any] = {name: defined(value) for name, value in self.mean.items()}
        values["sd"] = {name: defined(value) for name, value in self.sd.items()}
        values["interval"] = [defined(x) for x in self.interval]
        return {**values, "n_notes": self.n_notes, "n_pairs": self.n_pairs}


def note_means(
    pairs: AnnotatorPairs,
    matching: Matching,
    *,
    empty: Empty = "zero",
    settings: Resampling | None = None,
) -> dict[str, dict[str, NoteMeans]]:
    """Average span precision, recall and F1 over ordered pairs in a note, then over notes.

    This is the PICO paper's way (Lee and Sun 2019, section 3), which makes a long note count as
    much as a short one.

    Parameters
    ----------
    pairs : AnnotatorPairs
        Ordered pairs: both directions for agreement inside a group, one for a group against
        another.
    matching : Matching
        Protocol and unit; ``paper`` with the default ``empty`` reproduces the paper's Table 2.
    empty : {"zero", "agree", "skip"}
        An annotator who marked nothing scores 0 in that row, against anybody (``zero``, as the
        paper); two who both marked nothing agree fully (``agree``: 1); or rows in which somebody
        marked nothing are left out (``skip``).

    Returns
    -------
    dict
        Feature id (and ``""`` for all features together) → kind of agreement → `NoteMeans`.
    """
    tables = span_counts(pairs.pairing, matching)
    found: dict[str, dict[str, NoteMeans]] = {}
    for kind, table in tables.items():
        values, keep = _row_values(table, empty)
        note, feature = table.keys.note[keep], table.keys.feature[keep]
        for place in [-1, *np.unique(feature).tolist()]:
            own = np.ones(len(note), dtype=bool) if place < 0 else feature == place
            name = "" if place < 0 else table.keys.features[place]
            means = _over_notes(values[keep][own], note[own], settings or Resampling())
            found.setdefault(name, {})[kind] = means
    return found


def _row_values(table: CountTable, empty: Empty) -> tuple[F64, npt.NDArray[np.bool_]]:
    """Return precision, recall and F1 of each row, and which rows count."""
    values = np.nan_to_num(table.measure.values(table.values), nan=0.0)
    nothing = (table.column("reference") == 0, table.column("predicted") == 0)
    keep = np.ones(len(table), dtype=bool)
    if empty == "agree":
        values[nothing[0] & nothing[1]] = 1.0
    elif empty == "skip":
        keep = ~(nothing[0] | nothing[1])
    return values, keep


def _over_notes(values: F64, note: npt.NDArray[np.int64], settings: Resampling) -> NoteMeans:
    notes, place = np.unique(note, return_inverse=True)
    n_pairs = np.bincount(place, minlength=len(notes)).astype(np.float64)
    by_note = np.stack(
        [np.bincount(place, weights=column, minlength=len(notes)) / n_pairs for column in values.T],
        axis=-1,
    )
    mean = by_note.mean(axis=0) if len(notes) else np.full(3, np.nan)
    sd = by_note.std(axis=0, ddof=1) if len(notes) > 1 else np.full(3, np.nan)
    interval = (float("nan"), float("nan"))
    if len(notes) > 1:
        # A mean over notes is a ratio of sums over notes: (value, 1) add like any counts.
        counts = np.stack([by_note[:, 2], np.ones(len(notes))], axis=-1)
        drawn = exact_where_still(
            bootstrap_interval(counts, lambda sums: ratio(sums[..., 0], sums[..., 1]), settings),
            len(notes),
        )
        interval = (float(drawn.low), float(drawn.high))
    return NoteMeans(
        dict(zip(STATISTICS, mean.tolist(), strict=True)),
        dict(zip(STATISTICS, sd.tolist(), strict=True)),
        interval,
        len(notes),
        len(values),
    )
