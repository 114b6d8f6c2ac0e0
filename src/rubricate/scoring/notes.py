"""Notes to be scored, read one by one as often as needed, from any format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rubricate.corpus import Corpus, Note
from rubricate.errors import InputError
from rubricate.files import file_hash
from rubricate.formats import EMBEDDED, detect_format, read_corpus
from rubricate.rubric import Rubric
from rubricate.scoring.note_streams import (
    Unreadable,
    jsonl_notes,
    jsonl_rubrics,
    looks_like_note_table,
    looks_like_texts,
    table_notes,
    text_notes,
)

Read = Note | Unreadable


@dataclass(frozen=True, eq=False)
class NoteSource:
    """Where notes come from.

    Parameters
    ----------
    name : str
        What to call it: a file's name, without its folder.
    rubrics : tuple of Rubric
        Rubrics that come with the notes.
    read : callable
        Yields every note anew each time; what cannot be read comes as `Unreadable`.
    hash : str
        Of the file or folder; empty for a corpus in memory.
    streamed : bool
        Whether notes are read one at a time. Otherwise the whole corpus is in memory.
    where : tuple of str
        Conditions ``NAME=VALUE`` on a note's metadata, or its case.
    """

    name: str
    rubrics: tuple[Rubric, ...]
    read: Callable[[], Iterator[Read]]
    hash: str
    streamed: bool
    where: tuple[str, ...] = ()

    def notes(self) -> Iterator[Read]:
        """Yield the notes that meet all conditions, and all that cannot be read."""
        conditions = [_condition(one) for one in self.where]
        for note in self.read():
            if isinstance(note, Unreadable) or all(note.matches(*one) for one in conditions):
                yield note


def _condition(condition: str) -> tuple[str, str]:
    name, sign, value = condition.partition("=")
    if not sign:
        raise InputError(f"{condition}: need NAME=VALUE, e.g. split=test")
    return name, value


def open_notes(
    notes: str | Path | Corpus,
    *,
    format: str | None = None,  # noqa: A002
    where: Sequence[str] = (),
) -> NoteSource:
    """Return where to read notes from.

    Our JSON Lines, a CSV table (columns ``note``, ``case``, ``text``) and a folder of ``.txt``
    files are read one note at a time; everything else is read whole, then gone through.

    Parameters
    ----------
    notes : str, Path or Corpus
        A file or folder in any format, the name of an embedded corpus, or a corpus.
    format : str, optional
        One of `rubricate.formats.FORMATS`; found by looking when not given.
    where : sequence of str
        Only notes whose metadata (or case) have these values, e.g. ``"split=test"``.

    Examples
    --------
    >>> source = open_notes("open-notes", where=["split=test"])
    >>> sum(1 for note in source.notes())
    200
    """
    conditions = tuple(where)
    for condition in conditions:
        _condition(condition)
    if isinstance(notes, Corpus):
        return _of_corpus(notes, "corpus", "", conditions)
    place = Path(notes)
    if str(notes) in EMBEDDED and not place.exists():
        return _of_corpus(read_corpus(notes), str(notes), "", conditions)
    if format is None:
        streamed = _streamed(place, conditions)
        if streamed is not None:
            return streamed
    elif format == "jsonl" and place.is_file():
        return _of_jsonl(place, conditions)
    corpus = read_corpus(place, format=format)
    return _of_corpus(corpus, place.name, file_hash(place), conditions)


def _of_corpus(corpus: Corpus, name: str, digest: str, where: tuple[str, ...]) -> NoteSource:
    def read() -> Iterator[Read]:
        return iter(corpus.notes)

    return NoteSource(name, corpus.rubrics, read, digest, False, where)


def _of_jsonl(place: Path, where: tuple[str, ...]) -> NoteSource:
    rubrics = jsonl_rubrics(place)
    return NoteSource(
        place.name, rubrics, lambda: jsonl_notes(place), file_hash(place), True, where
    )


def _streamed(place: Path, where: tuple[str, ...]) -> NoteSource | None:
    """Return a source that reads note by note, if the path looks like one."""
    if looks_like_note_table(place):
        return NoteSource(place.name, (), lambda: table_notes(place), file_hash(place), True, where)
    if not looks_like_texts(place):
        return _of_jsonl(place, where) if detect_format(place) == "jsonl" else None
    return NoteSource(place.name, (), lambda: text_notes(place), file_hash(place), True, where)
