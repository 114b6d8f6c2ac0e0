"""Notes and features as a network reads them: pieces with their exact places, padded batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rubricate.arrays import I32, I64, Bools
from rubricate.errors import Fault, InputError, MissingExtraError

#: Owner of a padding piece in `Batch.owner`.
NOBODY = -1


@dataclass(frozen=True, eq=False, slots=True)
class Pass:
    """One trip through the network: a note (or a window of it) and the features sought in it."""

    note: I32
    features: tuple[I32, ...]

    def __len__(self) -> int:
        return len(self.note) + sum(len(one) + 1 for one in self.features) + 2


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """Several passes as rectangles."""

    note: I64
    note_length: I64
    feature: I64
    owner: I64
    position: I64
    n_features: int


@dataclass(frozen=True, slots=True)
class SpecialPieces:
    """Numbers of the special pieces of a vocabulary."""

    start: int
    stop: int
    fill: int


def make_batch(passes: Sequence[Pass], special: SpecialPieces) -> Batch:
    """Put passes side by side.

    >>> passes = [Pass(np.array([7, 8]), (np.array([5]), np.array([6, 9])))]
    >>> batch = make_batch(passes, SpecialPieces(start=1, stop=2, fill=0))
    >>> batch.note.tolist(), batch.feature.tolist(), batch.owner.tolist()
    ([[1, 7, 8, 2]], [[5, 2, 6, 9, 2]], [[0, 0, 1, 1, 1]])
    """
    length = np.array([len(one.note) + 2 for one in passes], np.int64)
    sizes = [[len(f) + 1 for f in one.features] for one in passes]
    width = max((sum(own) for own in sizes), default=0)
    note = np.full((len(passes), int(length.max(initial=2))), special.fill, np.int64)
    feature = np.full((len(passes), max(width, 1)), special.fill, np.int64)
    owner = np.full(feature.shape, NOBODY, np.int64)
    position = np.zeros(feature.shape, np.int64)
    for i, one in enumerate(passes):
        n = int(length[i])
        note[i, 0] = special.start
        note[i, 1 : n - 1] = one.note
        note[i, n - 1] = special.stop
        place = 0
        for k, pieces in enumerate(one.features):
            stop = place + len(pieces)
            feature[i, place:stop] = pieces
            feature[i, stop] = special.stop
            owner[i, place : stop + 1] = k
            position[i, place : stop + 1] = np.arange(stop + 1 - place)
            place = stop + 1
    most = max((len(one.features) for one in passes), default=0)
    return Batch(note, length, feature, owner, position, max(most, 1))


def by_length(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Yield groups of numbers of passes alike in length, each of at most ``budget`` pieces.

    A pass longer than the budget goes alone. The order of the groups is that of length.

    >>> list(by_length([5, 100, 6, 5], budget=16))
    [[0, 3], [2], [1]]
    """
    group: list[int] = []
    for i in np.argsort(np.asarray(lengths), kind="stable").tolist():
        if group and lengths[i] * (len(group) + 1) > budget:
            yield group
            group = []
        group.append(i)
    if group:
        yield group


def divide(n: int, size: int | None) -> list[range]:
    """Cut ``n`` features into runs of at most ``size`` (None: all in one), as even as can be.

    >>> divide(10, 4)
    [range(0, 4), range(4, 7), range(7, 10)]
    >>> divide(3, None)
    [range(0, 3)]
    """
    if n == 0:
        return []
    parts = 1 if size is None else -(-n // size)
    edges = [-(-n * i // parts) for i in range(parts + 1)]
    return [range(a, b) for a, b in pairwise(edges)]


#: What vocabularies call the pieces that begin and end a text, fill a batch and hide a word.
USUAL_NAMES = {
    "start": ("[CLS]", "<s>", "<|begin|>"),
    "stop": ("[SEP]", "</s>", "<|end|>"),
    "fill": ("[PAD]", "<pad>"),
    "mask": ("[MASK]", "<mask>", "<|mask|>", "[UNK]", "<unk>"),
}
#: How sentence-piece and byte-level vocabularies write a space.
SPACES = ("▁", "Ġ")


#: Half-open ranges of characters.
Spans = Sequence[tuple[int, int]]


@dataclass(frozen=True, eq=False, slots=True)
class Pieces:
    """The pieces of a text: vocabulary numbers and half-open places in code points."""

    ids: I32
    start: I32
    end: I32

    def __len__(self) -> int:
        return len(self.ids)

    def within(self, start: int, end: int) -> tuple[int, int]:
        """Return the first piece with a character in a span, and the one after the last.

        >>> place = lambda *x: np.array(x, np.int32)
        >>> Pieces(place(1, 2, 3), place(0, 3, 8), place(2, 7, 9)).within(5, 9)
        (1, 3)
        """
        return int(np.searchsorted(self.end, start, "right")), int(
            np.searchsorted(self.start, end, "left")
        )

    def touched(self, spans: Spans) -> Bools:
        """Tell which pieces have a character in one of the spans.

        >>> place = lambda *x: np.array(x, np.int32)
        >>> pieces = Pieces(place(1, 2, 3), place(0, 3, 8), place(2, 7, 9))
        >>> pieces.touched([(0, 1), (8, 9)]).tolist()
        [True, False, True]
        """
        own = np.zeros(len(self), bool)
        for span in spans:
            own[slice(*self.within(*span))] = True
        return own

    def only(self, kept: Bools) -> Pieces:
        """Return some of the pieces, as if the text had no others."""
        return Pieces(self.ids[kept], self.start[kept], self.end[kept])


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
        #: The pieces around and after every text of a batch.
        self.special = SpecialPieces(self.start_id, self.stop_id, self.fill_id)
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
            raise MissingExtraError("the encoder") from error
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
    def n_pieces(self) -> int:
        """Number of pieces in the vocabulary."""
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


def _split(pieces: Pieces, blank: Bools) -> Pieces:
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


def _cover(pieces: Pieces, blank: Bools) -> None:
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
