"""The words in and around each token of one case's notes, weighed for each of its features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F32, I64, Bools
from rubricate.matchers.matcher import JudgedNote
from rubricate.matchers.wording.logistic import fit_many
from rubricate.matchers.wording.reading import SECTION_NUMBER, NoteColumns
from rubricate.reading.tokens import Speller

#: What a column says about the token, in the order of the keys; the last, "near", may repeat.
PLACES = (
    "any word", "word", "1 before", "1 after", "2 before", "2 after", "3 before", "3 after",
    "pair before", "pair after", "pair 1-2 after", "pair 2-1 before", "denied", "not denied",
    "family", "not family", "section", "near",
)  # fmt: skip
_PLACE = {name: i for i, name in enumerate(PLACES)}
#: How far "near" reaches, in tokens of one clause.
REACH = 8
UNKNOWN, EDGE = 0, 1
_BITS = 22
_SECTION_NAMES = {number: name for name, number in SECTION_NUMBER.items()}
_NONE = -1
#: Smaller weights are left out.
LEAST_WEIGHT = 0.02


def number_words(stems: Sequence[str], numbers: Mapping[str, int]) -> I64:
    """Return the number of each stem, `UNKNOWN` for one that has none."""
    return np.array([numbers.get(one, UNKNOWN) for one in stems], dtype=np.int64)


def keys_of(reading: NoteColumns, words: I64) -> I64:
    """Return the keys of the columns each token has, (tokens, keys); -1 where there is none.

    A key is a place and one or two word numbers, packed into one integer.
    """
    n = len(words)
    around = np.full(n + 6, EDGE, dtype=np.int64)
    around[3 : n + 3] = words
    at = {k: around[3 + k : 3 + k + n] for k in range(-3, 4)}
    denied = reading.scope >= 0
    family = reading.family > 0
    single = [
        _key("any word", np.zeros(n, dtype=np.int64)),
        _key("word", at[0]),
        _key("1 before", at[-1]),
        _key("1 after", at[1]),
        _key("2 before", at[-2]),
        _key("2 after", at[2]),
        _key("3 before", at[-3]),
        _key("3 after", at[3]),
        _key("pair before", at[-1], at[0]),
        _key("pair after", at[0], at[1]),
        _key("pair 1-2 after", at[1], at[2]),
        _key("pair 2-1 before", at[-2], at[-1]),
        np.where(denied, _key("denied", at[0]), _key("not denied", at[0])),
        np.where(family, _key("family", at[0]), _key("not family", at[0])),
        _key("section", reading.section.astype(np.int64)),
    ]
    near = _key("near", words)
    clause = reading.clause
    for by in range(1, REACH + 1):
        for_token = np.full(n, _NONE, dtype=np.int64)
        behind = for_token.copy()
        if by < n:
            same = clause[:-by] == clause[by:]
            for_token[:-by] = np.where(same, near[by:], _NONE)
            behind[by:] = np.where(same, near[:-by], _NONE)
        single += [for_token, behind]
    return np.stack(single, axis=1)


def _key(place: str, first: I64, second: I64 | int = 0) -> I64:
    packed: I64 = (np.int64(_PLACE[place]) << (2 * _BITS)) | (first << _BITS) | second
    return packed


def describe_key(key: int, words: Sequence[str]) -> tuple[str, str]:
    """Return the place and the words of a key; ``words`` lists the words by number.

    >>> describe_key(int(_key("pair before", np.array([2]), 3)[0]), ["?", "|", "chest", "pain"])
    ('pair before', 'chest pain')
    """
    place = PLACES[key >> (2 * _BITS)]
    first, second = (key >> _BITS) & ((1 << _BITS) - 1), key & ((1 << _BITS) - 1)
    if place == "any word":
        return place, ""
    if place == "section":
        return place, _SECTION_NAMES.get(first, "none")
    if place.startswith("pair"):
        return place, f"{words[first]} {words[second]}"
    return place, words[first]


def pack_key(place: str, what: str, numbers: Mapping[str, int]) -> int | None:
    """Return the key that `describe_key` described; None when a word or the place is unknown."""
    if place not in _PLACE:
        return None
    if place == "any word":
        parts = [0]
    elif place == "section":
        parts = [SECTION_NUMBER.get(what, 0)]
    else:
        known = [numbers.get(word) for word in what.split(" ")]
        parts = [number for number in known if number is not None]
        if len(parts) != len(known) or len(parts) > 2:
            return None
    second = parts[1] if len(parts) > 1 else 0
    return (_PLACE[place] << (2 * _BITS)) | (parts[0] << _BITS) | second


def choose_columns(keys: I64) -> I64:
    """Return the keys seen at least twice (words themselves: once), sorted."""
    found, counts = np.unique(keys[keys >= 0], return_counts=True)
    place = found >> (2 * _BITS)
    words = (place >= _PLACE["word"]) & (place <= _PLACE["3 after"])
    unknown = words & (((found >> _BITS) & ((1 << _BITS) - 1)) == UNKNOWN)
    kept: I64 = found[((counts >= 2) | words) & ~unknown]
    return kept


def place_columns(keys: I64, columns: I64) -> I64:
    """Return the column of each key, ``len(columns)`` for keys that have none."""
    if not len(columns):
        return np.zeros(keys.shape, dtype=np.int64)
    at = np.searchsorted(columns, keys)
    at[at == len(columns)] = 0
    return np.where(columns[at] == keys, at, len(columns))


def column_values(columns: I64, near: float) -> F32:
    """Return the value of each column where it applies, 0 for the one that stands for none."""
    values = np.ones(len(columns) + 1, dtype=np.float32)
    values[:-1][(columns >> (2 * _BITS)) == _PLACE["near"]] = near
    values[-1] = 0
    return values


def sparse_columns(placed: I64, values: F32) -> Any:
    """Return the tokens' columns as a sparse matrix (tokens, columns)."""
    from scipy.sparse import csr_matrix

    known = placed < len(values) - 1
    first = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
    flat = placed[known]
    matrix = csr_matrix((values[flat], flat, first), shape=(len(placed), len(values) - 1))
    matrix.sum_duplicates()
    return matrix


