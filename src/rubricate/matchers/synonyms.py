"""The ``synonyms`` matcher: fuzzy, plus variants of phrases and of the rubric's own words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

from rubricate.corpus import Corpus, Note
from rubricate.lexicon.store import load_default_lexicon
from rubricate.matchers.folding import fold_text
from rubricate.matchers.fuzzy_scanning import FuzzyScanner, Tolerance
from rubricate.matchers.learning import judged_notes, learning_annotator
from rubricate.matchers.matcher import own_parameters, require_fitted
from rubricate.matchers.model_files import check_features
from rubricate.matchers.phrase_model import (
    HitReader,
    PhraseModel,
    fit_phrases,
    load_phrases,
    save_phrases,
    weigh_phrases,
)
from rubricate.matchers.predictions import NoteFindings, predict_corpus
from rubricate.matchers.variants import vary_all
from rubricate.rubric import Rubric

#: A variant found wrong more often than right in the training notes is not used.
LEAST_PRECISION = 0.5


class SynonymsMatcher:
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
        self.window = window
        self.one_edit_from = one_edit_from
        self.two_edits_from = two_edits_from
        self.lexicon = lexicon

    def get_params(self) -> dict[str, Any]:
        """Return the constructor's parameters."""
        return own_parameters(self)

    def fit(self, corpus: Corpus, *, annotator: str | None = None) -> Self:
        """Learn every phrase the annotator marked, and vary it and the rubric's words."""
        learned = fit_phrases(corpus, annotator, window=self.window)
        lexicon = load_default_lexicon(Path(self.lexicon) if self.lexicon else None)
        made = vary_all(learned.phrases, corpus.features, lexicon)
        judged = list(judged_notes(corpus, learning_annotator(corpus, annotator)))
        weighed = weigh_phrases(made, judged, corpus, window=self.window)
        kept = tuple(p for p in weighed if p.precision >= LEAST_PRECISION)
        self.model_: PhraseModel = replace(learned, phrases=(*learned.phrases, *kept))
        return self

    def predict(self, corpus: Corpus) -> Corpus:
        """Return the corpus with what the phrases mark, under the annotator ``synonyms``."""
        require_fitted(self, "model_")
        check_features(self.model_.features, corpus)
        return predict_corpus(corpus, self.name, self._find)

    def _find(self, rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteFindings]:
        phrases = self.model_.of_rubric(rubric)
        scanner = FuzzyScanner(
            [phrase.fragments for phrase in phrases],
            window=self.window,
            tolerance=Tolerance(self.one_edit_from, self.two_edits_from),
        )
        reader = HitReader(phrases, self.name)
        for note in notes:
            yield reader.findings(scanner.scan(fold_text(note.text)))

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write the model as a folder of readable files."""
        require_fitted(self, "model_")
        save_phrases(
            self.model_,
            folder,
            matcher=self.name,
            parameters=self.get_params(),
            overwrite=overwrite,
        )

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Return the model saved in a folder."""
        model, header = load_phrases(folder, matcher=cls.name)
        matcher = cls(**header.parameters)
        matcher.model_ = model
        return matcher
