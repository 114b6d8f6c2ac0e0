"""Writing a corpus as CAS files: their types, one folder per note, one file per annotator."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError, MissingExtraError
from rubricate.formats.annotations import Utf16Map
from rubricate.formats.format import FRAME_NAME
from rubricate.formats.frame import Labelled, id_to_name, judged_notes, write_frame
from rubricate.formats.reading import NOT_XML
from rubricate.progress import Progress, silent
from rubricate.rows import NO_DETAIL, PlainAnnotation

LAYER = "webanno.custom.Feature"
DKPRO = "de.tudarmstadt.ukp.dkpro.core.api"
METADATA = f"{DKPRO}.metadata.type.DocumentMetaData"
SENTENCE = f"{DKPRO}.segmentation.type.Sentence"
TOKEN = f"{DKPRO}.segmentation.type.Token"
NAMED = f"{DKPRO}.ner.type.NamedEntity"

_STRING = "uima.cas.String"
_ANNOTATION = "uima.tcas.Annotation"
_TYPES: dict[str, tuple[str, dict[str, str]]] = {
    METADATA: (
        "uima.tcas.DocumentAnnotation",
        {"documentTitle": _STRING, "documentId": _STRING, "documentUri": _STRING,
         "collectionId": _STRING, "documentBaseUri": _STRING, "isLastSegment": "uima.cas.Boolean"},
    ),
    SENTENCE: (_ANNOTATION, {"id": _STRING}),
    TOKEN: (_ANNOTATION, {"id": _STRING}),
}  # fmt: skip
_WORD = re.compile(r"\w[\w\u0300-\u036f]*|[^\w\s]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|[\r\n]+")


def require_cassis(what: str) -> Any:
    """Return the module ``cassis``, or say how to install it."""
    try:
        import cassis
    except ImportError as error:
        raise MissingExtraError(what, "formats") from error
    return cassis


def make_types(corpus: Corpus) -> Any:
    """Return the type system for a corpus.

    The layer always has ``feature`` (the label), ``group`` (fragments of one annotation share it:
    INCEpTION has no spans in several pieces) and ``comment``; each further feature would be one
    more empty field before the annotator, so they are there only if the corpus has need of them.
    """
    types = require_cassis("Writing CAS files").TypeSystem()
    for name, (parent, features) in _TYPES.items():
        made = types.create_type(name, parent)
        for feature, range_ in features.items():
            types.create_feature(made, feature, range_)
    layer = types.create_type(LAYER, _ANNOTATION, description="What expresses a rubric's feature.")
    for feature, range_, description in _layer_features(corpus):
        types.create_feature(layer, feature, range_, description=description)
    return types


def _layer_features(corpus: Corpus) -> Iterator[tuple[str, str, str]]:
    details = list(corpus.rows.details.values())
    yield "feature", _STRING, "The feature of the rubric."
    yield "group", _STRING, "The same text in all fragments of one annotation; else empty."
    yield "comment", _STRING, "A remark."
    if any(detail.reason for detail in details):
        yield "reason", _STRING, "Why it was marked."
    if any(detail.attributes for detail in details):
        yield "attributes", "uima.cas.StringArray", "NAME=VALUE."
    if any(detail.stated_text is not None for detail in details):
        yield "statedText", _STRING, "The text a file gave where it differs from the note."
    if corpus.rows.confidence is not None:
        yield "confidence", "uima.cas.Float", "How sure a matcher is."


def words(text: str) -> list[tuple[int, int]]:
    """Return the tokens: runs of letters and digits, and each other sign alone.

    >>> words("58 yo.")
    [(0, 2), (3, 5), (5, 6)]
    """
    return [match.span() for match in _WORD.finditer(text)]


def sentences(text: str) -> list[tuple[int, int]]:
    r"""Return the sentences (or lines), without blanks at their ends; every token is in one.

    >>> sentences(" No pain. Fever\r\nDenies chills ")
    [(1, 9), (10, 15), (17, 30)]
    """
    ends = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
    found = []
    for start, end in pairwise(ends):
        piece = text[start:end]
        if piece.strip():
            skipped = len(piece) - len(piece.lstrip())
            found.append((start + skipped, start + len(piece.rstrip())))
    return found


TYPES_NAME = "TypeSystem.xml"
#: INCEpTION's name for a text as imported, before anybody judged it.
INITIAL = "INITIAL_CAS"
NOTE_RESERVED = frozenset({TYPES_NAME, FRAME_NAME})
ANNOTATOR_RESERVED = frozenset({INITIAL})


def write_cas(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write a folder of CAS XMI files with their type system."""
    _refuse_what_xml_cannot_hold(corpus)
    _write(corpus, path, "xmi", progress)


def write_cas_json(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write a folder of CAS JSON files (version 0.4.0) with their type system."""
    _write(corpus, path, "json", progress)


def _write(corpus: Corpus, path: Path, suffix: str, progress: Progress) -> None:
    types = make_types(corpus)
    path.mkdir()
    types.to_xml(path / TYPES_NAME)
    for note, judged in judged_notes(corpus, progress):
        folder = path / id_to_name(note.id, reserved=NOTE_RESERVED)
        folder.mkdir()
        segments = (sentences(note.text), words(note.text))
        files = {id_to_name(a, reserved=ANNOTATOR_RESERVED): own for a, own in judged.items()}
        for name, own in (files or {INITIAL: []}).items():
            cas = _start_cas(types, note, segments)
            _add_annotations(cas, types.get_type(LAYER), note, own)
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


def _add_annotations(cas: Any, layer: Any, note: Note, annotations: list[Labelled]) -> None:
    offsets = Utf16Map(note.text)
    n_groups = 0
    for label, annotation in annotations:
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


def _more(cas: Any, annotation: PlainAnnotation) -> dict[str, object]:
    """Return the values that only the first fragment of an annotation carries."""
    detail = annotation.detail
    more: dict[str, object] = {}
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
            found = NOT_XML.search(text)
            if found:
                character = f"U+{ord(found.group()):04X} at {found.start()}"
                faults.append(Fault(f"note {note.id!r}, {what}: {character}. {hint}."))
    InputError.raise_any(faults)


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
