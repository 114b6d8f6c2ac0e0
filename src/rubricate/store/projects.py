"""Projects: their notes, rubrics and who annotates what."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, func, select

from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError
from rubricate.formats.encoding import rubric_from_json, rubric_to_json
from rubricate.rubric import Rubric
from rubricate.run import spans_text
from rubricate.run.evidence import Spans
from rubricate.store import tables as t
from rubricate.store.chain import Entry, append, count
from rubricate.store.database import missing, new_id, now
from rubricate.study.assignment import Task, read_key
from rubricate.study.population import read_population
from rubricate.study.record import Study


def make_project(connection: Connection, name: str, actor: str, *, study: str = "") -> str:
    """Make an empty project and return its id."""
    if not name.strip() or len(name) > 200:
        raise InputError("a project's name has 1 to 200 characters")
    own = new_id()
    connection.execute(
        t.project.insert().values(
            id=own, name=name, study=study, suggestions=False, made=now(), events=0, head=""
        )
    )
    append(connection, own, Entry("project", actor, {"name": name, "study": study}))
    return own


def project_row(connection: Connection, project: str) -> Row[Any]:
    """Return a project; a refusal where there is none."""
    row = connection.execute(select(t.project).where(t.project.c.id == project)).one_or_none()
    if row is None:
        raise missing("There is no such project.")
    return row


def change_project(connection: Connection, project: str, actor: str, **values: Any) -> None:
    """Change a project's name, state or whether suggestions are shown."""
    if values:
        connection.execute(t.project.update().where(t.project.c.id == project).values(**values))
        append(connection, project, Entry("settings", actor, values))


def add_rubrics(
    connection: Connection, project: str, rubrics: Iterable[Rubric], actor: str
) -> list[str]:
    """Keep rubrics; one that is there in other words becomes a new version.

    Returns the cases whose rubric changed under judgements: those must be looked at again.
    """
    changed, entries = [], []
    known = _feature_cases(connection, project)
    for rubric in rubrics:
        twice = [f.id for f in rubric if known.setdefault(f.id, rubric.case) != rubric.case]
        if twice:
            raise InputError([Fault(f"feature id {i!r} is in two rubrics") for i in twice])
        own = (t.rubric_version.c.project == project) & (t.rubric_version.c.case == rubric.case)
        newest = select(t.rubric_version).where(own).order_by(t.rubric_version.c.number.desc())
        old = connection.execute(newest.limit(1)).one_or_none()
        body = json.dumps(rubric_to_json(rubric), ensure_ascii=False, sort_keys=True)
        value = hashlib.sha256(body.encode()).hexdigest()
        if old is not None and old.hash == value:
            continue
        number = 1 if old is None else old.number + 1
        row = {"project": project, "case": rubric.case, "number": number, "hash": value}
        connection.execute(t.rubric_version.insert().values(**row, body=body, made=now()))
        entries.append(Entry("rubric", actor, {k: row[k] for k in ("case", "number", "hash")}))
        if old is not None:
            changed.append(rubric.case)
    if entries:
        append(connection, project, *entries)
    return changed


def _feature_cases(connection: Connection, project: str) -> dict[str, str]:
    return {f.id: case for case, (_, one) in rubrics_of(connection, project).items() for f in one}


@lru_cache(4096)
def read_rubric(body: str) -> Rubric:
    """Return a rubric as it is kept."""
    return rubric_from_json(json.loads(body))


def rubric_of(connection: Connection, project: str, case: str) -> tuple[int, Rubric]:
    """Return the newest rubric of a case and its number."""
    own = (t.rubric_version.c.project == project) & (t.rubric_version.c.case == case)
    newest = select(t.rubric_version).where(own).order_by(t.rubric_version.c.number.desc())
    row = connection.execute(newest.limit(1)).one_or_none()
    return (0, Rubric(case, ())) if row is None else (row.number, read_rubric(row.body))


def rubrics_of(connection: Connection, project: str) -> dict[str, tuple[int, Rubric]]:
    """Return the newest rubric of every case."""
    rows = select(t.rubric_version).where(t.rubric_version.c.project == project)
    ordered = connection.execute(rows.order_by(t.rubric_version.c.number))
    return {row.case: (row.number, read_rubric(row.body)) for row in ordered}


