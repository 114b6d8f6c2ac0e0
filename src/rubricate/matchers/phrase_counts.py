"""Phrases of annotated notes with how often they were right and wrong, harmful ones dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rubricate.matchers.folding import fold_text
from rubricate.matchers.learning import JudgedNote
from rubricate.matchers.phrase_model import is_right
from rubricate.matchers.phrases import learn_phrases, phrase_precision
from rubricate.matchers.scanning import PhraseScanner
from rubricate.rubric import Rubric

#: Most characters between the fragments of a phrase.
WINDOW = 60
#: A phrase that is right less often than this is dropped.
LEAST_PRECISION = 0.4


@dataclass(frozen=True, slots=True)
class CountedPhrase:
    """A line of the learned lexicon.

    Parameters
    ----------
    feature : str
        The feature's id.
    fragments : tuple of str
        The words.
    tp, fp : int
        In training, how often it was right and how often wrong where it was found.
    precision : float
        Smoothed (`phrase_precision`); a person may set it.
    kept : bool
        False: a stretch that says no more than this is never marked.
    source : str
        ``"training"``, or ``"hand"`` for a line somebody added.
    """

    feature: str
    fragments: tuple[str, ...]
    tp: int = 0
    fp: int = 0
    precision: float = 0.95
    kept: bool = True
    source: str = "hand"

    @property
    def text(self) -> str:
        """The fragments as a reader sees them."""
        return " ... ".join(self.fragments)

    def to_json(self) -> dict[str, Any]:
        """Return a line of ``lexicon.jsonl``."""
        return {
            "feature": self.feature,
            "fragments": list(self.fragments),
            "tp": self.tp,
            "fp": self.fp,
            "precision": round(self.precision, 4),
            "kept": self.kept,
            "source": self.source,
        }


def count_phrases(rubric: Rubric, judged: Sequence[JudgedNote]) -> list[CountedPhrase]:
    """Return the phrases of a case with their counts on its annotated notes."""
    own = {feature.id for feature in rubric}
    phrases = [phrase for phrase in learn_phrases(judged) if phrase.feature in own]
    scanner = PhraseScanner([phrase.fragments for phrase in phrases], window=WINDOW)
    right, wrong = [0] * len(phrases), [0] * len(phrases)
    for note, marked_by_feature in judged:
        for hit in scanner.scan(fold_text(note.text)):
            marked = marked_by_feature.get(phrases[hit.phrase].feature)
            if marked is not None:
                counts = right if is_right(hit.spans, marked) else wrong
                counts[hit.phrase] += 1
    found = []
    for i, phrase in enumerate(phrases):
        precision = phrase_precision(right[i], wrong[i], phrase.n_notes)
        kept = precision >= LEAST_PRECISION
        found.append(
            CountedPhrase(
                phrase.feature, phrase.fragments, right[i], wrong[i], precision, kept, "training"
            )
        )
    return found
