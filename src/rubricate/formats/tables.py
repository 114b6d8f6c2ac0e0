"""Tables of text: CSV in the forms that programs and people write, and Excel workbooks.

Every CSV file is read by `csv_rows` and written by `TableWriter`. `find_csv_form` and `read_sheets`
read the files of people: any encoding, delimiter and titles above the header.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeVar

from rubricate.errors import Fault, InputError, MissingExtraError, listed
from rubricate.formats.options import USUAL_LIMITS, ReadLimits
from rubricate.formats.reading import (
    Faults,
    check_archive,
    has_lone_surrogate,
    read_text,
    read_whole,
)
from rubricate.rubric import Scalar

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell
    from openpyxl.worksheet.worksheet import Worksheet

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


def csv_rows(
    lines: Iterable[str], path: Path, *, delimiter: str = ",", first: int = 1, strict: bool = True
) -> Iterator[tuple[int, list[str]]]:
    r"""Yield the rows of a CSV file with the numbers people see; InputError where it is broken.

    Every row counts from ``first`` on: titles, the names of the columns, empty rows. Unless
    ``strict``, a quote inside a cell is a character like others.

    >>> list(csv_rows(["note,n\n", "\n", "a,2\n"], Path("t.csv")))
    [(1, ['note', 'n']), (2, []), (3, ['a', '2'])]
    """
    csv.field_size_limit(sys.maxsize)  # the longest cell allowed is 128 kB otherwise
    rows, line = csv.reader(lines, delimiter=delimiter, strict=strict), 1
    try:
        for number, row in enumerate(rows, start=first):
            yield number, row
            line = rows.line_num + 1
    except csv.Error:
        message = "not valid CSV: in the row that begins here a quote is not closed, or not doubled"
        raise InputError([Fault(message, path, line)]) from None


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
    table = _read_columns(path, columns, faults)
    if table is None:
        return None
    missing = [name for name in columns if name not in table.names]
    known = [name for name in columns if name in table.names]
    # The first line of a file without header is a note: only names that were looked for are shown.
    there = f"of the columns needed, {', '.join(known) if known else 'none'} is there"
    for name in missing:
        faults.add(f"column {name!r} is missing; {there} ({len(table.names)} in all)", path=path)
    return None if missing else table


def _read_columns(path: Path, needed: Sequence[str], faults: Faults) -> CsvTable | None:
    stream = io.StringIO(read_text(path, faults.how.limits), newline="")
    rows = csv_rows(stream, path)
    lines: list[int] = []
    try:
        _, header = next(rows, (1, None))
        if header is None:
            faults.add("the file is empty; a header with column names is expected", path=path)
            return None
        for name in needed:
            if header.count(name) > 1:
                faults.add(f"column {name!r} occurs twice", path=path)
        columns: dict[str, list[str]] = {name: [] for name in header}
        for number, fields in rows:
            if len(fields) == len(header):
                lines.append(number)
                for name, field in dict(zip(header, fields, strict=True)).items():
                    columns[name].append(field)
            elif fields:  # a blank line is no row
                message = f"{len(fields)} fields, the header has {len(header)}"
                faults.add(message, line=number, path=path)
    except InputError as error:
        faults.found += error.faults
        return None
    return CsvTable(path, columns, faults, lines)


class TableWriter:
    """Writes the rows of a CSV file.

    With ``guard`` no cell is taken for a formula by the spreadsheet program that people open it
    with. With ``quoted``, for programs, all texts are quoted, so that every line break survives.
    """

    def __init__(
        self, stream: IO[str], header: Iterable[str], *, guard: bool = True, quoted: bool = False,
        delimiter: str = ",",
    ) -> None:  # fmt: skip
        self._guard = guard and not quoted
        if quoted:
            stream.write(",".join(header) + "\n")
            self._rows = csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        else:
            # With this line end, csv also quotes texts that hold a lone "\r".
            self._rows = csv.writer(stream, delimiter=delimiter, lineterminator="\r\n")
            self.add([*header])

    def add(self, cells: Iterable[object]) -> None:
        """Write a row."""
        if self._guard:
            cells = [guarded(cell) if isinstance(cell, str) else cell for cell in cells]
        self._rows.writerow(cells)


def write_table(
    path: Path, header: Iterable[str], lines: Iterable[Iterable[object]], *, guard: bool = True,
    quoted: bool = False, delimiter: str = ",",
) -> None:  # fmt: skip
    r"""Write a CSV file as `TableWriter` does.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "t.csv"
    >>> write_table(place, ["note", "n"], [["=1+1", 2]])
    >>> place.read_text(encoding="utf-8")
    "note,n\n'=1+1,2\n"
    """
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = TableWriter(stream, header, guard=guard, quoted=quoted, delimiter=delimiter)
        for line in lines:
            table.add(line)


#: What may stand between two columns of a text file.
_DELIMITERS = ",;\t"
#: Rows among which the one with the columns' names is looked for; titles stand above it.
_HEADER_WITHIN = 20
_HEAD_BYTES = 1 << 16
#: A letter beyond ASCII in UTF-8; a text in another encoding hardly ever has one by chance.
_MULTIBYTE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_NOT_CP1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_ASCII = bytes(range(128))
#: Letters and signs beyond ASCII that notes and checklists have.
_USUAL = frozenset("äöüßÄÖÜàâéèêëîïôûùçñáíóúåøæÉÈÇÑ°±µ½–—‘’“”…•≥≤×€§²³\xa0")
#: Characters of a cell that Excel holds.
MOST_CHARACTERS = 32_767
_BY_NUMBER = re.compile(r"_x([0-9A-Fa-f]{4})_")
#: What XML cannot hold or would change, and what reads like Excel's way of writing that.
_UNHOLDABLE = re.compile(r"[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
#: A format that fills numbers up with zeros.
_ZEROS = re.compile("0+")
_CELL = re.compile(rb"<(?:\w+:)?c[\s/>]")


def find_encoding(chunks: Iterable[bytes]) -> str:
    r"""Find the encoding of a text that Excel or Notepad wrote, by its mark or its bytes.

    A text that is UTF-8 but for some bytes is taken for damaged UTF-8, not for something else.

    >>> find_encoding([b"\xff\xfea\x00"]), find_encoding([b"na\xefve"]), find_encoding([b"plain"])
    ('utf-16', 'cp1252', 'utf-8-sig')
    >>> find_encoding(["the patient’s café".encode("mac_roman")])
    'mac_roman'
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    valid, multibyte, high = True, False, bytearray()
    for number, chunk in enumerate(chunks):
        if not number and chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        if not number and chunk.startswith(codecs.BOM_UTF8):
            return "utf-8-sig"
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError:
            valid = False
        multibyte = multibyte or bool(_MULTIBYTE.search(chunk))
        if not multibyte:
            # Where letters have several bytes this would hold a whole file.
            high += chunk.translate(None, _ASCII)
    return "utf-8-sig" if valid or multibyte else _one_byte_encoding(bytes(high))


