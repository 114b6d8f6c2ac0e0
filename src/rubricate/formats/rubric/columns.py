"""The columns of rubric files under the many names that schools give them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Container, Sequence

from rubricate.columns import plain_name

#: Every name of each column, in lower case, with single spaces for all that is no letter or digit.
NAMES = {
    "case": ("case", "case id", "case num", "case number", "case name", "station", "scenario",
             "vignette"),
    "id": ("id", "feature id", "feature num", "feature number", "item id", "code", "key"),
    "number": ("no", "nr", "number", "item no", "item number", "feature no"),
    "text": ("text", "feature text", "description", "checklist item", "item text", "criterion",
             "wording", "key feature", "rubric item", "statement"),
    "weight": ("weight", "points", "point", "max points", "maximum points", "marks", "max marks",
               "score", "max score", "value"),
    "kind": ("kind", "type", "category", "section", "domain"),
    "group": ("group", "any of", "one of", "any of group", "alternatives"),
    "note": ("note", "notes", "comment", "comments", "remark", "remarks", "guidance",
             "instructions", "hint"),
    "title": ("title", "case title", "rubric title"),
}  # fmt: skip

#: Names of the text, unless another column is; then of the id.
_TEXT_OR_ID = ("feature", "item", "element")
_COLUMN = {name: column for column, names in NAMES.items() for name in names}
#: The header of the competition's features.csv, whose texts have hyphens for spaces.
_COMPETITION = {"feature num", "case num", "feature text"}


def is_known(name: str) -> bool:
    """Tell whether a column's name is one of those understood.

    >>> is_known("Max points"), is_known("colour")
    (True, False)
    """
    plain = plain_name(name)
    return plain in _COLUMN or plain in _TEXT_OR_ID


def match_columns(
    names: Sequence[str],
    fault: Callable[[str], None],
    *,
    empty: Container[int] = (),
    left_out: Callable[[str], None] | None = None,
) -> dict[int, str]:
    """Return which column of `NAMES` stands at which place.

    Columns without a name or whose name begins with ``_`` are left out. A name that is not known
    and two names for one column are faults; but ``left_out`` is told of names that are like none,
    and a column that is ``empty`` gives way to another.

    >>> match_columns(["Item", "Max points", "_seen"], print)
    {0: 'text', 1: 'weight'}
    >>> match_columns(["item", "text", "wieght"], print)
    column 'wieght' is not known; did you mean 'weight'? Columns that begin with _ are left out.
    {0: 'id', 1: 'text'}
    """
    found: dict[int, str] = {}
    first: dict[str, str] = {}
    doubtful: dict[int, str] = {}
    for place, name in sorted(enumerate(names), key=lambda pair: pair[0] in empty):
        plain = plain_name(name)
        if not plain or name.strip().startswith("_"):
            continue
        if plain in _TEXT_OR_ID:
            doubtful[place] = name
        elif plain not in _COLUMN:
            near = difflib.get_close_matches(plain, [*_COLUMN, *_TEXT_OR_ID], n=1, cutoff=0.75)
            if near or left_out is None:
                fault(_unknown(name, near))
            elif place not in empty:
                left_out(name)
        elif place not in empty or _COLUMN[plain] not in first:
            _settle(found, first, (place, name, _COLUMN[plain]), fault)
    for place, name in doubtful.items():
        column = "id" if "text" in first else "text"
        _settle(found, first, (place, name, column), fault)
    return dict(sorted(found.items()))


def _settle(
    found: dict[int, str],
    first: dict[str, str],
    new: tuple[int, str, str],
    fault: Callable[[str], None],
) -> None:
    place, name, column = new
    if column in first:
        fault(f"columns {first[column]!r} and {name!r} both mean the feature's {column}")
        return
    first[column] = name
    found[place] = column


def _unknown(name: str, near: Sequence[str]) -> str:
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(NAMES)}."
    return f"column {name!r} is not known; {hint} Columns that begin with _ are left out."


def has_hyphens(names: Sequence[str]) -> bool:
    """Tell whether the texts below these names have hyphens for spaces.

    >>> has_hyphens(["feature_num", "case_num", "feature_text"])
    True
    """
    return {plain_name(name) for name in names} >= _COMPETITION
