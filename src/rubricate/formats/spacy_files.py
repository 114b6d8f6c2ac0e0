"""Files of spaCy and Prodigy: DocBin for training, and JSON Lines of annotated texts.

spaCy's DocBin (``.spacy``): binary files of texts with their spans, for spaCy's training.

Written: one text per note, with a span group per annotator, which spaCy's span categorizer learns
from. spaCy knows tokens, no offsets: words are cut where an annotation begins or ends, so that
every annotation keeps its place. Fragments of one annotation have the same span id. Who judged a
note, and which note it is, stands in the user data.

Read: every span group is an annotator's (``sc``, spaCy's own name, the usual annotator's); a text
without groups is read for its ``ents``. Needs the extra ``spacy``; nothing in such a file is
executed.

JSON Lines of Prodigy and spaCy: one text per line, with its spans.

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
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from rubricate.corpus import Corpus
from rubricate.errors import Fault, InputError, MissingExtraError
from rubricate.formats.annotations import refuse_outside
from rubricate.formats.encoding import Json, first_value, read_values
from rubricate.formats.format import HELD_BY_SPANS, Format
from rubricate.formats.frame import Frame, judged_notes, read_frame, write_frame
from rubricate.formats.options import USUAL_OPTIONS, ReadLimits, ReadOptions
from rubricate.formats.reading import Faults, first_bytes, has_lone_surrogate, read_whole
from rubricate.formats.tool_documents import (
    ToolDocument,
    build_corpus,
    document_reader,
    first_id,
    parse_names,
    read_spans,
    scalars,
    span_items,
)
from rubricate.progress import Progress, silent, watched
from rubricate.rows import PlainAnnotation

#: The span group that spaCy's own components read and write.
_USUAL_GROUP = "sc"
_NOTE, _JUDGED = "rubricate_note", "rubricate_judged"
_PIECE = re.compile(r"\s+|\w+|[^\w\s]")
_NEED = "texts in a DocBin"


def _require_spacy() -> Any:
    try:
        import spacy
        import spacy.tokens
    except ImportError as error:
        raise MissingExtraError("Reading and writing DocBin", "spacy") from error
    return spacy


def looks_like_docbin(path: Path) -> bool:
    """Tell whether the file is named as spaCy names its DocBin files and compressed as they are."""
    if not path.is_file() or path.suffix.lower() != ".spacy":
        return False
    with path.open("rb") as stream:
        return stream.read(1) == b"\x78"


def read_docbin(path: Path, how: ReadOptions = USUAL_OPTIONS) -> Corpus:
    """Read the texts of a DocBin with their spans."""
    spacy = _require_spacy()
    faults = Faults(path, how, unit="text")
    frame = read_frame(path, is_folder=False, limits=how.limits)
    raw = read_whole(path, how.limits)
    _check_unpacked(raw, path, how.limits)
    try:
        texts = list(spacy.tokens.DocBin().from_bytes(raw).get_docs(spacy.blank("xx").vocab))
    except Exception:  # spaCy raises whatever broke; its words may quote the text
        raise InputError([Fault("not a readable DocBin of spaCy", path)]) from None
    found = watched(_marked(texts, frame, faults), how.progress, "reading notes", len(texts))
    return build_corpus(found, frame, faults, need=_NEED)


def _check_unpacked(raw: bytes, path: Path, limits: ReadLimits) -> None:
    try:
        allowed = limits.unpacked_bytes
        unpacked = len(zlib.decompressobj().decompress(raw, allowed + 1))
    except zlib.error:
        raise InputError([Fault("not a readable DocBin of spaCy", path)]) from None
    limits.check("unpacked_bytes", unpacked, "the file has {} bytes or more when unpacked", path)


def _marked(texts: list[Any], frame: Frame, faults: Faults) -> Iterator[ToolDocument]:
    for number, text in enumerate(texts, start=1):
        if has_lone_surrogate(text.text):
            faults.add("the text holds half a surrogate pair", line=number)
            continue
        given = text.user_data.get(_NOTE)
        note_id = given if isinstance(given, str) else str(number)
        usual = frame.only_annotator
        groups = dict(text.spans.items())
        names = parse_names(text.user_data.get(_JUDGED))
        if names is None:
            groups = {usual if key == _USUAL_GROUP else key: own for key, own in groups.items()}
            groups = groups or {usual: text.ents}
            names = list(groups)
        for name in names:
            annotations = tuple(_annotations(groups.get(name, ())))
            yield ToolDocument(note_id, text.text, name, annotations, number)
        if not names:
            yield ToolDocument(note_id, text.text, None, (), number)


def _annotations(spans: Any) -> Iterator[tuple[str, PlainAnnotation]]:
    groups: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for i, span in enumerate(spans):
        key = (span.label_ or "span", span.id_ or f"alone {i}")
        groups.setdefault(key, []).append((span.start_char, span.end_char))
    for (label, _), pairs in groups.items():
        yield label, PlainAnnotation(tuple(pairs))


def write_docbin(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write one text per note, a span group per annotator, and the frame beside it."""
    spacy = _require_spacy()
    refuse_outside(corpus, "spaCy")
    vocabulary = spacy.blank("xx").vocab
    binary = spacy.tokens.DocBin(store_user_data=True)
    for note, judged in judged_notes(corpus, progress):
        spans = [s for own in judged.values() for _, annotation in own for s in annotation.spans]
        starts, words, spaces = _tokens(note.text, spans)
        text = spacy.tokens.Doc(vocabulary, words=words, spaces=spaces)
        text.user_data = {_NOTE: note.id, _JUDGED: json.dumps(list(judged))}
        ends = [start + len(word) for start, word in zip(starts, words, strict=True)]
        first = {start: i for i, start in enumerate(starts)}
        last = {end: i + 1 for i, end in enumerate(ends)}
        for name, own in judged.items():
            text.spans[name] = [
                spacy.tokens.Span(
                    text, first[start], last[end], label=label,
                    span_id=str(n) if len(annotation.spans) > 1 else "",
                )
                for n, (label, annotation) in enumerate(own, start=1)
                for start, end in annotation.spans
            ]  # fmt: skip
        binary.add(text)
    path.write_bytes(binary.to_bytes())
    write_frame(corpus, path, is_folder=False)


