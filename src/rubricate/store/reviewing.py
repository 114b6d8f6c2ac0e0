"""Items of a scoring run that a person looks at, and a hidden sample of those that need none."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, func, select

from rubricate.errors import InputError
from rubricate.files import file_hash
from rubricate.formats.encoding import Json
from rubricate.rubric import NO_FLOOR, Feature, Metadata, Rubric
from rubricate.run import Correction, ItemResult, NoteResult, parse_spans, read_results, spans_text
from rubricate.run.results import NOT_SCORED, total_score
from rubricate.run.writing import RUN, has_floor, read_record
from rubricate.store import tables as t
from rubricate.store.answers import (
    ItemAnswer,
    ItemLine,
    ItemsAnswer,
    OpenAndDone,
    ReviewCounts,
    RunPart,
)
from rubricate.store.chain import Entry, append, count, counts_of, digest
from rubricate.store.curating import checked_marks, need_open, need_text
from rubricate.store.database import iso, new_id, now, one_row
from rubricate.store.people import Identity
from rubricate.store.projects import project_row
from rubricate.store.refusals import ConflictError, NotAllowedError


def add_run(
    connection: Connection,
    project: str,
    actor: str,
    *,
    folder: Path,
    name: str,
    texts: Mapping[str, str],
    inputs: Mapping[str, str],
    audit: float,
    seed: int,
) -> str:
    """Keep a finished run for review: its scores, the items it sent, and a sample of the others."""
    own = new_id()
    row = {"id": own, "project": project, "name": name, "folder": json.dumps(dict(inputs))}
    row |= {"hash": file_hash(folder / RUN), "state": "open"}
    same = [t.run.c[key] == row[key] for key in ("project", "folder", "hash")]
    if connection.scalar(select(t.run.c.id).where(*same)):
        raise InputError(f"the run {name!r} is under review already")
    connection.execute(t.run.insert().values(**row, made=now()))
    rng = np.random.default_rng(seed)
    scored, items = [], list[tuple[int, ItemResult]]()
    number = (connection.scalar(select(t.scored.c.number).order_by(
        t.scored.c.number.desc()).limit(1)) or 0)  # fmt: skip
    run_record = read_record(folder)
    for result in read_results(folder):
        text = texts.get(result.note)
        if text is None:
            if result.status == NOT_SCORED:
                continue  # it could not be read: there is nothing to look at
            raise InputError(f"the notes have no note {result.note!r}, which the run scored")
        number += 1
        sent = [item for item in result.items if item.review_reason]
        others = [item for item in result.items if not item.review_reason and not item.correction]
        drawn = rng.random(len(others)) < audit
        items += [(number, one) for one in (*sent, *compress(others, drawn))]
        # A note that nobody will look at needs no text here.
        shown = text if sent or drawn.any() else ""
        scored.append({
            "number": number, "run": own, "id": result.note, "case": result.case, "text": shown,
            "sha256": digest(text), "body": _kept(result, floor=has_floor(run_record, result.case)),
        })  # fmt: skip
    if scored:
        connection.execute(t.scored.insert(), scored)
    if items:
        connection.execute(t.item.insert(), _item_rows(own, items, rng))
    n_sent = sum(bool(one.review_reason) for _, one in items)
    data = {"run": own, "hash": row["hash"], "sent": n_sent, "audit": len(items) - n_sent}
    append(connection, project, Entry("run", actor, data))
    count(connection, project, {f"items_open:{own}": len(items), f"items:{own}": len(items)})
    return own


def _kept(result: NoteResult, *, floor: bool) -> str:
    """Return a note's items as JSON: enough to sum its score again, and to show what was found."""
    return json.dumps([
        {
            "id": i.feature.id, "text": i.feature.text, "weight": i.feature.weight,
            "group": i.feature.group, "found": i.found, "marks": spans_text(i.evidence.spans),
            "reason": i.evidence.reason,
            **({"against": [spans_text((i.evidence.against.spans,)), i.evidence.against.reason]}
               if i.evidence.against else {}),
            **({} if floor else {"floor": NO_FLOOR}),
        }
        for i in result.items
    ], ensure_ascii=False)  # fmt: skip


