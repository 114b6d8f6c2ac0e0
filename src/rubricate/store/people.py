"""Who may come in: people, sessions, links that work once, tokens, and what went wrong before."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, select

from rubricate.errors import Fault, InputError
from rubricate.formats.encoding import Json
from rubricate.store import tables as t
from rubricate.store.answers import MemberOf
from rubricate.store.chain import Entry, append, data_of
from rubricate.store.database import RefusedError, missing, new_id, now, one_row

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
#: A session ends after this long without a request, and after this long in any case.
IDLE, LONGEST = 30 * MINUTE, 12 * HOUR
ROLES = ("manager", "annotator", "curator", "reviewer", "observer")
#: Who has one of these roles, and does not annotate, sees what all others did.
_WATCHERS = {"manager", "observer"}
SCOPES = ("read", "write", "export", "suggest")
#: Wrong passwords before waiting begins; from then on the wait doubles, up to the longest.
FREE_ATTEMPTS, LONGEST_WAIT = 5, 15 * MINUTE


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks: a person by session, or by a token with its scopes."""

    person: str
    name: str
    admin: bool = False
    scopes: frozenset[str] | None = None
    project: str | None = None


def hashed(secret: str) -> str:
    """Return what is kept of a random secret; one hash is enough, since nobody can guess it."""
    return hashlib.sha256(secret.encode()).hexdigest()


def add_person(connection: Connection, name: str, *, admin: bool = False) -> str:
    """Add somebody who has no password yet, and return the id."""
    if not name.strip() or len(name) > 80 or not name.isprintable() or "/" in name:
        raise InputError("a name has 1 to 80 characters that can be printed, and no slash")
    if connection.scalar(select(t.person.c.id).where(t.person.c.name == name)) is not None:
        raise RefusedError(409, "conflict", "There is somebody of this name already.")
    own = new_id()
    values = {"id": own, "name": name, "admin": admin, "disabled": False, "made": now()}
    connection.execute(t.person.insert().values(**values))
    return own


def person_named(connection: Connection, name: str) -> Row[Any] | None:
    """Return the row of a person who may sign in."""
    found = select(t.person).where(t.person.c.name == name, t.person.c.disabled.is_(False))
    return connection.execute(found).one_or_none()


def name_of(connection: Connection, person: str) -> str:
    """Return what a person is called."""
    return str(connection.scalar(select(t.person.c.name).where(t.person.c.id == person)))


def everybody(connection: Connection) -> Sequence[Row[Any]]:
    """Return all people by name, with the address and subject a provider knows them by."""
    more = (t.vouched.c.email, t.vouched.c.subject)
    found = select(t.person, *more).outerjoin(t.vouched).order_by(t.person.c.name)
    return connection.execute(found).all()


def set_disabled(connection: Connection, person: str, disabled: bool) -> None:
    """Let a person in no longer, or again; all sessions end."""
    connection.execute(t.person.update().where(t.person.c.id == person).values(disabled=disabled))
    end_sessions(connection, person)


def set_password(connection: Connection, person: str, password_hash: str) -> None:
    """Keep a new password's hash; all sessions end."""
    end_sessions(connection, person)
    own = t.person.update().where(t.person.c.id == person)
    connection.execute(own.values(password=password_hash))


def set_email(connection: Connection, person: str, email: str) -> None:
    """Let a person in through a provider that knows them by this address; bind nobody yet."""
    email = email.strip().lower()
    if not 3 <= len(email) <= 254 or "@" not in email or not email.isprintable():
        raise InputError("an e-mail address has an @ and at most 254 characters")
    others = (t.vouched.c.email == email) & (t.vouched.c.person != person)
    if connection.scalar(select(t.vouched.c.person).where(others)) is not None:
        raise RefusedError(409, "conflict", "Somebody else has this e-mail address.")
    connection.execute(delete(t.vouched).where(t.vouched.c.person == person))
    connection.execute(t.vouched.insert().values(person=person, email=email))


def vouched(connection: Connection, issuer: str, subject: str, email: str) -> str:
    """Return whom a provider means; ``email``: the address that it verified, or nothing.

    The first time somebody is found by the address, and bound to the provider's subject: whoever
    gets the same address later is somebody else.
    """
    own = t.vouched.c
    may = select(own.person).join(t.person).where(t.person.c.disabled.is_(False))
    known = may.where(own.issuer == issuer, own.subject == subject)
    new = may.where(own.email == email.lower(), own.subject.is_(None))
    person: str | None = connection.scalar(known) or connection.scalar(new)
    if person is None:
        message = "The provider vouches for nobody who was invited. Ask an administrator."
        raise RefusedError(403, "forbidden", message)
    bound = t.vouched.update().where(own.person == person)
    connection.execute(bound.values(issuer=issuer, subject=subject))
    return person


