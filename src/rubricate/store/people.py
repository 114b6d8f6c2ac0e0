"""Access: people, sessions, links that work once, tokens, and earlier failed attempts."""

from __future__ import annotations

import hashlib
import json
import secrets
import unicodedata
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, Literal, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, bindparam, delete, select

from rubricate.errors import Fault, InputError
from rubricate.files import is_plain_name
from rubricate.formats.encoding import Json
from rubricate.store import tables as t
from rubricate.store.answers import AskedPart, MemberOf
from rubricate.store.chain import Entry, append, data_of
from rubricate.store.database import new_id, now, one_row
from rubricate.store.refusals import ConflictError, NotAllowedError, NotFoundError

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
#: A session ends after this long without a request, and after this long in any case.
IDLE, LONGEST = 30 * MINUTE, 12 * HOUR
ROLES = ("manager", "annotator", "curator", "reviewer", "observer")
#: Who has one of these roles, and does not annotate, sees what all others did.
_WATCHERS = {"manager", "observer"}
SCOPES = ("read", "write", "export", "suggest")
#: Attempts before waiting begins; from then on the wait doubles, up to the longest.
FREE_ATTEMPTS, LONGEST_WAIT = 5, 15 * MINUTE


@dataclass(frozen=True, slots=True)
class Identity:
    """The sender of a request: a person by session, or by a token with its scopes."""

    person: str
    name: str
    admin: bool = False
    scopes: frozenset[str] | None = None
    project: str | None = None


def hashed(secret: str) -> str:
    """Return the stored hash of a random secret; one hash is enough, since nobody can guess it."""
    return hashlib.sha256(secret.encode()).hexdigest()


def add_person(connection: Connection, name: str, *, admin: bool = False) -> str:
    """Add somebody who has no password yet, and return the id.

    Names that people read as the same are refused: nobody can pass for somebody else.
    """
    name = _typed(name)
    if not name.isprintable() or len(name) > 80 or "\\" in name or not is_plain_name(name):
        # Names are those of folders, too: in what studies and some formats get back.
        raise InputError("a name has 1 to 80 characters that can be printed, and no slash")
    own_looks = _looks(name)
    for other in connection.scalars(select(t.person.c.name)):
        if not own_looks.isdisjoint(_looks(other)):
            message = "There is somebody of this name already, or of one that looks the same."
            raise ConflictError(message)
    own = new_id()
    values = {"id": own, "name": name, "admin": admin, "disabled": False, "made": now()}
    connection.execute(t.person.insert().values(**values))
    return own


def _typed(name: str) -> str:
    """Return a name in the one form that all keyboards' forms of it have; no spaces around it."""
    return unicodedata.normalize("NFC", name).strip()


#: Cyrillic and Greek letters that look like Latin ones: as small letters, and as capitals.
_SMALL = str.maketrans("аеорсухіјѕԛԝһԁѵαονριυκχτ", "aeopcyxijsqwhdvaovpiukxt")
_CAPITALS = str.maketrans("АВЕКМНОРСТУХІЈЅԚԜΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEKMHOPCTYXIJSQWABEZHIKMNOPTYX")


def _looks(name: str) -> set[str]:
    """Return the looks of a name, in small letters and in capitals.

    >>> "ann" in _looks("\u0430nn"), "ann" in _looks("\u0391\u039d\u039d")
    (True, True)
    """
    plain = "".join(unicodedata.normalize("NFKC", name).split())
    return {plain.casefold().translate(_SMALL), plain.upper().translate(_CAPITALS).casefold()}