def add_notes(
    connection: Connection,
    project: str,
    notes: Sequence[Note],
    actor: str,
    *,
    shown: Mapping[str, str] | None = None,
) -> None:
    """Add notes; annotators see them under the ids of ``shown``, their own where there is none."""
    there = set(connection.scalars(select(t.note.c.id).where(t.note.c.project == project)))
    faults = [Fault(f"note {n.id!r} is there already") for n in notes if n.id in there]
    faults += [Fault(f"note {one!r} comes twice") for one, k in
               Counter(n.id for n in notes).items() if k > 1]  # fmt: skip
    cases = rubrics_of(connection, project).keys()
    faults += [Fault(f"there is no rubric for case {case!r}") for case in
               sorted({n.case for n in notes} - cases)]  # fmt: skip
    if faults:
        raise InputError(faults)
    rows = [
        {
            "project": project, "id": n.id, "shown_id": (shown or {}).get(n.id, n.id),
            "case": n.case, "text": n.text, "metadata": json.dumps(dict(n.metadata)),
            "sha256": hashlib.sha256(n.text.encode()).hexdigest(),
        }
        for n in notes
    ]  # fmt: skip
    if not rows:
        return
    connection.execute(t.note.insert(), rows)
    number = note_numbers(connection, project)
    names = ("id", "shown_id", "case", "sha256")
    append(
        connection,
        project,
        *(Entry("note", actor, {k: r[k] for k in names}, note=number[r["id"]]) for r in rows),
    )
    count(connection, project, {"notes": len(rows)})


def note_numbers(connection: Connection, project: str) -> dict[str, int]:
    """Return the numbers of a project's notes by id."""
    found = select(t.note.c.id, t.note.c.number).where(t.note.c.project == project)
    return {row.id: row.number for row in connection.execute(found)}


def assign(
    connection: Connection,
    project: str,
    tasks: Iterable[Task],
    people: Mapping[str, str],
    actor: str,
) -> int:
    """Give notes to people (``people``: a task's annotator → person) and return how many."""
    number = note_numbers(connection, project)
    own = select(t.assignment.c.note, t.assignment.c.person, t.assignment.c.position)
    given = connection.execute(own.where(t.assignment.c.project == project)).all()
    there = {(row.note, row.person) for row in given}
    position = Counter({p: max([0, *(r.position for r in given if r.person == p)])
                        for p in people.values()})  # fmt: skip
    rows: list[dict[str, Any]] = []
    for task in tasks:
        person, note = people[task.annotator], number[task.note]
        if (note, person) not in there:
            position[person] += 1
            rows.append({"id": new_id(), "project": project, "note": note, "person": person,
                         "batch": task.batch, "kind": task.kind, "state": "open",
                         "position": position[person]})  # fmt: skip
    if rows:
        connection.execute(t.assignment.insert(), rows)
        names = ("person", "batch", "kind", "position")
        append(
            connection,
            project,
            *(
                Entry("assign", actor, {k: r[k] for k in names}, assignment=r["id"], note=r["note"])
                for r in rows
            ),
        )
        totals = Counter(f"total:{row['person']}" for row in rows)
        count(connection, project, {"total": len(rows), **totals})
    return len(rows)


def annotators_of(connection: Connection, project: str) -> dict[str, str]:
    """Return the annotators of a project: name → person."""
    rows = select(t.person.c.name, t.person.c.id).join(t.membership)
    own = (t.membership.c.project == project) & (t.membership.c.role == "annotator")
    return {row.name: row.id for row in connection.execute(rows.where(own))}


