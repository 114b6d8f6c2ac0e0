"""Inputs for a word: its number, characters, ending, shape, and a given vector."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rubricate.arrays import F32, I64, Bools
from rubricate.errors import Fault, InputError
from rubricate.formats.reading import read_text
from rubricate.neural.sequence.states import STANDINGS, Tokens

#: Number 0 is padding and 1 whatever was not seen in training, in every table.
UNSEEN = 1
_DIGIT = re.compile(r"\d")
#: Longest word whose characters are all read; of a longer one both ends are.
LONGEST_WORD = 24
#: What is said of a token, in this order.
COLUMNS = ("words", "endings", "shapes", "standings", "given")
SHAPES = ("lower", "title", "upper", "mixed", "number", "mark")


def normal_form(word: str) -> str:
    """Return the word as it is looked up: lower case, every digit a zero.

    >>> normal_form("T2N0")
    't0n0'
    """
    return _DIGIT.sub("0", word.lower())


def shape_of(word: str) -> int:
    """Return the number of the word's shape, from 2 on, in the order of `SHAPES`.

    >>> [SHAPES[shape_of(word) - 2] for word in ("pain", "Pain", "CP", "mmHg", "3.5", "%")]
    ['lower', 'title', 'upper', 'mixed', 'number', 'mark']
    """
    if any(c.isdigit() for c in word) and not any(c.isalpha() for c in word):
        return 6
    if not any(c.isalpha() for c in word):
        return 7
    if word.islower():
        return 2
    if word.isupper():
        return 4
    return 3 if word[0].isupper() and word[1:].islower() else 5


class Encoded(NamedTuple):
    """One sequence in numbers: what each token is (T, see `COLUMNS`), and its letters."""

    columns: I64
    characters: I64

    def __len__(self) -> int:
        return len(self.columns)


@dataclass(frozen=True)
class Vocabulary:
    r"""The words, endings and characters seen in training, by number.

    >>> from rubricate.neural.sequence.states import cut_text
    >>> seen = Vocabulary.learn(cut_text("no chest pain\nno fever"))
    >>> seen.encode(cut_text("No cough")[0]).columns[:, 0].tolist()
    [2, 1]
    """

    words: Mapping[str, int]
    endings: Mapping[str, int]
    characters: Mapping[str, int]
    #: Words that have a vector from elsewhere, numbered apart from those seen in training.
    given: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def learn(cls, sequences: Iterable[Tokens], given: Iterable[str] = ()) -> Vocabulary:
        """Gather what the sequences hold, the frequent first."""
        words: Counter[str] = Counter()
        characters: Counter[str] = Counter()
        for tokens in sequences:
            words.update(normal_form(word) for word in tokens.words)
            for word in tokens.words:
                characters.update(word)
        endings: Counter[str] = Counter()
        for word, count in words.items():
            endings[word[-3:]] += count
        elsewhere = {word: i + 2 for i, word in enumerate(given)}
        return cls(_numbered(words), _numbered(endings), _numbered(characters), elsewhere)

    def encode(self, tokens: Tokens) -> Encoded:
        """Return a sequence in numbers."""
        forms = [normal_form(word) for word in tokens.words]
        ends = [word if len(word) <= LONGEST_WORD else _both_ends(word) for word in tokens.words]
        characters = np.zeros((len(ends), max(map(len, ends), default=1)), dtype=np.int64)
        for row, word in zip(characters, ends, strict=True):
            row[: len(word)] = [self.characters.get(c, UNSEEN) for c in word]
        columns = (
            [self.words.get(form, UNSEEN) for form in forms],
            [self.endings.get(form[-3:], UNSEEN) for form in forms],
            [shape_of(word) for word in tokens.words],
            [standing + 2 for standing in tokens.standings] or [UNSEEN] * len(forms),
            [self.given.get(form, UNSEEN) for form in forms],
        )
        return Encoded(np.array(columns, dtype=np.int64).T, characters)

    @property
    def sizes(self) -> dict[str, int]:
        """Number of values of each column, and of characters."""
        known = (self.words, self.endings, SHAPES, range(STANDINGS), self.given, self.characters)
        return {
            name: len(part) + 2 for name, part in zip((*COLUMNS, "characters"), known, strict=True)
        }

    def to_json(self) -> dict[str, list[str]]:
        """Return lists in the order of their numbers, the first being number 2."""
        return {
            "words": list(self.words),
            "endings": list(self.endings),
            "characters": list(self.characters),
            "given": list(self.given),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Vocabulary:
        """Return the vocabulary of `to_json`."""
        return cls(
            *(
                {str(name): i + 2 for i, name in enumerate(value[part])}
                for part in ("words", "endings", "characters", "given")
            )
        )


def _numbered(counts: Counter[str]) -> dict[str, int]:
    order = sorted(counts, key=lambda name: (-counts[name], name))
    return {name: i + 2 for i, name in enumerate(order)}


def _both_ends(word: str) -> str:
    half = LONGEST_WORD // 2
    return word[:half] + word[-half:]


class TokenBatch(NamedTuple):
    """Sequences padded to one size: what tokens are (n, T, columns), which there are (n, T).

    ``spelling`` (n, T) points into ``characters`` (different spellings, longest), so that a word
    is read letter by letter once however often it occurs.
    """

    columns: I64
    mask: Bools
    spelling: I64
    characters: I64


def make_batch(sequences: Sequence[Encoded]) -> TokenBatch:
    """Pad encoded sequences to one batch."""
    longest = max(len(one) for one in sequences)
    width = max(one.characters.shape[1] for one in sequences)
    n = len(sequences)
    columns = np.zeros((n, longest, len(COLUMNS)), dtype=np.int64)
    letters = np.zeros((n, longest, width), dtype=np.int64)
    mask = np.zeros((n, longest), dtype=bool)
    for i, one in enumerate(sequences):
        length = len(one)
        columns[i, :length], mask[i, :length] = one.columns, True
        letters[i, :length, : one.characters.shape[1]] = one.characters
    characters, spelling = np.unique(letters.reshape(-1, width), axis=0, return_inverse=True)
    return TokenBatch(columns, mask, spelling.reshape(n, longest), characters)


def read_vectors(path: Path) -> dict[str, F32]:
    """Return the vectors of a text file: one word and its numbers per line, separated by spaces.

    A first line of two numbers (word2vec's count and length) is passed over. Words are looked up
    by their normal form; of several words with one normal form the first counts, and files give
    the frequent first.
    """
    if not path.is_file():
        raise InputError([Fault("there are no word vectors here", path)])
    found: dict[str, F32] = {}
    faults: list[Fault] = []
    length = 0
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        fields = line.split(" ")
        if not line.strip() or (number == 1 and len(fields) == 2):
            continue
        try:
            vector = np.array([float(field) for field in fields[1:] if field], dtype=np.float32)
        except ValueError:
            faults.append(Fault("need a word and numbers, separated by spaces", path, number))
            continue
        length = length or len(vector)
        if len(vector) != length or not np.isfinite(vector).all():
            faults.append(Fault(f"need {length} finite numbers after the word", path, number))
        else:
            found.setdefault(normal_form(fields[0]), vector)
    if not found and not faults:
        faults.append(Fault("the file holds no vectors", path))
    InputError.raise_any(faults)
    return found


def vector_table(vectors: Mapping[str, F32]) -> F32:
    """Return the vectors in order from row 2 on, brought to unit variance; rows 0 and 1 are 0.

    >>> vector_table({"a": np.array([2, -2], np.float32)}).tolist()
    [[0.0, 0.0], [0.0, 0.0], [1.0, -1.0]]
    """
    rows = np.stack(list(vectors.values()))
    spread = np.float32(rows.std() or 1.0)
    return np.concatenate((np.zeros((2, rows.shape[1]), np.float32), rows / spread))
