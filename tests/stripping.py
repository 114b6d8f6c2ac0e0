"""Expected corpora after writing to a format that cannot hold everything."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from rubricate import Corpus
from rubricate.rows import Detail, Rows

#: Loss kinds and the field of Detail that goes with them.
_FIELDS = {
    "reasons": "reason",
    "comments": "comment",
    "attributes": "attributes",
    "stated text": "stated_text",
}


def stripped(corpus: Corpus, holds: Set[str]) -> Corpus:
    """Return the corpus without the confidences, probabilities and details not in ``holds``."""
    rows, empty = corpus.rows, Detail()
    lost = {field: getattr(empty, field) for kind, field in _FIELDS.items() if kind not in holds}
    kept = Rows.build(
        note=rows.note,
        annotator=rows.annotator,
        feature=rows.feature,
        row_of_annotation=rows.annotation_row,
        annotation_of_span=rows.span_annotation,
        start=rows.start,
        end=rows.end,
        probability=rows.probability if "probability" in holds else None,
        confidence=rows.confidence if "confidence" in holds else None,
        details={i: detail._replace(**lost) for i, detail in rows.details.items()},
    )
    return replace(corpus, rows=kept)
