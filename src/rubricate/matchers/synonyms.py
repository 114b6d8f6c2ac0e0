"""The ``synonyms`` matcher: fuzzy, plus variants of phrases and of the rubric's own words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Self

from rubricate.corpus import Corpus
from rubricate.lexicon.store import load_default_lexicon
from rubricate.matchers.fuzzy import FuzzyMatcher
from rubricate.matchers.learning import judged_notes, learning_annotator
from rubricate.matchers.phrase_model import fit_phrases, weigh_phrases
from rubricate.matchers.variants import vary_all

#: A variant found wrong more often than right in the training notes is not used.
LEAST_PRECISION = 0.5


class SynonymsMatcher(FuzzyMatcher):
    """Finds training phrases, the rubric's own words, and variants of both by the lexicon.

    A variant has one word or phrase replaced by a synonym or by clinical shorthand, or shorthand
    written out. Variants that were more often wrong than right in the training notes are left
    out. Otherwise as `FuzzyMatcher`. Works without annotated notes, from the rubric alone.

    Parameters
    ----------
    window : int
        Most characters between two fragments of a phrase.
    one_edit_from, two_edits_from : int
        From which length on one edit, and two edits, are allowed.
    lexicon : str, optional
        Path of a built lexicon (``rubricate lexicon build``); by default the embedded one.

    Attributes
    ----------
    model_ : PhraseModel
        The learned phrases and their variants.

    Examples
    --------
    >>> from rubricate import Corpus, load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> found = SynonymsMatcher().fit(Corpus((), corpus.rubrics)).predict(corpus)
    >>> note = corpus.notes[0]
    >>> found.annotations(note.id, "10", "synonyms")[0].detail.reason
    'synonyms: "htn"; from synonym of "hypertension"'
    """

    name: ClassVar[str] = "synonyms"

    def __init__(
        self,
        *,
        window: int = 60,
        one_edit_from: int = 5,
        two_edits_from: int = 10,
        lexicon: str | None = None,
    ) -> None:
        super().__init__(window=window, one_edit_from=one_edit_from, two_edits_from=two_edits_from)
        self.lexicon = lexicon

    def fit(self, corpus: Corpus, *, annotator: str | None = None) -> Self:
        """Learn every phrase the annotator marked, and vary it and the rubric's words."""
        learned = fit_phrases(corpus, annotator, window=self.window)
        lexicon = load_default_lexicon(Path(self.lexicon) if self.lexicon else None)
        made = vary_all(learned.phrases, corpus.features, lexicon)
        judged = list(judged_notes(corpus, learning_annotator(corpus, annotator)))
        weighed = weigh_phrases(made, judged, corpus, window=self.window)
        kept = tuple(p for p in weighed if p.precision >= LEAST_PRECISION)
        self.model_ = replace(learned, phrases=(*learned.phrases, *kept))
        return self
