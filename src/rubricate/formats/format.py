"""What a format is: a name, a look, a reader, and where it has them a writer and a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from rubricate.corpus import Corpus, Note
from rubricate.errors import shown
from rubricate.formats.encoding import Head
from rubricate.formats.faults import Faults
from rubricate.formats.losses import count_losses
from rubricate.progress import Progress, silent, watched
from rubricate.rubric import Rubric


class Reader(Protocol):
    """Reads a corpus.

    With ``strict`` false, annotations whose offsets or case are wrong are kept as they stand, so
    that they can be checked and repaired; everything else that is wrong still raises.
    """

    def __call__(self, path: Path, *, strict: bool = True, progress: Progress = silent) -> Corpus:
        """Read the corpus at this path."""
        ...


class BesideReader(Protocol):
    """Reads a corpus whose notes and rubrics are those of another one."""

    def __call__(self, path: Path, like: Corpus, *, strict: bool = True) -> Corpus:
        """Read what the file at this path says about the notes of ``like``."""
        ...


class Writer(Protocol):
    """Writes a corpus to a path that does not exist yet (a file or a folder)."""

    def __call__(self, corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
        """Write the corpus to this path."""
        ...


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A note that is there and cannot be read."""

    id: str
    case: str
    reason: str


class NoteStream(NamedTuple):
    """Notes that are read one at a time, as often as needed, and the rubrics that come first."""

    rubrics: tuple[Rubric, ...]
    read: Callable[[], Iterator[Note | Unreadable]]

    def corpus(self, path: Path, progress: Progress) -> Corpus:
        """Read all notes; InputError with every one that cannot be read or has another's id."""
        faults = Faults(path)
        builder = Head(self.rubrics).builder()
        for note in watched(self.read(), progress, "reading notes"):
            if isinstance(note, Unreadable):
                faults.add(f"note {shown(note.id)} cannot be read: {note.reason}")
            elif note.id in builder.notes:
                faults.add(f"note {shown(note.id)} occurs again")
            else:
                builder.add_note(note)
        faults.raise_any()
        return builder.build()


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
    write : Writer, optional
        Absent in a format that is read only.
    holds : frozenset of str
        What survives writing (names from `rubricate.formats.losses.HOLDABLE`).
    count_more : callable, optional
        Counts losses that only the format itself can see, such as annotations that cut a token.
    read_beside : BesideReader, optional
        Reads a file that has no notes of its own beside the corpus it speaks of.
    stream : callable, optional
        Opens a path for reading one note at a time; without it, notes are read whole.
    """

    name: str
    summary: str
    looks_like: Callable[[Path], bool]
    read: Reader
    write: Writer | None = None
    holds: frozenset[str] = frozenset()
    count_more: Callable[[Corpus], Mapping[str, int]] | None = None
    read_beside: BesideReader | None = None
    stream: Callable[[Path], NoteStream] | None = None

    def losses(self, corpus: Corpus) -> dict[str, int]:
        """Return what writing the corpus would lose, by kind, where there is anything."""
        lost = count_losses(corpus, self.holds)
        if self.count_more is not None:
            lost |= self.count_more(corpus)
        return lost
