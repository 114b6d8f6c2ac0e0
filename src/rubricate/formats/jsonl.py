"""Our own text format: one JSON object per line, the head first, then one line per note."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from rubricate.builder import CorpusBuilder
from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError, shown
from rubricate.formats.annotations import LARGEST
from rubricate.formats.encoding import (
    Json,
    contradiction_to_json,
    detail_from_json,
    given,
    head_from_json,
    head_to_json,
    metadata_from_json,
    parse_json,
    parse_lines,
)
from rubricate.formats.format import HOLDABLE, Format, NoteStream, Unreadable
from rubricate.formats.options import USUAL_OPTIONS, ReadLimits, ReadOptions
from rubricate.formats.reading import Faults, first_bytes, no_json, read_text
from rubricate.progress import Progress, silent, watched
from rubricate.rows import NO_DETAIL, Contradiction

VERSION = 1
#: A line longer than this is not streamed as a note: no note is, and it would fill the memory.
LONGEST_LINE = 50_000_000


def looks_like_jsonl(path: Path) -> bool:
    """Tell whether the first line is our head."""
    if not path.is_file() or path.suffix not in {".jsonl", ".ndjson", ".json"}:
        return False
    return first_bytes(path).startswith(b'{"rubricate"')


def write_jsonl(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write the corpus as JSON Lines."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for value in corpus_to_lines(corpus, progress=progress):
            stream.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")


def corpus_to_lines(corpus: Corpus, *, progress: Progress = silent) -> Iterator[Json]:
    """Yield the head, then one JSON object per note."""
    yield {"rubricate": VERSION, **head_to_json(corpus)}
    for note in watched(corpus.notes, progress, "writing notes", len(corpus.notes)):
        line: Json = {"note": note.id, "case": note.case, "text": note.text}
        line |= given(metadata=dict(note.metadata))
        found: dict[str, Json] = {}
        for row in corpus.note_rows(note.id):
            annotator = corpus.annotators[int(corpus.rows.annotator[row])].id
            feature = corpus.features[int(corpus.rows.feature[row])].id
            found.setdefault(annotator, {})[feature] = _row_to_json(corpus, row)
        if found:
            line["annotations"] = found
        yield line


def _row_to_json(corpus: Corpus, row: int) -> Any:
    """Return a row's annotations: a list, or an object where more is known of the row."""
    annotations = []
    for plain, confidence, detail in corpus.rows.annotations(row):
        spans = [[start, end] for start, end in plain]
        more: Json = {k: v for k, v in zip(("reason", "comment"), detail[:2], strict=True) if v}
        if detail.attributes:
            more["attributes"] = [list(pair) for pair in detail.attributes]
        if detail.stated_text is not None:
            more["stated_text"] = detail.stated_text
        if confidence is not None:
            more["confidence"] = confidence
        annotations.append({"spans": spans, **more} if more else spans)
    known: Json = {}
    probability = corpus.rows.probability
    if probability is not None and not np.isnan(probability[row]):
        known["probability"] = float(probability[row])
    if said := corpus.rows.contradictions.get(row):
        known["contradicted"] = contradiction_to_json(said)
    return {**known, "annotations": annotations} if known else annotations


def read_jsonl(path: Path, how: ReadOptions = USUAL_OPTIONS) -> Corpus:
    """Read a corpus written by `write_jsonl`."""
    faults = Faults(path, how)
    values: list[tuple[int, Json]] = []
    for number, value in parse_lines(read_text(path, how.limits), faults):
        if isinstance(value, dict):
            values.append((number, value))
        else:
            faults.add("not a JSON object", line=number)
    if not values or values[0][1].get("rubricate") != VERSION:
        faults.add(f'the first line must be a head with "rubricate": {VERSION}', line=1)
        faults.raise_any()
    try:
        builder = head_from_json(values[0][1]).builder()
    except ValueError as error:
        faults.add(f"not a valid head: {error}", line=1)
        faults.raise_any()
    for number, value in watched(values[1:], how.progress, "reading notes", len(values) - 1):
        try:
            _read_note(builder, value, number, faults)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            faults.add(f"not a valid note line: {_reason(error)}", line=number)
    faults.raise_any()
    return builder.build()


def _reason(error: Exception) -> str:
    """Return the fault in words that quote no value of the file: it might be note text."""
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return str(error) if isinstance(error, _ShapeError) else "a value has the wrong type"


class _ShapeError(ValueError):
    """A value of the wrong shape, in words that may be shown."""


def _read_note(builder: CorpusBuilder, value: Mapping[str, Any], line: int, faults: Faults) -> None:
    note_id, text = str(value["note"]), value["text"]
    if not isinstance(text, str):
        raise _ShapeError("'text' must be a text")
    if note_id in builder.notes:
        raise _ShapeError(f"note {shown(note_id)} was already given")
    try:
        metadata = metadata_from_json(value.get("metadata"))
    except TypeError as error:
        raise _ShapeError(str(error)) from error
    note = Note(note_id, str(value["case"]), text, metadata)
    builder.add_note(note)
    judged = value.get("annotations", {})
    if not isinstance(judged, dict):
        raise _ShapeError("'annotations' must map annotators to features")
    for annotator, features in judged.items():
        if not isinstance(features, dict):
            raise _ShapeError("'annotations' must map features to lists")
        for feature, found in features.items():
            if builder.has_feature(feature):
                _read_row(builder, (annotator, feature), note, found, line, faults)
            else:
                faults.add(f"feature {shown(feature)} is in no rubric of the head", line=line)


