"""A spaCy component that puts the evidence of each feature into ``doc.spans``.

Installed packages of spaCy find it by its entry point, so that ``nlp.add_pipe("rubricate", ...)``
needs no import.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from spacy.language import Language
from spacy.tokens import SpanGroup

from rubricate.corpus import Corpus, Note
from rubricate.errors import InputError
from rubricate.matchers import (
    Matcher,
    default_matcher,
    fit_matcher,
    load_matcher,
    predict_in_parts,
    refuse_matcher_of_model,
)
from rubricate.notebook.inputs import as_rubric_file
from rubricate.rubric import outcome_of

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

    from rubricate.rubric import Outcome


@Language.factory(
    "rubricate",
    assigns=["doc.spans"],
    default_config={
        "rubric": None,
        "case": "",
        "matcher": None,
        "model": None,
        "spans_key": "rubricate",
    },
)
class EvidenceComponent:
    """Pipeline component that adds the spans that express the features of one rubric.

    Spans have the feature's id as label, and ``doc.spans[spans_key].attrs`` has the feature's
    probability and outcome by id. Spans that cut a token are widened to whole tokens. The exact
    offsets are in ``attrs["offsets"]``, in the order of the spans. If the matcher fails at a
    text, ``attrs["failed"]`` has the reason and there are no spans.

    Parameters
    ----------
    rubric : path, texts of features, or dictionaries
        As for `rubricate.score`.
    case : str
        Case of the rubric, if there are several.
    matcher : str, optional
        One of `rubricate.matchers.MATCHERS`. Default: ``cascade``, as for `rubricate.score`.
    model : path or name, optional
        A folder that ``fit`` wrote, or ``fast``, ``accurate`` or ``cascade``. Not together with
        ``matcher``.
    spans_key : str
        Key of ``doc.spans``.

    Examples
    --------
    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> _ = nlp.add_pipe("rubricate", config={"rubric": ["No fever", "Cough"]})
    >>> doc = nlp("Pt denies fever.")
    >>> [(span.text, span.label_) for span in doc.spans["rubricate"]]
    [('denies fever', 'rubric-no-fever')]
    """

    def __init__(
        self,
        nlp: Language,
        name: str,
        rubric: str | list[str] | list[dict[str, Any]] | dict[str, float] | None,
        case: str,
        matcher: str | None,
        model: str | None,
        spans_key: str,
    ) -> None:
        self.name = name
        self.spans_key = spans_key
        given = as_rubric_file(rubric)
        found = () if given is None else given.for_cases([case] if case else [])
        own = [one for one in found if one.case == case or not case]
        if len(own) != 1:
            cases = ", ".join(repr(one.case) for one in found) or "none"
            raise InputError(f"the component needs one rubric; name its case. There are: {cases}")
        self.rubric = own[0]
        corpus = Corpus((), (self.rubric,))
        refuse_matcher_of_model(matcher, model)
        self.matcher: Matcher = (
            fit_matcher(matcher or default_matcher(), corpus)
            if model is None
            else load_matcher(model)
        )

    def __call__(self, doc: Doc) -> Doc:
        """Add the evidence of one text."""
        note = Note("doc", self.rubric.case, doc.text)
        predicted, failed = predict_in_parts(self.matcher, Corpus((note,), (self.rubric,)))
        spans: list[Span] = []
        offsets: list[tuple[int, int]] = []
        probability: dict[str, float | None] = {}
        outcome: dict[str, Outcome] = {}
        # No data frame: polars has no threads in the processes of `nlp.pipe`.
        rows = predicted.rows
        for row in predicted.note_rows("doc"):
            feature = predicted.features[int(rows.feature[row])].id
            annotations = list(predicted.row_annotations(row))
            known = math.nan if rows.probability is None else float(rows.probability[row])
            probability[feature] = None if math.isnan(known) else known
            outcome[feature] = outcome_of(bool(annotations), row in rows.contradictions)
            for one in (span for own in annotations for span in own.spans):
                span = doc.char_span(one.start, one.end, label=feature, alignment_mode="expand")
                if span is not None:
                    spans.append(span)
                    offsets.append((one.start, one.end))
        attributes: dict[str, object] = {
            "offsets": offsets,
            "probability": probability,
            "outcome": outcome,
        }
        if failed:
            attributes["failed"] = failed[0].reason
        doc.spans[self.spans_key] = SpanGroup(
            doc, name=self.spans_key, attrs=attributes, spans=spans
        )
        return doc
