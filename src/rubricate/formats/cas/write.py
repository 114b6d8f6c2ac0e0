"""Writing a corpus as CAS files: one folder per note, one file per annotator."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError
from rubricate.formats.annotations import (
    labelled_annotations,
    refuse_lone_surrogates,
    rows_by_annotator,
)
from rubricate.formats.cas.layers import (
    LAYER,
    METADATA,
    SENTENCE,
    TOKEN,
    make_types,
    sentences,
    words,
)
from rubricate.formats.encoded_names import id_to_name
from rubricate.formats.frame import FRAME_NAME, feature_labels, write_frame
from rubricate.formats.utf16 import Utf16Map
from rubricate.progress import Progress, silent, watched
from rubricate.rows import NO_DETAIL, PlainAnnotation

TYPES_NAME = "TypeSystem.xml"
#: INCEpTION's name for a text as imported, before anybody judged it.
INITIAL = "INITIAL_CAS"
NOTE_RESERVED = frozenset({TYPES_NAME, FRAME_NAME})
ANNOTATOR_RESERVED = frozenset({INITIAL})
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_cas(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write a folder of CAS XMI files with their type system."""
    _refuse_what_xml_cannot_hold(corpus)
    _write(corpus, path, "xmi", progress)


def write_cas_json(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write a folder of CAS JSON files (version 0.4.0) with their type system."""
    refuse_lone_surrogates(corpus)
    _write(corpus, path, "json", progress)


def _write(corpus: Corpus, path: Path, suffix: str, progress: Progress) -> None:
    types = make_types(corpus)
    labels = feature_labels(corpus)
    names = [id_to_name(a.id, reserved=ANNOTATOR_RESERVED) for a in corpus.annotators]
    path.mkdir()
    types.to_xml(path / TYPES_NAME)
    for note in watched(corpus.notes, progress, "writing notes", len(corpus.notes)):
        folder = path / id_to_name(note.id, reserved=NOTE_RESERVED)
        folder.mkdir()
        segments = (sentences(note.text), words(note.text))
        judged = rows_by_annotator(corpus, note.id)
        files = {names[a]: rows for a, rows in judged.items()} or {INITIAL: []}
        for name, rows in files.items():
            cas = _start_cas(types, note, segments)
            _add_annotations(cas, types.get_type(LAYER), corpus, note, rows, labels)
            with warnings.catch_warnings():
                # Offsets outside the text are written as far outside, which cassis remarks on.
                warnings.filterwarnings("ignore", message="Not mapping internal offset")
                if suffix == "xmi":
                    cas.to_xmi(folder / f"{name}.xmi", pretty_print=True)
                else:
                    cas.to_json(folder / f"{name}.json")
    write_frame(corpus, path, is_folder=True)


def _start_cas(types: Any, note: Note, segments: tuple[list[tuple[int, int]], ...]) -> Any:
    """Return a CAS with the text, its metadata, sentences and tokens."""
    from cassis import Cas

    cas = Cas(types, sofa_string=note.text, sofa_mime="text/plain")
    about = types.get_type(METADATA)
    cas.add(
        about(begin=0, end=len(note.text), language="x-unspecified", documentTitle=note.id,
              documentId=note.id, isLastSegment=False)
    )  # fmt: skip
    for name, spans in zip((SENTENCE, TOKEN), segments, strict=True):
        made = types.get_type(name)
        for start, end in spans:
            cas.add(made(begin=start, end=end))
    return cas


def _add_annotations(
    cas: Any, layer: Any, corpus: Corpus, note: Note, rows: list[int], labels: dict[str, str]
) -> None:
    offsets = Utf16Map(note.text)
    n_groups = 0
    for label, annotation in labelled_annotations(corpus, rows, labels):
        group = None
        if len(annotation.spans) > 1:
            n_groups += 1
            group = str(n_groups)
        more = _more(cas, annotation)
        for start, end in annotation.spans:
            begin, stop = (_outside(x, len(note.text), offsets) for x in (start, end))
            cas.add(layer(begin=begin, end=stop, feature=label, group=group, **more))
            more = {}


def _outside(offset: int, length: int, offsets: Utf16Map) -> int:
    # Cassis converts what is inside the text and leaves the rest as it is.
    return offset if 0 <= offset <= length else offsets.to_utf16(offset)


def _more(cas: Any, annotation: PlainAnnotation) -> dict[str, Any]:
    """Return what only the first fragment of an annotation says."""
    detail = annotation.detail
    more: dict[str, Any] = {}
    if detail.comment:
        more["comment"] = detail.comment
    if detail.reason:
        more["reason"] = detail.reason
    if detail.stated_text is not None:
        more["statedText"] = detail.stated_text
    if detail.attributes:
        pairs = [f"{_escaped(name)}={value}" for name, value in detail.attributes]
        more["attributes"] = cas.typesystem.get_type("uima.cas.StringArray")(elements=pairs)
    if annotation.confidence is not None:
        more["confidence"] = annotation.confidence
    return more


def _escaped(name: str) -> str:
    return name.replace("%", "%25").replace("=", "%3D")


def _refuse_what_xml_cannot_hold(corpus: Corpus) -> None:
    hint = "XML cannot hold this character; write the format cas-json, or take it out of the text"
    faults = []
    for note in corpus.notes:
        for what, text in _texts(corpus, note):
            found = _NOT_XML.search(text)
            if found:
                character = f"U+{ord(found.group()):04X} at {found.start()}"
                faults.append(Fault(f"note {note.id!r}, {what}: {character}. {hint}."))
    if faults:
        raise InputError(faults)


def _texts(corpus: Corpus, note: Note) -> Iterator[tuple[str, str]]:
    """Yield everything of a note that goes into its files, with a word for it."""
    yield "id", note.id
    yield "text", note.text
    rows, own = corpus.rows, corpus.note_rows(note.id)
    for i in range(*rows.first_annotation[[own.start, own.stop]].tolist()):
        detail = rows.details.get(i, NO_DETAIL)
        if detail is not NO_DETAIL:
            yield "comment", detail.comment
            yield "reason", detail.reason
            yield "stated text", detail.stated_text or ""
            yield "attributes", "".join(part for pair in detail.attributes for part in pair)
