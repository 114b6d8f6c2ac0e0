"""Which notes cannot be scored, and why."""

from __future__ import annotations

import re
from collections.abc import Container

from rubricate.corpus import Note

#: Longest note, in characters, that is scored unless told otherwise.
LONGEST = 100_000
#: Share of characters no text has, from which a note is taken for something else.
_MOST_STRANGE = 0.1
#: Control characters but tab and line ends, and the sign for bytes that could not be decoded.
_STRANGE = re.compile(r"[\x01-\x08\x0e-\x1b\x7f\ufffd]")


def why_not_scored(note: Note, cases: Container[str], *, longest: int = LONGEST) -> str:
    """Return why a note cannot be scored; empty if it can.

    Parameters
    ----------
    note : Note
        The note.
    cases : container of str
        Cases that have a rubric.
    longest : int
        Most characters a note may have.

    Examples
    --------
    >>> why_not_scored(Note("1", "c", "  "), {"c"})
    'the note is empty'
    >>> why_not_scored(Note("1", "d", "no fever"), {"c"})
    "no rubric for case 'd'"
    """
    text = note.text
    if not text.strip():
        return "the note is empty"
    if len(text) > longest:
        return f"the note has {len(text):,} characters; at most {longest:,} are scored"
    if "\0" in text or len(_STRANGE.findall(text)) > _MOST_STRANGE * len(text):
        return "the note is not text: it holds control characters"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"the note is not text: half a surrogate pair at {error.start}"
    if note.case not in cases:
        return f"no rubric for case {note.case!r}"
    return ""
