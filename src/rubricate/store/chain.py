"""The append-only record: every event hashed into a chain of its project, and checked again.

hash = SHA-256(hash before, SHA-256(salt, body)). Without its body and salt an event is erased: what
was in it cannot be found again, and the chain still holds. Who owns the database could rewrite all
of it, so exports and the server's log name the last hash as well.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select

from rubricate.formats.encoding import Json
from rubricate.store import tables as t
from rubricate.store.database import now
from rubricate.store.transaction import Transaction, settle

_INSERT = t.event.insert()


class Entry(NamedTuple):
    """An action of a person, to be appended."""

    kind: str
    actor: str
    data: Mapping[str, Any]
    assignment: str | None = None
    note: int | None = None
    feature: str | None = None


def digest(*parts: str) -> str:
    """Return the SHA-256 of texts, each told apart from the next.

    >>> digest("a", "bc") == digest("ab", "c")
    False
    """
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def append(connection: Connection, project: str, *entries: Entry) -> int:
    """Append events to a project's chain and return their time."""
    transaction = Transaction.of(connection)
    number, last = transaction.head(project)
    at, rows = now(), []
    for number, entry in enumerate(entries, start=number + 1):  # noqa: B020
        own: Json = {k: v for k, v in entry._asdict().items() if k != "data"}
        own |= {"project": project, "number": number, "at": at}
        body = json.dumps({**own, "data": entry.data}, sort_keys=True, ensure_ascii=False)
        salt = secrets.token_hex(16)
        body_hash = digest(salt, body)
        last = digest(last, body_hash)
        rows.append({**own, "salt": salt, "body": body, "body_hash": body_hash, "hash": last})
    connection.execute(_INSERT, rows[0] if len(rows) == 1 else rows)
    transaction.move(project, number, last)
    return at


def data_of(row: Row[Any]) -> Json:
    """Return the content of an event beside its columns."""
    data: Json = json.loads(row.body)["data"]
    return data


def count(connection: Connection, project: str, changes: Mapping[str, int]) -> None:
    """Add to the counts that dashboards read."""
    for name, by in changes.items():
        Transaction.of(connection).count(project, name, by)


def counts_of(connection: Connection, project: str, *names: str) -> dict[str, int]:
    """Return counts of a project; all of them where none is named."""
    settle(connection)
    found = select(t.counter).where(t.counter.c.project == project)
    rows = connection.execute(found.where(t.counter.c.name.in_(names)) if names else found)
    return {row.name: row.value for row in rows}


def erase_note(connection: Connection, project: str, note: int, actor: str) -> None:
    """Erase the text and marks of a note, and all that events say of it; the chain stays."""
    append(connection, project, Entry("erase", actor, {}, note=note))
    of_note = (t.event.c.note == note) & (t.event.c.kind != "erase")
    connection.execute(t.event.update().where(of_note).values(body=None, salt=None))
    gone: Sequence[tuple[Any, Any, dict[str, str]]] = (
        # Short texts could be guessed by their hash; another one lets open pages load the note.
        (t.note, t.note.c.number, {"text": "", "metadata": "{}", "sha256": digest("")}),
        (t.judgement, t.judgement.c.note, {"marks": ""}),
        (t.suggestion, t.suggestion.c.note, {"marks": "", "reason": ""}),
    )
    for table, column, values in gone:
        connection.execute(table.update().where(column == note).values(**values))
    own = select(t.dispute.c.id).where(t.dispute.c.note == note)
    in_note = t.curation.c.dispute.in_(own)
    connection.execute(t.curation.update().where(in_note).values(marks="", comment=""))


class Checked(NamedTuple):
    """Findings of `verify` in a project."""

    project: str
    name: str
    events: int
    head: str
    faults: list[str]


def verify(connection: Connection) -> list[Checked]:
    """Check every project: its chain, and that all tables say what the events say."""
    return [
        Checked(row.id, row.name, row.events, row.head, list(_faults(connection, row)))
        for row in connection.execute(select(t.project).order_by(t.project.c.made))
    ]


#: What an event's columns repeat of its content.
_COLUMNS = ("project", "number", "kind", "actor", "assignment", "note", "feature", "at")


