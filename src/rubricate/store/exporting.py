"""Views of managers (progress, agreement, the record) and exports: annotations and corpora."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, Row, func, select

from rubricate.arrays import I64
from rubricate.builder import CorpusBuilder
from rubricate.corpus import Annotator, Corpus, Note
from rubricate.errors import InputError
from rubricate.evaluation import CountTable
from rubricate.evaluation.agreement import pair_evaluation
from rubricate.evaluation.counts import CHARACTERS, PRESENCE, RowKeys
from rubricate.evaluation.estimates import estimate_rows
from rubricate.files import whole_output
from rubricate.formats import FORMATS, write_corpus
from rubricate.formats.encoding import Json, metadata_from_json
from rubricate.formats.format import refuse_judged
from rubricate.formats.tables import csv_rows, unguarded, write_table
from rubricate.outputs import Kind, foreign_files
from rubricate.run import parse_spans
from rubricate.stats import Estimate, Resampling, proportion_interval
from rubricate.store import answers
from rubricate.store import tables as t
from rubricate.store.chain import counts_of, data_of
from rubricate.store.database import Database, iso, now
from rubricate.store.projects import project_row
from rubricate.store.reviewing import list_runs, write_corrections
from rubricate.store.rubrics import rubrics_of
from rubricate.study.assignment import batch_path
from rubricate.study.collection import RETURNED
from rubricate.study.curation import list_rows, settle_by_choice
from rubricate.study.decisions import DECIDED, DECISIONS, parse_marks
from rubricate.study.record import Study


def _corpus(
    connection: Connection, project: str, wanted: ColumnElement[bool], note_id: str = "id"
) -> Corpus:
    """Return the notes of done assignments with what was judged present or absent."""
    rows = connection.execute(
        select(t.assignment, t.person.c.name, t.note.c.id.label("note_id"), t.note.c.shown_id,
               t.note.c.case, t.note.c.text, t.note.c.metadata)
        .join(t.person, t.assignment.c.person == t.person.c.id)
        .join(t.note, t.assignment.c.note == t.note.c.number)
        .where(t.assignment.c.project == project, t.assignment.c.state == "done", wanted)
        .order_by(t.note.c.number)
    )  # fmt: skip
    builder = CorpusBuilder()
    given = {(row.note, row.person): row for row in rows}
    cases = {row.case for row in given.values()}
    for case, (_, rubric) in rubrics_of(connection, project).items():
        if case in cases:
            builder.add_rubric(rubric)
    names: dict[int, str] = {}
    for row in given.values():
        if row.note not in names:
            names[row.note] = row.note_id if note_id == "id" else row.shown_id
            kept = metadata_from_json(json.loads(row.metadata) if note_id == "id" else {})
            builder.add_note(Note(names[row.note], row.case, row.text, kept))
    for name in sorted({row.name for row in given.values()}):
        builder.add_annotator(Annotator(name))
    judged = select(t.judgement).where(
        t.judgement.c.project == project, t.judgement.c.answer.in_(("present", "absent"))
    )
    for one in connection.execute(judged):
        if (one.note, one.person) in given and builder.has_feature(one.feature):
            key = given[one.note, one.person].name, names[one.note], one.feature
            builder.judge(*key)
            for mark in parse_spans(one.marks):
                builder.annotate(*key, mark)
    return builder.build()


def project_corpus(connection: Connection, project: str) -> Corpus:
    """Return everybody's finished work, training left out; `unsure` is no row."""
    return _corpus(connection, project, t.assignment.c.kind != "training")


def decisions_of(connection: Connection, project: str) -> dict[tuple[str, str], Row[Any]]:
    """Return the newest decision on each disagreement, by note and feature."""
    rows = connection.execute(
        select(t.curation, t.person.c.name, t.note.c.id.label("note"), t.dispute.c.feature,
               t.dispute.c.state)
        .join(t.person, t.curation.c.person == t.person.c.id)
        .join(t.dispute, t.curation.c.dispute == t.dispute.c.id)
        .join(t.note, t.dispute.c.note == t.note.c.number)
        .where(t.curation.c.project == project)
        .order_by(t.curation.c.version)
    )  # fmt: skip
    return {(row.note, row.feature): row for row in rows}


def decision_lines(connection: Connection, project: str, corpus: Corpus) -> list[list[str]]:
    """Return the newest decision on each disagreement, as ``decisions.csv`` has them.

    A choice is written by its name where it still means the marks that were chosen; as ``spans``
    where annotators changed theirs since. The spans that were chosen stand beside either.
    """
    several, single = list_rows(corpus)
    judged = {(row.note, row.feature): row for row in [*several, *single]}
    lines = []
    for key, row in sorted(decisions_of(connection, project).items()):
        marks, choice = parse_marks(row.marks), "none"
        if marks:
            both = row.choice in ("union", "intersection") and key in judged
            same = both and set(settle_by_choice(judged[key], row.choice)) == set(marks)
            choice = row.choice if same else "spans"
        lines.append([*key, choice, row.marks, row.name, iso(row.at), row.comment])
    return lines


