"""Label Studio's JSON: a list of tasks, one per note, with annotations and predictions.

Written: one file, the labelling configuration to paste into Label Studio
(``NAME.config.xml``) and the frame. Each fragment is a region; fragments of one annotation are
linked by relations labelled ``fragment``. ``score`` holds the confidence, ``meta`` the comment and
the reason, choices for a region the attributes. Annotators of group ``system`` are written as
predictions (``model_version`` is their id), all others as annotations: ``completed_by`` is a
number where the id is one, else an email, and Label Studio takes only annotators it knows.

Offsets are code points, as Label Studio has counted since version 1.4. Older versions counted
UTF-16 units; where the stated texts fit in those units and not in code points, they are read so.

An annotation without regions says that nothing was found; a cancelled one says nothing. A relation
without a label joins regions of the same label, too; other relations are not read. Choices, ratings
and words about a whole task become metadata of the note, under the name of their tag. The compact
``JSON_MIN`` export is read as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from rubricate.corpus import Corpus, Note
from rubricate.errors import shown
from rubricate.formats.annotations import located_text
from rubricate.formats.encoding import Json, first_value, read_values
from rubricate.formats.format import HELD_BY_TOOLS, Format
from rubricate.formats.frame import (
    LABEL_COLORS,
    Judged,
    feature_labels,
    judged_notes,
    read_frame,
    write_frame,
)
from rubricate.formats.labelstudio.regions import FRAGMENT, answers_on_task, read_regions
from rubricate.formats.options import USUAL_OPTIONS, ReadOptions
from rubricate.formats.reading import Faults
from rubricate.formats.tables import is_plain_number
from rubricate.formats.tool_documents import ToolDocument, build_corpus, scalars
from rubricate.progress import Progress, silent, watched
from rubricate.rows import PlainAnnotation

SYSTEM = "system"
#: The names of the two tags every configuration has.
LABEL_TAG, TEXT_TAG = "label", "text"
_DATA_KEYS = {"text", "note_id", "case"}
_COMPACT_KEYS = {"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time"}
_JUDGED = {"annotations", "predictions", "completions"}
_SUFFIXES = {"", ".json", ".jsonl", ".ndjson", ".txt"}


def looks_like_labelstudio(path: Path) -> bool:
    """Tell whether the file is a list of tasks, one task, or one task per line."""
    task = first_value(path, _SUFFIXES, in_list=True)
    if not (_is_task(task) or _is_compact(task)):
        return False
    # A task that stands alone needs more to be known by.
    return first_value(path, _SUFFIXES) is None or bool(_JUDGED & task.keys()) or _is_compact(task)


def _is_task(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("data"), dict):
        return False
    named = [value.get(key) for key in ("annotations", "predictions", "completions")]
    return all(item is None or isinstance(item, list) for item in named)


def _is_compact(value: Any) -> bool:
    """Tell whether it is an entry of a JSON_MIN export."""
    return isinstance(value, dict) and "annotation_id" in value and "data" not in value


def write_labelstudio(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write the tasks, and beside them the labelling configuration and the frame."""
    systems = {annotator.id for annotator in corpus.annotators if annotator.group == SYSTEM}
    notes = enumerate(judged_notes(corpus, progress), start=1)
    tasks = [_task(number, note, judged, systems) for number, (note, judged) in notes]
    text = ",\n".join(json.dumps(task, ensure_ascii=False) for task in tasks)
    path.write_text(f"[\n{text}\n]\n" if tasks else "[]\n", encoding="utf-8", newline="\n")
    config = path.with_name(f"{path.name.removesuffix('.json')}.config.xml")
    config.write_text(
        labelling_config(corpus, feature_labels(corpus).values()), encoding="utf-8", newline="\n"
    )
    write_frame(corpus, path, is_folder=False)


def _task(number: int, note: Note, judged: Judged, systems: set[str]) -> Json:
    annotations, predictions = [], []
    for who, own in judged.items():
        result = [
            region
            for n, (label, annotation) in enumerate(own, start=1)
            for region in _regions(note.text, annotation, label, f"r{n}")
        ]
        if who in systems:
            predictions.append({"model_version": who, "result": result})
        else:
            user = int(who) if is_plain_number(who) else {"email": who}
            annotations.append({"completed_by": user, "result": result})
    task: Json = {
        "id": number,
        "data": {"text": note.text, "note_id": note.id, "case": note.case},
        "annotations": annotations,
    }
    return {**task, "predictions": predictions} if predictions else task


def _regions(text: str, annotation: PlainAnnotation, label: str, id_: str) -> Iterator[Json]:
    """Yield one region per fragment, then what is said of the annotation and the links."""
    detail, spans = annotation.detail, annotation.spans
    ids = [id_] + [f"{id_}-{k}" for k in range(2, len(spans) + 1)]
    meta: Json = {"text": [detail.comment]} if detail.comment else {}
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
        item: Json = {"id": region, "from_name": "label", **own, "type": "labels", "value": value}
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


