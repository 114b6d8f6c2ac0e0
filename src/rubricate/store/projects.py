"""Projects: their notes, rubrics and who annotates what."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count as count_from
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sqlalchemy import Connection, Row, select

from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError, listed
from rubricate.errors import shown as shown_name
from rubricate.formats.encoding import Json, metadata_from_json
from rubricate.formats.format import numbered_places, same_ids
from rubricate.formats.reading import read_text
from rubricate.run import spans_text
from rubricate.spans import Spans
from rubricate.store import tables as t
from rubricate.store.answers import MemberPart
from rubricate.store.chain import Entry, append, count, counts_of, data_of, digest
from rubricate.store.database import iso, new_id, now, one_row
from rubricate.store.rubrics import add_rubrics, rubrics_of
from rubricate.study.assignment import Task, read_key
from rubricate.study.population import read_population, site_of
from rubricate.study.record import Study
from rubricate.study.settings import AnnotatorSettings


def make_project(connection: Connection, name: str, actor: str, *, study: str = "") -> str:
    """Make an empty project and return its id."""
    _check_name(name)
    own = new_id()
    connection.execute(
        t.project.insert().values(
            id=own, name=name, study=study, suggestions=False, made=now(), events=0, head=""
        )
    )
    append(connection, own, Entry("project", actor, {"name": name, "study": study}))
    return own


def _check_name(name: str) -> None:
    if not name.strip() or len(name) > 200 or not name.isprintable():
        raise InputError("a project's name has 1 to 200 characters that can be printed")


def project_row(connection: Connection, project: str) -> Row[Any]:
    """Return a project; a refusal where there is none."""
    own = select(t.project).where(t.project.c.id == project)
    return one_row(connection, own, "There is no such project.")


def change_project(connection: Connection, /, project: str, actor: str, **values: Any) -> None:
    """Change a project's name, state or whether suggestions are shown."""
    if "name" in values:
        _check_name(values["name"])
    if values:
        connection.execute(t.project.update().where(t.project.c.id == project).values(**values))
        append(connection, project, Entry("settings", actor, values))


