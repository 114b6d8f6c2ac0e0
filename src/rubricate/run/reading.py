"""Reading the tables of a finished run, of more notes than memory holds."""

from __future__ import annotations

import pickle
import tempfile
from array import array
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, I64, Bools
from rubricate.formats.reading import Faults
from rubricate.formats.tables import number_rows
from rubricate.progress import Progress, silent, watched
from rubricate.rubric import Feature
from rubricate.run.results import (
    Correction,
    CounterEvidence,
    Evidence,
    ItemResult,
    NoteResult,
    Total,
)
from rubricate.run.tables import (
    BETWEEN,
    ITEM_COLUMNS,
    SCORE_COLUMNS,
    Value,
    read_rows,
    refuse_same_ids,
)
from rubricate.spans import Spans, parse_spans

V = TypeVar("V")


class Spill(Generic[V]):
    """A list in a file, written at the end and read at any place; eight bytes each in memory.

    >>> spill = Spill[str]()
    >>> [spill.add("a"), spill.add("b")]
    [0, 1]
    >>> spill[1], len(spill), list(spill)
    ('b', 2, ['a', 'b'])
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._start = array("q")
        self._at_end = True

    def __del__(self) -> None:
        with suppress(OSError):  # on a full disk its last values cannot be written
            self._file.close()

    def __len__(self) -> int:
        return len(self._start)

    def add(self, value: V) -> int:
        """Keep one more value, and return its place."""
        if not self._at_end:
            self._file.seek(0, 2)
            self._at_end = True
        self._start.append(self._file.tell())
        pickle.dump(value, self._file, protocol=pickle.HIGHEST_PROTOCOL)
        return len(self._start) - 1

    def __getitem__(self, place: int) -> V:
        self._file.seek(self._start[place])
        self._at_end = False
        value: V = pickle.load(self._file)
        return value

    def __iter__(self) -> Iterator[V]:
        return (self[place] for place in range(len(self)))


SCORES, ITEMS = "scores.csv", "items.csv"
#: The reason of an item that a table sends to a person without giving one.
UNEXPLAINED = "a person must look"
T = TypeVar("T", str, float, bool)


def read_results(folder: str | Path, *, progress: Progress = silent) -> Iterator[NoteResult]:
    r"""Yield the results in the tables of a run, in the order of scores.csv.

    Columns that a table lacks are taken for empty, but for those that are needed. The rows of
    items.csv may come in any order: they lie in a temporary file until their note's turn.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "scores.csv").write_text("note,case,score,maximum\nn1,c,1,2\n")
    >>> _ = (folder / "items.csv").write_text("note,feature,found,spans\nn1,f,yes,0 5\n")
    >>> [(result.note, result.items[0].evidence.spans) for result in read_results(folder)]
    [('n1', (((0, 5),),))]
    """
    place = Path(folder)
    heads = [_head(row) for row in read_rows(place / SCORES, SCORE_COLUMNS)]
    refuse_same_ids((head[0] for head in heads), place / SCORES)
    items = _Items(place / ITEMS, heads, progress)
    for number, head in enumerate(watched(heads, progress, "reading results", len(heads))):
        note, case, status, reason, total, same_as = head
        yield NoteResult(note, case, status, reason, total, items.of(number), same_as)


_Head = tuple[str, str, str, str, Total | None, str]


def _head(row: dict[str, Value]) -> _Head:
    score, maximum = _get(row, "score", float), _get(row, "maximum", float)
    total = None
    if score is not None:
        total = Total(score, float("nan") if maximum is None else maximum, {})
    note, case, status, reason, same_as = (
        _get(row, name, str) or "" for name in ("note", "case", "status", "reason", "same_as")
    )
    return note, case, status, reason, total, same_as


def _get(row: dict[str, Value], name: str, kind: type[T]) -> T | None:
    value = row.get(name)
    return value if isinstance(value, kind) else None


def _spans(row: dict[str, Value], name: str, number: int, faults: Faults) -> Spans:
    try:
        return parse_spans(_get(row, name, str) or "")
    except ValueError:
        faults.add(f"{name}: need e.g. 0 5;8 12 (0 <= start < end)", line=number)
        return ()


def _against(row: dict[str, Value], number: int, faults: Faults) -> CounterEvidence | None:
    spans = _spans(row, "contradicted_spans", number, faults)
    if not spans:
        return None
    words, reason = (
        _get(row, name, str) or "" for name in ("contradicted_by", "contradicted_reason")
    )
    return CounterEvidence(spans[0], words, _get(row, "contradicted_probability", float), reason)


#: An item with the number of its feature in its place.
_Kept = tuple[int, Evidence, bool | None, float | None, str, Correction | None]


class _Items:
    """The items of each note, in the order in which the features of its case came first."""

    def __init__(self, path: Path, heads: list[_Head], progress: Progress) -> None:
        self._spill: Spill[list[_Kept]] = Spill()
        self._parts: dict[int, list[int]] = {}
        self._features: list[Feature] = []
        self._number: dict[tuple[str, str], int] = {}
        numbers = {head[0]: i for i, head in enumerate(heads)}
        faults = Faults(path, unit="row")
        rows = number_rows(watched(read_rows(path, ITEM_COLUMNS), progress, "reading items"))
        for note, group in groupby(rows, key=lambda pair: pair[1]["note"]):
            number = numbers.get(str(note))
            if number is None:
                for row, _ in group:
                    faults.add("the note has no row in scores.csv", line=row)
                continue
            own = [self._item(value, row, heads[number][1], faults) for row, value in group]
            self._parts.setdefault(number, []).append(self._spill.add(own))
        faults.raise_any()

    def _item(self, row: dict[str, Value], number: int, case: str, faults: Faults) -> _Kept:
        name, found = str(row["feature"]), _get(row, "found", bool)
        spans = _spans(row, "spans", number, faults)
        text = _get(row, "text", str)
        evidence = Evidence(
            spans,
            _get(row, "probability", float),
            _get(row, "confidence", float),
            tuple(text.split(BETWEEN)) if text else (),
            _get(row, "reason", str) or "",
            _against(row, number, faults),
        )
        corrected = None
        if by := _get(row, "corrected_by", str):
            at, comment = (_get(row, column, str) or "" for column in ("corrected_at", "comment"))
            corrected = Correction(str(row["note"]), name, bool(found), by, at, comment=comment)
        why = (_get(row, "review_reason", str) or UNEXPLAINED) if row.get("review") else ""
        points = _get(row, "points", float)
        return self._feature(case, name, row), evidence, found, points, why, corrected

    def _feature(self, case: str, name: str, row: dict[str, Value]) -> int:
        number = self._number.setdefault((case, name), len(self._features))
        if number == len(self._features):
            text, weight = _get(row, "feature_text", str), _get(row, "weight", float)
            group = _get(row, "group", str) or ""
            weight = 1.0 if weight is None else weight
            self._features.append(Feature(name, case, text or name, weight, group=group))
        return number

    def of(self, number: int) -> tuple[ItemResult, ...]:
        found = [kept for part in self._parts.get(number, ()) for kept in self._spill[part]]
        found.sort(key=lambda kept: kept[0])
        return tuple(ItemResult(self._features[kept[0]], *kept[1:]) for kept in found)


def read_evidence(
    folder: str | Path, *, progress: Progress = silent
) -> dict[str, dict[str, Evidence]]:
    """Return the stated and contradicted places of a finished run, by note and feature."""
    return {
        result.note: {
            item.feature.id: item.evidence
            for item in result.items
            if item.found or item.outcome == "contradicted"
        }
        for result in read_results(folder, progress=progress)
    }


@dataclass(frozen=True, eq=False, slots=True)
class RunItems:
    """Decisions of a run, one entry per note and feature."""

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
        """Place of each note by id."""
        return {note: i for i, note in enumerate(self.notes)}

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
        order = np.array([self.note_index[note] for note in other.notes], dtype=np.int64)
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

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "scores.csv").write_text("note,case,score,maximum\nn1,c,1,2\n")
    >>> _ = (folder / "items.csv").write_text("note,feature,found\nn1,f,1\nn1,g,0\n")
    >>> read_run(folder).items.found.tolist()
    [True, False]
    """
    return collect_run(read_results(folder, progress=progress))