def _item_rows(
    run: str, items: Sequence[tuple[int, ItemResult]], rng: np.random.Generator
) -> list[dict[str, object]]:
    """Put what was sent first by risk, and the hidden sample anywhere in between."""
    sure = [one.certainty for _, one in items]
    risks = [None if one is None else round(1.0 - one, 4) for one in sure]
    sent = [k for k, (_, one) in enumerate(items) if one.review_reason]
    sent.sort(key=lambda k: -1.0 if (risk := risks[k]) is None else -risk)
    places = {k: float(place) for place, k in enumerate(sent)}
    return [
        {"id": new_id(), "run": run, "scored": number, "feature": one.feature.id,
         "found": one.found, "marks": spans_text(one.evidence.spans), "risk": risks[k],
         "why": one.review_reason, "state": "open",
         "position": places[k] if k in places else float(rng.uniform(0, max(1, len(sent))))}
        for k, (number, one) in enumerate(items)
    ]  # fmt: skip


def run_row(connection: Connection, run: str) -> Row[Any]:
    """Return a run that is under review."""
    return connection.execute(select(t.run).where(t.run.c.id == run)).one()


def set_state(connection: Connection, run: str, state: str, fault: str = "") -> None:
    """Say how far a run is, and what went wrong with it."""
    own = t.run.update().where(t.run.c.id == run)
    connection.execute(own.values(state=state, fault=fault))


def begin_publishing(connection: Connection, run: str) -> None:
    """Say that a run is being published; a conflict if it is already, also in the same moment."""
    here = t.run.update().where(t.run.c.id == run, t.run.c.state != "publishing")
    if not connection.execute(here.values(state="publishing", fault="")).rowcount:
        raise ConflictError("It is being published already.", {"state": "publishing"})


def fail_stopped_publishing(connection: Connection) -> None:
    """Mark as failed what a server was publishing when it stopped, so that it can be done again."""
    stopped = t.run.update().where(t.run.c.state == "publishing")
    connection.execute(
        stopped.values(state="failed", fault="The server was stopped. Publish the run again.")
    )


def list_runs(connection: Connection, project: str) -> list[RunPart]:
    """Return the runs of a project, and how far their review is."""
    rows = connection.execute(
        select(t.run).where(t.run.c.project == project).order_by(t.run.c.made)
    ).all()
    counts = counts_of(connection, project) if rows else {}
    return [
        {"id": r.id, "name": r.name, "state": r.state, "fault": r.fault,
         **_progress(counts, r.id)}
        for r in rows
    ]  # fmt: skip


def _progress(counts: Mapping[str, int], run: str) -> ReviewCounts:
    still, total = counts.get(f"items_open:{run}", 0), counts.get(f"items:{run}", 0)
    return {"open": still, "done": total - still, "total": total}


def _not_mine(me: Identity, project: str) -> Any:
    """Nobody reviews notes that they annotate: the machine's findings would tell them what to mark.

    A run knows notes by the ids and texts of its files, so either tells.
    """
    mine = select(t.note.c.number).join(t.assignment).where(
        t.assignment.c.person == me.person, t.assignment.c.project == project,
        (t.note.c.sha256 == t.scored.c.sha256)
        | ((t.note.c.id == t.scored.c.id) & (t.note.c.case == t.scored.c.case)),
    )  # fmt: skip
    return ~mine.correlate(t.scored).exists()


def list_items(
    connection: Connection,
    me: Identity,
    run: str,
    *,
    state: str,
    after: str,
    limit: int,
    case: str = "",
    feature: str = "",
    found: str = "",
) -> ItemsAnswer:
    """Return a page of items, only some if asked; nothing tells which ones the policy sent."""
    project = str(run_row(connection, run).project)
    listed = select(t.item, t.scored.c.id.label("note"), t.scored.c.case, t.scored.c.body)
    listed = listed.join(t.scored).where(t.item.c.run == run, _not_mine(me, project))
    wanted = {t.scored.c.case: case, t.item.c.feature: feature}
    listed = listed.where(*(column == value for column, value in wanted.items() if value))
    if found:
        listed = listed.where(t.item.c.found == (found == "yes"))
    if state != "all":
        listed = listed.where(t.item.c.state == state)
    if after:
        place = select(t.item.c.position).where(t.item.c.id == after, t.item.c.run == run)
        last = one_row(connection, place, "There is no such place to go on from.")
        listed = listed.where(t.item.c.position > last.position)
    rows = connection.execute(listed.order_by(t.item.c.position).limit(limit + 1)).all()
    items: list[ItemLine] = [
        {
            "id": r.id, "note": r.note, "case": r.case, "feature": r.feature,
            "feature_text": _feature(json.loads(r.body), r.feature)["text"],
            "found": r.found, "state": r.state,
        }
        for r in rows[:limit]
    ]  # fmt: skip
    more = items[-1]["id"] if len(rows) > limit else None
    return {"items": items, "next": more, **_counted(connection, me, project, run)}


