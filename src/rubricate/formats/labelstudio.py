"""Label Studio's JSON: a list of tasks, one a note, with annotations and predictions.

Written: one file, the labelling configuration to paste into Label Studio
(``NAME.config.xml``) and the frame. Each fragment is a region; fragments of one annotation are
linked by relations labelled ``fragment``. ``score`` holds the confidence, ``meta`` the comment and
the reason, choices for a region the attributes. Annotators of group ``system`` are written as
predictions (``model_version`` is their id), all others as annotations: ``completed_by`` is a
number where the id is one, else an email, and Label Studio takes only annotators it knows.

Offsets are code points, as Label Studio has counted since version 1.4. Older versions counted
UTF-16 units; where the stated texts fit in those units and not in code points, they are read so.

An annotation without regions says that nothing was found; a cancelled one says nothing. A relation
without a label joins regions of the same label, too; other relations are not read. The compact
``JSON_MIN`` export is read as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from rubricate.builder import CorpusBuilder
from rubricate.corpus import Annotator, Corpus, Note
from rubricate.formats.annotations import (
    PlainAnnotation,
    json_has_lone_surrogate,
    located_text,
    plain_annotations,
    refuse_lone_surrogates,
    rows_by_annotator,
)
from rubricate.formats.faults import Faults, read_text
from rubricate.formats.format import Format
from rubricate.formats.frame import Frame, feature_labels, read_frame, write_frame
from rubricate.formats.labelstudio_config import labelling_config
from rubricate.formats.labelstudio_regions import FRAGMENT, read_regions
from rubricate.formats.losses import HELD_BY_TOOLS
from rubricate.rubric import Metadata

SYSTEM = "system"
_DATA_KEYS = {"text", "note_id", "case"}
_COMPACT_KEYS = {"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time"}
#: How much of a file is looked at to find its format.
_LOOK = 1 << 20


def looks_like_labelstudio(path: Path) -> bool:
    """Tell whether the file is a list whose first entry is a task."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        start = stream.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
        if not (start.startswith(b"[") and start[1:].lstrip()[:1] == b"{"):
            return False
        stream.seek(0)
        head = stream.read(_LOOK).decode("utf-8-sig", "replace")
    try:
        task, _ = json.JSONDecoder().raw_decode(head, head.index("{"))
    except (ValueError, RecursionError):
        return False
    return _is_task(task) or _is_compact(task)


def _is_task(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("data"), dict):
        return False
    named = [value.get(key) for key in ("annotations", "predictions", "completions")]
    return all(item is None or isinstance(item, list) for item in named)


def _is_compact(value: Any) -> bool:
    """Tell whether it is an entry of a JSON_MIN export."""
    return isinstance(value, dict) and "annotation_id" in value and "data" not in value


def write_labelstudio(corpus: Corpus, path: Path) -> None:
    """Write the tasks, and beside them the labelling configuration and the frame."""
    refuse_lone_surrogates(corpus)
    labels = feature_labels(corpus)
    tasks = [_task(corpus, note, i, labels) for i, note in enumerate(corpus.notes, start=1)]
    text = ",\n".join(json.dumps(task, ensure_ascii=False) for task in tasks)
    path.write_text(f"[\n{text}\n]\n" if tasks else "[]\n", encoding="utf-8", newline="\n")
    config = path.with_name(f"{path.name.removesuffix('.json')}.config.xml")
    config.write_text(labelling_config(corpus, labels.values()), encoding="utf-8", newline="\n")
    write_frame(corpus, path, is_folder=False)


def _task(corpus: Corpus, note: Note, number: int, labels: Mapping[str, str]) -> dict[str, Any]:
    annotations, predictions = [], []
    for index, rows in rows_by_annotator(corpus, note.id).items():
        annotator = corpus.annotators[index]
        result = _result(corpus, note, rows, labels)
        if annotator.group == SYSTEM:
            predictions.append({"model_version": annotator.id, "result": result})
        else:
            annotations.append({"completed_by": _completed_by(annotator.id), "result": result})
    task: dict[str, Any] = {
        "id": number,
        "data": {"text": note.text, "note_id": note.id, "case": note.case},
        "annotations": annotations,
    }
    return {**task, "predictions": predictions} if predictions else task


