"""Refusals in HTTP: a status, and a word for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rubricate.errors import RubricateError
from rubricate.store.refusals import (
    ConflictError,
    InvalidError,
    LeavingError,
    NotAllowedError,
    NotFoundError,
    NothingToUndoError,
    PausedError,
    RefusedError,
    TextChangedError,
    UnfinishedError,
)

#: The status and the word of each reason; a class without its own has those of the class above it.
STATUSES: Mapping[type[RefusedError], tuple[int, str]] = {
    InvalidError: (400, "bad_request"),
    NotAllowedError: (403, "forbidden"),
    NotFoundError: (404, "not_found"),
    ConflictError: (409, "conflict"),
    TextChangedError: (409, "text_changed"),
    PausedError: (409, "paused"),
    UnfinishedError: (409, "unjudged"),
    NothingToUndoError: (409, "nothing"),
    LeavingError: (409, "gone"),
}


class HttpError(RubricateError):
    """A request that is refused, with the state that is there where that matters."""

    def __init__(self, status: int, code: str, message: str, saved: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.saved = saved

    @classmethod
    def of(cls, error: RefusedError) -> HttpError:
        """Return a refusal of the store as it is answered.

        >>> HttpError.of(TextChangedError("The text is another one.")).code
        'text_changed'
        """
        kind = next(one for one in type(error).__mro__ if one in STATUSES)
        return cls(*STATUSES[kind], str(error), error.saved)