def _counted(connection: Connection, me: Identity, project: str, run: str) -> OpenAndDone:
    """Return the numbers of open and done items; an annotator's own notes do not count."""
    own = (t.assignment.c.person == me.person) & (t.assignment.c.project == project)
    if connection.scalar(select(t.assignment.c.id).where(own).limit(1)) is None:
        counts = counts_of(connection, project, f"items_open:{run}", f"items:{run}")
        progress = _progress(counts, run)
        return {"open": progress["open"], "done": progress["done"]}
    found = select(t.item.c.state, func.count()).join(t.scored).where(t.item.c.run == run)
    rows = connection.execute(found.where(_not_mine(me, project)).group_by(t.item.c.state)).all()
    by_state = {state: int(n) for state, n in rows}
    return {"open": by_state.get("open", 0), "done": by_state.get("done", 0)}


def features_of(connection: Connection, run: str) -> dict[str, dict[str, str]]:
    """Return the cases of a run with their features and the words of these."""
    first = select(func.min(t.scored.c.number)).where(t.scored.c.run == run)
    rows = connection.execute(
        select(t.scored.c.case, t.scored.c.body)
        .where(t.scored.c.number.in_(first.group_by(t.scored.c.case)))
        .order_by(t.scored.c.case)
    )
    return {row.case: {one["id"]: one["text"] for one in json.loads(row.body)} for row in rows}


def _feature(kept: Sequence[Json], feature: str) -> Json:
    return next(one for one in kept if one["id"] == feature)


def _item(connection: Connection, item: str) -> Row[Any]:
    own = (
        select(
            t.item, t.scored.c.id.label("note"), t.scored.c.case, t.scored.c.text,
            t.scored.c.sha256, t.scored.c.body, t.run.c.project,
        )
        .join(t.scored, t.item.c.scored == t.scored.c.number)
        .join(t.run, t.item.c.run == t.run.c.id)
        .where(t.item.c.id == item)
    )  # fmt: skip
    return one_row(connection, own, "There is no such item.")


def _others_item(connection: Connection, me: Identity, item: str) -> Row[Any]:
    """Return an item of a note that somebody does not annotate; a refusal where they do."""
    row = _item(connection, item)
    own = (t.scored.c.number == row.scored, _not_mine(me, row.project))
    if connection.scalar(select(t.scored.c.number).where(*own)) is None:
        message = "You annotate this note, so somebody else reviews what was found in it."
        raise NotAllowedError(message)
    return row


def _corrections(connection: Connection, *where: Any) -> dict[str, Row[Any]]:
    """Return the latest correction of each item."""
    found = (
        select(t.correction, t.person.c.name, t.item.c.feature, t.scored.c.id.label("note"))
        .join(t.person, t.correction.c.person == t.person.c.id)
        .join(t.item, t.correction.c.item == t.item.c.id)
        .join(t.scored, t.item.c.scored == t.scored.c.number)
        .where(*where)
        .order_by(t.correction.c.version)
    )
    return {row.item: row for row in connection.execute(found)}


