"""The UIMA types of our CAS files: one span layer that INCEpTION imports as it is, and DKPro's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from rubricate.corpus import Corpus
from rubricate.errors import MissingExtraError

LAYER = "webanno.custom.Feature"
_DKPRO = "de.tudarmstadt.ukp.dkpro.core.api"
METADATA = f"{_DKPRO}.metadata.type.DocumentMetaData"
SENTENCE = f"{_DKPRO}.segmentation.type.Sentence"
TOKEN = f"{_DKPRO}.segmentation.type.Token"
NAMED = f"{_DKPRO}.ner.type.NamedEntity"

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
