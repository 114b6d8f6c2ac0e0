"""Which rows a connection sees: on PostgreSQL, row security repeats that annotators are blind.

What a query forgets to leave out is then not there. `SECURITY` makes the policies; a connection
that says nothing sees no work at all. SQLite has no such thing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, text

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
