"""What people call the columns of a table of notes, and how its notes get their ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

#: What the columns may be called, the surest first; every other column becomes metadata.
NOTE_COLUMNS = {
    "id": ("note id", "pn num", "id", "student id", "student", "student number", "student no",
           "candidate id", "candidate", "candidate number", "candidate no", "examinee id",
           "examinee", "learner id", "trainee id", "participant id", "participant", "patient id",
           "record id"),
    "text": ("text", "note text", "pn history", "patient note", "clinical note", "note", "notes",
             "free text", "response", "answer", "documentation", "history"),
    "case": ("case", "case id", "case num", "case number", "case name", "station", "station id",
             "station name", "scenario", "vignette"),
}  # fmt: skip
#: Names of the text that name the note itself where another column holds its text.
_NOTE = ("note", "notes")


def plain_name(name: str) -> str:
    """Return a column's name in lower case, with single spaces for all but letters and digits.

    >>> plain_name(" Max. points "), plain_name("feature_num"), plain_name("#")
    ('max points', 'feature num', 'no')
    """
    if name.strip() == "#":
        return "no"
    return re.sub(r"[\W_]+", " ", name.casefold()).strip()


def find_note_columns(header: Sequence[str], given: Mapping[str, str]) -> dict[str, int]:
    """Return the place of the id, the text, the case, and of columns that get another name.

    >>> find_note_columns(["student_id", "note", "school"], {"site": "school"})
    {'site': 2, 'text': 1, 'id': 0}
    """
    places = {name: i for i, name in reversed(list(enumerate(map(plain_name, header))))}
    found = {
        name: header.index(column) if column in header else places[plain_name(column)]
        for name, column in given.items()
        if plain_name(column) in places
    }
    taken = set(found.values())
    for column in ("text", "id", "case"):
        # With a column of texts, one that is called note has what the notes are called.
        known = NOTE_COLUMNS[column] + (_NOTE if column == "id" else ())
        free = [places[name] for name in known if places.get(name, -1) not in {-1, *taken}]
        if column not in found and free:
            found[column] = free[0]
            taken.add(free[0])
    return found


def own_ids(names: Iterable[tuple[str, str]]) -> bool:
    """Tell whether names of notes, each with its case, do without the case.

    >>> own_ids([("s1", "Case 1"), ("s2", "Case 2")]), own_ids([("s1", "a"), ("s1", "b")])
    (True, False)
    """
    case_of: dict[str, str] = {}
    return all(case_of.setdefault(name, case) == case for name, case in names)


def note_id(name: str, case: str, alone: bool) -> str:
    """Return a note's id: its name alone, or with its case where names come again in others."""
    return name if alone or not case else f"{name}-{case}"
