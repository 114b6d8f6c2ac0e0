"""Rubrics in Excel workbooks, one sheet per case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rubricate.errors import Fault, InputError, MissingExtraError
from rubricate.formats.faults import Faults
from rubricate.formats.rubric.csv_table import SchoolTable, add_table
from rubricate.formats.rubric.records import WRITTEN, Records, feature_row
from rubricate.formats.spreadsheets import plain_number, read_sheets
from rubricate.formats.tables import FORMULA
from rubricate.rubric import Rubric

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

#: Characters XML cannot hold, and line breaks it would change; Excel writes them by number.
_UNHOLDABLE = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_LONGEST = 32_767
#: What programs call a sheet that nobody named.
_UNNAMED = re.compile(r"(?:sheet|tabelle|feuil|hoja|foglio|blad|planilha|ark)\s?\d*", re.IGNORECASE)
_SHEET_NAME = re.compile(r"[^\[\]:*?/\\']{1,31}")


def read_excel_records(path: Path, faults: Faults) -> Records:
    """Read a workbook: one sheet per case, named after it; messages give the rows Excel shows."""
    records = Records(path.stem)
    sheets, hidden = read_sheets(path)
    records.notices += [f"sheet {title!r} is hidden and was left out" for title in hidden]
    for sheet in sheets:
        if not sheet.rows:
            records.notices.append(f"sheet {sheet.title!r} is empty and was left out")
            continue
        case = sheet.title.strip()
        if len([one for one in sheets if one.rows]) == 1 and _UNNAMED.fullmatch(case):
            case = ""
        before = len(records.features)
        place = f"sheet {sheet.title!r}: "
        add_table(records, SchoolTable(sheet.rows, case, place, sheet.merged), faults)
        if len(records.features) == before:
            records.cases.append(case)
    return records


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
