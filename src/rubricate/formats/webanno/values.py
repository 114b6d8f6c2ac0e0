r"""Content of the cells and text lines of WebAnno TSV 3: escapes, stacks, disambiguation ids.

The rules are those of the user guide of INCEpTION ("WebAnno TSV 3.3 File format") and of its own
reader and writer: in text, control characters and backslashes are escaped; in values, the reserved
characters ``\ [ ] | _ -> ; * TAB LF`` are.
"""

from __future__ import annotations

import re
from typing import NamedTuple

#: A cell where the layer has no annotation.
NO_ANNOTATION = "_"
#: A value that is not given.
NO_VALUE = "*"

_NAMES = {"\t": "t", "\n": "n", "\f": "f", "\r": "r", "\b": "b", "\\": "\\"}
_BY_NAME = {name: character for character, name in _NAMES.items()}
# Control characters without a name are kept behind a backslash; a vertical tab goes as it is.
_IN_TEXT = re.compile(r"[\x00-\x0a\x0c-\x1f\\]")
_IN_VALUE = re.compile(r"->|[\\\[\]|_;*\t\n\r]")
_ESCAPE = re.compile(r"\\(->|.)", re.DOTALL)
_JAVA_ESCAPE = re.compile(r"\\u+([0-9A-Fa-f]{4})|\\(.)", re.DOTALL)
_STACKED = re.compile(r"(?:\\.|[^|])*", re.DOTALL)
# A bracket that belongs to the value has a backslash before it, so never a digit.
_WITH_ID = re.compile(r"(.*)\[(\d{1,9})\]", re.DOTALL)


class TsvCell(NamedTuple):
    """One value of a cell; ``value`` is None where not given, ``number`` disambiguates."""

    value: str | None
    number: int | None = None


def escape_text(text: str) -> str:
    r"""Return one line of a sentence's text as it follows ``#Text=``.

    >>> print(escape_text("a\tb\\"))
    a\tb\\
    """
    return _IN_TEXT.sub(lambda m: "\\" + _NAMES.get(m[0], m[0]), text)


def unescape_text(line: str, *, java: bool) -> str:
    r"""Inverse of `escape_text`; ``java`` for versions before 3.2, which escape as Java does.

    >>> unescape_text(r"\u00e9\t", java=True)
    'é\t'
    """
    if java:
        plain = _JAVA_ESCAPE.sub(
            lambda m: chr(int(m[1], 16)) if m[1] else _BY_NAME.get(m[2], m[2]), line
        )
        # Java escapes an astral character as two halves.
        return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _ESCAPE.sub(lambda m: _BY_NAME.get(m[1], m[1]), line)


def cell_text(cell: TsvCell) -> str:
    r"""Return a value as it stands in a cell.

    >>> print(cell_text(TsvCell("7_Pain", 2)), cell_text(TsvCell(None)))
    7\_Pain[2] *
    """
    if cell.value is None:
        text = NO_VALUE
    else:
        text = _IN_VALUE.sub(lambda m: "\\" + _NAMES.get(m[0], m[0]), cell.value)
    return text if cell.number is None else f"{text}[{cell.number}]"


def parse_cells(field: str) -> list[TsvCell]:
    r"""Return the stacked values of a field, none if the layer has no annotation there.

    >>> parse_cells(r"PER[1]|a\|b[2]")
    [TsvCell(value='PER', number=1), TsvCell(value='a|b', number=2)]
    >>> parse_cells("_"), parse_cells("*")
    ([], [TsvCell(value=None, number=None)])
    """
    if field == NO_ANNOTATION:
        return []
    return [_cell(part) for part in _split_stack(field)]


def _split_stack(field: str) -> list[str]:
    parts, place = [], -1
    while place < len(field):
        match = _STACKED.match(field, place + 1)
        parts.append(match[0] if match else "")
        place = match.end() if match else len(field)
    return parts


def _cell(part: str) -> TsvCell:
    match = _WITH_ID.fullmatch(part)
    raw, number = (match[1], int(match[2])) if match else (part, None)
    value = None if raw == NO_VALUE else _ESCAPE.sub(_unescaped, raw)
    return TsvCell(value, number)


def _unescaped(match: re.Match[str]) -> str:
    return {"t": "\t", "n": "\n", "r": "\r"}.get(match[1], match[1])
