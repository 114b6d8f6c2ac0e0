"""What a recogniser knows of a word: its number, its characters, its ending and its shape."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rubricate.neural.sequence.tagging import Tokens

I64 = npt.NDArray[np.int64]

#: Number 0 is padding and 1 whatever was not seen in training, in every table.
UNSEEN = 1
_DIGIT = re.compile(r"\d")
#: Longest word whose characters are all read; of a longer one both ends are.
LONGEST_WORD = 24
SHAPES = ("lower", "title", "upper", "mixed", "number", "mark")


def normal_form(word: str) -> str:
    """Return the word as it is looked up: lower case, every digit a zero.

    Examples
    --------
    >>> normal_form("T2N0")
    't0n0'
    """
    return _DIGIT.sub("0", word.lower())


def shape_of(word: str) -> int:
    """Return the number of the word's shape, from 2 on, in the order of `SHAPES`.

    Examples
    --------
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
    """One sequence in numbers: words, endings, shapes (T each), characters (T, longest)."""

    words: I64
    endings: I64
    shapes: I64
    characters: I64


@dataclass(frozen=True)
class Vocabulary:
    r"""The words, endings and characters seen in training, by number.

    Examples
    --------
    >>> from rubricate.neural.sequence.tagging import cut_text
    >>> seen = Vocabulary.learn(cut_text("no chest pain\nno fever"))
    >>> seen.encode(cut_text("No cough")[0]).words.tolist()
    [2, 1]
    """

    words: Mapping[str, int]
    endings: Mapping[str, int]
    characters: Mapping[str, int]
    #: Numbers of words seen once: in training they stand in for unseen ones now and then.
    rare: frozenset[int] = field(default_factory=frozenset)

    @classmethod
    def learn(cls, sequences: Iterable[Tokens], more_words: Iterable[str] = ()) -> Vocabulary:
        """Gather what the sequences hold, the frequent first, and further words after them."""
        words: Counter[str] = Counter()
        characters: Counter[str] = Counter()
        for tokens in sequences:
            words.update(normal_form(word) for word in tokens.words)
            for word in tokens.words:
                characters.update(word)
        endings: Counter[str] = Counter()
        for word, count in words.items():
            endings[word[-3:]] += count
        number = _numbered(words)
        rare = frozenset(number[word] for word, count in words.items() if count == 1)
        for word in more_words:
            number.setdefault(word, len(number) + 2)
        return cls(number, _numbered(endings), _numbered(characters), rare)

    def encode(self, tokens: Tokens) -> Encoded:
        """Return a sequence in numbers."""
        forms = [normal_form(word) for word in tokens.words]
        ends = [word if len(word) <= LONGEST_WORD else _both_ends(word) for word in tokens.words]
        characters = np.zeros((len(ends), max(map(len, ends), default=1)), dtype=np.int64)
        for row, word in zip(characters, ends, strict=True):
            row[: len(word)] = [self.characters.get(c, UNSEEN) for c in word]
        return Encoded(
            np.array([self.words.get(form, UNSEEN) for form in forms], dtype=np.int64),
            np.array([self.endings.get(form[-3:], UNSEEN) for form in forms], dtype=np.int64),
            np.array([shape_of(word) for word in tokens.words], dtype=np.int64),
            characters,
        )

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """How many numbers there are for words, endings, shapes and characters."""
        return (
            len(self.words) + 2,
            len(self.endings) + 2,
            len(SHAPES) + 2,
            len(self.characters) + 2,
        )

    def to_json(self) -> dict[str, Any]:
        """Return lists in the order of their numbers, the first being number 2."""
        return {
            "words": list(self.words),
            "endings": list(self.endings),
            "characters": list(self.characters),
            "rare": sorted(self.rare),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Vocabulary:
        """Return the vocabulary of `to_json`."""
        words, endings, characters = (
            {str(name): i + 2 for i, name in enumerate(value[part])}
            for part in ("words", "endings", "characters")
        )
        return cls(words, endings, characters, frozenset(int(i) for i in value["rare"]))


def _numbered(counts: Counter[str]) -> dict[str, int]:
    order = sorted(counts, key=lambda name: (-counts[name], name))
    return {name: i + 2 for i, name in enumerate(order)}


def _both_ends(word: str) -> str:
    half = LONGEST_WORD // 2
    return word[:half] + word[-half:]


class Batch(NamedTuple):
    """Sequences padded to one size: words, endings, shapes, mask (n, T); spelled words.

    ``spelling`` (n, T) points into ``characters`` (different spellings, longest), so that a word
    is read letter by letter once however often it occurs.
    """

    words: I64
    endings: I64
    shapes: I64
    mask: npt.NDArray[np.bool_]
    spelling: I64
    characters: I64


def make_batch(sequences: Sequence[Encoded]) -> Batch:
    """Pad encoded sequences to one batch."""
    longest = max(len(one.words) for one in sequences)
    width = max(one.characters.shape[1] for one in sequences)
    n = len(sequences)
    words, endings, shapes = (np.zeros((n, longest), dtype=np.int64) for _ in range(3))
    letters = np.zeros((n, longest, width), dtype=np.int64)
    mask = np.zeros((n, longest), dtype=bool)
    for i, one in enumerate(sequences):
        length = len(one.words)
        words[i, :length], endings[i, :length] = one.words, one.endings
        shapes[i, :length], mask[i, :length] = one.shapes, True
        letters[i, :length, : one.characters.shape[1]] = one.characters
    characters, spelling = np.unique(letters.reshape(-1, width), axis=0, return_inverse=True)
    return Batch(words, endings, shapes, mask, spelling.reshape(n, longest), characters)
