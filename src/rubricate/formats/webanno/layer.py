"""What a WebAnno layer says about an annotation: our own layer, and those of others."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from urllib.parse import parse_qsl, quote, urlencode

from rubricate.corpus import Corpus, Note
from rubricate.formats.annotations import has_fragments
from rubricate.formats.faults import Faults
from rubricate.formats.frame import Frame
from rubricate.formats.webanno.read import LayerSpan
from rubricate.rows import Detail, PlainAnnotation

#: The layer we write; it must be in the project before INCEpTION can import the files. The CAS
#: files of `rubricate.formats.cas` bring it along, with the same features.
LAYER = "webanno.custom.Feature"
#: The label, and what fragments of one annotation share.
FEATURE, GROUP = "feature", "group"
COMMENT, REASON, CONFIDENCE, STATED = "comment", "reason", "confidence", "statedText"
#: All attributes in one string: TSV has no lists, so this is not the ``attributes`` of CAS files.
ATTRIBUTES = "attributeList"

_DKPRO = "de.tudarmstadt.ukp.dkpro.core.api."
_ABOUT_WORDS = ("lexmorph", "segmentation", "syntax", "transform")
#: Layers about words, not about what a note says.
_LINGUISTIC = tuple(f"{_DKPRO}{part}." for part in _ABOUT_WORDS)
_LABEL_NAMES = ("value", "label", "referenceType")


def spans_to_annotations(
    spans: list[LayerSpan], note: Note, frame: Frame, faults: Faults, *, strict: bool
) -> Iterator[tuple[str, PlainAnnotation]]:
    """Yield labels with annotations; fragments of our own layer are put together.

    Spans outside the note, labels of our own layer that the frame's rubrics lack and values that
    make no sense go into ``faults``.
    """
    joined: dict[tuple[str, str, str], list[LayerSpan]] = {}
    for span in spans:
        if span.layer.startswith(_LINGUISTIC):
            continue
        if strict:
            faults.check_span(span.start, span.end, len(note.text), note.id, span.line)
        label = span.values.pop(_label_name(span), None) or span.layer.rpartition(".")[2]
        group = span.values.pop(GROUP, None) if span.layer == LAYER else None
        # The position keeps spans apart that are no fragments.
        key = f"group {group}" if group is not None else f"alone {len(joined)}"
        joined.setdefault((span.layer, label, key), []).append(span)
    for (layer, label, _), fragments in joined.items():
        values: dict[str, str] = {}
        links: dict[str, str] = {}
        for fragment in fragments:
            values |= {name: v for name, v in fragment.values.items() if name not in values}
            links |= {name: v for name, v in fragment.links.items() if name not in links}
        if layer == LAYER:
            frame.check_label(label, faults, line=fragments[0].line)
        confidence = None
        if layer == LAYER and CONFIDENCE in values:
            try:
                confidence = float(values.pop(CONFIDENCE))
            except ValueError:
                faults.add(f"{CONFIDENCE!r} is not a number", line=fragments[0].line)
        pairs = tuple((fragment.start, fragment.end) for fragment in fragments)
        yield label, PlainAnnotation(pairs, confidence, _detail(layer, values, links))


def _label_name(span: LayerSpan) -> str:
    if span.layer == LAYER:
        return FEATURE
    named = [name for name in _LABEL_NAMES if name in span.values]
    return next(chain(named, span.values), "")


def _detail(layer: str, values: dict[str, str], links: dict[str, str]) -> Detail:
    own = layer == LAYER
    attributes = parse_qsl(values.pop(ATTRIBUTES, ""), keep_blank_values=True) if own else []
    return Detail(
        comment=values.pop(COMMENT, ""),
        reason=values.pop(REASON, "") if own else "",
        stated_text=values.pop(STATED, None) if own else None,
        attributes=(*attributes, *values.items(), *links.items()),
    )


def columns_in_use(corpus: Corpus) -> list[str]:
    """Return the features in use: INCEpTION refuses files with features its layer lacks."""
    details = corpus.rows.details.values()
    used = {
        GROUP: has_fragments(corpus),
        COMMENT: any(d.comment for d in details),
        REASON: any(d.reason for d in details),
        CONFIDENCE: corpus.rows.confidence is not None,
        ATTRIBUTES: any(d.attributes for d in details),
        STATED: any(d.stated_text is not None for d in details),
    }
    return [FEATURE, *(name for name, is_used in used.items() if is_used)]


def annotation_values(annotation: PlainAnnotation) -> dict[str, str]:
    """Return what is said of an annotation besides its label and place, by feature name.

    >>> detail = Detail(comment="?", attributes=(("Certainty", "very low"),))
    >>> annotation_values(PlainAnnotation(((0, 5),), 0.5, detail))
    {'comment': '?', 'attributeList': 'Certainty=very%20low', 'confidence': '0.5'}
    """
    detail = annotation.detail
    values = {COMMENT: detail.comment, REASON: detail.reason}
    values = {name: value for name, value in values.items() if value}
    if detail.attributes:
        values[ATTRIBUTES] = urlencode(detail.attributes, quote_via=quote, safe="")
    if annotation.confidence is not None:
        values[CONFIDENCE] = repr(annotation.confidence)
    if detail.stated_text is not None:
        values[STATED] = detail.stated_text
    return values
