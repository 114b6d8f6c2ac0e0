"""Writing a run in one pass: scores.csv, items.csv, scores.xlsx, run.json; and its decisions.

A line of the log names the hash of the line before it, so that no line can be changed, left out or
put in between without every later one showing it. Lines hold ids, offsets and decisions, never a
note.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, TypedDict, cast

from rubricate.errors import Fault, InputError
from rubricate.files import file_hash, write_whole
from rubricate.formats.encoding import Json, read_json
from rubricate.formats.tables import TableWriter
from rubricate.formats.workbook import OpenSheet, SheetColumn, Workbook
from rubricate.run.reading import ITEMS, SCORES
from rubricate.run.results import Correction, CountsRecord, NoteResult, RunCounts, kept_digits
from rubricate.run.tables import (
    EXPLAINED,
    ITEM_COLUMNS,
    REVIEW_COLUMNS,
    SCORE_COLUMNS,
    RunColumn,
    Value,
    cell_text,
)
from rubricate.spans import parse_spans, spans_text

WORKBOOK = "scores.xlsx"
RUN, TIMES = "run.json", "times.json"
#: The folder of what was found, batch by batch.
EVIDENCE = "evidence"
#: The pages about a run that lie beside its tables.
REPORT = ("report.html", "report")
#: In the folder of the pages: id and text of each note, one JSON object per line.
TEXTS = "notes.jsonl"
#: Every decision, and the hash that comes before its first line.
LOG = "decisions.jsonl"
FIRST = "0" * 64
#: What a run writes besides its evidence; the last says that the run is complete.
PRODUCTS = (SCORES, ITEMS, WORKBOOK, TIMES, RUN)


class SealRecord(TypedDict):
    """Content of run.json about the log: the number of decisions, and a hash over all of them.

    It leaves out when runs were made, so that equal runs have the same.
    """

    decisions: int
    sha256: str


class FloorRecord(TypedDict):
    """The lowest score of a note, and the cases whose scores may fall below it."""

    score: float
    without: list[str]


class RunRecord(TypedDict, total=False):
    """Content of run.json: everything that the tables depend on, the same for equal runs."""

    rubricate: str
    matcher: str
    parameters: Json
    model: dict[str, str]
    rubric: dict[str, str | int]
    input: dict[str, str | list[str] | Mapping[str, str]]
    settings: dict[str, float]
    versions: dict[str, str]
    policy: dict[str, str | float]
    unsure: dict[str, float]
    corrections: dict[str, str | int | list[dict[str, object]]]
    floor: FloorRecord
    counts: CountsRecord
    log: SealRecord
    outputs: dict[str, str]


def has_floor(record: Mapping[str, Any], case: str) -> bool:
    """Tell whether a run let no score of a case fall below a floor; runs from before had none.

    >>> has_floor({"floor": {"score": 0.0, "without": ["b"]}}, "a"), has_floor({}, "a")
    (True, False)
    """
    said = record.get("floor")
    return said is not None and case not in said["without"]


class RunTimes(TypedDict):
    """Content of times.json: start, duration, number of workers, and workers that died."""

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


class RunTables(AbstractContextManager["RunTables"]):
    """The tables of a run under way; they replace older ones when all are complete."""

    def __init__(self, folder: Path) -> None:
        self.counts = RunCounts()
        self._parts = {folder / name: folder / f".{name}.part" for name in PRODUCTS[:3]}
        scores, items, workbook = self._parts.values()
        self._open = ExitStack()
        book = self._open.enter_context(Workbook(workbook))
        self._tables: list[tuple[Sequence[Callable[[Any], Value]], TableWriter, OpenSheet]] = []
        columns: Sequence[RunColumn[Any]]
        for name, path, columns, to_fill in (
            ("scores", scores, SCORE_COLUMNS, ()),
            ("items", items, ITEM_COLUMNS, REVIEW_COLUMNS),
        ):
            own = [column.name for column in columns]
            width = {column: said[0] for column, said in EXPLAINED[name].items()}
            heads = [SheetColumn(one, width[one]) for one in own]
            heads += [
                SheetColumn(one, width[one], True, one == REVIEW_COLUMNS[0]) for one in to_fill
            ]
            stream = self._open.enter_context(path.open("w", encoding="utf-8", newline=""))
            rows = TableWriter(stream, own, guard=False)
            getters = [column.get for column in columns]
            self._tables.append((getters, rows, book.sheet(name, heads)))
        # A sheet says what each column means, and how to hand decisions back.
        heads = [SheetColumn("sheet"), SheetColumn("column", 26), SheetColumn("what it says", 110)]
        self._explained = book.sheet("columns", heads)
        for sheet, explained in EXPLAINED.items():
            for one, (_, said) in explained.items():
                self._explained.add([sheet, one, said], [sheet, one, said])

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)
        if error[0] is None:
            for target, part in self._parts.items():
                part.replace(target)

    def add_seal(self, seal: SealRecord) -> None:
        """Write into the workbook what is known of the log: a second place beside run.json."""
        for name, value in seal.items():
            self._explained.add([LOG, name, str(value)], [LOG, name, str(value)])

    def add(self, result: NoteResult) -> None:
        """Write one note and its items."""
        self.counts.add(result)
        of_tables: tuple[list[Any], ...] = [result], [(result, item) for item in result.items]
        for (getters, rows, sheet), own in zip(self._tables, of_tables, strict=True):
            for row in own:
                values = [get(row) for get in getters]
                cells = [cell_text(value) for value in values]
                rows.add(cells)
                sheet.add(values, cells)


def workbook_seal(path: Path) -> str:
    """Return the hash over all decisions that a workbook names, as `RunTables` wrote it.

    Return an empty text for a workbook that is none, or that another program saved.
    """
    damaged = (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error)
    with suppress(*damaged), zipfile.ZipFile(path) as archive:
        sheets = [one for one in archive.infolist() if "/worksheets/" in one.filename]
        if sheets and sheets[-1].file_size < _LARGEST_EXPLANATION:
            found = _SEAL_CELL.search(archive.read(sheets[-1]))
            return found[1].decode() if found else ""
    return ""


#: The last sheet explains columns, and ends with what is known of the log.
_LARGEST_EXPLANATION = 1_000_000
_SEAL_CELL = re.compile(rb">sha256</t></is></c><c[^>]*><is><t[^>]*>([0-9a-f]{64})</t>")


def add_outputs(folder: Path, names: Sequence[str]) -> None:
    """Put the hashes of files or folders that were written later into run.json, if there is one."""
    path = folder / RUN
    if not path.is_file():
        return
    record = read_record(folder)
    hashes = {name: file_hash(folder / name) for name in names}
    write_record(path, {**record, "outputs": {**record.get("outputs", {}), **hashes}})


def set_log(folder: Path, state: LogState) -> None:
    """Put the state of a log into run.json and times.json."""
    write_record(folder / RUN, {**read_record(folder), "log": state["seal"]})
    path = folder / TIMES
    times = read_json(path) if path.is_file() else {}
    known = {"entries": state["entries"], "head": state["head"]}
    write_record(path, {**times, "log": known})


def read_record(folder: Path) -> RunRecord:
    """Return the content of run.json; InputError if the file is missing or wrong.

    So it is if something in the folder is neither a file nor a folder: a pipe would be waited for
    without end.
    """
    path = folder / RUN
    if not path.exists():
        message = (
            f"there is no {RUN}: it is no run, or one that was not finished. Give the folder that "
            "`rubricate score` wrote, or start the command that was stopped again"
        )
        raise InputError([Fault(message, folder)])
    parts = [folder / name for name in (*PRODUCTS, LOG, *REPORT, EVIDENCE)]
    for name in (EVIDENCE, REPORT[1]):
        parts += (folder / name).glob("*")
    InputError.raise_any([
        Fault("not a plain file", one)
        for one in parts
        if one.exists() and not (one.is_file() or one.is_dir())
    ])  # fmt: skip
    value = read_json(path)
    outputs = value.get("outputs")
    if not isinstance(outputs, dict) or not all(isinstance(one, str) for one in outputs.values()):
        raise InputError([Fault("is not a run.json file of a run", path)])
    return cast(RunRecord, value)


def write_record(path: Path, value: object) -> None:
    """Write run.json or times.json."""
    text = json.dumps(value, ensure_ascii=False, indent=1, default=str) + "\n"
    # Names of files and conditions may hold bytes that were no UTF-8.
    write_whole(path, text.encode(errors="replace"))


def about(text: str, wording: str) -> str:
    """Return the hash of the note's text and of the wording that a decision is valid for.

    >>> about("no fever", "Fever") == about("no  fever", "Fever")
    False
    """
    said = f"{text}\0{wording}".encode(errors="surrogatepass")
    return hashlib.sha256(said).hexdigest()[:16]


def read_log(folder: str | Path) -> Iterator[Json]:
    """Yield the entries of a run's log, oldest first; none if there is no log.

    InputError at the first line that is not what was written: from there on nothing is proved.
    """
    return (entry for entry, _ in _lines(Path(folder) / LOG))


class LogState(TypedDict):
    """The number of lines of a log, the hash of the last line, and the seal of its decisions."""

    entries: int
    head: str
    seal: SealRecord


def log_state(folder: str | Path) -> LogState:
    """Return the number of lines of an intact log, its last hash, and its seal."""
    entries, head, seal = 0, FIRST, Seal()
    for entry, head in _lines(Path(folder) / LOG):  # noqa: B007
        entries = entry["n"]
        seal.add(entry)
    return {"entries": entries, "head": head, "seal": seal.record()}


#: The kinds of lines that a seal is over: what was decided, and that a log was accepted.
_SEALED = frozenset({"machine", "person", "accepted"})


@dataclass(slots=True)
class Seal:
    """A hash over all decisions of a log, in their order.

    >>> seal = Seal()
    >>> seal.add({"n": 2, "previous": "", "kind": "machine", "note": "n1"})
    >>> seal.record()["decisions"]
    1
    """

    _count: int = 0
    _hash: str = FIRST

    def add(self, entry: Mapping[str, Any]) -> None:
        """Take one more line."""
        if entry["kind"] not in _SEALED:
            return
        said = {name: value for name, value in entry.items() if name not in ("n", "previous")}
        text = json.dumps(said, sort_keys=True, separators=(",", ":"))
        self._count += 1
        self._hash = hashlib.sha256(f"{self._hash}{text}".encode()).hexdigest()

    def record(self) -> SealRecord:
        """Return the number of decisions, and the hash."""
        return {"decisions": self._count, "sha256": self._hash}


def _lines(path: Path) -> Iterator[tuple[Json, str]]:
    """Yield each entry with the hash of its line."""
    if not path.is_file():
        return
    head = FIRST
    with path.open("rb") as stream:
        for number, raw in enumerate(stream, start=1):
            try:
                entry = json.loads(raw)
                sound = entry["previous"] == head and entry["n"] == number
            except (ValueError, TypeError, KeyError, RecursionError):
                sound = False
            if not sound or not raw.endswith(b"\n"):
                message = (
                    "this line, or the one before it, was changed, added or left out after it was "
                    "written. Put back the file as it was, or score into another folder"
                )
                raise InputError([Fault(message, path, number)])
            head = hashlib.sha256(raw.rstrip(b"\n")).hexdigest()
            yield entry, head


def logged_correction(entry: Mapping[str, Any]) -> Correction:
    """Return the decision of a person's entry."""
    spans = None if entry["spans"] is None else parse_spans(entry["spans"])
    return Correction(
        entry["note"], entry["feature"], entry["found"], entry["by"], entry["at"], spans,
        entry["comment"],
    )  # fmt: skip


