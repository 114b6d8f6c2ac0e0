"""The ``fuzzy`` matcher: phrases seen in training, found within two edits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from rubricate.corpus import Corpus, Note
from rubricate.matchers.folding import fold_text
from rubricate.matchers.fuzzy_scanning import FuzzyScanner, Tolerance
from rubricate.matchers.matcher import own_parameters, require_fitted
from rubricate.matchers.model_files import check_features
from rubricate.matchers.phrase_model import (
    HitReader,
    PhraseModel,
    fit_phrases,
    load_phrases,
    save_phrases,
)
from rubricate.matchers.predictions import NoteFindings, predict_corpus
from rubricate.rubric import Rubric


class FuzzyMatcher:
    """Finds the phrases that were marked in training within an edit or two.

    The tolerance grows with the length of a phrase (of each of its fragments): short ones must
    stand as they are. Otherwise as `ExactMatcher`; of overlapping hits of one feature the one
    with the fewest edits is kept, then the longest.

    Parameters
    ----------
    window : int
        Most characters between two fragments of a phrase.
    one_edit_from, two_edits_from : int
        From which length on one edit, and two edits, are allowed.

    Attributes
    ----------
    model_ : PhraseModel
        The learned phrases.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["30"])
    >>> found = FuzzyMatcher().fit(corpus).predict(corpus)
    >>> found.annotators[0].id
    'fuzzy'
    """

    name: ClassVar[str] = "fuzzy"

    def __init__(
        self, *, window: int = 60, one_edit_from: int = 5, two_edits_from: int = 10
    ) -> None:
        self.window = window
        self.one_edit_from = one_edit_from
        self.two_edits_from = two_edits_from

    def get_params(self) -> dict[str, Any]:
        """Return the constructor's parameters."""
        return own_parameters(self)

    def fit(self, corpus: Corpus, *, annotator: str | None = None) -> Self:
        """Learn every phrase the annotator marked."""
        self.model_: PhraseModel = fit_phrases(corpus, annotator, window=self.window)
        return self

    def predict(self, corpus: Corpus) -> Corpus:
        """Return the corpus with what the phrases mark, under the annotator ``fuzzy``."""
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
