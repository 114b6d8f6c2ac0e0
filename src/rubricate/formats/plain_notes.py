"""Notes alone: tables with one note per row, and folders with one note per text file."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ElementTree
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from rubricate.columns import (
    NOTE_COLUMNS,
    find_note_columns,
    note_id,
    own_ids,
    plain_name,
    twin_columns,
)
from rubricate.corpus import Corpus, Note
from rubricate.display import counted
from rubricate.errors import (
    Advice,
    ArgumentError,
    Fault,
    InputError,
    Setting,
    did_you_mean,
    listed,
    shown,
)
from rubricate.formats.format import Format, NoteStream, Unreadable
from rubricate.formats.options import USUAL_LIMITS, USUAL_OPTIONS, ReadLimits, ReadOptions
from rubricate.formats.reading import (
    check_archive,
    has_lone_surrogate,
    leads_out,
    read_whole,
    unsafe_xml,
    writable,
)
from rubricate.formats.tables import (
    NO_ID,
    CsvForm,
    Odd,
    decode_text,
    find_csv_form,
    find_header,
    is_id,
    is_number,
    read_sheets,
)
from rubricate.rubric import Metadata

#: Names of ids that no two notes share; under the others a person may have written several.
_OF_NOTES = {"note id", "pn num", "note", "notes"}
_TEXT_FILES = {".csv", ".tsv", ".txt"}
_WORKBOOKS = {".xlsx", ".xlsm"}
_LONGEST_NAME = 40


def looks_like_table(path: Path) -> bool:
    """Tell whether a path is a table with a column of notes and one of texts."""
    if not is_table_file(path):
        return False
    if path.suffix.lower() in _WORKBOOKS:
        return True
    header = _header(path, find_csv_form(path, _is_known(USUAL_OPTIONS)))
    return {"id", "text"} <= find_note_columns(header, {}).keys()


def is_table_file(path: Path) -> bool:
    """Tell whether a path is a file that may hold a table, by its name."""
    return path.is_file() and path.suffix.lower() in _TEXT_FILES | _WORKBOOKS


def _is_known(how: ReadOptions) -> Callable[[str], bool]:
    """Return the value that tells the name of a column that means something."""
    known = {plain_name(name) for name in how.columns.values()}.union(*NOTE_COLUMNS.values())
    return lambda name: plain_name(name) in known


class _Part(NamedTuple):
    """One table: its names, what they mean, and its rows with their numbers."""

    place: str
    header: list[str]
    columns: dict[str, int]
    rows: Callable[[], Iterable[tuple[int, list[str]]]]


def stream_table(path: Path, how: ReadOptions = USUAL_OPTIONS) -> NoteStream:
    """Open a table of notes; InputError if it lacks the column of the notes or of their texts."""
    if not is_table_file(path):
        raise InputError([Fault("need a .csv, .tsv, .txt or .xlsx file", path)])
    if path.suffix.lower() in _WORKBOOKS:
        parts, words = _sheets(path, how), "Excel"
    else:
        form = find_csv_form(path, _is_known(how))
        header, words = _header(path, form), form.words
        rows = lambda: islice(_rows(path, form), 1, None)  # noqa: E731
        parts = [_Part("", header, find_note_columns(header, how.columns), rows)]
    faults = [fault for part in parts for fault in _missing(path, part, how.columns)]
    if faults:
        raise (ArgumentError if how.columns else InputError)(faults)
    alone = own_ids(_names(parts))
    first = parts[0]
    order = [name for name in (*NOTE_COLUMNS, *first.columns) if name in first.columns]
    meaning = [f"{name}={first.header[first.columns[name]]}" for name in dict.fromkeys(order)]
    kept = [name for name in _others(first).values() if name not in first.columns]
    more = f"; also kept: {', '.join(map(shown, kept))}" if kept else ""
    joined = "" if alone else "; ids are joined with the case, as some occur in several"
    said = f"columns {', '.join(meaning)}{more} ({words}){joined}"
    return NoteStream((), _telling(lambda: _notes(parts, alone), said, how), lambda: _places(parts))


def _missing(path: Path, part: _Part, given: Mapping[str, str]) -> Iterator[Fault]:
    """Yield what is wrong with the columns: those that are missing, and those there twice."""
    twins = twin_columns(part.header, part.columns)
    yield from (Fault(f"{part.place}{said}", path) for said in twins)
    plain = [*map(plain_name, part.header)]
    lost = [n for n, column in given.items() if plain_name(column) not in plain]
    needed = [name for name in ("id", "text") if name not in {*part.columns, *lost}]
    if not lost and not needed:
        return
    names = [name for name in part.header if name.strip()]
    if any(is_number(name) or len(name) > _LONGEST_NAME for name in names):
        there = "Its first row has no names of columns, but what looks like a note: add a header"
    else:
        there = f"There are: {', '.join(map(shown, names)) or 'none'}"
    for name in lost:
        hint = did_you_mean(given[name], names)
        yield Fault(f"{part.place}no column {given[name]!r} for {name}{hint} {there}", path)
    if needed:
        wanted = " and for ".join(f"{n} ({', '.join(NOTE_COLUMNS[n][:6])}, ...)" for n in needed)
        example = ",".join(f"{name}=COLUMN" for name in needed)
        message = f"{part.place}there is no column for {wanted}. {there}"
        advice = Advice("Say which: {}", (Setting("columns", example),))
        yield Fault(message, path, advice=advice)


def _header(path: Path, form: CsvForm) -> list[str]:
    try:
        return next(_rows(path, form, strict=False), (0, []))[1]
    except InputError:
        return []


def _rows(path: Path, form: CsvForm, *, strict: bool = True) -> Iterator[tuple[int, list[str]]]:
    """Yield the header and all rows below it, with the numbers people see."""
    # Bytes that are no UTF-8 become half surrogate pairs, by which their rows are known.
    with path.open(encoding=form.encoding, errors="surrogateescape", newline="") as stream:
        try:
            yield from islice(form.rows(stream, path, strict=strict), form.above, None)
        except UnicodeDecodeError:
            raise InputError([Fault(f"not {form.encoding}", path)]) from None


def _sheets(path: Path, how: ReadOptions) -> list[_Part]:
    """Return the sheets that have a column of texts, or all: the sheet is the case of its notes."""
    sheets, _ = read_sheets(path, how.limits)
    is_known = _is_known(how)
    parts = []
    for sheet in sheets:
        top = find_header([row for _, row in sheet.rows], is_known)
        header = [cell.strip() for cell in sheet.rows[top][1]] if sheet.rows else []
        rows, columns = sheet.rows[top + 1 :], find_note_columns(header, how.columns)
        if len(sheets) > 1 and "case" not in columns:
            rows = [(number, [*row, sheet.title.strip()]) for number, row in rows]
            header, columns = [*header, "sheet"], {**columns, "case": len(header)}
        parts.append(_Part(f"sheet {sheet.title!r}: ", header, columns, lambda rows=rows: rows))  # type: ignore[misc]
    if not parts:
        raise InputError([Fault("the workbook holds no visible sheet with a table", path)])
    return [part for part in parts if "text" in part.columns] or parts[:1]


def _names(parts: Sequence[_Part]) -> Iterator[tuple[str, str]]:
    """Yield ids with cases where one id may stand for several notes."""
    for part in parts:
        place, case = part.columns["id"], part.columns.get("case")
        if case is not None and plain_name(part.header[place]) not in _OF_NOTES:
            for _, row in part.rows():
                if len(row) > max(place, case):
                    yield row[place], row[case]


def _others(part: _Part) -> Mapping[int, str]:
    """Return the columns that are metadata, each with its name."""
    renamed = {i: name for name, i in part.columns.items() if name not in NOTE_COLUMNS}
    own = {part.columns[name] for name in NOTE_COLUMNS if name in part.columns}
    return {i: renamed.get(i, name) for i, name in enumerate(part.header) if i not in own and name}


def _notes(parts: Sequence[_Part], alone: bool) -> Iterator[Note | Unreadable]:
    for part in parts:
        others = _others(part)
        if not alone:
            others = {**others, part.columns["id"]: part.header[part.columns["id"]]}
        for number, row in part.rows():
            if any(row):
                yield _note(part, others, number, row, alone)


def _places(parts: Sequence[_Part]) -> Iterator[str]:
    """Yield the row of each note, in words."""
    for part in parts:
        for number, row in part.rows():
            if any(row):
                yield f"{part.place}row {number}"


def _note(
    part: _Part, others: Mapping[int, str], number: int, row: Sequence[str], alone: bool
) -> Note | Unreadable:
    columns, size = part.columns, len(part.header)
    # Excel leaves out, or adds, empty cells at the end of a row.
    if any(row[size:]) or len(row) <= max(
        columns[name] for name in NOTE_COLUMNS if name in columns
    ):
        other = "more" if any(row[size:]) else "fewer"
        reason = f"the row has {other} fields than the header: {len(row)}, not {size}"
        return Unreadable(f"{part.place}row {number}", "", reason)
    row = [*row[:size], *[""] * (size - len(row))]
    text, case = row[columns["text"]], row[columns["case"]] if "case" in columns else ""
    for name in ("id", "case"):
        if name in columns and not is_id(row[columns[name]]):
            what = f"column {part.header[columns[name]]!r} {NO_ID}"
            return Unreadable(f"{part.place}row {number}", "", what)
    identifier = note_id(row[columns["id"]].strip(), case.strip(), alone)
    if any(map(has_lone_surrogate, row)):
        return Unreadable(
            writable(identifier), "" if has_lone_surrogate(case) else case, "the row is not UTF-8"
        )
    if not identifier:
        cell = row[columns["id"]]
        empty = f"column {part.header[columns['id']]!r} is empty"
        what = cell.why if isinstance(cell, Odd) else empty
        return Unreadable(f"{part.place}row {number}", case, what)
    if isinstance(text, Odd) and not text:
        return Unreadable(identifier, case, text.why)
    metadata = Metadata({name: str(row[i]) for i, name in others.items()})
    return Note(identifier, case.strip(), str(text), metadata)


def read_table_of_notes(path: Path, how: ReadOptions = USUAL_OPTIONS) -> Corpus:
    """Read a whole table; there are no offsets, so ``strict`` changes nothing."""
    return stream_table(path, how).corpus(path, how.progress)


TABLE = Format(
    name="table",
    summary="a CSV, TSV or Excel table with one note per row (id, case, text, more); read only",
    looks_like=looks_like_table,
    read=read_table_of_notes,
    stream=stream_table,
)

_ENDINGS = {".txt", ".docx"}
#: What systems and Word put beside people's files.
_NOT_OURS = ("~$", ".", "Thumbs.db", "desktop.ini", "__MACOSX")
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
#: What was struck out or moved away, and what stands there for older programs.
_NOT_SHOWN = (
    f"{_WORD}del", f"{_WORD}moveFrom",
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",
)  # fmt: skip


def _files(path: Path) -> list[Path]:
    """Return the files of a folder and, where a subfolder is a case, those of its subfolders."""
    own = sorted(p for p in path.iterdir() if not p.name.startswith(_NOT_OURS))
    return [f for p in own for f in (sorted(p.iterdir()) if p.is_dir() else [p])
            if not f.name.startswith(_NOT_OURS)]  # fmt: skip


def _is_note(file: Path) -> bool:
    return file.suffix.lower() in _ENDINGS and not file.is_dir()


def looks_like_texts(path: Path) -> bool:
    """Tell whether a path is a folder that holds nothing but texts, or subfolders of them."""
    files = _files(path) if path.is_dir() else []
    return bool(files) and all(map(_is_note, files))


def holds_texts(path: Path) -> bool:
    """Tell whether a path is a folder with a text among its files."""
    return path.is_dir() and any(map(_is_note, _files(path)))


def stream_texts(path: Path, how: ReadOptions = USUAL_OPTIONS) -> NoteStream:
    """Open a folder of texts; notes come in the order of their cases' and files' names."""
    if not path.is_dir():
        raise InputError([Fault("need a folder of .txt or .docx files", path)])
    found = _files(path)
    files = [file for file in found if _is_note(file)]
    left_out = sorted({file.name for file in found if not _is_note(file)})
    alone = own_ids((file.stem, file.parent.name) for file in files)
    endings = " and ".join(sorted({file.suffix.lower() for file in files}))
    said = f"the id is the name of the {endings} file"
    said += "" if all(file.parent == path for file in files) else ", the case that of its folder"
    said += "" if alone else "; ids are joined with the case, as some occur in several"
    if left_out:
        said += f"; left out: {len(left_out)} of other kinds ({listed(left_out, 3)})"
    notes = lambda: (_text_note(file, path, alone, how.limits) for file in files)  # noqa: E731
    return NoteStream((), _telling(notes, said, how))


def _text_note(file: Path, folder: Path, alone: bool, limits: ReadLimits) -> Note | Unreadable:
    # A name that is not UTF-8 could be written nowhere.
    case = "" if file.parent == folder else file.parent.name
    case, stem = writable(case), writable(file.stem)
    name = note_id(stem, case, alone)
    if stem != file.stem:
        return Unreadable(name, case, "its file's name is not UTF-8")
    if leads_out(file, folder):
        return Unreadable(name, case, "the file is a link that leads out of the folder")
    try:
        raw = read_whole(file, limits)
        text = docx_text(raw, file, limits) if file.suffix.lower() == ".docx" else decode_text(raw)
        return Note(name, case, text)
    except UnicodeDecodeError:
        return Unreadable(name, case, "the file is not UTF-8, nor of an encoding Windows writes")
    except InputError as error:
        return Unreadable(name, case, f"the file {error.faults[0].message}")


def docx_text(raw: bytes, path: Path, limits: ReadLimits = USUAL_LIMITS) -> str:
    """Return the text of a Word file: a line per paragraph, without what was struck out."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            check_archive(archive, path, limits)
            content = archive.read("word/document.xml")
        if unsafe := unsafe_xml(content):
            raise InputError([Fault(unsafe, path)])
        root = ElementTree.fromstring(content)
        for parent in root.iter():
            for child in [one for one in parent if one.tag in _NOT_SHOWN]:
                parent.remove(child)
        lines = ["".join(_words(paragraph)) for paragraph in root.iter(f"{_WORD}p")]
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ElementTree.ParseError,
            NotImplementedError, RuntimeError, OSError):  # fmt: skip
        message = (
            "is no Word file (.docx); open it in Word and save it as .docx, without a password"
        )
        raise InputError([Fault(message, path)]) from None
    return "\n".join(lines)


