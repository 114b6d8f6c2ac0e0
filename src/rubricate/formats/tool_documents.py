"""Documents of annotation tools: a note as one annotator judged it, and the corpus they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rubricate.corpus import Annotator, Corpus, Note
from rubricate.errors import shown
from rubricate.formats.annotations import LARGEST
from rubricate.formats.encoding import Json, parse_json
from rubricate.formats.format import Reader
from rubricate.formats.frame import Frame, Labelled, read_frame
from rubricate.formats.options import USUAL_OPTIONS, ReadOptions
from rubricate.formats.reading import Faults
from rubricate.progress import watched
from rubricate.rows import PlainAnnotation
from rubricate.rubric import Feature, Metadata, Scalar


@dataclass(frozen=True, slots=True)
class ToolDocument:
    """One note as one annotator judged it; ``annotator`` is None where nobody did.

    ``line`` is the place messages name, ``lines`` those of the annotations where each has its own.
    Case and metadata count only where no frame knows the note; remarks are metadata that every
    annotator adds to.
    """

    note_id: str
    text: str
    annotator: str | None
    annotations: tuple[Labelled, ...] = ()
    line: int | None = None
    path: Path | None = None
    case: str | None = None
    metadata: Mapping[str, Scalar] = field(default_factory=dict)
    group: str = ""
    lines: tuple[int, ...] = ()
    remarks: Mapping[str, Scalar] = field(default_factory=dict)


def document_reader(
    marked: Callable[[Path, Frame, Faults], Iterable[ToolDocument]],
    *,
    need: str,
    unit: str = "line",
    label: str = "reading notes",
) -> Reader:
    """Return the reader of a format from what yields its marked texts and collects faults."""

    def read(path: Path, how: ReadOptions = USUAL_OPTIONS) -> Corpus:
        faults = Faults(path, how, unit=unit)
        frame = read_frame(path, is_folder=path.is_dir(), limits=how.limits)
        found = watched(marked(path, frame, faults), how.progress, label)
        return build_corpus(found, frame, faults, need=need)

    return read


def build_corpus(
    marked: Iterable[ToolDocument],
    frame: Frame,
    faults: Faults,
    *,
    need: str,
    features: Iterable[Feature] = (),
) -> Corpus:
    """Return the corpus the marked texts make; InputError with every fault.

    ``features`` are those that the tool's own settings name.
    """
    first: dict[str, ToolDocument] = {}
    remarks: dict[str, dict[str, Scalar]] = {}
    seen: set[tuple[str, str | None]] = set()
    kept = []
    for one in marked:
        before = first.setdefault(one.note_id, one)
        remarks.setdefault(one.note_id, {}).update(one.remarks)
        if before.text != one.text:
            where = "above" if before.path == one.path else f"in {before.path}"
            what = f"note {shown(one.note_id)} has another text {where}"
            faults.add(what, line=one.line, path=one.path)
        elif (one.note_id, one.annotator) in seen:
            who = shown(one.annotator or "")
            what = f"note {shown(one.note_id)} of annotator {who} was already given"
            faults.add(what, line=one.line, path=one.path)
        else:
            kept.append(one)
        seen.add((one.note_id, one.annotator))
    frame.check_notes(len(first), faults, need=need)
    builder = frame.builder()
    for feature in features:
        builder.add_feature(feature)
    for note_id in frame.in_order(first):
        builder.add_note(_note(first[note_id], frame, remarks[note_id]))
    judged = []
    for one in kept:
        if one.annotator is None:
            continue
        if one.annotator not in builder.annotators:
            builder.add_annotator(Annotator(one.annotator, one.group))
        judged.append((one.annotator, one.note_id))
        own = faults.of(one.path or faults.path)
        lines = one.lines or [one.line] * len(one.annotations)
        for (label, annotation), line in zip(one.annotations, lines, strict=True):
            for start, end in annotation.spans:
                own.check_span(start, end, len(one.text), one.note_id, line)
            frame.check_label(label, own, line=line)
            frame.annotate(builder, one.annotator, one.note_id, label, annotation)
    faults.raise_any()
    return frame.finish(builder, judged)


def _note(one: ToolDocument, frame: Frame, remarks: Mapping[str, Scalar]) -> Note:
    note = frame.note(one.note_id, one.text)
    case, metadata = note.case, note.metadata
    if one.note_id not in frame.notes:
        case = note.case if one.case is None else one.case
        metadata = Metadata(one.metadata)
    return Note(note.id, case, note.text, Metadata({**metadata, **remarks}))


def scalars(values: Any, *, without: Iterable[str] = ()) -> dict[str, Scalar]:
    """Return the values of a JSON object that can be metadata.

    >>> scalars({"site": "A", "tokens": []})
    {'site': 'A'}
    """
    known = values if isinstance(values, dict) else {}
    return {
        name: value
        for name, value in known.items()
        if name not in set(without) and isinstance(value, str | int | float | bool | None)
    }


def first_id(values: Iterable[Any], usual: str) -> str:
    """Return the first of some JSON values that can be the id of a note, else the usual one.

    >>> first_id([None, 7], "1")
    '7'
    """
    return next((str(value) for value in values if isinstance(value, str | int)), usual)


def parse_names(listed: Any) -> list[str] | None:
    """Return a note's annotators from a JSON list; None if the file has none in our form."""
    try:
        names = parse_json(listed) if isinstance(listed, str) else None
    except ValueError:
        return None
    return [str(name) for name in names] if isinstance(names, list) else None


def span_pair(start: Any, end: Any) -> tuple[int, int]:
    """Return two offsets; ValueError, in words that quote nothing, if they are none.

    >>> span_pair(0, 5)
    (0, 5)
    """
    if type(start) is not int or type(end) is not int or max(abs(start), abs(end)) > LARGEST:
        raise ValueError(f"start and end must be whole numbers up to {LARGEST}")
    return start, end


def read_spans(
    items: list[Any], line: int, faults: Faults
) -> Iterator[tuple[str, PlainAnnotation]]:
    """Yield the annotations of a list of spans; those of one ``annotation`` belong together."""
    groups: dict[tuple[str, Any], list[tuple[int, int]]] = {}
    for i, item in enumerate(items, start=1):
        try:
            label, span, group = _span(item)
        except ValueError as error:
            faults.add(f"span {i}: {error}", line=line)
            continue
        key = (label, ("alone", i) if group is None else ("group", group))
        groups.setdefault(key, []).append(span)
    for (label, _), spans in groups.items():
        yield label, PlainAnnotation(tuple(spans))


def _span(item: Any) -> tuple[str, tuple[int, int], int | None]:
    if isinstance(item, list | tuple) and len(item) == 3:
        item = dict(zip(("start", "end", "label"), item, strict=True))
    if not isinstance(item, dict):
        raise ValueError("need an object with start, end and label")
    label, group = item.get("label"), item.get("annotation")
    if not isinstance(label, str) or not label:
        raise ValueError("the label must be a text")
    pair = span_pair(item.get("start"), item.get("end"))
    return label, pair, group if isinstance(group, int) else None


def span_items(annotations: Iterable[Labelled]) -> list[Json]:
    """Return annotations as `read_spans` takes them."""
    spans = []
    for n, (label, annotation) in enumerate(annotations, start=1):
        more = {"annotation": n} if len(annotation.spans) > 1 else {}
        spans += [{"start": s, "end": e, "label": label, **more} for s, e in annotation.spans]
    return spans
