"""rubricate in other tools: INCEpTION's external recommender, and Label Studio's ML backend.

INCEpTION (``ExternalRecommender.java``, version 1) appends ``predict`` or ``train`` to the address
it was given and sends no credentials, so the token is in the path, which no log keeps. Label Studio
(``ml/api_connector.py``) sends the token as the password of Basic authentication.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple
from xml.etree import ElementTree

import msgspec
from starlette.responses import Response

from rubricate import __version__
from rubricate.corpus import Corpus, Note
from rubricate.errors import InputError, shown
from rubricate.formats.annotations import from_utf16
from rubricate.formats.cas.write import TOKEN, require_cassis
from rubricate.formats.encoding import Json
from rubricate.formats.frame import feature_labels
from rubricate.formats.reading import unsafe_xml
from rubricate.matchers import Matcher, fit_matcher
from rubricate.rubric import Rubric
from rubricate.store.projects import project_row
from rubricate.store.refusals import NotFoundError
from rubricate.store.rubrics import rubric_of
from rubricate.web.calls import Call, HttpError

MATCHER = "lexicon"
#: What INCEpTION adds to the layer of a recommender.
_PREDICTED = "inception_internal_predicted"
_ANNOTATION = "uima.tcas.Annotation"
_OF_EVERY_ANNOTATION = {"begin", "end", "sofa"}


class InceptionMetadata(msgspec.Struct):
    """Which layer and feature are wanted, and in which part of the text."""

    layer: str
    feature: str
    anchoringMode: str = "characters"  # noqa: N815
    range: dict[str, int] | None = None


class InceptionDocument(msgspec.Struct):
    """One text as XMI."""

    xmi: str


class InceptionPredict(msgspec.Struct):
    """Body of INCEpTION's ``predict``."""

    metadata: InceptionMetadata
    document: InceptionDocument
    typeSystem: str  # noqa: N815


class InceptionTrain(msgspec.Struct):
    """Body of INCEpTION's ``train``; nothing is learned from it."""

    metadata: InceptionMetadata


class StudioTask(msgspec.Struct):
    """One task of Label Studio."""

    data: Json
    id: int | None = None


class StudioPredict(msgspec.Struct):
    """Body of Label Studio's ``predict``."""

    tasks: list[StudioTask]
    label_config: str = ""


class StudioSetup(msgspec.Struct):
    """Body of Label Studio's ``setup``; its access token is not even read."""

    schema: str = ""


class StudioEvent(msgspec.Struct):
    """Body of Label Studio's ``webhook``."""

    action: str = ""


class FoundSpan(NamedTuple):
    """One span that a matcher found."""

    start: int
    end: int
    feature: str
    score: float
    reason: str


@lru_cache(64)
def _matcher(rubric: Rubric) -> Matcher:
    return fit_matcher(MATCHER, Corpus((), (rubric,)))


def _rubric(call: Call) -> Rubric:
    if "annotator" in call.roles and not call.read(project_row, call.project).suggestions:
        message = (
            "This project shows its annotators no suggestions; its manager can switch them on."
        )
        raise HttpError(403, "forbidden", message)
    rubric: Rubric = call.read(rubric_of, call.project, call.path["case"])[1]
    if not len(rubric):
        raise NotFoundError("This project has no such case.")
    return rubric


def _need_safe(text: str) -> None:
    why = unsafe_xml(text.encode())
    if why is not None:
        raise InputError(why)


def _find(rubric: Rubric, text: str) -> Iterator[FoundSpan]:
    """Yield what is found in a text; fragments become spans of their own."""
    found = _matcher(rubric).predict(Corpus((Note("n", rubric.case, text),), (rubric,)))
    for i in range(len(found.rows)):
        for one in found.row_annotations(i):
            for span in one.spans:
                sure = 1.0 if one.confidence is None else one.confidence
                yield FoundSpan(span.start, span.end, one.feature, sure, one.detail.reason)


