"""Downloads for managers: the reference, each annotator's work, or both."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sqlalchemy import Connection, select

from rubricate.corpus import Corpus
from rubricate.errors import InputError, UnknownNameError
from rubricate.formats import FORMATS, write_corpus
from rubricate.merge import join_corpora
from rubricate.store import tables as t
from rubricate.store.database import iso
from rubricate.store.exporting import decisions_of, project_corpus, write_everything
from rubricate.store.projects import project_row
from rubricate.study.curation import (
    SENIOR_RULES,
    Settled,
    Settlement,
    rank_seniors,
    settle_rows,
)
from rubricate.study.decisions import REFERENCE, parse_marks, reference_corpus, write_provenance

What = Literal["reference", "annotators", "both"]
WHAT: tuple[What, ...] = ("reference", "annotators", "both")
#: How a disagreement that no curator decided is settled, by the name that a manager chooses.
RULES: Mapping[str, tuple[str, ...]] = {
    "curated": ("identical",),
    "union": ("identical", "union"),
    "intersection": ("identical", "intersection"),
    "senior": SENIOR_RULES,
}
#: What the names of formats that are one file end in; the others are folders.
_ENDINGS = {
    "parquet": ".parquet", "jsonl": ".jsonl", "submission": ".csv", "conll": ".conll",
    "labelstudio": ".json", "prodigy": ".jsonl", "docbin": ".spacy", "bioc": ".json",
    "bioc-xml": ".xml",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wanted:
    """A download: what of the project, in which format, and how disagreements are settled."""

    what: What = "reference"
    format: str = "jsonl"
    rule: str = "curated"
    seniors: tuple[str, ...] = ()
    #: Leave out what the format cannot hold, instead of writing nothing.
    may_lose: bool = False

    def __post_init__(self) -> None:
        for kind, name, names in (("kind of download", self.what, WHAT),
                                  ("format", self.format, written_formats()),
                                  ("rule", self.rule, RULES)):  # fmt: skip
            if name not in names:
                raise UnknownNameError(kind, name, list(names))


def written_formats() -> list[str]:
    """Return the names of the formats that can be written."""
    return [name for name in FORMATS if FORMATS[name].write is not None]


def settle_project(
    connection: Connection, project: str, rule: str, seniors: tuple[str, ...] = ()
) -> tuple[Corpus, Settlement]:
    """Return the notes that all their annotators finished, and what is the reference in each row.

    A curator's decision counts first, then what annotators agree on, then the rule. Rows that
    somebody was unsure of, or whose decision is open again, wait for a curator.
    """
    whole = project_corpus(connection, project)
    given = select(t.note.c.id).join(t.assignment).where(t.assignment.c.project == project)
    waiting = given.where(t.assignment.c.state != "done", t.assignment.c.kind != "training")
    unfinished = set(connection.scalars(waiting))
    corpus = whole.select(notes=lambda note: note.id not in unfinished)
    if rule == "senior":
        if not seniors:
            raise InputError("say who the seniors are: the rule takes their annotations first")
        corpus = rank_seniors(corpus, seniors)
    known = {(note.id, feature.id) for note in corpus.notes for feature in corpus.features
             if feature.case == note.case}  # fmt: skip
    doubtful = (
        select(t.note.c.id, t.judgement.c.feature)
        .join(t.note, t.judgement.c.note == t.note.c.number)
        .join(t.assignment, (t.assignment.c.note == t.judgement.c.note)
              & (t.assignment.c.person == t.judgement.c.person))
        .where(t.judgement.c.project == project, t.judgement.c.answer == "unsure",
               t.assignment.c.kind != "training")
        .order_by(t.note.c.number)
    )  # fmt: skip
    unsure = dict.fromkeys(
        key for row in connection.execute(doubtful) if (key := (row.id, row.feature)) in known
    )
    decided = {
        key: Settled(*key, parse_marks(row.marks), row.name, row.choice, iso(row.at), row.comment)
        for key, row in decisions_of(connection, project).items()
        if row.state == "decided" and key in known
    }
    return corpus, settle_rows(corpus, RULES[rule], unsure).decide(decided)


def _write_wanted(connection: Connection, project: str, wanted: Wanted, folder: Path) -> None:
    """Write what is wanted, who decided each row, and what was asked for."""
    if wanted.what == "annotators":
        found, undecided = project_corpus(connection, project), 0
    else:
        corpus, settlement = settle_project(connection, project, wanted.rule, wanted.seniors)
        found, undecided = reference_corpus(corpus, settlement.settled), len(settlement.undecided)
        write_provenance(folder / "provenance.csv", settlement)
        if wanted.what == "both" and corpus.notes:
            found = join_corpora({"annotators": corpus, REFERENCE: found})
    if not found.notes:
        raise InputError("no note is finished by all who have it: there is nothing to write")
    place = folder / f"{wanted.what}{_ENDINGS.get(wanted.format, '')}"
    lost = write_corpus(found, place, format=wanted.format, strict=not wanted.may_lose)
    row = project_row(connection, project)
    about = {
        "project": row.name, "what": wanted.what, "format": wanted.format,
        "notes": len(found.notes), "rule": wanted.rule, "seniors": list(wanted.seniors),
        "undecided": undecided, "lost": lost, "events": row.events, "head": row.head,
    }  # fmt: skip
    (folder / "about.json").write_text(json.dumps(about, indent=1), encoding="utf-8")


def write_archive(
    connection: Connection, project: str, target: Path, wanted: Wanted | None = None
) -> None:
    """Write one archive: what is wanted, or all that people did, with the reference as well."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        folder = Path(scratch)
        if wanted is None:
            write_everything(connection, project, folder)
            corpus, settlement = settle_project(connection, project, "curated")
            reference = reference_corpus(corpus, settlement.settled)
            write_corpus(reference, folder / "reference.jsonl", format="jsonl")
            write_provenance(folder / "provenance.csv", settlement)
        else:
            _write_wanted(connection, project, wanted, folder)
        for path in sorted(one for one in folder.rglob("*") if one.is_file()):
            archive.write(path, path.relative_to(folder))
