"""Actions of annotators, curators and reviewers; scoring runs under review, added and published."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, field
from starlette.responses import Response

from rubricate.corpus import Note
from rubricate.errors import InputError, RubricateError
from rubricate.formats.notes import NoteSource, open_notes
from rubricate.formats.options import ReadOptions
from rubricate.run.writing import REPORT, RunRecord, read_record
from rubricate.store import annotating, answers, curating, reviewing
from rubricate.store.database import Database
from rubricate.web.calls import Body, Call, HttpError, Words
from rubricate.web.manage import in_background
from rubricate.web.rendering import fault_lines, form_field, render

Offset = Annotated[int, Meta(ge=0, le=1 << 31)]
#: Annotations, each with its fragments, as half-open code points.
Marks = list[list[tuple[Offset, Offset]]]
Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Version = Annotated[int, Meta(ge=0, le=1 << 31)]
Milliseconds = Annotated[int, Meta(ge=0, le=1 << 31)]


class DoneBody(Body):
    """The version of all judgements of the note together, as the annotator saw them."""

    version: Annotated[int, Meta(ge=0)] | None = None


class JudgementBody(Body):
    """One judgement, and the version it was made on."""

    answer: Literal["present", "absent", "unsure"] | None
    marks: Marks
    version: Version
    sha256: Sha256
    active_ms: Milliseconds = 0
    suggestion: Literal["none", "shown", "accepted"] = "none"


class DecisionBody(Body):
    """A curator's decision, and what it was made on."""

    choice: Annotated[str, Meta(max_length=20)]
    version: Version
    inputs: str
    sha256: Sha256
    marks: Marks = field(default_factory=list)
    comment: Words = ""


class ReviewBody(Body):
    """A reviewer's decision on an item."""

    found: bool
    version: Version
    sha256: Sha256
    marks: Marks | None = None
    comment: Words = ""
    active_ms: Milliseconds = 0


class RunBody(Body):
    """A finished run and its inputs, inside the folder that is served."""

    folder: str
    notes: str
    rubric: str = ""
    policy: str = ""
    audit: Annotated[float, Meta(ge=0, le=1)] = 0.05
    seed: Annotated[int, Meta(ge=0, le=1 << 31)] = 0


def get_next(call: Call) -> answers.NextAnswer:
    """Return the note that comes next."""
    return call.read(annotating.next_note, call.me, call.project)


def get_queue(call: Call) -> answers.QueueAnswer:
    """Return one's own notes."""
    return call.read(annotating.own_queue, call.me, call.project)


def get_work(call: Call) -> answers.WorkAnswer:
    """Return one of one's own notes."""
    return call.read(annotating.open_work, call.me, call.path["assignment"])


def put_judgement(call: Call) -> answers.JudgedAnswer:
    """Keep a judgement."""
    return call.write(
        annotating.judge, call.me, call.path["assignment"], call.path["feature"],
        **msgspec.structs.asdict(call.body),
    )  # fmt: skip


def post_undo(call: Call) -> answers.JudgedAnswer:
    """Undo one's last change to a note."""
    return call.write(annotating.step_back, call.me, call.path["assignment"])


def post_redo(call: Call) -> answers.JudgedAnswer:
    """Do again what was undone."""
    return call.write(annotating.step_forward, call.me, call.path["assignment"])


def post_done(call: Call) -> answers.DoneAnswer:
    """Say that a note is done."""
    version = call.body.version
    return call.write(annotating.finish, call.me, call.path["assignment"], version)


def post_reopen(call: Call) -> answers.DoneAnswer:
    """Take back that a note is done."""
    return call.write(annotating.reopen, call.me, call.path["assignment"])


def get_disputes(call: Call) -> answers.DisputesAnswer:
    """Return a page of disagreements."""
    return call.read(
        curating.list_disputes, call.me, call.project,
        case=call.query.get("case", ""), feature=call.query.get("feature", ""),
        state=call.choice("state", ("open", "decided", "all")),
        reason=call.choice("reason", ("", *curating.REASONS)), **call.page(),
    )  # fmt: skip


def get_dispute(call: Call) -> answers.DisputeAnswer:
    """Return one disagreement."""
    return call.read(curating.show_dispute, call.me, call.path["dispute"])


def put_dispute(call: Call) -> answers.DisputeAnswer:
    """Add a decision."""
    given = msgspec.structs.asdict(call.body)
    return call.write(curating.decide, call.me, call.path["dispute"], **given)


def get_runs(call: Call) -> answers.RunsAnswer:
    """Return the runs of a project."""
    return {"runs": call.read(reviewing.list_runs, call.project)}