def labelling_config(corpus: Corpus, labels: Iterable[str]) -> str:
    """Return the configuration: the labels, the relation of fragments, choices for attributes.

    >>> from rubricate import CorpusBuilder
    >>> print(labelling_config(CorpusBuilder().build(), ["1_Fever"]))
    <View>
      <Relations><Relation value="fragment"/></Relations>
      <Filter name="filter" toName="label" hotkey="shift+f" minlength="0"/>
      <Labels name="label" toName="text">
        <Label value="1_Fever" background="#1f77b4"/>
      </Labels>
      <Text name="text" value="$text" granularity="symbol"/>
    </View>
    <BLANKLINE>
    """
    lines = [
        "<View>",
        f'  <Relations><Relation value="{FRAGMENT}"/></Relations>',
        f'  <Filter name="filter" toName="{LABEL_TAG}" hotkey="shift+f" minlength="0"/>',
        f'  <Labels name="{LABEL_TAG}" toName="{TEXT_TAG}">',
    ]
    for i, label in enumerate(labels):
        color = LABEL_COLORS[i % len(LABEL_COLORS)]
        lines.append(f'    <Label value={_quoted(label)} background="{color}"/>')
    lines += ["  </Labels>", f'  <Text name="{TEXT_TAG}" value="$text" granularity="symbol"/>']
    for name, values in _choices(corpus).items():
        lines.append(f'  <Choices name={_quoted(name)} toName="{TEXT_TAG}" perRegion="true">')
        lines += [f"    <Choice value={_quoted(value)}/>" for value in values]
        lines.append("  </Choices>")
    return "\n".join([*lines, "</View>"]) + "\n"


def _choices(corpus: Corpus) -> dict[str, list[str]]:
    """Return the values of each attribute; Label Studio needs names that no other tag has."""
    found: dict[str, dict[str, None]] = {}
    for detail in corpus.rows.details.values():
        for name, value in detail.attributes:
            if name not in {LABEL_TAG, TEXT_TAG, "filter"}:
                found.setdefault(name, {})[value] = None
    return {name: list(values) for name, values in found.items()}


def _quoted(text: str) -> str:
    # Nobody reads the configuration back, so what XML cannot hold may go.
    from xml.sax.saxutils import quoteattr

    return quoteattr("".join(c for c in text if c >= " "))


def read_labelstudio(path: Path, how: ReadOptions = USUAL_OPTIONS) -> Corpus:
    """Read a Label Studio export (``JSON`` or ``JSON_MIN``)."""
    faults = Faults(path, how, unit="task")
    frame = read_frame(path, is_folder=False, limits=how.limits)
    tasks = watched(_read_tasks(path, faults), how.progress, "reading notes")
    found = (one for number, task in tasks for one in _marked(number, task, faults))
    return build_corpus(_once(found, faults), frame, faults, need="tasks")


def _read_tasks(path: Path, faults: Faults) -> list[tuple[int, Json]]:
    values = list(read_values(path, faults))
    if values and all(_is_compact(value) for _, value in values):
        values = list(enumerate(_from_compact([value for _, value in values]), start=1))
    for number, value in values:
        if not _is_task(value):
            faults.add('a task needs "data" and lists of annotations', line=number)
    return [(number, value) for number, value in values if _is_task(value)]


def _once(found: Iterable[ToolDocument], faults: Faults) -> Iterator[ToolDocument]:
    """Yield what is no note of another task."""
    first: dict[str, int | None] = {}
    for one in found:
        if first.setdefault(one.note_id, one.line) == one.line:
            yield one
        else:
            faults.add(f"note {shown(one.note_id)} occurs twice", line=one.line)


def _from_compact(values: list[Json]) -> list[Json]:
    """Return the tasks of a JSON_MIN export, which has an entry for each annotation."""
    tasks: dict[Any, Json] = {}
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
            repr(value.get("id")), {"id": value.get("id"), "data": texts, "annotations": []}
        )
        task["annotations"].append({"completed_by": value.get("annotator"), "result": result})
    return list(tasks.values())


def _marked(number: int, task: Mapping[str, Any], faults: Faults) -> Iterator[ToolDocument]:
    data = task["data"]
    key = _text_key(data)
    if key is None or not isinstance(data[key], str):
        names = ", ".join(map(shown, data))
        what = "Only tasks about texts are read, no images, sounds or pages"
        faults.add(f'need a "text" in the data; it has {names}. {what}', line=number)
        return
    given = next((i for i in (data.get("note_id"), task.get("id")) if i is not None), number)
    note = ToolDocument(
        str(given),
        data[key],
        None,
        line=number,
        case=str(data["case"]) if "case" in data else None,
        metadata=scalars(data, without={*_DATA_KEYS, key}),
    )
    judgements = list(_judgements(task))
    note = replace(note, metadata={**_answers(judgements), **note.metadata})
    for annotator, group, result in judgements:
        regions = read_regions(result, note.note_id, note.text, number, faults)
        yield replace(note, annotator=annotator, group=group, annotations=tuple(regions))
    if not judgements:
        yield note


def _answers(judgements: Iterable[tuple[str, str, list[Any]]]) -> dict[str, str]:
    """Return people's answers about the whole text; with the person's name where they differ."""
    said: dict[str, dict[str, str]] = {}
    for annotator, group, result in judgements:
        if group != SYSTEM:
            for name, answer in answers_on_task(result).items():
                said.setdefault(name, {})[annotator] = answer
    found: dict[str, str] = {}
    for name, answers in said.items():
        alike = len(set(answers.values())) == 1
        found |= {name if alike else f"{name} ({who})": one for who, one in answers.items()}
    return found


def _text_key(data: Mapping[str, Any]) -> str | None:
    """Return the key of the text: ``text``, or the only text there is."""
    if "text" in data:
        return "text"
    texts = [k for k, v in data.items() if isinstance(v, str) and k not in _DATA_KEYS]
    return texts[0] if len(texts) == 1 else None


def _judgements(task: Mapping[str, Any]) -> Iterator[tuple[str, str, list[Any]]]:
    """Yield annotator, group and regions of each annotation and prediction that counts."""
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
            result = item.get("result")
            group = SYSTEM if is_prediction else ""
            yield id_, group, result if isinstance(result, list) else []


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
