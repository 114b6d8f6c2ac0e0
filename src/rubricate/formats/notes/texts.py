"""Folders of text files: one note per ``.txt`` file, named after it, without a case."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError
from rubricate.formats.faults import leads_out
from rubricate.formats.format import Format, NoteStream, Unreadable
from rubricate.formats.limits import read_whole
from rubricate.progress import Progress, silent


def looks_like_texts(path: Path) -> bool:
    """Tell whether a path is a folder that holds nothing but ``.txt`` files."""
    if not path.is_dir():
        return False
    files = [p for p in path.iterdir() if not p.name.startswith(".")]
    return bool(files) and all(p.is_file() and p.suffix == ".txt" for p in files)


def stream_texts(path: Path) -> NoteStream:
    """Open a folder of text files; notes come in the order of the files' names."""
    if not path.is_dir():
        raise InputError([Fault("need a folder of .txt files", path)])
    return NoteStream((), lambda: _notes(path))


def _notes(path: Path) -> Iterator[Note | Unreadable]:
    for file in sorted(p for p in path.iterdir() if p.suffix == ".txt"):
        # A name that is not UTF-8 could be written nowhere.
        name = file.stem.encode("utf-8", "backslashreplace").decode()
        if name != file.stem:
            yield Unreadable(name, "", "its file's name is not UTF-8")
            continue
        if leads_out(file, path):
            yield Unreadable(name, "", "the file is a link that leads out of the folder")
            continue
        try:
            yield Note(name, "", read_whole(file).decode())
        except UnicodeDecodeError:
            yield Unreadable(name, "", "the file is not UTF-8")
        except InputError as error:
            yield Unreadable(name, "", f"the file {error.faults[0].message}")


def read_texts(path: Path, *, strict: bool = True, progress: Progress = silent) -> Corpus:
    """Read all text files of a folder; there are no offsets, so ``strict`` changes nothing."""
    return stream_texts(path).corpus(path, progress)


FORMAT = Format(
    name="texts",
    summary="a folder of .txt files, one note per file; read only",
    looks_like=looks_like_texts,
    read=read_texts,
    stream=stream_texts,
)
