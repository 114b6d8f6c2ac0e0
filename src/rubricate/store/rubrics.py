"""Rubrics in all their versions, and which judgements a new version asks to look at again."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select

from rubricate.display import counted
from rubricate.errors import Fault, InputError, listed
from rubricate.formats.encoding import Json, rubric_from_json, rubric_to_json
from rubricate.rubric import Feature, Rubric
from rubricate.store import tables as t
from rubricate.store.answers import FeaturePart, RubricVersions
from rubricate.store.chain import Entry, append, count, digest
from rubricate.store.database import iso, now
from rubricate.store.refusals import LeavingError

#: Case and version → features that mean something else now, as they were then.
Changed = dict[tuple[str, int], dict[str, Feature]]


def add_rubrics(
    connection: Connection,
    project: str,
    rubrics: Iterable[Rubric],
    actor: str,
    *,
    same_meaning: bool = False,
    may_leave: bool = False,
) -> list[str]:
    """Keep rubrics; one that is there in other words becomes a new version.

    Returns the cases that have a new version. Judgements of features whose words changed are to be
    looked at again: annotators are told, and what was decided is open once more. Not so where all
    have the ``same_meaning`` in better words, for which the actor answers in the record. Features
    that a new version lacks leave only where it is said that they ``may_leave``.
    """
    changed, entries = [], []
    rubrics = list(rubrics)
    if not may_leave:
        _need_features(connection, project, rubrics)
    known = {f.id: case for case, (_, one) in rubrics_of(connection, project).items() for f in one}
    for rubric in rubrics:
        twice = [f.id for f in rubric if known.setdefault(f.id, rubric.case) != rubric.case]
        if twice:
            raise InputError([Fault(f"feature id {i!r} is in two rubrics") for i in twice])
        if any(f.id in (".", "..") for f in rubric):
            raise InputError("no browser asks for a feature with the id '.' or '..': rename it")
        old = next(reversed(_versions(connection, project, rubric.case)), None)
        body = json.dumps(rubric_to_json(rubric), ensure_ascii=False, sort_keys=True)
        value = digest(body)
        if old is not None and old.hash == value:
            continue
        number = 1 if old is None else old.number + 1
        ever = features_ever(connection, project, rubric.case)
        row = {"project": project, "case": rubric.case, "number": number, "hash": value}
        if same_meaning and old is not None:
            _carry_over(connection, project, rubric.case, number)
        connection.execute(t.rubric_version.insert().values(**row, body=body, made=now()))
        data = {**{k: row[k] for k in ("case", "number", "hash")}, "same_meaning": same_meaning}
        entries.append(Entry("rubric", actor, data))
        if old is not None:
            changed.append(rubric.case)
            if not same_meaning:
                _decide_again(connection, project, rubric.case, _other_words(ever, rubric))
    if entries:
        append(connection, project, *entries)
    return changed


def _need_features(connection: Connection, project: str, rubrics: Iterable[Rubric]) -> None:
    """Refuse rubrics that lack features of the newest versions: a rename looks the same."""
    newest = {case: one for case, (_, one) in rubrics_of(connection, project).items()}
    given = {(rubric.case, feature.id) for rubric in rubrics for feature in rubric}
    left = [feature.id for rubric in rubrics for feature in newest.get(rubric.case, ())
            if (rubric.case, feature.id) not in given]  # fmt: skip
    if left:
        raise LeavingError(
            f"{counted(len(left), 'feature')} of the newest version would leave the project, with "
            f"all judgements: {listed(map(repr, left), 5)}. Say which feature each one became "
            "(pairs), or that they may leave (may_leave).", {"gone": left},
        )  # fmt: skip


def _notes(project: str, case: str) -> Select[tuple[int]]:
    return select(t.note.c.number).where(t.note.c.project == project, t.note.c.case == case)


def _carry_over(connection: Connection, project: str, case: str, number: int) -> None:
    """Let what holds for the newest version hold for the next one, which has this number."""
    changed = changed_since(connection, project, case)
    for version in range(1, number):
        outdated = list(changed.get((case, version), ()))
        own = (t.judgement.c.rubric == version) & t.judgement.c.note.in_(_notes(project, case))
        holds = own & t.judgement.c.feature.not_in(outdated)
        connection.execute(t.judgement.update().where(holds).values(rubric=number))


def _decide_again(connection: Connection, project: str, case: str, features: Iterable[str]) -> None:
    """Open what curators decided of these features."""
    own = t.dispute.c.feature.in_(list(features)) & t.dispute.c.note.in_(_notes(project, case))
    decided = own & (t.dispute.c.state == "decided")
    values = {"state": "open", "reason": "rubric"}
    n = connection.execute(t.dispute.update().where(decided).values(**values)).rowcount
    count(connection, project, {"disputes_open": n, "disputes_decided": -n})


def meaning(feature: Feature) -> list[str]:
    """Return the words of a feature; commas, capitals and weights change no judgement."""
    return re.findall(r"\w+", f"{feature.text} {feature.note} {feature.kind}".casefold())


def _other_words(before: Mapping[str, Feature], new: Rubric) -> dict[str, Feature]:
    """Return the features of both that mean something else, as they were before."""
    return {f.id: before[f.id] for f in new
            if f.id in before and meaning(before[f.id]) != meaning(f)}  # fmt: skip


def features_ever(connection: Connection, project: str, case: str) -> dict[str, Feature]:
    """Return all features that a case has or had by id, each as its last version words it."""
    versions = _versions(connection, project, case)
    return {f.id: f for row in versions for f in read_rubric(row.body)}


def wordings(connection: Connection, project: str) -> dict[tuple[str, str], str]:
    """Return the last words of every feature that a project has or had, by case and feature."""
    return {
        (row.case, f.id): f.text
        for row in _versions(connection, project)
        for f in read_rubric(row.body)
    }


@lru_cache(4096)
def read_rubric(body: str) -> Rubric:
    """Return a rubric as it is kept."""
    return rubric_from_json(json.loads(body))


def _versions(connection: Connection, project: str, case: str | None = None) -> list[Row[Any]]:
    own = select(t.rubric_version).where(t.rubric_version.c.project == project)
    if case is not None:
        own = own.where(t.rubric_version.c.case == case)
    return list(connection.execute(own.order_by(t.rubric_version.c.number)))


def rubric_of(connection: Connection, project: str, case: str) -> tuple[int, Rubric]:
    """Return the newest rubric of a case and its number."""
    own = (t.rubric_version.c.project == project) & (t.rubric_version.c.case == case)
    newest = select(t.rubric_version).where(own).order_by(t.rubric_version.c.number.desc())
    row = connection.execute(newest.limit(1)).one_or_none()
    return (0, Rubric(case, ())) if row is None else (row.number, read_rubric(row.body))


def rubrics_of(connection: Connection, project: str) -> dict[str, tuple[int, Rubric]]:
    """Return the newest rubric of every case."""
    return {r.case: (r.number, read_rubric(r.body)) for r in _versions(connection, project)}


def changed_since(connection: Connection, project: str, case: str | None = None) -> Changed:
    """Return the differences of each earlier version of a case, or of all, from the newest."""
    of_project = t.rubric_version.c.project == project
    later = select(t.rubric_version.c.number).where(of_project, t.rubric_version.c.number > 1)
    if connection.scalar(later.limit(1)) is None:
        return {}
    rows = _versions(connection, project, case)
    newest = {row.case: row for row in rows}
    return {
        (row.case, row.number): _other_words(
            {f.id: f for f in read_rubric(row.body)}, read_rubric(newest[row.case].body))
        for row in rows if row.number < newest[row.case].number
    }  # fmt: skip


def again(
    connection: Connection, project: str, person: str | None = None
) -> dict[tuple[str, int], list[str]]:
    """Return, by person and note, the features to look at again: new ones and changed ones.

    Only finished notes are asked about new features: in others nobody can miss them.
    """
    changed = changed_since(connection, project)
    cases = {case for case, _ in changed}
    if not cases:
        return {}
    mine = () if person is None else (t.assignment.c.person == person,)
    given = connection.execute(
        select(t.assignment.c.person, t.assignment.c.note, t.assignment.c.state, t.note.c.case)
        .join(t.note, t.assignment.c.note == t.note.c.number)
        .where(t.assignment.c.project == project, t.note.c.case.in_(cases), *mine)
    ).all()
    whose = () if person is None else (t.judgement.c.person == person,)
    judged: dict[tuple[str, int], dict[str, int]] = {}
    own = select(t.judgement).join(t.note, t.judgement.c.note == t.note.c.number)
    own = own.where(t.judgement.c.project == project, t.note.c.case.in_(cases), *whose)
    for row in connection.execute(own.where(t.judgement.c.answer.is_not(None))):
        judged.setdefault((row.person, row.note), {})[row.feature] = row.rubric
    newest = rubrics_of(connection, project)
    found = {}
    for row in given:
        versions = judged.get((row.person, row.note), {})
        found[row.person, row.note] = [
            f.id for f in newest[row.case][1]
            if (f.id in changed.get((row.case, versions[f.id]), ()) if f.id in versions
                else row.state == "done")
        ]  # fmt: skip
    return {key: features for key, features in found.items() if features}


def feature_part(feature: Feature) -> FeaturePart:
    """Return a feature as annotators and curators see it."""
    return {"id": feature.id, "text": feature.text, "note": feature.note, "kind": feature.kind,
            "group": feature.group}  # fmt: skip


def list_rubrics(connection: Connection, project: str) -> list[RubricVersions]:
    """Return every case's newest rubric, and what became of its features with each version."""
    listed: dict[str, RubricVersions] = {}
    before: dict[str, Rubric] = {}
    for row in _versions(connection, project):
        rubric = read_rubric(row.body)
        old = before.get(row.case, rubric)
        ids, were = {f.id for f in rubric}, {f.id: f for f in old}
        history = listed[row.case]["history"] if row.case in listed else []
        listed[row.case] = {
            "case": row.case, "title": rubric.title, "version": row.number,
            "features": [{**feature_part(f), "weight": f.weight} for f in rubric],
            "history": [*history, {
                "version": row.number, "at": iso(row.made),
                "changed": {one: f.text for one, f in _other_words(were, rubric).items()},
                "new": sorted(ids - were.keys()), "gone": sorted(were.keys() - ids),
            }],
        }  # fmt: skip
        before[row.case] = rubric
    return list(listed.values())