def _folded(name: str) -> str:
    """Return a name without what readers overlook: capitals, spaces, forms of a character."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())


def account_named(connection: Connection, name: str) -> Row[Any] | None:
    """Return the row of a person, also of one who may not sign in."""
    return connection.execute(select(t.person).where(_is_named(name))).one_or_none()


def _is_named(name: str) -> ColumnElement[bool]:
    """Return the condition for a name; earlier releases kept names as they were typed."""
    return t.person.c.name.in_((name, _typed(name)))


def person_named(connection: Connection, name: str) -> Row[Any] | None:
    """Return the row of a person who may sign in."""
    found = select(t.person).where(_is_named(name), t.person.c.disabled.is_(False))
    return connection.execute(found).one_or_none()


def name_of(connection: Connection, person: str) -> str:
    """Return the name of a person."""
    return str(connection.scalar(select(t.person.c.name).where(t.person.c.id == person)))


def everybody(connection: Connection) -> Sequence[Row[Any]]:
    """Return all people by name, with the address and subject a provider knows them by."""
    more = (t.vouched.c.email, t.vouched.c.subject)
    found = select(t.person, *more).outerjoin(t.vouched).order_by(t.person.c.name)
    return connection.execute(found).all()


def set_disabled(connection: Connection, person: str, disabled: bool) -> None:
    """Let a person in no longer, or again; all sessions and links end."""
    connection.execute(t.person.update().where(t.person.c.id == person).values(disabled=disabled))
    end_sessions(connection, person)
    connection.execute(delete(t.link).where(t.link.c.person == person))


def set_password(connection: Connection, person: str, password_hash: str) -> None:
    """Keep a new password's hash; all sessions and invitations end."""
    end_sessions(connection, person)
    _end_invitations(connection, person)
    own = t.person.update().where(t.person.c.id == person)
    connection.execute(own.values(password=password_hash))


def set_email(connection: Connection, person: str, email: str) -> None:
    """Let a person in through a provider that knows them by this address; bind nobody yet."""
    email = email.strip().lower()
    if not 3 <= len(email) <= 254 or "@" not in email or not email.isprintable():
        raise InputError("an e-mail address has an @ and at most 254 characters")
    others = (t.vouched.c.email == email) & (t.vouched.c.person != person)
    if connection.scalar(select(t.vouched.c.person).where(others)) is not None:
        raise ConflictError("Somebody else has this e-mail address.")
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
        raise NotAllowedError(message)
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
    """Return the owner of a session, and True if its use must be noted."""
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
    """Return the secret of a link: ``setup``, ``invite``, ``enter`` or ``oidc``.

    A new invitation ends the earlier ones of the same person.
    """
    connection.execute(delete(t.link).where(t.link.c.expires < now()))
    if kind == "invite" and person is not None:
        _end_invitations(connection, person)
    secret = secrets.token_urlsafe(24)
    values = {"hash": hashed(secret), "kind": kind, "person": person, "target": target}
    connection.execute(t.link.insert().values(**values, expires=now() + int(days * DAY)))
    return secret


def _end_invitations(connection: Connection, person: str) -> None:
    own = (t.link.c.person == person) & (t.link.c.kind == "invite")
    connection.execute(delete(t.link).where(own))


def find_link(connection: Connection, secret: str, *kinds: str) -> Row[Any]:
    """Return the purpose of a link of these kinds; a refusal if it was used or is too old."""
    own = (t.link.c.hash == hashed(secret), t.link.c.kind.in_(kinds), t.link.c.expires > now())
    return one_row(connection, select(t.link).where(*own), _USED)


_USED = "This link was used already, or is too old. Ask for another one."


def use_link(connection: Connection, secret: str, kind: str) -> Row[Any]:
    """Return the purpose of a link, and let it never work again.

    Every start of a server without accounts prints a link for the first one: all of these end.
    """
    row = find_link(connection, secret, kind)
    own = t.link.c.kind == kind if kind == "setup" else t.link.c.hash == row.hash
    if not connection.execute(delete(t.link).where(own)).rowcount:
        raise NotFoundError(_USED)  # another server used it meanwhile
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
        raise NotFoundError("There is no such token of yours.")


def end_tokens(connection: Connection, person: str) -> None:
    """Let all tokens of a person work no longer."""
    connection.execute(delete(t.token).where(t.token.c.person == person))


