"""One request after it was let in, its body, its refusal, and one line of the table of rules."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec, TypedDict, TypeVar

from msgspec import Meta, Struct
from sqlalchemy import Connection

from rubricate.errors import InputError, RubricateError, shown
from rubricate.store.database import Database
from rubricate.store.people import ROLES, Identity, may_watch
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
from rubricate.web.jobs import Jobs

if TYPE_CHECKING:
    from rubricate.web.oidc import Provider

P = ParamSpec("P")
T = TypeVar("T")
#: Who is let in where no role is asked for: everybody, whoever signed in, who set the server up.
OPEN, SIGNED_IN, ADMIN = "open", "signed in", "admin"
ANYBODY = frozenset({OPEN})
PERSON = frozenset({SIGNED_IN})
ADMINS = frozenset({ADMIN})
MEMBERS = frozenset(ROLES)
LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})


def only(*roles: str) -> frozenset[str]:
    """Return the access of some roles of the project that is asked for."""
    unknown = set(roles) - set(ROLES)
    if unknown:
        raise ValueError(f"no such roles: {unknown}")
    return frozenset(roles)


@dataclass(frozen=True, slots=True)
class Bench:
    """Context of every request: the database, the folder that is served, the server's address."""

    database: Database
    folder: Path
    secure: bool = False
    #: Names the server answers to, so that no other site can pose as it; none: any.
    hosts: frozenset[str] = LOOPBACK
    #: Long work (suggestions, publishing) is done one after the other.
    busy: threading.Lock = field(default_factory=threading.Lock)
    #: Work that people wait for, and for how many seconds a request waits before a page says so.
    jobs: Jobs = field(default_factory=Jobs)
    patience: float = 3.0
    #: Through which people may sign in.
    provider: Provider | None = None

    def inside(self, name: str) -> Path:
        """Return a path inside the folder that is served; InputError if it leads out of it."""
        with suppress(OSError, ValueError):  # a name that no file can have
            path = (self.folder / name).resolve()
            if name and path.is_relative_to(self.folder.resolve()) and path.exists():
                return path
        raise InputError(f"{shown(name)} is no file or folder inside the folder that is served")


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


Words = Annotated[str, Meta(max_length=2000)]
Name = Annotated[str, Meta(min_length=1, max_length=80)]


class Body(Struct, forbid_unknown_fields=True):
    """A JSON object without surprises."""


class NothingBody(Body):
    """``{}``."""


class PlaceInList(TypedDict):
    """Start and size of one page of a list."""

    after: str
    limit: int


@dataclass(frozen=True, slots=True)
class Call:
    """One request of somebody who may make it."""

    bench: Bench
    me: Identity
    roles: frozenset[str] = frozenset()
    project: str = ""
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    secret: str = ""
    address: str = ""
    host: str = ""
    cookies: Mapping[str, str] = field(default_factory=dict)
    #: Whose work the database shows: see `rubricate.store.transaction`.
    sees: str = ""

    def read(
        self, work: Callable[Concatenate[Connection, P], T], *given: P.args, **named: P.kwargs
    ) -> T:
        """Return the result of a reading function of the store for this person."""
        return self.bench.database.read(lambda c: work(c, *given, **named), self.sees)

    def write(
        self, work: Callable[Concatenate[Connection, P], T], *given: P.args, **named: P.kwargs
    ) -> T:
        """Return the result of a function of the store once its writes are kept."""
        return self.bench.database.write(lambda c: work(c, *given, **named), self.sees)

    def page(self, most: int = 200) -> PlaceInList:
        """Return the start and size of one page of a list."""
        limit = self.query.get("limit", "50")
        if len(limit) > 9 or not limit.isdecimal() or not 1 <= int(limit) <= most:
            raise InputError(f"limit is a whole number from 1 to {most}")
        return {"after": self.query.get("after", ""), "limit": int(limit)}

    def choice(self, name: str, known: tuple[str, ...]) -> str:
        """Return a word of the query; the first of those known where it is not given."""
        value = self.query.get(name, known[0])
        if value not in known:
            raise InputError(f"{name} is one of {', '.join(known)}")
        return value


def is_page_path(path: str) -> bool:
    """Tell whether an address answers people in a browser."""
    return not path.startswith(("/api/", "/compat/"))


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the table: a method and path, who may use it, and what does the work."""

    method: str
    path: str
    access: frozenset[str]
    handler: Callable[[Call], Any]
    #: What the body must be; None: there is none. ``dict``: the fields of a form.
    body: Any = None
    #: It shows what all annotators did: closed to who is one of them.
    watches: bool = False
    #: What a token must allow.
    scope: str = "read"
    status: int = 200
    query: tuple[str, ...] = ()
    most_bytes: int = 1_000_000
    #: How many fields a form may have.
    most_fields: int = 50

    @property
    def is_page(self) -> bool:
        """True if it answers people in a browser; programs with a token use the others."""
        return is_page_path(self.path)

    def lets_in(self, roles: Collection[str]) -> bool:
        """Tell whether somebody with these roles in the project may ask it."""
        return not self.access.isdisjoint(roles) and (not self.watches or may_watch(roles))
