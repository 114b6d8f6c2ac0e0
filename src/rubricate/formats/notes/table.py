"""Tables of notes: a CSV or TSV file with one note per row."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError
from rubricate.formats.annotations import has_lone_surrogate
from rubricate.formats.format import Format, NoteStream, Unreadable
from rubricate.formats.tables import NO_ID, is_id
from rubricate.progress import Progress, silent
from rubricate.rubric import Metadata

#: What the columns may be called; every other column becomes metadata.
COLUMNS = {
    "note": ("note", "note_id", "id", "pn_num"),
    "case": ("case", "case_id", "case_num"),
    "text": ("text", "note_text", "pn_history"),
}


def looks_like_table(path: Path) -> bool:
    """Tell whether a path is a CSV file with a column of notes and one of texts."""
    if not path.is_file() or path.suffix.lower() not in {".csv", ".tsv"}:
        return False
    return {"note", "text"} <= _columns(_header(path)).keys()


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


def stream_table(path: Path) -> NoteStream:
    """Open a table of notes; InputError if it lacks the column of the notes or of their texts."""
    if not path.is_file():
        raise InputError([Fault("need a CSV or TSV file", path)])
    header = _header(path)
    columns = _columns(header)
    faults = [
        Fault(f"no column holds the {name}; call it one of {', '.join(COLUMNS[name])}", path)
        for name in ("note", "text")
        if name not in columns
    ]
    if faults:
        raise InputError(faults)
    return NoteStream((), lambda: _notes(path, header, columns))


def _notes(
    path: Path, header: Sequence[str], columns: Mapping[str, int]
) -> Iterator[Note | Unreadable]:
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
            long = [n for n in ("note", "case") if n in columns and not is_id(row[columns[n]])]
            if long:
                name = header[columns[long[0]]]
                yield Unreadable(f"row {number}", "", f"column {name!r} {NO_ID}")
                continue
            if any(map(has_lone_surrogate, row)):
                plain = note_id.encode("utf-8", "backslashreplace").decode()
                shown_case = "" if has_lone_surrogate(case) else case
                yield Unreadable(plain, shown_case, "the row is not UTF-8")
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


def read_table_of_notes(path: Path, *, strict: bool = True, progress: Progress = silent) -> Corpus:
    """Read a whole table; there are no offsets, so ``strict`` changes nothing."""
    return stream_table(path).corpus(path, progress)


FORMAT = Format(
    name="table",
    summary="a CSV or TSV table with one note per row (note, case, text, metadata); read only",
    looks_like=looks_like_table,
    read=read_table_of_notes,
    stream=stream_table,
)
