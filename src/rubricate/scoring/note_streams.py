"""Notes read one at a time from our JSON Lines, from tables, and from folders of text files."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from rubricate.corpus import Note
from rubricate.errors import Fault, InputError
from rubricate.formats.encoding import head_from_json, metadata_from_json
from rubricate.formats.jsonl import VERSION
from rubricate.rubric import Metadata, Rubric

#: What the columns of a table of notes may be called.
COLUMNS = {
    "note": ("note", "note_id", "id", "pn_num"),
    "case": ("case", "case_id", "case_num"),
    "text": ("text", "note_text", "pn_history"),
}
#: A line longer than this is not read as a note: no note is, and it would fill the memory.
LONGEST_LINE = 50_000_000


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A note that is there and cannot be read."""

    id: str
    case: str
    reason: str


def jsonl_rubrics(path: Path) -> tuple[Rubric, ...]:
    """Return the rubrics in the head of one of our JSON Lines files."""
    with path.open("rb") as stream:
        first = stream.readline(LONGEST_LINE).removeprefix(b"\xef\xbb\xbf")
    try:
        head = json.loads(first)
        if head["rubricate"] != VERSION:
            raise ValueError(f'"rubricate" must be {VERSION}')
        return head_from_json(head).rubrics
    except (KeyError, TypeError, ValueError) as error:
        fault = Fault(f"not a valid head: {error}", path, 1)
        raise InputError([fault]) from None


def jsonl_notes(path: Path) -> Iterator[Note | Unreadable]:
    """Yield the notes of one of our JSON Lines files; a line that is none becomes `Unreadable`."""
    with path.open("rb") as stream:
        stream.readline(LONGEST_LINE)
        for number, line in enumerate(_lines(stream), start=2):
            if line is None or line.strip():
                yield _note_of_line(line, number)


def _lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """Yield lines; None for one that is too long to hold."""
    while line := stream.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = stream.readline(LONGEST_LINE)
            yield None
        else:
            yield line


def _note_of_line(line: bytes | None, number: int) -> Note | Unreadable:
    name = f"line {number}"
    if line is None:
        return Unreadable(name, "", f"the line has more than {LONGEST_LINE:,} bytes")
    try:
        value = json.loads(line.decode())
    except UnicodeDecodeError:
        return Unreadable(name, "", "the line is not UTF-8")
    except ValueError:
        return Unreadable(name, "", "the line is not JSON")
    if not isinstance(value, dict) or "note" not in value:
        return Unreadable(name, "", "the line is not a note")
    return _checked(str(value["note"]), str(value.get("case", "")), value)


def _checked(note_id: str, case: str, value: Mapping[str, Any]) -> Note | Unreadable:
    if not isinstance(value.get("text"), str):
        return Unreadable(note_id, case, "its text is missing or not text")
    try:
        return Note(note_id, case, value["text"], metadata_from_json(value.get("metadata")))
    except (TypeError, AttributeError):
        return Unreadable(note_id, case, "its metadata are not names with values")


def looks_like_note_table(path: Path) -> bool:
    """Tell whether a path is a CSV file with a column of notes and one of texts."""
    if not path.is_file() or path.suffix.lower() not in {".csv", ".tsv"}:
        return False
    columns = _columns(_header(path))
    return "note" in columns and "text" in columns


def _header(path: Path) -> list[str]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        try:
            return next(csv.reader(stream, delimiter=_delimiter(path)), [])
        except csv.Error:
            return []


def _delimiter(path: Path) -> str:
    return "\t" if path.suffix.lower() == ".tsv" else ","


def _columns(header: Sequence[str]) -> dict[str, int]:
    found = {}
    for name, known in COLUMNS.items():
        places = [header.index(one) for one in known if one in header]
        if places:
            found[name] = places[0]
    return found


def table_notes(path: Path) -> Iterator[Note | Unreadable]:
    """Yield the notes of a CSV table; other columns become metadata.

    Raises
    ------
    InputError
        If a quote is not closed or not doubled: where the next note begins cannot be known.
    """
    header = _header(path)
    columns = _columns(header)
    others = [(i, name) for i, name in enumerate(header) if i not in columns.values() and name]
    # The longest cell allowed is 128 kB otherwise.
    csv.field_size_limit(sys.maxsize)
    # Bytes that are no UTF-8 become half surrogate pairs, by which their rows are known.
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as stream:
        for number, row in enumerate(_rows(stream, path)):
            if not row or not number:
                continue
            if len(row) != len(header):
                reason = f"{len(row)} fields, the header has {len(header)}"
                yield Unreadable(f"row {number}", "", reason)
                continue
            note_id, text = row[columns["note"]], row[columns["text"]]
            case = row[columns["case"]] if "case" in columns else ""
            if not _is_utf8(row):
                yield Unreadable(note_id, case, "the row is not UTF-8")
                continue
            yield Note(note_id, case, text, Metadata({name: row[i] for i, name in others}))


def _rows(stream: TextIO, path: Path) -> Iterator[list[str]]:
    rows = csv.reader(stream, delimiter=_delimiter(path), strict=True)
    line = 1
    try:
        for row in rows:
            yield row
            line = rows.line_num + 1
    except csv.Error:
        message = "not valid CSV: in the row that begins here a quote is not closed, or not doubled"
        raise InputError([Fault(message, path, line)]) from None


def _is_utf8(row: Sequence[str]) -> bool:
    try:
        for cell in row:
            cell.encode()
    except UnicodeEncodeError:
        return False
    return True


def looks_like_texts(path: Path) -> bool:
    """Tell whether a path is a folder that holds nothing but ``.txt`` files."""
    if not path.is_dir():
        return False
    files = [p for p in path.iterdir() if not p.name.startswith(".")]
    return bool(files) and all(p.is_file() and p.suffix == ".txt" for p in files)


def text_notes(path: Path) -> Iterator[Note | Unreadable]:
    """Yield one note a ``.txt`` file, named after it, in order of names."""
    for file in sorted(p for p in path.iterdir() if p.suffix == ".txt"):
        try:
            yield Note(file.stem, "", file.read_bytes().decode())
        except UnicodeDecodeError:
            yield Unreadable(file.stem, "", "the file is not UTF-8")
        except OSError as error:
            yield Unreadable(file.stem, "", f"the file cannot be read: {error.strerror}")
