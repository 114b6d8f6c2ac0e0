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

import json
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

from rubricate.errors import InputError
from rubricate.formats.annotations import LARGEST, Utf16Map, located_text
from rubricate.formats.cas.write import (
    INITIAL,
    LAYER,
    METADATA,
    NAMED,
    TYPES_NAME,
    require_cassis,
    write_cas,
    write_cas_json,
)
from rubricate.formats.encoding import parse_json
from rubricate.formats.format import FRAME_NAME, HELD_BY_TOOLS, Format
from rubricate.formats.frame import Frame, name_to_id
from rubricate.formats.options import ReadLimits
from rubricate.formats.reading import (
    Faults,
    check_archive,
    no_json,
    read_text,
    read_whole,
    unsafe_xml,
)
from rubricate.formats.tool_documents import ToolDocument, document_reader
from rubricate.rows import Detail, PlainAnnotation

_SUFFIXES = {".xmi", ".json", ".zip"}
#: The folders of a project export that hold CAS files; the others hold sources, logs and the like.
_EXPORTED = ("annotation", "curation")
#: How many files of a folder are looked at to find its format.
_LOOK = 40
#: Types whose annotations are no labelled spans: tokens, sentences, part of speech and the like.
_NOT_LABELS = ("uima.", "de.tudarmstadt.", "org.dkpro.", "org.apache.")
#: String features that hold the label, the likeliest first; else the first there is.
_LABEL_FEATURES = ("feature", "label", "value", "category", "concept", "code", "identifier")
_UNMAPPED = re.compile(r"Not mapping external offset \[(-?\d+)\]")


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


def _marked(path: Path, frame: Frame, faults: Faults) -> Iterator[ToolDocument]:
    """Read each file and say whose note it is: by its folder, its title or its name."""
    for file in [path] if path.is_file() else _candidates(path):
        if file.suffix == ".json" and file.parent in {path, *_exported(path)} and _is_other(file):
            continue
        if faults.refuses_link(file):
            continue
        read = _read_file(file, faults)
        if read is None:
            continue
        annotator: str | None = "annotator"
        if path.is_file():
            note_id = read.note_id or name_to_id(file.stem)
        elif file.parent == path:
            note_id = name_to_id(file.stem)
        else:
            note_id = name_to_id(file.parent.name)
            annotator = None if file.stem == INITIAL else name_to_id(file.stem)
        yield replace(read, note_id=note_id, annotator=annotator, path=file)
    # A fault of what several files share, such as their type system, is one fault.
    faults.found = list(dict.fromkeys(faults.found))


