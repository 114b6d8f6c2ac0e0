"""Excel workbooks of plain tables, written row by row; the same rows give the same bytes."""

from __future__ import annotations

import gzip
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import IO, NamedTuple

from rubricate.formats.tables import FORMULA, MOST_CHARACTERS, excel_text

#: What a cell holds.
CellValue = str | float | bool | None
#: Rows of a sheet that Excel holds.
MOST_ROWS = 1_048_576
_CUT = "… (cut)"
_NAMESPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
#: Plain, bold (the header), text that looks like a formula, and the header of what people fill in.
_PLAIN, _BOLD, _GUARDED, _TO_FILL = range(4)
_STYLES = (
    f'{_XML}<styleSheet xmlns="{_NAMESPACE}"><fonts count="2"><font><sz val="11"/><name '
    'val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="4"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill>'
    '<fill><patternFill patternType="solid"><fgColor rgb="FFE8E6DF"/></patternFill></fill>'
    '<fill><patternFill patternType="solid"><fgColor rgb="FFFFE699"/></patternFill></fill></fills>'
    '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="4"><xf xfId="0"/><xf xfId="0" fontId="1" fillId="2" applyFont="1" '
    'applyFill="1"/><xf xfId="0" quotePrefix="1"/><xf xfId="0" fontId="1" fillId="3" '
    'applyFont="1" applyFill="1"/></cellXfs><cellStyles count="1">'
    '<cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
)
#: Texts up to this length are likely to come again: ids, features, reasons.
_SHORT = 100
_SHEET_START = (
    f'{_XML}<worksheet xmlns="{_NAMESPACE}"><sheetViews><sheetView workbookViewId="0">'
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView>'
    "</sheetViews>"
)
_YES_NO = (
    '<dataValidations count="1"><dataValidation type="list" allowBlank="1" showErrorMessage="1" '
    'sqref="{0}2:{0}{1}"><formula1>"yes,no"</formula1></dataValidation></dataValidations>'
)


class SheetColumn(NamedTuple):
    """A column of a sheet; people fill in one that is theirs, with yes or no where it says so."""

    name: str
    width: int = 12
    theirs: bool = False
    yes_no: bool = False


class Workbook(AbstractContextManager["Workbook"]):
    """A workbook under way, whose sheets are filled side by side.

    Texts are stored as texts, whatever they begin with: none becomes a formula. A table longer
    than a sheet goes on in another one. Nothing is kept in memory but the row at hand: rows lie in
    temporary files until the workbook is closed.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "table.xlsx"
    >>> with Workbook(path) as book:
    ...     columns = [SheetColumn("note"), SheetColumn("score")]
    ...     book.sheet("scores", columns).add(["=1+1", 2.0], ["'=1+1", "2"])
    """

    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        self._sheets: list[OpenSheet] = []

    def __exit__(self, *error: object) -> None:
        try:
            if error[0] is None:
                self._finish()
                self._zip.close()
        finally:
            # What is left is thrown away: on a full disk its end could not be written either.
            stream, self._zip.fp = self._zip.fp, None
            for sheet in self._sheets:
                sheet.close()
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def sheet(self, name: str, columns: Sequence[SheetColumn]) -> OpenSheet:
        """Open a sheet with a header that stays in sight and filters."""
        self._sheets.append(OpenSheet(name, columns))
        return self._sheets[-1]

    def _open(self, name: str) -> IO[bytes]:
        # A fixed time: otherwise every run would give other bytes.
        info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        info.compress_type = zipfile.ZIP_DEFLATED
        return self._zip.open(info, "w", force_zip64=True)

    def _finish(self) -> None:
        names: list[str] = []
        for sheet in self._sheets:
            for part, stream in enumerate(sheet.parts(), start=1):
                names.append(sheet.name if part == 1 else f"{sheet.name} {part}")
                with self._open(f"xl/worksheets/sheet{len(names)}.xml") as target:
                    shutil.copyfileobj(stream, target, 1 << 20)
        numbers = range(1, len(names) + 1)
        sheets = "".join(
            f'<sheet name="{escape(name)}" sheetId="{i}" r:id="rId{i}"/>'
            for i, name in enumerate(names, start=1)
        )
        parts = {
            "xl/styles.xml": _STYLES,
            "xl/workbook.xml": f'{_XML}<workbook xmlns="{_NAMESPACE}" xmlns:r="{_RELATIONS}">'
            f"<sheets>{sheets}</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": _relations(
                [(f"rId{i}", "worksheet", f"worksheets/sheet{i}.xml") for i in numbers]
                + [("rId0", "styles", "styles.xml")]
            ),
            "_rels/.rels": _relations([("rId1", "officeDocument", "xl/workbook.xml")]),
            "[Content_Types].xml": f'{_XML}<Types xmlns="{_PACKAGE}/content-types"><Default '
            'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships'
            '+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName='
            f'"/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/><Override PartName='
            f'"/xl/styles.xml" ContentType="{_TYPES}.styles+xml"/>'
            + "".join(
                f'<Override PartName="/xl/worksheets/sheet{i}.xml" '
                f'ContentType="{_TYPES}.worksheet+xml"/>'
                for i in numbers
            )
            + "</Types>",
        }
        for name, body in parts.items():
            with self._open(name) as target:
                target.write(body.encode())


