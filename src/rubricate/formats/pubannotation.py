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

from rubricate.corpus import Corpus, Note
from rubricate.formats.annotations import (
    labelled_annotations,
    refuse_lone_surrogates,
    rows_by_annotator,
)
from rubricate.formats.encoded_names import id_to_name, name_to_id
from rubricate.formats.faults import Faults, leads_out
from rubricate.formats.format import Format
from rubricate.formats.frame import FRAME_NAME, Frame, feature_labels, read_frame, write_frame
from rubricate.formats.json_text import first_value
from rubricate.formats.losses import HELD_BY_FRAME
from rubricate.formats.marked_texts import MarkedText, build_corpus, read_values, span_pair
from rubricate.progress import Progress, silent, watched
from rubricate.rows import Detail, PlainAnnotation

_NEED = 'JSON files with a "text" and "denotations"'
_RESERVED = frozenset({FRAME_NAME.removesuffix(".json")})


def looks_like_pubannotation(path: Path) -> bool:
    """Tell whether it is a JSON file of PubAnnotation, or a folder of them."""
    if path.is_dir():
        return any(looks_like_pubannotation(file) for file in _files(path)[:4])
    if path.suffix.lower() not in {".json", ".jsonl"}:
        return False
    value = first_value(path, in_list=True)
    return (
        isinstance(value, dict)
        and isinstance(value.get("text"), str)
        and any(isinstance(value.get(key), list) for key in ("denotations", "tracks"))
    )


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(p for p in path.glob("*.json") if p.name != FRAME_NAME and p.is_file())


def read_pubannotation(path: Path, *, strict: bool = True, progress: Progress = silent) -> Corpus:
    """Read a folder of files, or one."""
    faults = Faults(path, unit="note")
    frame = read_frame(path, is_folder=path.is_dir())
    found = watched(_marked(path, frame, faults), progress, "reading notes")
    return build_corpus(found, frame, faults, need=_NEED, strict=strict)


def _marked(path: Path, frame: Frame, faults: Faults) -> Iterator[MarkedText]:
    for file in _files(path):
        if path.is_dir() and leads_out(file, path):
            faults.add("a link that leads out of the folder is not read", path=file)
            continue
        for number, value in read_values(file, faults):
            if not isinstance(value, dict) or not isinstance(value.get("text"), str):
                faults.add('need a JSON object with a "text"', line=number, path=file)
                continue
            given = value.get("sourceid")
            usual = name_to_id(file.stem) if path.is_dir() else str(number)
            note_id = str(given) if isinstance(given, str | int) else usual
            for who, part in _parts(value, frame):
                annotations = () if who is None else tuple(_annotations(part, number, file, faults))
                yield MarkedText(note_id, value["text"], who, annotations, number, file)


def _parts(value: Mapping[str, Any], frame: Frame) -> list[tuple[str | None, Mapping[str, Any]]]:
    """Return what each annotator says; a note without any list of denotations was not judged."""
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
    refuse_lone_surrogates(corpus)
    path.mkdir()
    labels = feature_labels(corpus)
    for note in watched(corpus.notes, progress, "writing notes", len(corpus.notes)):
        tracks = [
            {"project": corpus.annotators[annotator].id, **_written(corpus, rows, labels)}
            for annotator, rows in rows_by_annotator(corpus, note.id).items()
        ]
        _write(path, note, tracks)
    write_frame(corpus, path, is_folder=True)


def _write(path: Path, note: Note, tracks: list[dict[str, Any]]) -> None:
    value = {"sourcedb": "rubricate", "sourceid": note.id, "text": note.text, "tracks": tracks}
    place = path / f"{id_to_name(note.id, reserved=_RESERVED)}.json"
    place.write_text(json.dumps(value, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


def _written(corpus: Corpus, rows: list[int], labels: Mapping[str, str]) -> dict[str, Any]:
    denotations: list[dict[str, Any]] = []
    attributes: list[dict[str, str]] = []
    for n, (label, annotation) in enumerate(labelled_annotations(corpus, rows, labels), start=1):
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
    read=read_pubannotation,
    write=write_pubannotation,
    holds=HELD_BY_FRAME
    | {"fragments", "overlaps", "repeats", "annotators", "unannotated", "empty notes", "newlines",
       "attributes", "boundaries", "ids"},
)  # fmt: skip
