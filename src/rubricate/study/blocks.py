"""A report as blocks of text, tables and figures: one HTML page, Markdown, a Word document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any

from rubricate.display import shown_number
from rubricate.reports.page import Cell, Section, figure, folded, html_table, paragraph, render_page
from rubricate.stats import Estimate, EstimateJson


@dataclass(frozen=True, slots=True)
class Open:
    """Placeholder for text that a person must still write."""

    text: str


Value = str | int | float | None | Estimate | Open


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a chapter."""

    text: str


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table with its caption."""

    caption: str
    header: Sequence[str]
    lines: Sequence[Sequence[Value]]


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing; ``name`` is that of its file beside the Markdown."""

    name: str
    svg: str
    caption: str


@dataclass(frozen=True, slots=True)
class Listing:
    """Text to be shown as it stands, such as a settings file."""

    title: str
    text: str


Block = Paragraph | Heading | TableBlock | Figure | Listing


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter: its title and its blocks."""

    title: str
    blocks: Sequence[Block] = field(default=())


def point(estimate: EstimateJson) -> Estimate:
    """Return a recorded estimate as it is shown.

    An interval without width (every note alike, so a bootstrap has nothing to vary) is left out.

    >>> str(point(Estimate(0.5, 0.4, 0.6, 0.95, "wilson").to_dict()))
    '0.500 [0.400, 0.600]'
    """
    found = Estimate.from_dict(estimate)
    if not found.has_interval or found.low == found.high:
        return Estimate(found.value)
    return found


def to_html(title: str, lead: str, warnings: Sequence[str], chapters: Sequence[Chapter]) -> str:
    """Render all chapters as one page that needs nothing else."""
    sections = [
        Section(f"chapter-{k}", chapter.title, "\n".join(_html(b) for b in chapter.blocks))
        for k, chapter in enumerate(chapters, start=1)
    ]
    return render_page(title, sections, lead=lead, warnings=warnings)


def _html(block: Block) -> str:
    match block:
        case Paragraph(text):
            return paragraph(text)
        case Heading(text):
            return f"<h3>{escape(text)}</h3>"
        case TableBlock(caption, header, lines):
            shown = [[_marked(v) if isinstance(v, Open) else v for v in line] for line in lines]
            return html_table(header, shown, caption=caption, sortable=False)
        case Figure(_, svg, caption):
            return figure(svg, caption)
        case Listing(title, text):
            return folded(title, f"<pre>{escape(text)}</pre>")


def _marked(value: Open) -> Cell:
    return Cell(f"<mark>OPEN</mark> {escape(value.text)}")


def to_markdown(title: str, lead: str, warnings: Sequence[str], chapters: Sequence[Chapter]) -> str:
    """Render all chapters as Markdown; figures are files beside it.

    >>> table = TableBlock("c", ["a", "b"], [["x", 0.5]])
    >>> print(to_markdown("T", "", [], [Chapter("One", [table])]))
    # T
    <BLANKLINE>
    ## One
    <BLANKLINE>
    c
    <BLANKLINE>
    | a | b |
    |---|---|
    | x | 0.500 |
    <BLANKLINE>
    """
    parts = [f"# {title}", lead]
    if warnings:
        parts += ["**Read this first**", "\n".join(f"- {_plain(w)}" for w in warnings)]
    for chapter in chapters:
        parts.append(f"## {chapter.title}")
        parts += [_markdown(block) for block in chapter.blocks]
    return "\n\n".join(part for part in parts if part) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Paragraph(text):
            return _plain(text)
        case Heading(text):
            return f"### {_plain(text)}"
        case TableBlock(caption, header, lines):
            rule = "|" + "---|" * len(header)
            return "\n".join([_plain(caption), "", _row(header), rule, *map(_row, lines)])
        case Figure(name, _, caption):
            return f"![{_plain(caption)}]({name}.svg)\n\n*{_plain(caption)}*"
        case Listing(title, text):
            return f"{_plain(title)}\n\n```\n{text.rstrip()}\n```"


def _row(line: Sequence[Value]) -> str:
    return "| " + " | ".join(_cell(value) for value in line) + " |"


def _cell(value: Value) -> str:
    if isinstance(value, Open):
        return f"**OPEN** {_plain(value.text)}"
    text = cell_text(value)
    return _plain(text).replace("|", "\\|") if isinstance(value, str) else text


def cell_text(value: str | int | float | Estimate | None) -> str:
    """Return the text of a table cell.

    >>> cell_text(Estimate(0.5, 0.4, 0.6)), cell_text(1234), cell_text(None)
    ('0.500 (0.400 to 0.600)', '1,234', '–')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Estimate):
        shown = cell_text(value.value)
        return f"{shown} ({value.low:.3f} to {value.high:.3f})" if value.has_interval else shown
    return shown_number(value)


def _plain(text: str) -> str:
    """Keep what Markdown would read as markup."""
    return text.replace("*", "\\*").replace("<", "&lt;").replace("`", "\\`")


#: Libraries that write Word files. An installation without dependencies lacks them.
NEEDED = ("docx", "resvg_py")
_WIDTH_INCHES = 5.9


def write_docx(
    path: Path, title: str, lead: str, warnings: Sequence[str], chapters: Sequence[Chapter]
) -> None:
    """Write all chapters as a Word document."""
    import docx

    page = docx.Document()
    page.add_heading(title, 0)
    if lead:
        page.add_paragraph(lead)
    if warnings:
        page.add_heading("Read this first", 2)
        for warning in warnings:
            page.add_paragraph(warning, style="List Bullet")
    for chapter in chapters:
        page.add_heading(chapter.title, 1)
        for block in chapter.blocks:
            _add(page, block)
    page.save(str(path))


def _add(page: Any, block: Block) -> None:
    match block:
        case Paragraph(text):
            page.add_paragraph(text)
        case Heading(text):
            page.add_heading(text, 2)
        case TableBlock(caption, header, lines):
            page.add_paragraph(caption, style="Caption")
            _add_table(page, header, lines)
        case Figure(_, svg, caption):
            _add_svg(page, svg)
            page.add_paragraph(caption, style="Caption")
        case Listing(title, text):
            page.add_heading(title, 2)
            run = page.add_paragraph().add_run(text.rstrip())
            run.font.name = "Courier New"
            run.font.size = 8 * 12700


def _add_table(page: Any, header: Sequence[str], lines: Sequence[Sequence[Value]]) -> None:
    from docx.enum.text import WD_COLOR_INDEX
    from docx.shared import Pt

    table = page.add_table(rows=1 + len(lines), cols=len(header), style="Table Grid")
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
    for cell in table._cells:
        for run in cell.paragraphs[0].runs:
            run.font.size = Pt(8)


def _add_svg(page: Any, svg: str) -> None:
    """Add a drawing as a picture, which every program shows."""
    from docx.shared import Inches
    from resvg_py import svg_to_bytes

    size = re.search(r'viewBox="[\d.-]+ [\d.-]+ ([\d.]+) ', svg)
    width = min(_WIDTH_INCHES, float(size[1]) / 96) if size else _WIDTH_INCHES
    picture = bytes(svg_to_bytes(svg_string=svg, zoom=2, background="white"))
    page.add_picture(BytesIO(picture), width=Inches(width))
