"""The tables of the workbench, the same on SQLite and PostgreSQL.

Marks are kept as `rubricate.run.spans_text` writes them (``0 8;10 14|20 25``), times as
milliseconds since 1970. Ids that people see are random: none of them tells how much others did.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.schema import SchemaItem

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _table(name: str, *parts: SchemaItem) -> Table:
    return Table(name, metadata, *parts)


def _text(name: str, default: str | None = None) -> Column[str]:
    return Column(name, Text, nullable=False, server_default=default)


def _of(name: str, target: str) -> Column[str]:
    return Column(name, Text, ForeignKey(target), nullable=False)


def _note(name: str = "note") -> Column[int]:
    return Column(name, Integer, ForeignKey("note.number"), nullable=False)


def _time(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False)


def _count(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False, server_default="0")


def _yes(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False)


person = _table(
    "person",
    Column("id", Text, primary_key=True),
    _text("name"),
    Column("password", Text),  # its Argon2id hash; none until the invitation is used
    _yes("admin"),
    _yes("disabled"),
    _text("preferences", "{}"),
    _time("made"),
    UniqueConstraint("name"),
)
session = _table(
    "session",
    Column("hash", Text, primary_key=True),
    _of("person", "person.id"),
    _time("made"),
    _time("seen"),
)
#: Who may come in through a provider: invited by e-mail address, known by subject from then on.
vouched = _table(
    "vouched",
    Column("person", Text, ForeignKey("person.id"), primary_key=True),
    _text("email"),
    Column("issuer", Text),
    Column("subject", Text),
    UniqueConstraint("email"),
    UniqueConstraint("issuer", "subject"),
)
#: Links that work once: set-up, invitation, demonstration, the way to a provider and back.
link = _table(
    "link",
    Column("hash", Text, primary_key=True),
    _text("kind"),
    Column("person", Text, ForeignKey("person.id")),
    _text("target", "/"),
    _time("expires"),
)
attempt = _table(
    "attempt", Column("key", Text, primary_key=True), _count("failures"), _time("until")
)
project = _table(
    "project",
    Column("id", Text, primary_key=True),
    _text("name"),
    _text("state", "open"),
    _text("study", ""),  # its folder, seen from the one that is served
    _yes("suggestions"),
    _time("made"),
    _count("events"),
    _text("head", ""),
)
token = _table(
    "token",
    Column("id", Text, primary_key=True),
    _text("hash"),
    _of("person", "person.id"),
    Column("project", Text, ForeignKey("project.id")),
    _text("name"),
    _text("scopes"),
    _time("made"),
    _time("expires"),
    UniqueConstraint("hash"),
)
membership = _table(
    "membership",
    Column("project", Text, ForeignKey("project.id"), primary_key=True),
    Column("person", Text, ForeignKey("person.id"), primary_key=True),
    Column("role", Text, primary_key=True),
)
#: Who was asked to join a project, and as what: the membership begins when that person agrees.
asked = _table(
    "asked",
    Column("project", Text, ForeignKey("project.id"), primary_key=True),
    Column("person", Text, ForeignKey("person.id"), primary_key=True),
    _text("roles"),
    _of("actor", "person.id"),
    _time("at"),
)
rubric_version = _table(
    "rubric_version",
    Column("project", Text, ForeignKey("project.id"), primary_key=True),
    Column("case", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    _text("body"),
    _text("hash"),
    _time("made"),
)
note = _table(
    "note",
    Column("number", Integer, primary_key=True),
    _of("project", "project.id"),
    _text("id"),
    _text("shown_id"),
    _text("case"),
    _text("text"),
    _text("sha256"),
    _text("metadata", "{}"),
    UniqueConstraint("project", "id"),
)
assignment = _table(
    "assignment",
    Column("id", Text, primary_key=True),
    _of("project", "project.id"),
    _note(),
    _of("person", "person.id"),
    _text("batch"),
    _text("kind"),
    Column("position", Integer, nullable=False),
    _text("state", "open"),
    UniqueConstraint("note", "person"),
    Index("ix_assignment_queue", "person", "project", "state", "position"),
)
event = _table(
    "event",
    Column("project", Text, ForeignKey("project.id"), primary_key=True),
    Column("number", BigInteger, primary_key=True),
    _text("kind"),
    _text("actor"),
    Column("assignment", Text),
    Column("note", Integer),
    Column("feature", Text),
    _time("at"),
    Column("salt", Text),
    Column("body", Text),  # without body and salt the event is erased, and the chain still holds
    _text("body_hash"),
    _text("hash"),
    Index("ix_event_assignment", "assignment", "number"),
    Index("ix_event_note", "note"),
)
judgement = _table(
    "judgement",
    Column("note", Integer, ForeignKey("note.number"), primary_key=True),
    Column("person", Text, ForeignKey("person.id"), primary_key=True),
    Column("feature", Text, primary_key=True),
    _of("project", "project.id"),
    Column("answer", Text),  # present, absent, unsure; none where it was cleared
    _text("marks", ""),
    Column("version", Integer, nullable=False),
    Column("rubric", Integer, nullable=False),
    _count("active_ms"),
    _time("at"),
    Index("ix_judgement_recent", "project", "person", "at"),
)
suggestion = _table(
    "suggestion",
    Column("note", Integer, ForeignKey("note.number"), primary_key=True),
    Column("feature", Text, primary_key=True),
    _text("marks"),
    Column("probability", Float),
    _text("reason", ""),
)
dispute = _table(
    "dispute",
    Column("id", Text, primary_key=True),
    _of("project", "project.id"),
    _note(),
    _text("feature"),
    _text("reason"),
    _text("state"),
    Column("place", Integer, nullable=False),
    UniqueConstraint("note", "feature"),
    Index("ix_dispute_queue", "project", "state", "note", "place"),
)
curation = _table(
    "curation",
    Column("dispute", Text, ForeignKey("dispute.id"), primary_key=True),
    Column("version", Integer, primary_key=True),
    _of("project", "project.id"),
    _text("inputs"),
    _text("choice"),
    _text("marks"),
    _of("person", "person.id"),
    _text("comment"),
    _time("at"),
)
run = _table(
    "run",
    Column("id", Text, primary_key=True),
    _of("project", "project.id"),
    _text("name"),
    _text("folder"),
    _text("hash"),
    _text("state", "open"),
    _text("fault", ""),
    _time("made"),
)
#: A note as a run scored it: what was found in it is enough to sum its score again.
scored = _table(
    "scored",
    Column("number", Integer, primary_key=True),
    _of("run", "run.id"),
    _text("id"),
    _text("case"),
    _text("text"),
    _text("sha256"),
    _text("body"),
    Index("ix_scored_run", "run"),
)
item = _table(
    "item",
    Column("id", Text, primary_key=True),
    _of("run", "run.id"),
    Column("scored", Integer, ForeignKey("scored.number"), nullable=False),
    _text("feature"),
    Column("found", Boolean),
    _text("marks"),
    Column("risk", Float),
    _text("why"),  # empty: the policy did not send it, it is of the hidden sample
    _text("state", "open"),
    Column("position", Float, nullable=False),
    Index("ix_item_scored", "scored"),
    Index("ix_item_state", "run", "state", "position"),
    Index("ix_item_position", "run", "position"),
)
correction = _table(
    "correction",
    Column("item", Text, ForeignKey("item.id"), primary_key=True),
    Column("version", Integer, primary_key=True),
    _of("project", "project.id"),
    _yes("found"),
    Column("marks", Text),  # none: as the machine marked
    _of("person", "person.id"),
    _text("comment"),
    _count("active_ms"),
    _time("at"),
)
counter = _table(
    "counter",
    Column("project", Text, ForeignKey("project.id"), primary_key=True),
    Column("name", Text, primary_key=True),
    _count("value"),
)
