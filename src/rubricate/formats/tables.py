"""CSV tables read whole, fast where they are sound and row by row where they are not."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from rubricate.batch import lacks_polars
from rubricate.formats.reading import Faults, read_text
from rubricate.rubric import Scalar

#: Whole numbers of more digits are refused: no id and no offset needs them.
MOST_DIGITS = 18


def is_number(text: str) -> bool:
    """Tell whether a field is a whole number of 0 or more that is not too long to be one.

    >>> is_number("007"), is_number("-7"), is_number("²")
    (True, False, False)
    """
    return text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS


def is_plain_number(text: str) -> bool:
    """Tell whether an id is a number as Python prints it, so that it survives as a number.

    >>> is_plain_number("7"), is_plain_number("007")
    (True, False)
    """
    return is_number(text) and str(int(text)) == text


#: The longest id of a note or case; a longer one, or one of several lines, is a text.
LONGEST_ID = 200
NO_ID = (
    f"holds a text of several lines or more than {LONGEST_ID} characters, which is no id: "
    "are the names of two columns swapped?"
)


def is_id(text: str) -> bool:
    r"""Tell whether a field may be an id, not a note under the wrong name.

    >>> is_id("Ward 3/17"), is_id("no fever\nno chills")
    (True, False)
    """
    return len(text) <= LONGEST_ID and "\n" not in text and "\r" not in text


#: What spreadsheet programs take for a formula, also after apostrophes that guard against it.
FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_SIGNS = frozenset("'=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def guarded(text: str) -> str:
    """Return the text so that no spreadsheet program takes it for a formula.

    >>> guarded("=1+1"), guarded("- fever"), guarded("fever")
    ("'=1+1", "'- fever", 'fever')
    """
    # Looking at the first sign alone spares most texts the pattern.
    return f"'{text}" if text[:1] in _SIGNS and FORMULA.match(text) else text


def unguarded(text: str) -> str:
    """Inverse of `guarded`.

    >>> unguarded(guarded("'=1")) == "'=1"
    True
    """
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text


T = TypeVar("T")


def number_rows(rows: Iterable[T], *, above: int = 1) -> Iterator[tuple[int, T]]:
    """Return rows with the numbers a spreadsheet program shows beside them, for messages.

    Every row counts, from 1: titles, the names of the columns, empty rows. ``above`` says how many
    stand before these: by default the names of the columns.

    >>> list(number_rows(["no fever", "cough"]))
    [(2, 'no fever'), (3, 'cough')]
    """
    return enumerate(rows, start=above + 1)


class CsvTable:
    """Named columns of text; ``lines`` are the rows they come from, as `number_rows` has them."""

    def __init__(
        self, path: Path, columns: Mapping[str, list[str]], faults: Faults, lines: Sequence[int]
    ) -> None:
        self.path = path
        self.names = list(columns)
        self._columns = columns
        self.faults = faults
        self.lines = lines

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), []))

    def add_fault(self, row: int, message: str) -> None:
        """Note what is wrong with a row, counted from 0."""
        self.faults.add(message, line=self.lines[row], path=self.path)

    def column(self, name: str) -> list[str]:
        """Return a column as text."""
        return self._columns[name]

    def integers(self, name: str, *, unique: bool = False) -> list[int]:
        """Return a column as whole numbers; what is not one, or occurs twice, is a fault."""
        values = self._columns[name]
        numbers = []
        first: dict[int, int] = {}
        for row, (line, value) in enumerate(zip(self.lines, values, strict=True)):
            if not is_number(value):
                self.add_fault(row, f"column {name!r} needs a whole number of 0 or more")
                numbers.append(-line)
                continue
            number = int(value)
            if unique and first.setdefault(number, line) != line:
                self.add_fault(row, f"{name} {number} occurs again (first in row {first[number]})")
            numbers.append(number)
        return numbers

    def need_filled(self, name: str) -> list[str]:
        """Return a column of ids; an empty field is a fault, and one that is a whole text."""
        for row, value in enumerate(self._columns[name]):
            if not value.strip():
                self.add_fault(row, f"column {name!r} is empty")
            elif not is_id(value):
                self.add_fault(row, f"column {name!r} {NO_ID}")
        return self._columns[name]

    def guessed(self, name: str) -> Sequence[Scalar]:
        """Return a column as whole numbers if all of it is, else as text."""
        values = self._columns[name]
        if all(map(is_number, values)):
            return [int(v) for v in values]
        return values


def read_table(path: Path, columns: Sequence[str], faults: Faults) -> CsvTable | None:
    """Read a CSV file with a header; None (and faults) if it lacks a column or is broken.

    Rows with too few or too many fields are faults and left out, so that the others can be
    looked at, too.
    """
    if faults.refuses_link(path):
        return None
    table = _read_fast(path, faults)
    if table is None:
        table = _read_rows(path, columns, faults)
    if table is None:
        return None
    missing = [name for name in columns if name not in table.names]
    known = [name for name in columns if name in table.names]
    # The first line of a file without header is a note: only names that were looked for are shown.
    there = f"of the columns needed, {', '.join(known) if known else 'none'} is there"
    for name in missing:
        faults.add(f"column {name!r} is missing; {there} ({len(table.names)} in all)", path=path)
    return None if missing else table


def _read_fast(path: Path, faults: Faults) -> CsvTable | None:
    import polars as pl

    if not path.is_file() or lacks_polars():
        return None
    faults.how.limits.check("file_bytes", path.stat().st_size, "the file has {} bytes", path)
    try:
        # Without a header of its own polars gives columns of one name several names.
        # Of an open file, whose name need not be UTF-8.
        with path.open("rb") as stream:
            table = pl.read_csv(stream, infer_schema=False, has_header=False)
        if not table.height or table[table.columns[-1]].null_count():
            # A row cut short looks like one whose last field is empty: only counting tells.
            return None
        header = table.row(0)
        if len({name for name in header if name is not None}) < len(header):
            return None
        # An empty field without quotes is read as null.
        columns = {
            str(name): table[column][1:].fill_null("").to_list()
            for name, column in zip(header, table.columns, strict=True)
        }
        lines = [number for number, _ in number_rows(range(table.height - 1))]
        return CsvTable(path, columns, faults, lines)
    except (OSError, pl.exceptions.PolarsError):
        # The message may quote the file, so it is dropped: the slow reader finds the rows.
        return None


def _read_rows(path: Path, needed: Sequence[str], faults: Faults) -> CsvTable | None:
    csv.field_size_limit(sys.maxsize)  # the longest cell allowed is 128 kB otherwise
    rows = csv.reader(io.StringIO(read_text(path, faults.how.limits), newline=""), strict=True)
    lines: list[int] = []
    try:
        header = next(rows, None)
        if header is None:
            faults.add("the file is empty; a header with column names is expected", path=path)
            return None
        for name in needed:
            if header.count(name) > 1:
                faults.add(f"column {name!r} occurs twice", path=path)
        columns: dict[str, list[str]] = {name: [] for name in header}
        for number, fields in number_rows(rows):
            if len(fields) == len(header):
                lines.append(number)
                for name, field in dict(zip(header, fields, strict=True)).items():
                    columns[name].append(field)
            elif fields:  # a blank line is no row
                message = f"{len(fields)} fields, the header has {len(header)}"
                faults.add(message, line=number, path=path)
    except csv.Error as error:
        faults.add(f"not valid CSV near line {rows.line_num}: {error}", path=path)
        return None
    return CsvTable(path, columns, faults, lines)


def write_table(path: Path, header: Iterable[str], lines: Iterable[Sequence[object]]) -> None:
    """Write a CSV that programs read; texts are quoted so that every line break survives."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(",".join(header) + "\n")
        writer = csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerows(lines)


def write_sheet(path: Path, header: Iterable[str], lines: Iterable[Sequence[object]]) -> None:
    r"""Write a CSV that people open in a spreadsheet program: no cell is taken for a formula.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "t.csv"
    >>> write_sheet(place, ["note", "n"], [["=1+1", 2]])
    >>> place.read_text(encoding="utf-8")
    "note,n\n'=1+1,2\n"
    """
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        for line in (header, *lines):
            writer.writerow([guarded(cell) if isinstance(cell, str) else cell for cell in line])
