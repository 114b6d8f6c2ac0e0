"""A report as blocks of text, tables and figures: one HTML page, Markdown, a Word document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any, Literal
from zipfile import ZipFile

from rubricate.display import shown_number
from rubricate.errors import MissingExtraError
from rubricate.files import whole_output
from rubricate.outputs import DRAWING, PAGE, Kind, check_output, file_kind
from rubricate.progress import Progress, silent, watched
from rubricate.reports.highlight import MarkedRow, Sides, cut_pieces, legend_html, marked_note_html
from rubricate.reports.page import (
    Cell,
    Open,
    Section,
    Text,
    Value,
    facts_table,
    figure,
    folded,
    html_table,
    paragraph,
    plain_text,
    render_page,
)
from rubricate.stats import Estimate, EstimateJson


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of plain text, perhaps with links."""

    text: Text
    style: Literal["", "subhead", "aside"] = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a chapter."""

    text: str


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table with its caption; the lines of its footer stand apart."""

    caption: str
    header: Sequence[str]
    lines: Sequence[Sequence[Value]]
    footer: Sequence[Sequence[Value]] = ()
    sortable: bool = False
    empty: str = "Nothing to show."


@dataclass(frozen=True, slots=True)
class FactsBlock:
    """Names and values, one line each."""

    facts: Mapping[str, object]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing; ``name`` is that of its file beside the Markdown, "" for its number."""

    name: str
    svg: str
    caption: str


@dataclass(frozen=True, slots=True)
class FigureRow:
    """Small figures beside each other."""

    figures: Sequence[Figure]


@dataclass(frozen=True, slots=True)
class Fold:
    """A part that opens when asked; with ``in_print`` it is opened for printing, too."""

    title: str
    blocks: Sequence[Block]
    is_open: bool = False
    in_print: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """Text to be shown as it stands, such as a settings file."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class MarkedNote:
    """A note with the marks of two sides, and a line for each feature in which they differ."""

    text: str
    rows: Sequence[MarkedRow]
    sides: Sides


@dataclass(frozen=True, slots=True)
class Legend:
    """The line that explains the marks of the notes after it."""

    sides: Sides


