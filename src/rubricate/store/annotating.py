"""All that annotators read and write. Every function needs to be told who asks.

Nothing here looks at anybody else's work: no query leaves out the person, and no answer has a
number that others' work changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from rubricate.run import parse_spans, spans_text
from rubricate.store import tables as t
from rubricate.store.chain import Entry, append, count, counts_of, data_of
from rubricate.store.curating import refresh_disputes
from rubricate.store.database import RefusedError, iso, missing, now
from rubricate.store.marks import checked_marks, need_open, need_text
from rubricate.store.people import Identity
from rubricate.store.projects import project_row
from rubricate.store.rubrics import again, changed_since, rubric_of

#: The longest time that one judgement is thought to have taken.
_LONGEST_MS = 600_000


def own_queue(connection: Connection, me: Identity, project: str) -> dict[str, Any]:
    """Return the person's own notes, in order."""
    rows = connection.execute(
        select(t.assignment, t.note.c.shown_id)
        .join(t.note)
        .where(t.assignment.c.person == me.person, t.assignment.c.project == project)
        .order_by(t.assignment.c.position)
    )
    changed = again(connection, project, me.person)
    listed = [
        {"id": r.id, "note": r.shown_id, "state": r.state, "training": r.kind == "training",
         "again": changed.get((me.person, r.note), [])}
        for r in rows
    ]  # fmt: skip
    return {"assignments": listed, **_own_counts(connection, me, project)}


def _own_counts(connection: Connection, me: Identity, project: str) -> dict[str, int]:
    names = {f"{name}:{me.person}": name for name in ("done", "total")}
    counts = counts_of(connection, project, *names)
    return {name: counts.get(key, 0) for key, name in names.items()}


def next_note(connection: Connection, me: Identity, project: str) -> dict[str, Any]:
    """Return the first of the person's notes that is not done."""
    own = (t.assignment.c.person == me.person, t.assignment.c.project == project)
    to_do = select(t.assignment.c.id).where(*own, t.assignment.c.state.in_(("open", "started")))
    first = connection.scalar(to_do.order_by(t.assignment.c.position).limit(1))
    state = project_row(connection, project).state
    return {"assignment": first, "state": state, **_own_counts(connection, me, project)}


def _own(connection: Connection, me: Identity, assignment: str) -> Row[Any]:
    """Return an assignment of the person with its note; others' are not there."""
    columns = (t.note.c.shown_id, t.note.c.case, t.note.c.text, t.note.c.sha256)
    of_project = (t.project.c.state.label("project_state"), t.project.c.suggestions)
    row = connection.execute(
        select(t.assignment, *columns, *of_project)
        .join(t.note, t.assignment.c.note == t.note.c.number)
        .join(t.project, t.assignment.c.project == t.project.c.id)
        .where(t.assignment.c.id == assignment, t.assignment.c.person == me.person)
    ).one_or_none()
    if row is None:
        raise missing("There is no such note among yours.")
    return row


def open_work(connection: Connection, me: Identity, assignment: str) -> dict[str, Any]:
    """Return a note with its rubric, and what the person judged so far."""
    row = _own(connection, me, assignment)
    number, rubric = rubric_of(connection, row.project, row.case)
    mine = connection.execute(
        select(t.judgement).where(t.judgement.c.note == row.note, t.judgement.c.person == me.person)
    ).all()
    changed = changed_since(connection, row.project, row.case) if number > 1 else {}
    former = {j.feature: changed.get((row.case, j.rubric), {}) for j in mine if j.answer}
    undo, redo = _history(connection, assignment)
    return {
        "id": row.id, "project": row.project, "position": row.position, "state": row.state,
        "training": row.kind == "training",
        "total": _own_counts(connection, me, row.project)["total"],
        "note": {"id": row.shown_id, "case": row.case, "text": row.text, "sha256": row.sha256},
        "rubric": {
            "case": rubric.case, "title": rubric.title, "version": str(number),
            "features": [
                {"id": f.id, "text": f.text, "note": f.note, "kind": f.kind, "group": f.group}
                for f in rubric
            ],
        },
        "judgements": {j.feature: _state(j) for j in mine},
        "again": {one: words[one] for one, words in former.items() if one in words},
        "suggestions": _suggestions(connection, row.note) if row.suggestions else None,
        "can_undo": bool(undo), "can_redo": bool(redo),
        "previous": _neighbour(connection, me, row, -1), "next": _neighbour(connection, me, row, 1),
    }  # fmt: skip


