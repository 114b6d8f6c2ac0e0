"""Disagreements: which there are, what curators see of them, and their decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, func, select, tuple_

from rubricate.rubric import Feature
from rubricate.run import parse_spans, spans_text
from rubricate.spans import Spans
from rubricate.store import answers
from rubricate.store import tables as t
from rubricate.store.chain import Entry, append, count, counts_of, digest
from rubricate.store.database import iso, new_id, one_row
from rubricate.store.people import Identity
from rubricate.store.projects import project_row
from rubricate.store.refusals import ConflictError, InvalidError, PausedError, TextChangedError
from rubricate.store.rubrics import (
    changed_since,
    feature_part,
    features_ever,
    rubric_of,
    wordings,
)
from rubricate.study.curation import intersection_of, union_of
from rubricate.study.decisions import parse_marks


def checked_marks(marks: Sequence[Any], length: int) -> Spans:
    """Return marks in order, each once; a refusal where one lies outside the note.

    >>> checked_marks([[[4, 6], [0, 2]], [[0, 2], [4, 6]]], 10)
    (((0, 2), (4, 6)),)
    """
    found = {tuple(sorted((int(s), int(e)) for s, e in mark)) for mark in marks}
    sound = all(mark and all(0 <= s < e <= length for s, e in mark) for mark in found)
    if not sound:
        message = f"Marks need 0 <= start < end <= {length}, in code points."
        raise InvalidError(message)
    return tuple(sorted(found))


def need_text(row: Row[Any], sha256: str) -> None:
    """Refuse marks that were made on another text than the one kept."""
    if row.sha256 != sha256:
        raise TextChangedError("The text of the note is another one: load it again.")


def need_open(state: str) -> None:
    """Refuse work on a project that is paused."""
    if state != "open":
        raise PausedError("The project is paused until a manager opens it again.")


#: Why something needs a curator.
REASONS = ("differ", "unsure", "changed", "rubric")


def refresh_disputes(
    connection: Connection, project: str, note: int, features: Sequence[str]
) -> None:
    """Say which features of a note need a curator, once all who have the note are done.

    One does where the judgements differ, or somebody was unsure; one that was decided needs a
    second look where a judgement changed since. Training notes have no curator.
    """
    given = connection.execute(select(t.assignment).where(t.assignment.c.note == note)).all()
    if any(row.state != "done" or row.kind == "training" for row in given):
        return
    case = connection.scalar(select(t.note.c.case).where(t.note.c.number == note)) or ""
    order = {f.id: k for k, f in enumerate(rubric_of(connection, project, case)[1])}
    for feature in features:
        own = (t.dispute.c.note == note) & (t.dispute.c.feature == feature)
        old = connection.execute(select(t.dispute).where(own)).one_or_none()
        sides = _judgements(connection, note, feature)
        reason = "differ" if len({(side.answer, side.marks) for side in sides}) > 1 else ""
        if any(side.answer == "unsure" for side in sides):
            reason = "unsure"
        if old is not None:
            last = _decisions(connection, old.id)[:1]
            if last and last[0].inputs == _inputs(sides):
                state, reason = old.state, old.reason  # decided, or open because of the rubric
            elif last:
                state, reason = "open", "changed"
            else:
                state = "open" if reason else "gone"
            _count_move(connection, project, old.state, state)
            values = {"state": state, "reason": reason or old.reason}
            connection.execute(t.dispute.update().where(own).values(**values))
        elif reason:
            row = {"id": new_id(), "project": project, "note": note, "feature": feature}
            place = order.get(feature, 0)
            more = {"reason": reason, "state": "open", "place": place}
            connection.execute(t.dispute.insert().values(**row, **more))
            count(connection, project, {"disputes_open": 1})


def _count_move(connection: Connection, project: str, old: str, new: str) -> None:
    if old != new:
        changes = {f"disputes_{new}": 1, f"disputes_{old}": -1}
        count(connection, project, changes)


def _judgements(connection: Connection, note: int, feature: str) -> list[Row[Any]]:
    wanted = (t.judgement.c.note == note, t.judgement.c.feature == feature)
    found = select(t.judgement).where(*wanted, t.judgement.c.answer.is_not(None))
    return list(connection.execute(found.order_by(t.judgement.c.person)))


def _inputs(sides: Sequence[Row[Any]]) -> str:
    """Return the judgements as one value: their persons and versions."""
    return digest(*(f"{row.person} {row.version}" for row in sides))[:32]


def _decisions(connection: Connection, dispute: str) -> Sequence[Row[Any]]:
    found = (
        select(t.curation, t.person.c.name).join(t.person).where(t.curation.c.dispute == dispute)
    )
    return connection.execute(found.order_by(t.curation.c.version.desc())).all()


def _not_mine(me: Identity) -> Any:
    """Nobody curates notes that they annotate."""
    mine = select(t.assignment.c.note).where(t.assignment.c.person == me.person)
    return t.dispute.c.note.not_in(mine)


def list_disputes(
    connection: Connection,
    me: Identity,
    project: str,
    *,
    state: str,
    after: str,
    limit: int,
    case: str = "",
    feature: str = "",
    reason: str = "",
) -> answers.DisputesAnswer:
    """Return a page of disagreements, note by note; only of a case, feature or reason if given."""
    states = ("open", "decided") if state == "all" else (state,)
    wanted = ((t.note.c.case, case), (t.dispute.c.feature, feature), (t.dispute.c.reason, reason))
    found = (
        select(t.dispute, t.note.c.shown_id, t.note.c.case)
        .join(t.note)
        .where(t.dispute.c.project == project, t.dispute.c.state.in_(states), _not_mine(me))
        .where(*(column == value for column, value in wanted if value))
    )
    if after:
        place = select(t.dispute.c.note, t.dispute.c.place).where(t.dispute.c.id == after)
        place = place.where(t.dispute.c.project == project)
        last = one_row(connection, place, "There is no such place to go on from.")
        found = found.where(tuple_(t.dispute.c.note, t.dispute.c.place) > tuple(last))
    order = (t.dispute.c.note, t.dispute.c.place)
    rows = connection.execute(found.order_by(*order).limit(limit + 1)).all()
    texts = wordings(connection, project)
    items: list[answers.DisputeLine] = [
        {
            "id": r.id, "note": r.shown_id, "case": r.case, "feature": r.feature,
            "feature_text": texts.get((r.case, r.feature), r.feature),
            "reason": r.reason, "state": r.state,
        }
        for r in rows[:limit]
    ]  # fmt: skip
    more = items[-1]["id"] if len(rows) > limit else None

    # Who annotates as well is told nothing of own notes.
    own = (t.assignment.c.person == me.person) & (t.assignment.c.project == project)
    if connection.scalar(select(t.assignment.c.id).where(own).limit(1)) is None:
        counts = counts_of(connection, project, "disputes_open", "disputes_decided")
    else:
        found = select(t.dispute.c.state, func.count()).where(t.dispute.c.project == project)
        rows = connection.execute(found.where(_not_mine(me)).group_by(t.dispute.c.state)).all()
        counts = {f"disputes_{state}": int(n) for state, n in rows}
    return {
        "items": items, "next": more,
        "open": counts.get("disputes_open", 0), "decided": counts.get("disputes_decided", 0),
    }  # fmt: skip


def _former(
    connection: Connection, row: Row[Any], judged: Sequence[Row[Any]]
) -> answers.FeaturePart | None:
    """Return the words that somebody judged by, where they mean something else than those now."""
    changed = changed_since(connection, row.project, row.case)
    was = (changed.get((row.case, one.rubric), {}).get(row.feature) for one in judged)
    found = next(filter(None, was), None)
    return None if found is None else feature_part(found)


def _own_dispute(connection: Connection, me: Identity, dispute: str) -> Row[Any]:
    own = (
        select(t.dispute, t.note.c.shown_id, t.note.c.case, t.note.c.text, t.note.c.sha256)
        .join(t.note)
        .where(t.dispute.c.id == dispute, _not_mine(me))
    )
    return one_row(connection, own, "There is no such disagreement for you.")


def show_dispute(connection: Connection, me: Identity, dispute: str) -> answers.DisputeAnswer:
    """Return a disagreement: who judged is only a letter, given anew for each of them."""
    row = _own_dispute(connection, me, dispute)
    judged = _judgements(connection, row.note, row.feature)
    shuffled = sorted(judged, key=lambda side: digest(row.id, side.person))
    sides = {chr(ord("A") + k): side for k, side in enumerate(shuffled)}
    decided: list[answers.DecisionPart] = [
        {"choice": d.choice, "marks": parse_spans(d.marks), "comment": d.comment, "by": d.name,
         "at": iso(d.at), "version": d.version}
        for d in _decisions(connection, row.id)
    ]  # fmt: skip
    rubric = rubric_of(connection, row.project, row.case)[1]
    feature = next((f for f in rubric if f.id == row.feature), None)
    if feature is None:  # it left the rubric after it was judged
        ever = features_ever(connection, row.project, row.case)
        feature = ever.get(row.feature, Feature(row.feature, row.case, row.feature))
    marks = [parse_marks(side.marks) for side in sides.values()]
    offers = {"union": union_of(marks), "intersection": intersection_of(marks)}
    return {
        "id": row.id, "project": row.project, "state": row.state, "reason": row.reason,
        "version": len(decided), "inputs": _inputs(judged),
        "note": {"id": row.shown_id, "case": row.case, "text": row.text, "sha256": row.sha256},
        "feature": feature_part(feature),
        "former": _former(connection, row, judged),
        "sides": [
            {"letter": letter, "answer": side.answer, "marks": parse_spans(side.marks)}
            for letter, side in sides.items()
        ],
        "offers": {
            name: tuple(tuple((s.start, s.end) for s in mark) for mark in found)
            for name, found in offers.items()
        },
        "decision": decided[0] if decided else None, "history": decided[1:],
    }  # fmt: skip


def decide(
    connection: Connection,
    me: Identity,
    dispute: str,
    *,
    choice: str,
    marks: Sequence[Any],
    comment: str,
    version: int,
    inputs: str,
    sha256: str,
) -> answers.DisputeAnswer:
    """Add a decision; earlier ones stay. A refusal where something changed since it was seen."""
    row = _own_dispute(connection, me, dispute)
    need_open(project_row(connection, row.project).state)
    need_text(row, sha256)
    seen = show_dispute(connection, me, dispute)
    if (seen["version"], seen["inputs"]) != (version, inputs):
        message = "This was decided, or judged anew, since you opened it."
        raise ConflictError(message, seen)
    sides = {side["letter"]: side["marks"] for side in seen["sides"]}
    settled = {**sides, **seen["offers"], "none": (), "own": marks}
    if choice not in settled or (choice == "own") != bool(marks):
        message = f"choice is one of {', '.join(settled)}; marks come with own, and with own only."
        raise InvalidError(message)
    text = spans_text(checked_marks(settled[choice], len(row.text)))
    own = {"version": version + 1, "inputs": inputs, "choice": choice, "marks": text}
    own |= {"comment": comment, "dispute": row.id}
    entry = Entry("curate", me.person, own, None, row.note, row.feature)
    at = append(connection, row.project, entry)
    connection.execute(
        t.curation.insert().values(**own, project=row.project, person=me.person, at=at)
    )
    _count_move(connection, row.project, row.state, "decided")
    done = t.dispute.update().where(t.dispute.c.id == row.id)
    connection.execute(done.values(state="decided"))
    return show_dispute(connection, me, dispute)