class OpenSheet:
    """One table of a workbook under way; its rows wait in temporary files, compressed."""

    def __init__(self, name: str, columns: Sequence[SheetColumn]) -> None:
        self.name = name
        self._columns = columns
        widths = "".join(
            f'<col min="{i}" max="{i}" width="{one.width}" customWidth="1"/>'
            for i, one in enumerate(columns, start=1)
        )
        names = "".join(_text_cell(one.name, _TO_FILL if one.theirs else _BOLD) for one in columns)
        start = f"{_SHEET_START}<cols>{widths}</cols><sheetData><row>{names}</row>"
        self._header = start.encode()
        self._parts: list[IO[bytes]] = []
        self._start()

    def _start(self) -> None:
        # A small sheet stays in memory: a workbook may have more sheets than files may be open.
        self._file = tempfile.SpooledTemporaryFile(max_size=1 << 16)  # noqa: SIM115
        self._parts.append(self._file)
        self._stream = gzip.GzipFile(fileobj=self._file, mode="wb", compresslevel=1)
        self._stream.write(self._header)
        self._n_rows = 1

    def add(self, values: Iterable[CellValue], texts: Iterable[str]) -> None:
        """Add a row: values beside the texts they have in a CSV file."""
        cells = "".join(map(_cell, values, texts))
        self._stream.write(f"<row>{cells}</row>".encode())
        self._n_rows += 1
        if self._n_rows == MOST_ROWS:
            self._end()
            self._start()

    def _end(self) -> None:
        area = f"A1:{_letters(len(self._columns))}{self._n_rows}"
        asked = [i for i, one in enumerate(self._columns, start=1) if one.yes_no]
        checks = "".join(_YES_NO.format(_letters(i), self._n_rows) for i in asked[:1])
        end = f'</sheetData><autoFilter ref="{area}"/>{checks if self._n_rows > 1 else ""}'
        self._stream.write(f"{end}</worksheet>".encode())
        self._stream.close()

    def close(self) -> None:
        """Let the temporary files go, written or not."""
        with suppress(OSError):
            self._stream.close()
        for part in self._parts:
            with suppress(OSError):
                part.close()

    def parts(self) -> Iterator[gzip.GzipFile]:
        """Close the sheet, and yield the body of each of its parts."""
        self._end()
        for part in self._parts:
            part.seek(0)
            with gzip.GzipFile(fileobj=part, mode="rb") as body:
                yield body
            part.close()


def _letters(number: int) -> str:
    """Return the name of a column in Excel, counted from 1.

    >>> _letters(1), _letters(27)
    ('A', 'AA')
    """
    first, last = divmod(number - 1, 26)
    return (_letters(first) if first else "") + chr(ord("A") + last)


def _relations(links: Iterable[tuple[str, str, str]]) -> str:
    body = "".join(
        f'<Relationship Id="{i}" Type="{_RELATIONS}/{kind}" Target="{target}"/>'
        for i, kind, target in links
    )
    return f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">{body}</Relationships>'


def _cell(value: CellValue, text: str) -> str:
    if not text:
        return "<c/>"
    if isinstance(value, str):
        return _text_cell(value, _GUARDED if text[0] == "'" and FORMULA.match(value) else _PLAIN)
    if isinstance(value, bool):
        return _text_cell(text, _PLAIN)
    # The number the CSV file holds, to its last digit.
    return f"<c><v>{float(text):.15g}</v></c>"


def _text_cell(text: str, style: int) -> str:
    return _short_cell(text, style) if len(text) <= _SHORT else _any_cell(text, style)


def _any_cell(text: str, style: int) -> str:
    held = excel_text(text)
    if len(held) > MOST_CHARACTERS:
        held = held[: MOST_CHARACTERS - len(_CUT)] + _CUT
    shown = f' s="{style}"' if style else ""
    inner = escape(held, quote=False)
    return f'<c{shown} t="inlineStr"><is><t xml:space="preserve">{inner}</t></is></c>'


_short_cell = lru_cache(maxsize=4096)(_any_cell)
