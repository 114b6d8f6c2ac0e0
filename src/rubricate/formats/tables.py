"""CSV tables read whole, fast where they are sound and row by row where they are not."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rubricate.formats.faults import Faults, read_text
from rubricate.rubric import Scalar

#: Whole numbers of more digits are refused: no id and no offset needs them.
MOST_DIGITS = 18


class Table:
    """Named columns of text."""

    def __init__(self, path: Path, columns: Mapping[str, list[str]], faults: Faults) -> None:
        self.path = path
        self.names = list(columns)
        self._columns = columns
        self._faults = faults

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), []))

    def column(self, name: str) -> list[str]:
        """Return a column as text."""
        return self._columns[name]

    def integers(self, name: str, *, unique: bool = False) -> list[int]:
        """Return a column as whole numbers; what is not one, or occurs twice, is a fault."""
        values = self._columns[name]
        numbers = []
        first: dict[int, int] = {}
        for line, value in enumerate(values, start=1):
            if not (value.isascii() and value.isdigit() and len(value) <= MOST_DIGITS):
                message = f"column {name!r} needs a whole number of 0 or more"
                self._faults.add(message, line=line, path=self.path)
                numbers.append(-line)
                continue
            number = int(value)
            if unique and first.setdefault(number, line) != line:
                message = f"{name} {number} occurs again (first in row {first[number]})"
                self._faults.add(message, line=line, path=self.path)
            numbers.append(number)
        return numbers

    def guessed(self, name: str) -> Sequence[Scalar]:
        """Return a column as whole numbers if all of it is, else as text."""
        values = self._columns[name]
        if all(v.isascii() and v.isdigit() for v in values):
            return [int(v) for v in values]
        return values


def read_table(path: Path, columns: Sequence[str], faults: Faults) -> Table | None:
    """Read a CSV file with a header; None (and faults) if it lacks a column or is broken."""
    found = _read_fast(path)
    if found is None:
        found = _read_rows(path, faults)
    if found is None:
        return None
    missing = [name for name in columns if name not in found]
    known = [name for name in columns if name in found]
    # The first line of a file without header is a note: only names that were looked for are shown.
    there = f"of the columns needed, {', '.join(known) if known else 'none'} is there"
    for name in missing:
        faults.add(f"column {name!r} is missing; {there} ({len(found)} in all)", path=path)
    return None if missing else Table(path, found, faults)


def _read_fast(path: Path) -> dict[str, list[str]] | None:
    import polars as pl

    try:
        table = pl.read_csv(path, infer_schema=False)
        if table.width and table[table.columns[-1]].null_count():
            # A row cut short looks like one whose last field is empty: only counting tells.
            return None
        # An empty field without quotes is read as null.
        return {name: table[name].fill_null("").to_list() for name in table.columns}
    except (OSError, pl.exceptions.PolarsError):
        # The message may quote the file, so it is dropped: the slow reader finds the rows.
        return None


def _read_rows(path: Path, faults: Faults) -> dict[str, list[str]] | None:
    lines = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    try:
        header = next(lines, None)
        if header is None:
            faults.add("the file is empty; a header with column names is expected", path=path)
            return None
        columns: dict[str, list[str]] = {name: [] for name in header}
        sound = True
        for number, fields in enumerate(lines, start=1):
            if len(fields) != len(header):
                message = f"{len(fields)} fields, the header has {len(header)}"
                faults.add(message, line=number, path=path)
                sound = False
                continue
            for name, field in zip(header, fields, strict=True):
                columns[name].append(field)
    except csv.Error as error:
        faults.add(f"not valid CSV near line {lines.line_num}: {error}", path=path)
        return None
    return columns if sound else None


def write_table(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns as CSV; texts are quoted so that every line break survives."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        stream.write(",".join(columns) + "\n")
        writer.writerows(zip(*columns.values(), strict=True))
