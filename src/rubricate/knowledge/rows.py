"""Tables that come with the package: their rows, cells of several entries, and what is in what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from rubricate.errors import Fault, InputError
from rubricate.files import packaged_text

_SEPARATOR = " | "


def table_rows(*path: str, folder: str = "knowledge") -> list[list[str]]:
    """Return the rows below the header of a table in a folder of the package, cell by cell.

    >>> table_rows("drug_classes.tsv")[0][0]
    'ace inhibitor'
    """
    text = packaged_text(folder, *path)
    return [line.split("\t") for line in text.split("\n")[1:] if line]


def check_rows(
    table: str,
    rows: Sequence[list[str]],
    n_keys: int,
    fault_of: Callable[[list[str]], str | None],
) -> None:
    """Raise an error that names every row that stands twice or whose example does not hold.

    ``n_keys``: the first cells that make an entry. ``fault_of``: says what is wrong with a row,
    or nothing.
    """
    often = Counter(tuple(row[:n_keys]) for row in rows)
    InputError.raise_any(
        [
            Fault(what, Path(table), number, "row")
            for number, row in enumerate(rows, start=2)
            if (what := "stands twice" if often[tuple(row[:n_keys])] > 1 else fault_of(row))
        ]
    )


def split_cell(cell: str) -> tuple[str, ...]:
    """Return the entries of a cell.

    >>> split_cell("cbc | fbc"), split_cell("")
    (('cbc', 'fbc'), ())
    """
    return tuple(cell.split(_SEPARATOR)) if cell else ()


def reached_from(name: str, links: Callable[[str], Iterable[str]]) -> frozenset[str]:
    """Return a name and all that links lead to from it, however far.

    >>> above = {"loop diuretic": ["diuretic"]}
    >>> sorted(reached_from("loop diuretic", lambda one: above.get(one, ())))
    ['diuretic', 'loop diuretic']
    """
    found: set[str] = set()
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting.extend(links(one))
    return frozenset(found)