def export_study(
    connection: Connection, project: str, folder: Path, *, overwrite: bool
) -> dict[str, object]:
    """Write returned annotations and decisions into a study's folder.

    `study collect` and `study curate` read them as they read what came back from any other tool.
    """
    study = Study.open(str(folder))
    tool = study.settings.annotation.format
    own = select(t.assignment.c.batch, t.person.c.name).join(t.person).distinct()
    done = (t.assignment.c.project == project) & (t.assignment.c.state == "done")
    places = connection.execute(own.where(done)).all()
    if not places:
        raise InputError("nobody has finished a note yet: there is nothing to write")
    before = study.folder / RETURNED
    batches = [batch_path(Path(name), batch, tool).as_posix() for batch, name in places]
    kind = Kind(
        "annotations of this project",
        lambda folder: foreign_files(folder, lambda name: name.startswith(tuple(batches))),
    )
    with whole_output(before, overwrite=overwrite, kind=kind) as returned:
        for batch, name in places:
            own_part = (t.assignment.c.batch == batch) & (t.person.c.name == name)
            part = _corpus(connection, project, own_part, "shown_id")
            target = batch_path(returned / name, batch, tool)
            write_corpus(part, target, format=tool)
            refuse_judged(batch_path(before / name, batch, tool), FORMATS[tool], target)
    lines = decision_lines(connection, project, project_corpus(connection, project))
    if lines:
        kind = Kind("decisions of this project", partial(_other_decisions, lines))
        with whole_output(study.folder / DECISIONS, overwrite=overwrite, kind=kind) as place:
            write_table(place, ("note", "feature", *DECIDED), lines)
    head = project_row(connection, project).head
    return {"batches": len(places), "decisions": len(lines), "head": head}