def _read_row(
    builder: CorpusBuilder, who_what: tuple[str, str], note: Note, found: Any, line: int,
    faults: Faults,
) -> None:  # fmt: skip
    """Add what an annotator says of a feature: a list, or an object that says more of the row."""
    row = (who_what[0], note.id, who_what[1])
    more: Mapping[str, Any] = found if isinstance(found, dict) else {}
    items = found["annotations"] if isinstance(found, dict) else found
    if not isinstance(items, list):
        raise _ShapeError(f"feature {shown(row[2])} needs a list of annotations")
    builder.judge(*row, probability=_number(more, "probability", most=1))
    said = more.get("contradicted")
    if said is not None:
        if not isinstance(said, dict):
            raise _ShapeError("'contradicted' must have spans, and may have a reason")
        spans = _spans(said["spans"], note, line, faults)
        probability = _number(said, "probability", most=1)
        reason = str(said.get("reason", ""))
        builder.contradict(*row, Contradiction(tuple(spans), probability, reason))
    for item in items:
        more = item if isinstance(item, dict) else {}
        spans = _spans(more["spans"] if more else item, note, line, faults)
        confidence = _number(more, "confidence")
        try:
            detail = detail_from_json(more) if more else NO_DETAIL
        except ValueError as error:
            raise _ShapeError(str(error)) from None
        builder.annotate(*row, spans, confidence=confidence, detail=detail)


def _number(value: Mapping[str, Any], name: str, *, most: float | None = None) -> float | None:
    """Return a number that may be absent, and with ``most`` goes from 0 to there."""
    number = value.get(name)
    if number is None:
        return None
    if not isinstance(number, int | float) or isinstance(number, bool):
        raise _ShapeError(f"{name!r} must be a number")
    if most is not None and not 0 <= number <= most:
        raise _ShapeError(f"{name!r} goes from 0 to {most}")
    return number


def _spans(value: Any, note: Note, line: int, faults: Faults) -> list[tuple[int, int]]:
    """Return the spans of an annotation; one that is not inside its note is a fault."""
    if not isinstance(value, list) or not value:
        raise _ShapeError("an annotation needs a list of one or more spans")
    for span in value:
        if not (isinstance(span, list) and len(span) == 2 and {type(x) for x in span} == {int}):
            raise _ShapeError("a span needs two whole numbers, [start, end]")
        if max(abs(x) for x in span) > LARGEST:
            raise _ShapeError(f"offsets go up to {LARGEST}")
        faults.check_span(span[0], span[1], len(note.text), note.id, line)
    return [(start, end) for start, end in value]


def stream_jsonl(path: Path, how: ReadOptions = USUAL_OPTIONS) -> NoteStream:
    """Open a file for reading one note at a time; a line that is no note becomes `Unreadable`."""
    try:
        with path.open("rb") as stream:
            first = stream.readline(LONGEST_LINE).removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise InputError([Fault(f"cannot be read: {error.strerror}", path)]) from error
    try:
        head = parse_json(first.decode(), how.limits)
        if not isinstance(head, dict) or head.get("rubricate") != VERSION:
            raise ValueError(f'"rubricate" must be {VERSION}')
        rubrics = head_from_json(head).rubrics
    except UnicodeDecodeError:
        raise InputError([Fault("the head is not UTF-8", path, 1)]) from None
    except json.JSONDecodeError as error:
        raise InputError([Fault(no_json(error), path, 1)]) from None
    except ValueError as error:
        raise InputError([Fault(f"not a valid head: {error}", path, 1)]) from None
    return NoteStream(rubrics, lambda: _stream_notes(path, how.limits))


def _stream_notes(path: Path, limits: ReadLimits) -> Iterator[Note | Unreadable]:
    with path.open("rb") as stream:
        stream.readline(LONGEST_LINE)
        for number, line in enumerate(_stream_lines(stream), start=2):
            if line is None or line.strip():
                yield _note_of_line(line, number, limits)


def _stream_lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """Yield lines; None for one that is too long to hold."""
    while line := stream.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = stream.readline(LONGEST_LINE)
            yield None
        else:
            yield line


def _note_of_line(line: bytes | None, number: int, limits: ReadLimits) -> Note | Unreadable:
    name = f"line {number}"
    if line is None:
        return Unreadable(name, "", f"the line has more than {LONGEST_LINE:,} bytes")
    try:
        value = parse_json(line.decode(), limits)
    except UnicodeDecodeError:
        return Unreadable(name, "", "the line is not UTF-8")
    except ValueError as error:
        return Unreadable(name, "", f"the line is {no_json(error)}")
    if not isinstance(value, dict) or "note" not in value:
        return Unreadable(name, "", "the line is not a note")
    note_id, case, text = str(value["note"]), str(value.get("case", "")), value.get("text")
    if not isinstance(text, str):
        return Unreadable(note_id, case, "its text is missing or not text")
    try:
        return Note(note_id, case, text, metadata_from_json(value.get("metadata")))
    except (TypeError, ValueError, AttributeError):
        return Unreadable(note_id, case, "its metadata are not names with values")


FORMAT = Format(
    name="jsonl",
    summary="our own, one JSON object per line; lossless, readable, streamable",
    looks_like=looks_like_jsonl,
    read=read_jsonl,
    write=write_jsonl,
    holds=frozenset(HOLDABLE),
    stream=stream_jsonl,
)
