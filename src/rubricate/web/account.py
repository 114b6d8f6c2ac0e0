"""Signing in and out, passwords, preferences and tokens."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, select
from starlette.responses import Response

from rubricate.errors import Fault, InputError
from rubricate.store import people
from rubricate.store import tables as t
from rubricate.store.answers import MeAnswer, MemberOf, ProjectsAnswer
from rubricate.store.database import RefusedError, iso
from rubricate.web.app import cookie_name
from rubricate.web.calls import Bench, Call

SHORTEST = 12
#: Long passwords that many people choose all the same.
_COMMON = {
    "123456789012", "1234567890123", "password1234", "passwordpassword", "qwertyuiop123",
    "qwertyuiop12", "letmeinletmein", "administrator", "iloveyou1234", "changeme1234",
    "welcome12345", "abc123abc123", "1q2w3e4r5t6y", "qwerty123456", "rubricate1234",
}  # fmt: skip
#: A hash takes memory and time on purpose: at most two at once.
_hashing = threading.Semaphore(2)


@cache
def _hasher() -> Any:
    from pwdlib import PasswordHash
    from pwdlib.hashers.argon2 import Argon2Hasher

    return PasswordHash((Argon2Hasher(),))


@cache
def _no_password() -> str:
    """Return the hash that is tried for names that do not exist, so that they take as long."""
    hashed: str = _hasher().hash("no such person")
    return hashed


def check_password(name: str, password: str) -> None:
    """Raise InputError with all that is wrong with a new password."""
    lowered = password.lower()
    faults = []
    if not SHORTEST <= len(password) <= 200:
        faults.append(f"a password has {SHORTEST} to 200 characters; four words will do")
    if lowered in _COMMON or len(set(password)) < 5:
        faults.append("this password is one of the first that are tried")
    if name.lower() in lowered:
        faults.append("the password holds the name")
    if faults:
        raise InputError(map(Fault, faults))


def hash_password(name: str, password: str) -> str:
    """Return the Argon2id hash of a password that is good enough."""
    check_password(name, password)
    with _hashing:
        hashed: str = _hasher().hash(password)
    return hashed


def sign_in(call: Call, name: str, password: str) -> str:
    """Return the secret of a new session; the answer is the same whatever was wrong."""
    keys = (f"name {name[:80]}", f"address {call.address}")
    wait = call.read(people.waiting, *keys)
    if wait:
        seconds = {"seconds": -(-wait // 1000)}
        raise RefusedError(429, "slow_down", "Too many attempts: wait a while.", seconds)
    row = call.read(people.person_named, name)
    kept = row.password if row is not None and row.password else _no_password()
    with _hashing:
        right = _hasher().verify(password[:200], kept)
    if not right or row is None or not row.password:
        call.write(people.failed, *keys)
        raise RefusedError(401, "not_signed_in", "Name or password is wrong.")

    def begin(connection: Connection) -> str:
        people.succeeded(connection, *keys)
        if call.secret:
            people.close_session(connection, call.secret)
        return people.open_session(connection, row.id)

    secret: str = call.bench.database.write(begin)
    return secret


def set_cookie(response: Response, bench: Bench, secret: str) -> Response:
    """Let the browser keep a session."""
    response.set_cookie(cookie_name(bench), secret, max_age=people.LONGEST // 1000, path="/",
                        secure=bench.secure, httponly=True, samesite="lax")  # fmt: skip
    return response


def post_session(call: Call) -> Response:
    """Sign in."""
    secret = sign_in(call, call.body.name, call.body.password)
    row = call.read(people.person_named, call.body.name)
    body = msgspec.json.encode({"user": row and {"name": row.name, "admin": row.admin}})
    return set_cookie(Response(body, media_type="application/json"), call.bench, secret)


def delete_session(call: Call) -> None:
    """Sign out."""
    call.write(people.close_session, call.secret)


def own_projects(connection: Connection, me: people.Identity) -> list[MemberOf]:
    """Return the projects of a person with the roles there."""
    rows = connection.execute(
        select(t.project.c.id, t.project.c.name, t.project.c.state, t.membership.c.role)
        .join(t.membership)
        .where(t.membership.c.person == me.person)
        .order_by(t.project.c.made, t.membership.c.role)
    )
    found: dict[str, MemberOf] = {}
    for row in rows:
        own: MemberOf = {"id": row.id, "name": row.name, "state": row.state, "roles": []}
        found.setdefault(row.id, own)["roles"].append(row.role)
    return list(found.values())


def get_me(call: Call) -> MeAnswer:
    """Return who is signed in."""
    projects = call.read(own_projects, call.me)
    chosen = call.read(people.preferences, call.me.person)
    return {"name": call.me.name, "admin": call.me.admin, "projects": projects,
            "preferences": chosen}  # fmt: skip


def get_projects(call: Call) -> ProjectsAnswer:
    """Return the projects of who is signed in."""
    return {"projects": call.read(own_projects, call.me)}


def put_preferences(call: Call) -> None:
    """Keep keys."""
    value = msgspec.json.encode(call.body).decode()
    own = t.person.update().where(t.person.c.id == call.me.person).values(preferences=value)
    call.write(lambda c: c.execute(own))


def get_tokens(call: Call) -> dict[str, object]:
    """Return a person's tokens without their secrets."""
    rows = call.read(
        lambda c: c.execute(select(t.token).where(t.token.c.person == call.me.person)).all()
    )
    return {
        "tokens": [
            {"id": r.id, "name": r.name, "scopes": r.scopes.split(), "expires": iso(r.expires),
             "project": r.project}
            for r in rows
        ]
    }  # fmt: skip


def post_token(call: Call) -> dict[str, str]:
    """Make a token; a token makes no others."""
    body = call.body
    if call.me.scopes is not None:
        raise RefusedError(403, "forbidden", "A token makes no tokens: sign in.")
    if body.project is not None and not call.read(people.roles_of, body.project, call.me.person):
        raise RefusedError(404, "not_found", "There is no such project.")
    own, secret = call.write(
        people.make_token, call.me.person, body.name, body.scopes,
        days=body.days, project=body.project,
    )  # fmt: skip
    return {"id": own, "token": secret}


def delete_token(call: Call) -> None:
    """Revoke one's own token."""
    own = (t.token.c.id == call.path["id"]) & (t.token.c.person == call.me.person)
    if not call.write(lambda c: c.execute(delete(t.token).where(own)).rowcount):
        raise RefusedError(404, "not_found", "There is no such token of yours.")
