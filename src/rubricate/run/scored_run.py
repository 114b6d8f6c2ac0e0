"""A run in columns: each note's score, and what was decided on each item."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rubricate.progress import Progress, silent
from rubricate.run.reading import read_results
from rubricate.run.results import NoteResult

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class RunItems:
    """What was decided on each note and feature, one entry per decision."""

    note: I64
    feature: I64
    features: tuple[str, ...]
    found: Bools
    certainty: F64
    needs_review: Bools

    def __len__(self) -> int:
        return len(self.note)


def no_items() -> RunItems:
    """Return items of which there are none."""
    nothing, no = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_)
    return RunItems(nothing, nothing, (), no, np.zeros(0), no)


@dataclass(frozen=True, eq=False)
class ScoredRun:
    """Scores of notes, and the decisions behind them where they are known.

    Examples
    --------
    >>> run = ScoredRun(("n1", "n2"), ("c", "c"), np.array([3.0, 4.0]), np.array([4.0, 4.0]))
    >>> run.percentage.tolist()
    [75.0, 100.0]
    """

    notes: tuple[str, ...]
    cases: tuple[str, ...]
    score: F64
    maximum: F64
    items: RunItems = field(default_factory=no_items)

    def __len__(self) -> int:
        return len(self.notes)

    @cached_property
    def percentage(self) -> F64:
        """Each note's score in per cent of its maximum; NaN without a maximum."""
        return percentages(self.score, self.maximum)

    @cached_property
    def note_index(self) -> dict[str, int]:
        """Place of each note by id; of the first, where an id comes twice."""
        return {note: i for i, note in reversed(list(enumerate(self.notes)))}

    def item_keys(self) -> dict[tuple[str, str], int]:
        """Return the place of each decision by the ids of note and feature."""
        items = self.items
        pairs = zip(items.note.tolist(), items.feature.tolist(), strict=True)
        return {(self.notes[n], items.features[f]): k for k, (n, f) in enumerate(pairs)}

    def mean_by_note(self, values: npt.NDArray[np.generic]) -> F64:
        """Return the mean of the items' values in each note; NaN where a note has none."""
        numbers = np.asarray(values, dtype=np.float64)
        known = ~np.isnan(numbers)
        where, n = self.items.note[known], len(self)
        count = np.bincount(where, minlength=n)
        total = np.bincount(where, weights=numbers[known], minlength=n)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)

    def with_notes_like(self, other: ScoredRun) -> ScoredRun:
        """Return the run with its notes in the order of another that holds the same."""
        places: dict[str, list[int]] = {}
        for i, note in enumerate(self.notes):
            places.setdefault(note, []).append(i)
        # Notes with one id keep their order.
        order = np.array([places[note].pop(0) for note in other.notes], dtype=np.int64)
        return ScoredRun(
            other.notes,
            tuple(self.cases[i] for i in order),
            self.score[order],
            self.maximum[order],
            replace(self.items, note=np.argsort(order)[self.items.note]),
        )


def percentages(score: F64, maximum: F64) -> F64:
    """Return scores in per cent of their maximum; NaN where nothing can be got."""
    known = maximum > 0
    return np.where(known, 100 * score / np.where(known, maximum, 1.0), np.nan)


def shared_notes(first: ScoredRun, second: ScoredRun) -> tuple[I64, I64]:
    """Return the places of the notes both runs hold and have scored, in the first one's order."""
    pairs = [
        (i, second.note_index[note])
        for i, note in enumerate(first.notes)
        if note in second.note_index
    ]
    places = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    scored = ~np.isnan(first.percentage[places[:, 0]]) & ~np.isnan(second.percentage[places[:, 1]])
    return places[scored, 0], places[scored, 1]


def paired_items(first: ScoredRun, second: ScoredRun) -> tuple[I64, I64]:
    """Return the places of the decisions both runs made on the same note and feature."""
    keys = second.item_keys()
    pairs = [(k, keys[key]) for key, k in first.item_keys().items() if key in keys]
    places = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return places[:, 0], places[:, 1]


class RunCollector:
    """Puts results into columns, one note at a time."""

    def __init__(self) -> None:
        self._notes: list[str] = []
        self._cases: list[str] = []
        self._numbers = (array("d"), array("d"))
        self._feature: dict[str, int] = {}
        self._places = (array("q"), array("q"))
        self._certainty = array("d")
        self._answers = (bytearray(), bytearray())

    def add(self, result: NoteResult) -> None:
        """Add one note with the items that were decided."""
        total, place = result.total, len(self._notes)
        self._notes.append(result.note)
        self._cases.append(result.case)
        for column, value in zip(
            self._numbers, (total.score, total.maximum) if total else (np.nan, np.nan), strict=True
        ):
            column.append(value)
        for item in result.decided():
            sure = item.certainty
            self._places[0].append(place)
            self._places[1].append(self._feature.setdefault(item.feature.id, len(self._feature)))
            self._certainty.append(np.nan if sure is None else sure)
            self._answers[0].append(bool(item.found))
            self._answers[1].append(bool(item.review_reason))

    def run(self) -> ScoredRun:
        """Return the columns."""
        note, feature = (np.array(column, dtype=np.int64) for column in self._places)
        found, review = (np.frombuffer(bytes(one), dtype=np.bool_) for one in self._answers)
        items = RunItems(
            note, feature, tuple(self._feature), found, np.array(self._certainty), review
        )
        score, maximum = (np.array(column) for column in self._numbers)
        return ScoredRun(tuple(self._notes), tuple(self._cases), score, maximum, items)


def collect_run(results: Iterable[NoteResult]) -> ScoredRun:
    """Put results into columns."""
    collector = RunCollector()
    for result in results:
        collector.add(result)
    return collector.run()


def read_run(folder: str | Path, *, progress: Progress = silent) -> ScoredRun:
    r"""Read the ``scores.csv`` and ``items.csv`` of a finished run into columns.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "scores.csv").write_text("note,case,score,maximum\nn1,c,1,2\n")
    >>> _ = (folder / "items.csv").write_text("note,feature,found\nn1,f,1\nn1,g,0\n")
    >>> read_run(folder).items.found.tolist()
    [True, False]
    """
    return collect_run(read_results(folder, progress=progress))