def _faults(connection: Connection, project: Row[Any]) -> Iterator[str]:
    last, number = "", 0
    replay = _Replay()
    for row in _events(connection, project.id):
        number += 1
        if row.number != number:
            yield f"event {number} is missing: the next one is {row.number}"
            number = row.number
        if row.body is not None and digest(row.salt or "", row.body) != row.body_hash:
            yield f"event {number}: its content was changed"
        elif row.body is not None and tuple(map(json.loads(row.body).get, _COLUMNS)) != tuple(
            getattr(row, name) for name in _COLUMNS
        ):
            yield f"event {number}: its columns differ from its content"
        if digest(last, row.body_hash) != row.hash:
            yield f"event {number}: the chain is broken"
        last = row.hash
        replay.add(row)
    if (number, last) != (project.events, project.head):
        yield f"the chain ends at event {number}; the project says {project.events}"
    yield from replay.faults(connection, project.id)


def _events(connection: Connection, project: str) -> Iterator[Row[Any]]:
    """Yield the events of a project in order, some at a time."""
    number = 0
    found = select(t.event).where(t.event.c.project == project).order_by(t.event.c.number)
    while rows := connection.execute(found.where(t.event.c.number > number).limit(2000)).all():
        yield from rows
        number = rows[-1].number


class _Replay:
    """Expected tables if the events are complete."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[Any, Any]] = {
            name: {} for name in ("judgement", "curation", "correction", "note", "rubric", "done")
        }
        self.erased: set[int] = set()

    def add(self, row: Row[Any]) -> None:
        """Take one event."""
        if row.kind == "erase":
            self.erased.add(row.note)
        if row.body is None or row.note in self.erased:
            return
        data, rows = data_of(row), self.rows
        if row.kind in ("judge", "undo", "redo"):
            key = row.note, row.actor, row.feature
            rows["judgement"][key] = data["version"], data["answer"], data["marks"]
        elif row.kind == "curate":
            rows["curation"][data["dispute"], data["version"]] = (
                data["inputs"], data["choice"], data["marks"], data["comment"], row.actor,
            )  # fmt: skip
        elif row.kind == "correct":
            rows["correction"][data["item"], data["version"]] = (
                data["found"], data["marks"], data["comment"], row.actor,
            )  # fmt: skip
        elif row.kind == "note":
            rows["note"][row.note] = data["id"], data["shown_id"], data["case"], data["sha256"]
        elif row.kind == "rubric":
            rows["rubric"][data["case"], data["number"]] = data["hash"]
        elif row.kind in ("assign", "done", "reopen"):
            rows["done"][row.assignment] = row.kind == "done"

    def faults(self, connection: Connection, project: str) -> Iterator[str]:
        """Yield what the tables say otherwise."""
        for name, found in self._tables(connection, project).items():
            said = self.rows[name]
            differing = [
                key for key in found.keys() | said.keys() if found.get(key) != said.get(key)
            ]
            for key in sorted(differing, key=str):
                yield f"{name} {key}: the table says something else than the events"

    def _tables(self, connection: Connection, project: str) -> dict[str, dict[Any, Any]]:
        def rows(table: Any) -> Sequence[Row[Any]]:
            return connection.execute(select(table).where(table.c.project == project)).all()

        def kept(note: int) -> bool:
            return note not in self.erased

        disputes = {r.id: r.note for r in rows(t.dispute)}
        return {
            "judgement": {
                (r.note, r.person, r.feature): (r.version, r.answer, r.marks)
                for r in rows(t.judgement) if kept(r.note)
            },
            "curation": {
                (r.dispute, r.version): (r.inputs, r.choice, r.marks, r.comment, r.person)
                for r in rows(t.curation) if kept(disputes[r.dispute])
            },
            "correction": {
                (r.item, r.version): (r.found, r.marks, r.comment, r.person)
                for r in rows(t.correction)
            },
            "note": {
                r.number: (r.id, r.shown_id, r.case, digest(r.text))
                for r in rows(t.note) if kept(r.number)
            },
            "rubric": {
                (r.case, r.number): digest(r.body)
                for r in rows(t.rubric_version)
            },
            "done": {r.id: r.state == "done" for r in rows(t.assignment) if kept(r.note)},
        }  # fmt: skip
