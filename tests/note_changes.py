"""Changes of a note that a clinician would not notice, and that change no decision."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

_SENTENCES = re.compile(r"(?<=[a-z)][.!?])\s+(?=[A-Z])")
_HEADER = "CITY CLINIC\nPage 1 of 1\n"
_FOOTER = "\nPrinted by the records office. Confidential."


def _lines(text: str, mark: Callable[[int], str]) -> str:
    parts = _SENTENCES.split(text)
    return "\n".join(f"{mark(i)}{part}" for i, part in enumerate(parts, start=1))


def _curly(text: str) -> str:
    text = re.sub(r"(?<=\w)'", "\u2019", text)
    return re.sub(r'"([^"\n]*)"', "\u201c\\1\u201d", text)


def _swapped(text: str) -> str:
    """Return a text whose last two sentences have changed places."""
    *parts, one, other = ["", "", *_SENTENCES.split(text)]
    if not one or "\n" in one + other:
        return text
    return " ".join([*filter(None, parts), other, one])


#: Names of changes, and what they make of a note.
CHANGES: dict[str, Callable[[str], str]] = {
    "capitals": str.upper,
    "small letters": str.lower,
    "a line for each sentence": lambda text: _lines(text, lambda _: ""),
    "bullets": lambda text: _lines(text, lambda _: "- "),
    "round bullets": lambda text: _lines(text, lambda _: "• "),
    "numbered lines": lambda text: _lines(text, lambda i: f"{i}. "),
    "header": lambda text: _HEADER + text,
    "footer": lambda text: text + _FOOTER,
    "a mark for a name": lambda text: f"**NAME[AAA]: {text}",
    "another mark": lambda text: f"[**2115-3-4**] {text}",
    "semicolons": lambda text: _SENTENCES.sub("; ", re.sub(r"\.(?=\s+[A-Z])", ";", text)),
    "no last stop": lambda text: text.rstrip(" .\n"),
    "last sentences swapped": _swapped,
    "twice": lambda text: f"{text}\nCOPY:\n{text}",
    "blank lines": lambda text: re.sub(r"\n+", "\n\n\n", text) + "\n\n",
    "tabs": lambda text: re.sub(r" (?=[A-Z])", "\t", text),
    "double spaces": lambda text: text.replace(". ", ".  "),
    "curly quotes": _curly,
    "spaces at line ends": lambda text: re.sub(r"$", "   ", text, flags=re.MULTILINE),
    "spaces that do not break": lambda text: text.replace(" ", "\u00a0"),
    "Windows line ends": lambda text: text.replace("\n", "\r\n"),
    "accents apart": lambda text: unicodedata.normalize("NFD", text),
    "long dashes": lambda text: text.replace(" - ", " – "),
    "mark of byte order": lambda text: f"\ufeff{text}",
    "soft hyphens": lambda text: re.sub(r"(?<=[a-z]{5})(?=[a-z]{5})", "\u00ad", text, count=1),
}
