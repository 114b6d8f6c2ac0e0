"""Tables that come with the package: their rows, cells of several entries, and what is in what."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rubricate.files import packaged_text

_SEPARATOR = " | "


def table_rows(*path: str) -> list[list[str]]:
    """Return the rows below the header of a table in this folder, cell by cell.

    >>> table_rows("drug_classes.tsv")[0][0]
    'ace inhibitor'
    """
    text = packaged_text("text", *path)
    return [line.split("\t") for line in text.split("\n")[1:] if line]


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
