"""Writing a run's results in one pass: scores.csv, items.csv, scores.xlsx; then run.json."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Generic, TypedDict

from rubricate.errors import Fault, InputError
from rubricate.files import file_hash, write_whole
from rubricate.formats.encoding import Json
from rubricate.run.reading import ITEMS, SCORES
from rubricate.run.results import CountsRecord, NoteResult, RunCounts
from rubricate.run.tables import (
    EXPLAINED,
    ITEM_COLUMNS,
    REVIEW_COLUMNS,
    SCORE_COLUMNS,
    R,
    RunColumn,
    cell_text,
)
from rubricate.run.workbook import OpenSheet, SheetColumn, Workbook

WORKBOOK = "scores.xlsx"
RUN, TIMES = "run.json", "times.json"
#: The pages about a run that lie beside its tables.
REPORT = ("report.html", "report")
#: What a run writes besides its evidence; the last says that the run is complete.
PRODUCTS = (SCORES, ITEMS, WORKBOOK, TIMES, RUN)


class RunRecord(TypedDict, total=False):
    """What run.json says: what the tables depend on, the same for equal runs."""

    rubricate: str
    matcher: str
    parameters: Json
    model: dict[str, str]
    rubric: dict[str, str | int]
    input: dict[str, str | list[str]]
    settings: dict[str, float]
    versions: dict[str, str]
    policy: dict[str, str | float]
    unsure: dict[str, float]
    corrections: dict[str, str | int | list[dict[str, object]]]
    counts: CountsRecord
    outputs: dict[str, str]


class RunTimes(TypedDict):
    """What times.json says: when, how long, with how many workers, what died on the way."""

    started: str
    seconds: dict[str, float]
    workers: int
    dask: bool
    batches: int
    batches_kept: int
    batches_refused: int
    worker_deaths: int
    notes_lost: int
    log: dict[str, int | str]


class _OpenTable(Generic[R]):
    """One table under way, as a CSV file and as a sheet of the workbook."""

    def __init__(
        self, path: Path, sheet: OpenSheet, columns: Sequence[RunColumn[R]], to_close: ExitStack
    ):
        stream = to_close.enter_context(path.open("w", encoding="utf-8", newline=""))
        # With this line end, csv also quotes texts that hold a lone "\r".
        self._rows = csv.writer(stream, lineterminator="\r\n")
        self._rows.writerow([column.name for column in columns])
        self._sheet = sheet
        self._get = [column.get for column in columns]

    def add(self, row: R) -> None:
        values = [get(row) for get in self._get]
        cells = [cell_text(value) for value in values]
        self._rows.writerow(cells)
        self._sheet.add(values, cells)


class RunTables:
    """The tables of a run under way; they replace older ones when all are complete."""

    def __init__(self, folder: Path) -> None:
        self.counts = RunCounts()
        self._parts = {folder / name: folder / f".{name}.part" for name in PRODUCTS[:3]}
        scores, items, workbook = self._parts.values()
        self._open = ExitStack()
        book = self._open.enter_context(Workbook(workbook))
        score_sheet = book.sheet(
            "scores", _sheet_columns("scores", [c.name for c in SCORE_COLUMNS])
        )
        item_sheet = book.sheet(
            "items", _sheet_columns("items", [*(c.name for c in ITEM_COLUMNS), *REVIEW_COLUMNS])
        )
        _explain(book)
        self._scores = _OpenTable(scores, score_sheet, SCORE_COLUMNS, self._open)
        self._items = _OpenTable(items, item_sheet, ITEM_COLUMNS, self._open)

    def __enter__(self) -> RunTables:
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)
        if error[0] is None:
            for target, part in self._parts.items():
                part.replace(target)

    def add(self, result: NoteResult) -> None:
        """Write one note and its items."""
        self.counts.add(result)
        self._scores.add(result)
        for item in result.items:
            self._items.add((result, item))


def _sheet_columns(sheet: str, names: Iterable[str]) -> list[SheetColumn]:
    explained = EXPLAINED[sheet]
    return [
        SheetColumn(name, explained[name][0], name in REVIEW_COLUMNS, name == REVIEW_COLUMNS[0])
        for name in names
    ]


def _explain(book: Workbook) -> None:
    """Add a sheet that says what each column means, and how to hand decisions back."""
    heads = [SheetColumn("sheet"), SheetColumn("column", 26), SheetColumn("what it says", 110)]
    sheet = book.sheet("columns", heads)
    for name, columns in EXPLAINED.items():
        for column, (_, said) in columns.items():
            sheet.add([name, column, said], [name, column, said])


def hash_outputs(folder: Path, more: Mapping[str, Path]) -> dict[str, str]:
    """Return the hashes of the tables and of more that was written.

    times.json and the log are not among them: they are not the same for equal runs.
    """
    places = {name: folder / name for name in (SCORES, ITEMS, WORKBOOK)} | dict(more)
    return {name: file_hash(place) for name, place in places.items()}


def write_run(folder: Path, run: RunRecord, times: RunTimes) -> None:
    """Write times.json, then run.json."""
    _write_json(folder / TIMES, times)
    _write_json(folder / RUN, run)


def add_outputs(folder: Path, names: Sequence[str]) -> None:
    """Put the hashes of files or folders that were written later into run.json, if there is one."""
    path = folder / RUN
    if not path.is_file():
        return
    record = read_record(folder)
    hashes = {name: file_hash(folder / name) for name in names}
    _write_json(path, {**record, "outputs": {**record.get("outputs", {}), **hashes}})


def read_record(folder: Path) -> RunRecord:
    """Return what run.json says; InputError if there is none, or it is something else."""
    path = folder / RUN
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        message = f"there is no {RUN}: the run was not finished. Start the same command again"
        raise InputError([Fault(message, folder)]) from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError([Fault("cannot be read as JSON", path)]) from error
    outputs = value.get("outputs") if isinstance(value, dict) else None
    if not isinstance(outputs, dict) or not all(isinstance(one, str) for one in outputs.values()):
        raise InputError([Fault("does not say what a run wrote", path)])
    record: RunRecord = value
    return record


def _write_json(path: Path, value: object) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=1, default=_plain) + "\n"
    # Names of files and conditions may hold bytes that were no UTF-8.
    write_whole(path, text.encode(errors="replace"))


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value)