#: The corrections of a note that hold, by feature.
Held = dict[str, Correction]


def held(corrections: Iterable[Correction]) -> Held:
    """Return the valid correction of each feature of a note.

    The later one holds: by the clock where both have a time, else by the day.

    >>> early, late = (Correction("n", "f", False, who, at)
    ...                for who, at in (("Ann", "2026-11-14T10:00:00"), ("Bob", "2026-11-14")))
    >>> held([early, late])["f"].by, held([late, early])["f"].by
    ('Bob', 'Ann')
    """
    found: Held = {}
    for one in corrections:
        before = found.get(one.feature)
        if before is None or not _earlier(one.at, before.at):
            found[one.feature] = one
    return found


def _earlier(one: str, other: str) -> bool:
    if "T" in one and "T" in other:
        return moment(one) < moment(other)
    return one[:10] < other[:10]


def moment(text: str) -> datetime:
    """Return a date or time in ISO 8601; UTC where it names no zone."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


class LogWriter(AbstractContextManager["LogWriter"]):
    """A log under way: a copy of the earlier one, byte for byte, and what comes after it."""

    def __init__(self, before: Path, target: Path) -> None:
        self._machine: dict[str, bytes] = {}
        self._seal = Seal()
        self.entries, self.head = 0, FIRST
        for entry, self.head in _lines(before / LOG):
            self.entries = entry["n"]
            self._seal.add(entry)
            if entry["kind"] == "machine":
                self._machine[entry["note"]] = _said(entry)
        if self.entries:
            shutil.copyfile(before / LOG, target / LOG)
        #: How the log was before anything was added.
        self.before = self.state
        self._stream: IO[bytes] = (target / LOG).open("ab")

    def __exit__(self, *error: object) -> None:
        self._stream.close()

    @property
    def state(self) -> LogState:
        """The present state of the log."""
        return {"entries": self.entries, "head": self.head, "seal": self._seal.record()}

    def add(self, kind: str, **values: object) -> None:
        """Add one line."""
        self.entries += 1
        entry = {"n": self.entries, "previous": self.head, "kind": kind, **values}
        raw = (json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n").encode(
            errors="backslashreplace"
        )
        self.head = hashlib.sha256(raw.rstrip(b"\n")).hexdigest()
        # As it will be read: what holds half a surrogate pair was written as an escape.
        self._seal.add(json.loads(raw))
        self._stream.write(raw)

    def add_machine(self, result: NoteResult) -> None:
        """Add what the machine decided on a note, unless that is what the log said last."""
        total = result.total
        values = {
            "note": result.note,
            "case": result.case,
            "status": result.status,
            "score": total.score if total else None,
            "maximum": total.maximum if total else None,
            "items": {
                item.feature.id: [item.found, kept_digits(item.evidence.probability),
                                  spans_text(item.evidence.spans)]
                for item in result.items
            },
        }  # fmt: skip
        said = _said(values)
        if self._machine.get(result.note) != said:
            self._machine[result.note] = said
            self.add("machine", **values)

    def add_person(self, one: Correction, told: str, was: bool | None, now: NoteResult) -> None:
        """Add one decision: what it is about, what held before it, and the score it led to."""
        self.add(
            "person",
            note=one.note,
            feature=one.feature,
            found=one.found,
            spans=None if one.spans is None else spans_text(one.spans),
            by=one.by,
            at=one.at,
            comment=one.comment,
            about=told,
            was=was,
            score=now.total.score if now.total else None,
            maximum=now.total.maximum if now.total else None,
        )


def _said(entry: Mapping[str, Any]) -> bytes:
    """Return a short hash of what the machine said of a note."""
    values = [entry[name] for name in ("case", "status", "score", "maximum", "items")]
    return hashlib.blake2b(json.dumps(values).encode(), digest_size=16).digest()
