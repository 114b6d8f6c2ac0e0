"""BRAT standoff: a folder of NAME.txt and NAME.ann with annotation.conf beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from urllib.parse import quote

from rubricate.corpus import Corpus
from rubricate.errors import InputError
from rubricate.formats.brat.ann import (
    CONFIDENCE,
    NOTES,
    REASON,
    STATED_TEXT,
    WHOLE_SPANS,
    Pair,
    cut_at_breaks,
    flat,
    line_text,
    parse_ann,
    stated_text,
    to_line,
)
from rubricate.formats.format import HELD_BY_TOOLS, Format
from rubricate.formats.frame import (
    Frame,
    feature_labels,
    id_to_name,
    name_to_id,
    read_frame,
    write_frame,
)
from rubricate.formats.options import USUAL_OPTIONS, ReadOptions
from rubricate.formats.reading import Faults, first_bytes
from rubricate.formats.tool_documents import Labelled, ToolDocument, build_corpus, judged_notes
from rubricate.progress import Progress, silent, watched
from rubricate.rows import PlainAnnotation
from rubricate.rubric import Feature
from rubricate.spans import fragments_text

ANNOTATION_CONF = "annotation.conf"
VISUAL_CONF = "visual.conf"

#: Values of attributes that annotation.conf can list.
_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")


def write_brat(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write the corpus as a folder BRAT serves as it is.

    One annotator's files lie in the folder itself, several annotators' in one sub-folder each,
    every one with all texts. Spans that cross a line break are cut there, as BRAT does; a note
    of type ``WholeSpans`` keeps the spans as they were. Ids become file names by
    percent-encoding.

    >>> import tempfile
    >>> from rubricate import CorpusBuilder, Feature, Note
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "no fever, chills"))
    >>> builder.add_feature(Feature("7", "c", "No chills"))
    >>> builder.annotate("a", "n", "7", [(0, 2), (10, 16)])
    >>> folder = Path(tempfile.mkdtemp()) / "brat"
    >>> write_brat(builder.build(), folder)
    >>> print((folder / "n.ann").read_text(encoding="utf-8"))
    T1 7_No-chills 0 2;10 16 no chills
    """
    labels = feature_labels(corpus)
    path.mkdir()
    (path / ANNOTATION_CONF).write_bytes(_annotation_conf(corpus, labels).encode())
    (path / VISUAL_CONF).write_bytes(_visual_conf(corpus, labels).encode())
    write_frame(corpus, path, is_folder=True)
    alone = len(corpus.annotators) < 2
    folders = [path] if alone else [path / id_to_name(a.id) for a in corpus.annotators]
    for folder in folders:
        folder.mkdir(exist_ok=alone)
    for note, judged in judged_notes(corpus, progress):
        name = id_to_name(note.id)
        for folder in folders:
            (folder / f"{name}.txt").write_bytes(note.text.encode())
        for who, own in judged.items():
            lines = "".join(f"{line}\n" for line in _ann_lines(note.text, own))
            (folders[corpus.annotator_index[who]] / f"{name}.ann").write_bytes(lines.encode())


def _ann_lines(text: str, found: list[Labelled]) -> Iterator[str]:
    """Yield the lines of what one annotator marked in one note."""
    n_attributes = n_notes = 0
    for number, (label, annotation) in enumerate(found, start=1):
        spans = cut_at_breaks(annotation.spans, text)
        stated = annotation.detail.stated_text
        written = line_text(spans, text) if stated is None else flat(stated)
        place = f"T{number}"
        yield f"{place}\t{label} {fragments_text(spans)}\t{written}"
        for name, value in annotation.detail.attributes:
            n_attributes += 1
            shown = "" if value == "true" else f" {to_line(value)}"
            yield f"A{n_attributes}\t{_attribute_name(name)} {place}{shown}"
        for kind, remark in _remarks(annotation, spans, text):
            n_notes += 1
            yield f"#{n_notes}\t{kind} {place}\t{to_line(remark)}"


def _attribute_name(name: str) -> str:
    """Return the name without blanks; `rubricate.formats.frame.name_to_id` undoes it."""
    return quote(name, safe="", errors="surrogatepass") or "%"


def _remarks(annotation: PlainAnnotation, spans: list[Pair], text: str) -> list[tuple[str, str]]:
    """Return the notes of one annotation, as type and text."""
    detail, stated = annotation.detail, annotation.detail.stated_text
    remarks = [(NOTES, detail.comment), (REASON, detail.reason)]
    remarks = [(kind, remark) for kind, remark in remarks if remark]
    if list(annotation.spans) != spans:
        remarks.append((WHOLE_SPANS, fragments_text(annotation.spans)))
    if stated is not None and stated_text(flat(stated), spans, text) != stated:
        remarks.append((STATED_TEXT, stated))
    if annotation.confidence is not None:
        remarks.append((CONFIDENCE, repr(annotation.confidence)))
    return remarks


