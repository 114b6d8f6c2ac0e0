"""Notes and feature texts cut into the pieces a network reads, each with its exact place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rubricate.arrays import I32
from rubricate.errors import Fault, InputError, MissingExtraError
from rubricate.neural.encoder.batching import SpecialPieces

#: What vocabularies call the pieces that begin and end a text, fill a batch and hide a word.
USUAL_NAMES = {
    "start": ("[CLS]", "<s>", "<|begin|>"),
    "stop": ("[SEP]", "</s>", "<|end|>"),
    "fill": ("[PAD]", "<pad>"),
    "mask": ("[MASK]", "<mask>", "<|mask|>", "[UNK]", "<unk>"),
}
#: How sentence-piece and byte-level vocabularies write a space.
SPACES = ("▁", "Ġ")


@dataclass(frozen=True, eq=False, slots=True)
class Pieces:
    """The pieces of a text: vocabulary numbers and half-open places in code points."""

    ids: I32
    start: I32
    end: I32

    def __len__(self) -> int:
        return len(self.ids)


class PieceMaker:
    """Cuts texts with a ``tokenizer.json``.

    Places are those of the characters themselves: white space that a vocabulary counts to a piece
    (byte-level and sentence-piece ones do) is taken off again, a piece of nothing else is dropped,
    and a character that the tokenizer leaves out (a combining accent, say) goes with the piece
    beside it.
    """

    def __init__(self, tokenizer: Any, names: Mapping[str, str] | None = None) -> None:
        own = _own_special(tokenizer)
        self._tokenizer = tokenizer
        numbers = {role: self._special(role, names or {}, own) for role in USUAL_NAMES}
        self.start_id, self.stop_id = numbers["start"], numbers["stop"]
        self.fill_id, self.mask_id = numbers["fill"], numbers["mask"]
        if (own.get("start"), own.get("stop")) != (self.start_id, self.stop_id):
            self._set_template()
        found = {tokenizer.token_to_id(space): space for space in SPACES}
        self._spaces = {number: space for number, space in found.items() if number is not None}

    @classmethod
    def from_file(cls, path: Path, names: Mapping[str, str] | None = None) -> PieceMaker:
        """Read a ``tokenizer.json``; InputError when it is none."""
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise MissingExtraError("the encoder", "neural") from error
        if not path.is_file():
            raise InputError([Fault("the tokenizer is missing", path)])
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare Exception
            raise InputError([Fault("not a tokenizer file", path)]) from error
        return cls(tokenizer, names)

    def _special(self, role: str, names: Mapping[str, str], own: Mapping[str, int]) -> int:
        if role in names:
            number = self._tokenizer.token_to_id(names[role])
            if number is not None:
                if number not in self._tokenizer.get_added_tokens_decoder():
                    # So that the file says it too.
                    self._tokenizer.add_special_tokens([names[role]])
                return int(number)
        if role in own:
            return own[role]
        for name in USUAL_NAMES[role]:
            number = self._tokenizer.token_to_id(name)
            if number is not None:
                return int(number)
        tried = ", ".join(USUAL_NAMES[role])
        raise InputError(f"the tokenizer has no special piece for {role!r}; tried {tried}")

    def _set_template(self) -> None:
        """Let the tokenizer itself tell the start and stop pieces, so that its file does too."""
        from tokenizers.processors import TemplateProcessing

        start, stop = (self._tokenizer.id_to_token(i) for i in (self.start_id, self.stop_id))
        self._tokenizer.post_processor = TemplateProcessing(
            single=[f"{start}:0", "$A:0", f"{stop}:0"],
            pair=None,
            special_tokens=[(start, self.start_id), (stop, self.stop_id)],
        )

    @property
    def special(self) -> SpecialPieces:
        """The pieces around and after every text of a batch."""
        return SpecialPieces(self.start_id, self.stop_id, self.fill_id)

    @property
    def n_pieces(self) -> int:
        """How many pieces the vocabulary has."""
        return int(self._tokenizer.get_vocab_size())

    def save(self, path: Path) -> None:
        """Write the tokenizer, and which pieces are special, as one JSON file."""
        filler = self._tokenizer.id_to_token(self.fill_id)
        self._tokenizer.enable_padding(pad_id=self.fill_id, pad_token=filler)
        self._tokenizer.save(str(path))
        self._tokenizer.no_padding()

    def cut(self, texts: list[str]) -> list[Pieces]:
        """Return the pieces of each text, without special ones."""
        cut = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        return [
            _exact(text, one.ids, one.offsets, self._spaces)
            for text, one in zip(texts, cut, strict=True)
        ]


def _own_special(tokenizer: Any) -> dict[str, int]:
    """Return the special pieces a tokenizer tells by what it does; switch off what it adds."""
    own: dict[str, int] = {}
    if tokenizer.padding is not None:
        own["fill"] = int(tokenizer.padding["pad_id"])
    tokenizer.no_truncation()
    tokenizer.no_padding()
    around = tokenizer.encode("").ids
    if len(around) == 2:
        own["start"], own["stop"] = around
    # A vocabulary may hold another's special pieces besides, as MPNet's does; they are no more
    # than words there.
    for number, piece in sorted(tokenizer.get_added_tokens_decoder().items()):
        if piece.special and "mask" in piece.content.lower():
            own.setdefault("mask", int(number))
    return own


def _exact(
    text: str, ids: list[int], places: list[tuple[int, int]], spaces: Mapping[int, str]
) -> Pieces:
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
    # A space put before the first word is said to stand on that word's first character.
    for i in np.flatnonzero(np.isin(number, list(spaces))):
        kept[i] &= text[start[i] : end[i]] == spaces[int(number[i])]
    pieces = _split(Pieces(number[kept], start[kept], end[kept]), blank)
    _cover(pieces, blank)
    return pieces


def _split(pieces: Pieces, blank: npt.NDArray[np.bool_]) -> Pieces:
    """Part pieces at white space within them: some vocabularies join what they do not know."""
    total = np.concatenate(([0], np.cumsum(blank)))
    joined = total[pieces.end] > total[pieces.start]
    if not joined.any():
        return pieces
    parts: list[tuple[int, int, int]] = []
    for number, a, b in zip(
        *(x.tolist() for x in (pieces.ids, pieces.start, pieces.end)), strict=True
    ):
        edge = np.diff(np.concatenate(([1], blank[a:b].astype(np.int8), [1])))
        first, last = np.flatnonzero(edge == -1) + a, np.flatnonzero(edge == 1) + a
        parts += [(number, int(i), int(j)) for i, j in zip(first, last, strict=True)]
    ids, start, end = np.asarray(parts, np.int32).T
    return Pieces(ids, start.copy(), end.copy())


def _cover(pieces: Pieces, blank: npt.NDArray[np.bool_]) -> None:
    """Give characters that are in no piece to the piece that ends or begins there."""
    turns = np.zeros(len(blank) + 1, np.int64)
    np.add.at(turns, pieces.start, 1)
    np.add.at(turns, pieces.end, -1)
    bare = (np.cumsum(turns[:-1]) == 0) & ~blank
    if not bare.any():
        return
    edge = np.diff(np.concatenate(([0], bare.astype(np.int8), [0])))
    for a, b in zip(np.flatnonzero(edge == 1), np.flatnonzero(edge == -1), strict=True):
        before, after = np.flatnonzero(pieces.end == a), np.flatnonzero(pieces.start == b)
        if len(before):
            pieces.end[before[-1]] = b
        elif len(after):
            pieces.start[after[0]] = a
