"""What the writes of one transaction share: where chains end, and counts that moved.

Both are read once and written once for all of them: a save has fewer statements to wait for.
"""

from __future__ import annotations

from collections import Counter

from sqlalchemy import Connection, bindparam, select, text

from rubricate.store import tables as t
from rubricate.store.sight import ALL, seeing
from rubricate.store.signals import CHANNEL

_HEAD = (
    select(t.project.c.events, t.project.c.head)
    .where(t.project.c.id == bindparam("own"))
    # The lock keeps other processes on PostgreSQL from taking the same number.
    .with_for_update()
)
_MOVE_HEAD = t.project.update().where(t.project.c.id == bindparam("own"))
_ADD = text(
    "INSERT INTO counter (project, name, value) VALUES (:project, :name, :value) "
    "ON CONFLICT (project, name) DO UPDATE SET value = counter.value + excluded.value"
)
#: Sent when the transaction is committed.
_NOTIFY = text(
    f"SELECT pg_notify('{CHANNEL}', project) FROM unnest(CAST(:projects AS text[])) AS project"
)


class Transaction:
    """The transaction that a connection is in."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._heads: dict[str, tuple[int, str]] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self.changed: set[str] = set()
        connection.info["transaction"] = self

    @staticmethod
    def of(connection: Connection) -> Transaction:
        """Return the transaction of a connection that writes."""
        transaction: Transaction = connection.info["transaction"]
        return transaction

    def head(self, project: str) -> tuple[int, str]:
        """Return the number and hash of a project's last event, which nobody else moves now."""
        if project not in self._heads:
            number, last = self._connection.execute(_HEAD, {"own": project}).one()
            self._heads[project] = number, last
        return self._heads[project]

    def move(self, project: str, number: int, last: str) -> None:
        """Let a project's chain end at another event."""
        self._heads[project] = number, last
        self.changed.add(project)

    def count(self, project: str, name: str, by: int) -> None:
        """Add to a count."""
        self._counts[project, name] += by

    def settle(self) -> None:
        """Write what was gathered, in an order that is the same in every process."""
        moved = [{"own": p, "events": n, "head": h} for p, (n, h) in sorted(self._heads.items())]
        if moved:
            self._connection.execute(_MOVE_HEAD, moved)
            if self._connection.dialect.name == "postgresql":
                self._connection.execute(_NOTIFY, {"projects": list(self._heads)})
        rows = [{"project": p, "name": name, "value": by}
                for (p, name), by in sorted(self._counts.items()) if by]  # fmt: skip
        if rows:
            with seeing(self._connection, ALL):
                self._connection.execute(_ADD, rows)
        self._heads.clear()
        self._counts.clear()


def settle(connection: Connection) -> None:
    """Write what is gathered before it is read again; where nothing is written there is none."""
    if "transaction" in connection.info:
        Transaction.of(connection).settle()
