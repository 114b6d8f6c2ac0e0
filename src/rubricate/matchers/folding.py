"""Text made comparable without moving an offset, and the places where words begin and end."""

from __future__ import annotations

import re

_EDGES = re.compile(r"[^\W\d_]+|\d+|\S")


def fold_text(text: str) -> str:
    """Return the text in lower case with every character in its place.

    A character whose lower case is longer than one character (``İ``) stays as it is.

    Examples
    --------
    >>> fold_text("SOB İ"), len(fold_text("İ"))
    ('sob İ', 1)
    """
    low = text.lower()
    if len(low) == len(text) and "Σ" not in text:
        return low
    # Character by character: str.lower lengthens some and looks at neighbours of the Greek sigma.
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


class _Classes(dict[str, str]):
    """The class of each character, worked out when it is first met."""

    def __missing__(self, char: str) -> str:
        if char.isspace():
            kind = " "
        elif char.isdecimal():
            kind = "0"
        else:
            kind = "a" if char.isalnum() else "."
        self[char] = kind
        return kind


#: From a character to its class: ``a`` letter, ``0`` digit, ``.`` mark, or space. A stretch lies on
#: word edges (see `word_edges`) when it neither begins nor ends with a space, and the classes on
#: both sides of each end differ or are marks.
CHARACTER_CLASS = _Classes()


def word_edges(text: str) -> tuple[set[int], set[int]]:
    """Return the offsets where a word, number or mark begins, and those where one ends.

    Letters part from digits, so that "wks" is a word of "3wks"; any other mark stands alone. A
    matcher's span begins and ends at such an offset.

    Examples
    --------
    >>> starts, ends = word_edges("58yo, M")
    >>> sorted(starts), sorted(ends)
    ([0, 2, 4, 6], [2, 4, 5, 7])
    """
    starts: set[int] = set()
    ends: set[int] = set()
    for match in _EDGES.finditer(text):
        start, end = match.span()
        starts.add(start)
        ends.add(end)
    return starts, ends
