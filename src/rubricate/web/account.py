"""Signing in and out, passwords, preferences and tokens: asked by programs and on pages."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, field
from sqlalchemy import Connection
from starlette.responses import RedirectResponse, Response

from rubricate.display import counted
from rubricate.errors import Fault, InputError, RubricateError, UnknownNameError
from rubricate.store import people
from rubricate.store.answers import MeAnswer, ProjectsAnswer
from rubricate.store.database import iso
from rubricate.store.refusals import NotFoundError
from rubricate.web.app import cookie_name
from rubricate.web.calls import Bench, Body, Call, HttpError, Name
from rubricate.web.rendering import STATIC, fault_lines, form_field, render

SHORTEST = 12
_WORD = re.compile(r"[^\W\d_]+|\d+")
#: Long passwords that many people choose all the same.
_COMMON = {
    "123456789012", "1234567890123", "password1234", "passwordpassword", "qwertyuiop123",
    "qwertyuiop12", "letmeinletmein", "administrator", "iloveyou1234", "changeme1234",
    "welcome12345", "abc123abc123", "1q2w3e4r5t6y", "qwerty123456", "rubricate1234",
}  # fmt: skip
#: A hash takes memory and time on purpose: at most two at once, and few wait, so that threads are
#: left for everybody else.
_hashing = threading.Semaphore(2)
_queue = threading.Semaphore(16)


class SignInBody(Body):
    """A name and its password."""

    name: str
    password: str


class PreferencesBody(Body):
    """Keys of a person."""

    keys_on: bool = True
    keys: dict[Annotated[str, Meta(max_length=40)], Annotated[str, Meta(max_length=40)]] = field(
        default_factory=dict
    )


class JoinBody(Body):
    """The answer of a person who was asked to join a project."""

    join: bool


class TokenBody(Body):
    """A new token."""

    name: Name
    scopes: list[Literal["read", "write", "export", "suggest"]]
    days: Annotated[int, Meta(ge=1, le=366)] = 90
    project: str | None = None


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
    lowered = password.casefold()
    words, own = (f" {' '.join(_WORD.findall(one.casefold()))} " for one in (password, name))
    faults = []
    if not SHORTEST <= len(password) <= 200:
        faults.append(f"a password has {SHORTEST} to 200 characters; four words will do")
    if lowered in _COMMON or len(set(password)) < 5:
        faults.append("this password is one of the first that are tried")
    if own.strip() and own in words:
        faults.append("the password holds the name as a word")
    if faults:
        raise InputError(map(Fault, faults))


def hash_password(name: str, password: str) -> str:
    """Return the Argon2id hash of a password that is good enough."""
    check_password(name, password)
    with _turn():
        hashed: str = _hasher().hash(password)
    return hashed


@contextmanager
def _turn() -> Iterator[None]:
    """Wait for one's turn to hash; a refusal where many wait already."""
    if not _queue.acquire(blocking=False):
        raise _slow_down("Many people sign in at this moment", 2)
    try:
        with _hashing:
            yield
    finally:
        _queue.release()


def _slow_down(why: str, seconds: int) -> HttpError:
    message = f"{why}. Try again in {counted(seconds, 'second')}."
    return HttpError(429, "slow_down", message, {"seconds": seconds})