Block = (
    Paragraph | Heading | TableBlock | FactsBlock | Figure | FigureRow | Fold | Listing | MarkedNote
    | Legend
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter: its title, its blocks, and the name that links lead to."""

    title: str
    blocks: Sequence[Block] = field(default=())
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report, in no form yet."""

    title: str
    chapters: Sequence[Chapter]
    lead: str = ""
    warnings: Sequence[Text] = ()
    footer: str = ""


def make_chapters(
    parts: Sequence[tuple[str, str, Callable[[], Sequence[Block]]]], progress: Progress = silent
) -> list[Chapter]:
    """Make chapters one after the other from (anchor, title, blocks); empty ones are left out.

    >>> parts = [("a", "A", lambda: [Paragraph("x")]), ("b", "B", lambda: [])]
    >>> [chapter.anchor for chapter in make_chapters(parts)]
    ['a']
    """
    made = [
        Chapter(title, blocks(), anchor)
        for anchor, title, blocks in watched(parts, progress, "report", len(parts))
    ]
    return [chapter for chapter in made if chapter.blocks]


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


def save_report(target: Path, report: Report, *, overwrite: bool = False) -> Path:
    """Write a report in the form that the target's ending asks for; return the file's path.

    ``.docx`` is a Word document and ``.md`` Markdown, with its drawings in a folder beside it.
    Anything else is a folder, in which ``index.html`` is written and nothing else touched.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> report = Report("Empty", [])
    >>> [save_report(folder / name, report).name for name in ("page", "page.md")]
    ['index.html', 'page.md']
    """
    with ExitStack() as stack:
        places = [
            stack.enter_context(whole_output(path, overwrite=overwrite, kind=kind))
            for path, kind in _outputs(target, report)
        ]
        match target.suffix.lower():
            case ".docx":
                write_docx(places[0], report)
            case ".md":
                drawings = _drawings(target)
                text = f"{_WRITTEN}\n\n{to_markdown(report, f'{drawings.name}/')}"
                places[0].write_text(text, encoding="utf-8", newline="")
                for place in places[1:]:
                    place.mkdir()
                    for name, svg in figure_files(report):
                        (place / name).write_text(svg, encoding="utf-8", newline="")
            case _:
                places[0].write_text(to_html(report), encoding="utf-8", newline="")
    return _outputs(target, report)[0][0]


def check_report_place(target: Path, *, overwrite: bool, inputs: Iterable[str | Path] = ()) -> None:
    """Refuse, before any work, a report that could not be written after it."""
    if target.suffix.lower() == ".docx":
        _need_word()
    read = tuple(inputs)
    for path, kind in _outputs(target, None):
        check_output(path, kind, overwrite=overwrite, inputs=read)


#: The first line of Markdown, by which an earlier report is known.
_WRITTEN = "<!-- Written by rubricate. -->"
_MARKDOWN = file_kind("a report in Markdown", _WRITTEN.encode())
_DRAWINGS = Kind(
    "drawings of a report",
    lambda path: next(
        (f"it also holds {one.name}" for one in path.iterdir() if DRAWING.fault(one)), ""
    ),
)


def _outputs(target: Path, report: Report | None) -> list[tuple[Path, Kind]]:
    """Return the files and folders of a report; drawings only where it has any, or is unknown."""
    match target.suffix.lower():
        case ".docx":
            return [(target, _WORD)]
        case ".md":
            drawn = report is None or any(figure_files(report))
            return [(target, _MARKDOWN), *([(_drawings(target), _DRAWINGS)] if drawn else [])]
    return [(target / "index.html", PAGE)]


def _drawings(target: Path) -> Path:
    return target.with_name(f"{target.stem}-figures")


def _figures(blocks: Sequence[Block]) -> Iterator[Figure]:
    """Yield all drawings in the order in which they are read."""
    for block in blocks:
        match block:
            case Figure():
                yield block
            case FigureRow(figures):
                yield from figures
            case Fold(_, inside):
                yield from _figures(inside)


def _file_names(report: Report) -> dict[int, str]:
    """Return the file name of each drawing, by the drawing's identity."""
    found = [one for chapter in report.chapters for one in _figures(chapter.blocks)]
    return {id(one): f"{one.name or f'figure-{k}'}.svg" for k, one in enumerate(found, 1)}


def figure_files(report: Report) -> list[tuple[str, str]]:
    """Return name and content of each drawing, for the files beside the Markdown.

    >>> figure_files(Report("T", [Chapter("One", [Figure("flow", "<svg/>", "")])]))
    [('flow.svg', '<svg/>')]
    """
    names = _file_names(report)
    found = [one for chapter in report.chapters for one in _figures(chapter.blocks)]
    return [(names[id(one)], one.svg) for one in found]


def to_html(report: Report) -> str:
    """Render a report as one page that needs nothing else."""
    sections = [
        Section(chapter.anchor or f"chapter-{k}", chapter.title, blocks_html(chapter.blocks))
        for k, chapter in enumerate(report.chapters, start=1)
    ]
    return render_page(
        report.title, sections, lead=report.lead, warnings=report.warnings, footer=report.footer
    )


def blocks_html(blocks: Sequence[Block]) -> str:
    """Render some blocks as a part of a page.

    >>> blocks_html([Heading("1 < 2"), Fold("More", [Paragraph("words")])])
    '<h3>1 &lt; 2</h3><details><summary>More</summary><p>words</p></details>'
    """
    return "".join(map(_html, blocks))


def _html(block: Block) -> str:
    match block:
        case Paragraph(text, style):
            return paragraph(text, class_=style)
        case Heading(text):
            return f"<h3>{escape(text)}</h3>"
        case TableBlock(caption, header, lines, footer, sortable, empty):
            return html_table(
                header, lines, caption=caption, footer=footer, sortable=sortable, empty=empty
            )
        case FactsBlock(facts, caption):
            return facts_table(facts, caption=caption)
        case Figure(_, svg, caption):
            return figure(svg, caption)
        case FigureRow(figures):
            return f'<div class="row">{blocks_html(figures)}</div>'
        case Fold(title, inside, is_open, in_print):
            return folded(title, blocks_html(inside), is_open=is_open, in_print=in_print)
        case Listing(title, text):
            return folded(title, f"<pre>{escape(text)}</pre>")
        case MarkedNote(text, rows, sides):
            return marked_note_html(text, rows, sides)
        case Legend(sides):
            return legend_html(sides)


def to_markdown(report: Report, folder: str = "") -> str:
    """Render a report as Markdown; its figures are files in a folder.

    >>> table = TableBlock("c", ["a", "b"], [["x", 0.5]])
    >>> print(to_markdown(Report("T", [Chapter("One", [table])])))
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
    names = {key: folder + name for key, name in _file_names(report).items()}
    parts = [f"# {report.title}", report.lead]
    if report.warnings:
        said = (f"- {_with_links(warning)}" for warning in report.warnings)
        parts += ["**Read this first**", "\n".join(said)]
    for chapter in report.chapters:
        parts += [f"## {chapter.title}", *(_markdown(block, names) for block in chapter.blocks)]
    parts.append(report.footer)
    return "\n\n".join(part for part in parts if part) + "\n"


def _markdown(block: Block, names: Mapping[int, str]) -> str:
    match block:
        case Paragraph(text, style):
            return f"**{_with_links(text)}**" if style == "subhead" else _with_links(text)
        case Heading(text):
            return f"### {_plain(text)}"
        case TableBlock() if not block.lines and not block.footer:
            return _plain(block.empty)
        case TableBlock(caption, header, lines, footer):
            rows = [_row(header), "|" + "---|" * len(header), *map(_row, lines), *map(_row, footer)]
            return "\n".join([*([_plain(caption), ""] if caption else []), *rows])
        case FactsBlock(facts, caption):
            lines = [[name, str(value)] for name, value in facts.items()]
            return _markdown(TableBlock(caption, ["what", "value"], lines), names)
        case Figure(_, _, caption):
            image = f"![{_plain(caption)}]({names[id(block)]})"
            return f"{image}\n\n*{_plain(caption)}*" if caption else image
        case FigureRow(figures):
            return "\n\n".join(_markdown(one, names) for one in figures)
        case Fold(title, inside):
            parts = [f"### {_plain(title)}", *(_markdown(one, names) for one in inside)]
            return "\n\n".join(part for part in parts if part)
        case Listing(title, text):
            # The fence is longer than any in the text.
            fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`{3,}", text))])
            return f"{_plain(title)}\n\n{fence}\n{text.rstrip()}\n{fence}"
        case MarkedNote(text):
            return f"{_markdown(Listing('The note:', text), names)}\n\n" + _markdown(
                _differences(block), names
            )
        case Legend():
            return ""


def _differences(note: MarkedNote) -> TableBlock:
    """Return the features in which the sides differ, with the words that each marked."""
    sides = note.sides
    lines: list[list[Value]] = []
    for row in sorted(note.rows, key=lambda row: -row.n_wrong):
        if row.n_wrong:
            words = [
                " | ".join(
                    " … ".join(" ".join(span.text(note.text).split()) for span in mark.spans)
                    for mark in row.marks
                    if mark.side == side
                )
                for side in ("reference", "predicted")
            ]
            lines.append([row.number, row.feature, *words, row.n_missed, row.n_false])
    header = ["#", "Feature", f"Words of {sides.reference}", f"Words of {sides.predicted}",
              f"{sides.reference} only", f"{sides.predicted} only"]  # fmt: skip
    return TableBlock("Characters that one side alone marked.", header, lines)


def _row(line: Sequence[Value]) -> str:
    return "| " + " | ".join(_cell(value) for value in line) + " |"


def _cell(value: Value) -> str:
    if isinstance(value, Open):
        return f"**OPEN** {_plain(value.text)}"
    if isinstance(value, Cell):
        under = f" ({_plain(value.under)})" if value.under else ""
        return (_with_links(value.text) + under).replace("|", "\\|")
    text = cell_text(value)
    return " ".join(_plain(text).split("\n")).replace("|", "\\|") if text else ""


def cell_text(value: Value) -> str:
    """Return the text of a table cell.

    >>> cell_text(Estimate(0.5, 0.4, 0.6)), cell_text(1234), cell_text(None)
    ('0.500 (0.400 to 0.600)', '1,234', '–')
    """
    match value:
        case str():
            return value
        case Cell(text, _, _, under):
            return plain_text(text) + (f" ({under})" if under else "")
        case Open(text):
            return f"OPEN {text}"
        case int():
            return f"{value:,}"
        case Estimate():
            shown = cell_text(value.value)
            return f"{shown} ({value.low:.3f} to {value.high:.3f})" if value.has_interval else shown
    return shown_number(value)


def _with_links(text: Text) -> str:
    if isinstance(text, str):
        return _plain(text)
    return "".join(
        _plain(part) if isinstance(part, str) else f"[{_plain(part.words)}](<{part.address}>)"
        for part in text
    )


def _plain(text: str) -> str:
    """Keep what Markdown would read as markup."""
    return text.replace("*", "\\*").replace("<", "&lt;").replace("`", "\\`")


#: Libraries that write Word files. An installation without dependencies lacks them.
NEEDED = ("docx", "resvg_py")
_WIDTH_INCHES = 5.9
#: What XML cannot hold.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def _word_fault(path: Path) -> str:
    with ZipFile(path) as file:
        known = b"rubricate" in file.read("docProps/core.xml")
    return "" if known else "another program wrote it"


_WORD = Kind("a report in Word", _word_fault)


def _need_word() -> None:
    from importlib.util import find_spec

    if not all(map(find_spec, NEEDED)):
        raise MissingExtraError("A report in Word")


def write_docx(path: Path, report: Report) -> None:
    """Write a report as a Word document."""
    _need_word()
    import docx

    page = docx.Document()
    page.core_properties.author = "rubricate"
    page.core_properties.comments = ""
    page.core_properties.title = _xml(report.title)
    page.add_heading(_xml(report.title), 0)
    if report.lead:
        page.add_paragraph(_xml(report.lead))
    if report.warnings:
        page.add_heading("Read this first", 2)
        for warning in report.warnings:
            page.add_paragraph(_xml(plain_text(warning)), style="List Bullet")
    for chapter in report.chapters:
        page.add_heading(_xml(chapter.title), 1)
        for block in chapter.blocks:
            _add(page, block)
    if report.footer:
        page.add_paragraph(_xml(report.footer))
    page.save(str(path))


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def _add(page: Any, block: Block, level: int = 2) -> None:
    match block:
        case Paragraph(text, style):
            place = page.add_paragraph(_xml(plain_text(text)))
            if style == "subhead":
                place.runs[0].bold = True
        case Heading(text):
            page.add_heading(_xml(text), level)
        case TableBlock() if not block.lines and not block.footer:
            page.add_paragraph(_xml(block.empty))
        case TableBlock(caption, header, lines, footer):
            if caption:
                page.add_paragraph(_xml(caption), style="Caption")
            _add_table(page, header, [*lines, *footer])
        case FactsBlock(facts, caption):
            lines = [[name, str(value)] for name, value in facts.items()]
            _add(page, TableBlock(caption, ["what", "value"], lines), level)
        case Figure(_, svg, caption):
            _add_svg(page, svg)
            if caption:
                page.add_paragraph(_xml(caption), style="Caption")
        case FigureRow(figures):
            for one in figures:
                _add(page, one, level)
        case Fold(title, inside):
            page.add_heading(_xml(title), level)
            for part in inside:
                _add(page, part, level + 1)
        case Listing(title, text):
            page.add_heading(_xml(title), level)
            run = page.add_paragraph().add_run(_xml(text.rstrip()))
            run.font.name = "Courier New"
            run.font.size = 8 * 12700
        case MarkedNote():
            _add_note(page, block)
            _add(page, _differences(block), level)
        case Legend(sides):
            said = f"{sides.reference} is underlined, {sides.predicted} is marked in yellow."
            page.add_paragraph(_xml(f"{said} Numbers are those of the features."))


def _add_note(page: Any, note: MarkedNote) -> None:
    """Add a note's text: the reference underlined, the other side marked, features by number."""
    from docx.enum.text import WD_COLOR_INDEX

    place = page.add_paragraph()
    for piece in cut_pieces(len(note.text), [mark for row in note.rows for mark in row.marks]):
        if piece.badges:
            place.add_run(" ".join(piece.badges)).font.superscript = True
        run = place.add_run(_xml(note.text[piece.start : piece.end]))
        states = set(piece.states.values())
        if states & {"hit", "missed"}:
            run.underline = True
        if states & {"hit", "false"}:
            run.font.highlight_color = WD_COLOR_INDEX.YELLOW


def _add_table(page: Any, header: Sequence[str], lines: Sequence[Sequence[Value]]) -> None:
    from docx.enum.text import WD_COLOR_INDEX
    from docx.shared import Pt

    table = page.add_table(rows=1 + len(lines), cols=len(header), style="Table Grid")
    # Asking a table for each of its cells reads it whole every time; asking for all does so once.
    cells = iter(table._cells)
    for name in header:
        next(cells).paragraphs[0].add_run(_xml(name)).bold = True
    for line in lines:
        for value in line:
            place = next(cells).paragraphs[0]
            if isinstance(value, Open):
                place.add_run("OPEN").font.highlight_color = WD_COLOR_INDEX.YELLOW
                place.add_run(_xml(f" {value.text}"))
            else:
                place.add_run(_xml(cell_text(value)))
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
