"""Folders of texts: one note per ``.txt`` or ``.docx`` file; subfolders are cases."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ElementTree
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from rubricate.columns import note_id, own_ids
from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError
from rubricate.formats.faults import leads_out
from rubricate.formats.format import Format, NoteStream, Unreadable
from rubricate.formats.limits import check_archive, read_whole, unsafe_xml
from rubricate.formats.notes import telling
from rubricate.formats.spreadsheets import decode_text
from rubricate.progress import Progress, silent

_ENDINGS = {".txt", ".docx"}
#: What systems and Word put beside people's files.
_NOT_OURS = ("~$", ".", "Thumbs.db", "desktop.ini", "__MACOSX")
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
#: What was struck out or moved away, and what stands there for older programs.
_NOT_SHOWN = (
    f"{_WORD}del", f"{_WORD}moveFrom",
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",
)  # fmt: skip


def _listed(path: Path) -> list[Path]:
    """Return the files of a folder and, where a subfolder is a case, those of its subfolders."""
    own = sorted(p for p in path.iterdir() if not p.name.startswith(_NOT_OURS))
    return [f for p in own for f in (sorted(p.iterdir()) if p.is_dir() else [p])
            if not f.name.startswith(_NOT_OURS)]  # fmt: skip


def _is_note(file: Path) -> bool:
    return file.suffix.lower() in _ENDINGS and not file.is_dir()


def looks_like_texts(path: Path) -> bool:
    """Tell whether a path is a folder that holds nothing but texts, or subfolders of them."""
    files = _listed(path) if path.is_dir() else []
    return bool(files) and all(map(_is_note, files))


def holds_texts(path: Path) -> bool:
    """Tell whether a path is a folder with a text among its files."""
    return path.is_dir() and any(map(_is_note, _listed(path)))


def stream_texts(path: Path) -> NoteStream:
    """Open a folder of texts; notes come in the order of their cases' and files' names."""
    if not path.is_dir():
        raise InputError([Fault("need a folder of .txt or .docx files", path)])
    listed = _listed(path)
    files = [file for file in listed if _is_note(file)]
    left_out = sorted({file.name for file in listed if not _is_note(file)})
    alone = own_ids((file.stem, file.parent.name) for file in files)
    endings = " and ".join(sorted({file.suffix.lower() for file in files}))
    said = f"the id is the name of the {endings} file"
    said += "" if all(file.parent == path for file in files) else ", the case that of its folder"
    said += "" if alone else "; ids are joined with the case, as some occur in several"
    if left_out:
        some = ", ".join(left_out[:3]) + (", ..." if len(left_out) > 3 else "")
        said += f"; left out: {len(left_out)} of other kinds ({some})"
    return NoteStream((), telling(lambda: (_note(file, path, alone) for file in files), said))


def _note(file: Path, folder: Path, alone: bool) -> Note | Unreadable:
    # A name that is not UTF-8 could be written nowhere.
    case = "" if file.parent == folder else file.parent.name
    case, stem = (name.encode("utf-8", "backslashreplace").decode() for name in (case, file.stem))
    name = note_id(stem, case, alone)
    if stem != file.stem:
        return Unreadable(name, case, "its file's name is not UTF-8")
    if leads_out(file, folder):
        return Unreadable(name, case, "the file is a link that leads out of the folder")
    try:
        raw = read_whole(file)
        text = docx_text(raw, file) if file.suffix.lower() == ".docx" else decode_text(raw)
        return Note(name, case, text)
    except UnicodeDecodeError:
        return Unreadable(name, case, "the file is not UTF-8, nor of an encoding Windows writes")
    except InputError as error:
        return Unreadable(name, case, f"the file {error.faults[0].message}")


def docx_text(raw: bytes, path: Path) -> str:
    """Return the text of a Word file: a line per paragraph, without what was struck out."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            check_archive(archive, path)
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


def read_texts(path: Path, *, strict: bool = True, progress: Progress = silent) -> Corpus:
    """Read all texts of a folder; there are no offsets, so ``strict`` changes nothing."""
    return stream_texts(path).corpus(path, progress)


FORMAT = Format(
    name="texts",
    summary="a folder of .txt or .docx files, one note per file, subfolders are cases; read only",
    looks_like=looks_like_texts,
    read=read_texts,
    stream=stream_texts,
)
