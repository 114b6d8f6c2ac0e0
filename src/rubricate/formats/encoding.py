"""Rubrics, annotators, scores and metadata as JSON values, shared by every format that has JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rubricate.corpus import Annotator, Corpus, Score
from rubricate.rubric import Feature, Metadata, Rubric

Json = dict[str, Any]

_FEATURE_DEFAULTS = {"weight": 1.0, "kind": "", "group": "", "note": ""}


def feature_to_json(feature: Feature) -> Json:
    """Return the feature as JSON, defaults left out."""
    more = {
        k: getattr(feature, k) for k, v in _FEATURE_DEFAULTS.items() if getattr(feature, k) != v
    }
    return {"id": feature.id, "text": feature.text, **more}


def feature_from_json(value: Mapping[str, Any], case: str) -> Feature:
    """Inverse of `feature_to_json`."""
    return Feature(
        str(value["id"]),
        case,
        str(value["text"]),
        weight=float(value.get("weight", 1.0)),
        kind=str(value.get("kind", "")),
        group=str(value.get("group", "")),
        note=str(value.get("note", "")),
    )


def rubric_to_json(rubric: Rubric) -> Json:
    """Return the rubric as JSON."""
    value: Json = {"case": rubric.case, "features": [feature_to_json(f) for f in rubric.features]}
    if rubric.title:
        value["title"] = rubric.title
    if rubric.metadata:
        value["metadata"] = dict(rubric.metadata)
    return value


def rubric_from_json(value: Mapping[str, Any]) -> Rubric:
    """Inverse of `rubric_to_json`."""
    case = str(value["case"])
    return Rubric(
        case,
        tuple(feature_from_json(f, case) for f in value["features"]),
        title=str(value.get("title", "")),
        metadata=metadata_from_json(value.get("metadata")),
    )


def annotator_to_json(annotator: Annotator) -> Json:
    """Return the annotator as JSON."""
    value: Json = {"id": annotator.id}
    if annotator.group:
        value["group"] = annotator.group
    if annotator.metadata:
        value["metadata"] = dict(annotator.metadata)
    return value


def annotator_from_json(value: Mapping[str, Any]) -> Annotator:
    """Inverse of `annotator_to_json`."""
    return Annotator(
        str(value["id"]),
        group=str(value.get("group", "")),
        metadata=metadata_from_json(value.get("metadata")),
    )


def metadata_from_json(value: Mapping[str, Any] | None) -> Metadata:
    """Return metadata from a JSON object; anything that is not a scalar is a TypeError."""
    for name, item in (value or {}).items():
        if not isinstance(item, str | int | float | bool | None):
            raise TypeError(
                f"metadata field {name!r} must be a text, a number, true, false or null"
            )
    return Metadata(value)


def head_to_json(corpus: Corpus) -> Json:
    """Return everything of a corpus but its notes and rows."""
    head: Json = {
        "rubrics": [rubric_to_json(r) for r in corpus.rubrics],
        "annotators": [annotator_to_json(a) for a in corpus.annotators],
    }
    if corpus.scores:
        head["scores"] = [
            {"note": s.note, "annotator": s.annotator, "value": s.value, "maximum": s.maximum}
            for s in corpus.scores
        ]
    if corpus.metadata:
        head["metadata"] = dict(corpus.metadata)
    return head


def scores_from_json(values: list[Mapping[str, Any]]) -> tuple[Score, ...]:
    """Return the scores of a head written by `head_to_json`."""
    return tuple(
        Score(
            str(v["note"]),
            str(v["annotator"]),
            float(v["value"]),
            None if v.get("maximum") is None else float(v["maximum"]),
        )
        for v in values
    )
