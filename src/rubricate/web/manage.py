"""Actions of managers and administrators, and the data of dashboards."""

from __future__ import annotations

import asyncio
import logging
import shutil
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field
from sqlalchemy import Connection
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, Response, StreamingResponse

from rubricate.corpus import Corpus, Note
from rubricate.errors import InputError
from rubricate.formats.encoding import rubric_from_json
from rubricate.formats.rubric.records import need_sound
from rubricate.rubric import Metadata, Rubric
from rubricate.store import (
    answers,
    chain,
    comparing,
    downloading,
    exporting,
    people,
    projects,
    rubrics,
)
from rubricate.store.database import Database
from rubricate.store.refusals import NotFoundError
from rubricate.study.assignment import Task
from rubricate.study.settings import AnnotatorSettings
from rubricate.web.calls import Bench, Body, Call, Name, Words

log = logging.getLogger("rubricate.web")


#: Numbers that every reader of what is downloaded takes.
Whole = Annotated[int, Meta(ge=-(1 << 62), le=1 << 62)]
Role = Literal["manager", "annotator", "curator", "reviewer", "observer"]
assert Role.__args__ == people.ROLES  # type: ignore[attr-defined]


class ProjectBody(Body):
    """A new project."""

    name: Name
    study: str = ""


class ProjectChangesBody(Body):
    """Changes of a project."""

    name: Name | UnsetType = UNSET
    state: Literal["open", "paused"] | UnsetType = UNSET
    suggestions: bool | UnsetType = UNSET


class NoteBody(Body):
    """One note."""

    id: Name
    case: Name
    text: str
    metadata: dict[str, str | Whole | float | bool | None] = field(default_factory=dict)


class NotesBody(Body):
    """Notes to add."""

    notes: list[NoteBody]


class FeatureBody(Body):
    """One feature."""

    id: Name
    text: Words
    weight: float = 1.0
    kind: str = ""
    group: str = ""
    note: Words = ""


class RubricBody(Body):
    """One rubric."""

    case: Name
    features: list[FeatureBody]
    title: str = ""


class RubricsBody(Body):
    """Rubrics to add.

    ``pairs``: feature id that is sent: id of the former feature that it is, and that it keeps.
    ``may_leave``: features of the newest version that are not sent may leave the project.
    """

    rubrics: list[RubricBody]
    same_meaning: bool = False
    pairs: dict[Name, Name] = field(default_factory=dict)
    may_leave: bool = False


class AssignmentsBody(Body):
    """The annotators, and the share of notes that several of them get.

    ``seniors`` and ``sites`` (annotator: site; ``site``: where the notes' metadata names theirs)
    are those of the study where they are not given and the project has one.
    """

    annotators: list[Name]
    seniors: list[Name] | None = None
    sites: dict[Name, str] = field(default_factory=dict)
    site: str = ""
    double_share: Annotated[float, Meta(ge=0, le=1)] = 1.0
    per_note: Annotated[int, Meta(ge=2, le=8)] = 2
    seed: Annotated[int, Meta(ge=0, le=1 << 31)] = 0


class SuggestionsBody(Body):
    """Which matcher suggests."""

    matcher: Name = "lexicon"


class MemberBody(Body):
    """Somebody who comes into a project."""

    name: Name
    roles: Annotated[list[Role], Meta(min_length=1)]


class RolesBody(Body):
    """All roles of a member; none: they leave the project."""

    roles: list[Role]


class ExportBody(Body):
    """Permission to replace existing files."""

    overwrite: bool = False


def post_project(call: Call) -> answers.ProjectAnswer:
    """Make a project, empty or from a study's folder; who makes it is its manager."""
    name, study = call.body.name, call.body.study
    handed_out = projects.study_corpus(call.bench.inside(study)) if study else None

    def work(connection: Connection) -> str:
        own = projects.make_project(connection, name, call.me.person, study=study)
        people.set_roles(connection, own, call.me.person, ["manager"], call.me.person)
        if handed_out is not None:
            _add_study(connection, own, call.me, *handed_out)
        return own

    project = call.bench.database.write(work)
    return project_answer(call, project)


