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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rubricate.corpus import Corpus
from rubricate.errors import InputError
from rubricate.formats.annotations import (
    labelled_annotations,
    located_text,
    refuse_lone_surrogates,
    rows_by_annotator,
)
from rubricate.formats.bioc.xml import collection_from_xml, collection_to_xml
from rubricate.formats.encoding import is_real
from rubricate.formats.faults import Faults
from rubricate.formats.format import Format
from rubricate.formats.frame import Frame, feature_labels, read_frame, write_frame
from rubricate.formats.json_text import first_value, parse_json
from rubricate.formats.limits import read_whole
from rubricate.formats.losses import HELD_BY_TOOLS
from rubricate.formats.marked_texts import (
    MarkedText,
    build_corpus,
    read_values,
    scalars,
    span_pair,
)
from rubricate.progress import Progress, silent, watched
from rubricate.rows import Detail, PlainAnnotation

_LABELS = ("type", "label", "identifier")
_OURS = {"annotator", "comment", "reason", "confidence", "attributes"}
_NEED = "a BioC collection of documents with passages"
#: More blanks than this between two passages are a wrong offset, not a gap.
_LARGEST_GAP = 1_000_000


def looks_like_bioc(path: Path) -> bool:
    """Tell whether it is a JSON file with documents of passages."""
    if not path.is_file() or path.suffix.lower() != ".json":
        return False
    value = first_value(path, in_list=True)
    return isinstance(value, dict) and isinstance(value.get("documents"), list)


def looks_like_bioc_xml(path: Path) -> bool:
    """Tell whether it is an XML file whose root is a collection."""
    if not path.is_file() or path.suffix.lower() not in {".xml", ".bioc"}:
        return False
    with path.open("rb") as stream:
        return b"<collection" in stream.read(4096)


def read_bioc(path: Path, *, strict: bool = True, progress: Progress = silent) -> Corpus:
    """Read a BioC file in JSON or XML."""
    faults = Faults(path, unit="note")
    frame = read_frame(path, is_folder=False)
    if read_whole(path)[:64].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        collections = [(1, collection_from_xml(path))]
    else:
        collections = list(read_values(path, faults))
    notes = [note for _, value in collections for note in _listed(value, "documents")]
    found = watched(_marked(notes, frame, faults), progress, "reading notes")
    return build_corpus(found, frame, faults, need=_NEED, strict=strict)


def _listed(value: Any, name: str) -> list[Any]:
    items = value.get(name) if isinstance(value, dict) else None
    return items if isinstance(items, list) else []


def _marked(notes: list[Any], frame: Frame, faults: Faults) -> Iterator[MarkedText]:
    for number, note in enumerate(notes, start=1):
        if not isinstance(note, dict):
            faults.add("need an object with passages", line=number)
            continue
        given = note.get("id")
        note_id = str(given) if isinstance(given, str | int) else str(number)
        try:
            text = _text(note)
        except ValueError as error:
            faults.add(str(error), line=number)
            continue
        by: dict[str, list[tuple[str, PlainAnnotation]]] = {}
        infons = scalars(note.get("infons"))
        judged = _names(infons.pop("judged_by", None))
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
            yield MarkedText(note_id, text, who, tuple(own), number, metadata=infons)
        if not by:
            yield MarkedText(note_id, text, None, (), number, metadata=infons)


def _names(listed: Any) -> list[str] | None:
    """Return who judged a note; None where the file does not say so in our way."""
    try:
        names = parse_json(listed) if isinstance(listed, str) else None
    except ValueError:
        return None
    return [str(name) for name in names] if isinstance(names, list) else None


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


def _collection(corpus: Corpus, progress: Progress) -> dict[str, Any]:
    labels = feature_labels(corpus)
    notes = []
    for note in watched(corpus.notes, progress, "writing notes", len(corpus.notes)):
        judged = rows_by_annotator(corpus, note.id)
        names = [corpus.annotators[annotator].id for annotator in judged]
        items: list[dict[str, Any]] = []
        for annotator, rows in judged.items():
            who = corpus.annotators[annotator].id
            for label, annotation in labelled_annotations(corpus, rows, labels):
                infons = {"type": label, "annotator": who, **_infons(annotation)}
                items.append(_item(f"T{len(items) + 1}", infons, annotation, note.text))
        passage = {"offset": 0, "infons": {}, "text": note.text, "sentences": [],
                   "annotations": items, "relations": []}  # fmt: skip
        infons = {"judged_by": json.dumps(names, ensure_ascii=False)}
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


def _item(
    id_: str, infons: dict[str, str], annotation: PlainAnnotation, text: str
) -> dict[str, Any]:
    stated = annotation.detail.stated_text
    words = located_text(text, annotation.spans) if stated is None else stated
    places = [{"offset": start, "length": end - start} for start, end in annotation.spans]
    return {"id": id_, "infons": infons, "text": words, "locations": places}


def write_bioc(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write a collection in JSON."""
    refuse_lone_surrogates(corpus)
    content = json.dumps(_collection(corpus, progress), ensure_ascii=False, indent=1)
    path.write_text(content + "\n", encoding="utf-8", newline="\n")
    write_frame(corpus, path, is_folder=False)


def write_bioc_xml(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write a collection in XML, which cannot hold most control characters."""
    refuse_lone_surrogates(corpus)
    try:
        content = collection_to_xml(_collection(corpus, progress))
    except ValueError as error:
        raise InputError(f"{error}; write the format bioc, or take it out of the text") from None
    path.write_text(content, encoding="utf-8", newline="\n")
    write_frame(corpus, path, is_folder=False)


FORMAT = Format(
    name="bioc",
    summary="BioC collections in JSON",
    looks_like=looks_like_bioc,
    read=read_bioc,
    write=write_bioc,
    holds=HELD_BY_TOOLS,
)

BIOC_XML = Format(
    name="bioc-xml",
    summary="BioC collections in XML",
    looks_like=looks_like_bioc_xml,
    read=read_bioc,
    write=write_bioc_xml,
    holds=HELD_BY_TOOLS,
)
