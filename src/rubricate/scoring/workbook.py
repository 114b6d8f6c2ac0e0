"""Excel workbooks of plain tables, written row by row; the same rows give the same bytes."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any
from xml.sax.saxutils import escape, quoteattr

from rubricate.formats.rubric_csv import FORMULA

#: Rows of a sheet, and characters of a cell, that Excel holds.
MOST_ROWS = 1_048_576
MOST_CHARACTERS = 32_767
_CUT = "… (cut)"
#: What XML cannot hold or would change, and what reads like Excel's way of writing that.
_UNHOLDABLE = re.compile(r"[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_NAMESPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
#: Plain, bold (the header), and text that looks like a formula.
_STYLES = (
    f'{_XML}<styleSheet xmlns="{_NAMESPACE}"><fonts count="2"><font><sz val="11"/><name '
    'val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="1"><fill><patternFill patternType="none"/></fill></fills>'
    '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="3"><xf xfId="0"/><xf xfId="0" fontId="1" applyFont="1"/>'
    '<xf xfId="0" quotePrefix="1"/></cellXfs><cellStyles count="1">'
    '<cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
)

Rows = Iterable[Mapping[str, Any]]


class Workbook:
    """A workbook under way; sheets are added one after the other.

    Texts are stored as texts, whatever they begin with: none becomes a formula. A table longer
    than a sheet goes on in a second one. Nothing is kept in memory but the row at hand.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "table.xlsx"
    >>> with Workbook(path) as book:
    ...     book.add_sheet("scores", ["note", "score"], [{"note": "=1+1", "score": 2.0}])
    """

    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        self._names: list[str] = []

    def __enter__(self) -> Workbook:
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            self._finish()
        self._zip.close()

    def add_sheet(self, name: str, columns: Iterable[str], rows: Rows) -> None:
        """Write a table with a header; booleans become yes and no, None stays empty."""
        header = list(columns)
        waiting = iter(rows)
        number = 1
        while True:
            with self._open_sheet(name if number == 1 else f"{name} {number}") as stream:
                full = _write_sheet(stream, header, waiting)
            if not full:
                return
            number += 1

    def _open_sheet(self, name: str) -> IO[bytes]:
        self._names.append(name)
        return self._open(f"xl/worksheets/sheet{len(self._names)}.xml")

    def _open(self, name: str) -> IO[bytes]:
        # A fixed time: otherwise every run would give other bytes.
        info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        info.compress_type = zipfile.ZIP_DEFLATED
        return self._zip.open(info, "w", force_zip64=True)

    def _finish(self) -> None:
        numbers = range(1, len(self._names) + 1)
        sheets = "".join(
            f'<sheet name={quoteattr(name)} sheetId="{i}" r:id="rId{i}"/>'
            for i, name in enumerate(self._names, start=1)
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
            "[Content_Types].xml": _content_types(numbers),
        }
        for name, body in parts.items():
            with self._open(name) as stream:
                stream.write(body.encode())


def _relations(links: Iterable[tuple[str, str, str]]) -> str:
    body = "".join(
        f'<Relationship Id="{i}" Type="{_RELATIONS}/{kind}" Target="{target}"/>'
        for i, kind, target in links
    )
    return f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">{body}</Relationships>'


def _content_types(numbers: Iterable[int]) -> str:
    sheets = "".join(
        f'<Override PartName="/xl/worksheets/sheet{i}.xml" ContentType="{_TYPES}.worksheet+xml"/>'
        for i in numbers
    )
    return (
        f'{_XML}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
        'ContentType="application/xml"/><Override PartName="/xl/workbook.xml" '
        f'ContentType="{_TYPES}.sheet.main+xml"/><Override PartName="/xl/styles.xml" '
        f'ContentType="{_TYPES}.styles+xml"/>{sheets}</Types>'
    )


def _write_sheet(stream: IO[bytes], header: list[str], rows: Iterator[Mapping[str, Any]]) -> bool:
    """Write one sheet; tell whether it is full and rows may be left."""
    stream.write(
        f'{_XML}<worksheet xmlns="{_NAMESPACE}"><sheetViews><sheetView workbookViewId="0">'
        '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView>'
        "</sheetViews><sheetData><row>".encode()
    )
    stream.write("".join(_text_cell(name, 1) for name in header).encode())
    stream.write(b"</row>")
    n_rows = 1
    for row in rows:
        cells = "".join(_cell(row.get(name)) for name in header)
        stream.write(f"<row>{cells}</row>".encode())
        n_rows += 1
        if n_rows == MOST_ROWS:
            break
    stream.write(b"</sheetData></worksheet>")
    return n_rows == MOST_ROWS


def _cell(value: Any) -> str:
    if value is None or value == "":
        return "<c/>"
    if isinstance(value, bool):
        return _text_cell("yes" if value else "no", 0)
    if isinstance(value, int | float):
        return f"<c><v>{value:.15g}</v></c>"
    return _text_cell(str(value), 2 if FORMULA.match(str(value)) else 0)


def _text_cell(text: str, style: int) -> str:
    held = _UNHOLDABLE.sub(lambda match: f"_x{ord(match[0]):04X}_", text)
    if len(held) > MOST_CHARACTERS:
        held = held[: MOST_CHARACTERS - len(_CUT)] + _CUT
    shown = f' s="{style}"' if style else ""
    return f'<c{shown} t="inlineStr"><is><t xml:space="preserve">{escape(held)}</t></is></c>'