def show_item(connection: Connection, me: Identity, item: str) -> ItemAnswer:
    """Return an item with its note, its evidence, and the note's score as it is now."""
    row = _others_item(connection, me, item)
    kept = json.loads(row.body)
    changed = {one.feature: one for one in
               _corrections(connection, t.item.c.scored == row.scored).values()}  # fmt: skip
    features = tuple(
        Feature(k["id"], row.case, k["text"], k["weight"], group=k["group"]) for k in kept
    )
    floor = next((k["floor"] for k in kept if "floor" in k), None)
    rubric = Rubric(row.case, features, metadata=Metadata(floor=floor))
    before = {k["id"] for k in kept if k["found"]}
    after = {k["id"] for k in kept
             if (changed[k["id"]].found if k["id"] in changed else k["found"])}  # fmt: skip
    was, is_now = total_score(rubric, before), total_score(rubric, after)
    own, mine = _feature(kept, row.feature), changed.get(row.feature)
    against = own.get("against")
    return {
        "id": row.id, "run": row.run, "state": row.state,
        "version": 0 if mine is None else mine.version,
        "note": {"id": row.note, "case": row.case, "text": row.text, "sha256": row.sha256},
        "feature": {"id": own["id"], "text": own["text"], "note": "", "kind": "",
                    "group": own["group"], "weight": own["weight"]},
        "found": row.found, "marks": parse_spans(row.marks), "reason": own["reason"],
        "against": against and {"marks": parse_spans(against[0]), "reason": against[1]},
        "score": {"before": was.score, "now": is_now.score, "maximum": was.maximum},
        "items": [
            {
                "feature": k["id"], "text": k["text"], "found": k["id"] in after,
                "points": is_now.points.get(k["id"], 0.0), "corrected": k["id"] in changed,
                "marks": parse_spans(_marks(changed.get(k["id"]), k["marks"])),
            }
            for k in kept
        ],
        "correction": None if mine is None else {
            "found": mine.found, "comment": mine.comment, "by": mine.name, "at": iso(mine.at),
            "marks": parse_spans(_marks(mine, row.marks)),
            "against": () if mine.found else parse_spans(mine.marks or ""),
        },
        "why": row.why or "a random sample of what the policy did not send" if mine else None,
        "risk": row.risk if mine else None,
    }  # fmt: skip


def _marks(correction: Row[Any] | None, machine: str) -> str:
    if correction is None:
        return machine
    if not correction.found:
        return ""
    return machine if correction.marks is None else correction.marks


def correct(
    connection: Connection,
    me: Identity,
    item: str,
    *,
    found: bool,
    marks: Sequence[Any] | None,
    comment: str,
    version: int,
    sha256: str,
    active_ms: int,
) -> ItemAnswer:
    """Keep what a reviewer says of an item; a refusal where another one said something since.

    The marks of what is not found are the words that say otherwise.
    """
    row = _others_item(connection, me, item)
    need_open(project_row(connection, row.project).state)
    need_text(row, sha256)
    seen = show_item(connection, me, item)
    if seen["version"] != version:
        raise ConflictError("Another reviewer was here meanwhile.", seen)
    text = spans_text(checked_marks(marks, len(row.text))) if marks else None
    said = {"found": found, "marks": text, "comment": comment}
    _keep(connection, me, row, {**said, "version": version + 1}, active_ms)
    if not found and not row.text.strip():
        # Nothing can be found in a note without text: one decision is enough for all of it.
        others = select(t.item.c.id).where(t.item.c.scored == row.scored, t.item.c.state == "open")
        for other in connection.scalars(others.order_by(t.item.c.position)).all():
            _keep(connection, me, _item(connection, other), {**said, "version": 1}, 0)
    return show_item(connection, me, item)


def _keep(
    connection: Connection, me: Identity, row: Row[Any], said: Mapping[str, Any], active_ms: int
) -> None:
    """Write an event and the correction it makes; the item is done."""
    own = {"item": row.id, **said}
    at = append(connection, row.project, Entry("correct", me.person, own, feature=row.feature))
    more = {"project": row.project, "person": me.person, "at": at, "active_ms": active_ms}
    connection.execute(t.correction.insert().values(**own, **more))
    if row.state == "open":
        connection.execute(t.item.update().where(t.item.c.id == row.id).values(state="done"))
        count(connection, row.project, {f"items_open:{row.run}": -1})
        if not row.why:
            wrong = said["found"] != bool(row.found)
            changes = {f"audit:{row.run}": 1, f"audit_wrong:{row.run}": int(wrong)}
            count(connection, row.project, changes)


def write_corrections(connection: Connection, run: str, path: Path) -> None:
    """Write the corrections of a run as `score --corrections` reads them."""
    from rubricate.scoring.corrections import write_decisions

    rows = _corrections(connection, t.item.c.run == run).values()
    write_decisions(path, (
        Correction(r.note, r.feature, r.found, r.name, iso(r.at),
                   None if r.marks is None else parse_spans(r.marks), r.comment)
        for r in rows
    ))  # fmt: skip
