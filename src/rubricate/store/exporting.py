"""What the commands read: returned annotations, decisions, corrections and whole corpora."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from rubricate.builder import CorpusBuilder
from rubricate.corpus import Annotator, Corpus, Note
from rubricate.errors import InputError
from rubricate.files import whole_output
from rubricate.formats import write_corpus
from rubricate.formats.encoding import metadata_from_json
from rubricate.run import parse_spans
from rubricate.store import tables as t
from rubricate.store.chain import data_of
from rubricate.store.database import iso
from rubricate.store.projects import project_row
from rubricate.store.reviewing import write_corrections
from rubricate.store.rubrics import rubrics_of
from rubricate.study.assignment import batch_path
from rubricate.study.collection import RETURNED
from rubricate.study.curation import list_rows, settle_by_choice
from rubricate.study.decisions import DECIDED, DECISIONS, parse_marks
from rubricate.study.record import Study
from rubricate.study.tables import write_table


def _corpus(
    connection: Connection, project: str, wanted: Callable[[Any], bool], note_id: str = "id"
) -> Corpus:
    """Return the notes of done assignments with what was judged present or absent."""
    rows = connection.execute(
        select(t.assignment, t.person.c.name, t.note.c.id.label("note_id"), t.note.c.shown_id,
               t.note.c.case, t.note.c.text, t.note.c.metadata)
        .join(t.person, t.assignment.c.person == t.person.c.id)
        .join(t.note, t.assignment.c.note == t.note.c.number)
        .where(t.assignment.c.project == project, t.assignment.c.state == "done")
        .order_by(t.note.c.number)
    ).all()  # fmt: skip
    builder = CorpusBuilder()
    given = {(row.note, row.person): row for row in rows if wanted(row)}
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
    return _corpus(connection, project, lambda row: row.kind != "training")


def decision_lines(connection: Connection, project: str, corpus: Corpus) -> list[list[str]]:
    """Return the newest decision on each disagreement, as ``decisions.csv`` has them.

    A choice is written by its name where it still means the marks that were chosen; as spans where
    annotators changed theirs since.
    """
    rows = connection.execute(
        select(t.curation, t.person.c.name, t.note.c.id.label("note"), t.dispute.c.feature)
        .join(t.person, t.curation.c.person == t.person.c.id)
        .join(t.dispute, t.curation.c.dispute == t.dispute.c.id)
        .join(t.note, t.dispute.c.note == t.note.c.number)
        .where(t.curation.c.project == project)
        .order_by(t.curation.c.version)
    )
    several, single = list_rows(corpus)
    judged = {(row.note, row.feature): row for row in [*several, *single]}
    newest = {(row.note, row.feature): row for row in rows}
    lines = []
    for key, row in sorted(newest.items()):
        marks, choice = parse_marks(row.marks), "none"
        if marks:
            both = row.choice in ("union", "intersection") and key in judged
            same = both and set(settle_by_choice(judged[key], row.choice)) == set(marks)
            choice = row.choice if same else "spans"
        spans = row.marks if choice == "spans" else ""
        lines.append([*key, choice, spans, row.name, iso(row.at), row.comment])
    return lines


def _is_of(row: Any, *, batch: str, name: str) -> bool:
    return (row.batch, row.name) == (batch, name)


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
    with whole_output(study.folder / RETURNED, overwrite=overwrite) as returned:
        for batch, name in places:
            own_part = partial(_is_of, batch=batch, name=name)
            part = _corpus(connection, project, own_part, "shown_id")
            write_corpus(part, batch_path(returned / name, batch, tool), format=tool)
    lines = decision_lines(connection, project, project_corpus(connection, project))
    if lines:
        with whole_output(study.folder / DECISIONS, overwrite=overwrite) as place:
            write_table(place, ("note", "feature", *DECIDED), lines)
    head = project_row(connection, project).head
    return {"batches": len(places), "decisions": len(lines), "head": head}


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


def export_zip(connection: Connection, project: str, target: Path) -> None:
    """Write everything into one archive; ``chain.json`` names the last hash of the record."""
    corpus, row = project_corpus(connection, project), project_row(connection, project)
    runs = connection.execute(select(t.run).where(t.run.c.project == project)).all()
    with (
        tempfile.TemporaryDirectory() as scratch,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        folder = Path(scratch)
        write_corpus(corpus, folder / "annotations.jsonl", format="jsonl")
        write_table(folder / "judgements.csv", _JUDGED, _judgement_lines(connection, project))
        lines = decision_lines(connection, project, corpus)
        write_table(folder / "decisions.csv", ("note", "feature", *DECIDED), lines)
        for run in runs:
            write_corrections(connection, run.id, folder / f"corrections-{run.id}.csv")
        chain = {"project": row.name, "events": row.events, "head": row.head}
        (folder / "chain.json").write_text(json.dumps(chain, indent=1), encoding="utf-8")
        for path in sorted(folder.iterdir()):
            archive.write(path, path.name)
