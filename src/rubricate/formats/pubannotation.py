"""PubAnnotation JSON: a folder with a file per note, or one file of one or several notes.

A note is ``{"text", "sourcedb", "sourceid", "denotations": [{"id", "span": {"begin", "end"},
"obj"}], "attributes": [{"subj", "pred", "obj"}]}``; ``tracks`` hold the denotations of several
projects, which are annotators here. Offsets are code points. A ``span`` may be a list: the
fragments of one annotation. Attributes become attributes; relations are not read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rubricate.corpus import Corpus
from rubricate.formats.encoding import Json, first_value, read_values
from rubricate.formats.format import FRAME_NAME, HELD_BY_SPANS, Format
from rubricate.formats.frame import (
    Frame,
    Labelled,
    id_to_name,
    judged_notes,
    name_to_id,
    write_frame,
)
from rubricate.formats.reading import Faults
from rubricate.formats.tool_documents import ToolDocument, document_reader, first_id, span_pair
from rubricate.progress import Progress, silent
from rubricate.rows import Detail, PlainAnnotation

_RESERVED = frozenset({FRAME_NAME.removesuffix(".json")})


def looks_like_pubannotation(path: Path) -> bool:
    """Tell whether it is a JSON file of PubAnnotation, or a folder of them."""
    if path.is_dir():
        return any(looks_like_pubannotation(file) for file in _files(path)[:4])
    value = first_value(path, {".json", ".jsonl"}, in_list=True)
    return (
        isinstance(value, dict)
        and isinstance(value.get("text"), str)
        and any(isinstance(value.get(key), list) for key in ("denotations", "tracks"))
    )


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(p for p in path.glob("*.json") if p.name != FRAME_NAME and p.is_file())


def _marked(path: Path, frame: Frame, faults: Faults) -> Iterator[ToolDocument]:
    for file in _files(path):
        if faults.refuses_link(file):
            continue
        for number, value in read_values(file, faults):
            if not isinstance(value, dict) or not isinstance(value.get("text"), str):
                faults.add('need a JSON object with a "text"', line=number, path=file)
                continue
            usual = name_to_id(file.stem) if path.is_dir() else str(number)
            note_id = first_id([value.get("sourceid")], usual)
            for who, part in _parts(value, frame):
                annotations = () if who is None else tuple(_annotations(part, number, file, faults))
                yield ToolDocument(note_id, value["text"], who, annotations, number, file)


def _parts(value: Mapping[str, Any], frame: Frame) -> list[tuple[str | None, Mapping[str, Any]]]:
    """Return each annotator's denotations; a note without any list of them was not judged."""
    tracks = value.get("tracks")
    parts: list[tuple[str | None, Mapping[str, Any]]] = [
        (str(track.get("project", frame.only_annotator)), track)
        for track in (tracks if isinstance(tracks, list) else ())
        if isinstance(track, dict)
    ]
    if isinstance(value.get("denotations"), list):
        parts.append((str(value.get("project") or frame.only_annotator), value))
    return parts or [(None, value)]


def _annotations(
    part: Mapping[str, Any], line: int, path: Path, faults: Faults
) -> Iterator[tuple[str, PlainAnnotation]]:
    attributes: dict[str, list[tuple[str, str]]] = {}
    given = part.get("attributes")
    for item in given if isinstance(given, list) else ():
        if isinstance(item, dict):
            value = item.get("obj")
            text = json.dumps(value) if isinstance(value, bool) else str(value)
            attributes.setdefault(str(item.get("subj")), []).append((str(item.get("pred")), text))
    items = part.get("denotations")
    for i, item in enumerate(items if isinstance(items, list) else (), start=1):
        try:
            if not isinstance(item, dict) or not isinstance(item.get("obj"), str):
                raise ValueError('need "span" and "obj"')
            own: list[Any] = (
                item["span"] if isinstance(item.get("span"), list) else [item.get("span")]
            )
            if not own or not all(isinstance(span, dict) for span in own):
                raise ValueError('"span" needs "begin" and "end"')
            spans = tuple(span_pair(span.get("begin"), span.get("end")) for span in own)
        except ValueError as error:
            faults.add(f"denotation {i}: {error}", line=line, path=path)
            continue
        detail = Detail(attributes=tuple(attributes.get(str(item.get("id")), ())))
        yield item["obj"], PlainAnnotation(spans, None, detail)


def write_pubannotation(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write a folder with a file per note; each annotator is a track."""
    path.mkdir()
    for note, judged in judged_notes(corpus, progress):
        tracks = [{"project": who, **_written(own)} for who, own in judged.items()]
        value = {"sourcedb": "rubricate", "sourceid": note.id, "text": note.text, "tracks": tracks}
        place = path / f"{id_to_name(note.id, reserved=_RESERVED)}.json"
        line = json.dumps(value, ensure_ascii=False) + "\n"
        place.write_text(line, encoding="utf-8", newline="\n")
    write_frame(corpus, path, is_folder=True)


def _written(annotations: list[Labelled]) -> Json:
    denotations: list[Json] = []
    attributes: list[dict[str, str]] = []
    for n, (label, annotation) in enumerate(annotations, start=1):
        spans = [{"begin": start, "end": end} for start, end in annotation.spans]
        one = spans[0] if len(spans) == 1 else spans
        denotations.append({"id": f"T{n}", "span": one, "obj": label})
        attributes += [
            {"subj": f"T{n}", "pred": name, "obj": value}
            for name, value in annotation.detail.attributes
        ]
    numbered = [{"id": f"A{i}", **one} for i, one in enumerate(attributes, start=1)]
    return {"denotations": denotations, **({"attributes": numbered} if numbered else {})}


FORMAT = Format(
    name="pubannotation",
    summary="PubAnnotation JSON: a folder with a file per note, a track per annotator",
    looks_like=looks_like_pubannotation,
    read=document_reader(_marked, need='JSON files with a "text" and "denotations"', unit="note"),
    write=write_pubannotation,
    made=frozenset({"*.json"}),
    holds=HELD_BY_SPANS | {"attributes"},
)
