"""Notes one by one, of any format, and which of them are wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from rubricate.corpus import Corpus, Note
from rubricate.errors import ArgumentError, Fault, InputError, Setting, did_you_mean
from rubricate.files import file_hash
from rubricate.formats import choose_format, is_embedded, read_path
from rubricate.formats.format import Unreadable, numbered_places, same_ids
from rubricate.formats.options import USUAL_OPTIONS, ReadOptions
from rubricate.rubric import Rubric

#: Values of a field are listed in a message only if they are few and short: longer ones may be
#: note text.
MOST_VALUES, LONGEST_VALUE = 20, 20


class Condition(NamedTuple):
    """A test of one field of a note, and the setting that asked for it."""

    name: str
    test: Callable[[Note], bool]
    setting: Setting


def parse_condition(text: str) -> Condition:
    """Return the condition that ``NAME=VALUE`` or ``NAME=VALUE,VALUE`` states.

    >>> parse_condition("case=0,4").test(Note("n", "4", "fever"))
    True
    >>> parse_condition("split")
    Traceback (most recent call last):
    rubricate.errors.ArgumentError: where split: need NAME=VALUE, e.g. split=test
    """
    name, sign, values = text.partition("=")
    setting = Setting("where", text, python=f"where {text}")
    if not sign:
        raise ArgumentError("need NAME=VALUE, e.g. split=test", setting=setting)
    return Condition(name, lambda note: note.matches(name, values), setting)


class NoteFilter:
    """Keeps the notes that meet all conditions, and can say in the end why none was left.

    >>> chosen = NoteFilter([parse_condition("case=0"), parse_condition("sight=A")])
    >>> chosen.keeps(Note("n", "0", "fever", {"site": "A"}))
    False
    >>> chosen.check()
    Traceback (most recent call last):
    rubricate.errors.ArgumentError: where sight=A: no note has 'sight'; did you mean 'site'?
    There are: case, site
    """

    def __init__(self, conditions: Sequence[Condition]) -> None:
        self.conditions = tuple(conditions)
        #: How many notes each condition left of those that met the conditions before it.
        self.left = [0] * len(self.conditions)
        self._fields = {"case": None}
        self._values: list[set[str]] = [set() for _ in self.conditions]

    def keeps(self, note: Note) -> bool:
        """Tell whether a note meets all conditions."""
        if self.conditions:
            self._fields |= dict.fromkeys(note.metadata)
        for i, condition in enumerate(self.conditions):
            if len(self._values[i]) <= MOST_VALUES:
                self._values[i].add(str(note.value(condition.name)))
            if not condition.test(note):
                return False
            self.left[i] += 1
        return True

    def check(self) -> None:
        """Raise InputError if no note had a field that was asked for, or if no note is left."""
        known = sorted(self._fields)
        faults = []
        for condition in self.conditions:
            if condition.name not in known:
                hint = did_you_mean(condition.name, known)
                message = f"no note has {condition.name!r}{hint} There are: {', '.join(known)}"
                faults.append(Fault(message, setting=condition.setting))
        if not faults and 0 in self.left:
            i = self.left.index(0)
            message = f"no note is left{self._hint(i)}"
            faults.append(Fault(message, setting=self.conditions[i].setting))
        ArgumentError.raise_any(faults)

    def _hint(self, i: int) -> str:
        """Return the values the field has, if they are few and short enough to be no note text."""
        values = self._values[i]
        if not 0 < len(values) <= MOST_VALUES or max(map(len, values)) > LONGEST_VALUE:
            return ""
        listed = ", ".join(value or "(empty)" for value in sorted(values))
        return f"; {self.conditions[i].name} is one of {listed}"


def keep_where(corpus: Corpus, where: Sequence[str]) -> Corpus:
    """Keep the notes that meet all conditions ``NAME=VALUE`` on their metadata or case.

    >>> from rubricate import load_corpus
    >>> len(keep_where(load_corpus("open-notes"), ["split=test", "case=0,1"]).notes)
    40
    """
    if not where:
        return corpus
    chosen = NoteFilter([parse_condition(text) for text in where])
    kept = corpus.select(notes=chosen.keeps)
    chosen.check()
    return kept


T = TypeVar("T", bound=Note | Unreadable)


@dataclass(frozen=True, eq=False)
class NoteSource:
    """Source of notes; they are read again each time `notes` is called."""

    name: str
    rubrics: tuple[Rubric, ...]
    read: Callable[[], Iterator[Note | Unreadable]]
    hash: str
    streamed: bool
    where: tuple[str, ...] = ()
    path: Path | None = None
    how: ReadOptions = USUAL_OPTIONS
    places: Callable[[], Iterator[str]] = numbered_places

    @property
    def read_as(self) -> dict[str, str | dict[str, str]]:
        """The options of reading that were given: format, columns, case."""
        said: dict[str, str | dict[str, str]] = {
            "format": self.how.format,
            "columns": dict(self.how.columns),
            "case": self.how.case,
        }
        return {name: value for name, value in said.items() if value}

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

    def duplicates(self) -> list[Fault]:
        """Return a fault for every note that has the id of an earlier one, with where both are."""
        chosen = NoteFilter([parse_condition(text) for text in self.where])
        placed = zip(self.read(), self.places(), strict=False)
        return same_ids(
            ((note.id, place) for note, place in placed
             if isinstance(note, Unreadable) or chosen.keeps(note)),
            self.path,
        )  # fmt: skip


def open_notes(
    notes: str | Path | Corpus,
    *,
    where: Sequence[str] = (),
    how: ReadOptions = USUAL_OPTIONS,
) -> NoteSource:
    """Return a source of notes: one at a time if the format can, else read as a whole.

    >>> source = open_notes("open-notes", where=["split=test"])
    >>> sum(1 for note in source.notes())
    200
    """
    for condition in where:
        parse_condition(condition)
    if isinstance(notes, Corpus):
        return replace(_of_corpus(notes, "corpus", "", where), how=how)
    place = Path(notes)
    if is_embedded(place):
        source = _of_corpus(read_path(notes, how), str(notes), "", where)
        return replace(source, how=how)
    chosen = choose_format(place, how)
    digest = file_hash(place)
    if chosen.stream is None:
        corpus = read_path(place, replace(how, format=chosen.name))
        return replace(_of_corpus(corpus, place.name, digest, where), path=place, how=how)
    stream = chosen.stream(place, how)
    return NoteSource(
        place.name, stream.rubrics, stream.read, digest, True, tuple(where), place, how,
        stream.places,
    )  # fmt: skip


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
