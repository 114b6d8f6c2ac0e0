"""BioC collections, as JSON or XML: notes of passages, with annotations of one or more locations.

Offsets are code points of the whole note; where passages leave a gap, it is filled with blanks (a
line break first), as readers of BioC do. Annotations stand in passages, sentences or the note. The
label is the infon ``type`` (else ``label``, ``identifier``), the annotator the infon
``annotator``; other infons become attributes. Relations are not read.

Written: one passage per note. Comment, reason, confidence and attributes (a JSON list, since an
infon has one value) are infons; the infon ``judged_by`` of a note lists who judged it. The text of
an annotation that differs from the note is kept as its stated text.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rubricate.corpus import Corpus
from rubricate.errors import Fault, InputError
from rubricate.formats.annotations import located_text
from rubricate.formats.encoding import Json, first_value, is_real, parse_json, read_values
from rubricate.formats.format import HELD_BY_TOOLS, Format
from rubricate.formats.frame import Frame, judged_notes, write_frame
from rubricate.formats.options import USUAL_LIMITS, ReadLimits
from rubricate.formats.reading import NOT_XML, Faults, first_bytes, read_whole, unsafe_xml
from rubricate.formats.tool_documents import (
    ToolDocument,
    document_reader,
    first_id,
    parse_names,
    scalars,
    span_pair,
)
from rubricate.progress import Progress, silent
from rubricate.rows import Detail, PlainAnnotation
from rubricate.values import write_json

_KEPT = {"\r": "&#13;"}
_IN_ATTRIBUTES = {"\r": "&#13;", "\n": "&#10;", "\t": "&#9;"}
#: The lists of each part, by the element that holds one of their items.
_PARTS = {
    "document": "documents", "passage": "passages", "sentence": "sentences",
    "annotation": "annotations", "location": "locations",
}  # fmt: skip


def collection_from_xml(path: Path, limits: ReadLimits = USUAL_LIMITS) -> Json:
    """Read a collection; InputError if the file is no sound XML, or has more than a DOCTYPE."""
    content = read_whole(path, limits)
    unsafe = unsafe_xml(content, doctype=True)
    if unsafe is not None:
        raise InputError([Fault(unsafe, path)])
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        line = error.position[0] if isinstance(error, ElementTree.ParseError) else None
        # The parser's own words may quote the text.
        raise InputError([Fault("not well-formed XML", path, line)]) from None
    if root.tag != "collection":
        raise InputError([Fault("need a <collection> of BioC", path)])
    try:
        return _value(root)
    except RecursionError:
        raise InputError([Fault("nested too deeply", path)]) from None


def _value(element: ElementTree.Element) -> Json:
    value: Json = {"infons": {}, "id": element.get("id")}
    for child in element:
        if child.tag == "infon":
            value["infons"][child.get("key", "")] = child.text or ""
        elif child.tag == "location":
            numbers = {name: _number(child.get(name)) for name in ("offset", "length")}
            value.setdefault("locations", []).append(numbers)
        elif child.tag in _PARTS:
            value.setdefault(_PARTS[child.tag], []).append(_value(child))
        elif child.tag == "offset":
            value["offset"] = _number(child.text)
        elif child.tag in {"id", "text"}:
            value[child.tag] = child.text or ""
    return value


def _number(text: str | None) -> int | None:
    plain = (text or "").strip()
    return int(plain) if re.fullmatch(r"-?[0-9]{1,12}", plain) else None


def collection_to_xml(value: Json) -> str:
    """Return the XML of a collection; ValueError if it holds a character that XML cannot."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<!DOCTYPE collection SYSTEM "BioC.dtd">',
        "<collection>",
        *(f"<{name}>{_content(value[name])}</{name}>" for name in ("source", "date", "key")),
    ]
    for note in value["documents"]:
        lines += ["<document>", f"<id>{_content(note['id'])}</id>", *_infon_lines(note)]
        for passage in note["passages"]:
            lines += ["<passage>", f"<offset>{passage['offset']}</offset>"]
            lines.append(f"<text>{_content(passage['text'])}</text>")
            for item in passage["annotations"]:
                lines += [f"<annotation id={_attribute(item['id'])}>", *_infon_lines(item)]
                lines += [
                    f'<location offset="{place["offset"]}" length="{place["length"]}"/>'
                    for place in item["locations"]
                ]
                lines += [f"<text>{_content(item['text'])}</text>", "</annotation>"]
            lines.append("</passage>")
        lines.append("</document>")
    return "\n".join([*lines, "</collection>", ""])


