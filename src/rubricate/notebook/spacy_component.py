"""A spaCy component that puts the evidence of each feature into ``doc.spans``.

Installed packages of spaCy find it by its entry point, so that ``nlp.add_pipe("rubricate", ...)``
needs no import.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from spacy.language import Language
from spacy.tokens import SpanGroup

from rubricate.corpus import Corpus, Note
from rubricate.errors import InputError
from rubricate.matchers import Matcher, fit_matcher, load_matcher
from rubricate.notebook.inputs import as_rubric_file

if TYPE_CHECKING:
    from spacy.tokens import Doc


@Language.factory(
    "rubricate",
    assigns=["doc.spans"],
    default_config={
        "rubric": None,
        "case": "",
        "matcher": "lexicon",
        "model": None,
        "spans_key": "rubricate",
    },
)
class EvidenceComponent:
    """Marks in each text the spans that express the features of one rubric.

    Spans have the feature's id as label, and ``doc.spans[spans_key].attrs`` has the feature's
    probability and outcome by id. Spans that cut a token are widened to whole ones; the exact
    offsets stand in ``attrs["offsets"]``, in the order of the spans.

    Parameters
    ----------
    rubric : path or texts of features
    case : str
        Which of several rubrics.
    matcher, model : str
        A matcher by name, or a folder that ``fit`` wrote.

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
        rubric: str | list[str] | None,
        case: str,
        matcher: str,
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
        self.matcher: Matcher = (
            fit_matcher(matcher, corpus) if model is None else load_matcher(Path(model))
        )

    def __call__(self, doc: Doc) -> Doc:
        """Add the evidence of one text."""
        note = Note("doc", self.rubric.case, doc.text)
        found = self.matcher.predict(Corpus((note,), (self.rubric,))).to_frame()
        spans, offsets = [], []
        for line in found.drop_nulls("start").iter_rows(named=True):
            place = (line["start"], line["end"])
            span = doc.char_span(*place, label=line["feature"], alignment_mode="expand")
            if span is not None:
                spans.append(span)
                offsets.append(place)
        by_feature = found.unique("feature", maintain_order=True)
        attributes = {
            "offsets": offsets,
            "probability": dict(by_feature.select("feature", "probability").iter_rows()),
            "outcome": dict(by_feature.select("feature", "outcome").iter_rows()),
        }
        doc.spans[self.spans_key] = SpanGroup(
            doc, name=self.spans_key, attrs=attributes, spans=spans
        )
        return doc
