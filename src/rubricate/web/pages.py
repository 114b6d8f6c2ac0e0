"""The pages of projects: plain forms for managing, and the frames of the rich ones."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection
from starlette.responses import RedirectResponse, Response

from rubricate.errors import RubricateError
from rubricate.store import chain, curating, exporting, people, projects, rubrics
from rubricate.study.settings import AnnotatorSettings
from rubricate.web import account
from rubricate.web.bodies import AssignmentsBody, ExportBody, ProjectBody, SuggestionsBody
from rubricate.web.calls import Call
from rubricate.web.manage import (
    add_member,
    get_verify,
    known_annotators,
    post_assignments,
    post_export,
    post_project,
    post_suggestions,
)
from rubricate.web.rendering import fault_lines, form_field, render
from rubricate.web.uploads import read_rubric_upload, read_upload


def projects_page(call: Call) -> Response:
    """Show a person's projects."""
    return render("projects.html", call, projects=call.read(account.own_projects, call.me))


def new_project_page(call: Call, **more: Any) -> Response:
    """Show the form for a new project."""
    return render("new_project.html", call, given=_given(call), **{"name": "", **more})


def _given(call: Call) -> dict[str, str]:
    """Return how notes were to be read, so that a form that is shown again still says it."""
    return {name: form_field(call, name) for name in ("columns", "case")}


def make_project(call: Call) -> Response:
    """Make a project from an uploaded corpus, with a rubric of its own or beside it."""
    name, rename = form_field(call, "name"), bool(form_field(call, "rename"))
    try:
        if study := form_field(call, "study"):
            own = replace(call, body=ProjectBody(name, study))
            return RedirectResponse(f"/p/{post_project(own)['id']}/people", 303)
        given = read_upload(call)

        def work(connection: Connection) -> str:
            own = projects.make_project(connection, name, call.me.person)
            people.set_roles(connection, own, call.me.person, ["manager"], call.me.person)
            projects.add_corpus(connection, own, given.corpus, call.me.person, rename=rename)
            projects.keep_upload(connection, own, given.said, call.me.person)
            return own

        project = call.bench.database.write(work)
    except RubricateError as error:
        return new_project_page(call, faults=fault_lines(error), name=name)
    return RedirectResponse(f"/p/{project}/people", 303)


#: Why curators are asked, in the words of the list's filter.
_REASONS = dict(zip(curating.REASONS, ("they differ", "somebody was unsure",
                "judged anew since", "the rubric changed"), strict=True))  # fmt: skip


def annotate_page(call: Call) -> Response:
    """Show the frame of the page for annotating; its script does the rest."""
    return render("annotate.html", call)


def curate_page(call: Call) -> Response:
    """Show the frame of the page for curating."""
    known = call.read(rubrics.rubrics_of, call.project).items()
    cases = {case: {f.id: f.text for f in rubric} for case, (_, rubric) in known}
    return render("curate.html", call, cases=cases, reasons=_REASONS)


def dashboard_page(call: Call) -> Response:
    """Show the frame of the dashboard."""
    return render("dashboard.html", call)


def rubric_page(call: Call, **more: Any) -> Response:
    """Show the rubrics, what changed in them, and what is to be looked at again because of it."""
    found, watches = call.read(rubrics.list_rubrics, call.project), people.may_watch(call.roles)
    again = call.read(rubrics.whose_again, call.project) if watches else []
    mine = len(call.read(rubrics.again, call.project, call.me.person))
    study, guidelines = call.read(projects.project_row, call.project).study, ""
    if study:
        with suppress(RubricateError):  # without the study's folder the page still opens
            guidelines = projects.study_guidelines(call.bench.inside(study))
    upload = call.read(projects.last_upload, call.project) if "manager" in call.roles else None
    return render("rubric.html", call, rubrics=found, again=again, mine=mine, upload=upload,
                  guidelines=guidelines, given=_given(call), **more)  # fmt: skip