def get_items(call: Call) -> answers.ItemsAnswer:
    """Return a page of the items of a run."""
    return call.read(
        reviewing.list_items, call.me, call.path["run"],
        case=call.query.get("case", ""), feature=call.query.get("feature", ""),
        state=call.choice("state", ("open", "done", "all")),
        found=call.choice("found", ("", "yes", "no")), **call.page(),
    )  # fmt: skip


def get_item(call: Call) -> answers.ItemAnswer:
    """Return one item."""
    return call.read(reviewing.show_item, call.me, call.path["item"])


def put_item(call: Call) -> answers.ItemAnswer:
    """Keep what a reviewer says of an item."""
    given = msgspec.structs.asdict(call.body)
    return call.write(reviewing.correct, call.me, call.path["item"], **given)


def post_run(call: Call) -> dict[str, str]:
    """Take a finished run for review; all its files lie inside the folder that is served."""
    if not call.me.admin:
        message = (
            "Runs lie in the folder of the server, with those of other projects: an administrator "
            "who manages this project adds them."
        )
        raise HttpError(403, "forbidden", message)
    body, inside = call.body, call.bench.inside
    inputs = {name: value for name in ("notes", "rubric", "policy")
              if (value := getattr(body, name))}  # fmt: skip
    folder = inside(body.folder)
    source = _run_notes(inside, body.notes, read_record(folder))
    if not body.rubric and not source.rubrics:
        raise InputError("the notes come without a rubric: name the rubric file of the run")
    texts: dict[str, str] = {}
    for note in source.notes():
        if isinstance(note, Note):
            texts.setdefault(note.id, note.text)
    own = call.write(
        reviewing.add_run, call.project, call.me.person, folder=folder, name=folder.name,
        texts=texts, inputs={"folder": body.folder, **inputs}, audit=body.audit, seed=body.seed,
    )  # fmt: skip
    return {"id": own}


def post_publish(call: Call) -> dict[str, str]:
    """Write the run again with all corrections."""
    run, bench = call.path["run"], call.bench
    call.write(reviewing.begin_publishing, run)

    def work() -> None:
        try:
            publish(bench.database, bench.inside, run)
            call.write(reviewing.set_state, run, "published")
        except Exception as error:
            known = isinstance(error, RubricateError)
            lines = fault_lines(error, bench.folder) if known else [type(error).__name__]
            call.write(reviewing.set_state, run, "failed", "; ".join(lines)[:500])
            raise

    in_background(bench, "publishing", work)
    return {"state": "publishing"}


def run_fields(call: Call) -> RunBody:
    """Return the run that a form adds."""
    given = {name: form_field(call, name) for name in ("folder", "notes", "rubric", "policy")}
    return RunBody(**given)  # type: ignore[arg-type]  # all of them are texts


def _run_notes(inside: Callable[[str], Path], notes: str, record: RunRecord) -> NoteSource:
    """Open the notes of a run as they were opened to be scored: columns, case, format, which."""
    said: Any = record.get("input", {})
    how = ReadOptions(
        said.get("format", ""), columns=said.get("columns", {}), case=said.get("case", "")
    )
    where = [str(one) for one in said.get("where", ())]
    return open_notes(notes if notes == "open-notes" else inside(notes), where=where, how=how)


def publish(database: Database, inside: Callable[[str], Path], run: str) -> None:
    """Write a run again with the corrections, and its report if it has one.

    Its evidence is not searched a second time.
    """
    from rubricate.reports.scoring import ScoringReport
    from rubricate.scoring import ScoreSettings, UnsureRange, score_notes
    from rubricate.scoring.job import model_of_run

    row = database.read(lambda c: reviewing.run_row(c, run))
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
    notes, model = _run_notes(inside, given["notes"], record), model_of_run(folder)
    policy = inside(given["policy"]) if "policy" in given else None
    report = ScoringReport(policy=policy) if (folder / REPORT[0]).exists() else None
    with tempfile.TemporaryDirectory() as scratch:
        corrections = Path(scratch) / "corrections.csv"
        database.read(lambda c: reviewing.write_corrections(c, run, corrections))
        score_notes(
            notes, folder, settings=settings, corrections=corrections,
            rubric=inside(given["rubric"]) if "rubric" in given else None,
            policy=policy, model=model, report=report,
        )  # fmt: skip


def review_page(call: Call) -> Response:
    """Show the frame of the page for reviewing a run."""
    cases = call.read(reviewing.features_of, call.path["run"])
    return render("review.html", call, run=call.path["run"], cases=cases)


def runs_page(call: Call, **more: Any) -> Response:
    """Show the runs of a project, and the form to add one."""
    given = {name: form_field(call, name) for name in ("folder", "notes", "rubric", "policy")}
    runs = call.read(reviewing.list_runs, call.project)
    return render("runs.html", call, runs=runs, given=given, **more)
