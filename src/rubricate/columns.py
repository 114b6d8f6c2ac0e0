"""Names of the columns in a table of notes, and ids of its notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from rubricate.errors import shown

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


def twin_columns(header: Sequence[str], found: Mapping[str, int]) -> list[str]:
    """Return a message for each column of ids, texts and cases whose name occurs twice.

    >>> twin_columns(["id", "note", "Note ", "seen", "seen"], {"id": 0, "text": 1})
    ["two columns are called 'note', and one holds the text of the notes: rename the other"]
    """
    plain = [plain_name(name) for name in header]
    return [
        f"two columns are called {shown(header[place])}, and one holds the {name} of the notes: "
        "rename the other"
        for name, place in found.items()
        if name in NOTE_COLUMNS and plain.count(plain[place]) > 1
    ]


def cell_text(value: object) -> str:
    """Return a cell of a data frame as text; whole numbers stay whole, nothing is empty.

    >>> cell_text(7.0), cell_text(None), cell_text("7.0")
    ('7', '', '7.0')
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


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


def note_ids(names: Sequence[str], cases: Sequence[str]) -> tuple[list[str], bool]:
    """Return the ids of notes, and whether their names alone tell them apart.

    >>> note_ids(["s1", "s1"], ["a", "b"])
    (['s1-a', 's1-b'], False)
    """
    pairs = list(zip(names, cases, strict=True))
    alone = own_ids(pairs)
    return [note_id(*pair, alone) for pair in pairs], alone
