"""The words of one case's annotated notes, weighed for each of its features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rubricate.matchers.learning import JudgedNote
from rubricate.matchers.wording.logistic import fit_many
from rubricate.matchers.wording.reading import NoteReading
from rubricate.matchers.wording.stems import Speller, stem
from rubricate.matchers.wording.word_columns import (
    choose_columns,
    column_values,
    keys_of,
    number_words,
    place_columns,
    sparse_columns,
)

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Settings:
    """How words are weighed.

    Parameters
    ----------
    penalty : float
        Ridge penalty on the weights of words; larger keeps nearer to the rubric's evidence.
    trust : float
        How much the rubric's own evidence counts once there are annotated notes.
    near : float
        How much a word somewhere near counts beside one next to the token.
    least_weight : float
        Smaller weights are left out of the model.
    """

    penalty: float = 0.7
    trust: float = 0.7
    near: float = 0.5
    least_weight: float = 0.02


@dataclass(frozen=True, slots=True)
class CaseModel:
    """Weights of words for the features of one case.

    Parameters
    ----------
    words : tuple of str
        Stems by number; the first two stand for unknown words and the edge of the note.
    columns : int64 array, sorted
        Keys (`word_columns.describe_key`).
    weights : array (columns + 1, features)
        Last row: keys that have no column.
    values : array (columns + 1)
        What a column counts where it applies.
    """

    words: tuple[str, ...]
    columns: I64
    weights: F32
    values: F32

    @property
    def numbers(self) -> dict[str, int]:
        """The number of each stem."""
        return {word: i for i, word in enumerate(self.words)}

    def place(self, reading: NoteReading, stems: Sequence[str], numbers: Mapping[str, int]) -> I64:
        """Return the columns of each token."""
        return place_columns(keys_of(reading, number_words(stems, numbers)), self.columns)

    @property
    def weighed(self) -> F32:
        """What each column adds to the logits where it applies."""
        product: F32 = self.weights * self.values[:, None]
        return product


def add_words(weighed: F32, placed: I64) -> F32:
    """Return what the words add to the logits, (tokens, features)."""
    # Column by column: one gather of all of them would not fit the processor's cache.
    total = weighed[placed[:, 0]]
    for column in placed.T[1:]:
        total += weighed[column]
    return total


def make_speller(
    readings: Sequence[NoteReading], rubric_words: Sequence[str], common: Collection[str]
) -> tuple[Speller, list[str]]:
    """Return a speller for a case, and the words it corrects to.

    They are the rubric's, and those of the notes that are common anywhere or in two notes here.
    """
    seen: Counter[str] = Counter()
    for reading in readings:
        seen.update({token.form for token in reading.tokens if token.kind == "word"})
    targets = {form for form, n in seen.items() if n >= 2 or form in common}
    words = sorted({*targets, *rubric_words})
    return Speller(words, known=common), words


def stems_of(reading: NoteReading, speller: Speller) -> list[str]:
    """Return the stems of a note's tokens, slips of the pen put right."""
    return [
        stem(speller.correct(token.form)) if token.kind == "word" else token.form
        for token in reading.tokens
    ]


def marked_tokens(
    reading: NoteReading, judged: JudgedNote, features: Sequence[str]
) -> npt.NDArray[np.bool_]:
    """Return which tokens are marked for which feature."""
    marked = np.zeros((len(reading), len(features)), dtype=np.bool_)
    start = np.array([token.start for token in reading.tokens], dtype=np.int64)
    end = np.array([token.end for token in reading.tokens], dtype=np.int64)
    for j, feature in enumerate(features):
        for one in judged.annotations.get(feature, ()):
            for span in one.spans:
                marked[(start < span.end) & (end > span.start), j] = True
    return marked


def fit_case(
    readings: Sequence[NoteReading],
    stems: Sequence[Sequence[str]],
    marked: Sequence[npt.NDArray[np.bool_]],
    rubric_logits: Sequence[npt.NDArray[Any]],
    settings: Settings,
    *,
    judged: Sequence[npt.NDArray[np.bool_]],
) -> CaseModel:
    """Weigh the words of some notes for each feature, on top of the rubric's evidence.

    ``judged`` says for each note which features were judged in it; the others are not learned
    from there.
    """
    words = ("?", "|", *sorted({one for own in stems for one in own} - {"?", "|"}))
    numbers = {word: i for i, word in enumerate(words)}
    keys = np.concatenate(
        [keys_of(r, number_words(own, numbers)) for r, own in zip(readings, stems, strict=True)]
    )
    columns = choose_columns(keys)
    values = column_values(columns, settings.near)
    matrix = sparse_columns(place_columns(keys, columns), values)
    offset = settings.trust * np.concatenate(rubric_logits)
    known = np.concatenate(
        [np.broadcast_to(j, m.shape) for j, m in zip(judged, marked, strict=True)]
    )
    weights = fit_many(
        matrix, np.concatenate(marked), offset, penalty=settings.penalty, judged=known
    )
    weights[np.abs(weights) < settings.least_weight] = 0
    used = (weights != 0).any(axis=1)
    weights = np.vstack([weights[used], np.zeros((1, weights.shape[1]), dtype=np.float32)])
    return CaseModel(words, columns[used], weights, np.append(values[:-1][used], np.float32(0)))