def _one_byte_encoding(high: bytes) -> str:
    """Return the single-byte encoding that makes more usual letters and signs of a text.

    Excel on a Mac writes Mac Roman; of equals it is Windows-1252. Where neither can be meant it is
    damaged UTF-8.
    """
    windows, mac = (
        sum(char in _USUAL for char in high.decode(encoding, "replace"))
        for encoding in ("cp1252", "mac_roman")
    )
    if mac > windows and 2 * mac > len(high):
        return "mac_roman"
    return "utf-8-sig" if _NOT_CP1252.search(high) else "cp1252"


def decode_text(raw: bytes) -> str:
    """Return a text in the encoding it is found to be in (UnicodeDecodeError where it is not)."""
    return raw.decode(find_encoding([raw]))


class CsvForm(NamedTuple):
    """The form of a table in a text file: encoding, delimiter, and rows above the columns' names.

    Of the latter, ``hidden`` are not shown by spreadsheet programs.
    """

    encoding: str
    delimiter: str
    above: int
    hidden: int = 0

    def rows(
        self, lines: Iterable[str], path: Path, *, strict: bool = True
    ) -> Iterator[tuple[int, list[str]]]:
        """Yield all rows of the file with the numbers people see."""
        first = 1 - self.hidden
        return csv_rows(lines, path, delimiter=self.delimiter, first=first, strict=strict)

    @property
    def words(self) -> str:
        """Remarks for a person who reads the result."""
        between = {",": "commas", ";": "semicolons", "\t": "tabs"}[self.delimiter]
        return f"{between}, {self.encoding.removesuffix('-sig')}"