def end_sessions(connection: Connection, person: str) -> None:
    """Sign a person out everywhere."""
    connection.execute(delete(t.session).where(t.session.c.person == person))


def open_session(connection: Connection, person: str) -> str:
    """Begin a session and return its secret; only a hash of it is kept."""
    secret, at = secrets.token_urlsafe(32), now()
    connection.execute(delete(t.session).where(t.session.c.made < at - LONGEST))
    values = {"hash": hashed(secret), "person": person, "made": at, "seen": at}
    connection.execute(t.session.insert().values(**values))
    return secret


_person = select(t.person.c.id, t.person.c.name, t.person.c.admin).where(
    t.person.c.disabled.is_(False)
)
_BY_SESSION = (
    _person.add_columns(t.session.c.seen)
    .join(t.session)
    .where(
        t.session.c.hash == bindparam("secret"),
        t.session.c.seen > bindparam("idle"),
        t.session.c.made > bindparam("longest"),
    )
)
_BY_TOKEN = (
    _person.add_columns(t.token.c.scopes, t.token.c.project)
    .join(t.token)
    .where(t.token.c.hash == bindparam("secret"), t.token.c.expires > bindparam("at"))
)


def session_identity(connection: Connection, secret: str) -> tuple[Identity, bool] | None:
    """Return whose session this is, and whether it is time to say that it is in use."""
    at = now()
    values = {"secret": hashed(secret), "idle": at - IDLE, "longest": at - LONGEST}
    row = connection.execute(_BY_SESSION, values).one_or_none()
    return row and (Identity(row.id, row.name, row.admin), row.seen < at - MINUTE)


def touch_session(connection: Connection, secret: str) -> None:
    """Say that a session is in use."""
    own = t.session.update().where(t.session.c.hash == hashed(secret))
    connection.execute(own.values(seen=now()))


def close_session(connection: Connection, secret: str) -> None:
    """End one session."""
    connection.execute(delete(t.session).where(t.session.c.hash == hashed(secret)))


def make_link(
    connection: Connection,
    kind: str,
    person: str | None = None,
    *,
    target: str = "/",
    days: float = 7,
) -> str:
    """Return the secret of a link: ``setup``, ``invite``, ``enter`` or ``oidc``."""
    connection.execute(delete(t.link).where(t.link.c.expires < now()))
    secret = secrets.token_urlsafe(24)
    values = {"hash": hashed(secret), "kind": kind, "person": person, "target": target}
    connection.execute(t.link.insert().values(**values, expires=now() + int(days * DAY)))
    return secret


def find_link(connection: Connection, secret: str, *kinds: str) -> Row[Any]:
    """Return what a link of these kinds is for; a refusal where it was used or is too old."""
    own = (t.link.c.hash == hashed(secret), t.link.c.kind.in_(kinds), t.link.c.expires > now())
    otherwise = "This link was used already, or is too old. Ask for another one."
    return one_row(connection, select(t.link).where(*own), otherwise)


def use_link(connection: Connection, secret: str, kind: str) -> Row[Any]:
    """Return what a link is for, and let it never work again."""
    row = find_link(connection, secret, kind)
    connection.execute(delete(t.link).where(t.link.c.hash == row.hash))
    return row


def make_token(
    connection: Connection,
    person: str,
    name: str,
    scopes: list[str],
    *,
    days: int,
    project: str | None = None,
) -> tuple[str, str]:
    """Return a token's id and its secret, which is shown once."""
    faults = [Fault(f"no scope {one!r}; known: {', '.join(SCOPES)}") for one in scopes
              if one not in SCOPES]  # fmt: skip
    if not 1 <= days <= 366:
        faults.append(Fault("a token holds for 1 to 366 days"))
    InputError.raise_any(faults)
    own, secret = new_id(), f"rub_{secrets.token_urlsafe(32)}"
    connection.execute(
        t.token.insert().values(
            id=own, hash=hashed(secret), person=person, project=project, name=name,
            scopes=" ".join(sorted(set(scopes))), made=now(), expires=now() + days * DAY,
        )
    )  # fmt: skip
    return own, secret


def tokens_of(connection: Connection, person: str) -> Sequence[Row[Any]]:
    """Return a person's tokens."""
    return connection.execute(select(t.token).where(t.token.c.person == person)).all()


def end_token(connection: Connection, person: str, token: str) -> None:
    """Let one of a person's tokens work no longer; a refusal where there is none."""
    own = (t.token.c.id == token) & (t.token.c.person == person)
    if not connection.execute(delete(t.token).where(own)).rowcount:
        raise missing("There is no such token of yours.")


