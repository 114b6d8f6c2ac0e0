"""Notes one by one, of any format, and how tables and folders of texts are to be understood."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
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


@dataclass(frozen=True, slots=True)
class Understanding:
    """Which column is what, the case of all notes, and who is told what was understood."""

    columns: Mapping[str, str] = field(default_factory=dict)
    case: str = ""
    tell: Callable[[str], None] | None = None


_IN_FORCE: ContextVar[Understanding] = ContextVar("understanding", default=Understanding())  # noqa: B039


def understanding_now() -> Understanding:
    """Return how notes are to be understood now."""
    return _IN_FORCE.get()


@contextmanager
def understood_as(
    *,
    columns: Mapping[str, str] | None = None,
    case: str = "",
    tell: Callable[[str], None] | None = None,
) -> Iterator[None]:
    """Have notes understood so for a while; what is not given stays as it is.

    >>> with understood_as(case="Case 1"):
    ...     understanding_now().case
    'Case 1'
    """
    now = _IN_FORCE.get()
    new = Understanding(columns or now.columns, case or now.case, tell or now.tell)
    token = _IN_FORCE.set(new)
    try:
        yield
    finally:
        _IN_FORCE.reset(token)


def parse_columns(text: str) -> dict[str, str]:
    """Return what ``--columns`` says; other names than id, text and case rename a column.

    >>> parse_columns("id=student_id,text=note")
    {'id': 'student_id', 'text': 'note'}
    """
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(sign and name.strip() and column.strip() for name, sign, column in pairs):
        raise InputError(f"--columns {text}: need NAME=COLUMN, e.g. id=student_id,text=note")
    return {name.strip(): column.strip() for name, _, column in pairs}


def refuse_understanding(format_name: str) -> None:
    """Raise InputError where columns or a case are given and the format has its own."""
    now = _IN_FORCE.get()
    if now.columns or now.case:
        raise InputError(
            "--columns and --case are for tables and folders of notes; this input is of the "
            f"format {format_name}, which says itself what is what. Leave them out."
        )


def telling(
    read: Callable[[], Iterable[Note | Unreadable]], words: str
) -> Callable[[], Iterator[Note | Unreadable]]:
    """Return a reader that gives all notes the case asked for, and says once what it read."""
    how, said = _IN_FORCE.get(), False

    def again() -> Iterator[Note | Unreadable]:
        nonlocal said
        n_notes, cases = 0, set()
        for note in read():
            n_notes += 1
            cases.add(how.case or note.case)
            yield replace(note, case=how.case) if how.case else note
        if how.tell is not None and not said:
            said = True
            of = f"{len(cases)} cases" if len(cases) > 1 else _only(cases)
            how.tell(f"{n_notes:,} note{'s' * (n_notes != 1)}{of and ' of '}{of}; {words}")

    return again


def _only(cases: set[str]) -> str:
    return f"case {name!r}" if (name := "".join(cases)) else ""