def token_identity(connection: Connection, secret: str) -> Identity | None:
    """Return the owner of a token, and its scopes."""
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
    """Return the roles of a person in a project."""
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
    _check_roles(connection, project, person, roles)
    own = (t.membership.c.project == project) & (t.membership.c.person == person)
    if "manager" not in roles and _managers(connection, project) == {person}:
        raise InputError("a project has a manager: give the role to somebody else first")
    connection.execute(delete(t.membership).where(own))
    for role in sorted(set(roles)):
        row = {"project": project, "person": person, "role": role}
        connection.execute(t.membership.insert().values(**row))
    data = {"person": person, "roles": sorted(set(roles))}
    append(connection, project, Entry("member", actor, data))


def _check_roles(connection: Connection, project: str, person: str, roles: Collection[str]) -> None:
    unknown = [Fault(f"no role {r!r}; known: {', '.join(ROLES)}") for r in roles if r not in ROLES]
    if unknown:
        raise InputError(unknown)
    if "annotator" in roles and _saw_others(connection, project, person):
        raise InputError(
            "this person annotated here and could see others' work since: they are no longer blind"
        )


def _managers(connection: Connection, project: str) -> set[str]:
    own = (t.membership.c.project == project) & (t.membership.c.role == "manager")
    may = select(t.person.c.id).join(t.membership).where(own, t.person.c.disabled.is_(False))
    return set(connection.scalars(may))


class Added(NamedTuple):
    """Somebody who was added to a project: as a new person, by a link; asked; or at once."""

    name: str
    state: Literal["invited", "asked", "member"]
    secret: str | None = None


def add_member(
    connection: Connection, project: str, name: str, roles: Collection[str], actor: Identity
) -> Added:
    """Bring somebody into a project; a refusal where they are in it, or were asked already.

    A new person gets an account, whose link the actor hands on. Nobody but an administrator makes a
    link for an account that is there: whoever has that link has the account. An administrator adds
    somebody who has an account at once; anybody else asks them, and they agree when they sign in.
    """
    if not roles:
        raise InputError("choose at least one role")
    row = account_named(connection, name)
    if row is None:
        person = add_person(connection, name)
        set_roles(connection, project, person, roles, actor.person)
        own = name_of(connection, person)
        return Added(own, "invited", make_link(connection, "invite", person))
    if row.disabled:
        message = "This account is disabled. An administrator can enable it."
        raise ConflictError(message)
    there = roles_of(connection, project, row.id)
    if there:
        message = f"{name} is in this project already ({', '.join(sorted(there))}). Nothing changed"
        raise ConflictError(f"{message}: change the roles of members in the list.",
                           {"roles": sorted(there)})  # fmt: skip
    if actor.admin:
        _unask(connection, project, row.id)
        set_roles(connection, project, row.id, roles, actor.person)
        return Added(row.name, "member")
    if _asked_roles(connection, project, row.id):
        raise ConflictError(f"{name} was asked already. Nothing changed.")
    _ask(connection, project, row.id, roles, actor)
    return Added(row.name, "asked")


def change_member(
    connection: Connection, project: str, name: str, roles: Collection[str], actor: Identity
) -> None:
    """Give a member exactly these roles, or ask somebody who was asked for these; none: neither."""
    row = account_named(connection, name)
    person = "" if row is None else row.id
    if roles_of(connection, project, person):
        set_roles(connection, project, person, roles, actor.person)
    elif _unask(connection, project, person):
        if roles:
            _ask(connection, project, person, roles, actor)
    else:
        raise NotFoundError("Nobody of this name is in the project.")


def _ask(
    connection: Connection, project: str, person: str, roles: Collection[str], actor: Identity
) -> None:
    _check_roles(connection, project, person, roles)
    wanted = sorted(set(roles))
    own = {"project": project, "person": person, "roles": " ".join(wanted)}
    connection.execute(t.asked.insert().values(**own, actor=actor.person, at=now()))
    append(connection, project, Entry("ask", actor.person, {"person": person, "roles": wanted}))


