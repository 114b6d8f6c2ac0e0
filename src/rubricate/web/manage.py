"""What managers and administrators do, and what dashboards show."""

from __future__ import annotations

import asyncio
import logging
import tempfile
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import select
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, RedirectResponse, Response, StreamingResponse

from rubricate.corpus import Corpus, Note
from rubricate.errors import InputError, RubricateError
from rubricate.formats.encoding import rubric_from_json
from rubricate.formats.notes import open_notes
from rubricate.rubric import Metadata
from rubricate.store import chain, dashboards, exporting, people, projects, reviewing
from rubricate.store import tables as t
from rubricate.store.database import Database, RefusedError
from rubricate.web.bodies import RunBody
from rubricate.web.calls import Bench, Call

log = logging.getLogger("rubricate.web")


def post_project(call: Call) -> dict[str, Any]:
    """Make a project, empty or from a study's folder; who makes it is its manager."""
    name, study = call.body.name, call.body.study
    handed_out = projects.study_corpus(call.bench.inside(study)) if study else None

    def work(connection: Any) -> str:
        own = projects.make_project(connection, name, call.me.person, study=study)
        people.set_roles(connection, own, call.me.person, ["manager"], call.me.person)
        if handed_out is not None:
            _add_study(connection, own, call.me, *handed_out)
        return own

    project = call.bench.database.write(work)
    return project_answer(call, project)


def _add_study(
    connection: Any, project: str, me: people.Identity, corpus: Corpus, tasks: Any
) -> None:
    """Add a study's notes under the ids its annotators see, and let them work as it says."""
    projects.add_rubrics(connection, project, corpus.rubrics, me.person)
    shown = {task.note: task.shown_id for task in tasks}
    projects.add_notes(connection, project, corpus.notes, me.person, shown=shown)
    who = {}
    for name in dict.fromkeys(task.annotator for task in tasks):
        row = people.person_named(connection, name)
        who[name] = people.add_person(connection, name) if row is None else row.id
        roles = people.roles_of(connection, project, who[name]) | {"annotator"}
        people.set_roles(connection, project, who[name], roles, me.person)
    projects.assign(connection, project, tasks, who, me.person)


def project_answer(call: Call, project: str) -> dict[str, Any]:
    """Return what members see of a project."""
    row = call.read(projects.project_row, project)
    roles = call.read(people.roles_of, project, call.me.person)
    return {"id": row.id, "name": row.name, "state": row.state, "study": row.study,
            "suggestions": row.suggestions, "roles": sorted(roles)}  # fmt: skip


def get_project(call: Call) -> dict[str, Any]:
    """Return a project."""
    return project_answer(call, call.project)


def patch_project(call: Call) -> dict[str, Any]:
    """Change a project."""
    given = msgspec.structs.asdict(call.body)
    changes = {name: value for name, value in given.items() if value is not msgspec.UNSET}
    call.write(projects.change_project, call.project, call.me.person, **changes)
    return project_answer(call, call.project)


def post_notes(call: Call) -> dict[str, Any]:
    """Add notes."""
    notes = [Note(n.id, n.case, n.text, Metadata(n.metadata)) for n in call.body.notes]
    call.write(projects.add_notes, call.project, notes, call.me.person)
    return {"added": len(notes)}


def post_rubrics(call: Call) -> dict[str, Any]:
    """Add rubrics, or new versions of them."""
    rubrics = [rubric_from_json(msgspec.to_builtins(one)) for one in call.body.rubrics]
    changed = call.write(projects.add_rubrics, call.project, rubrics, call.me.person)
    return {"added": len(rubrics), "changed": changed}


def post_assignments(call: Call) -> dict[str, Any]:
    """Share notes among annotators."""
    body = call.body
    given = call.write(
        projects.assign_all, call.project, body.annotators, call.me.person,
        double_share=body.double_share, per_note=body.per_note, seed=body.seed,
    )  # fmt: skip
    return {"assigned": given}


def get_people(call: Call) -> dict[str, Any]:
    """Return who is in a project."""
    return {"people": call.read(projects.people_of, call.project)}


def post_member(call: Call) -> dict[str, Any]:
    """Give somebody roles in a project; whoever has no password yet gets an invitation."""
    name, roles = call.body.name, list(call.body.roles)

    def work(connection: Any) -> str | None:
        row = people.person_named(connection, name)
        person = people.add_person(connection, name) if row is None else row.id
        people.set_roles(connection, call.project, person, roles, call.me.person)
        if row is not None and row.password:
            return None
        return f"/invite/{people.make_link(connection, 'invite', person)}"

    return {"name": name, "roles": sorted(roles), "invite": call.bench.database.write(work)}


def _in_background(bench: Bench, what: str, work: Callable[[], None]) -> None:
    """Do long work in a thread, one after the other; what fails is in the log."""

    def run() -> None:
        with bench.busy:
            try:
                work()
            except Exception as error:
                log.error("%s failed: %s", what, type(error).__name__)

    threading.Thread(target=run, name=what, daemon=True).start()


def post_suggestions(call: Call) -> dict[str, Any]:
    """Let a matcher look for all features; what it finds is shown where the project allows it."""
    from rubricate.matchers import fit_matcher

    def work() -> None:
        notes = call.read(projects.project_notes, call.project)
        rubrics = tuple(r for _, r in call.read(projects.rubrics_of, call.project).values())
        corpus = Corpus(notes, rubrics)
        found = fit_matcher(call.body.matcher, Corpus((), rubrics)).predict(corpus)
        call.write(projects.keep_suggestions, call.project, found)

    _in_background(call.bench, "suggestions", work)
    return {"state": "working"}


