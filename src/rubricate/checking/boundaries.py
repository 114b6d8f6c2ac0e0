"""Where words begin and end: whether a place in a text lies inside a word, and inside which."""

from __future__ import annotations

import unicodedata

_APOSTROPHES = "'’"
_ZERO_WIDTH_JOINER = "\u200d"


def is_joined(text: str, place: int) -> bool:
    """Tell whether the characters before and after a place belong to one word or number.

    Letters join letters, digits join digits, ``n't`` and decimal marks hold together, and a
    combining mark joins what it marks. A digit does not join a letter (``58M``), nor a small
    letter a capital (``yoF``), nor do letters of scripts that put no spaces between words.

    Examples
    --------
    >>> [is_joined("hot 58M 2.5", place) for place in (1, 3, 5, 6, 9, 10)]
    [True, False, True, False, True, True]
    """
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if before.isascii() and after.isascii():
        if before.isalpha() and after.isalpha():
            return not (before.islower() and after.isupper())
        if before.isdigit() and after.isdigit():
            return True
    elif _joins_always(before, after):
        return True
    elif before.isalpha() and after.isalpha():
        return _is_cased(before) and _is_cased(after) and not (before.islower() and after.isupper())
    return _is_inner_mark(text, place) or _is_inner_mark(text, place - 1)


def word_around(text: str, place: int) -> tuple[int, int]:
    """Return the word that holds the character at a place, as a half-open pair.

    Examples
    --------
    >>> word_around("has hot flashes", 5)
    (4, 7)
    """
    start, end = place, place + 1
    while is_joined(text, start):
        start -= 1
    while is_joined(text, end):
        end += 1
    return start, end


def _joins_always(before: str, after: str) -> bool:
    if before == _ZERO_WIDTH_JOINER or after == _ZERO_WIDTH_JOINER:
        return not (before.isspace() or after.isspace())
    # Mn, Mc, Me are marks on the letter before; Sk holds the skin tones of emoji.
    return not before.isspace() and (
        unicodedata.category(after)[0] == "M" or "\U0001f3fb" <= after <= "\U0001f3ff"
    )


def _is_cased(letter: str) -> bool:
    return unicodedata.category(letter) in {"Ll", "Lu", "Lt", "Lm"}


def _is_inner_mark(text: str, place: int) -> bool:
    """Tell whether the character at a place is the mark inside ``n't`` or ``2.5``."""
    if not 0 < place < len(text) - 1:
        return False
    mark, before, after = text[place], text[place - 1], text[place + 1]
    if mark in ".,":
        return before.isdigit() and after.isdigit()
    if mark in _APOSTROPHES:
        ends = place + 2 >= len(text) or not text[place + 2].isalpha()
        return before in "nN" and after in "tT" and ends
    return False