def _neighbour(connection: Connection, me: Identity, row: Row[Any], step: int) -> str | None:
    own = (t.assignment.c.person == me.person, t.assignment.c.project == row.project)
    place = t.assignment.c.position
    if step > 0:
        found = select(t.assignment.c.id).where(*own, place > row.position).order_by(place)
    else:
        found = select(t.assignment.c.id).where(*own, place < row.position).order_by(place.desc())
    return connection.scalar(found.limit(1))


def _suggestions(connection: Connection, note: int) -> dict[str, Any]:
    rows = connection.execute(select(t.suggestion).where(t.suggestion.c.note == note))
    return {
        r.feature: {"marks": parse_spans(r.marks), "probability": r.probability, "reason": r.reason}
        for r in rows
    }


def _state(row: Any) -> dict[str, Any]:
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
) -> dict[str, Any]:
    """Keep a judgement; a refusal with the saved one where that is newer than what was seen."""
    row = _own(connection, me, assignment)
    need_open(row.project_state)
    need_text(row, sha256)
    found = checked_marks(marks, len(row.text))
    if (answer == "present") > bool(found) or (answer in ("absent", None) and found):
        message = "present needs marks; absent and null have none."
        raise RefusedError(400, "bad_request", message)
    old = _saved(connection, me, row, feature)
    if old is not None and (old.answer, old.marks) == (answer, spans_text(found)):
        _confirm(connection, me, row, old, active_ms)
        undo, redo = _history(connection, row.id)
        return {"feature": feature, **_state(old), "can_undo": bool(undo), "can_redo": bool(redo)}
    if version != (0 if old is None else old.version):
        saved = {"feature": feature, **(_state(old) if old else _NOTHING)}
        message = "This judgement was changed elsewhere meanwhile."
        raise RefusedError(409, "conflict", message, saved)
    more = {"active_ms": max(0, min(active_ms, _LONGEST_MS)), "suggestion": suggestion}
    kept = _keep(connection, me, row, old, feature, "judge", (answer, spans_text(found)), more)
    return {**kept, "can_undo": True, "can_redo": False}


def _confirm(
    connection: Connection, me: Identity, row: Row[Any], old: Row[Any], active_ms: int
) -> None:
    """Note that a judgement holds for the words that its feature has now, if they are others."""
    changed = changed_since(connection, row.project, row.case)
    if old.feature not in changed.get((row.case, old.rubric), ()):
        return
    number, _ = rubric_of(connection, row.project, row.case)
    data = {"version": old.version, "rubric": number}
    entry = Entry("confirm", me.person, data, row.id, row.note, old.feature)
    values = {"rubric": number, "at": append(connection, row.project, entry)}
    own = (t.judgement.c.note == row.note, t.judgement.c.person == me.person)
    connection.execute(
        t.judgement.update()
        .where(*own, t.judgement.c.feature == old.feature)
        .values(**values, active_ms=old.active_ms + max(0, min(active_ms, _LONGEST_MS)))
    )


_NOTHING = {"answer": None, "marks": (), "version": 0, "at": None}


def _saved(connection: Connection, me: Identity, row: Row[Any], feature: str) -> Row[Any] | None:
    own = (t.judgement.c.note == row.note, t.judgement.c.person == me.person)
    found = select(t.judgement).where(*own, t.judgement.c.feature == feature)
    return connection.execute(found).one_or_none()


