"""What a format is: a name, a look, a reader, a writer, and what it can hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rubricate.corpus import Corpus
from rubricate.formats.losses import count_losses


class Reader(Protocol):
    """Reads a corpus.

    With ``strict`` false, annotations whose offsets or case are wrong are kept as they stand, so
    that they can be checked and repaired; everything else that is wrong still raises.
    """

    def __call__(self, path: Path, *, strict: bool = True) -> Corpus:
        """Read the corpus at this path."""
        ...


@dataclass(frozen=True, slots=True)
class Format:
    """One file format.

    Parameters
    ----------
    name : str
        What ``--from`` and ``--to`` call it.
    summary : str
        One line for the list of formats.
    looks_like : callable
        Tells from the path (and a first look inside) whether it could be this format.
    read : Reader
        Raises InputError with every fault of the input.
    write : callable
        Writes the corpus to a path that does not exist yet (a file or a folder).
    holds : frozenset of str
        What survives (names from `rubricate.formats.losses.HOLDABLE`).
    count_more : callable, optional
        Counts losses that only the format itself can see, such as annotations that cut a token.
    """

    name: str
    summary: str
    looks_like: Callable[[Path], bool]
    read: Reader
    write: Callable[[Corpus, Path], None]
    holds: frozenset[str]
    count_more: Callable[[Corpus], Mapping[str, int]] | None = None

    def losses(self, corpus: Corpus) -> dict[str, int]:
        """Return what writing the corpus would lose, by kind, where there is anything."""
        lost = count_losses(corpus, self.holds)
        if self.count_more is not None:
            lost |= self.count_more(corpus)
        return lost
