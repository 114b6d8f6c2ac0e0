"""Phrases: what annotators marked for a feature, as strings to look for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rubricate.errors import Fault, InputError
from rubricate.matchers.folding import fold_text
from rubricate.matchers.learning import JudgedNote
from rubricate.matchers.model_files import read_lines


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase that stands for a feature.

    Parameters
    ----------
    feature : str
        The feature's id.
    fragments : tuple of str
        The words, folded; more than one where annotators left words out between them.
    n_notes : int
        In how many training notes it was marked; 0 for one that was not seen in training.
    precision : float
        How often it stood for the feature where it was found, smoothed (see `phrase_precision`).
    source : str
        ``"training"``, ``"rubric"``, or what a variant was made from.
    """

    feature: str
    fragments: tuple[str, ...]
    n_notes: int = 1
    precision: float = 0.5
    source: str = "training"

    @property
    def text(self) -> str:
        """The fragments as a reader sees them.

        Examples
        --------
        >>> Phrase("14", ("denies", "fainting")).text
        'denies ... fainting'
        """
        return " ... ".join(self.fragments)

    def to_json(self) -> dict[str, Any]:
        """Return a line of ``phrases.jsonl``."""
        return {
            "feature": self.feature,
            "fragments": list(self.fragments),
            "n_notes": self.n_notes,
            "precision": round(self.precision, 4),
            "source": self.source,
        }


def learn_phrases(judged: Iterable[JudgedNote]) -> list[Phrase]:
    """Return every phrase marked, once for each feature, in a fixed order.

    Examples
    --------
    >>> from rubricate.corpus import Annotation, Note
    >>> from rubricate.spans import Span
    >>> marked = (Annotation("f", (Span(0, 5), Span(7, 9))),)
    >>> judged = JudgedNote(Note("n", "c", "Chest; is tight"), {"f": marked})
    >>> [phrase.text for phrase in learn_phrases([judged])]
    ['chest ... is']
    """
    notes: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for note, marked_by_feature in judged:
        folded = fold_text(note.text)
        seen = {
            (feature, tuple(span.text(folded) for span in annotation.spans))
            for feature, marked in marked_by_feature.items()
            for annotation in marked
        }
        notes.update((f, fragments) for f, fragments in seen if all(x.strip() for x in fragments))
    return [Phrase(feature, fragments, n) for (feature, fragments), n in sorted(notes.items())]


def phrase_precision(right: int, wrong: int, n_notes: int) -> float:
    r"""Return how far a phrase can be trusted.

    The share of right hits with one right and one wrong hit added (Laplace's rule of succession,
    Laplace 1814). The note a phrase was taken from tells nothing about it, so one right hit is
    left out: :math:`(r - 1 + 1) / (r - 1 + w + 2)` for a phrase with :math:`r \ge 1` right and
    :math:`w` wrong hits in training.

    Examples
    --------
    >>> phrase_precision(1, 0, 1), phrase_precision(9, 0, 9)
    (0.5, 0.9)
    """
    right = right - 1 if n_notes else right
    right = max(right, 0)
    return (right + 1) / (right + wrong + 2)


def read_phrases(path: Path) -> Iterator[Phrase]:
    """Read ``phrases.jsonl``; InputError names the line that is wrong."""
    for number, line in read_lines(path):
        try:
            fragments = tuple(fold_text(str(part)) for part in line["fragments"])
            phrase = Phrase(
                str(line["feature"]),
                fragments,
                int(line.get("n_notes", 0)),
                float(line.get("precision", 0.5)),
                str(line.get("source", "training")),
            )
        except (KeyError, TypeError, ValueError):
            message = "need 'feature' (text) and 'fragments' (list of texts)"
            raise InputError([Fault(message, path, number)]) from None
        if not fragments or not all(part.strip() for part in fragments):
            raise InputError([Fault("'fragments' holds an empty text", path, number)])
        yield phrase
