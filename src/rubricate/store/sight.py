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
_SET = text("SELECT set_config('rubricate.sees', :sees, false)")
#: Whose a row is, in the tables that hold people's work; none: only their projects' members see it.
_WHOSE = {
    "assignment": "person", "judgement": "person", "event": "actor", "curation": "person",
    "correction": "person", "counter": "split_part(name, ':', 2)", "dispute": "",
}  # fmt: skip
_SEES = "(SELECT current_setting('rubricate.sees', true))"


def _security(table: str, whose: str) -> Iterator[str]:
    own = f" OR {_SEES} = 'person:' || {whose}" if whose else ""
    # Forced: the tables' owner, who the server is, would see everything.
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"
    yield (
        f"CREATE POLICY sight ON {table} "
        f"USING ({_SEES} = '{ALL}' OR {_SEES} = 'project:' || project{own})"
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
        connection.execute(_SET, {"sees": sees})
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
