"""Our own text format: one JSON object a line, the head first, then a line a note; lossless."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rubricate.builder import CorpusBuilder
from rubricate.corpus import Corpus, Note
from rubricate.formats.annotations import LARGEST
from rubricate.formats.encoding import head_from_json, head_to_json, metadata_from_json
from rubricate.formats.faults import Faults, read_text
from rubricate.formats.format import Format
from rubricate.formats.losses import HOLDABLE
from rubricate.rows import NO_DETAIL, Detail

VERSION = 1


def looks_like_jsonl(path: Path) -> bool:
    """Tell whether the first line is our head."""
    if not path.is_file() or path.suffix not in {".jsonl", ".ndjson", ".json"}:
        return False
    with path.open("rb") as stream:
        return stream.read(64).lstrip(b"\xef\xbb\xbf").startswith(b'{"rubricate"')


def write_jsonl(corpus: Corpus, path: Path) -> None:
    """Write the corpus as JSON Lines."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for value in corpus_to_lines(corpus):
            stream.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")


def corpus_to_lines(corpus: Corpus) -> Iterator[dict[str, Any]]:
    """Yield the head, then one JSON object a note."""
    yield {"rubricate": VERSION, **head_to_json(corpus)}
    for note in corpus.notes:
        line: dict[str, Any] = {"note": note.id, "case": note.case, "text": note.text}
        if note.metadata:
            line["metadata"] = dict(note.metadata)
        found: dict[str, dict[str, Any]] = {}
        for row in corpus.note_rows(note.id):
            annotator = corpus.annotators[int(corpus.rows.annotator[row])].id
            feature = corpus.features[int(corpus.rows.feature[row])].id
            found.setdefault(annotator, {})[feature] = _row_to_json(corpus, row)
        if found:
            line["annotations"] = found
        yield line


def _row_to_json(corpus: Corpus, row: int) -> Any:
    """Return a row's annotations: a list, or an object if the row has a probability."""
    rows = corpus.rows
    annotations = []
    for i in range(int(rows.first_annotation[row]), int(rows.first_annotation[row + 1])):
        own = slice(int(rows.first_span[i]), int(rows.first_span[i + 1]))
        spans = [[int(s), int(e)] for s, e in zip(rows.start[own], rows.end[own], strict=True)]
        detail = rows.details.get(i, NO_DETAIL)
        more: dict[str, Any] = {
            k: v for k, v in zip(("reason", "comment"), detail[:2], strict=True) if v
        }
        if detail.attributes:
            more["attributes"] = [list(pair) for pair in detail.attributes]
        if detail.stated_text is not None:
            more["stated_text"] = detail.stated_text
        if rows.confidence is not None and not np.isnan(rows.confidence[i]):
            more["confidence"] = float(rows.confidence[i])
        annotations.append({"spans": spans, **more} if more else spans)
    if rows.probability is not None and not np.isnan(rows.probability[row]):
        return {"probability": float(rows.probability[row]), "annotations": annotations}
    return annotations


def read_jsonl(path: Path, *, strict: bool = True) -> Corpus:
    """Read a corpus written by `write_jsonl`."""
    faults = Faults(path)
    lines = [line for line in enumerate(read_text(path).split("\n"), start=1) if line[1].strip()]
    values: list[tuple[int, dict[str, Any]]] = []
    for number, line in lines:
        try:
            value = json.loads(line)
            if not isinstance(value, dict):
                raise ValueError("a JSON object is expected")
            values.append((number, value))
        except ValueError as error:
            # JSONDecodeError's text gives the place, never the content.
            faults.add(f"not a JSON object: {error}", line=number)
    if not values or values[0][1].get("rubricate") != VERSION:
        faults.add(f'the first line must be a head with "rubricate": {VERSION}', line=1)
        faults.raise_any()
    try:
        builder = head_from_json(values[0][1]).builder()
    except ValueError as error:
        faults.add(f"not a valid head: {error}", line=1)
        faults.raise_any()
    for number, value in values[1:]:
        try:
            _read_note(builder, value, number, faults, strict=strict)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            faults.add(f"not a valid note line: {_reason(error)}", line=number)
    faults.raise_any()
    return builder.build()