def _words(element: ElementTree.Element) -> Iterator[str]:
    """Yield the words of a paragraph; boxes in it have paragraphs of their own."""
    for child in element:
        if child.tag == f"{_WORD}t":
            yield child.text or ""
        elif child.tag == f"{_WORD}tab":
            yield "\t"
        elif child.tag in (f"{_WORD}br", f"{_WORD}cr"):
            yield "\n"
        elif child.tag == f"{_WORD}noBreakHyphen":
            yield "-"
        elif child.tag not in (f"{_WORD}p", f"{_WORD}pPr"):
            yield from _words(child)


def read_texts(path: Path, how: ReadOptions = USUAL_OPTIONS) -> Corpus:
    """Read all texts of a folder; there are no offsets, so ``strict`` changes nothing."""
    return stream_texts(path, how).corpus(path, how.progress)


TEXTS = Format(
    name="texts",
    summary="a folder of .txt or .docx files, one note per file, subfolders are cases; read only",
    looks_like=looks_like_texts,
    read=read_texts,
    stream=stream_texts,
)


def _telling(
    read: Callable[[], Iterable[Note | Unreadable]], words: str, how: ReadOptions
) -> Callable[[], Iterator[Note | Unreadable]]:
    """Return a reader that gives all notes the case asked for, and says once what it read."""
    said = False

    def again() -> Iterator[Note | Unreadable]:
        nonlocal said
        n_notes, n_without, cases, others = 0, 0, set(), set()
        for note in read():
            n_notes += 1
            n_without += not (how.case or note.case)
            cases |= {how.case or note.case} - {""}
            others |= {note.case} - {"", how.case}
            yield replace(note, case=how.case) if how.case else note
        if how.tell is not None and not said:
            said = True
            without = f", {n_without:,} of them without a case" if cases and n_without else ""
            how.tell(f"{counted_notes(n_notes, cases)}{without}; {words}")
            if how.case and others:
                how.tell(f"the given case replaces those that the notes have: {_named(others)}")

    return again


def counted_notes(n_notes: int, cases: Collection[str]) -> str:
    """Return the number of notes in words, with their case or the number of cases.

    >>> counted_notes(2, {"chest pain"}), counted_notes(1, set())
    ("2 notes of case 'chest pain'", '1 note')
    """
    notes = counted(n_notes, "note")
    return f"{notes} of {_named(cases)}" if cases else notes


def _named(cases: Collection[str]) -> str:
    return f"{len(cases)} cases" if len(cases) > 1 else f"case {next(iter(cases))!r}"