def find_csv_form(path: Path, is_known: Callable[[str], bool]) -> CsvForm:
    """Find how a file holds its table: the way in which most names of columns are known."""
    with path.open("rb") as stream:
        encoding = find_encoding(iter(lambda: stream.read(1 << 20), b""))
        stream.seek(0)
        raw = stream.read(_HEAD_BYTES)
    text = codecs.getincrementaldecoder(encoding)("replace").decode(raw)
    # Excel takes the delimiter from such a line, and does not show it.
    if told := re.match(r'"?sep=([,;\t])"?\r?\n', text):
        above = 1 + _header_in(text[told.end() :], told[1], is_known)[1]
        return CsvForm(encoding, told[1], above, hidden=1)
    best = max(_DELIMITERS, key=lambda sign: _header_in(text, sign, is_known)[0])
    return CsvForm(encoding, best, _header_in(text, best, is_known)[1])


def _header_in(
    text: str, delimiter: str, is_known: Callable[[str], bool]
) -> tuple[tuple[int, int], int]:
    """Rate how much the cells of a header look like names, and count the rows above it."""
    rows: list[list[str]] = []
    lines = io.StringIO(text, newline="")
    with suppress(InputError):
        for _, row in csv_rows(lines, Path(), delimiter=delimiter, strict=False):
            rows.append(row)
            if len(rows) == _HEADER_WITHIN:
                break
    above = find_header(rows, is_known)
    header = rows[above] if rows else []
    return (sum(map(is_known, header)), len(header)), above


def find_header(rows: Sequence[Sequence[str]], is_known: Callable[[str], bool]) -> int:
    """Return the row, among the first, with most known names; else the first that is not empty.

    >>> find_header([["Exam 2026"], [], ["Item", "Points"], ["Cough", "1"]], str.isalpha)
    2
    """
    first = rows[:_HEADER_WITHIN]
    filled = next((i for i, row in enumerate(first) if any(map(str.strip, row))), 0)
    known = [sum(map(is_known, row)) for row in first]
    return known.index(max(known)) if any(known) else filled


class Odd(str):
    """A cell whose value may not be what was meant; ``why`` says what is wrong with it."""

    why: str

    def __new__(cls, text: str, why: str) -> Odd:
        """Return the text (empty where there is none) with the reason."""
        cell = super().__new__(cls, text)
        cell.why = why
        return cell


class SheetRows(NamedTuple):
    """A visible sheet: its rows as text with the numbers Excel shows, and its merged cells.

    ``merged`` has, for each cell of a merged range but the first, the row and column of that first
    one; columns count from 0. ``unseen`` tells of rows that people may think are not there.
    """

    title: str
    rows: list[tuple[int, list[str]]]
    merged: dict[tuple[int, int], tuple[int, int]]
    unseen: tuple[str, ...] = ()


def read_sheets(path: Path, limits: ReadLimits = USUAL_LIMITS) -> tuple[list[SheetRows], list[str]]:
    """Return the sheets of a workbook that hold something, and the names of the hidden ones."""
    shown_book, stored_book = _open_workbook(path, limits)
    sheets, hidden = [], []
    for shown, stored in zip(shown_book.worksheets, stored_book.worksheets, strict=True):
        if shown.sheet_state != "visible":
            hidden.append(shown.title)
            continue
        _check_extent(shown, path, limits)
        pairs = zip(shown.iter_rows(), stored.iter_rows(), strict=True)
        rows = [
            (number, [_cell_text(*pair) for pair in zip(*both, strict=True)])
            for number, both in number_rows(pairs, above=0)
        ]
        merged = {
            (row, column - 1): (area.min_row, area.min_col - 1)
            for area in shown.merged_cells.ranges
            for row in range(area.min_row, area.max_row + 1)
            for column in range(area.min_col, area.max_col + 1)
            if (row, column) != (area.min_row, area.min_col)
        }
        filled = [
            (number, row)
            for number, row in rows
            if any(cell or isinstance(cell, Odd) for cell in row)
        ]
        unseen = tuple(_unseen(shown, [number for number, _ in filled]))
        sheets.append(SheetRows(shown.title, filled, merged, unseen))
    return sheets, hidden


