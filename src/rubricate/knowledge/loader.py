"""Read a table of knowledge, or refuse it with all its faults at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, NamedTuple

from rubricate.errors import Fault, InputError
from rubricate.files import PACKAGE
from rubricate.knowledge.schemas import FLAGS, FOLDERS, KEYS, PatternRow, RowT

DATA = PACKAGE / "knowledge" / "data"
#: The comment line above a list that says what the list is for.
_PURPOSE = re.compile(r"# (?P<list>[a-z_]\w*(?:\.\w+)+): (?P<purpose>\S.*)")


class Line(NamedTuple, Generic[RowT]):
    """A row, and its line in the file."""

    number: int
    row: RowT


class Table(NamedTuple, Generic[RowT]):
    """A table: the rows of each of its lists with their lines, and what each list is for."""

    path: Path
    lists: Mapping[str, Sequence[Line[RowT]]]
    purposes: Mapping[str, str]

    def rows(self, name: str) -> list[RowT]:
        """Return the rows of a list, in their order; none of a list that is not there."""
        return [line.row for line in self.lists.get(name, ())]


def load(shape: type[RowT], name: str) -> Table[RowT]:
    """Return a table of the package: the file ``NAME.tsv`` in the folder of its shape.

    It is read when it is first asked for, and once.

    >>> from rubricate.knowledge.schemas import WordRow
    >>> load(WordRow, "sentences").purposes["sentences.contrasts"]
    'Words that begin a clause which contrasts with what was said.'
    """
    return _load(FOLDERS[shape], name)


@cache
def _load(folder: str, name: str) -> Table[Any]:
    (shape,) = (shape for shape, own in FOLDERS.items() if own == folder)
    return read_table(DATA / folder / f"{name}.tsv", shape)


def table_names(shape: type[RowT]) -> tuple[str, ...]:
    """Return the names of the tables of a shape.

    >>> from rubricate.knowledge.schemas import WordRow
    >>> "sentences" in table_names(WordRow)
    True
    """
    return _names_in(FOLDERS[shape])


@cache
def _names_in(folder: str) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in (DATA / folder).glob("*.tsv")))


def read_table(path: Path, shape: type[RowT]) -> Table[RowT]:
    """Return the table of a file, wherever it lies; InputError with all its faults.

    Refused are other columns, cells too many, too few or empty, entries that stand twice, lists in
    parts or under the name of another file, and lists that do not say what they are for.
    """
    lines = path.read_text(encoding="utf-8").split("\n")
    columns = shape._fields
    if lines[0].split("\t") != list(columns):
        what = f"need the columns {', '.join(columns)}, separated by tabs"
        raise InputError([Fault(what, path, 1)])
    faults: list[Fault] = []
    rows: list[Line[RowT]] = []
    purposes: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(lines[1:], start=2):
        if line.startswith("#"):
            if said := _PURPOSE.fullmatch(line):
                if said["list"] in purposes:
                    faults.append(Fault(f"{said['list']} begins twice", path, number))
                purposes[said["list"]] = number, said["purpose"]
        elif line:
            cells = line.split("\t")
            if wrong := _fault_of_cells(cells, shape):
                faults.append(Fault(wrong, path, number))
            else:
                rows.append(Line(number, shape(*cells)))
    faults += _faults_of_lists(path, rows, purposes)
    InputError.raise_any(sorted(faults, key=lambda fault: fault.line or 0))
    lists: dict[str, list[Line[RowT]]] = {}
    for one in rows:
        lists.setdefault(one.row.list, []).append(one)
    return Table(path, lists, {name: purpose for name, (_, purpose) in purposes.items()})


def _fault_of_cells(cells: Sequence[str], shape: type[RowT]) -> str | None:
    columns = shape._fields
    needed = len(columns) - len(shape._field_defaults)
    if not needed <= len(cells) <= len(columns):
        return f"{len(cells)} cells: need {', '.join(columns)}"
    if "" in cells[:needed]:
        empty = [name for name, cell in zip(columns[:needed], cells, strict=False) if not cell]
        return f"empty: {', '.join(empty)}"
    if shape is PatternRow and set(cells[columns.index("flags")]) - set(FLAGS):
        return f"flags: allowed are the letters {', '.join(FLAGS)}"
    return None


def _faults_of_lists(
    path: Path, rows: Sequence[Line[RowT]], purposes: Mapping[str, tuple[int, str]]
) -> Iterator[Fault]:
    """Yield entries that stand twice, lists in parts, and lists that say not what they are for."""
    first: dict[object, int] = {}
    flags: dict[str, str] = {}
    begun: set[str] = set()
    key_of = attrgetter(*KEYS[type(rows[0].row)]) if rows else str
    before = ""
    for number, row in rows:
        name = row.list
        if name != before:
            if name in begun:
                yield Fault(f"{name} is in parts: put its rows together", path, number)
            elif not name.startswith(f"{path.stem}."):
                yield Fault(f"{name}: need a name that begins with {path.stem}.", path, number)
            elif name not in purposes and not isinstance(row, PatternRow):
                what = f"say what it is for, in a line above: # {name}: what it is for"
                yield Fault(what, path, number)
            begun.add(name)
            before = name
        at = first.setdefault((name, key_of(row)), number)
        if at != number:
            yield Fault(f"{name} has {key_of(row)!r} in line {at} already", path, number)
        if isinstance(row, PatternRow) and flags.setdefault(name, row.flags) != row.flags:
            yield Fault(f"{name} has other flags above: need the same", path, number)
    for name in purposes.keys() - begun:
        yield Fault(f"{name} has no rows", path, purposes[name][0])
