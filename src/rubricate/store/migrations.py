"""Steps that bring a database's tables up to date, in order; each runs once, all or none."""

from __future__ import annotations

from collections.abc import Callable

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Column, Connection, Integer, MetaData, Table, inspect, select

from rubricate.errors import InputError
from rubricate.store import tables as t
from rubricate.store.sight import SECURITY

_schema = Table("schema_version", MetaData(), Column("number", Integer, primary_key=True))
_FIRST = (
    t.person, t.session, t.link, t.attempt, t.project, t.token, t.membership, t.rubric_version,
    t.note, t.assignment, t.event, t.judgement, t.suggestion, t.dispute, t.curation, t.counter,
)  # fmt: skip
_REVIEW = (t.run, t.scored, t.item, t.correction)


def _create(tables: tuple[Table, ...]) -> Callable[[Operations], None]:
    return lambda op: t.metadata.create_all(op.get_bind(), tables=list(tables))


def _secure(op: Operations) -> None:
    """Let PostgreSQL show nobody more work than the server says they may see."""
    if op.get_bind().dialect.name == "postgresql":
        for line in SECURITY:
            op.execute(line)


#: What is released is never changed, only added to; a step that alters a table takes `Operations`.
STEPS: tuple[Callable[[Operations], None], ...] = (
    _create(_FIRST), _create(_REVIEW), _create((t.vouched,)), _secure,
)  # fmt: skip


def migrate(
    connection: Connection,
    *,
    before: Callable[[], object] = lambda: None,
    to: int = len(STEPS),
) -> None:
    """Run the steps that are missing; ``before`` is called first where there are tables already."""
    has_tables = inspect(connection).has_table(_schema.name)
    _schema.create(connection, checkfirst=True)
    done = max([0, *connection.scalars(select(_schema.c.number))])
    if done > len(STEPS):
        raise InputError(
            f"the database was made by a later release (version {done}; this one knows "
            f"{len(STEPS)}): install that release, or restore a backup"
        )
    if done < to and has_tables:
        before()
    operations = Operations(MigrationContext.configure(connection))
    for number, step in enumerate(STEPS[:to], start=1):
        if number > done:
            step(operations)
            connection.execute(_schema.insert().values(number=number))