def post_run(call: Call) -> dict[str, Any]:
    """Take a finished run for review; all its files lie inside the folder that is served."""
    body, inside = call.body, call.bench.inside
    inputs = {name: value for name in ("notes", "rubric", "policy")
              if (value := getattr(body, name))}  # fmt: skip
    folder = inside(body.folder)
    source = open_notes(body.notes if body.notes == "open-notes" else inside(body.notes))
    texts: dict[str, str] = {}
    for note in source.notes():
        if isinstance(note, Note):
            texts.setdefault(note.id, note.text)
    own = call.write(
        reviewing.add_run, call.project, call.me.person, folder=folder, name=folder.name,
        texts=texts, inputs={"folder": body.folder, **inputs}, audit=body.audit, seed=body.seed,
    )  # fmt: skip
    return {"id": own}


def post_publish(call: Call) -> dict[str, Any]:
    """Write the run again with all corrections."""
    run, bench = call.path["run"], call.bench
    row = call.read(lambda c: c.execute(select(t.run).where(t.run.c.id == run)).one())
    if row.state == "publishing":
        raise RefusedError(409, "conflict", "It is being published already.", {"state": row.state})

    def state(value: str, fault: str = "") -> None:
        changed = t.run.update().where(t.run.c.id == run).values(state=value, fault=fault)
        call.write(lambda c: c.execute(changed))

    def work() -> None:
        try:
            publish(bench.database, bench.inside, run)
            state("published")
        except Exception as error:
            known = isinstance(error, RubricateError)
            state("failed", str(error)[:500] if known else type(error).__name__)
            raise

    state("publishing")
    _in_background(bench, "publishing", work)
    return {"state": "publishing"}


def publish_by_form(call: Call) -> Response:
    """Publish a run by the button beside it."""
    post_publish(call)
    return RedirectResponse(f"/p/{call.project}/review", 303)


def add_run_by_form(call: Call) -> Response:
    """Take a run for review by a form; what is wrong with it is told beside the form."""
    from rubricate.web import pages

    folder, notes, rubric, policy = (
        str(call.body.get(name, "")) for name in ("folder", "notes", "rubric", "policy")
    )
    own = replace(call, body=RunBody(folder, notes, rubric, policy))
    try:
        post_run(own)
    except (RubricateError, OSError) as error:
        return pages.runs_page(call, faults=pages.fault_lines(error))
    return RedirectResponse(f"/p/{call.project}/review", 303)


def publish(database: Database, inside: Callable[[str], Path], run: str) -> None:
    """Write a run again with the corrections; its evidence is not searched a second time."""
    import json

    from rubricate.run.writing import read_record
    from rubricate.scoring import ScoreSettings, UnsureRange, score_notes

    row = database.read(lambda c: c.execute(select(t.run).where(t.run.c.id == run)).one())
    given = json.loads(row.folder)
    folder = inside(given["folder"])
    record = read_record(folder)
    unsure = record.get("unsure")
    settings = ScoreSettings(
        matcher=record["matcher"], overwrite=True,
        unsure=UnsureRange(**unsure) if unsure else None,
        batch_size=int(record["settings"]["batch_size"]),
        longest=int(record["settings"]["longest"]),
        note_seconds=float(record["settings"]["note_seconds"]),
        seed=int(record["settings"]["seed"]), any_text=bool(record["settings"]["any_text"]),
    )  # fmt: skip
    notes = open_notes(
        given["notes"] if given["notes"] == "open-notes" else inside(given["notes"]),
        where=[str(one) for one in record["input"]["where"]],
    )
    with tempfile.TemporaryDirectory() as scratch:
        corrections = Path(scratch) / "corrections.csv"
        database.read(lambda c: reviewing.write_corrections(c, run, corrections))
        model = folder / "model"
        score_notes(
            notes, folder, settings=settings, corrections=corrections,
            rubric=inside(given["rubric"]) if "rubric" in given else None,
            policy=inside(given["policy"]) if "policy" in given else None,
            model=model if model.exists() else None,
        )  # fmt: skip


def get_progress(call: Call) -> Any:
    """Return how far a project is."""
    return call.read(dashboards.progress, call.project)


@lru_cache(8)
def _live(database: Database) -> dashboards.LiveAgreement:
    return dashboards.LiveAgreement(database)


def get_agreement(call: Call) -> Any:
    """Return how far annotators agree."""
    return _live(call.bench.database).of(call.project)


def _may_watch(call: Call) -> bool:
    """Tell whether somebody who watches may go on: signed in still, and with the role."""
    if call.secret and call.read(people.session_identity, call.secret) is None:
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


def get_record(call: Call) -> Any:
    """Return a page of the record."""
    return call.read(dashboards.record, call.project, **call.page())


def get_verify(call: Call) -> dict[str, Any]:
    """Check the project's chain and tables."""
    checked = call.bench.database.read_at_once(chain.verify)
    found = next(one for one in checked if one.project == call.project)
    return {"intact": not found.faults, "events": found.events, "head": found.head,
            "faults": found.faults[:100]}  # fmt: skip


def _head(call: Call) -> str:
    """Return the last hash of the record; it is logged, so that a rewritten record is found."""
    return str(call.read(projects.project_row, call.project).head)


def get_export(call: Call) -> Response:
    """Return everybody's work as one archive."""
    place = Path(tempfile.mkdtemp()) / "export.zip"
    call.bench.database.read_at_once(lambda c: exporting.export_zip(c, call.project, place))
    log.info("exported %s: head %s", call.project, _head(call))

    def remove() -> None:
        place.unlink()
        place.parent.rmdir()

    task = BackgroundTask(remove)
    return FileResponse(place, filename="export.zip", media_type="application/zip", background=task)


def post_export(call: Call) -> Any:
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
        raise RefusedError(404, "not_found", "There is no such note.")
    call.write(chain.erase_note, call.project, number, call.me.person)