def _add_study(
    connection: Connection, project: str, me: people.Identity, corpus: Corpus, tasks: Sequence[Task]
) -> None:
    """Add a study's notes under the ids its annotators see, and let them work as it says."""
    rubrics.add_rubrics(connection, project, corpus.rubrics, me.person)
    shown = {task.note: task.shown_id for task in tasks}
    projects.add_notes(connection, project, corpus.notes, me.person, shown=shown)
    who = {}
    for name in dict.fromkeys(task.annotator for task in tasks):
        row = people.person_named(connection, name)
        who[name] = people.add_person(connection, name) if row is None else row.id
        roles = people.roles_of(connection, project, who[name]) | {"annotator"}
        people.set_roles(connection, project, who[name], roles, me.person)
    projects.assign(connection, project, tasks, who, me.person)


def project_answer(call: Call, project: str) -> answers.ProjectAnswer:
    """Return a project as its members see it."""
    row = call.read(projects.project_row, project)
    roles = call.read(people.roles_of, project, call.me.person)
    return {"id": row.id, "name": row.name, "state": row.state, "study": row.study,
            "suggestions": row.suggestions, "roles": sorted(roles)}  # fmt: skip


def get_project(call: Call) -> answers.ProjectAnswer:
    """Return a project."""
    return project_answer(call, call.project)


def patch_project(call: Call) -> answers.ProjectAnswer:
    """Change a project."""
    given = msgspec.structs.asdict(call.body)
    changes = {name: value for name, value in given.items() if value is not msgspec.UNSET}
    call.write(projects.change_project, call.project, call.me.person, **changes)
    return project_answer(call, call.project)


def post_notes(call: Call) -> dict[str, int]:
    """Add notes."""
    notes = [Note(n.id, n.case, n.text, Metadata(n.metadata)) for n in call.body.notes]
    call.write(projects.add_notes, call.project, notes, call.me.person)
    return {"added": len(notes)}


def post_rubrics(call: Call) -> dict[str, object]:
    """Add rubrics, or new versions of them; nothing that was judged leaves unless it may."""
    body = call.body
    given = _sent_rubrics(call)

    def work(connection: Connection) -> list[str]:
        compared = comparing.compare_rubrics(connection, call.project, given, body.pairs)
        return rubrics.add_rubrics(
            connection, call.project, [one.rubric for one in compared], call.me.person,
            same_meaning=body.same_meaning, may_leave=body.may_leave,
        )  # fmt: skip

    return {"added": len(given), "changed": call.write(work)}


def post_comparison(call: Call) -> answers.ComparisonAnswer:
    """Return the changes that rubrics would make in the project; nothing changes."""
    given = _sent_rubrics(call)
    compared = call.read(comparing.compare_rubrics, call.project, given, call.body.pairs)
    return {"rubrics": comparing.show_comparison(compared, judged_counts(call))}


def _sent_rubrics(call: Call) -> list[Rubric]:
    """Return the rubrics of a body; InputError for what a rubric file may not hold either."""
    given = [rubric_from_json(msgspec.to_builtins(one)) for one in call.body.rubrics]
    need_sound(given)
    return given


def judged_counts(call: Call) -> dict[str, tuple[int, int]] | None:
    """Return the number of judgements of each feature; None for people who must not see them."""
    if not people.may_watch(call.roles):
        return None
    return call.read(comparing.judged_counts, call.project)


def get_rubrics(call: Call) -> answers.RubricsAnswer:
    """Return the rubrics with what changed in them."""
    return {"rubrics": call.read(rubrics.list_rubrics, call.project)}