def _reason(error: Exception) -> str:
    """Return what is wrong in words that quote no value of the file: it might be note text."""
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return str(error) if isinstance(error, _ShapeError) else "a value has the wrong type"


class _ShapeError(ValueError):
    """A value of the wrong shape, in words that may be shown."""


def _need(is_so: bool, what: str) -> None:
    if not is_so:
        raise _ShapeError(what)


def _read_note(
    builder: CorpusBuilder, value: Mapping[str, Any], line: int, faults: Faults, *, strict: bool
) -> None:
    note_id, text = str(value["note"]), value["text"]
    _need(isinstance(text, str), "'text' must be a text")
    _need(note_id not in builder.notes, f"note {note_id!r} was already given")
    try:
        metadata = metadata_from_json(value.get("metadata"))
    except TypeError as error:
        raise _ShapeError(str(error)) from error
    note = Note(note_id, str(value["case"]), text, metadata)
    builder.add_note(note)
    judged = value.get("annotations", {})
    _need(isinstance(judged, dict), "'annotations' must map annotators to features")
    for annotator, features in judged.items():
        _need(isinstance(features, dict), "'annotations' must map features to lists")
        for feature, found in features.items():
            if not builder.has_feature(feature):
                faults.add(f"feature {feature!r} is in no rubric of the head", line=line)
                continue
            probability = found.get("probability") if isinstance(found, dict) else None
            items = found["annotations"] if isinstance(found, dict) else found
            _need(isinstance(items, list), f"feature {feature!r} needs a list of annotations")
            _need_number(probability, "probability")
            _need(probability is None or 0 <= probability <= 1, "'probability' goes from 0 to 1")
            builder.judge(annotator, note.id, feature, probability=probability)
            for item in items:
                _read_annotation(builder, (annotator, note, feature), item, faults, line, strict)


def _need_number(value: Any, name: str) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    _need(value is None or is_number, f"{name!r} must be a number")


def _spans(value: Any) -> list[tuple[int, int]]:
    is_list = isinstance(value, list) and len(value) > 0
    _need(is_list, "an annotation needs a list of one or more spans")
    for span in value:
        is_pair = isinstance(span, list) and len(span) == 2 and {type(x) for x in span} == {int}
        _need(is_pair, "a span needs two whole numbers, [start, end]")
        _need(max(abs(x) for x in span) <= LARGEST, f"offsets go up to {LARGEST}")
    return [(start, end) for start, end in value]


def _read_annotation(
    builder: CorpusBuilder,
    place: tuple[str, Note, str],
    item: Any,
    faults: Faults,
    line: int,
    strict: bool,
) -> None:
    annotator, note, feature = place
    more: Mapping[str, Any] = item if isinstance(item, dict) else {}
    spans = _spans(more["spans"] if more else item)
    _need_number(more.get("confidence"), "confidence")
    if strict:
        for start, end in spans:
            faults.check_span(start, end, len(note.text), note.id, line)
    detail = Detail(
        reason=str(more.get("reason", "")),
        comment=str(more.get("comment", "")),
        attributes=tuple((str(k), str(v)) for k, v in more.get("attributes", ())),
        stated_text=more.get("stated_text"),
    )
    builder.annotate(
        annotator, note.id, feature, spans, confidence=more.get("confidence"), detail=detail
    )


FORMAT = Format(
    name="jsonl",
    summary="our own, one JSON object a line; lossless, readable, streamable",
    looks_like=looks_like_jsonl,
    read=read_jsonl,
    write=write_jsonl,
    holds=frozenset(HOLDABLE),
)
