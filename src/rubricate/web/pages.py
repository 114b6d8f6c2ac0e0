"""The pages of projects: plain forms for managing, and frames of the pages with scripts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy import Connection
from starlette.responses import RedirectResponse, Response

from rubricate.corpus import Corpus
from rubricate.errors import InputError, RubricateError
from rubricate.formats.encoding import rubric_from_json, rubric_to_json
from rubricate.formats.rubric.records import need_sound
from rubricate.progress import Progress
from rubricate.rubric import Rubric
from rubricate.store import (
    chain,
    comparing,
    curating,
    downloading,
    exporting,
    people,
    projects,
    rubrics,
)
from rubricate.store.refusals import LeavingError
from rubricate.study.settings import AnnotatorSettings
from rubricate.web.calls import Call
from rubricate.web.manage import (
    AssignmentsBody,
    ExportBody,
    MemberBody,
    ProjectBody,
    RolesBody,
    SuggestionsBody,
    get_verify,
    judged_counts,
    known_annotators,
    post_member,
    post_project,
    post_suggestions,
    put_member,
)
from rubricate.web.rendering import by_form, fault_lines, form_field, render
from rubricate.web.uploads import Upload, read_rubric_upload, read_upload


def new_project_page(call: Call, **more: Any) -> Response:
    """Show the form for a new project."""
    return render("new_project.html", call, given=_given(call), **{"name": "", **more})


def _given(call: Call) -> dict[str, str]:
    """Return the reading options, so that a form that is shown again still holds them."""
    return {name: form_field(call, name) for name in ("columns", "case")}


def make_project(call: Call) -> Response:
    """Make a project from an uploaded corpus, with a rubric of its own or beside it."""
    name, rename = form_field(call, "name"), bool(form_field(call, "rename"))
    if study := form_field(call, "study"):
        try:
            own = replace(call, body=ProjectBody(name, study))
            return RedirectResponse(f"/p/{post_project(own)['id']}/people", 303)
        except RubricateError as error:
            return new_project_page(call, faults=fault_lines(error), name=name)

    def work(progress: Progress) -> str:
        given = read_upload(call, progress)

        def save(connection: Connection) -> str:
            own = projects.make_project(connection, name, call.me.person)
            people.set_roles(connection, own, call.me.person, ["manager"], call.me.person)
            projects.add_corpus(connection, own, given.corpus, call.me.person, rename=rename)
            projects.keep_upload(connection, own, given.said, call.me.person)
            return own

        progress(0, None, "saving")
        return f"/p/{call.bench.database.write(save)}/people"

    return _at_work(call, "Making the project", "/projects/new", work,
                    lambda faults: new_project_page(call, faults=faults, name=name))  # fmt: skip


def _at_work(
    call: Call,
    title: str,
    back: str,
    work: Callable[[Progress], str],
    refused: Callable[[list[str]], Response],
) -> Response:
    """Do work in the background: lead to its result, or to a page that shows how far it is."""
    job = call.bench.jobs.start(call.me.person, title, back, work)
    if not job.ended.wait(call.bench.patience):
        return RedirectResponse(f"/working/{job.id}", 303)
    return refused(job.faults) if job.faults else RedirectResponse(job.goal, 303)


def working_page(call: Call) -> Response:
    """Show how far work is; when it has ended, lead to its result or say what was wrong."""
    job = call.bench.jobs.find(call.path["id"], call.me.person)
    if job.goal:
        return RedirectResponse(job.goal, 303)
    return render("working.html", call, job=job, faults=job.faults)


#: A field that says which former feature one is.
_PAIR = "pair "
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
    left = call.read(rubrics.left_out, call.project) if watches else []
    return render("rubric.html", call, rubrics=found, again=again, mine=mine, upload=upload,
                  left=left, guidelines=guidelines, given=_given(call), **more)  # fmt: skip


def compare_rubric(call: Call) -> Response:
    """Show what a file of rubrics would change; nothing changes."""
    try:
        known = call.read(rubrics.rubrics_of, call.project)
        given = read_rubric_upload(call, known)
    except RubricateError as error:
        return rubric_page(call, faults=fault_lines(error))
    versions = {case: number for case, (number, _) in known.items()}
    return changes_page(call, Draft(given, versions), {})


class Draft(NamedTuple):
    """An upload that was shown and is not saved yet, and the versions it was compared with."""

    upload: Upload
    versions: dict[str, int]

    @property
    def text(self) -> str:
        """The draft as its form sends it back."""
        found = {"rubrics": [rubric_to_json(one) for one in self.upload.corpus.rubrics],
                 "said": self.upload.said, "made": sorted(self.upload.made),
                 "versions": self.versions}  # fmt: skip
        return json.dumps(found, ensure_ascii=False)

    @classmethod
    def parse(cls, text: str) -> Draft:
        """Read what `text` wrote; InputError for anything else."""
        try:
            found = json.loads(text)
            given = tuple(map(rubric_from_json, found["rubrics"]))
            made, said = frozenset(map(str, found["made"])), list(map(str, found["said"]))
            draft = cls(Upload(Corpus((), given), said, made), dict(found["versions"]))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InputError("the form is damaged: upload the file again") from None
        need_sound(given)
        return draft


def changes_page(
    call: Call, draft: Draft, pairs: Mapping[str, str], faults: Sequence[str] = ()
) -> Response:
    """Show what an upload would change, feature by feature, for the manager to pair and save."""
    compared = call.read(comparing.compare_rubrics, call.project, draft.upload.corpus.rubrics,
                         pairs, made=draft.upload.made)  # fmt: skip
    shown = comparing.show_comparison(compared, judged_counts(call))
    return render("rubric_changes.html", call, rubrics=shown, said=draft.upload.said,
                  draft=draft.text, faults=faults,
                  same_meaning=bool(form_field(call, "same_meaning")))  # fmt: skip


def change_rubric(call: Call) -> Response:
    """Save the rubrics that were compared as new versions, with the pairs that were chosen."""
    pairs = {name.removeprefix(_PAIR): form_field(call, name)
             for name in call.body if name.startswith(_PAIR)}  # fmt: skip
    try:
        draft = Draft.parse(form_field(call, "draft"))
    except RubricateError as error:
        return rubric_page(call, faults=fault_lines(error))

    def work(connection: Connection) -> None:
        newest = rubrics.rubrics_of(connection, call.project)
        if draft.versions != {case: number for case, (number, _) in newest.items()}:
            raise InputError("the rubric was changed meanwhile: check the changes again")
        compared = comparing.compare_rubrics(
            connection, call.project, draft.upload.corpus.rubrics, pairs, made=draft.upload.made
        )
        rubrics.add_rubrics(
            connection, call.project, [one.rubric for one in compared], call.me.person,
            same_meaning=bool(form_field(call, "same_meaning")),
            may_leave=bool(form_field(call, "may_leave")),
        )  # fmt: skip
        projects.keep_upload(connection, call.project, draft.upload.said, call.me.person)

    faults = []
    if form_field(call, "what") != "compare":
        try:
            call.write(work)
        except LeavingError:
            faults = ["some features leave the project: pair them, or tick that they may leave"]
        except RubricateError as error:
            faults = fault_lines(error)
        else:
            return RedirectResponse(f"/p/{call.project}/rubric", 303)
    known = call.read(rubrics.rubrics_of, call.project)
    now = draft._replace(versions={case: number for case, (number, _) in known.items()})
    try:
        return changes_page(call, now, pairs, faults)
    except InputError as error:
        # Pairs that cannot be: the page shows those that are found without them.
        return changes_page(call, now, {}, fault_lines(error))


def add_notes(call: Call) -> Response:
    """Add notes to a project by a form, with a rubric of their own or those that are there."""
    rename = bool(form_field(call, "rename"))

    def work(progress: Progress) -> str:
        given = read_upload(call, progress)
        given.said.extend(_left_aside(call, given.corpus.rubrics))

        def save(connection: Connection) -> None:
            who = call.me.person
            projects.add_corpus(connection, call.project, given.corpus, who, rename=rename)
            projects.keep_upload(connection, call.project, given.said, who)

        progress(0, None, "saving")
        call.write(save)
        return f"/p/{call.project}/people"

    return _at_work(call, "Adding notes", f"/p/{call.project}/rubric", work,
                    lambda faults: rubric_page(call, faults=faults))  # fmt: skip


def _left_aside(call: Call, found: Iterable[Rubric]) -> Iterator[str]:
    """Yield what is said of rubrics that come with notes, and differ from those that are there.

    InputError where one was uploaded as a file of its own: it changes what people judged.
    """
    known = call.read(rubrics.rubrics_of, call.project)
    for one in found:
        there = known.get(one.case, (0, one))[1]
        if [rubrics.meaning(f) for f in one] == [rubrics.meaning(f) for f in there]:
            continue
        if call.body.get("rubric"):
            raise InputError(
                f"case {one.case!r} has a rubric in other words already: upload the new one under "
                "“New version”, which shows what it changes"
            )
        yield f"the notes’ own rubric of case {one.case!r} is left aside: the project has another"


def people_page(call: Call, **more: Any) -> Response:
    """Show who is in a project, and the forms to change that."""
    found = call.read(projects.people_of, call.project)
    counts = call.read(chain.counts_of, call.project, "notes", "total")
    known, site = dict[str, AnnotatorSettings](), ""
    with suppress(RubricateError):  # without the study's folder the page still opens
        known, site = known_annotators(call)
    of_notes = call.read(projects.metadata_names, call.project)
    given = {"known": known, "site": site, "fields": of_notes, "counts": counts, "added": None,
             "upload": call.read(projects.last_upload, call.project)}  # fmt: skip
    return render("people.html", call, people=found, **{**given, "written": None, **more})


def change_people(call: Call) -> Response:
    """Add somebody by a form, or change the roles of a member by the form beside the name."""
    name = form_field(call, "name").strip()
    wanted: list[Any] = [role for role in people.ROLES if form_field(call, role)]
    if form_field(call, "known"):
        known = replace(call, path={**call.path, "name": name})
        back = f"/p/{call.project}/people"
        return by_form(put_member, people_page, lambda _: RolesBody(wanted), then=back)(known)
    return by_form(post_member, people_page, lambda _: MemberBody(name, wanted), shows="added")(
        call
    )


def assignment_fields(call: Call) -> AssignmentsBody:
    """Return the way in which a form shares the notes among all annotators."""
    names = list(call.read(projects.annotators_of, call.project))
    seniors = [name for name in names if form_field(call, f"senior {name}")]
    sites = {name: site for name in names if (site := form_field(call, f"site {name}"))}
    try:
        share = float(form_field(call, "double_share") or "100") / 100
        per_note = int(form_field(call, "per_note") or "2")
    except ValueError:
        raise InputError("give numbers") from None
    return AssignmentsBody(names, seniors, sites, form_field(call, "site"), share, per_note)


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


def download_page(call: Call, **more: Any) -> Response:
    """Show what can be taken out of the project, and how far it is."""
    counts = call.read(chain.counts_of, call.project)
    annotators = sorted(call.read(projects.annotators_of, call.project))
    return render("download.html", call, counts=counts, annotators=annotators,
                  formats=downloading.written_formats(), asked=call.query, **more)  # fmt: skip


def export_fields(call: Call) -> ExportBody:
    """Return the choice of a form: to replace earlier files in the study, or not."""
    return ExportBody(overwrite=bool(form_field(call, "overwrite")))


def audit_page(call: Call) -> Response:
    """Show the record."""
    found = call.read(exporting.record, call.project, **call.page())
    asked = "check" in call.query and "manager" in call.roles
    return render("audit.html", call, checked=get_verify(call) if asked else None, **found)