def get_again(call: Call) -> answers.AgainAnswer:
    """Return the annotators whose judgements a changed rubric asks to look at again."""
    again = call.read(rubrics.whose_again, call.project)
    return {"again": again, "left": call.read(rubrics.left_out, call.project)}


def post_assignments(call: Call) -> dict[str, int]:
    """Share notes among annotators."""
    body = call.body
    known, site = known_annotators(call)
    if body.seniors is not None or body.sites or body.site:
        site = body.site
        known = {one: AnnotatorSettings(one, one in (body.seniors or ()), body.sites.get(one, ""))
                 for one in body.annotators}  # fmt: skip
    who = [known.get(one, AnnotatorSettings(one)) for one in body.annotators]
    given = call.write(
        projects.assign_all, call.project, who, call.me.person, site=site,
        double_share=body.double_share, per_note=body.per_note, seed=body.seed,
    )  # fmt: skip
    return {"assigned": given}


def known_annotators(call: Call) -> tuple[dict[str, AnnotatorSettings], str]:
    """Return the annotators and sites in the project's study, if it has one."""
    study = call.read(projects.project_row, call.project).study
    return projects.study_annotators(call.bench.inside(study)) if study else ({}, "")


def get_people(call: Call) -> dict[str, list[answers.MemberPart]]:
    """Return the members of a project."""
    return {"people": call.read(projects.people_of, call.project)}


def post_member(call: Call) -> answers.AddedAnswer:
    """Bring somebody into a project: a new person by a link, others are asked or added."""
    name, roles = call.body.name, call.body.roles
    found = call.bench.database.write(
        lambda c: people.add_member(c, call.project, name, roles, call.me)
    )
    invite = None if found.secret is None else f"/invite/{found.secret}"
    return {"name": found.name, "roles": sorted(roles), "state": found.state, "invite": invite}


def put_member(call: Call) -> dict[str, list[answers.MemberPart]]:
    """Give a member exactly these roles."""
    name, roles = call.path["name"], call.body.roles
    call.bench.database.write(lambda c: people.change_member(c, call.project, name, roles, call.me))
    return get_people(call)


def in_background(bench: Bench, what: str, work: Callable[[], None]) -> None:
    """Do long work in a thread, one after the other; what fails is in the log."""

    def run() -> None:
        with bench.busy:
            try:
                work()
            except Exception as error:
                log.error("%s failed: %s", what, type(error).__name__)

    threading.Thread(target=run, name=what, daemon=True).start()


def post_suggestions(call: Call) -> dict[str, str]:
    """Let a matcher look for all features; what it finds is shown where the project allows it."""
    from rubricate.matchers import failures_in_words, fit_matcher, predict_in_parts

    def work() -> None:
        notes = call.read(projects.project_notes, call.project)
        known = tuple(r for _, r in call.read(rubrics.rubrics_of, call.project).values())
        corpus = Corpus(notes, known)
        matcher = fit_matcher(call.body.matcher, Corpus((), known))
        found, failed = predict_in_parts(matcher, corpus)
        if failed:
            log.warning("%s", failures_in_words(failed, "matched"))
        call.write(projects.keep_suggestions, call.project, found)

    in_background(call.bench, "suggestions", work)
    return {"state": "working"}


def get_progress(call: Call) -> answers.ProgressAnswer:
    """Return the progress of a project."""
    return call.read(exporting.progress, call.project)


@lru_cache(8)
def _live(database: Database) -> exporting.LiveAgreement:
    return exporting.LiveAgreement(database)


def get_agreement(call: Call) -> answers.AgreementAnswer:
    """Return the agreement of annotators."""
    return _live(call.bench.database).of(call.project)


def _may_watch(call: Call) -> bool:
    """Tell whether somebody who watches may go on: signed in still, and with the role."""
    known = people.session_identity if call.me.scopes is None else people.token_identity
    if call.secret and call.read(known, call.secret) is None:
        return False
    return people.may_watch(call.read(people.roles_of, call.project, call.me.person))


