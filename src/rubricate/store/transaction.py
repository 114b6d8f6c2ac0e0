"""Shared state of one transaction's writes: ends of chains, changed counts, people to notify.

Chains and counts are read once and written once for all: a save waits for fewer statements.

Which rows a connection sees: on PostgreSQL, row security repeats that annotators are blind. What a
query forgets to leave out is then not there. `SECURITY` makes the policies; a connection that says
nothing sees no work at all. SQLite has no such thing.
"""

from __future__ import annotations

import selectors
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, bindparam, select, text

from rubricate.store import tables as t

#: Of everybody: for the server itself, and for administrators.
ALL = "*"
_SET = "SELECT set_config('rubricate.sees', %s, false)"
#: Whose a row is, in the tables that hold people's work; none: only their projects' members see it.
_WHOSE = {
    "assignment": "person", "judgement": "person", "event": "actor", "curation": "person",
    "correction": "person", "counter": "split_part(name, ':', 2)", "dispute": "",
}  # fmt: skip


def _security(table: str, whose: str) -> Iterator[str]:
    own = f" WHEN 'person:' || {whose} THEN true" if whose else ""
    # Forced: the tables' owner, who the server is, would see everything.
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"
    # A case, since the planner thinks that few rows fit several conditions joined by OR.
    yield (
        f"CREATE POLICY sight ON {table} USING "
        f"(CASE (SELECT current_setting('rubricate.sees', true)) WHEN '{ALL}' THEN true "
        f"WHEN 'project:' || project THEN true{own} ELSE false END)"
    )


SECURITY = tuple(line for table, whose in _WHOSE.items() for line in _security(table, whose))


def of_project(project: str) -> str:
    """Return the sight of who may look at others' work in a project."""
    return f"project:{project}"


def of_person(person: str) -> str:
    """Return the sight of who sees nothing but their own."""
    return f"person:{person}"


def see(connection: Connection, sees: str) -> None:
    """Let a connection see this from now on."""
    if connection.dialect.name == "postgresql" and connection.info.get("sees") != sees:
        connection.exec_driver_sql(_SET, (sees,))
        connection.info["sees"] = sees


@contextmanager
def seeing(connection: Connection, sees: str) -> Iterator[None]:
    """Let a connection see more for a while; where that fails the transaction is over anyway."""
    before = connection.info.get("sees", "")
    see(connection, sees)
    yield
    see(connection, before)


def is_enforced(connection: Connection) -> bool:
    """Tell whether the database keeps this connection to what it may see."""
    role = "SELECT NOT (rolsuper OR rolbypassrls) FROM pg_roles WHERE rolname = current_user"
    return connection.dialect.name == "postgresql" and bool(connection.scalar(text(role)))


#: The channel on which PostgreSQL tells all servers which project changed.
CHANNEL = "rubricate"
#: Seconds before a lost connection is tried again.
_PAUSE = 1.0


class Wakes:
    """`tell` calls all that `watch` a project; with a database to listen to, others' commits do."""

    def __init__(self, url: str | None) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._waiting: dict[str, list[Callable[[], None]]] = {}
        self._thread: threading.Thread | None = None
        self._end, self._ended = socket.socketpair()

    @contextmanager
    def watch(self, project: str, wake: Callable[[], None]) -> Iterator[None]:
        """Call a function, in another thread, whenever a project may have changed."""
        with self._lock:
            self._waiting.setdefault(project, []).append(wake)
            if self._url is not None and self._thread is None:
                self._thread = threading.Thread(target=self._listen, name="listener", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._waiting[project].remove(wake)
                if not self._waiting[project]:
                    del self._waiting[project]

    def tell(self, projects: Iterable[str]) -> None:
        """Say that projects changed."""
        with self._lock:
            wakes = [wake for project in projects for wake in self._waiting.get(project, ())]
        for wake in wakes:
            wake()

    def close(self) -> None:
        """End the thread that listens."""
        self._end.close()
        if self._thread is not None:
            self._thread.join()
        self._ended.close()

    def _listen(self) -> None:
        import psycopg

        while True:
            try:
                with psycopg.connect(self._url or "", autocommit=True) as connection:
                    connection.execute(f"LISTEN {CHANNEL}")
                    # What changed while nobody listened was told to nobody.
                    self.tell(list(self._waiting))
                    while self._ready(connection):
                        self.tell({one.payload for one in connection.notifies(timeout=0)})
                    return
            except psycopg.OperationalError:
                if not self._ready(None, _PAUSE):
                    return

    def _ready(self, connection: Any, seconds: float | None = None) -> bool:
        """Sleep until the connection has news, or the time is over; False: it is the end."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._ended, selectors.EVENT_READ)
            if connection is not None:
                selector.register(connection, selectors.EVENT_READ)
            return all(key.fileobj is not self._ended for key, _ in selector.select(seconds))


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