def change_rubric(call: Call) -> Response:
    """Take a file of rubrics: what is there in other words becomes a new version."""
    try:
        given = read_rubric_upload(call, call.read(rubrics.rubrics_of, call.project))
        same = bool(form_field(call, "same_meaning"))

        def work(connection: Connection) -> None:
            who = call.me.person
            rubrics.add_rubrics(connection, call.project, given.rubrics, who, same_meaning=same)
            projects.keep_upload(connection, call.project, given.said, who)

        call.write(work)
    except RubricateError as error:
        return rubric_page(call, faults=fault_lines(error))
    return RedirectResponse(f"/p/{call.project}/rubric", 303)


def add_notes(call: Call) -> Response:
    """Add notes to a project by a form, with a rubric of their own or those that are there."""
    rename = bool(form_field(call, "rename"))
    try:
        given = read_upload(call)

        def work(connection: Connection) -> None:
            who = call.me.person
            projects.add_corpus(connection, call.project, given.corpus, who, rename=rename)
            projects.keep_upload(connection, call.project, given.said, who)

        call.write(work)
    except RubricateError as error:
        return rubric_page(call, faults=fault_lines(error))
    return RedirectResponse(f"/p/{call.project}/people", 303)


def people_page(call: Call, **more: Any) -> Response:
    """Show who is in a project, and the forms to change that."""
    found = call.read(projects.people_of, call.project)
    counts = call.read(chain.counts_of, call.project, "notes", "total")
    known, site = dict[str, AnnotatorSettings](), ""
    with suppress(RubricateError):  # without the study's folder the page still opens
        known, site = known_annotators(call)
    of_notes = call.read(projects.metadata_names, call.project)
    given = {"known": known, "site": site, "fields": of_notes, "counts": counts, "invite": None,
             "upload": call.read(projects.last_upload, call.project)}  # fmt: skip
    return render("people.html", call, people=found, **{**given, "written": None, **more})


def change_people(call: Call) -> Response:
    """Give somebody roles by a form."""
    wanted = [role for role in people.ROLES if form_field(call, role)]
    if not wanted and not form_field(call, "known"):
        return people_page(call, faults=["choose at least one role"])
    try:
        return people_page(call, invite=add_member(call, form_field(call, "name"), wanted))
    except RubricateError as error:
        return people_page(call, faults=fault_lines(error))


def assign(call: Call) -> Response:
    """Share the notes among all annotators by a form."""
    names = list(call.read(projects.annotators_of, call.project))
    seniors = [name for name in names if form_field(call, f"senior {name}")]
    sites = {name: site for name in names if (site := form_field(call, f"site {name}"))}
    try:
        share = float(form_field(call, "double_share") or "100") / 100
        body = AssignmentsBody(names, seniors, sites, form_field(call, "site"), share,
                               int(form_field(call, "per_note") or "2"))  # fmt: skip
        post_assignments(replace(call, body=body))
    except (RubricateError, ValueError) as error:
        faults = fault_lines(error) if isinstance(error, RubricateError) else ["give numbers"]
        return people_page(call, faults=faults)
    return RedirectResponse(f"/p/{call.project}/people", 303)


def change_settings(call: Call) -> Response:
    """Pause or open a project, and show suggestions or not."""
    changes = {"state": "paused" if form_field(call, "state") == "paused" else "open",
               "suggestions": bool(form_field(call, "suggestions"))}  # fmt: skip
    before = call.read(projects.project_row, call.project).suggestions
    call.write(projects.change_project, call.project, call.me.person, **changes)
    if changes["suggestions"] and not before:
        own = replace(call, body=SuggestionsBody())
        post_suggestions(own)
    return RedirectResponse(f"/p/{call.project}/people", 303)


def export(call: Call) -> Response:
    """Write what is finished into the study's folder by the button."""
    body = ExportBody(overwrite=bool(form_field(call, "overwrite")))
    try:
        done = post_export(replace(call, body=body))
    except RubricateError as error:
        return people_page(call, faults=fault_lines(error))
    return people_page(call, written=done)


def audit_page(call: Call) -> Response:
    """Show the record."""
    found = call.read(exporting.record, call.project, **call.page())
    asked = "check" in call.query and "manager" in call.roles
    return render("audit.html", call, checked=get_verify(call) if asked else None, **found)