def _read_file(path: Path, faults: Faults) -> ToolDocument | None:
    """Read a file, its note called by its title; None if it has faults that leave nothing."""
    cassis = require_cassis("Reading CAS files")
    own = faults.of(path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cas = _load(cassis, path, own)
    return None if cas is None else _read(cas, caught, own)


def _load(cassis: Any, path: Path, faults: Faults) -> Any:
    """Return the CAS, or None after noting why there is none; nothing of the text is quoted."""
    limits = faults.how.limits
    try:
        if path.suffix == ".zip":
            content, types = _from_zip(path, limits)
        else:
            content, types = read_whole(path, limits), None
        first = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
        if first == b"{" or (path.suffix == ".json" and first != b"<"):
            source = content.decode("utf-8-sig")
            parse_json(source, limits)
            return cassis.load_cas_from_json(source)
        unsafe = unsafe_xml(content)
        if unsafe is not None:
            raise _NoCasError(unsafe)
        place = path
        if types is None:
            place = _find_types(path)
            types = read_whole(place, limits)
        return cassis.load_cas_from_xmi(BytesIO(content), typesystem=_types(types, place))
    except SyntaxError as error:  # the parser's; its words may quote the text
        faults.add("not well-formed XML", line=error.lineno or 1)
    except json.JSONDecodeError as error:
        faults.add(no_json(error), line=error.lineno)
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        what = f"not UTF-8 (byte {error.start}). Save the file as UTF-8 and try again."
        faults.add(what, line=line)
    except _NoCasError as error:
        faults.add(str(error), path=error.path)
    except InputError as error:
        faults.found.extend(error.faults)
    except Exception as error:  # cassis raises whatever broke; its words may quote the text
        unknown = type(error).__name__ == "TypeNotFoundError"
        reason = str(getattr(error, "message", "")) if unknown else type(error).__name__
        faults.add(f"not a valid CAS ({reason})")
    return None


class _NoCasError(Exception):
    """A file that should hold a CAS and does not, in words that may be shown.

    ``path`` is the file that is wrong where it is not the one that was read.
    """

    def __init__(self, message: str, path: Path | None = None) -> None:
        super().__init__(message)
        self.path = path


def _from_zip(path: Path, limits: ReadLimits) -> tuple[bytes, bytes | None]:
    """Return the CAS and the type system of an archive, as INCEpTION exports a note."""
    try:
        with zipfile.ZipFile(path) as archive:
            check_archive(archive, path, limits)
            names = [name for name in archive.namelist() if not name.endswith("/")]
            cas = [name for name in names if Path(name).suffix in {".xmi", ".json"}]
            types = [name for name in names if _is_types(name)]
            if len(cas) != 1:
                raise _NoCasError(
                    f"the archive must hold one .xmi or .json file; it has {len(cas)}"
                )
            return archive.read(cas[0]), archive.read(types[0]) if types else None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise _NoCasError("not a readable archive; unpack it and read the folder") from error


def _find_types(path: Path) -> Path:
    """Return the type system that lies nearest: beside the file, or one or two folders up."""
    for folder in list(path.absolute().parents)[:3]:
        for place in sorted(folder.glob("*.xml")):
            if _is_types(place.name):
                return place
    raise _NoCasError(f"no {TYPES_NAME} beside it or in the folders above; XMI cannot do without")


def _is_types(name: str) -> bool:
    return Path(name).suffix == ".xml" and "typesystem" in name.lower()


@lru_cache(maxsize=8)
def _types(content: bytes, place: Path) -> Any:
    from cassis import load_typesystem

    unsafe = unsafe_xml(content)
    if unsafe is not None:
        raise _NoCasError(unsafe, place)
    try:
        return load_typesystem(BytesIO(content))
    except Exception as error:
        raise _NoCasError("not a valid type system", place) from error


def _read(cas: Any, caught: list[warnings.WarningMessage], faults: Faults) -> ToolDocument | None:
    views = [view for view in cas.views if isinstance(view.sofa.sofaString, str)]
    if not views:
        faults.add("the CAS has no text (sofaString)")
        return None
    text = views[0].sofa.sofaString
    offsets = Utf16Map(text)
    for unmapped in (_UNMAPPED.match(str(warning.message)) for warning in caught):
        # Cassis would go on with such an offset as if it counted code points.
        if unmapped and 0 <= int(unmapped[1]) <= offsets.n_units:
            faults.add(f"UTF-16 offset {int(unmapped[1])} is inside a surrogate pair")
    spans = sorted(views[0].get_all_fs(), key=lambda fs: int(fs.xmiID))
    title = ""
    for fs in spans:
        if fs.type.name == METADATA:
            texts = _texts(fs)
            title = texts.get("documentTitle", texts.get("documentId", ""))
    found = tuple(_annotations(cas.typesystem, spans, offsets, text, faults))
    return ToolDocument(title, text, None, found)


def _annotations(
    types: Any, every: list[Any], offsets: Utf16Map, text: str, faults: Faults
) -> Iterator[tuple[str, PlainAnnotation]]:
    ours = _has_our_layer(types)
    groups: dict[tuple[str, str, int], list[tuple[tuple[int, int], Any]]] = {}
    for fs in every:
        if not (fs.type.name == LAYER if ours else _is_labelled(types, fs)):
            continue
        span = _span(fs, offsets, len(text))
        if span is None:
            faults.add(f"annotation {fs.xmiID} has no begin and end up to {LARGEST}")
            continue
        label = str(fs.get("feature") or "") if ours else _label(fs)
        if label:
            group = str(_value(fs, "group") or "") if ours else ""
            # Annotations without a group stand alone: their own number keeps them apart.
            key = (label, group, -1 if group else int(fs.xmiID))
            groups.setdefault(key, []).append((span, fs))
        elif faults.how.strict:
            faults.add(f"annotation {fs.xmiID} at {span[0]} {span[1]} has no label")
    for (label, _, _), members in groups.items():
        yield label, _annotation(members, text, ours=ours)


def _has_our_layer(types: Any) -> bool:
    if not types.contains_type(LAYER, match_exactly=True):
        return False
    return types.get_type(LAYER).get_feature("feature") is not None


def _span(fs: Any, offsets: Utf16Map, length: int) -> tuple[int, int] | None:
    """Return begin and end in code points."""
    begin, end = fs.begin, fs.end
    if type(begin) is not int or type(end) is not int or max(abs(begin), abs(end)) > LARGEST:
        return None

    def converted(offset: int) -> int:
        # What is beyond the text in units is what cassis left alone; the rest is code points.
        return offsets.from_utf16(offset) if offset > offsets.n_units else min(offset, length)

    return converted(begin), converted(end)


def _is_labelled(types: Any, fs: Any) -> bool:
    """Tell whether a foreign annotation is a labelled span, not a token, a relation or a link."""
    name = fs.type.name
    if not types.is_instance_of(name, "uima.tcas.Annotation"):
        return False
    if name.startswith(_NOT_LABELS):
        return bool(types.contains_type(NAMED, True) and types.is_instance_of(name, NAMED))
    return not {"Governor", "Dependent"} & {feature.name for feature in fs.type.all_features}


def _texts(fs: Any) -> dict[str, str]:
    """Return the string features that say something, by name."""
    names = [f.name for f in fs.type.all_features if f.rangeType.name == "uima.cas.String"]
    return {name: fs.get(name) for name in names if isinstance(fs.get(name), str) and fs.get(name)}


def _label(fs: Any) -> str:
    """Return the label; a layer without any string feature is itself the label."""
    texts = _texts(fs)
    name = next((name for name in (*_LABEL_FEATURES, *texts) if name in texts), None)
    return texts[name] if name else str(fs.type.name).rpartition(".")[2]


def _annotation(
    members: list[tuple[tuple[int, int], Any]], text: str, *, ours: bool
) -> PlainAnnotation:
    spans = tuple(sorted(span for span, _ in members))
    if not ours:
        fs = members[0][1]
        label = _label(fs)
        rest = tuple((name, value) for name, value in _texts(fs).items() if value != label)
        return PlainAnnotation(spans, None, Detail(attributes=rest))
    said = [{name: _value(fs, name) for name in _OURS} for _, fs in members]
    comments = dict.fromkeys(str(own["comment"]) for own in said if own["comment"])
    stated = next((str(own["statedText"]) for own in said if own["statedText"] is not None), None)
    detail = Detail(
        reason=next((str(own["reason"]) for own in said if own["reason"]), ""),
        comment="\n".join(comments),
        attributes=tuple(pair for own in said for pair in _pairs(own["attributes"])),
        stated_text=None if stated == located_text(text, spans) else stated,
    )
    sure = [own["confidence"] for own in said if isinstance(own["confidence"], int | float)]
    return PlainAnnotation(spans, float(sure[0]) if sure else None, detail)


_OURS = ("comment", "reason", "statedText", "attributes", "confidence")


def _value(fs: Any, name: str) -> Any:
    return fs.get(name) if fs.type.get_feature(name) is not None else None


def _pairs(array: Any) -> Iterator[tuple[str, str]]:
    for element in getattr(array, "elements", None) or ():
        name, _, value = str(element or "").partition("=")
        yield name.replace("%3D", "=").replace("%25", "%"), value


read_cas = document_reader(_marked, need="CAS files (.xmi, .json or .zip)", label="reading files")

FORMAT = Format(
    name="cas",
    summary="UIMA CAS XMI for INCEpTION, with its type system; CAS JSON is read, too",
    looks_like=looks_like_cas,
    read=read_cas,
    write=write_cas,
    made=frozenset({"*.xmi", "TypeSystem.xml"}),
    holds=HELD_BY_TOOLS,
)

CAS_JSON = Format(
    name="cas-json",
    summary="UIMA CAS JSON 0.4.0 for INCEpTION, with its type system",
    looks_like=looks_like_cas_json,
    read=read_cas,
    write=write_cas_json,
    made=frozenset({"*.json", "TypeSystem.xml"}),
    holds=HELD_BY_TOOLS,
)