#: Seconds between two messages of a stream: at least, and at most.
_OFTEN, _SELDOM = 2, 14


def get_events(call: Call) -> Response:
    """Return a stream that tells whenever something changed."""

    async def stream() -> AsyncIterator[bytes]:
        loop, changed, last = asyncio.get_running_loop(), asyncio.Event(), ""

        def wake() -> None:
            with suppress(RuntimeError):  # the loop is closed: the server ends
                loop.call_soon_threadsafe(changed.set)

        with call.bench.database.signals.watch(call.project, wake):
            while await run_in_threadpool(_may_watch, call):
                changed.clear()
                head = (await run_in_threadpool(call.read, projects.project_row, call.project)).head
                if head != last:
                    value = await run_in_threadpool(get_progress, call)
                    yield b"event: progress\ndata: " + msgspec.json.encode(value) + b"\n\n"
                    last = head
                    await asyncio.sleep(_OFTEN)
                else:
                    yield b": still here\n\n"
                # Whoever else writes to SQLite wakes nobody, so it looks now and then as well.
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), _SELDOM)

    return StreamingResponse(stream(), media_type="text/event-stream")


def get_record(call: Call) -> answers.RecordAnswer:
    """Return a page of the record."""
    return call.read(exporting.record, call.project, **call.page())


def get_verify(call: Call) -> answers.VerifyAnswer:
    """Check the project's chain and tables."""
    checked = call.bench.database.read_at_once(chain.verify)
    found = next(one for one in checked if one.project == call.project)
    return {"intact": not found.faults, "events": found.events, "head": found.head,
            "faults": found.faults[:100]}  # fmt: skip


def _head(call: Call) -> str:
    """Return the last hash of the record; it is logged, so that a rewritten record is found."""
    return str(call.read(projects.project_row, call.project).head)


def get_export(call: Call) -> Response:
    """Return everybody's work as one archive, or with ``what`` the reference or annotations."""
    if not call.query.get("what"):
        return send_archive(call, "export.zip", None)
    seniors = (name.removeprefix(_SENIOR) for name in call.query if name.startswith(_SENIOR))
    given: dict[str, Any] = {name: call.query[name] for name in ("what", "format", "rule")
                             if name in call.query}  # fmt: skip
    wanted = downloading.Wanted(
        **given, seniors=tuple(seniors), may_lose=bool(call.query.get("may_lose"))
    )
    return send_archive(call, f"{wanted.what}.zip", wanted)


#: Parameters that name annotators who are seniors begin so.
_SENIOR = "senior "


def send_archive(call: Call, name: str, wanted: downloading.Wanted | None) -> Response:
    """Return an archive of a project's work, which is removed when it is sent."""
    folder = Path(tempfile.mkdtemp())
    place = folder / "archive.zip"
    try:
        call.bench.database.read_at_once(
            lambda c: downloading.write_archive(c, call.project, place, wanted)
        )
    except BaseException:
        shutil.rmtree(folder)
        raise
    log.info("exported %s: head %s", call.project, _head(call))
    return FileResponse(place, filename=name, media_type="application/zip",
                        background=BackgroundTask(shutil.rmtree, folder))  # fmt: skip


def post_export(call: Call) -> dict[str, object]:
    """Write returned annotations and decisions into the study's folder."""
    study = call.read(projects.project_row, call.project).study
    if not study:
        raise InputError("this project has no study folder: download the export instead")
    folder = call.bench.inside(study)
    log.info("exported %s: head %s", call.project, _head(call))
    return call.bench.database.read_at_once(
        lambda c: exporting.export_study(c, call.project, folder, overwrite=call.body.overwrite)
    )


def delete_note(call: Call) -> None:
    """Erase a note: its text, all marks in it, and what the record says of it."""
    number = call.read(projects.note_numbers, call.project).get(call.path["note"])
    if number is None:
        raise NotFoundError("There is no such note.")
    call.write(chain.erase_note, call.project, number, call.me.person)
