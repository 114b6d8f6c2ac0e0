"""All that annotators read and write. Every function needs to be told who asks.

Nothing here looks at anybody else's work: no query leaves out the person, and no answer has a
number that others' work changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, select, text, tuple_

from rubricate.formats.encoding import Json
from rubricate.run import parse_spans, spans_text
from rubricate.store import answers
from rubricate.store import tables as t
from rubricate.store.chain import Entry, append, count, counts_of, data_of
from rubricate.store.curating import checked_marks, need_open, need_text, refresh_disputes
from rubricate.store.database import iso, now
from rubricate.store.people import Identity
from rubricate.store.projects import project_row
from rubricate.store.refusals import (
    ConflictError,
    InvalidError,
    NotFoundError,
    NothingToUndoError,
    UnfinishedError,
)
from rubricate.store.rubrics import again, changed_since, feature_part, read_rubric
from rubricate.store.transaction import of_project, seeing

#: The longest time that one judgement is thought to have taken.
_LONGEST_MS = 600_000


def own_queue(connection: Connection, me: Identity, project: str) -> answers.QueueAnswer:
    """Return the person's own notes, in order."""
    rows = connection.execute(
        select(t.assignment, t.note.c.shown_id)
        .join(t.note)
        .where(t.assignment.c.person == me.person, t.assignment.c.project == project)
        .order_by(t.assignment.c.position)
    )
    changed = again(connection, project, me.person)
    listed: list[answers.QueueLine] = [
        {"id": r.id, "note": r.shown_id, "state": r.state, "training": r.kind == "training",
         "again": changed.get((me.person, r.note), [])}
        for r in rows
    ]  # fmt: skip
    return {"assignments": listed, **_own_counts(connection, me, project)}


def _own_counts(connection: Connection, me: Identity, project: str) -> answers.OwnCounts:
    done, total = f"done:{me.person}", f"total:{me.person}"
    counts = counts_of(connection, project, done, total)
    return {"done": counts.get(done, 0), "total": counts.get(total, 0)}


def next_note(connection: Connection, me: Identity, project: str) -> answers.NextAnswer:
    """Return the first of the person's notes that is not done."""
    own = (t.assignment.c.person == me.person, t.assignment.c.project == project)
    to_do = select(t.assignment.c.id).where(*own, t.assignment.c.state.in_(("open", "started")))
    first = connection.scalar(to_do.order_by(t.assignment.c.position).limit(1))
    state = project_row(connection, project).state
    return {"assignment": first, "state": state, **_own_counts(connection, me, project)}


_old, _newer = t.judgement.alias("old"), t.rubric_version.alias("newer")
_of_case = t.rubric_version.c.project, t.rubric_version.c.case
#: An assignment with its note, the newest rubric, and what is saved of one feature.
_WORK = (
    select(
        t.assignment, t.note.c.shown_id, t.note.c.case, t.note.c.text, t.note.c.sha256,
        t.project.c.state.label("project_state"), t.project.c.suggestions,
        t.rubric_version.c.number.label("rubric"), t.rubric_version.c.body,
        _old.c.version, _old.c.answer, _old.c.marks, _old.c.active_ms, _old.c.at,
        _old.c.rubric.label("old_rubric"),
    )
    .join(t.note, t.assignment.c.note == t.note.c.number)
    .join(t.project, t.assignment.c.project == t.project.c.id)
    .join(t.rubric_version, tuple_(*_of_case) == tuple_(t.project.c.id, t.note.c.case))
    .outerjoin(_old, (_old.c.note == t.assignment.c.note) & (_old.c.person == t.assignment.c.person)
               & (_old.c.feature == bindparam("feature")))
    .where(
        t.assignment.c.id == bindparam("own"), t.assignment.c.person == bindparam("me"),
        t.rubric_version.c.number == select(func.max(_newer.c.number)).where(
            tuple_(_newer.c.project, _newer.c.case) == tuple_(*_of_case)).scalar_subquery(),
    )
)  # fmt: skip


def _own(connection: Connection, me: Identity, assignment: str, feature: str = "") -> Row[Any]:
    """Return an assignment of the person with its note; others' are not there."""
    values = {"own": assignment, "me": me.person, "feature": feature}
    row = connection.execute(_WORK, values).one_or_none()
    if row is None:
        raise NotFoundError("There is no such note among yours.")
    return row