def whose_again(connection: Connection, project: str) -> list[Json]:
    """Return the number of judgements each annotator has to look at again, by feature."""
    names = dict(connection.execute(select(t.person.c.id, t.person.c.name)).tuples().all())
    texts = {f.id: f.text for _, one in rubrics_of(connection, project).values() for f in one}
    waiting = again(connection, project).items()
    counted = Counter((names[who], feature) for (who, _), own in waiting for feature in own)
    return [
        {"annotator": name, "feature": feature, "text": texts[feature], "judgements": n}
        for (name, feature), n in sorted(counted.items())
    ]


def left_out(connection: Connection, project: str) -> list[Json]:
    """Return judged features that no newest version has, with how many judgements they have."""
    now_there = {f.id for _, one in rubrics_of(connection, project).values() for f in one}
    judged = select(t.judgement.c.feature, t.note.c.case, func.count().label("n")).join(
        t.note, t.judgement.c.note == t.note.c.number)  # fmt: skip
    own = judged.where(t.judgement.c.project == project, t.judgement.c.answer.is_not(None))
    rows = connection.execute(own.group_by(t.judgement.c.feature, t.note.c.case)).all()
    texts = wordings(connection, project)
    return [
        {"case": row.case, "feature": row.feature, "judgements": row.n,
         "text": texts[row.case, row.feature]}
        for row in sorted(rows, key=lambda row: (row.case, row.feature))
        if row.feature not in now_there
    ]  # fmt: skip
