"""What `exact`, `fuzzy` and `synonyms` share: phrases learned, looked for, saved and loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from rubricate.corpus import Corpus, Note
from rubricate.matchers.folding import fold_text
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
from rubricate.matchers.scanning import Hit, PhraseScanner
from rubricate.rubric import Rubric


class Scanner(Protocol):
    """Finds where phrases stand in a text."""

    def scan(self, folded: str) -> list[Hit]:
        """Return the hits in a folded text."""
        ...


class PhraseMatcher:
    """Learns the phrases an annotator marked and looks for them as its scanner does.

    Parameters
    ----------
    window : int
        Most characters between two fragments of a phrase.
    """

    name: ClassVar[str]

    def __init__(self, *, window: int = 60) -> None:
        self.window = window

    def get_params(self) -> dict[str, Any]:
        """Return the constructor's parameters."""
        return own_parameters(self)

    def fit(self, corpus: Corpus, *, annotator: str | None = None) -> Self:
        """Learn every phrase the annotator marked."""
        self.model_: PhraseModel = fit_phrases(corpus, annotator, window=self.window)
        return self

    def predict(self, corpus: Corpus) -> Corpus:
        """Return the corpus with what the phrases mark, under the matcher's name."""
        require_fitted(self, "model_")
        check_features(self.model_.features, corpus)
        return predict_corpus(corpus, self.name, self._find)

    def _scanner(self, phrases: Sequence[tuple[str, ...]]) -> Scanner:
        return PhraseScanner(phrases, window=self.window)

    def _find(self, rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteFindings]:
        phrases = self.model_.of_rubric(rubric)
        scanner = self._scanner([phrase.fragments for phrase in phrases])
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