def _unask(connection: Connection, project: str, person: str) -> bool:
    own = (t.asked.c.project == project) & (t.asked.c.person == person)
    return bool(connection.execute(delete(t.asked).where(own)).rowcount)


def _asked_roles(connection: Connection, project: str, person: str) -> frozenset[str]:
    own = (t.asked.c.project == project) & (t.asked.c.person == person)
    found: str | None = connection.scalar(select(t.asked.c.roles).where(own))
    return frozenset((found or "").split())


def asked_of(connection: Connection, person: str) -> list[AskedPart]:
    """Return the projects that somebody was asked to join."""
    found = select(t.asked, t.project.c.name, t.person.c.name.label("by")).join(
        t.project, t.asked.c.project == t.project.c.id
    )
    found = found.join(t.person, t.asked.c.actor == t.person.c.id)
    rows = connection.execute(found.where(t.asked.c.person == person).order_by(t.asked.c.at))
    return [{"project": r.project, "name": r.name, "roles": r.roles.split(), "by": r.by}
            for r in rows]  # fmt: skip


def answer_asked(connection: Connection, project: str, person: str, join: bool) -> None:
    """Let somebody join a project they were asked to join, or decline."""
    roles = _asked_roles(connection, project, person)
    if not _unask(connection, project, person):
        raise NotFoundError("Nobody asks you to join this project any more.")
    if join:
        there = roles_of(connection, project, person)
        set_roles(connection, project, person, roles | there, person)
    else:
        append(connection, project, Entry("decline", person, {"person": person}))


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


def begin_attempt(connection: Connection, name: str, address: str) -> int:
    """Count an attempt to sign in as somebody from an address; the more, the longer the next waits.

    Returns 0, or how many milliseconds must pass before this one: then nothing is counted. It is
    counted before the password is looked at, so that many at once are no way round. Others behind
    the same address, and the same person elsewhere, wait for nothing.
    """
    connection.execute(delete(t.attempt).where(t.attempt.c.until < now() - LONGEST))
    own = t.attempt.c.key == _attempt_key(name, address)
    row = connection.execute(select(t.attempt).where(own)).one_or_none()
    if row is not None and row.until > now():
        return int(row.until) - now()
    n = 1 if row is None else row.failures + 1
    wait = min(LONGEST_WAIT, 1000 << min(n - FREE_ATTEMPTS, 20)) if n >= FREE_ATTEMPTS else 0
    values = {"key": _attempt_key(name, address), "failures": n, "until": now() + wait}
    connection.execute(delete(t.attempt).where(own))
    connection.execute(t.attempt.insert().values(**values))
    return 0


def forget_attempts(connection: Connection, name: str, address: str) -> None:
    """Forget the wrong passwords for somebody from an address."""
    own = t.attempt.c.key == _attempt_key(name, address)
    connection.execute(delete(t.attempt).where(own))


def _attempt_key(name: str, address: str) -> str:
    """Return under what attempts are counted; a hash, since people type passwords as names."""
    with suppress(ValueError):
        known = ip_address(address)
        if isinstance(known, IPv6Address) and known.ipv4_mapped is None:
            # Whoever has one address of IPv6 has all of its network.
            address = str(ip_network((known, 64), strict=False))
    return hashed(f"{_folded(name[:200])}\0{address}")


def set_preferences(connection: Connection, person: str, chosen: str) -> None:
    """Keep what a person chose, as JSON."""
    own = t.person.update().where(t.person.c.id == person)
    connection.execute(own.values(preferences=chosen))


def preferences(connection: Connection, person: str) -> Json:
    """Return a person's choices: keys, theme."""
    found = select(t.person.c.preferences).where(t.person.c.id == person)
    chosen: Json = json.loads(connection.scalar(found) or "{}")
    return chosen