def assign_all(
    connection: Connection,
    project: str,
    names: Sequence[str],
    actor: str,
    *,
    double_share: float,
    per_note: int,
    seed: int,
) -> int:
    """Share the notes that nobody has yet: a share of them goes to ``per_note`` annotators each."""
    people = annotators_of(connection, project)
    unknown = [Fault(f"{name!r} is no annotator of this project") for name in names
               if name not in people]  # fmt: skip
    if unknown or not names or not 0 <= double_share <= 1 or per_note < 2:
        raise InputError(unknown or "name annotators, a double_share from 0 to 1, per_note over 1")
    taken = select(t.assignment.c.note).where(t.assignment.c.project == project)
    free = select(t.note.c.id).where(t.note.c.project == project)
    rows = connection.execute(free.where(t.note.c.number.not_in(taken)).order_by(t.note.c.number))
    rng = np.random.default_rng(seed)
    notes = [row.id for row in rows]
    order = [notes[i] for i in rng.permutation(len(notes)).tolist()]
    n_double = round(len(order) * double_share) if len(names) > 1 else 0
    tasks, turn = [], 0
    for k, note in enumerate(order):
        kind, n = ("double", min(per_note, len(names))) if k < n_double else ("single", 1)
        chosen = [names[(turn + i) % len(names)] for i in range(n)]
        tasks += [Task(who, note, note, "batch", kind) for who in chosen]
        turn += n
    # Nobody's order tells which notes others have, too.
    mixed = [tasks[i] for i in rng.permutation(len(tasks)).tolist()]
    return assign(connection, project, mixed, people, actor)


def add_corpus(
    connection: Connection, project: str, corpus: Corpus, actor: str, *, rename: bool = False
) -> None:
    """Add the rubrics and notes of a corpus; with ``rename`` annotators see other ids."""
    cases = {note.case for note in corpus.notes}
    add_rubrics(connection, project, [r for r in corpus.rubrics if r.case in cases], actor)
    shown = {n.id: f"N{k + 1:04}" for k, n in enumerate(corpus.notes)} if rename else None
    add_notes(connection, project, corpus.notes, actor, shown=shown)


def study_corpus(folder: Path) -> tuple[Corpus, tuple[Task, ...]]:
    """Return the notes of a study that were handed out, and who has what."""
    study = Study.open(str(folder))
    study.need("assign")
    tasks = read_key(study.output("assign", "key.csv"))
    population, _ = read_population(study)
    wanted = dict.fromkeys(task.note for task in tasks)
    notes = tuple(population.note(one) for one in wanted)
    return replace(population.select(notes=set(wanted)), notes=notes), tasks


def keep_suggestions(connection: Connection, project: str, found: Corpus) -> int:
    """Keep what a matcher found, to be shown where the project allows it."""
    number, rows = note_numbers(connection, project), []
    for i in range(len(found.rows)):
        note = found.notes[int(found.rows.note[i])].id
        annotations = found.row_annotations(i)
        if not annotations:
            continue
        spans: Spans = tuple(tuple((s.start, s.end) for s in a.spans) for a in annotations)
        known = found.rows.probability
        probability = float("nan") if known is None else float(known[i])
        rows.append({
            "note": number[note], "feature": found.features[int(found.rows.feature[i])].id,
            "marks": spans_text(tuple(sorted(set(spans)))), "reason": annotations[0].detail.reason,
            "probability": None if np.isnan(probability) else probability,
        })  # fmt: skip
    own = select(t.note.c.number).where(t.note.c.project == project)
    connection.execute(t.suggestion.delete().where(t.suggestion.c.note.in_(own)))
    if rows:
        connection.execute(t.suggestion.insert(), rows)
    return len(rows)


def project_notes(connection: Connection, project: str) -> tuple[Note, ...]:
    """Return all notes of a project."""
    rows = connection.execute(
        select(t.note).where(t.note.c.project == project).order_by(t.note.c.number)
    )
    return tuple(Note(row.id, row.case, row.text) for row in rows)


def people_of(connection: Connection, project: str) -> list[dict[str, Any]]:
    """Return who is in a project, and as what."""
    rows = connection.execute(
        select(t.person.c.name, t.membership.c.role, t.person.c.password.is_not(None).label("came"))
        .join(t.membership)
        .where(t.membership.c.project == project)
        .order_by(func.lower(t.person.c.name), t.membership.c.role)
    )
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        own = found.setdefault(row.name, {"name": row.name, "roles": [], "came": row.came})
        own["roles"].append(row.role)
    return list(found.values())
