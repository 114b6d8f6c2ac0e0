"""Notes without annotations: tables and folders of texts, and notes of any format one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError
from rubricate.files import file_hash
from rubricate.formats import EMBEDDED, choose_format, read_corpus
from rubricate.formats.format import Unreadable
from rubricate.formats.where import NoteFilter, parse_condition
from rubricate.rubric import Rubric

T = TypeVar("T", bound=Note | Unreadable)


@dataclass(frozen=True, eq=False)
class NoteSource:
    """Where notes come from; they are read anew each time `notes` is called."""

    name: str
    rubrics: tuple[Rubric, ...]
    read: Callable[[], Iterator[Note | Unreadable]]
    hash: str
    streamed: bool
    where: tuple[str, ...] = ()
    path: Path | None = None

    def check_unchanged(self) -> None:
        """Raise InputError if the file or folder is no longer the one whose hash was taken."""
        if self.path is not None and file_hash(self.path) != self.hash:
            raise InputError([Fault("changed while it was read; start again", self.path)])

    def notes(self) -> Iterator[Note | Unreadable]:
        """Yield the notes that meet all conditions, and all that cannot be read.

        InputError at the end if a condition left no note.
        """
        chosen = NoteFilter([parse_condition(text) for text in self.where])
        for note in self.read():
            if isinstance(note, Unreadable) or chosen.keeps(note):
                yield note
        chosen.check()


def open_notes(
    notes: str | Path | Corpus,
    *,
    format: str | None = None,  # noqa: A002
    where: Sequence[str] = (),
) -> NoteSource:
    """Return where to read notes from: one at a time if the format can, else read whole first.

    >>> source = open_notes("open-notes", where=["split=test"])
    >>> sum(1 for note in source.notes())
    200
    """
    for condition in where:
        parse_condition(condition)
    if isinstance(notes, Corpus):
        return _of_corpus(notes, "corpus", "", where)
    place = Path(notes)
    if str(notes) in EMBEDDED and not place.exists():
        return _of_corpus(read_corpus(notes), str(notes), "", where)
    chosen = choose_format(place, format)
    if chosen.stream is None:
        digest = file_hash(place)
        source = _of_corpus(read_corpus(place, format=chosen.name), place.name, digest, where)
        return replace(source, path=place)
    digest, stream = file_hash(place), chosen.stream(place)
    return NoteSource(
        place.name, stream.rubrics, stream.read, digest, True, tuple(where), path=place
    )


def _of_corpus(corpus: Corpus, name: str, digest: str, where: Sequence[str]) -> NoteSource:
    def read() -> Iterator[Note | Unreadable]:
        return iter(corpus.notes)

    return NoteSource(name, corpus.rubrics, read, digest, False, tuple(where))


def with_only_case(notes: Iterable[T], rubrics: Mapping[str, Rubric]) -> Iterator[T]:
    """Give notes without a case the only case there is a rubric for.

    >>> [note] = with_only_case([Note("n", "", "fever")], {"c": Rubric("c", ())})
    >>> note.case
    'c'
    """
    only = next(iter(rubrics)) if len(rubrics) == 1 else ""
    for note in notes:
        if only and not note.case and isinstance(note, Note):
            yield replace(note, case=only)
        else:
            yield note
