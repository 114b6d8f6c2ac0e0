"""doccano's JSON Lines: a folder with a file for each annotator, or one file.

A line is a note. Two layouts are read: ``"label": [[start, end, label], ...]`` (also under
``labels`` or ``entities``) and, of projects with relations, ``"entities": [{"id", "label",
"start_offset", "end_offset"}], "relations": [{"from_id", "to_id", "type"}]``. Versions 1.5.5 to
1.6 call the text ``data``, and older ones the objects of the second layout ``annotations``; where
those give a label by its number alone, the number is the label. Fragments of one
annotation are linked by relations of type ``fragment``; a corpus with fragments is written in the
second layout throughout (import it as *JSONL(Relation)*), any other in the first. Relations of
other types are not read.

Offsets are UTF-16 units: doccano's annotation view (v-annotator, since doccano 1.5) counts as
JavaScript does. Exports of projects that "count grapheme clusters as one character" cannot be
told apart and are read wrongly after such a character.

A note in an annotator's file was judged by that annotator; notes nobody judged are in
``unannotated.jsonl``. doccano's comments belong to a note, not to an annotation: they are read
into the note's metadata, and comments of annotations cannot be written. doccano refuses notes
without text and, unless the project allows them, overlapping spans.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from rubricate.corpus import Corpus, Note
from rubricate.formats.annotations import Utf16Map, has_fragments, linked_groups
from rubricate.formats.encoding import Json, first_value, parse_lines
from rubricate.formats.format import HELD_BY_SPANS, Format
from rubricate.formats.frame import (
    LABEL_COLORS,
    Frame,
    Labelled,
    feature_labels,
    id_to_name,
    judged_notes,
    name_to_id,
    write_frame,
)
from rubricate.formats.reading import Faults
from rubricate.formats.tool_documents import ToolDocument, document_reader, scalars, span_pair
from rubricate.progress import Progress, silent
from rubricate.rows import PlainAnnotation

UNANNOTATED = "unannotated"
FRAGMENT = "fragment"
LABELS_NAME = "label_config.json"
_TEXT_KEYS = ("text", "data")
_LABEL_KEYS = ("entities", "label", "labels", "annotations")
_KNOWN_KEYS = {"id", "case", "relations", "Comments", "comments", *_TEXT_KEYS, *_LABEL_KEYS}
_NEED = "lines of JSON, each a note"


def looks_like_doccano(path: Path) -> bool:
    """Tell whether it is a JSON Lines file of labelled texts, or a folder of such files."""
    if path.is_dir():
        files = sorted(path.glob("*.jsonl"))
        return bool(files) and all(looks_like_doccano(file) for file in files[:8])
    value = first_value(path, {".jsonl", ".json", ".ndjson"})
    return (
        isinstance(value, dict)
        and any(isinstance(value.get(key), str) for key in _TEXT_KEYS)
        and any(_is_doccano(value.get(key)) for key in _LABEL_KEYS)
        and not {"rubricate", "spans", "denotations", "tokens"} & value.keys()
    )


def _is_doccano(items: Any) -> bool:
    """Tell whether it may be a list of marked spans as doccano writes them."""
    if not isinstance(items, list):
        return False
    first = items[0] if items else None
    return not isinstance(first, dict) or "start_offset" in first


def write_doccano(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write a folder: a file for each annotator, the unannotated notes, labels and frame."""
    path.mkdir()
    reserved = frozenset({UNANNOTATED})
    relations = has_fragments(corpus)
    lines: dict[str, list[str]] = {}
    for note, judged in judged_notes(corpus, progress):
        files = {id_to_name(who, reserved=reserved): own for who, own in judged.items()}
        for stem, own in (files or {UNANNOTATED: []}).items():
            lines.setdefault(stem, []).append(_line(note, own, relations=relations))
    for stem, written in lines.items():
        text = "\n".join(written) + "\n"
        (path / f"{stem}.jsonl").write_text(text, encoding="utf-8", newline="\n")
    config = [
        {"text": label, "prefixKey": None, "suffixKey": None,
         "backgroundColor": LABEL_COLORS[i % len(LABEL_COLORS)]}
        for i, label in enumerate(feature_labels(corpus).values())
    ]  # fmt: skip
    (path / LABELS_NAME).write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    write_frame(corpus, path, is_folder=True)


def _line(note: Note, annotations: list[Labelled], *, relations: bool) -> str:
    offsets = Utf16Map(note.text)
    entities: list[Json] = []
    links: list[Json] = []
    for label, annotation in annotations:
        first = len(entities)
        for start, end in annotation.spans:
            entities.append(
                {
                    "id": len(entities),
                    "label": label,
                    "start_offset": offsets.to_utf16(start),
                    "end_offset": offsets.to_utf16(end),
                }
            )
        for a, b in pairwise(range(first, len(entities))):
            links.append({"id": len(links), "from_id": a, "to_id": b, "type": FRAGMENT})
    value: Json = {"id": note.id, "text": note.text, "case": note.case}
    if relations:
        value |= {"entities": entities, "relations": links}
    else:
        value["label"] = [[e["start_offset"], e["end_offset"], e["label"]] for e in entities]
    return json.dumps(value, ensure_ascii=False)


class _MarkedSpan(NamedTuple):
    id: int | str | None
    start: int
    end: int
    label: str