_mine = (
    t.assignment.c.person == bindparam("me"), t.assignment.c.project == bindparam("project")
)  # fmt: skip
_place = t.assignment.c.position
#: The notes before and after one, and how many there are.
_AROUND = select(
    *(
        select(t.assignment.c.id).where(*_mine, there).order_by(order).limit(1).scalar_subquery()
        for there, order in (
            (_place < bindparam("at"), _place.desc()), (_place > bindparam("at"), _place)
        )
    ),
    select(t.counter.c.value).where(
        t.counter.c.project == bindparam("project"), t.counter.c.name == bindparam("total")
    ).scalar_subquery(),
)  # fmt: skip
_JUDGED = select(t.judgement).where(
    t.judgement.c.note == bindparam("note"), t.judgement.c.person == bindparam("me")
)


def open_work(connection: Connection, me: Identity, assignment: str) -> answers.WorkAnswer:
    """Return a note with its rubric, and what the person judged so far."""
    row = _own(connection, me, assignment)
    rubric = read_rubric(row.body)
    mine = connection.execute(_JUDGED, {"note": row.note, "me": me.person}).all()
    changed = changed_since(connection, row.project, row.case) if row.rubric > 1 else {}
    former = {j.feature: changed.get((row.case, j.rubric), {}) for j in mine if j.answer}
    around = {"me": me.person, "project": row.project, "at": row.position}
    around["total"] = f"total:{me.person}"
    before, after, total = tuple(connection.execute(_AROUND, around).one())
    suggested: dict[str, answers.SuggestionPart] = {}
    if row.suggestions:
        offered = select(t.suggestion).where(t.suggestion.c.note == row.note)
        for one in connection.execute(offered):
            suggested[one.feature] = {
                "marks": parse_spans(one.marks),
                "probability": one.probability,
                "reason": one.reason,
            }
    return {
        "id": row.id, "project": row.project, "position": row.position, "state": row.state,
        "training": row.kind == "training", "total": total,
        "note": {"id": row.shown_id, "case": row.case, "text": row.text, "sha256": row.sha256},
        "rubric": {
            "case": rubric.case, "title": rubric.title, "version": str(row.rubric),
            "features": [feature_part(f) for f in rubric],
        },
        "judgements": {j.feature: _state(j) for j in mine},
        "again": {one: feature_part(was[one]) for one, was in former.items() if one in was},
        "suggestions": suggested if row.suggestions else None,
        "previous": before, "next": after, **_steps(connection, assignment),
    }  # fmt: skip


def _state(row: Any) -> answers.JudgementPart:
    at, marks = iso(row.at), parse_spans(row.marks)
    return {"answer": row.answer, "marks": marks, "version": row.version, "at": at}


def judge(
    connection: Connection,
    me: Identity,
    assignment: str,
    feature: str,
    *,
    answer: str | None,
    marks: Sequence[Any],
    version: int,
    sha256: str,
    active_ms: int = 0,
    suggestion: str = "none",
) -> answers.JudgedAnswer:
    """Keep a judgement; a refusal with the saved one where that is newer than what was seen."""
    row = _own(connection, me, assignment, feature)
    need_open(row.project_state)
    need_text(row, sha256)
    found = checked_marks(marks, len(row.text))
    if (answer == "present") > bool(found) or (answer in ("absent", None) and found):
        message = "present needs marks; absent and null have none."
        raise InvalidError(message)
    if row.version is not None and (row.answer, row.marks) == (answer, spans_text(found)):
        _confirm(connection, me, row, feature, active_ms)
        all_of_it = _note_version(connection, me, row.note)
        steps = _steps(connection, row.id)
        return {"feature": feature, **_state(row), **steps, "note_version": all_of_it}
    if version != (row.version or 0):
        raise _conflict(row, feature)
    more = {"active_ms": max(0, min(active_ms, _LONGEST_MS)), "suggestion": suggestion}
    kept = _keep(connection, me, row, feature, "judge", (answer, spans_text(found)), more)
    all_of_it = _note_version(connection, me, row.note)
    return {"feature": feature, **kept, "can_undo": True, "can_redo": False,
            "note_version": all_of_it}  # fmt: skip


def _note_version(connection: Connection, me: Identity, note: int) -> int:
    """Return the number of changes to the person's judgements of a note, all together."""
    own = (t.judgement.c.note == note, t.judgement.c.person == me.person)
    return int(connection.scalar(select(func.sum(t.judgement.c.version)).where(*own)) or 0)


def _conflict(row: Row[Any], feature: str) -> ConflictError:
    nothing: answers.JudgementPart = {"answer": None, "marks": (), "version": 0, "at": None}
    saved = {"feature": feature, **(nothing if row.version is None else _state(row))}
    message = "This judgement was changed elsewhere meanwhile."
    return ConflictError(message, saved)