def _annotation_conf(corpus: Corpus, labels: dict[str, str]) -> str:
    """Return the labels and attributes the annotators may use; overlaps are allowed."""
    values: dict[str, set[str]] = {}
    for detail in corpus.rows.details.values():
        for name, value in detail.attributes:
            values.setdefault(name, set()).add(value)
    attributes = []
    for name in sorted(values):
        plain = sorted(v for v in values[name] - {"true"} if _PLAIN.fullmatch(v))
        if plain:
            attributes.append(f"{_attribute_name(name)}\tArg:<ENTITY>, Value:{'|'.join(plain)}")
        elif values[name] == {"true"}:
            attributes.append(f"{_attribute_name(name)}\tArg:<ENTITY>")
    overlap = "<OVERLAP>\tArg1:<ENTITY>, Arg2:<ENTITY>, <OVL-TYPE>:<ANY>"
    sections = {
        "entities": list(labels.values()),
        "relations": [overlap],
        "events": [],
        "attributes": attributes,
    }
    return "\n".join(f"[{name}]\n" + "".join(f"{x}\n" for x in v) for name, v in sections.items())


def _visual_conf(corpus: Corpus, labels: dict[str, str]) -> str:
    """Return the rubric's words for each label."""
    shown = [
        f"{labels[f.id]} | {' '.join(flat(f.text).replace('|', '/').split()) or labels[f.id]}"
        for f in corpus.features
    ]
    drawing = [
        "SPAN_DEFAULT\tfgColor:black, bgColor:lightgreen, borderColor:darken",
        "ARC_DEFAULT\tcolor:black, arrowHead:triangle-5",
        "ATTRIBUTE_DEFAULT\tglyph:*",
    ]
    return "\n".join(["[labels]", *shown, "", "[drawing]", *drawing]) + "\n"


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
        first = first_bytes(found).lstrip()[:1]
        # An empty .ann is BRAT's way to say "nothing found", if there is a text with it.
        return first in _FIRST_BYTES if first else found.with_suffix(".txt").is_file()
    except OSError:
        return False


@dataclass
class _Folder:
    """The files of a folder: texts by note, .ann files by annotator and note."""

    texts: dict[str, str] = field(default_factory=dict)
    text_paths: dict[str, Path] = field(default_factory=dict)
    ann_paths: dict[tuple[str, str], Path] = field(default_factory=dict)


def read_brat(path: Path, how: ReadOptions = USUAL_OPTIONS) -> Corpus:
    """Read a BRAT folder; see `rubricate.formats.brat.ann.parse_ann` for what becomes of a line.

    A sub-folder's files are those of the annotator of that name; files in the folder itself are
    those of the only annotator. A .txt without .ann was judged by nobody, an empty .ann means
    that nothing was found. Without the frame file, the labels of annotation.conf are the
    features, worded as in visual.conf, and all notes belong to one case. Offsets are code
    points of the .txt exactly as stored. The text of a T line that differs from the note is
    kept as the annotation's stated text.
    """
    faults = Faults(path, how)
    if not path.is_dir():
        raise InputError(f"{path}: a BRAT corpus is a folder of .txt and .ann files")
    frame = read_frame(path, is_folder=True, limits=how.limits)
    configured = list(_configured_features(path, frame, faults))
    found = _marked(_look(path, frame, faults), faults)
    # A type that somebody added to annotation.conf is meant; any other new label is a slip.
    labels = {**{feature.id: feature.id for feature in configured}, **frame.labels}
    known, new = replace(frame, labels=labels), () if frame.exists else configured
    return build_corpus(found, known, faults, need=".txt and .ann files", features=new)


def _marked(folder: _Folder, faults: Faults) -> Iterator[ToolDocument]:
    """Yield the texts, then what each annotator marked in them."""
    for note_id, text in folder.texts.items():
        yield ToolDocument(note_id, text, None)
    for (annotator_id, note_id), place in watched(
        folder.ann_paths.items(), faults.how.progress, "reading annotations", len(folder.ann_paths)
    ):
        if note_id not in folder.texts:
            if note_id not in folder.text_paths:
                faults.add(f"there is no {place.stem}.txt for it", path=place)
            continue
        text = folder.texts[note_id]
        found = parse_ann(faults.text_of(place) or "", text, faults.of(place))
        labelled = tuple((one.label, one.annotation) for one in found)
        lines = tuple(one.line for one in found)
        yield ToolDocument(note_id, text, annotator_id, labelled, path=place, lines=lines)


def _look(path: Path, frame: Frame, faults: Faults) -> _Folder:
    """Find all texts and annotation files, and read the texts."""
    folder, whose = _Folder(), frame.only_annotator
    for place in watched(_visible_files(path), faults.how.progress, "reading texts"):
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
    made=frozenset({"*.ann", "*.txt", "annotation.conf", "visual.conf"}),
    holds=HELD_BY_TOOLS,
)
