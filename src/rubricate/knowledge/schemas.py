"""Shapes of the tables in ``data``: one folder per shape, one row class per shape.

The names of the columns are those of the fields, in their order; a field with a default may be
empty. Within a list no two rows have the same ``KEYS``. ``data/README.md`` describes the
shapes for those who write tables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, TypeVar

#: How a pattern is used, for its examples: at a place of a text, or for the whole of it.
AT_PLACE, WHOLE = "a", "w"
#: Flags of a pattern, by the letters of the column ``flags``.
FLAGS: Mapping[str, re.RegexFlag] = {
    "-": re.RegexFlag(0), "i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL,
    AT_PLACE: re.RegexFlag(0), WHOLE: re.RegexFlag(0),
}  # fmt: skip
#: What a pattern inserts: ``{people.kin}``. A count such as ``{2,3}`` has no letters.
INSERTED = re.compile(r"\{([a-z_]\w*(?:\.\w+)+)\}")


class WordRow(NamedTuple):
    """A word of a list, in the form that the tokeniser gives it."""

    list: str
    word: str
    why: str = ""


class PhraseRow(NamedTuple):
    """A text of a list that is compared as it stands: several words, an ending, a mark."""

    list: str
    phrase: str
    why: str = ""


class CueRow(NamedTuple):
    """A phrase that tells something of the words beside it, and the kind of what it tells."""

    list: str
    kind: str
    phrase: str
    why: str = ""


class ValueRow(NamedTuple):
    """A form of words, and the value that it says: "luq" is left."""

    list: str
    value: str
    form: str
    why: str = ""


class GroupRow(NamedTuple):
    """A word of a group; a list has several groups, and a word may be in several of them."""

    list: str
    group: str
    word: str
    why: str = ""


class PatternRow(NamedTuple):
    """A regular expression, or one of its alternatives, with texts that show what it is for.

    ``yes`` must be found and ``no`` must not; ``⏎`` in them is the end of a line.
    """

    list: str
    flags: str
    pattern: str
    yes: str
    no: str
    why: str


Row = WordRow | PhraseRow | CueRow | ValueRow | GroupRow | PatternRow
RowT = TypeVar("RowT", WordRow, PhraseRow, CueRow, ValueRow, GroupRow, PatternRow)

#: The folder of each shape.
FOLDERS: Mapping[type[Row], str] = {
    WordRow: "words", PhraseRow: "phrases", CueRow: "cues", ValueRow: "values",
    GroupRow: "groups", PatternRow: "patterns",
}  # fmt: skip
#: The fields in which no two rows of a list are the same.
KEYS: Mapping[type[Row], tuple[str, ...]] = {
    WordRow: ("word",), PhraseRow: ("phrase",), CueRow: ("phrase",), ValueRow: ("form",),
    GroupRow: ("group", "word"), PatternRow: ("pattern",),
}  # fmt: skip
