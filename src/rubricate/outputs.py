"""Rules for outputs: they replace only earlier outputs of the same kind, and never an input.

`rubricate.files.whole_output` asks here before anything is replaced, and so does whatever writes
into a folder that stays. Those that read and write name what they read.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from rubricate.errors import ArgumentError, OutputExistsError, listed

#: Gets one line about each output that is replaced; the commands print it.
log = logging.getLogger("rubricate.outputs")
#: Files that systems and tools leave in folders, which nobody misses.
_LEFT_BY_SYSTEMS = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", ".stats_cache"})
#: How many files that are not ours a message names.
_NAMED = 3


def refuse_inputs(
    output: Path, inputs: Iterable[str | Path], *, above: bool = True, inside: bool = True
) -> None:
    """Refuse an output that is, holds or lies above something that is read.

    Links, hard links and names that the file system takes for the same are seen through. A folder
    that is not replaced, but gets more files, may lie ``above`` an input. Without ``inside`` the
    output may not lie in an input.

    >>> import tempfile
    >>> notes = Path(tempfile.mkdtemp()) / "notes.csv"
    >>> _ = notes.write_text("id,text", encoding="utf-8")
    >>> try:
    ...     refuse_inputs(notes.parent, [notes])
    ... except ArgumentError:
    ...     print("refused")
    refused
    """
    for source in map(Path, inputs):
        if not os.path.lexists(source):
            continue
        what = _touches(output, source) if os.path.lexists(output) else ""
        if what == "is" or (what and above):
            raise ArgumentError(f"{output}: it {what} {source}, which is read; choose another")
        if not inside and source.is_dir() and source.resolve() in output.resolve().parents:
            raise ArgumentError(f"{output}: it would lie inside {source}; choose another")


def _touches(output: Path, source: Path) -> str:
    for start in {source.resolve(), source.absolute()}:
        for place in (start, *start.parents):
            with suppress(OSError):
                if place.samefile(output):
                    return "is" if place == start else "holds"
    if source.is_dir() and output.is_dir() and any(_links_into(source, output.resolve())):
        return "holds files of"
    return ""


def _links_into(source: Path, output: Path) -> Iterator[bool]:
    """Yield for each link in a folder of notes whether it leads into the output."""
    for folder, names, files in os.walk(source):
        for name in (*names, *files):
            path = Path(folder, name)
            if path.is_symlink():
                yield output in path.resolve().parents


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of output, and how an earlier one of it is known.

    ``fault`` returns what tells that a file or folder is not one; nothing where it is.
    """

    name: str
    fault: Callable[[Path], str]


def is_empty(path: Path) -> bool:
    """Tell whether a file or folder holds nothing that could be lost."""
    if path.is_dir():
        return not any(path.iterdir())
    return path.is_file() and not path.stat().st_size


def check_output(
    output: Path, kind: Kind | None, *, overwrite: bool, inputs: Iterable[str | Path] = ()
) -> None:
    """Refuse, before any work, an output that touches an input or may not be replaced.

    OutputExistsError where something is there and ``overwrite`` was not asked for, ArgumentError
    where it is something else than an earlier output of this kind.
    """
    refuse_inputs(output, inputs)
    if not os.path.lexists(output):
        return
    if not overwrite:
        raise OutputExistsError(output)
    if is_empty(output):
        return
    name = "an earlier output" if kind is None else kind.name
    fault = "nothing tells what it is" if kind is None else _fault(output, kind)
    if fault:
        raise ArgumentError(
            f"{output} is not replaced: it is not known as {name} ({fault}). Delete or move it "
            "yourself, or choose another"
        )


def _fault(output: Path, kind: Kind) -> str:
    try:
        return kind.fault(output)
    except (OSError, ValueError, RecursionError):
        return "it cannot be read"


def tell_replaced(output: Path, kind: Kind | None) -> None:
    """Say which output is replaced, if any is there."""
    if kind is None or not os.path.lexists(output):
        return
    if output.is_dir():
        n_files = sum(len(files) for _, _, files in os.walk(output))
        log.info("replaced %s (%s, %s files)", output, kind.name, f"{n_files:,}")
    else:
        log.info("replaced %s (%s)", output, kind.name)


def foreign_files(folder: Path, own: Callable[[str], bool]) -> str:
    """Return the foreign files of a folder in words for a message; an empty text if none.

    ``own`` is asked with the path of each file from the folder.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "thesis.docx").touch()
    >>> foreign_files(folder, lambda name: name.endswith(".ann"))
    'it also holds thesis.docx'
    """
    found = [
        name
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or not path.is_dir()
        for name in (path.relative_to(folder).as_posix(),)
        if path.is_symlink() or not (path.name in _LEFT_BY_SYSTEMS or own(name))
    ]
    return f"it also holds {listed(found, _NAMED)}" if found else ""


def folder_kind(name: str, marker: str, patterns: Iterable[str]) -> Kind:
    """Return the kind of a folder that has a certain file, and otherwise only some patterns."""
    known = (marker, *patterns)

    def fault(path: Path) -> str:
        if not (path / marker).is_file():
            return f"there is no {marker}"
        return foreign_files(path, lambda one: any(fnmatchcase(one, own) for own in known))

    return Kind(name, fault)


def file_kind(name: str, *starts: bytes, within: int = 2_000) -> Kind:
    """Return the kind of a file in whose first bytes one of these is found."""

    def fault(path: Path) -> str:
        if not path.is_file():
            return "it is no file"
        with path.open("rb") as stream:
            head = stream.read(within)
        return "" if any(one in head for one in starts) else "it begins otherwise"

    return Kind(name, fault)


def table_kind(name: str, header: Iterable[str]) -> Kind:
    """Return the kind of a table in CSV with these first columns."""
    return file_kind(name, ",".join(header).encode(), within=100_000)


#: Pages that this package wrote say so.
PAGE = file_kind("a page", b'<meta name="generator" content="rubricate">')
DRAWING = file_kind("a drawing", b"<svg")