def _unseen(sheet: Worksheet, rows: Sequence[int]) -> Iterator[str]:
    """Yield what to tell of filled rows that are hidden or struck out: they are read, too."""
    hidden = [row for row in rows if sheet.row_dimensions[row].hidden]
    struck = [
        row
        for row in rows
        if any(cell.font.strike for cell in sheet[row] if isinstance(cell.value, str))
    ]
    for found, what in ((hidden, "hidden"), (struck, "struck out")):
        if found:
            said = f"{what}, and read all the same: row {listed(map(str, found), 10)}"
            yield f"{said}. Delete what shall not count"


def _open_workbook(path: Path, limits: ReadLimits) -> tuple[Any, Any]:
    """Return the workbook twice: with its formulas, and with the values they last had."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError("Excel files") from None
    raw = read_whole(path, limits)
    _check_workbook(raw, path, limits)
    try:
        with warnings.catch_warnings():
            # openpyxl warns of drawings and validations it leaves out; we read cells only.
            warnings.simplefilter("ignore")
            return (
                openpyxl.load_workbook(io.BytesIO(raw)),
                openpyxl.load_workbook(io.BytesIO(raw), data_only=True),
            )
    except Exception:
        # Whatever a broken archive or its XML raises, the cause is the file.
        hint = "Open it in a spreadsheet program and save it as .xlsx without a password."
        raise InputError([Fault(f"not an Excel workbook (.xlsx). {hint}", path)]) from None


def _check_workbook(raw: bytes, path: Path, limits: ReadLimits) -> None:
    """Refuse a workbook that would fill the memory; what is no archive is refused later."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            check_archive(archive, path, limits)
            for name in archive.namelist():
                if name.startswith("xl/worksheets/"):
                    n_cells = 0
                    with archive.open(name) as stream:
                        while chunk := stream.read(1 << 20):
                            n_cells += len(_CELL.findall(chunk))
                    limits.check("cells", n_cells, "a sheet has {} cells", path)
    except InputError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError, ValueError):
        return


def _check_extent(sheet: Worksheet, path: Path, limits: ReadLimits) -> None:
    """Refuse a sheet with a far cell: all cells up to it would be looked at."""
    place = f"sheet {sheet.title!r} goes to row {sheet.max_row:,}, column {sheet.max_column:,}"
    what = f"{place}: {{}} cells. Delete what stands outside the table"
    limits.check("cells", sheet.max_row * sheet.max_column, what, path)
    for area in sheet.merged_cells.ranges:
        limits.check("cells", int(area.size["rows"] * area.size["columns"]), what, path)


def _cell_text(shown: Cell, stored: Cell) -> str:
    value, where = stored.value, f"cell {shown.coordinate}"
    if shown.data_type == "f" and value is None:
        hint = "Open and save the file in a spreadsheet program, or write the value."
        return Odd("", f"{where} holds a formula without its value. {hint}")
    if stored.data_type == "e":
        return Odd("", f"{where} holds an error value")
    if isinstance(value, date | time):
        plain = value.isoformat().removesuffix("T00:00:00")
        return Odd(plain, f"{where} holds a date. Format it as text.")
    if isinstance(value, str):
        text = _BY_NUMBER.sub(lambda match: chr(int(match[1], 16)), value)
        return Odd("", f"{where} holds half a surrogate pair") if has_lone_surrogate(text) else text
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            # Numbers of candidates are shown as 007 by their format.
            zeros = len(shown.number_format) if _ZEROS.fullmatch(shown.number_format) else 0
            return plain_number(value).zfill(zeros)
        except OverflowError:
            return Odd("", f"{where} holds a number that is too large")
    return "" if value is None else str(value).upper()


def excel_text(text: str) -> str:
    r"""Return a text as workbooks hold it: what XML cannot hold stands there by its number.

    >>> excel_text("a\x0cb_x0041_")
    'a_x000C_b_x005F_x0041_'
    """
    return _UNHOLDABLE.sub(lambda match: f"_x{ord(match[0]):04X}_", text)


def plain_number(value: float) -> str:
    """Return a number as text, without a needless ``.0``.

    >>> plain_number(2.0), plain_number(0.25)
    ('2', '0.25')
    """
    text = repr(float(value)).removesuffix(".0")
    return str(value) if isinstance(value, int) else text