def _confirm(
    connection: Connection, me: Identity, row: Row[Any], feature: str, active_ms: int
) -> None:
    """Note that a judgement holds for the words that its feature has now, if they are others."""
    if row.rubric == row.old_rubric:
        return
    changed = changed_since(connection, row.project, row.case)
    if feature not in changed.get((row.case, row.old_rubric), ()):
        return
    data = {"version": row.version, "rubric": row.rubric}
    entry = Entry("confirm", me.person, data, row.id, row.note, feature)
    values = {"rubric": row.rubric, "at": append(connection, row.project, entry)}
    own = (t.judgement.c.note == row.note, t.judgement.c.person == me.person)
    connection.execute(
        t.judgement.update()
        .where(*own, t.judgement.c.feature == feature)
        .values(**values, active_ms=row.active_ms + max(0, min(active_ms, _LONGEST_MS)))
    )


#: Another process may have saved since this one read: then nothing is written.
_PUT = text(
    "INSERT INTO judgement "
    "(note, person, feature, project, answer, marks, version, rubric, at, active_ms) VALUES "
    "(:note, :person, :feature, :project, :answer, :marks, :version, :rubric, :at, :active_ms) "
    "ON CONFLICT (note, person, feature) DO UPDATE SET answer = excluded.answer, "
    "marks = excluded.marks, version = excluded.version, rubric = excluded.rubric, "
    "at = excluded.at, active_ms = judgement.active_ms + excluded.active_ms "
    "WHERE judgement.version = excluded.version - 1"
)


def _keep(
    connection: Connection,
    me: Identity,
    row: Row[Any],
    feature: str,
    kind: str,
    state: tuple[str | None, str],
    more: Json,
) -> answers.JudgementPart:
    """Write an event and the judgement it makes, which is returned."""
    before = (row.answer, row.marks or "")
    if feature not in {f.id for f in read_rubric(row.body)}:
        raise NotFoundError("The rubric of this note has no such feature.")
    version = (row.version or 0) + 1
    values = {"answer": state[0], "marks": state[1], "version": version, "rubric": row.rubric}
    data = {**values, "before": list(before), **more}
    at = append(connection, row.project, Entry(kind, me.person, data, row.id, row.note, feature))
    key = {"note": row.note, "person": me.person, "feature": feature, "project": row.project}
    spent = {"at": at, "active_ms": more.get("active_ms", 0)}
    if not connection.execute(_PUT, {**key, **values, **spent}).rowcount:
        raise _conflict(_own(connection, me, row.id, feature), feature)
    judged = (state[0] is not None) - (before[0] is not None)
    unsure = (state[0] == "unsure") - (before[0] == "unsure")
    changes = {"judgements": judged, f"judgements:{me.person}": judged, "unsure": unsure}
    count(connection, row.project, changes)
    _move(connection, me, row, "open" if state[0] is None else None)
    if row.state == "done":
        with seeing(connection, of_project(row.project)):
            refresh_disputes(connection, row.project, row.note, [feature])
    return {"answer": state[0], "marks": parse_spans(state[1]), "version": version, "at": iso(at)}


def _move(connection: Connection, me: Identity, row: Row[Any], to: str | None) -> None:
    """Let an assignment be started, or open again where a judgement of a done one was cleared."""
    own = t.assignment.update().where(t.assignment.c.id == row.id)
    if row.state == "done" and to == "open":
        append(connection, row.project, Entry("reopen", me.person, {}, row.id, row.note))
        count(connection, row.project, {"done": -1, f"done:{me.person}": -1})
        connection.execute(own.values(state="started"))
    elif row.state == "open":
        connection.execute(own.values(state="started"))


def _history(connection: Connection, assignment: str) -> tuple[list[Any], list[Any]]:
    """Return the changes that can be undone and those that can be redone, the last one last."""
    undo: list[Any] = []
    redo: list[Any] = []
    rows = connection.execute(
        select(t.event)
        .where(t.event.c.assignment == assignment, t.event.c.kind.in_(("judge", "undo", "redo")))
        .order_by(t.event.c.number)
    )
    for row in rows:
        if row.body is None:
            continue
        if row.kind == "judge":
            data = data_of(row)
            undo.append((row.feature, tuple(data["before"]), (data["answer"], data["marks"])))
            redo.clear()
        elif row.kind == "undo":
            redo.append(undo.pop())
        else:
            undo.append(redo.pop())
    return undo, redo


_KINDS = (
    select(t.event.c.kind)
    .where(t.event.c.assignment == bindparam("own"), t.event.c.body.is_not(None))
    .order_by(t.event.c.number)
)


