"""BRAT standoff: a folder of NAME.txt and NAME.ann with annotation.conf beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from rubricate.builder import CorpusBuilder
from rubricate.corpus import Annotator, Corpus
from rubricate.errors import InputError
from rubricate.formats.brat.ann import parse_ann
from rubricate.formats.brat.write import ANNOTATION_CONF, VISUAL_CONF, write_brat
from rubricate.formats.encoded_names import name_to_id
from rubricate.formats.faults import Faults
from rubricate.formats.format import Format
from rubricate.formats.frame import Frame, read_frame
from rubricate.formats.losses import HELD_BY_TOOLS
from rubricate.progress import Progress, silent, watched
from rubricate.rows import PlainAnnotation
from rubricate.rubric import Feature

_FIRST_BYTES = b"TREAMN#*"


def looks_like_brat(path: Path) -> bool:
    """Tell whether the folder, or a sub-folder, holds annotation.conf or .ann files of BRAT."""
    if not path.is_dir():
        return False
    try:
        if (path / ANNOTATION_CONF).is_file():
            return True
        candidates = chain(path.glob("*.ann"), path.glob("*/*.ann"))
        found = next((place for place in candidates if not place.name.startswith(".")), None)
        if found is None:
            return False
        with found.open("rb") as stream:
            first = stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
        # An empty .ann is BRAT's way to say "nothing found", if there is a text with it.
        return first in _FIRST_BYTES if first else found.with_suffix(".txt").is_file()
    except OSError:
        return False


@dataclass
class _Folder:
    """What lies where: texts by note, .ann files by annotator and note."""

    texts: dict[str, str] = field(default_factory=dict)
    text_paths: dict[str, Path] = field(default_factory=dict)
    ann_paths: dict[tuple[str, str], Path] = field(default_factory=dict)


def read_brat(path: Path, *, strict: bool = True, progress: Progress = silent) -> Corpus:
    """Read a BRAT folder; see `rubricate.formats.brat.ann.parse_ann` for what becomes of a line.

    A sub-folder's files are those of the annotator of that name; files in the folder itself are
    those of the only annotator. A .txt without .ann was judged by nobody, an empty .ann means
    that nothing was found. Without the frame file, the labels of annotation.conf are the
    features, worded as in visual.conf, and all notes belong to one case. Offsets are code
    points of the .txt exactly as stored. The text of a T line that differs from the note is
    kept as the annotation's stated text.

    >>> import tempfile
    >>> from rubricate import CorpusBuilder, Feature, Note
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n 1", "c", "no fever"))
    >>> builder.add_feature(Feature("7", "c", "No fever"))
    >>> builder.annotate("a", "n 1", "7", [(0, 8)])
    >>> folder = Path(tempfile.mkdtemp()) / "out"
    >>> write_brat(builder.build(), folder)
    >>> read_brat(folder) == builder.build()
    True
    """
    faults = Faults(path)
    if not path.is_dir():
        raise InputError(f"{path}: a BRAT corpus is a folder of .txt and .ann files")
    frame = read_frame(path, is_folder=True)
    folder = _look(path, frame, faults, progress)
    builder = frame.builder()
    configured = list(_configured_features(path, frame, faults))
    n_files = len(folder.text_paths) + len(folder.ann_paths)
    frame.check_notes(n_files, faults, need=".txt and .ann files")
    for feature in () if frame.exists else configured:
        builder.add_feature(feature)
    # A type that somebody added to annotation.conf is meant; any other new label is a slip.
    frame = frame.with_labels(feature.id for feature in configured)
    frame.add_notes(builder, folder.texts)
    judged = []
    n_files = len(folder.ann_paths)
    for (annotator_id, note_id), place in watched(
        folder.ann_paths.items(), progress, "reading annotations", n_files
    ):
        if note_id not in folder.texts:
            if note_id not in folder.text_paths:
                faults.add(f"there is no {place.stem}.txt for it", path=place)
            continue
        if annotator_id not in builder.annotators:
            builder.add_annotator(Annotator(annotator_id))
        _read_ann(builder, frame, (annotator_id, note_id, place), faults, strict=strict)
        judged.append((annotator_id, note_id))
    faults.raise_any()
    return frame.finish(builder, judged)


def _look(path: Path, frame: Frame, faults: Faults, progress: Progress) -> _Folder:
    """Find all texts and annotation files, and read the texts."""
    folder, whose = _Folder(), frame.only_annotator
    for place in watched(_visible_files(path), progress, "reading texts"):
        note_id = name_to_id(place.stem)
        parts = place.relative_to(path).parent.parts
        annotator_id = "/".join(name_to_id(part) for part in parts) if parts else whose
        if place.suffix == ".txt":
            _add_text(folder, note_id, place, faults)
        elif (annotator_id, note_id) in folder.ann_paths:
            faults.add(f"note {note_id!r} has two .ann files here", path=place)
        else:
            folder.ann_paths[annotator_id, note_id] = place
    return folder


def _visible_files(path: Path) -> Iterator[Path]:
    for place in sorted(path.rglob("*")):
        hidden = any(part.startswith(".") for part in place.relative_to(path).parts)
        if place.suffix in {".txt", ".ann"} and not hidden and place.is_file():
            yield place


def _add_text(folder: _Folder, note_id: str, place: Path, faults: Faults) -> None:
    first = folder.text_paths.setdefault(note_id, place)
    text = _text_or_fault(place, faults)
    if text is None:
        return
    if folder.texts.setdefault(note_id, text) != text:
        faults.add(
            f"its text differs from that of {first}; a note must have the same text in the "
            "folder of every annotator",
            path=place,
        )
    elif first.parent == place.parent and first != place:
        faults.add(f"note {note_id!r} has two .txt files here", path=place)


def _text_or_fault(place: Path, faults: Faults) -> str | None:
    text = faults.text_of(place)
    if text is None:
        return None
    # BRAT counts a byte order mark as the first character.
    with place.open("rb") as stream:
        return "\ufeff" + text if stream.read(3) == b"\xef\xbb\xbf" else text


def _read_ann(
    builder: CorpusBuilder,
    frame: Frame,
    where: tuple[str, str, Path],
    faults: Faults,
    *,
    strict: bool,
) -> None:
    annotator_id, note_id, place = where
    note = builder.notes[note_id]
    own = Faults(place)
    content = faults.text_of(place) or ""
    for annotation in parse_ann(content, note.text, own):
        if strict:
            for start, end in annotation.spans:
                own.check_span(start, end, len(note.text), note_id, annotation.line)
        frame.check_label(annotation.label, own, line=annotation.line)
        plain = PlainAnnotation(annotation.spans, annotation.confidence, annotation.detail)
        frame.annotate(builder, annotator_id, note_id, annotation.label, plain)
    faults.found.extend(own.found)


def _configured_features(path: Path, frame: Frame, faults: Faults) -> Iterator[Feature]:
    """Yield the types of annotation.conf, worded as visual.conf says."""
    wording = {}
    for line in _section(path / VISUAL_CONF, {"labels"}, faults):
        label, *shown = (part.strip() for part in line.split("|"))
        if shown and shown[0]:
            wording[label] = shown[0]
    seen = set()
    for line in _section(path / ANNOTATION_CONF, {"entities", "events"}, faults):
        label = line.split()[0].split("|")[0]
        # "!" marks types that only order others; "<" begins macros and options.
        if label and label[0] not in "!<" and label not in seen:
            seen.add(label)
            text = wording.get(label, label.replace("_", " "))
            yield Feature(label, frame.default_case, text)


def _section(place: Path, names: set[str], faults: Faults) -> Iterator[str]:
    """Yield the lines of some sections of a configuration file."""
    text = _text_or_fault(place, faults) if place.is_file() else None
    section = ""
    for line in (text or "").lstrip("\ufeff").splitlines():
        line = line.strip()
        header = re.fullmatch(r"\[(.*)\]", line)
        if header:
            section = header[1]
        elif section in names and line.strip("-") and not line.startswith("#"):
            yield line


FORMAT = Format(
    name="brat",
    summary="BRAT standoff, a folder of .txt and .ann files with annotation.conf",
    looks_like=looks_like_brat,
    read=read_brat,
    write=write_brat,
    holds=HELD_BY_TOOLS,
)
