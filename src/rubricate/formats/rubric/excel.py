"""Rubrics in Excel workbooks, one sheet per case."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Sequence
from datetime import date, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rubricate.errors import Fault, InputError, MissingExtraError
from rubricate.formats.annotations import has_lone_surrogate
from rubricate.formats.faults import Faults
from rubricate.formats.limits import check_archive, need_within, read_whole
from rubricate.formats.rubric.csv_table import add_rows
from rubricate.formats.rubric.records import WRITTEN, Records, feature_row, plain_number
from rubricate.formats.tables import FORMULA
from rubricate.rubric import Rubric

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell
    from openpyxl.worksheet.worksheet import Worksheet

#: Characters XML cannot hold, and line breaks it would change; Excel writes them by number.
_UNHOLDABLE = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_BY_NUMBER = re.compile(r"_x([0-9A-Fa-f]{4})_")
_LONGEST = 32_767
_CELL = re.compile(rb"<(?:\w+:)?c[\s/>]")
_SHEET_NAME = re.compile(r"[^\[\]:*?/\\']{1,31}")


def read_excel_records(path: Path, faults: Faults) -> Records:
    """Read a workbook: one sheet per case, named after it; messages give the rows Excel shows."""
    books = _open_workbook(path)
    records = Records(path.stem)
    for shown, stored in zip(books[0].worksheets, books[1].worksheets, strict=True):
        title = shown.title
        if shown.sheet_state != "visible":
            records.notices.append(f"sheet {title!r} is hidden and was left out")
            continue
        _check_extent(shown, path)
        place = f"sheet {title!r}: "
        rows = [
            (number, [_cell_text(*pair, place, faults) for pair in zip(*both, strict=True)])
            for number, both in enumerate(
                zip(shown.iter_rows(), stored.iter_rows(), strict=True), start=1
            )
        ]
        rows = [(number, row) for number, row in rows if any(row)]
        if not rows:
            records.notices.append(f"sheet {title!r} is empty and was left out")
            continue
        before = len(records.features)
        add_rows(records, rows[0][1], rows[1:], (title.strip(), place), faults)
        if len(records.features) == before:
            records.cases.append(title.strip())
    return records


def _open_workbook(path: Path) -> tuple[Any, Any]:
    """Return the workbook twice: with its formulas, and with the values they last had."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError("Excel files", "formats") from None
    raw = read_whole(path)
    _check_workbook(raw, path)
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


def _check_workbook(raw: bytes, path: Path) -> None:
    """Refuse a workbook that would fill the memory; what is no archive is refused later."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            check_archive(archive, path)
            for name in archive.namelist():
                if name.startswith("xl/worksheets/"):
                    n_cells = 0
                    with archive.open(name) as stream:
                        while chunk := stream.read(1 << 20):
                            n_cells += len(_CELL.findall(chunk))
                    need_within("cells", n_cells, "a sheet has {} cells", path)
    except InputError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError, ValueError):
        return


def _check_extent(sheet: Worksheet, path: Path) -> None:
    """Refuse a sheet with a far cell: all cells up to it would be looked at."""
    place = f"sheet {sheet.title!r} goes to row {sheet.max_row:,}, column {sheet.max_column:,}"
    what = f"{place}: {{}} cells. Delete what stands outside the table"
    need_within("cells", sheet.max_row * sheet.max_column, what, path)


def _cell_text(shown: Cell, stored: Cell, place: str, faults: Faults) -> str:
    value = stored.value
    where = f"{place}cell {shown.coordinate}"
    if shown.data_type == "f" and value is None:
        faults.add(f"{where} holds a formula without its value. Open and save the file in a "
                   "spreadsheet program, or write the value.", line=shown.row)  # fmt: skip
    elif stored.data_type == "e":
        faults.add(f"{where} holds an error value", line=shown.row)
    elif isinstance(value, date | time):
        faults.add(f"{where} holds a date. Format it as text.", line=shown.row)
    elif isinstance(value, str):
        text = _BY_NUMBER.sub(lambda match: chr(int(match[1], 16)), value).strip()
        if has_lone_surrogate(text):
            faults.add(f"{where} holds half a surrogate pair", line=shown.row)
            return ""
        return text
    elif isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return plain_number(value)
        except OverflowError:
            faults.add(f"{where} holds a number that is too large", line=shown.row)
    elif value is not None:
        return str(value).upper()
    return ""


def write_excel_records(rubrics: Sequence[Rubric], path: Path) -> None:
    """Write one sheet per case; a case that is no sheet name is also in a column.

    Every text is stored as text, also one that begins with ``=`` or ``-``.
    """
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError("Excel files", "formats") from None
    _need_short_texts(rubrics)
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    taken: set[str] = set()
    for rubric in rubrics:
        name = _sheet_name(rubric.case, taken)
        sheet = book.create_sheet(name)
        # The sheet's name is the case, unless Excel cannot hold it as it is.
        skip = 1 if name == rubric.case else 0
        titled = [rubric.title] if rubric.title else []
        _write_row(sheet, 1, [*WRITTEN[skip:], *("title" for _ in titled)])
        for i, feature in enumerate(rubric, start=2):
            _write_row(sheet, i, [*feature_row(feature)[skip:], *titled])
        sheet.freeze_panes = "A2"
    book.save(path)


def _need_short_texts(rubrics: Sequence[Rubric]) -> None:
    faults = [
        Fault(
            f"feature {feature.id!r}: a cell of an Excel file holds at most {_LONGEST} characters"
        )
        for rubric in rubrics
        for feature in rubric
        if max(len(_UNHOLDABLE.sub(_numbered, cell)) for cell in (feature.text, feature.note))
        > _LONGEST
    ]
    if faults:
        raise InputError(faults)


def _write_row(sheet: Worksheet, number: int, row: Sequence[Any]) -> None:
    for i, value in enumerate(row, start=1):
        if value == "":
            continue
        if isinstance(value, float) and float(f"{value:.15g}") != value:
            # A number in a workbook has 15 digits; as text it keeps the rest.
            value = plain_number(value)
        cell = sheet.cell(number, i)
        if isinstance(value, str):
            cell.value = _UNHOLDABLE.sub(_numbered, value)
            # openpyxl takes what begins with = for a formula, and #N/A for an error.
            cell.data_type = "s"
            if FORMULA.match(value):
                # Without it, editing the cell would make a formula of the text.
                cell.quotePrefix = True
        else:
            cell.value = int(value) if float(value).is_integer() else value


def _numbered(match: re.Match[str]) -> str:
    return f"_x{ord(match[0]):04X}_"


def _sheet_name(case: str, taken: set[str]) -> str:
    """Return the case, or a name like it that Excel takes."""
    plain = re.sub(r"[\[\]:*?/\\'\x00-\x1f]", "-", case)[:31].strip() or "case"
    sound = _SHEET_NAME.fullmatch(case) and case.casefold() != "history"
    name, n = (case if sound and case == plain else f"{plain[:28]} 1"), 2
    while name.casefold() in taken:
        name, n = f"{plain[:27]} {n}", n + 1
    taken.add(name.casefold())
    return name
