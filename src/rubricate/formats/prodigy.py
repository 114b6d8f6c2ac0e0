"""JSON Lines of Prodigy and spaCy: one text per line, with its spans.

Read: Prodigy's ``{"text", "spans": [{"start", "end", "label"}], "answer", "_annotator_id"}``;
spaCy's ``Doc.to_json`` (``"ents"``) and its training pairs ``["text", {"entities": [[start, end,
label]]}]``, one per line or in a list. Offsets are code points. A text that was accepted was
judged; one that was ignored, rejected or never answered was not. A note is known by
``meta.note``, ``meta.id``, ``id`` or ``_input_hash``, else by its line; the annotator by
``_annotator_id`` or ``_session_id``.

Written: one line per note and annotator, as Prodigy takes it. Fragments of one annotation have the
same number under ``annotation``, a key of our own that Prodigy keeps.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from rubricate.corpus import Corpus
from rubricate.formats.encoding import Json
from rubricate.formats.faults import Faults
from rubricate.formats.format import HELD_BY_SPANS, Format
from rubricate.formats.frame import Frame, write_frame
from rubricate.formats.json_text import first_value
from rubricate.formats.limits import first_bytes
from rubricate.formats.marked_texts import (
    MarkedText,
    judged_notes,
    marked_reader,
    read_spans,
    read_values,
    scalars,
    span_items,
)
from rubricate.progress import Progress, silent

_SUFFIXES = {".jsonl", ".json", ".ndjson"}
_SPAN_KEYS = ("spans", "ents", "entities")
_ACCEPTED = {"accept", None}


def looks_like_prodigy(path: Path) -> bool:
    """Tell whether the first line is a text with the spans of Prodigy or spaCy."""
    if not path.is_file() or path.suffix.lower() not in _SUFFIXES:
        return False
    value = first_value(path, _SUFFIXES, in_list=True)
    if not isinstance(value, dict):
        head = first_bytes(path, 1 << 16)
        return re.match(rb'\s*(?:\[\s*)?\["', head) is not None and b'"entities"' in head
    return isinstance(value.get("text"), str) and (
        any(isinstance(value.get(key), list) for key in ("spans", "ents"))
        or bool({"_input_hash", "_task_hash"} & value.keys())
    )


def _marked(path: Path, frame: Frame, faults: Faults) -> Iterator[MarkedText]:
    for number, value in read_values(path, faults):
        if isinstance(value, list) and len(value) == 2 and isinstance(value[1], dict):
            value = {**value[1], "text": value[0]}
        if not isinstance(value, dict) or not isinstance(value.get("text"), str):
            faults.add('need a JSON object with a "text"', line=number)
            continue
        given = value.get("meta")
        meta: Json = given if isinstance(given, dict) else {}
        ids = (meta.get("note"), meta.get("id"), value.get("id"), value.get("_input_hash"))
        note_id = next((str(i) for i in ids if isinstance(i, str | int)), str(number))
        who = next(
            (value[k] for k in ("_annotator_id", "_session_id") if isinstance(value.get(k), str)),
            frame.only_annotator,
        )
        items = next((value[k] for k in _SPAN_KEYS if isinstance(value.get(k), list)), None)
        answer = value.get("answer")
        judged = items is not None and not isinstance(answer, list | dict) and answer in _ACCEPTED
        yield MarkedText(
            note_id,
            value["text"],
            who if judged else None,
            tuple(read_spans(items or [], number, faults)) if judged else (),
            number,
            case=str(meta["case"]) if "case" in meta else None,
            metadata=scalars(meta, without=("note", "id", "case")),
        )


def write_prodigy(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write one line per note and annotator, and the frame beside them."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for note, judged in judged_notes(corpus, progress):
            head = {"text": note.text, "meta": {"note": note.id, "case": note.case}}
            lines: list[Json] = [
                {**head, "spans": span_items(own), "answer": "accept", "_annotator_id": who}
                for who, own in judged.items()
            ]
            for line in lines or [{**head, "spans": [], "answer": "ignore"}]:
                stream.write(json.dumps(line, ensure_ascii=False) + "\n")
    write_frame(corpus, path, is_folder=False)


FORMAT = Format(
    name="prodigy",
    summary="JSON Lines of Prodigy, one text with its spans per line; spaCy's are read as well",
    looks_like=looks_like_prodigy,
    read=marked_reader(_marked, need='lines of JSON with a "text" and its "spans"'),
    write=write_prodigy,
    holds=HELD_BY_SPANS,
)