def _other_decisions(lines: Sequence[Sequence[object]], path: Path) -> str:
    """Tell whether a table holds decisions that were not made in the project."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        _, *there = (row for _, row in csv_rows(stream, path, strict=False))
    own = {tuple("" if cell is None else str(cell) for cell in line) for line in lines}
    others = [row for row in there if tuple(map(unguarded, row)) not in own]
    return f"{len(others):,} of its decisions are not of this project" if others else ""


_JUDGED = ("annotator", "note", "feature", "answer", "spans", "seconds", "suggestion", "rubric",
           "at")  # fmt: skip


def _judgement_lines(connection: Connection, project: str) -> Iterator[list[object]]:
    """Yield all judgements, unsure ones and those of notes that are not done as well.

    ``suggestion`` tells of the latest change whether one was shown or accepted.
    """
    events = select(t.event).where(t.event.c.project == project, t.event.c.kind == "judge")
    shown = {(e.note, e.actor, e.feature): data_of(e)["suggestion"]
             for e in connection.execute(events.order_by(t.event.c.number)) if e.body}  # fmt: skip
    rows = connection.execute(
        select(t.judgement, t.person.c.name, t.note.c.id.label("note_id"))
        .join(t.person, t.judgement.c.person == t.person.c.id)
        .join(t.note, t.judgement.c.note == t.note.c.number)
        .where(t.judgement.c.project == project, t.judgement.c.answer.is_not(None))
        .order_by(t.person.c.name, t.judgement.c.note, t.judgement.c.feature)
    )
    for r in rows:
        offered = shown.get((r.note, r.person, r.feature), "")
        yield [r.name, r.note_id, r.feature, r.answer, r.marks, r.active_ms / 1000, offered,
               r.rubric, iso(r.at)]  # fmt: skip


def write_everything(connection: Connection, project: str, folder: Path) -> None:
    """Write all that people did into a folder; ``chain.json`` names the last hash of the record."""
    corpus, row = project_corpus(connection, project), project_row(connection, project)
    runs = connection.execute(select(t.run).where(t.run.c.project == project)).all()
    write_corpus(corpus, folder / "annotations.jsonl", format="jsonl")
    write_table(folder / "judgements.csv", _JUDGED, _judgement_lines(connection, project))
    lines = decision_lines(connection, project, corpus)
    write_table(folder / "decisions.csv", ("note", "feature", *DECIDED), lines)
    for run in runs:
        write_corrections(connection, run.id, folder / f"corrections-{run.id}.csv")
    chain = {"project": row.name, "events": row.events, "head": row.head}
    (folder / "chain.json").write_text(json.dumps(chain, indent=1), encoding="utf-8")


#: A note's case and one of its features, with the counts of presence and of characters.
Counted = tuple[str, str, list[int], list[int]]
#: How many of a person's latest judgements give the median time.
_LATEST = 200
#: Somebody with notes to do who did nothing for this long is stuck.
_STUCK_MS = 3 * 86_400_000
#: Agreement is computed at most this often.
_SECONDS = 30.0


def progress(connection: Connection, project: str) -> answers.ProgressAnswer:
    """Return the progress of a project; all from kept counts, so that its size does not matter."""
    row, counts = project_row(connection, project), counts_of(connection, project)
    runs: list[Json] = [
        {**run, "audit": _audit(connection, run["id"])} for run in list_runs(connection, project)
    ]
    return {
        "notes": counts.get("notes", 0), "state": row.state,
        "assignments": {name: counts.get(name, 0) for name in ("done", "total")},
        "judgements": counts.get("judgements", 0), "unsure": counts.get("unsure", 0),
        "annotators": _annotators(connection, project, counts),
        "curation": {name: counts.get(f"disputes_{name}", 0) for name in ("open", "decided")},
        "runs": runs, "head": row.head,
    }  # fmt: skip


def _annotators(connection: Connection, project: str, counts: Mapping[str, int]) -> list[Json]:
    people = connection.execute(
        select(t.person.c.id, t.person.c.name)
        .join(t.membership)
        .where(t.membership.c.project == project, t.membership.c.role == "annotator")
        .order_by(func.lower(t.person.c.name))
    ).all()
    listed: list[Json] = []
    for person in people:
        own = (t.judgement.c.project == project, t.judgement.c.person == person.id)
        latest = select(t.judgement.c.at, t.judgement.c.active_ms).where(*own)
        rows = connection.execute(latest.order_by(t.judgement.c.at.desc()).limit(_LATEST)).all()
        spent = [row.active_ms for row in rows if row.active_ms]
        kept = {name: counts.get(f"{name}:{person.id}", 0) for name in
                ("done", "total", "judgements")}  # fmt: skip
        last = rows[0].at if rows else None
        waiting = kept["done"] < kept["total"]
        listed.append({
            "name": person.name, **kept, "median_ms": int(median(spent)) if spent else None,
            "last_at": None if last is None else iso(last),
            "stuck": waiting and last is not None and last < now() - _STUCK_MS,
        })  # fmt: skip
    return listed


def _audit(connection: Connection, run: str) -> Json:
    """Return the policy's error rate among the items it did not send, from those looked at."""
    rows = connection.execute(
        select(t.correction.c.item, t.correction.c.found, t.item.c.found.label("machine"))
        .join(t.item)
        .where(t.item.c.run == run, t.item.c.why == "", t.item.c.state == "done")
        .order_by(t.correction.c.version)
    )
    wrong = {row.item: row.found != bool(row.machine) for row in rows}
    n, k = len(wrong), sum(wrong.values())
    return {"seen": n, "wrong": k, "rate": proportion_interval(k, n).to_dict() if n else None}


def record(connection: Connection, project: str, *, after: str, limit: int) -> answers.RecordAnswer:
    """Return a page of the project's events, the newest first, without what was marked."""
    found = (
        select(t.event, t.person.c.name, t.note.c.id.label("note_id"))
        .join(t.person, t.event.c.actor == t.person.c.id, isouter=True)
        .join(t.note, t.event.c.note == t.note.c.number, isouter=True)
        .where(t.event.c.project == project)
    )
    if after.isdecimal() and len(after) < 19:  # more is no number that a database compares
        found = found.where(t.event.c.number < int(after))
    rows = connection.execute(found.order_by(t.event.c.number.desc()).limit(limit)).all()
    events: list[Json] = [
        {"number": r.number, "kind": r.kind, "actor": r.name or r.actor, "note": r.note_id,
         "feature": r.feature, "at": iso(r.at), "hash": r.hash, "erased": r.body is None}
        for r in rows
    ]  # fmt: skip
    more = bool(events) and events[-1]["number"] > 1
    return {"events": events, "next": str(events[-1]["number"]) if more else None}