def _infon_lines(part: Json) -> Iterator[str]:
    for key, text in part["infons"].items():
        yield f"<infon key={_attribute(key)}>{_content(text)}</infon>"


def _content(text: str) -> str:
    from xml.sax.saxutils import escape

    return escape(_sound(text), _KEPT)


def _attribute(text: str) -> str:
    from xml.sax.saxutils import quoteattr

    return quoteattr(_sound(text), _IN_ATTRIBUTES)


def _sound(text: str) -> str:
    found = NOT_XML.search(text)
    if found:
        raise ValueError(f"XML cannot hold the character U+{ord(found.group()):04X}")
    return text


_LABELS = ("type", "label", "identifier")
_OURS = {"annotator", "comment", "reason", "confidence", "attributes"}
#: More blanks than this between two passages are a wrong offset, not a gap.
_LARGEST_GAP = 1_000_000


def looks_like_bioc(path: Path) -> bool:
    """Tell whether it is a JSON file with documents of passages."""
    value = first_value(path, {".json"}, in_list=True)
    return isinstance(value, dict) and isinstance(value.get("documents"), list)


def looks_like_bioc_xml(path: Path) -> bool:
    """Tell whether it is an XML file whose root is a collection."""
    if not path.is_file() or path.suffix.lower() not in {".xml", ".bioc"}:
        return False
    return b"<collection" in first_bytes(path)


def _listed(value: Any, name: str) -> list[Any]:
    items = value.get(name) if isinstance(value, dict) else None
    return items if isinstance(items, list) else []


def _marked(path: Path, frame: Frame, faults: Faults) -> Iterator[ToolDocument]:
    limits = faults.how.limits
    if read_whole(path, limits)[:64].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        collections = [(1, collection_from_xml(path, limits))]
    else:
        collections = list(read_values(path, faults))
    notes = (note for _, value in collections for note in _listed(value, "documents"))
    for number, note in enumerate(notes, start=1):
        if not isinstance(note, dict):
            faults.add("need an object with passages", line=number)
            continue
        note_id = first_id([note.get("id")], str(number))
        try:
            text = _text(note)
        except ValueError as error:
            faults.add(str(error), line=number)
            continue
        by: dict[str, list[tuple[str, PlainAnnotation]]] = {}
        infons = scalars(note.get("infons"))
        judged = parse_names(infons.pop("judged_by", None))
        for name in judged or []:
            by[name] = []
        for i, item in enumerate(_items(note), start=1):
            try:
                who, label, annotation = _annotation(item, text)
            except ValueError as error:
                faults.add(f"annotation {i}: {error}", line=number)
                continue
            by.setdefault(who or frame.only_annotator, []).append((label, annotation))
        if judged is None and not by:
            by[frame.only_annotator] = []
        for who, own in by.items():
            yield ToolDocument(note_id, text, who, tuple(own), number, metadata=infons)
        if not by:
            yield ToolDocument(note_id, text, None, (), number, metadata=infons)


def _text(note: Mapping[str, Any]) -> str:
    """Return the text of the passages, or of their sentences, each at its offset."""
    text = ""
    for passage in _listed(note, "passages"):
        parts = [passage] if isinstance(passage, dict) and passage.get("text") else []
        for part in parts or _listed(passage, "sentences"):
            own, offset = part.get("text"), part.get("offset", len(text))
            if not isinstance(own, str) or type(offset) is not int:
                raise ValueError("a passage needs a text, and a whole number as its offset")
            gap = offset - len(text)
            if not 0 <= gap <= _LARGEST_GAP:
                raise ValueError(
                    f"a passage begins at {offset}, the one before ends at {len(text)}"
                )
            text += ("\n" + " " * (gap - 1) if gap and text else " " * gap) + own
    return text