def post_inception_predict(call: Call) -> dict[str, str]:
    """Return the text's XMI with what was found in it."""
    rubric, wanted = _rubric(call), call.body.metadata
    cassis = require_cassis("INCEpTION's XMI")
    _need_safe(call.body.typeSystem)
    _need_safe(call.body.document.xmi)
    try:
        types = cassis.load_typesystem(call.body.typeSystem)
        cas = cassis.load_cas_from_xmi(call.body.document.xmi, typesystem=types)
        layer = types.get_type(wanted.layer)
        text: str | None = cas.sofa_string
    except Exception as error:
        raise InputError("the XMI and its types cannot be read") from error
    if text is None:
        raise InputError("the XMI has no text")
    if not types.subsumes(_ANNOTATION, layer.name):
        raise InputError(f"the layer {shown(wanted.layer)} is none of annotations")
    known = {feature.name for feature in layer.all_features} - _OF_EVERY_ANNOTATION
    labels = feature_labels(Corpus((), (rubric,)))
    low, high = 0, len(text)
    if wanted.range:
        points = from_utf16(text)
        last = len(points) - 1
        given = (wanted.range.get("begin", 0), wanted.range.get("end", last))
        low, high = (int(points[min(max(0, one), last)]) for one in given)
    tokens = [(t.begin, t.end) for t in cas.select(TOKEN)] if types.contains_type(TOKEN) else []
    for one in _find(rubric, text):
        start, end = one.start, one.end
        if wanted.anchoringMode != "characters":
            own = [t for t in tokens if t[0] < end and start < t[1]]
            start, end = (own[0][0], own[-1][1]) if own else (start, end)
        if start < low or end > high:
            continue
        values = {wanted.feature: labels[one.feature], _PREDICTED: True}
        values |= {f"{wanted.feature}_score": one.score,
                   f"{wanted.feature}_score_explanation": one.reason}  # fmt: skip
        fields = {name: value for name, value in values.items() if name in known}
        cas.add(layer(begin=start, end=end, **fields))
    return {"document": cas.to_xmi()}


def post_inception_train(call: Call) -> None:
    """Take what annotators marked so far; the matcher needs none of it."""
    _rubric(call)


def get_studio_health(call: Call) -> dict[str, str]:
    """Say that the backend is up."""
    _rubric(call)
    return {"status": "UP", "model_class": "rubricate"}


def _version(rubric: Rubric) -> str:
    return f"rubricate {__version__} {MATCHER} {rubric.case}"


def post_studio_setup(call: Call) -> dict[str, str]:
    """Say which model answers."""
    return {"model_version": _version(_rubric(call))}


def post_studio_webhook(_call: Call) -> Response:
    """Take notice of what happened."""
    return Response(b"{}", 201, media_type="application/json")


def post_studio_predict(call: Call) -> Json:
    """Return the findings in each task."""
    rubric = _rubric(call)
    from_name, to_name, field, known = _config(call.body.label_config)
    labels = _labels(rubric, known)
    results = []
    for task in call.body.tasks:
        text = task.data.get(field)
        found = list(_find(rubric, text)) if isinstance(text, str) else []
        regions = [
            {
                "id": f"r{k}", "from_name": from_name, "to_name": to_name,
                "type": "labels", "score": one.score,
                "value": {"start": one.start, "end": one.end, "text": text[one.start : one.end],
                          "labels": [labels[one.feature]], "score": one.score},
            }
            for k, one in enumerate(found)
            if isinstance(text, str) and one.feature in labels
        ]  # fmt: skip
        score = min([one.score for one in found], default=0.0)
        results.append({"model_version": _version(rubric), "score": score, "result": regions})
    return {"results": results}


def _config(text: str) -> tuple[str | None, str | None, str, list[str]]:
    """Return a configuration's names: of the labels and the text, the text's field, each label."""
    _need_safe(text)
    with suppress(ElementTree.ParseError):
        root = ElementTree.fromstring(text)
        texts = {one.get("name"): one for one in root.iter("Text")}
        for labels in root.iter("Labels"):
            own = texts.get(labels.get("toName"))
            if own is not None:
                values = [one.get("value", "") for one in labels.iter("Label")]
                field = own.get("value", "").lstrip("$")
                return labels.get("name"), own.get("name"), field, values
    raise InputError("the labelling configuration has no Labels for a Text")


def _labels(rubric: Rubric, known: list[str]) -> Mapping[str, str]:
    """Return the label of each feature that the configuration has: ours, its id or its words."""
    ours = feature_labels(Corpus((), (rubric,)))
    found = {}
    for feature in rubric:
        names = (ours[feature.id], feature.id, feature.text)
        label = next((name for name in names if name in known), None)
        if label is not None:
            found[feature.id] = label
    return found