def sign_in(call: Call, name: str, password: str) -> str:
    """Return the secret of a new session; the answer is the same whatever was wrong."""
    wait = call.write(people.begin_attempt, name, call.address)
    if wait:
        raise _slow_down("Too many wrong passwords for this name", -(-wait // 1000))
    row = call.read(people.person_named, name)
    kept = row.password if row is not None and row.password else _no_password()
    with _turn():
        right = _hasher().verify(password[:200], kept)
    if not right or row is None or not row.password:
        raise HttpError(401, "not_signed_in", "Name or password is wrong.")

    def begin(connection: Connection) -> str:
        people.forget_attempts(connection, name, call.address)
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


def signed_in(call: Call, secret: str, goal: str) -> Response:
    """Send who has just signed in on to a page."""
    return set_cookie(RedirectResponse(goal, 303), call.bench, secret)


def post_session(call: Call) -> Response:
    """Sign in."""
    secret = sign_in(call, call.body.name, call.body.password)
    row = call.read(people.person_named, call.body.name)
    body = msgspec.json.encode({"user": row and {"name": row.name, "admin": row.admin}})
    return set_cookie(Response(body, media_type="application/json"), call.bench, secret)


def delete_session(call: Call) -> None:
    """Sign out."""
    call.write(people.close_session, call.secret)


def get_me(call: Call) -> MeAnswer:
    """Return the signed-in person."""
    chosen = call.read(people.preferences, call.me.person)
    asked = [] if call.me.project else call.read(people.asked_of, call.me.person)
    return {"name": call.me.name, "admin": call.me.admin, "asked": asked,
            "preferences": chosen, **get_projects(call)}  # fmt: skip


def get_projects(call: Call) -> ProjectsAnswer:
    """Return the projects of who is signed in; to a token for one project, that one."""
    own = call.read(people.own_projects, call.me.person)
    return {"projects": [one for one in own if call.me.project in (None, one["id"])]}


def post_asked(call: Call) -> None:
    """Join a project that one was asked to join, or decline."""
    if call.me.scopes is not None:
        raise HttpError(403, "forbidden", "A token joins no projects: sign in.")
    who = call.me.person
    join = call.body.join
    call.bench.database.write(lambda c: people.answer_asked(c, call.path["id"], who, join))


def join_fields(call: Call) -> JoinBody:
    """Return the answer of the button beside a project's name."""
    return JoinBody(bool(form_field(call, "join")))


def projects_page(call: Call, **more: Any) -> Response:
    """Show a person's projects, and those they were asked to join."""
    own = call.read(people.own_projects, call.me.person)
    asked = call.read(people.asked_of, call.me.person)
    return render("projects.html", call, projects=own, asked=asked, **more)


def put_preferences(call: Call) -> None:
    """Keep keys."""
    value = msgspec.json.encode(call.body).decode()
    call.write(people.set_preferences, call.me.person, value)


def get_tokens(call: Call) -> dict[str, object]:
    """Return a person's tokens without their secrets."""
    rows = call.read(people.tokens_of, call.me.person)
    return {
        "tokens": [
            {"id": r.id, "name": r.name, "scopes": r.scopes.split(), "expires": iso(r.expires),
             "project": r.project}
            for r in rows if call.me.project in (None, r.project)
        ]
    }  # fmt: skip


def post_token(call: Call) -> dict[str, str]:
    """Make a token; a token makes no others."""
    body = call.body
    if call.me.scopes is not None:
        raise HttpError(403, "forbidden", "A token makes no tokens: sign in.")
    if body.project is not None and not call.read(people.roles_of, body.project, call.me.person):
        raise NotFoundError("There is no such project.")
    own, secret = call.write(
        people.make_token, call.me.person, body.name, body.scopes, days=body.days,
        project=body.project,
    )  # fmt: skip
    return {"id": own, "token": secret}


def token_fields(call: Call) -> TokenBody:
    """Return the token that a form asks for."""
    scopes: list[Any] = [scope for scope in people.SCOPES if form_field(call, scope)]
    project = form_field(call, "project") or None
    return TokenBody(form_field(call, "name") or "token", scopes, project=project)


def delete_token(call: Call) -> None:
    """Revoke one's own token."""
    call.write(people.end_token, call.me.person, call.path["id"])


def sign_in_page(call: Call) -> Response:
    """Show the form to sign in."""
    return render("signin.html", call, next=call.query.get("next", "/"))


def own_page(next_page: str) -> str:
    """Return the page to open after signing in; only this server's own pages."""
    own = next_page.startswith("/") and not next_page.startswith(("//", "/\\"))
    return next_page if own and next_page.isprintable() else "/"


def sign_in_by_form(call: Call) -> Response:
    """Sign in by a form."""
    goal = own_page(form_field(call, "next"))
    try:
        secret = sign_in(call, form_field(call, "name"), form_field(call, "password"))
    except HttpError as error:
        page = render("signin.html", call, error.status, next=goal, error=str(error))
        if error.code == "slow_down":
            page.headers["retry-after"] = str(error.saved["seconds"])
        return page
    return signed_in(call, secret, goal)


def sign_out(call: Call) -> Response:
    """Sign out by a form."""
    if call.secret:
        call.write(people.close_session, call.secret)
    return RedirectResponse("/signin", 303)


def link_page(call: Call) -> Response:
    """Show the form behind a set-up link or an invitation."""
    row = call.read(people.find_link, call.path["code"], "setup", "invite")
    name = row.person and call.read(people.name_of, row.person)
    return render("link.html", call, kind=row.kind, code=call.path["code"], name=name)


def set_up(call: Call) -> Response:
    """Make the first account, which administers."""
    call.read(people.find_link, call.path["code"], "setup")
    return _with_password(call, "setup", form_field(call, "name"))


def accept(call: Call) -> Response:
    """Set the password of who was invited."""
    row = call.read(people.find_link, call.path["code"], "invite")
    return _with_password(call, "invite", call.read(people.name_of, row.person))


def _with_password(call: Call, kind: str, name: str) -> Response:
    try:
        hashed = hash_password(name, form_field(call, "password"))

        def work(connection: Connection) -> str:
            row = people.use_link(connection, call.path["code"], kind)
            person = row.person or people.add_person(connection, name, admin=True)
            people.set_password(connection, person, hashed)
            people.end_tokens(connection, person)  # who lost the account has none of it left
            if call.secret:
                people.close_session(connection, call.secret)
            return people.open_session(connection, person)

        secret = call.bench.database.write(work)
    except InputError as error:
        more = {"kind": kind, "code": call.path["code"], "faults": fault_lines(error)}
        return render("link.html", call, 400, name=name if kind == "invite" else None, **more)
    return signed_in(call, secret, "/")


def enter(call: Call) -> Response:
    """Sign in by a link of the demonstration."""
    row = call.read(people.find_link, call.path["code"], "enter")
    secret = call.write(people.open_session, row.person)
    return signed_in(call, secret, row.target)


def account_page(call: Call, **more: Any) -> Response:
    """Show one's own account."""
    tokens = get_tokens(call)["tokens"]
    given = {"made": None, "keymap": (STATIC / "keymap.js").exists(), "scopes": people.SCOPES}
    own = call.read(people.own_projects, call.me.person)
    return render("account.html", call, tokens=tokens, projects=own, **{**given, **more})


def change_password(call: Call) -> Response:
    """Set another password; all other sessions end."""
    try:
        sign_in(call, call.me.name, form_field(call, "old"))
        hashed = hash_password(call.me.name, form_field(call, "password"))
    except RubricateError as error:
        return account_page(call, faults=fault_lines(error))

    def work(connection: Connection) -> str:
        people.set_password(connection, call.me.person, hashed)
        return people.open_session(connection, call.me.person)

    secret = call.bench.database.write(work)
    return signed_in(call, secret, "/account")


def end_sessions(call: Call) -> Response:
    """Sign out everywhere."""
    call.write(people.end_sessions, call.me.person)
    return RedirectResponse("/signin", 303)


def users_page(call: Call, **more: Any) -> Response:
    """Show everybody who has an account."""
    rows = call.read(people.everybody)
    return render("users.html", call, people=rows, **{"done": {}, "copy": None, **more})


def back_up(call: Call) -> Response:
    """Copy the whole database beside it, while the work goes on."""
    database, place = call.bench.database, call.bench.folder / "workbench" / "backups"
    kind = "sqlite" if database.is_sqlite else "dump"
    target = place / f"{datetime.now(UTC):%Y%m%d-%H%M%S}.{kind}"
    try:
        database.backup(target)
    except RubricateError as error:
        return users_page(call, faults=fault_lines(error))
    return users_page(call, copy=str(target.relative_to(call.bench.folder)))


def change_user(call: Call) -> Response:
    """Invite somebody, or let somebody in no longer."""
    name, what, email = (form_field(call, one).strip() for one in ("name", "what", "email"))

    def work(connection: Connection) -> dict[str, str | bool]:
        row = people.account_named(connection, name)
        if what in ("disable", "enable"):
            if row is None:
                known = [one.name for one in people.everybody(connection)]
                raise UnknownNameError("account", name, known)
            if row.id == call.me.person:
                raise InputError("nobody disables their own account")
            people.set_disabled(connection, row.id, what == "disable")
            return {}
        if row is not None and what == "admin":
            message = f"{name} has an account already; only new accounts are made administrators"
            raise InputError(message)
        if row is not None and row.disabled:
            raise InputError(f"the account of {name} is disabled: enable it before you give a link")
        person = row.id if row else people.add_person(connection, name, admin=what == "admin")
        if email:
            people.set_email(connection, person, email)
        link = f"/invite/{people.make_link(connection, 'invite', person)}"
        return {"invite": link, "name": name, "new": row is None}

    try:
        return users_page(call, done=call.bench.database.write(work))
    except RubricateError as error:
        return users_page(call, faults=fault_lines(error))