def _marked(path: Path, frame: Frame, faults: Faults) -> Iterator[ToolDocument]:
    """Yield the notes of each annotator's file, or of the only file."""
    for file in [path] if path.is_file() else sorted(path.glob("*.jsonl")):
        annotator = None if file.stem == UNANNOTATED else name_to_id(file.stem)
        n_faults, n_notes = len(faults.found), 0
        for number, value in _lines(faults.text_of(file) or "", faults.of(file)):
            n_notes += 1
            yield _marked_note(value, (file, number), annotator, faults)
        if frame.exists and len(faults.found) == n_faults:
            frame.check_notes(n_notes, faults.of(file), need=_NEED)


def _lines(source: str, faults: Faults) -> Iterator[tuple[int, Json]]:
    """Yield the notes of a file by line, each with its text under ``text``."""
    for number, value in parse_lines(source, faults):
        key = _text_key(value)
        if key is None:
            what = 'need a JSON object with a "text" (a doccano project of texts, not of images)'
            faults.add(what, line=number)
        else:
            yield number, {**value, "text": value[key]}


def _text_key(value: Any) -> str | None:
    """Return the key of the text: doccano 1.5.5 to 1.6 call it ``data``."""
    keys = _TEXT_KEYS if isinstance(value, dict) else ()
    return next((key for key in keys if isinstance(value.get(key), str)), None)


def _marked_note(
    value: Json, place: tuple[Path, int], annotator: str | None, faults: Faults
) -> ToolDocument:
    path, number = place
    given, said = value.get("id"), value.get("Comments", value.get("comments"))
    note_id = str(number if given is None else given)
    comments = said if isinstance(said, list) else []
    texts = [str(c.get("comment", "")) if isinstance(c, dict) else str(c) for c in comments]
    found: tuple[Labelled, ...] = ()
    if annotator is not None:
        found = tuple(_annotations(value, note_id, number, faults.of(path)))
    return ToolDocument(
        note_id,
        value["text"],
        annotator,
        found,
        number,
        path,
        case=str(value["case"]) if "case" in value else None,
        metadata=scalars(value, without=_KNOWN_KEYS),
        remarks={f"comments ({annotator or UNANNOTATED})": "\n".join(texts)} if texts else {},
    )


def _annotations(value: Json, note_id: str, line: int, faults: Faults) -> Iterator[Labelled]:
    offsets = Utf16Map(value["text"])
    entities: list[_MarkedSpan] = []
    key = next((k for k in _LABEL_KEYS if isinstance(value.get(k), list)), None)
    if key is None:
        keys = ", ".join(_LABEL_KEYS)
        faults.add(f"note {note_id} needs a list under one of {keys}", line=line)
    for i, item in enumerate(value[key] if key else (), start=1):
        try:
            marked = _marked_span(item)
            start, end = offsets.from_utf16(marked.start), offsets.from_utf16(marked.end)
            entities.append(marked._replace(start=start, end=end))
        except ValueError as error:
            faults.add(f"item {i} of {key!r} of note {note_id}: {error}", line=line)
    for group in linked_groups(len(entities), _links(entities, value, line, faults)):
        spans = tuple((entities[i].start, entities[i].end) for i in group)
        yield entities[group[0]].label, PlainAnnotation(spans)


def _marked_span(item: Any) -> _MarkedSpan:
    """Return one marked span; anything else is a ValueError that quotes nothing."""
    if isinstance(item, dict):
        start, end = item.get("start_offset"), item.get("end_offset")
        id_, label = _reference(item.get("id")), item.get("label")
    elif isinstance(item, list) and len(item) == 3:
        (start, end, label), id_ = item, None
    else:
        raise ValueError("need [start, end, label] or an object with start_offset, end_offset")
    start, end = span_pair(start, end)
    if isinstance(label, int) and not isinstance(label, bool) and isinstance(item, dict):
        label = str(label)
    if not isinstance(label, str) or not label:
        raise ValueError("the label must be a text")
    return _MarkedSpan(id_, start, end, label)


def _links(
    entities: list[_MarkedSpan], value: Json, line: int, faults: Faults
) -> Iterator[tuple[int, int]]:
    """Yield the pairs of entities that a relation makes fragments of one annotation."""
    place: dict[int | str | None, int] = {
        marked.id: i for i, marked in enumerate(entities) if marked.id is not None
    }
    relations = value.get("relations")
    for relation in relations if isinstance(relations, list) else ():
        if not isinstance(relation, dict) or relation.get("type") != FRAGMENT:
            continue
        a, b = (place.get(_reference(relation.get(key))) for key in ("from_id", "to_id"))
        if a is None or b is None:
            what = f"a relation of type {FRAGMENT!r} points to an id that is not there"
            faults.add(what, line=line)
        elif entities[a].label == entities[b].label:
            yield a, b


def _reference(id_: Any) -> int | str | None:
    return id_ if isinstance(id_, int | str) else None


FORMAT = Format(
    name="doccano",
    summary="doccano's JSON Lines: a folder with a file for each annotator",
    looks_like=looks_like_doccano,
    read=document_reader(_marked, need=_NEED),
    write=write_doccano,
    made=frozenset({"*.jsonl", "label_config.json"}),
    holds=HELD_BY_SPANS - {"empty notes"},
)
