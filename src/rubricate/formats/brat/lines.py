"""The lines of a BRAT file: free text on one line, and spans that never cross a line break."""

from __future__ import annotations

import re
from collections.abc import Sequence

Pair = tuple[int, int]

#: Everything BRAT's own reader takes for the end of a line.
_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_FLAT = dict.fromkeys(map(ord, _BREAKS), " ")
_RUN = re.compile(f"[^{_BREAKS}]+")
_NAMED = {"\\": "\\", "\t": "t", "\n": "n", "\r": "r"}
_BY_NAME = {name: character for character, name in _NAMED.items()}
_SPECIAL = re.compile(rf"[\\\t{_BREAKS}]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|(.))")


def flat(text: str) -> str:
    r"""Return the text with each line break shown as one space, as BRAT shows it.

    >>> flat("no fever,\r\nchills")
    'no fever,  chills'
    """
    return text.translate(_FLAT)


def to_line(text: str) -> str:
    r"""Return the text with tabs, line breaks and backslashes escaped.

    >>> to_line("see\tabove\n") == r"see\tabove\n"
    True
    """
    return _SPECIAL.sub(
        lambda m: "\\" + _NAMED[m[0]] if m[0] in _NAMED else f"\\u{ord(m[0]):04x}", text
    )


def from_line(line: str) -> str:
    r"""Inverse of `to_line`; a backslash before anything else stands for itself.

    >>> from_line(r"a\tb, \o/")
    'a\tb, \\o/'
    """

    def character(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        return _BY_NAME.get(match[2], match[0])

    return _ESCAPE.sub(character, line)


def cut_at_breaks(spans: Sequence[Pair], text: str) -> list[Pair]:
    r"""Return the spans cut into fragments at line breaks.

    A span of nothing but line breaks, or one that is not inside the text, stays as it is.

    >>> cut_at_breaks([(0, 13)], "chest\r\n  pain")
    [(0, 5), (7, 13)]
    """
    pieces: list[Pair] = []
    for start, end in spans:
        inside = 0 <= start < end <= len(text)
        runs = [
            (start + run.start(), start + run.end())
            for run in (_RUN.finditer(text[start:end]) if inside else ())
        ]
        pieces += runs or [(start, end)]
    return pieces


def line_text(spans: Sequence[Pair], text: str, *, joint: str = " ") -> str:
    """Return the fragments' words as a T line states them.

    >>> line_text([(0, 6), (14, 22)], "denies palps, fainting")
    'denies fainting'
    """
    return joint.join(flat(text[max(0, start) : max(0, end)]) for start, end in spans)


def stated_text(written: str, spans: Sequence[Pair], text: str) -> str | None:
    """Return the text of a T line where it differs from the note; None where it agrees or is empty.

    Files from before BRAT 1.3 join fragments by nothing; they agree too.

    >>> stated_text("no fever", [(0, 8)], "no fever")
    >>> stated_text("o fever,", [(0, 8)], "no fever")
    'o fever,'
    """
    agreeing = (line_text(spans, text), line_text(spans, text, joint=""))
    return None if not written or flat(written) in agreeing else written


def spans_to_field(spans: Sequence[Pair]) -> str:
    """Return the spans as BRAT writes them.

    >>> spans_to_field([(0, 5), (16, 23)])
    '0 5;16 23'
    """
    return ";".join(f"{start} {end}" for start, end in spans)


def field_to_spans(field: str) -> list[Pair]:
    """Inverse of `spans_to_field`; ValueError if the field is not well formed."""
    pairs = [part.split() for part in field.split(";")]
    return [(int(start), int(end)) for start, end in pairs]