def _keep(
    connection: Connection,
    me: Identity,
    row: Row[Any],
    old: Row[Any] | None,
    feature: str,
    kind: str,
    state: tuple[str | None, str],
    more: dict[str, Any],
) -> dict[str, Any]:
    """Write an event and the judgement it makes, which is returned."""
    before = (None, "") if old is None else (old.answer, old.marks)
    rubric, own_rubric = rubric_of(connection, row.project, row.case)
    if feature not in {f.id for f in own_rubric}:
        raise missing("The rubric of this note has no such feature.")
    version = 1 if old is None else old.version + 1
    data = {"answer": state[0], "marks": state[1], "version": version, "before": list(before)}
    entry = Entry(kind, me.person, {**data, "rubric": rubric, **more}, row.id, row.note, feature)
    at = append(connection, row.project, entry)
    values = {"answer": state[0], "marks": state[1], "version": version, "rubric": rubric, "at": at}
    if old is None:
        key = {"note": row.note, "person": me.person, "feature": feature, "project": row.project}
        spent = more.get("active_ms", 0)
        connection.execute(t.judgement.insert().values(**key, **values, active_ms=spent))
    else:
        own = (t.judgement.c.note == row.note, t.judgement.c.person == me.person)
        spent = old.active_ms + more.get("active_ms", 0)
        connection.execute(
            t.judgement.update()
            .where(*own, t.judgement.c.feature == feature)
            .values(**values, active_ms=spent)
        )
    judged = (state[0] is not None) - (before[0] is not None)
    unsure = (state[0] == "unsure") - (before[0] == "unsure")
    changes = {"judgements": judged, f"judgements:{me.person}": judged, "unsure": unsure}
    count(connection, row.project, changes)
    _move(connection, me, row, "open" if state[0] is None else None)
    if row.state == "done":
        refresh_disputes(connection, row.project, row.note, [feature])
    saved = {"answer": state[0], "marks": parse_spans(state[1]), "version": version, "at": iso(at)}
    return {"feature": feature, **saved}


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


def step_back(connection: Connection, me: Identity, assignment: str) -> dict[str, Any]:
    """Undo the person's last change to a note; this is an event, too."""
    return _step(connection, me, assignment, "undo")


def step_forward(connection: Connection, me: Identity, assignment: str) -> dict[str, Any]:
    """Do again what was undone last."""
    return _step(connection, me, assignment, "redo")


def _step(connection: Connection, me: Identity, assignment: str, kind: str) -> dict[str, Any]:
    row = _own(connection, me, assignment)
    need_open(row.project_state)
    changes = _history(connection, assignment)[kind == "redo"]
    if not changes:
        raise RefusedError(409, "nothing", f"There is nothing to {kind}.")
    feature, before, after = changes[-1]
    old, state = _saved(connection, me, row, feature), before if kind == "undo" else after
    kept = _keep(connection, me, row, old, feature, kind, state, {})
    undo, redo = _history(connection, row.id)
    return {**kept, "can_undo": bool(undo), "can_redo": bool(redo)}


def finish(connection: Connection, me: Identity, assignment: str) -> dict[str, Any]:
    """Say that a note is done; a refusal that lists what is not judged yet."""
    row = _own(connection, me, assignment)
    need_open(row.project_state)
    _, rubric = rubric_of(connection, row.project, row.case)
    own = (t.judgement.c.note == row.note, t.judgement.c.person == me.person)
    judged = set(connection.scalars(
        select(t.judgement.c.feature).where(*own, t.judgement.c.answer.is_not(None))
    ))  # fmt: skip
    left = [f.id for f in rubric if f.id not in judged]
    if left:
        message = f"{len(left)} features are not judged yet."
        raise RefusedError(409, "unjudged", message, {"unjudged": left})
    if row.state != "done":
        append(connection, row.project, Entry("done", me.person, {"at": now()}, row.id, row.note))
        done = t.assignment.update().where(t.assignment.c.id == row.id).values(state="done")
        connection.execute(done)
        count(connection, row.project, {"done": 1, f"done:{me.person}": 1})
        refresh_disputes(connection, row.project, row.note, [f.id for f in rubric])
    after = next_note(connection, me, row.project)
    return {
        "state": "done",
        "next": after["assignment"],
        **_own_counts(connection, me, row.project),
    }
