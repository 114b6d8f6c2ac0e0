"""Reasons for refusing: one class for each. The HTTP layer gives each of them a status."""

from __future__ import annotations

from typing import Any

from rubricate.errors import RubricateError


class RefusedError(RubricateError):
    """Something that is not done; ``saved`` is the state that is there, where that matters."""

    def __init__(self, message: str, saved: Any = None) -> None:
        super().__init__(message)
        self.saved = saved


class NotFoundError(RefusedError):
    """Something that is not there, or not for this person."""

    def __init__(self, message: str = "There is nothing under this address.") -> None:
        super().__init__(message)


class InvalidError(RefusedError):
    """Something that was given makes no sense, such as marks outside the note."""


class NotAllowedError(RefusedError):
    """Something that this person may not do."""


class ConflictError(RefusedError):
    """Something else was saved meanwhile, or is there already."""


class TextChangedError(ConflictError):
    """Marks were made on another text than the one that is kept."""


class PausedError(RefusedError):
    """The project is paused."""


class UnfinishedError(RefusedError):
    """A note is not done: some of its features are not judged."""


class NothingToUndoError(RefusedError):
    """There is no change to undo, or to do again."""


class LeavingError(RefusedError):
    """Features would leave a project without anybody having said so."""


class UnavailableError(RubricateError):
    """The database cannot be reached, or is damaged: nothing can be read or saved now."""
