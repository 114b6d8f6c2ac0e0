"""UIMA CAS files for INCEpTION, as XMI or JSON 0.4.0, through dkpro-cassis.

Written: a folder with ``TypeSystem.xml`` (import it as a layer), a folder for each note with a
file for each annotator, and the frame. The layer ``webanno.custom.Feature`` holds the label in
``feature``; fragments of one annotation share a ``group``, because INCEpTION has no spans in
several pieces. Sentences and tokens are simple ones: INCEpTION wants some. A note nobody judged has
``INITIAL_CAS`` alone, as in INCEpTION's own exports. XMI cannot hold most control characters (a
form feed, say); JSON can.

Read: such folders, INCEpTION's project exports (``annotation/NOTE/USER.zip`` and
``curation/NOTE/CURATION_USER.zip``, or ``.xmi`` or ``.json`` in their place), folders of CAS files
of one annotator, and single files. Without our layer, every custom layer and ``NamedEntity`` are
read: the label is a string feature (``label``, ``value``, ... or the first), other string features
become attributes; relations are not read.

Offsets are UTF-16 units. Cassis converts them, and goes on with a warning where it cannot: here
that is a fault.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from rubricate.corpus import Corpus
from rubricate.errors import InputError
from rubricate.formats.cas.read import read_cas_file
from rubricate.formats.cas.write import INITIAL, write_cas, write_cas_json
from rubricate.formats.encoding import parse_json
from rubricate.formats.format import HELD_BY_TOOLS, Format
from rubricate.formats.frame import FRAME_NAME, name_to_id, read_frame
from rubricate.formats.limits import Faults, read_text
from rubricate.formats.marked_texts import MarkedText, build_corpus
from rubricate.progress import Progress, silent, watched

_SUFFIXES = {".xmi", ".json", ".zip"}
#: The folders of a project export that hold CAS files; the others hold sources, logs and the like.
_EXPORTED = ("annotation", "curation")
#: How many files of a folder are looked at to find its format.
_LOOK = 40


def looks_like_cas(path: Path) -> bool:
    """Tell whether it is a CAS file in XML or an archive, or a folder of them."""
    return _first_suffix(path) in {".xmi", ".zip"}


def looks_like_cas_json(path: Path) -> bool:
    """Tell whether it is a CAS file in JSON, or a folder of them."""
    return _first_suffix(path) == ".json"


def _first_suffix(path: Path) -> str | None:
    """Return the suffix of the first CAS file there is."""
    files = islice(_candidates(path), _LOOK) if path.is_dir() else [path]
    found = (f.suffix for f in files if f.is_file() and f.suffix in _SUFFIXES and _is_cas(f))
    return next(found, None)


def _is_cas(path: Path) -> bool:
    if path.suffix == ".zip":
        try:
            with zipfile.ZipFile(path) as archive:
                return any(name.endswith(".xmi") for name in archive.namelist())
        except (zipfile.BadZipFile, OSError):
            return False
    with path.open("rb") as stream:
        head = stream.read(1 << 14)
    if path.suffix == ".xmi":
        return b"http://www.omg.org/XMI" in head
    return any(key in head for key in (b'"%TYPES"', b'"%FEATURE_STRUCTURES"', b'"%VIEWS"'))


def _is_other(path: Path) -> bool:
    """Tell whether it is sound JSON that is no CAS: other tools' settings lie about, too."""
    try:
        return not _is_cas(path) and parse_json(read_text(path)) is not None
    except (InputError, ValueError):
        return False


def _exported(path: Path) -> list[Path]:
    return [path / name for name in _EXPORTED]


def _candidates(path: Path) -> Iterator[Path]:
    """Yield the files that may be CAS files, at most two folders deep."""
    roots = _exported(path)
    if not any(any(p.is_dir() for p in root.glob("*")) for root in roots):
        roots = [path]
    for root in roots:
        for pattern in ("*", "*/*"):
            for file in sorted(root.glob(pattern)):
                is_frame = file == path / FRAME_NAME
                if file.suffix in _SUFFIXES and not is_frame and file.is_file():
                    yield file


def read_cas(path: Path, *, strict: bool = True, progress: Progress = silent) -> Corpus:
    """Read a folder of CAS files, or one file."""
    faults, frame = Faults(path), read_frame(path, is_folder=path.is_dir())
    found = watched(_marked(path, faults, strict=strict), progress, "reading files")
    need = "CAS files (.xmi, .json or .zip)"
    return build_corpus(found, frame, faults, need=need, strict=strict)


def _marked(path: Path, faults: Faults, *, strict: bool) -> Iterator[MarkedText]:
    """Read each file and say whose note it is: by its folder, its title or its name."""
    for file in [path] if path.is_file() else _candidates(path):
        if file.suffix == ".json" and file.parent in {path, *_exported(path)} and _is_other(file):
            continue
        if faults.refuses_link(file):
            continue
        read = read_cas_file(file, faults, strict=strict)
        if read is None:
            continue
        annotator: str | None = "annotator"
        if path.is_file():
            note_id = read.title or name_to_id(file.stem)
        elif file.parent == path:
            note_id = name_to_id(file.stem)
        else:
            note_id = name_to_id(file.parent.name)
            annotator = None if file.stem == INITIAL else name_to_id(file.stem)
        yield MarkedText(note_id, read.text, annotator, read.annotations, path=file)
    # A fault of what several files share, such as their type system, is one fault.
    faults.found = list(dict.fromkeys(faults.found))


FORMAT = Format(
    name="cas",
    summary="UIMA CAS XMI for INCEpTION, with its type system; CAS JSON is read, too",
    looks_like=looks_like_cas,
    read=read_cas,
    write=write_cas,
    holds=HELD_BY_TOOLS,
)

CAS_JSON = Format(
    name="cas-json",
    summary="UIMA CAS JSON 0.4.0 for INCEpTION, with its type system",
    looks_like=looks_like_cas_json,
    read=read_cas,
    write=write_cas_json,
    holds=HELD_BY_TOOLS,
)
