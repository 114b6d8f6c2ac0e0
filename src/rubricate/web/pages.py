"""The pages: plain forms for setting up and managing, and the frames of the rich ones."""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from collections.abc import Collection
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sqlalchemy import select
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from rubricate.corpus import Corpus
from rubricate.errors import Fault, InputError, RubricateError
from rubricate.formats import read_corpus
from rubricate.formats.limits import ReadLimits, check_archive, limits_in_force
from rubricate.formats.notes import with_only_case
from rubricate.formats.rubric.files import read_rubrics
from rubricate.store import dashboards, people, projects, reviewing
from rubricate.store import tables as t
from rubricate.store.database import RefusedError, missing
from rubricate.web import account
from rubricate.web.calls import Call

_HERE = Path(__file__).parent
STATIC = _HERE / "static"
#: What may be uploaded: small when packed is not small when opened.
_UPLOADS = ReadLimits(file_bytes=200_000_000, unpacked_bytes=500_000_000)


def static_files() -> StaticFiles:
    """Return what serves scripts and the stylesheet."""
    return StaticFiles(directory=STATIC)


@cache
def _static(name: str) -> str:
    """Return the address of a file, which changes with its content."""
    path = STATIC / name
    content = path.read_bytes() if path.exists() else b""
    return f"/static/{name}?v={hashlib.sha256(content).hexdigest()[:12]}"