def _completed_by(annotator_id: str) -> Any:
    is_number = annotator_id.isascii() and annotator_id.isdigit()
    if is_number and str(int(annotator_id)) == annotator_id:
        return int(annotator_id)
    return {"email": annotator_id}


def _result(
    corpus: Corpus, note: Note, rows: list[int], labels: Mapping[str, str]
) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = []
    n = 0
    for row in rows:
        label = labels[corpus.features[int(corpus.rows.feature[row])].id]
        for annotation in plain_annotations(corpus, row):
            n += 1
            result += _regions(note.text, annotation, label, f"r{n}")
    return result


def _regions(
    text: str, annotation: PlainAnnotation, label: str, id_: str
) -> Iterator[dict[str, Any]]:
    """Yield a region a fragment, then what is said of the annotation and the links."""
    detail, spans = annotation.detail, annotation.spans
    ids = [id_] + [f"{id_}-{k}" for k in range(2, len(spans) + 1)]
    meta: dict[str, Any] = {"text": [detail.comment]} if detail.comment else {}
    if detail.reason:
        meta["reason"] = detail.reason
    if detail.stated_text is not None and len(spans) > 1:
        meta["stated_text"] = detail.stated_text
    own = {"to_name": "text"}
    for region, span in zip(ids, spans, strict=True):
        words = located_text(text, [span])
        if detail.stated_text is not None and len(spans) == 1:
            words = detail.stated_text
        value = {"start": span[0], "end": span[1], "text": words, "labels": [label]}
        item: dict[str, Any] = {
            "id": region,
            "from_name": "label",
            **own,
            "type": "labels",
            "value": value,
        }
        if annotation.confidence is not None:
            item["score"] = annotation.confidence
        yield {**item, "meta": meta} if meta and region == id_ else item
    place = {"start": spans[0][0], "end": spans[0][1]}
    for name, choice in detail.attributes:
        value = {**place, "choices": [choice]}
        yield {"id": id_, "from_name": name, **own, "type": "choices", "value": value}
    for a, b in pairwise(ids):
        yield {"type": "relation", "from_id": a, "to_id": b, "direction": "right",
               "labels": [FRAGMENT]}  # fmt: skip


def read_labelstudio(path: Path, *, strict: bool = True) -> Corpus:
    """Read a Label Studio export (``JSON`` or ``JSON_MIN``)."""
    faults = Faults(path, unit="task")
    frame = read_frame(path, is_folder=False)
    builder = frame.builder()
    judged: list[tuple[str, str]] = []
    for number, task in enumerate(_read_tasks(path, faults), start=1):
        note = _add_note(builder, frame, task, number, faults)
        if note is not None:
            for annotator_id, result in _judgements(builder, task):
                judged.append((annotator_id, note.id))
                for label, annotation in read_regions(result, note, number, faults, strict=strict):
                    frame.check_label(label, faults, line=number)
                    frame.annotate(builder, annotator_id, note.id, label, annotation)
    frame.check_notes(len(builder.notes), faults, need="tasks")
    faults.raise_any()
    return frame.finish(builder, judged)


