"""The pages of projects: plain forms for managing, what people upload with them, and frames."""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection
from starlette.responses import RedirectResponse, Response

from rubricate.corpus import Corpus
from rubricate.display import counted
from rubricate.errors import Fault, InputError, RubricateError
from rubricate.formats import detect_format, read_corpus
from rubricate.formats.limits import ReadLimits, check_archive, limits_in_force
from rubricate.formats.notes import counted_notes, parse_columns, understood_as, with_only_case
from rubricate.formats.rubric import RubricFile, read_rubric_file
from rubricate.rubric import Rubric, odd_features
from rubricate.store import chain, curating, exporting, people, projects, rubrics
from rubricate.study.settings import AnnotatorSettings
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


def projects_page(call: Call) -> Response:
    """Show a person's projects."""
    return render("projects.html", call, projects=call.read(people.own_projects, call.me.person))


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
            found = given.corpus.rubrics
            rubrics.add_rubrics(connection, call.project, found, who, same_meaning=same)
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


#: What may be uploaded: small when packed is not small when opened.
_LIMITS = ReadLimits(file_bytes=200_000_000, unpacked_bytes=500_000_000)
_UNPACKED = "unpacked"
#: What the command line has an option for, and the forms a field.
_FIELDS = {"--columns": "“Columns”", "--case": "“Case”"}
_ADVICE = re.compile(r"(?<!\S)`?--[a-z]")


class Upload(NamedTuple):
    """What was read, of a rubric file without notes, and how it was understood, line by line."""

    corpus: Corpus
    said: list[str]


def read_upload(call: Call) -> Upload:
    """Read notes, and their rubric where it is a file of its own, from the fields of a form."""
    with _scratch() as scratch:
        name, place = _placed(call, scratch, "notes", "notes")
        told: list[str] = []
        columns = parse_columns(given) if (given := form_field(call, "columns")) else {}
        with understood_as(columns=columns, case=form_field(call, "case"), tell=told.append):
            kind = detect_format(place)
            corpus = read_corpus(place)
        lines = told or [counted_notes(len(corpus.notes), {n.case for n in corpus.notes} - {""})]
        said = [f"{name}: read as {kind}; {lines[0]}", *lines[1:]]
        if call.body.get("rubric"):
            found = read_rubric_upload(call, (note.case for note in corpus.notes), scratch)
            by_case = {one.case: one for one in found.corpus.rubrics}
            notes = tuple(with_only_case(corpus.notes, by_case))
            corpus = replace(found.corpus, notes=notes)
            said += found.said
        elif corpus.rubrics:
            said.append(f"rubric of the notes’ own: {_sizes(corpus.rubrics)}")
        return Upload(corpus, [_plain(one, scratch) for one in (*said, *_odd(corpus))])


def read_rubric_upload(call: Call, cases: Iterable[str], scratch: Path | None = None) -> Upload:
    """Read a rubric file from a form, under the names that these cases have."""
    if scratch is None:
        with _scratch() as own:
            return read_rubric_upload(call, cases, own)
    name, place = _placed(call, scratch, "rubric", "a rubric")
    found: RubricFile = read_rubric_file(place)
    rubrics = found.for_cases(cases)
    said = [*(f"{name}: {one}" for one in found.notices), f"{name}: taken as {_sizes(rubrics)}"]
    said += [f"odd in {name}: {odd}" for one in rubrics for odd in odd_features(one)]
    return Upload(Corpus((), rubrics), [_plain(one, scratch) for one in said])


def _sizes(rubrics: Iterable[Rubric]) -> str:
    """Return which cases rubrics are of, and how many features each has."""
    return ", ".join(f"{counted(len(one), 'feature')} of case {one.case!r}" for one in rubrics)


def _odd(corpus: Corpus) -> Iterator[str]:
    """Yield what a person should know before the work begins."""
    empty = sum(not note.text.strip() for note in corpus.notes)
    if empty:
        yield f"{counted(empty, 'note')} without any text: one decision is asked for, nothing else"
    if len(corpus.rows):
        names = ", ".join(one.id for one in corpus.annotators)
        yield f"annotations in the file (by {names}) are not taken over: everybody begins anew"


@contextmanager
def _scratch() -> Iterator[Path]:
    """Give a folder for uploads; faults in them name the file, and what a form can change."""
    with tempfile.TemporaryDirectory() as scratch, limits_in_force(_LIMITS):
        place = Path(scratch)
        try:
            yield place
        except RubricateError as error:
            lines = [_plain(one, place) for one in fault_lines(error)]
            raise InputError(map(Fault, lines)) from None


def _plain(text: str, scratch: Path) -> str:
    """Return a message without the server's paths, and without advice for the command line."""
    for field in ("notes", "rubric"):
        for part in (f"{scratch / field / _UNPACKED}/", f"{scratch / field}/"):
            text = text.replace(part, "")
    text = text.replace(str(scratch), "")
    for option, name in _FIELDS.items():
        text = text.replace(option, name)
    parts = re.split(r"(?<=[.;]) ", text)
    return " ".join(one for one in parts if not _ADVICE.search(one)).rstrip(" ;")


def _placed(call: Call, scratch: Path, field: str, what: str) -> tuple[str, Path]:
    """Return an upload's name and where it lies; an archive is unpacked, if it stays small."""
    given = call.body.get(field)
    if not isinstance(given, tuple) or not given[1]:
        raise InputError(f"choose a file with {what}")
    folder, name = scratch / field, Path(given[0]).name or "file"
    folder.mkdir()
    place = folder / name
    place.write_bytes(given[1])
    if place.suffix != ".zip":
        return name, place
    try:
        with zipfile.ZipFile(place) as archive:
            check_archive(archive, place)
            archive.extractall(folder / _UNPACKED)
    except zipfile.BadZipFile:
        raise InputError([Fault("is no ZIP archive", place)]) from None
    inside = list((folder / _UNPACKED).iterdir())
    return name, inside[0] if len(inside) == 1 else folder / _UNPACKED