@cache
def _templates() -> Environment:
    found = Environment(
        loader=FileSystemLoader(_HERE / "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    found.globals |= {"static": _static, "roles": people.ROLES, "pages_of": pages_of}
    return found


def pages_of(roles: Collection[str]) -> list[str]:
    """Return the pages of a project that somebody with these roles may open."""
    from rubricate.web.policy import PAGES

    places = {rule.path.removeprefix("/p/{project}/"): rule for rule in PAGES
              if rule.method == "GET" and rule.path.startswith("/p/")}  # fmt: skip
    return [place for place, rule in places.items() if "/" not in place and rule.lets_in(roles)]


def render(page: str, /, call: Call | None = None, status: int = 200, **more: Any) -> HTMLResponse:
    """Return a page; every one knows who looks at it, and in which project."""
    given: dict[str, Any] = {
        "user": None,
        "project": None,
        "run": None,
        "error": None,
        "faults": [],
        "provider": call and call.bench.provider and call.bench.provider.name,
    }
    if call is not None and call.me.person:
        given["user"] = {"name": call.me.name, "admin": call.me.admin}
    if call is not None and call.project:
        row = call.read(projects.project_row, call.project)
        own = {name: getattr(row, name) for name in ("id", "name", "state", "suggestions")}
        given["project"] = {**own, "roles": sorted(call.roles)}
    return HTMLResponse(_templates().get_template(page).render({**given, **more}), status)


def error_page(error: RefusedError) -> Response:
    """Return a page that says why not."""
    return render("error.html", status=error.status, error=str(error))


def _form(call: Call, name: str) -> str:
    value = call.body.get(name, "")
    return value if isinstance(value, str) else ""


def fault_lines(error: Exception) -> list[str]:
    """Return one line for each fault an error has."""
    found = getattr(error, "faults", ())
    return [str(fault) for fault in found] or [str(error)]


def projects_page(call: Call) -> Response:
    """Show a person's projects."""
    return render("projects.html", call, projects=call.read(account.own_projects, call.me))


def sign_in_page(call: Call) -> Response:
    """Show the form to sign in."""
    return render("signin.html", call, next=call.query.get("next", "/"))


def own_page(next_page: str) -> str:
    """Return where to go after signing in; only this server's own pages."""
    own = next_page.startswith("/") and not next_page.startswith(("//", "/\\"))
    return next_page if own else "/"


def sign_in(call: Call) -> Response:
    """Sign in by a form."""
    goal = own_page(_form(call, "next"))
    try:
        secret = account.sign_in(call, _form(call, "name"), _form(call, "password"))
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


def _name_of(connection: Any, person: str) -> str:
    return str(connection.scalar(select(t.person.c.name).where(t.person.c.id == person)))


def set_up(call: Call) -> Response:
    """Make the first account, which administers."""
    call.read(people.find_link, "setup", call.path["code"])
    return _with_password(call, "setup", _form(call, "name"))


def accept(call: Call) -> Response:
    """Set the password of who was invited."""
    row = call.read(people.find_link, "invite", call.path["code"])
    return _with_password(call, "invite", call.read(_name_of, row.person))


def _with_password(call: Call, kind: str, name: str) -> Response:
    try:
        hashed = account.hash_password(name, _form(call, "password"))

        def work(connection: Any) -> str:
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
    return render("account.html", call, tokens=tokens, **{**given, **more})


def change_password(call: Call) -> Response:
    """Set another password; all other sessions end."""
    try:
        account.sign_in(call, call.me.name, _form(call, "old"))
        hashed = account.hash_password(call.me.name, _form(call, "password"))
    except RubricateError as error:
        return account_page(call, faults=fault_lines(error))

    def work(connection: Any) -> str:
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
    scopes = [scope for scope in people.SCOPES if _form(call, scope)]
    project = _form(call, "project") or None
    if project and not call.read(people.roles_of, project, call.me.person):
        raise missing("There is no such project.")
    try:
        _, secret = call.write(
            people.make_token, call.me.person, _form(call, "name") or "token", scopes,
            days=90, project=project,
        )  # fmt: skip
    except InputError as error:
        return account_page(call, faults=fault_lines(error))
    return account_page(call, secret=secret)


def users_page(call: Call, **more: Any) -> Response:
    """Show everybody who has an account."""
    more_of = (t.vouched.c.email, t.vouched.c.subject)
    found = select(t.person, *more_of).outerjoin(t.vouched).order_by(t.person.c.name)
    rows = call.read(lambda c: c.execute(found).all())
    return render("users.html", call, people=rows, **{"invite": None, **more})


def change_user(call: Call) -> Response:
    """Invite somebody, or let somebody in no longer."""
    name, what, email = _form(call, "name"), _form(call, "what"), _form(call, "email")

    def work(connection: Any) -> str | None:
        found = select(t.person.c.id).where(t.person.c.name == name)
        person = connection.scalar(found)
        if what in ("disable", "enable"):
            if person == call.me.person:
                raise InputError("nobody disables their own account")
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


def new_project_page(call: Call, **more: Any) -> Response:
    """Show the form for a new project."""
    return render("new_project.html", call, **more)


def make_project(call: Call) -> Response:
    """Make a project from an uploaded corpus, with a rubric of its own or beside it."""
    name, rename = _form(call, "name"), bool(_form(call, "rename"))
    try:
        corpus = _uploaded(call.body.get("notes"), call.body.get("rubric"))

        def work(connection: Any) -> str:
            own = projects.make_project(connection, name, call.me.person)
            people.set_roles(connection, own, call.me.person, ["manager"], call.me.person)
            projects.add_corpus(connection, own, corpus, call.me.person, rename=rename)
            return own

        project = call.bench.database.write(work)
    except RubricateError as error:
        return new_project_page(call, faults=fault_lines(error))
    return RedirectResponse(f"/p/{project}/people", 303)


def _uploaded(notes: Any, rubric: Any) -> Corpus:
    """Read notes, and their rubric where it is a file of its own, from uploads."""
    if not isinstance(notes, tuple) or not notes[1]:
        raise InputError("choose a file with notes")
    with tempfile.TemporaryDirectory() as scratch, limits_in_force(_UPLOADS):
        try:
            corpus = read_corpus(_placed(Path(scratch) / "notes", notes))
            if isinstance(rubric, tuple) and rubric[1]:
                rubrics = read_rubrics(_placed(Path(scratch) / "rubric", rubric))
                by_case = {one.case: one for one in rubrics}
                corpus = Corpus(tuple(with_only_case(corpus.notes, by_case)), rubrics)
            return corpus
        except InputError as error:
            # Faults name the file, not the folder it was put into.
            faults = [str(fault).replace(f"{scratch}/", "") for fault in error.faults]
            raise InputError(map(Fault, faults)) from None


def _placed(folder: Path, upload: tuple[str, bytes]) -> Path:
    """Return where an upload lies; an archive is unpacked, if it does not become too large."""
    folder.mkdir()
    place = folder / (Path(upload[0]).name or "file")
    place.write_bytes(upload[1])
    if place.suffix != ".zip":
        return place
    try:
        with zipfile.ZipFile(place) as archive:
            check_archive(archive, place)
            archive.extractall(folder / "unpacked")
    except zipfile.BadZipFile:
        raise InputError([Fault("is no ZIP archive", place)]) from None
    inside = list((folder / "unpacked").iterdir())
    return inside[0] if len(inside) == 1 else folder / "unpacked"


def annotate_page(call: Call) -> Response:
    """Show the frame of the page for annotating; its script does the rest."""
    return render("annotate.html", call)


def curate_page(call: Call) -> Response:
    """Show the frame of the page for curating."""
    return render("curate.html", call)


def dashboard_page(call: Call) -> Response:
    """Show the frame of the dashboard."""
    return render("dashboard.html", call)


def review_page(call: Call) -> Response:
    """Show the frame of the page for reviewing a run."""
    return render("review.html", call, run=call.path["run"])


def runs_page(call: Call, **more: Any) -> Response:
    """Show the runs of a project, and the form to add one."""
    return render("runs.html", call, runs=call.read(reviewing.list_runs, call.project), **more)


def people_page(call: Call, **more: Any) -> Response:
    """Show who is in a project, and the forms to change that."""
    found = call.read(projects.people_of, call.project)
    counts = call.read(dashboards.progress, call.project)
    return render("people.html", call, people=found, counts=counts, **{"invite": None, **more})


def change_people(call: Call) -> Response:
    """Give somebody roles by a form."""
    from rubricate.web.bodies import MemberBody
    from rubricate.web.manage import post_member

    wanted: Any = [role for role in people.ROLES if _form(call, role)]
    body = MemberBody(name=_form(call, "name"), roles=wanted)
    own = replace(call, body=body)
    try:
        return people_page(call, invite=post_member(own)["invite"])
    except RubricateError as error:
        return people_page(call, faults=fault_lines(error))


def assign(call: Call) -> Response:
    """Share the notes among all annotators by a form."""
    try:
        share = float(_form(call, "double_share") or "100") / 100
        names = list(call.read(projects.annotators_of, call.project))
        call.write(
            projects.assign_all, call.project, names, call.me.person,
            double_share=share, per_note=int(_form(call, "per_note") or "2"), seed=0,
        )  # fmt: skip
    except (RubricateError, ValueError) as error:
        faults = fault_lines(error) if isinstance(error, RubricateError) else ["give numbers"]
        return people_page(call, faults=faults)
    return RedirectResponse(f"/p/{call.project}/people", 303)


def change_settings(call: Call) -> Response:
    """Pause or open a project, and show suggestions or not."""
    changes = {"state": "paused" if _form(call, "state") == "paused" else "open",
               "suggestions": bool(_form(call, "suggestions"))}  # fmt: skip
    call.write(projects.change_project, call.project, call.me.person, **changes)
    return RedirectResponse(f"/p/{call.project}/people", 303)


def audit_page(call: Call) -> Response:
    """Show the record."""
    found = call.read(dashboards.record, call.project, **call.page())
    return render("audit.html", call, **found)