class LiveAgreement:
    """Agreement in all projects of a server: only notes that changed are counted again."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[float, str, answers.AgreementAnswer]] = {}
        self._notes: dict[int, tuple[int, list[Counted]]] = {}

    def of(self, project: str) -> answers.AgreementAnswer:
        """Return the agreement of a project as it was at most half a minute ago."""
        with self._lock:
            head = self._database.read(lambda c: project_row(c, project).head)
            if project in self._kept:
                at, old, value = self._kept[project]
                if old == head or time.monotonic() - at < _SECONDS:
                    return value
            value = self._database.read(lambda c: self._measure(c, project))
            self._kept[project] = (time.monotonic(), head, value)
            return value

    def _measure(self, connection: Connection, project: str) -> answers.AgreementAnswer:
        done = (
            select(t.judgement.c.note, func.sum(t.judgement.c.version).label("mark"))
            .join(t.assignment, (t.assignment.c.note == t.judgement.c.note)
                  & (t.assignment.c.person == t.judgement.c.person))
            .where(t.judgement.c.project == project, t.assignment.c.state == "done",
                   t.assignment.c.kind == "double")
            .group_by(t.judgement.c.note)
        )  # fmt: skip
        marks = {row.note: int(row.mark) for row in connection.execute(done)}
        # in the order of notes, as exports have them, so that both show the same intervals
        marks = dict(sorted(marks.items()))
        new = [n for n, mark in marks.items() if self._notes.get(n, (-1, []))[0] != mark]
        self._count(connection, project, new, marks)
        own = [self._notes[n][1] for n in marks if self._notes[n][1]]
        texts = {f.id: f.text for _, one in rubrics_of(connection, project).values() for f in one}
        by_feature: dict[str, list[list[Counted]]] = {}
        for rows in own:
            for one in sorted({feature for _, feature, _, _ in rows}):
                by_feature.setdefault(one, []).append([row for row in rows if row[1] == one])
        return {
            "at": iso(now()), "notes": len(own), "pairs": len(own), **_estimates(own),
            "features": [
                {"feature": one, "text": texts.get(one, one), "notes": len(found),
                 **_estimates(found)}
                for one, found in by_feature.items()
            ],
        }  # fmt: skip

    def _count(
        self, connection: Connection, project: str, notes: list[int], marks: Mapping[int, int]
    ) -> None:
        """Count the notes that are new or changed; `unsure` is no row, as in exports."""
        for first in range(0, len(notes), 500):
            part = notes[first : first + 500]
            builder = CorpusBuilder()
            for _, rubric in rubrics_of(connection, project).values():
                builder.add_rubric(rubric)
            for row in connection.execute(select(t.note).where(t.note.c.number.in_(part))):
                builder.add_note(Note(str(row.number), row.case, row.text))
            judged = select(t.judgement).where(
                t.judgement.c.note.in_(part), t.judgement.c.answer.in_(("present", "absent"))
            )
            for row in connection.execute(judged.order_by(t.judgement.c.person)):
                builder.add_annotator(Annotator(row.person))
                if builder.has_feature(row.feature):
                    builder.judge(row.person, str(row.note), row.feature)
                    for mark in parse_spans(row.marks):
                        builder.annotate(row.person, str(row.note), row.feature, mark)
            found = pair_evaluation(builder.build())
            counted: dict[int, list[Counted]] = {n: [] for n in part}
            if found is not None:
                keys = found.presence.keys
                pairs = zip(keys.note.tolist(), keys.case.tolist(), keys.feature.tolist(),
                            found.presence.values.tolist(), found.characters.values.tolist(),
                            strict=True)  # fmt: skip
                for note, case, feature, presence, characters in pairs:
                    line = (keys.cases[case], keys.features[feature], presence, characters)
                    counted[int(keys.notes[note])].append(line)
            for note, lines in counted.items():
                self._notes[note] = (marks[note], lines)


def _estimates(notes: list[list[Counted]]) -> answers.AgreementPart:
    """Return F1 of presence and of characters as `agree` would, and kappa of presence."""
    if not notes:
        return {"presence_f1": None, "presence_kappa": None, "characters_f1": None}
    rows = [(str(i), *line) for i, lines in enumerate(notes) for line in lines]

    def numbered(column: list[str]) -> tuple[I64, tuple[str, ...]]:
        number = {one: i for i, one in enumerate(dict.fromkeys(column))}
        return np.array([number[one] for one in column], dtype=np.int64), tuple(number)

    note, ids = numbered([row[0] for row in rows])
    case, cases = numbered([row[1] for row in rows])
    feature, features = numbered([row[2] for row in rows])
    keys = RowKeys(note, feature, case, ids, features, cases)
    presence, characters = (
        CountTable(measure, keys, np.array([row[place] for row in rows], dtype=np.int64))
        for place, measure in ((3, PRESENCE), (4, CHARACTERS))
    )
    agreed = presence.total()["kappa"]
    return {
        "presence_f1": _plain(estimate_rows(presence, Resampling()).at("f1")),
        "presence_kappa": agreed if np.isfinite(agreed) else None,
        "characters_f1": _plain(estimate_rows(characters, Resampling()).at("f1")),
    }


def _plain(estimate: Estimate) -> Json | None:
    return None if np.isnan(estimate.value) else dict(estimate.to_dict())