def token_identity(connection: Connection, secret: str) -> Identity | None:
    """Return who a token speaks for, and what it may be used for."""
    values = {"secret": hashed(secret), "at": now()}
    row = connection.execute(_BY_TOKEN, values).one_or_none()
    if row is None:
        return None
    return Identity(row.id, row.name, row.admin, frozenset(row.scopes.split()), row.project)


def own_projects(connection: Connection, person: str) -> list[MemberOf]:
    """Return the projects of a person with the roles there."""
    rows = connection.execute(
        select(t.project.c.id, t.project.c.name, t.project.c.state, t.membership.c.role)
        .join(t.membership)
        .where(t.membership.c.person == person)
        .order_by(t.project.c.made, t.membership.c.role)
    )
    found: dict[str, MemberOf] = {}
    for row in rows:
        own: MemberOf = {"id": row.id, "name": row.name, "state": row.state, "roles": []}
        found.setdefault(row.id, own)["roles"].append(row.role)
    return list(found.values())


def roles_of(connection: Connection, project: str, person: str) -> frozenset[str]:
    """Return what a person is in a project."""
    own = (t.membership.c.project == project) & (t.membership.c.person == person)
    return frozenset(connection.scalars(select(t.membership.c.role).where(own)))


def may_watch(roles: Collection[str]) -> bool:
    """Tell whether somebody sees others' work: never who annotates in the same project."""
    return "annotator" not in roles and bool(_WATCHERS & set(roles))


def set_roles(
    connection: Connection, project: str, person: str, roles: Collection[str], actor: str
) -> None:
    """Give a person exactly these roles in a project.

    Who annotates and gives it up may see others' work; from then on their own is final, since they
    do not get the role again.
    """
    unknown = [Fault(f"no role {r!r}; known: {', '.join(ROLES)}") for r in roles if r not in ROLES]
    if unknown:
        raise InputError(unknown)
    if "annotator" in roles and _saw_others(connection, project, person):
        raise InputError(
            "this person annotated here and could see others' work since: they are no longer blind"
        )
    own = (t.membership.c.project == project) & (t.membership.c.person == person)
    connection.execute(delete(t.membership).where(own))
    for role in sorted(set(roles)):
        row = {"project": project, "person": person, "role": role}
        connection.execute(t.membership.insert().values(**row))
    data = {"person": person, "roles": sorted(set(roles))}
    append(connection, project, Entry("member", actor, data))


def _saw_others(connection: Connection, project: str, person: str) -> bool:
    """Tell whether somebody who has notes to annotate could watch at any time after that."""
    given = (t.assignment.c.project == project) & (t.assignment.c.person == person)
    if connection.scalar(select(t.assignment.c.id).where(given).limit(1)) is None:
        return False
    changes = (t.event.c.project == project) & t.event.c.assignment.is_(None)
    rows = connection.execute(
        select(t.event).where(changes, t.event.c.kind == "member").order_by(t.event.c.number)
    )
    own = [data["roles"] for data in map(data_of, rows) if data["person"] == person]
    first = next((k for k, roles in enumerate(own) if "annotator" in roles), len(own))
    return any(map(may_watch, own[first:]))


def waiting(connection: Connection, *keys: str) -> int:
    """Return how many milliseconds must pass before another attempt with any of these keys."""
    until = connection.scalars(select(t.attempt.c.until).where(t.attempt.c.key.in_(keys)))
    return max([0, *(int(one) - now() for one in until)])


def failed(connection: Connection, *keys: str) -> None:
    """Count a wrong password for an account and an address; the more, the longer the wait."""
    connection.execute(delete(t.attempt).where(t.attempt.c.until < now() - LONGEST))
    for key in keys:
        own = t.attempt.c.key == key
        row = connection.execute(select(t.attempt).where(own)).one_or_none()
        n = 1 if row is None else row.failures + 1
        wait = min(LONGEST_WAIT, 1000 << min(n - FREE_ATTEMPTS, 20)) if n > FREE_ATTEMPTS else 0
        connection.execute(delete(t.attempt).where(own))
        connection.execute(t.attempt.insert().values(key=key, failures=n, until=now() + wait))


def succeeded(connection: Connection, *keys: str) -> None:
    """Forget the wrong passwords of an account."""
    connection.execute(delete(t.attempt).where(t.attempt.c.key.in_(keys)))


def set_preferences(connection: Connection, person: str, chosen: str) -> None:
    """Keep what a person chose, as JSON."""
    own = t.person.update().where(t.person.c.id == person)
    connection.execute(own.values(preferences=chosen))


def preferences(connection: Connection, person: str) -> Json:
    """Return what a person chose: keys, theme."""
    found = select(t.person.c.preferences).where(t.person.c.id == person)
    chosen: Json = json.loads(connection.scalar(found) or "{}")
    return chosen
