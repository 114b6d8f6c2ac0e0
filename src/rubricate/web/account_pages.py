"""The pages of accounts: signing in, links, one's own account, and everybody's."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, select
from starlette.responses import RedirectResponse, Response

from rubricate.errors import InputError, RubricateError, UnknownNameError
from rubricate.store import people
from rubricate.store import tables as t
from rubricate.store.database import RefusedError, missing
from rubricate.web import account
from rubricate.web.calls import Call
from rubricate.web.rendering import STATIC, fault_lines, form_field, render


def sign_in_page(call: Call) -> Response:
    """Show the form to sign in."""
    return render("signin.html", call, next=call.query.get("next", "/"))


def own_page(next_page: str) -> str:
    """Return where to go after signing in; only this server's own pages."""
    own = next_page.startswith("/") and not next_page.startswith(("//", "/\\"))
    return next_page if own else "/"


def sign_in(call: Call) -> Response:
    """Sign in by a form."""
    goal = own_page(form_field(call, "next"))
    try:
        secret = account.sign_in(call, form_field(call, "name"), form_field(call, "password"))
    except RefusedError as error:
        return render("signin.html", call, error.status, next=goal, error=str(error))
    return account.set_cookie(RedirectResponse(goal, 303), call.bench, secret)


def sign_out(call: Call) -> Response:
    """Sign out by a form."""
    if call.secret:
        call.write(people.close_session, call.secret)
    return RedirectResponse("/signin", 303)


def link_page(call: Call) -> Response:
    """Show the form behind a set-up link or an invitation."""
    for kind in ("setup", "invite"):
        try:
            row = call.read(people.find_link, kind, call.path["code"])
        except RefusedError:
            continue
        name = row.person and call.read(_name_of, row.person)
        return render("link.html", call, kind=kind, code=call.path["code"], name=name)
    raise missing("This link was used already, or is too old. Ask for another one.")


def _name_of(connection: Connection, person: str) -> str:
    return str(connection.scalar(select(t.person.c.name).where(t.person.c.id == person)))


def set_up(call: Call) -> Response:
    """Make the first account, which administers."""
    call.read(people.find_link, "setup", call.path["code"])
    return _with_password(call, "setup", form_field(call, "name"))


def accept(call: Call) -> Response:
    """Set the password of who was invited."""
    row = call.read(people.find_link, "invite", call.path["code"])
    return _with_password(call, "invite", call.read(_name_of, row.person))


def _with_password(call: Call, kind: str, name: str) -> Response:
    try:
        hashed = account.hash_password(name, form_field(call, "password"))

        def work(connection: Connection) -> str:
            row = people.use_link(connection, kind, call.path["code"])
            person = row.person or people.add_person(connection, name, admin=True)
            people.set_password(connection, person, hashed)
            return people.open_session(connection, person)

        secret = call.bench.database.write(work)
    except InputError as error:
        more = {"kind": kind, "code": call.path["code"], "faults": fault_lines(error)}
        return render("link.html", call, 400, name=name if kind == "invite" else None, **more)
    return account.set_cookie(RedirectResponse("/", 303), call.bench, secret)


def enter(call: Call) -> Response:
    """Sign in by a link of the demonstration."""
    row = call.read(people.find_link, "enter", call.path["code"])
    secret = call.write(people.open_session, row.person)
    return account.set_cookie(RedirectResponse(row.target, 303), call.bench, secret)


def account_page(call: Call, **more: Any) -> Response:
    """Show one's own account."""
    tokens = account.get_tokens(call)["tokens"]
    given = {"secret": None, "keymap": (STATIC / "keymap.js").exists(), "scopes": people.SCOPES}
    own = call.read(account.own_projects, call.me)
    return render("account.html", call, tokens=tokens, projects=own, **{**given, **more})


def change_password(call: Call) -> Response:
    """Set another password; all other sessions end."""
    try:
        account.sign_in(call, call.me.name, form_field(call, "old"))
        hashed = account.hash_password(call.me.name, form_field(call, "password"))
    except RubricateError as error:
        return account_page(call, faults=fault_lines(error))

    def work(connection: Connection) -> str:
        people.set_password(connection, call.me.person, hashed)
        return people.open_session(connection, call.me.person)

    secret = call.bench.database.write(work)
    return account.set_cookie(RedirectResponse("/account", 303), call.bench, secret)


def end_sessions(call: Call) -> Response:
    """Sign out everywhere."""
    call.write(people.end_sessions, call.me.person)
    return RedirectResponse("/signin", 303)


def make_token(call: Call) -> Response:
    """Make a token by a form; its secret is shown once."""
    scopes = [scope for scope in people.SCOPES if form_field(call, scope)]
    project = form_field(call, "project") or None
    if project and not call.read(people.roles_of, project, call.me.person):
        raise missing("There is no such project.")
    try:
        _, secret = call.write(
            people.make_token, call.me.person, form_field(call, "name") or "token", scopes,
            days=90, project=project,
        )  # fmt: skip
    except InputError as error:
        return account_page(call, faults=fault_lines(error))
    return account_page(call, secret=secret)


def end_token(call: Call) -> Response:
    """Let a token work no longer, by the button beside it."""
    account.delete_token(call)
    return RedirectResponse("/account", 303)


def users_page(call: Call, **more: Any) -> Response:
    """Show everybody who has an account."""
    more_of = (t.vouched.c.email, t.vouched.c.subject)
    found = select(t.person, *more_of).outerjoin(t.vouched).order_by(t.person.c.name)
    rows = call.read(lambda c: c.execute(found).all())
    return render("users.html", call, people=rows, **{"invite": None, "copy": None, **more})


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
    name, what, email = (form_field(call, one) for one in ("name", "what", "email"))

    def work(connection: Connection) -> str | None:
        found = select(t.person.c.id).where(t.person.c.name == name)
        person = connection.scalar(found) or ""
        if what in ("disable", "enable"):
            if person == call.me.person:
                raise InputError("nobody disables their own account")
            if not person:
                known = connection.scalars(select(t.person.c.name).order_by(t.person.c.name))
                raise UnknownNameError("account", name, known.all())
            own = t.person.update().where(t.person.c.id == person)
            connection.execute(own.values(disabled=what == "disable"))
            people.end_sessions(connection, person)
            return None
        person = person or people.add_person(connection, name, admin=what == "admin")
        if email:
            people.set_email(connection, person, email)
        return f"/invite/{people.make_link(connection, 'invite', person)}"

    try:
        return users_page(call, invite=call.bench.database.write(work))
    except RubricateError as error:
        return users_page(call, faults=fault_lines(error))