def _steps(connection: Connection, assignment: str) -> answers.Steps:
    """Return flags for undo and redo."""
    undo = redo = 0
    for kind in connection.scalars(_KINDS, {"own": assignment}):
        back, forth = {"judge": (1, -redo), "undo": (-1, 1), "redo": (1, -1)}.get(kind, (0, 0))
        undo, redo = undo + back, redo + forth
    return {"can_undo": undo > 0, "can_redo": redo > 0}


def step_back(connection: Connection, me: Identity, assignment: str) -> answers.JudgedAnswer:
    """Undo the person's last change to a note; this is an event, too."""
    return _step(connection, me, assignment, "undo")


def step_forward(connection: Connection, me: Identity, assignment: str) -> answers.JudgedAnswer:
    """Do again what was undone last."""
    return _step(connection, me, assignment, "redo")


def _step(connection: Connection, me: Identity, assignment: str, kind: str) -> answers.JudgedAnswer:
    row = _own(connection, me, assignment)
    need_open(row.project_state)
    changes = _history(connection, assignment)[kind == "redo"]
    if not changes:
        before_it = _finished_before(connection, me, row) if kind == "undo" else None
        raise NothingToUndoError(f"There is nothing to {kind}.", {"finished": before_it})
    # The one decision on a note without text is one step, however many features it is about.
    steps = changes[-1:] if row.text.strip() else changes[::-1]
    for feature, before, after in steps:
        own = _own(connection, me, assignment, feature)
        state = before if kind == "undo" else after
        kept = _keep(connection, me, own, feature, kind, state, {})
    all_of_it = _note_version(connection, me, row.note)
    return {"feature": feature, **kept, **_steps(connection, row.id), "note_version": all_of_it}


#: What an annotator does with a note.
_ACTS = ("judge", "undo", "redo", "confirm", "done", "reopen")


def _finished_before(connection: Connection, me: Identity, row: Row[Any]) -> str | None:
    """Return the note that the person finished last, if that was the last they did elsewhere."""
    acts = (
        select(t.event.c.kind, t.event.c.assignment, t.assignment.c.state)
        .join(t.assignment, t.event.c.assignment == t.assignment.c.id)
        .where(t.assignment.c.person == me.person, t.assignment.c.project == row.project)
        .where(t.event.c.kind.in_(_ACTS), t.event.c.assignment != row.id)
        .order_by(t.event.c.number.desc())
    )
    last = connection.execute(acts.limit(1)).one_or_none()
    return last.assignment if last and (last.kind, last.state) == ("done", "done") else None


def reopen(connection: Connection, me: Identity, assignment: str) -> answers.DoneAnswer:
    """Take back that a note is done; nothing that was judged in it changes."""
    row = _own(connection, me, assignment)
    need_open(row.project_state)
    if row.state == "done":
        _move(connection, me, row, "open")
    state = "started" if row.state == "done" else row.state
    return {"state": state, "next": row.id, **_own_counts(connection, me, row.project)}


def finish(
    connection: Connection, me: Identity, assignment: str, version: int | None = None
) -> answers.DoneAnswer:
    """Say that a note is done; a refusal that lists what is not judged yet.

    So is a ``version`` of all its judgements together that is not the present one.
    """
    row = _own(connection, me, assignment)
    need_open(row.project_state)
    if version is not None and version != _note_version(connection, me, row.note):
        message = "Judgements of this note were changed elsewhere meanwhile."
        raise ConflictError(message)
    rubric = read_rubric(row.body)
    own = (t.judgement.c.note == row.note, t.judgement.c.person == me.person)
    judged = set(connection.scalars(
        select(t.judgement.c.feature).where(*own, t.judgement.c.answer.is_not(None))
    ))  # fmt: skip
    left = [f.id for f in rubric if f.id not in judged]
    if left:
        message = f"{len(left)} features are not judged yet."
        raise UnfinishedError(message, {"unjudged": left})
    if row.state != "done":
        append(connection, row.project, Entry("done", me.person, {"at": now()}, row.id, row.note))
        done = t.assignment.update().where(t.assignment.c.id == row.id).values(state="done")
        connection.execute(done)
        count(connection, row.project, {"done": 1, f"done:{me.person}": 1})
        with seeing(connection, of_project(row.project)):
            refresh_disputes(connection, row.project, row.note, [f.id for f in rubric])
    after = next_note(connection, me, row.project)
    first = after["assignment"]
    return {"state": "done", "next": first, "done": after["done"], "total": after["total"]}