def _tokens(text: str, spans: list[tuple[int, int]]) -> tuple[list[int], list[str], list[bool]]:
    """Return the starts of tokens, their words, and flags for a blank after a token."""
    begins, finishes = {start for start, _ in spans}, {end for _, end in spans}
    cuts = sorted(begins | finishes | {m.start() for m in _PIECE.finditer(text)} | {len(text)})
    starts: list[int] = []
    words: list[str] = []
    spaces: list[bool] = []
    for start, end in pairwise(cuts):
        word = text[start:end]
        alone = start in begins or end in finishes
        if word == " " and words and not spaces[-1] and not alone:
            spaces[-1] = True
            continue
        starts.append(start)
        words.append(word)
        spaces.append(False)
    return starts, words, spaces


DOCBIN = Format(
    name="docbin",
    summary="spaCy's DocBin (.spacy), a span group per annotator; needs the extra spacy",
    looks_like=looks_like_docbin,
    read=read_docbin,
    write=write_docbin,
    holds=HELD_BY_SPANS,
    needs_trust=True,
)

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


def _line_marked(path: Path, frame: Frame, faults: Faults) -> Iterator[ToolDocument]:
    for number, value in read_values(path, faults):
        if isinstance(value, list) and len(value) == 2 and isinstance(value[1], dict):
            value = {**value[1], "text": value[0]}
        if not isinstance(value, dict) or not isinstance(value.get("text"), str):
            faults.add('need a JSON object with a "text"', line=number)
            continue
        given = value.get("meta")
        meta: Json = given if isinstance(given, dict) else {}
        ids = (meta.get("note"), meta.get("id"), value.get("id"), value.get("_input_hash"))
        note_id = first_id(ids, str(number))
        who = next(
            (value[k] for k in ("_annotator_id", "_session_id") if isinstance(value.get(k), str)),
            frame.only_annotator,
        )
        items = next((value[k] for k in _SPAN_KEYS if isinstance(value.get(k), list)), None)
        answer = value.get("answer")
        judged = items is not None and not isinstance(answer, list | dict) and answer in _ACCEPTED
        yield ToolDocument(
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


PRODIGY = Format(
    name="prodigy",
    summary="JSON Lines of Prodigy, one text with its spans per line; spaCy's are read as well",
    looks_like=looks_like_prodigy,
    read=document_reader(_line_marked, need='lines of JSON with a "text" and its "spans"'),
    write=write_prodigy,
    holds=HELD_BY_SPANS,
)