def _items(note: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the annotations of a note, its passages and their sentences."""
    yield from _listed(note, "annotations")
    for passage in _listed(note, "passages"):
        yield from _listed(passage, "annotations")
        for sentence in _listed(passage, "sentences"):
            yield from _listed(sentence, "annotations")


def _annotation(item: Any, text: str) -> tuple[str, str, PlainAnnotation]:
    """Return annotator, label and annotation; ValueError in words that quote nothing."""
    infons = scalars(item.get("infons")) if isinstance(item, dict) else {}
    name = next((name for name in _LABELS if infons.get(name)), None)
    if name is None:
        raise ValueError("need an infon 'type'")
    spans = []
    for place in _listed(item, "locations"):
        offset, length = (
            (place.get("offset"), place.get("length")) if isinstance(place, dict) else (None, None)
        )
        start, length = span_pair(offset, length)
        spans.append((start, start + length))
    if not spans:
        raise ValueError("need a location")
    stated = item.get("text")
    located = located_text(text, spans)
    differs = isinstance(stated, str) and stated not in {located, located.replace("\r", "")}
    sure = infons.get("confidence")
    try:
        confidence = float(sure) if isinstance(sure, str) else sure
    except ValueError:
        confidence = None
    listed = _pairs(infons.get("attributes"))
    more = [(k, str(v)) for k, v in infons.items() if k not in _OURS and k != name]
    if listed is None and infons.get("attributes") is not None:
        more.append(("attributes", str(infons["attributes"])))
    detail = Detail(
        reason=str(infons.get("reason") or ""),
        comment=str(infons.get("comment") or ""),
        attributes=(*(listed or ()), *more),
        stated_text=stated if differs else None,
    )
    annotation = PlainAnnotation(tuple(spans), confidence if is_real(confidence) else None, detail)
    return str(infons.get("annotator") or ""), str(infons[name]), annotation


def _pairs(listed: Any) -> list[tuple[str, str]] | None:
    try:
        pairs = parse_json(listed) if isinstance(listed, str) else None
        return None if pairs is None else [(str(name), str(value)) for name, value in pairs]
    except (ValueError, TypeError):
        return None


def _collection(corpus: Corpus, progress: Progress) -> Json:
    notes = []
    for note, judged in judged_notes(corpus, progress):
        items: list[Json] = []
        for who, own in judged.items():
            for label, annotation in own:
                infons = {"type": label, "annotator": who, **_infons(annotation)}
                items.append(_item(f"T{len(items) + 1}", infons, annotation, note.text))
        passage = {"offset": 0, "infons": {}, "text": note.text, "sentences": [],
                   "annotations": items, "relations": []}  # fmt: skip
        infons = {"judged_by": json.dumps(list(judged), ensure_ascii=False)}
        notes.append({"id": note.id, "infons": infons, "passages": [passage], "annotations": [],
                      "relations": []})  # fmt: skip
    return {"source": "rubricate", "date": "", "key": "", "infons": {}, "documents": notes}


def _infons(annotation: PlainAnnotation) -> dict[str, str]:
    detail = annotation.detail
    infons = {"comment": detail.comment, "reason": detail.reason}
    infons = {name: value for name, value in infons.items() if value}
    if annotation.confidence is not None:
        infons["confidence"] = repr(annotation.confidence)
    if detail.attributes:
        infons["attributes"] = json.dumps(detail.attributes, ensure_ascii=False)
    return infons


def _item(id_: str, infons: dict[str, str], annotation: PlainAnnotation, text: str) -> Json:
    stated = annotation.detail.stated_text
    words = located_text(text, annotation.spans) if stated is None else stated
    places = [{"offset": start, "length": end - start} for start, end in annotation.spans]
    return {"id": id_, "infons": infons, "text": words, "locations": places}


def write_bioc(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write a collection in JSON."""
    write_json(path, _collection(corpus, progress))
    write_frame(corpus, path, is_folder=False)


def write_bioc_xml(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write a collection in XML, which cannot hold most control characters."""
    try:
        content = collection_to_xml(_collection(corpus, progress))
    except ValueError as error:
        raise InputError(f"{error}; write the format bioc, or take it out of the text") from None
    path.write_text(content, encoding="utf-8", newline="\n")
    write_frame(corpus, path, is_folder=False)


_read = document_reader(_marked, need="a BioC collection of documents with passages", unit="note")

FORMAT = Format(
    name="bioc",
    summary="BioC collections in JSON",
    looks_like=looks_like_bioc,
    read=_read,
    write=write_bioc,
    holds=HELD_BY_TOOLS,
)

BIOC_XML = Format(
    name="bioc-xml",
    summary="BioC collections in XML",
    looks_like=looks_like_bioc_xml,
    read=_read,
    write=write_bioc_xml,
    holds=HELD_BY_TOOLS,
)