@dataclass(frozen=True, slots=True)
class WordSettings:
    """Weights of words."""

    penalty: float = 0.7
    trust: float = 0.7
    near: float = 0.5


@dataclass(frozen=True, slots=True)
class CaseModel:
    """Weights of words for the features of one case."""

    words: tuple[str, ...]
    columns: I64
    weights: F32
    values: F32

    @property
    def numbers(self) -> dict[str, int]:
        """The number of each stem."""
        return {word: i for i, word in enumerate(self.words)}

    def place(self, reading: NoteColumns, stems: Sequence[str], numbers: Mapping[str, int]) -> I64:
        """Return the columns of each token."""
        return place_columns(keys_of(reading, number_words(stems, numbers)), self.columns)

    @property
    def weighed(self) -> F32:
        """Contribution of each column to the logits where it applies."""
        product: F32 = self.weights * self.values[:, None]
        return product


def add_words(weighed: F32, placed: npt.NDArray[np.integer[Any]]) -> F32:
    """Return the contribution of the words to the logits, (tokens, features)."""
    # Column by column: one gather of all of them would not fit the processor's cache.
    total: F32 = weighed[placed[:, 0]]
    for column in placed.T[1:]:
        total += weighed[column]
    return total


def make_speller(
    readings: Sequence[NoteColumns], rubric_words: Sequence[str], common: Collection[str]
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


def marked_tokens(reading: NoteColumns, judged: JudgedNote, features: Sequence[str]) -> Bools:
    """Return the marked tokens of each feature."""
    marked = np.zeros((len(reading), len(features)), dtype=np.bool_)
    start = np.array([token.start for token in reading.tokens], dtype=np.int64)
    end = np.array([token.end for token in reading.tokens], dtype=np.int64)
    for j, feature in enumerate(features):
        for one in judged.annotations.get(feature, ()):
            for span in one.spans:
                marked[(start < span.end) & (end > span.start), j] = True
    return marked


def fit_case(
    readings: Sequence[NoteColumns],
    stems: Sequence[Sequence[str]],
    marked: Sequence[Bools],
    rubric_logits: Sequence[npt.NDArray[Any]],
    settings: WordSettings,
    *,
    judged: Sequence[Bools],
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
    weights[np.abs(weights) < LEAST_WEIGHT] = 0
    used = (weights != 0).any(axis=1)
    weights = np.vstack([weights[used], np.zeros((1, weights.shape[1]), dtype=np.float32)])
    return CaseModel(words, columns[used], weights, np.append(values[:-1][used], np.float32(0)))
