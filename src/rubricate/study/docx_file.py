"""The same report as a Word document: headings, tables and figures that can be edited."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from rubricate.study.blocks import (
    Block,
    Chapter,
    Figure,
    Heading,
    Listing,
    Open,
    Paragraph,
    TableBlock,
    Value,
    cell_text,
)

_SVG_EXTENSION = "{96DAC541-7B7A-43D3-8B79-37D633B846F1}"
_SVG_NAMESPACE = "http://schemas.microsoft.com/office/drawing/2016/SVG/main"
_WIDTH_INCHES = 6.3


def write_docx(
    path: Path, title: str, lead: str, warnings: Sequence[str], chapters: Sequence[Chapter]
) -> None:
    """Write all chapters as a Word document (needs python-docx: ``rubricate[formats]``)."""
    import docx

    document = docx.Document()
    document.add_heading(title, 0)
    if lead:
        document.add_paragraph(lead)
    if warnings:
        document.add_heading("Read this first", 2)
        for warning in warnings:
            document.add_paragraph(warning, style="List Bullet")
    for chapter in chapters:
        document.add_heading(chapter.title, 1)
        for block in chapter.blocks:
            _add(document, block)
    document.save(str(path))


def _add(document: Any, block: Block) -> None:
    match block:
        case Paragraph(text):
            document.add_paragraph(text)
        case Heading(text):
            document.add_heading(text, 2)
        case TableBlock(caption, header, lines):
            document.add_paragraph(caption, style="Caption")
            _add_table(document, header, lines)
        case Figure(_, svg, caption):
            _add_svg(document, svg)
            document.add_paragraph(caption, style="Caption")
        case Listing(title, text):
            document.add_heading(title, 2)
            run = document.add_paragraph().add_run(text.rstrip())
            run.font.name = "Courier New"
            run.font.size = 8 * 12700


def _add_table(document: Any, header: Sequence[str], lines: Sequence[Sequence[Value]]) -> None:
    from docx.enum.text import WD_COLOR_INDEX

    table = document.add_table(rows=1 + len(lines), cols=len(header), style="Table Grid")
    # Asking a table for each of its cells reads it whole every time; asking for all does so once.
    cells = iter(table._cells)
    for name in header:
        next(cells).paragraphs[0].add_run(name).bold = True
    for line in lines:
        for value in line:
            paragraph = next(cells).paragraphs[0]
            if isinstance(value, Open):
                paragraph.add_run("OPEN").font.highlight_color = WD_COLOR_INDEX.YELLOW
                paragraph.add_run(f" {value.text}")
            else:
                paragraph.add_run(cell_text(value))


def _add_svg(document: Any, svg: str) -> None:
    """Add a drawing as SVG, which Word shows since 2016, over an empty picture of its shape."""
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.opc.packuri import PackURI
    from docx.opc.part import Part
    from docx.oxml import parse_xml
    from docx.shared import Inches

    size = re.search(r'viewBox="[\d.-]+ [\d.-]+ ([\d.]+) ([\d.]+)"', svg)
    width, height = (max(1, round(float(s))) for s in size.groups()) if size else (4, 3)
    picture = document.add_picture(
        BytesIO(_empty_png(width, height)), width=Inches(min(_WIDTH_INCHES, width / 96))
    )
    package = document.part.package
    name = PackURI(f"/word/media/{package.next_partname('/word/media/figure%d.svg').filename}")
    part = Part(name, "image/svg+xml", svg.encode("utf-8"), package)
    relation = document.part.relate_to(part, RELATIONSHIP_TYPE.IMAGE)
    blip = picture._inline.graphic.graphicData.pic.blipFill.blip
    blip.append(
        parse_xml(
            '<a:extLst xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
            f'<a:ext uri="{_SVG_EXTENSION}"><asvg:svgBlip xmlns:asvg="{_SVG_NAMESPACE}" '
            'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
            f'r:embed="{relation}"/></a:ext></a:extLst>'
        )
    )


def _empty_png(width: int, height: int) -> bytes:
    """Return a white picture of a shape; Word needs one under every SVG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        whole = kind + data
        return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))

    rows = (b"\0" + b"\xff" * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    )
