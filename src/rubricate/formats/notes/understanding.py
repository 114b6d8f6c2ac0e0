"""How tables and folders of notes are to be understood, and saying how they were."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from rubricate.corpus import Note
from rubricate.errors import InputError
from rubricate.formats.format import Unreadable


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
