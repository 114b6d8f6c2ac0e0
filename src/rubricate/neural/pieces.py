"""Notes and feature texts cut into the pieces a network reads, each with its exact place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rubricate.errors import Fault, InputError, MissingExtraError

I32 = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False, slots=True)
class Pieces:
    """The pieces of a text: vocabulary numbers and half-open places in code points."""

    ids: I32
    start: I32
    end: I32

    def __len__(self) -> int:
        return len(self.ids)

    def window(self, first: int, last: int) -> Pieces:
        """Return the pieces from ``first`` up to ``last``, not included."""
        own = slice(first, last)
        return Pieces(self.ids[own], self.start[own], self.end[own])


class PieceMaker:
    """Cuts texts with a saved ``tokenizer.json``.

    Places are those of the characters themselves: a leading space that a vocabulary counts to
    the piece (byte-level and sentence-piece ones do) is taken off again, and a piece of nothing
    but white space is dropped.

    Parameters
    ----------
    tokenizer : tokenizers.Tokenizer
        Any tokenizer; its truncation and padding are switched off.
    """

    def __init__(self, tokenizer: Any) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self.start_id = self._special("[CLS]", "<s>", "<|begin|>")
        self.stop_id = self._special("[SEP]", "</s>", "<|end|>")
        self.fill_id = self._special("[PAD]", "<pad>")
        self.mask_id = self._special("[MASK]", "<mask>")

    @classmethod
    def from_file(cls, path: Path) -> PieceMaker:
        """Read a ``tokenizer.json``; InputError when it is none."""
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise MissingExtraError("the encoder", "neural") from error
        if not path.is_file():
            raise InputError([Fault("the tokenizer is missing", path)])
        try:
            return cls(Tokenizer.from_file(str(path)))
        except Exception as error:  # the library raises bare Exception
            raise InputError([Fault("not a tokenizer file", path)]) from error

    def _special(self, *names: str) -> int:
        for name in names:
            number = self._tokenizer.token_to_id(name)
            if number is not None:
                return int(number)
        raise InputError(f"the tokenizer has none of the special pieces {', '.join(names)}")

    @property
    def n_pieces(self) -> int:
        """How many pieces the vocabulary has."""
        return int(self._tokenizer.get_vocab_size())

    def save(self, path: Path) -> None:
        """Write the tokenizer as one JSON file."""
        self._tokenizer.save(str(path))

    def cut(self, texts: list[str]) -> list[Pieces]:
        """Return the pieces of each text, without special ones."""
        cut = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        return [_trimmed(text, one.ids, one.offsets) for text, one in zip(texts, cut, strict=True)]


def _trimmed(text: str, ids: list[int], places: list[tuple[int, int]]) -> Pieces:
    """Take white space off the ends of pieces; drop pieces that are nothing else."""
    number = np.asarray(ids, np.int32)
    place = np.asarray(places, np.int32).reshape(-1, 2)
    start, end = place[:, 0].copy(), place[:, 1].copy()
    blank = np.fromiter((c.isspace() for c in text), bool, len(text))
    if blank.any() and len(number):
        for i in np.flatnonzero(blank[np.minimum(start, len(text) - 1)] | blank[end - 1]):
            while start[i] < end[i] and blank[start[i]]:
                start[i] += 1
            while end[i] > start[i] and blank[end[i] - 1]:
                end[i] -= 1
    kept = start < end
    return Pieces(number[kept], start[kept], end[kept])
