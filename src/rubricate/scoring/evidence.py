"""What a matcher finds in notes, as plain values that can be kept and sent."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rubricate.corpus import Corpus, Note
from rubricate.errors import InputError, RubricateError
from rubricate.matchers import Matcher, load_matcher
from rubricate.rubric import Rubric

#: Digits kept of probabilities, so that the last bits of a sum cannot change a file.
DIGITS = 4
Spans = tuple[tuple[tuple[int, int], ...], ...]


class Evidence(NamedTuple):
    """What was found for one feature in one note.

    Parameters
    ----------
    spans : tuple of tuples of (start, end)
        The fragments of each annotation; empty where the feature was not found.
    probability : float or None
        That the feature is present, where the matcher says so.
    confidence : float or None
        Of the surest annotation.
    text : tuple of str
        The words of each annotation.
    reason : str
        What the matcher gives as its reasons.
    """

    spans: Spans = ()
    probability: float | None = None
    confidence: float | None = None
    text: tuple[str, ...] = ()
    reason: str = ""

    @property
    def found(self) -> bool:
        """Whether the feature was found."""
        return bool(self.spans)

    @property
    def certainty(self) -> float | None:
        """How sure the matcher is of its decision: of presence where found, else of absence.

        The probability of what was decided; where there is none, the confidence of the surest
        annotation; None for absences the matcher gives no probability for.

        Examples
        --------
        >>> Evidence(probability=0.1).certainty
        0.9
        >>> Evidence().certainty is None
        True
        """
        if self.found:
            return self.confidence if self.probability is None else self.probability
        return None if self.probability is None else round(1.0 - self.probability, DIGITS)

    def to_json(self) -> list[Any]:
        """Return the values as a list."""
        return [self.spans, self.probability, self.confidence, self.text, self.reason]

    @staticmethod
    def from_json(value: Sequence[Any]) -> Evidence:
        """Inverse of `to_json`."""
        spans = tuple(tuple((int(s), int(e)) for s, e in one) for one in value[0])
        return Evidence(spans, value[1], value[2], tuple(value[3]), value[4])


def note_evidence(predicted: Corpus, note: Note) -> dict[str, Evidence]:
    """Return what the only annotator of a corpus found in a note, by feature.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["30"], annotators=["reference"])
    >>> note_evidence(corpus, corpus.notes[0])["3012"].text
    ('no fever',)
    """
    rows = predicted.rows
    found = {}
    for row in predicted.note_rows(note.id):
        annotations = predicted.row_annotations(row)
        known = [one.confidence for one in annotations if one.confidence is not None]
        probability = None if rows.probability is None else _known(float(rows.probability[row]))
        found[predicted.features[int(rows.feature[row])].id] = Evidence(
            spans=tuple(tuple((s.start, s.end) for s in one.spans) for one in annotations),
            probability=probability,
            confidence=_known(max(known)) if known else None,
            text=tuple(one.text(note.text) for one in annotations),
            reason="; ".join(dict.fromkeys(one.detail.reason for one in annotations)),
        )
    return found


def _known(value: float) -> float | None:
    return None if math.isnan(value) else round(value, DIGITS)


@dataclass(frozen=True, slots=True)
class ScoringWork:
    """Finds evidence in batches of notes, wherever it is sent.

    Parameters
    ----------
    model : str
        Folder of the model; every worker must see it.
    rubrics : tuple of Rubric
        Rubrics of all cases.
    seed : int
        Set before each batch, for matchers that leave something to chance.
    version : str
        Of this package; a worker that has another one refuses.
    """

    model: str
    rubrics: tuple[Rubric, ...]
    seed: int
    version: str

    def prepare(self) -> Callable[[Sequence[Note]], list[dict[str, Any]]]:
        """Load the model, and return the function that finds evidence."""
        from rubricate import __version__

        if __version__ != self.version:
            raise InputError(
                f"the worker has rubricate {__version__}; the run was started by {self.version}"
            )
        if not Path(self.model).is_dir():
            raise InputError(
                f"the worker sees no model at {self.model}. "
                "Put the output and the model where all workers can read them."
            )
        return EvidenceFinder(load_matcher(self.model), self.rubrics, self.seed)


class EvidenceFinder:
    """Finds evidence in notes with one matcher; a note it fails at gets a reason, not an error."""

    def __init__(self, matcher: Matcher, rubrics: Sequence[Rubric], seed: int = 0) -> None:
        self._matcher = matcher
        self._rubric = {rubric.case: rubric for rubric in rubrics}
        self._seed = seed

    def __call__(self, notes: Sequence[Note]) -> list[dict[str, Any]]:
        """Return ``{"items": evidence of each feature in order}`` or ``{"failed": why}``."""
        try:
            return self._find(notes)
        except RubricateError:
            raise
        except Exception as error:
            if len(notes) == 1:
                # The message may hold words of the note; the kind of error does not.
                return [{"failed": f"the matcher failed: {type(error).__name__}"}]
            # One of them is at fault: alone, the others come through.
            return [found for note in notes for found in self([note])]

    def _find(self, notes: Sequence[Note]) -> list[dict[str, Any]]:
        import numpy as np

        random.seed(self._seed)
        np.random.seed(self._seed)
        cases = dict.fromkeys(note.case for note in notes)
        numbered = tuple(Note(str(i), n.case, n.text, n.metadata) for i, n in enumerate(notes))
        corpus = Corpus(numbered, tuple(self._rubric[case] for case in cases))
        predicted = self._matcher.predict(corpus)
        results = []
        for note in numbered:
            found = note_evidence(predicted, note)
            rubric = self._rubric[note.case]
            items = [found.get(feature.id, Evidence()).to_json() for feature in rubric]
            results.append({"items": items})
        return results
