"""Checks that every kind of work shares: marks within the text they were made on, work allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row

from rubricate.run.evidence import Spans
from rubricate.store.database import RefusedError


def checked_marks(marks: Sequence[Any], length: int) -> Spans:
    """Return marks in order, each once; a refusal where one lies outside the note.

    >>> checked_marks([[[4, 6], [0, 2]], [[0, 2], [4, 6]]], 10)
    (((0, 2), (4, 6)),)
    """
    found = {tuple(sorted((int(s), int(e)) for s, e in mark)) for mark in marks}
    sound = all(mark and all(0 <= s < e <= length for s, e in mark) for mark in found)
    if not sound:
        message = f"Marks need 0 <= start < end <= {length}, in code points."
        raise RefusedError(400, "bad_request", message)
    return tuple(sorted(found))


def need_text(row: Row[Any], sha256: str) -> None:
    """Refuse marks that were made on another text than the one kept."""
    if row.sha256 != sha256:
        raise RefusedError(
            409, "text_changed", "The text of the note is another one: load it again."
        )


def need_open(state: str) -> None:
    """Refuse work on a project that is paused."""
    if state != "open":
        raise RefusedError(409, "paused", "The project is paused; what you did is saved.")
