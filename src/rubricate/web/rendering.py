"""Drawing of pages: templates, the bar of a project, forms and their faults."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse, Response

from rubricate.display import counted
from rubricate.errors import RubricateError, Wording
from rubricate.reports.scoring.viewer import case_title
from rubricate.store import people, projects
from rubricate.store.refusals import UnavailableError
from rubricate.web.calls import Call, HttpError

_HERE = Path(__file__).parent
STATIC = _HERE / "static"


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
    found.globals.update(
        {
            "static": _static,
            "roles": people.ROLES,
            "pages_of": pages_of,
            "case_title": case_title,
            "counted": counted,
        }
    )
    return found


def pages_of(roles: Collection[str]) -> list[str]:
    """Return the pages of a project that somebody with these roles may open."""
    from rubricate.web.policy import PAGES

    places = {rule.path.removeprefix("/p/{project}/"): rule for rule in PAGES
              if rule.method == "GET" and rule.path.startswith("/p/")}  # fmt: skip
    return [place for place, rule in places.items() if "/" not in place and rule.lets_in(roles)]


def render(page: str, /, call: Call | None = None, status: int = 200, **more: Any) -> HTMLResponse:
    """Return a page; every one knows who looks at it, and in which project."""
    given: dict[str, object] = {
        "place": {"runs.html": "review", "rubric_changes.html": "rubric"}.get(
            page, page.removesuffix(".html")
        ),
        "origin": call and f"{'https' if call.bench.secure else 'http'}://{call.host}",
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
        own = {name: getattr(row, name) for name in ("id", "name", "state", "study", "suggestions")}
        given["project"] = {**own, "roles": sorted(call.roles)}
    return HTMLResponse(_templates().get_template(page).render({**given, **more}), status)


def error_page(error: HttpError) -> Response:
    """Return a page that says why not."""
    heading = _HEADINGS.get(error.status, "This is not possible")
    return render("error.html", status=error.status, heading=heading, error=str(error))


_HEADINGS = {404: "Not found", 500: "Something failed", 503: "The workbench cannot work now"}


def form_field(call: Call, name: str) -> str:
    """Return a field of a form; empty where it was not sent."""
    value = call.body.get(name, "")
    return value if isinstance(value, str) else ""


def by_form(
    handler: Callable[[Call], Any],
    page: Callable[..., Response] | None = None,
    body: Callable[[Call], Any] = lambda _: None,
    *,
    then: str = "",
    shows: str = "",
) -> Callable[[Call], Response]:
    """Return a handler of a form that does what one of the interface does.

    ``body`` makes the handler's body of the fields. Afterwards the browser goes to the address
    ``then``, or the ``page`` is drawn with the answer under the name that ``shows`` it. With
    faults, the page is drawn with these; without a page a refusal has a page of its own.
    """

    def answer(call: Call) -> Response:
        try:
            done = handler(replace(call, body=body(call)))
        except (RubricateError, OSError) as error:
            if page is None:
                raise
            return page(call, faults=fault_lines(error, call.bench.folder))
        if isinstance(done, Response):
            return done
        if page is None or then:
            return RedirectResponse(then.format(**call.path), 303)
        return page(call, **{shows: done})

    return answer


def fault_lines(
    error: Exception, folder: Path | None = None, *, wording: Wording = str
) -> list[str]:
    """Return one line for each fault an error has; paths are those inside the folder, if given.

    ``wording`` has the names of fields for the settings that a fault speaks of.

    A database that is away is no fault of what was given: that error is raised again.
    """
    if isinstance(error, UnavailableError):
        raise error
    found = error.faults if isinstance(error, RubricateError) else ()
    lines = [fault.worded(wording) for fault in found] or [str(error)]
    for place in () if folder is None else (folder.resolve(), folder):
        # The folder itself has the name it ends in; "." would match any full stop.
        lines = [line.replace(f"{place}/", "") for line in lines]
        if place.is_absolute() and place.name:
            lines = [line.replace(str(place), place.name) for line in lines]
    return lines