def _read_tasks(path: Path, faults: Faults) -> list[dict[str, Any]]:
    source = read_text(path)
    try:
        values = json.loads(source)
    except json.JSONDecodeError as error:
        lines = Faults(path)
        lines.add(f"not JSON: {error.msg} at column {error.colno}", line=error.lineno)
        lines.raise_any()
    except RecursionError:
        faults.add("not a list of tasks: nested too deeply")
        faults.raise_any()
    if not isinstance(values, list):
        faults.add("need a list of tasks (export as JSON or JSON_MIN)")
        faults.raise_any()
    if values and all(_is_compact(value) for value in values):
        values = _from_compact(values)
    for number, value in enumerate(values, start=1):
        if not _is_task(value):
            faults.add('a task needs "data" and lists of annotations', line=number)
        elif json_has_lone_surrogate(value, source):
            faults.add("the task holds half a surrogate pair", line=number)
    return [value if _is_task(value) else {} for value in values]


def _from_compact(values: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the tasks of a JSON_MIN export, which has an entry for each annotation."""
    tasks: dict[Any, dict[str, Any]] = {}
    for value in values:
        result = [
            {"type": "labels", "value": item}
            for own in value.values()
            if isinstance(own, list)
            for item in own
            if isinstance(item, dict) and "labels" in item
        ]
        texts = {
            k: v for k, v in value.items() if k not in _COMPACT_KEYS and not isinstance(v, list)
        }
        task = tasks.setdefault(
            json.dumps(value.get("id")), {"id": value.get("id"), "data": texts, "annotations": []}
        )
        task["annotations"].append({"completed_by": value.get("annotator"), "result": result})
    return list(tasks.values())


def _add_note(
    builder: CorpusBuilder, frame: Frame, task: Mapping[str, Any], number: int, faults: Faults
) -> Note | None:
    data = task.get("data")
    if not isinstance(data, dict):
        return None
    key = _text_key(data)
    if key is None or not isinstance(data[key], str):
        names = ", ".join(repr(name) for name in data)
        faults.add(f'need a "text" in the data; it has {names}', line=number)
        return None
    given = next((i for i in (data.get("note_id"), task.get("id")) if i is not None), number)
    note = frame.note(str(given), data[key])
    if note.id not in frame.notes:
        more = {
            k: v
            for k, v in data.items()
            if k not in {*_DATA_KEYS, key} and isinstance(v, str | int | float | bool | None)
        }
        note = Note(note.id, str(data.get("case", note.case)), note.text, Metadata(more))
    if note.id in builder.notes:
        faults.add(f"note {note.id} occurs twice", line=number)
        return None
    builder.add_note(note)
    return note


def _text_key(data: Mapping[str, Any]) -> str | None:
    """Return where the text is: under ``text``, or in the only text there is."""
    if "text" in data:
        return "text"
    texts = [k for k, v in data.items() if isinstance(v, str) and k not in _DATA_KEYS]
    return texts[0] if len(texts) == 1 else None


def _judgements(builder: CorpusBuilder, task: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the annotator and the regions of each annotation and prediction that counts."""
    seen: dict[str, int] = {}
    kinds = (("completions", False), ("annotations", False), ("predictions", True))
    for key, is_prediction in kinds:
        for item in task.get(key) or ():
            if not isinstance(item, dict) or item.get("was_cancelled"):
                continue
            name = str(item.get("model_version", SYSTEM)) if is_prediction else _user(item)
            seen[name] = seen.get(name, 0) + 1
            # One user may annotate a task several times: nothing is merged, nothing is lost.
            id_ = name if seen[name] == 1 else f"{name}#{seen[name]}"
            if id_ not in builder.annotators:
                builder.add_annotator(Annotator(id_, SYSTEM if is_prediction else ""))
            result = item.get("result")
            yield id_, result if isinstance(result, list) else []


def _user(item: Mapping[str, Any]) -> str:
    who = item.get("completed_by")
    if isinstance(who, dict):
        who = who.get("email", who.get("id"))
    return "annotator" if who is None else str(who)


FORMAT = Format(
    name="labelstudio",
    summary="Label Studio's JSON: tasks with annotations and predictions, and its configuration",
    looks_like=looks_like_labelstudio,
    read=read_labelstudio,
    write=write_labelstudio,
    holds=HELD_BY_TOOLS,
)