def add_notes(
    connection: Connection,
    project: str,
    notes: Sequence[Note],
    actor: str,
    *,
    shown: Mapping[str, str] | None = None,
) -> None:
    """Add notes; annotators see them under the ids of ``shown``, their own where there is none."""
    called = dict(shown or {})
    known = select(t.note.c.id, t.note.c.shown_id).where(t.note.c.project == project)
    there = {row.id: row.shown_id for row in connection.execute(known)}
    seen = set(there.values())
    ids = [note.id for note in notes]
    faults = same_ids(zip(ids, numbered_places(), strict=False))
    own = dict.fromkeys(ids)
    faults += [Fault(f"note {one!r} is there already") for one in own if one in there]
    faults += [Fault(f"annotators know another note as {called.get(one, one)!r}: hide the ids")
               for one in own if one not in there and called.get(one, one) in seen]  # fmt: skip
    faults += [Fault(f"note {shown_name(n.id)} has the character NUL at offset {at}: remove it")
               for n in notes if (at := n.text.find("\0")) >= 0]  # fmt: skip
    cases = rubrics_of(connection, project).keys()
    there_are = ", ".join(map(repr, sorted(cases)))
    without = sorted({n.case for n in notes} - cases)
    if without and not cases:
        faults.append(Fault("the notes come without a rubric: give its file with them"))
    else:
        faults += [
            Fault(
                f"there is no rubric for case {case!r}; there are: {there_are}"
                if case
                else f"there are notes without a case; it is one of {there_are}: say which"
            )
            for case in without
        ]
    InputError.raise_any(faults)
    rows = [
        {
            "project": project, "id": n.id, "shown_id": called.get(n.id, n.id),
            "case": n.case, "text": n.text, "metadata": json.dumps(dict(n.metadata)),
            "sha256": digest(n.text),
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
    rows: list[Json] = []
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
    annotators: Sequence[AnnotatorSettings],
    actor: str,
    *,
    double_share: float,
    per_note: int,
    seed: int,
    site: str = "",
) -> int:
    """Share the notes that nobody has yet: a share of them goes to ``per_note`` annotators each.

    One of these is a senior where there are any. With ``site``, what the notes' metadata calls
    their site, notes go to the annotators of that site only. Everybody gets about as many.
    """
    people = annotators_of(connection, project)
    faults = [Fault(f"{one.id!r} is no annotator of this project") for one in annotators
              if one.id not in people]  # fmt: skip
    if not annotators:
        raise InputError("nobody annotates yet: give somebody the role of an annotator first")
    if not 0 <= double_share <= 1:
        faults.append(Fault("the share that several annotate (double_share) lies from 0 to 1"))
    if per_note < 2:
        faults.append(Fault("annotators of a note that several annotate (per_note): 2 or more"))
    taken = select(t.assignment.c.note).where(t.assignment.c.project == project)
    free = select(t.note).where(t.note.c.project == project, t.note.c.number.not_in(taken))
    notes = [_with_metadata(row) for row in connection.execute(free.order_by(t.note.c.number))]
    near = {place: [a for a in annotators if not site or a.site == place]
            for place in sorted({site_of(note, site) for note in notes})}  # fmt: skip
    faults += [Fault(f"nobody is at site {place!r}") for place, who in near.items() if not who]
    InputError.raise_any(faults)
    rng = np.random.default_rng(seed)
    order = [notes[i] for i in rng.permutation(len(notes)).tolist()]
    n_double = round(len(order) * double_share)
    tasks, load = [], Counter[str]()
    for k, note in enumerate(order):
        team = _team(near[site_of(note, site)], per_note if k < n_double else 1, load)
        kind = "double" if len(team) > 1 else "single"
        tasks += [Task(who, note.id, note.id, "batch", kind) for who in team]
        load.update(team)
    # Nobody's order tells which notes others have, too.
    mixed = [tasks[i] for i in rng.permutation(len(tasks)).tolist()]
    return assign(connection, project, mixed, people, actor)


def _team(annotators: Sequence[AnnotatorSettings], size: int, load: Counter[str]) -> list[str]:
    """Return the people who get a note, the least busy first; one is a senior if possible.

    >>> people = [AnnotatorSettings("ann"), AnnotatorSettings("bob"),
    ...           AnnotatorSettings("di", senior=True)]
    >>> _team(people, 2, Counter(di=9, ann=1)), _team(people, 1, Counter(di=9, ann=1))
    (['di', 'bob'], ['bob'])
    """
    free = sorted(annotators, key=lambda one: load[one.id])
    if size > 1:
        first = next((one for one in free if one.senior), free[0])
        others = sorted((one for one in free if one is not first), key=lambda one: one.senior)
        free = [first, *others]
    return [one.id for one in free[:size]]


def metadata_names(connection: Connection, project: str) -> list[str]:
    """Return the names of the notes' metadata, from the first note."""
    first = select(t.note.c.metadata).where(t.note.c.project == project)
    return sorted(json.loads(connection.scalar(first.order_by(t.note.c.number).limit(1)) or "{}"))


def study_guidelines(folder: Path) -> str:
    """Return the guidelines of a study, as its annotators get them; empty where there are none."""
    study = Study.open(str(folder))
    path = study.path(study.settings.guidelines)
    inside = path.resolve().is_relative_to(folder.resolve())
    return read_text(path) if inside and path.is_file() else ""


def study_annotators(folder: Path) -> tuple[dict[str, AnnotatorSettings], str]:
    """Return a study's annotators by name, and where notes name their site if that matters."""
    settings = Study.open(str(folder)).settings
    site = settings.population.site if settings.annotation.by == "site" else ""
    return {one.id: one for one in settings.annotation.annotators}, site


def add_corpus(
    connection: Connection, project: str, corpus: Corpus, actor: str, *, rename: bool = False
) -> None:
    """Add the notes of a corpus, and its rubrics of cases that the project does not have yet.

    Other words for a rubric that is there are a new version, which people look at before: see
    `rubricate.store.comparing`. With ``rename`` annotators see other ids.
    """
    known = rubrics_of(connection, project).keys()
    new = {note.case for note in corpus.notes} - known
    fitting = [rubric for rubric in corpus.rubrics if rubric.case in new]
    if new and corpus.rubrics and not (fitting or known):
        cases = listed(map(repr, sorted(new)))
        called = listed(repr(rubric.case) for rubric in corpus.rubrics)
        raise InputError(
            f"the notes are of case {cases}, the rubric is of case {called}: call them the same, "
            "e.g. by the name of the sheet or in a column “case”"
        )
    add_rubrics(connection, project, fitting, actor)
    shown = None
    if rename:
        there = counts_of(connection, project, "notes").get("notes", 0) + 1
        taken = set(
            connection.scalars(select(t.note.c.shown_id).where(t.note.c.project == project))
        )
        free = (name for k in count_from(there) if (name := f"N{k:04}") not in taken)
        shown = {n.id: next(free) for n in corpus.notes}
    add_notes(connection, project, corpus.notes, actor, shown=shown)


def keep_upload(connection: Connection, project: str, said: Sequence[str], actor: str) -> None:
    """Keep in the record how an upload was understood."""
    append(connection, project, Entry("upload", actor, {"said": list(said)}))


def last_upload(connection: Connection, project: str) -> tuple[str, list[str]] | None:
    """Return when the last upload was, and how it was understood; None where there was none."""
    own = select(t.event).where(t.event.c.project == project, t.event.c.kind == "upload")
    row = connection.execute(own.order_by(t.event.c.number.desc()).limit(1)).one_or_none()
    return None if row is None else (iso(row.at), data_of(row)["said"])


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
    own = select(t.note).where(t.note.c.project == project).order_by(t.note.c.number)
    return tuple(_with_metadata(row) for row in connection.execute(own))


def _with_metadata(row: Row[Any]) -> Note:
    return Note(row.id, row.case, row.text, metadata_from_json(json.loads(row.metadata)))


def people_of(connection: Connection, project: str) -> list[MemberPart]:
    """Return the members of a project and the invited people, with their roles."""
    came = t.person.c.password.is_not(None) | t.vouched.c.subject.is_not(None)
    rows = connection.execute(
        select(t.person.c.name, t.membership.c.role, came.label("came"))
        .join(t.membership)
        .outerjoin(t.vouched, t.vouched.c.person == t.person.c.id)
        .where(t.membership.c.project == project)
        .order_by(t.membership.c.role)
    )
    found: dict[str, MemberPart] = {}
    for row in rows:
        state: Literal["member", "invited"] = "member" if row.came else "invited"
        own = found.setdefault(row.name, {"name": row.name, "roles": [], "state": state})
        own["roles"].append(row.role)
    asked = select(t.person.c.name, t.asked.c.roles).join(
        t.asked, t.asked.c.person == t.person.c.id
    )
    for row in connection.execute(asked.where(t.asked.c.project == project)):
        found[row.name] = {"name": row.name, "roles": row.roles.split(), "state": "asked"}
    return sorted(found.values(), key=lambda one: one["name"].lower())
