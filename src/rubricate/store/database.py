"""One way to read and one to write, in groups; steps that bring the tables up to date."""

from __future__ import annotations

import os
import queue
import re
import secrets
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Integer,
    MetaData,
    Row,
    Select,
    Table,
    create_engine,
    event,
    exc,
    inspect,
    select,
    text,
)
from sqlalchemy.engine import make_url

from rubricate.errors import InputError, MissingExtraError
from rubricate.files import is_exposed, make_private
from rubricate.store import tables as t
from rubricate.store.refusals import NotFoundError, UnavailableError
from rubricate.store.transaction import ALL, SECURITY, Transaction, Wakes, see

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
    _create(_FIRST), _create(_REVIEW), _create((t.vouched,)), _secure, _create((t.asked,)),
)  # fmt: skip


def migrate(
    connection: Connection, *, before: Callable[[], object] = lambda: None, to: int = len(STEPS)
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


T = TypeVar("T")
#: How many writes share a commit at most.
_GROUP = 64
#: Connections that read, and the one that writes.
_CONNECTIONS = 8


def one_row(connection: Connection, wanted: Select[Any], otherwise: str) -> Row[Any]:
    """Return the row that is asked for; a refusal with these words where there is none."""
    row = connection.execute(wanted).one_or_none()
    if row is None:
        raise NotFoundError(otherwise)
    return row


def new_id() -> str:
    """Return an id that tells nothing: 22 characters at random."""
    return secrets.token_urlsafe(16)


def now() -> int:
    """Return the time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def iso(at: int) -> str:
    """Return a time as people and files write it.

    >>> iso(0)
    '1970-01-01T00:00:00.000Z'
    """
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


class Database:
    """A database of the workbench: `read` and `write` run a function on a connection.

    Writes go through one thread. Those that wait together are committed together; where one fails,
    all are undone and written again without it. `write` returns when its commit is on the disk.
    """

    #: Set by the first answer that says so; it is restored while no server runs.
    is_damaged = False

    def __init__(self, url: str) -> None:
        self.url = make_url(re.sub(r"^postgres(ql)?:", "postgresql+psycopg:", url))
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        if self.file is not None:
            # SQLite gives the files beside it the mode of this one.
            with suppress(OSError):
                make_private(self.file)
        self._engine = _engine(self.url.render_as_string(hide_password=False), self.is_sqlite)
        self._plain = self.url.set(drivername="postgresql").render_as_string(hide_password=False)
        self.signals = Wakes(None if self.is_sqlite else self._plain)
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write_all, name="writer", daemon=True)
        self._writer.start()

    @property
    def file(self) -> Path | None:
        """The file of SQLite's database."""
        own = self.url.database if self.is_sqlite else None
        return Path(own) if own and own != ":memory:" else None

    @property
    def exposed(self) -> list[Path]:
        """The files of the database that others on this machine can read."""
        own = (
            [] if self.file is None else [Path(f"{self.file}{end}") for end in ("", "-wal", "-shm")]
        )
        return [path for path in own if is_exposed(path)]

    def read(self, work: Callable[[Connection], T], sees: str = ALL) -> T:
        """Return a reading function's result; PostgreSQL hides rows that ``sees`` leaves out."""
        with self._available():
            try:
                return self._read_once(work, sees)
            except exc.DBAPIError as error:
                if not error.connection_invalidated:
                    raise
                return self._read_once(work, sees)  # the database's server was started again

    def _read_once(self, work: Callable[[Connection], T], sees: str) -> T:
        with self._engine.connect() as connection:
            see(connection, sees)
            return work(connection)

    def read_at_once(self, work: Callable[[Connection], T]) -> T:
        """Return the result of reading at one moment; later writes do not show."""
        with self._available(), self._engine.connect() as connection:
            see(connection, ALL)
            more = "" if self.is_sqlite else " ISOLATION LEVEL REPEATABLE READ"
            connection.exec_driver_sql(f"BEGIN{more}")
            try:
                return work(connection)
            finally:
                connection.exec_driver_sql("ROLLBACK")

    def write(self, work: Callable[[Connection], T], sees: str = ALL) -> T:
        """Return a function's result once its writes are kept; if it raises, none is kept."""
        job = _Job(work, sees, Future())
        self._jobs.put(job)
        with self._available():
            result: T = job.answer.result()
        return result

    @contextmanager
    def _available(self) -> Iterator[None]:
        """Raise UnavailableError where the database fails, and not what it was asked."""
        try:
            yield
        except (exc.OperationalError, exc.InterfaceError, exc.TimeoutError) as error:
            raise UnavailableError(f"The database cannot be reached: {_reason(error)}") from error
        except exc.DatabaseError as error:
            # What SQLite says of a damaged file is an error of no kind.
            if type(error) is not exc.DatabaseError:
                raise
            self.is_damaged = True
            raise UnavailableError(
                f"The database {self.file or ''} is damaged: {_reason(error)}. Stop the server and "
                "put a backup in its place"
            ) from error

    def check(self) -> None:
        """Raise UnavailableError where the database does not answer, or was found damaged."""
        if self.is_damaged:
            raise UnavailableError("The database is damaged.")
        for column in (_schema.c.number, t.project.c.id):
            self.read(lambda c, wanted=column: c.scalar(select(wanted).limit(1)))  # type: ignore[misc]

    def close(self) -> None:
        """End the writer when all that waits is written, and close the connections."""
        self._jobs.put(None)
        self._writer.join()
        self.signals.close()
        self._engine.dispose()

    def migrate(self, backups: Path | None = None) -> None:
        """Bring the tables up to date; a database that has some already is backed up before."""

        def backup() -> None:
            if backups is not None:
                stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
                ending = ".sqlite" if self.is_sqlite else ".dump"
                self.backup(backups / f"before-migration-{stamp}{ending}")

        self.write(lambda connection: migrate(connection, before=backup))

    def backup(self, target: Path) -> None:
        """Write a copy of everything while the work goes on; a file that is there is kept.

        Only its owner reads the copy.
        """
        try:
            target.parent.parent.mkdir(parents=True, exist_ok=True)
            target.parent.mkdir(mode=0o700, exist_ok=True)
            make_private(target)
        except FileExistsError as error:
            raise InputError(f"{target} is there already; choose another name") from error
        except OSError as error:
            raise InputError(f"{target} cannot be written: {error.strerror}") from error
        try:
            self._copy(target)
        except BaseException:
            target.unlink(missing_ok=True)
            raise

    def _copy(self, target: Path) -> None:
        """Write a copy into an empty file."""
        if self.is_sqlite:
            self.read(lambda c: c.execute(text("VACUUM INTO :target"), {"target": str(target)}))
            return
        program = shutil.which("pg_dump") or next(
            map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_dump"), reverse=True)), None
        )
        if program is None:
            raise InputError("pg_dump is not installed: it is part of PostgreSQL's client programs")
        command = [program, "--format=custom", f"--file={target}", "--dbname", self._plain]
        command.append("--enable-row-security")
        sees_all = f"{os.environ.get('PGOPTIONS', '')} -c rubricate.sees={ALL}"
        own = {**os.environ, "PGOPTIONS": sees_all}
        done = subprocess.run(command, capture_output=True, check=False, env=own)
        if done.returncode:
            raise InputError("pg_dump could not copy the database; is its version the server's?")

    def _write_all(self) -> None:
        connection: Connection | None = None
        while (first := self._jobs.get()) is not None:
            jobs = [first]
            while len(jobs) < _GROUP and not self._jobs.empty():
                jobs.append(self._jobs.get())  # type: ignore[arg-type]
            last = jobs[-1] is None
            jobs = [job for job in jobs if job is not None]
            connection = self._commit(connection, jobs)
            if last:
                break
        if connection is not None:
            connection.close()

    def _begin(self, connection: Connection | None) -> Connection:
        """Return a connection inside a transaction: this one, or a new one where it was cut."""
        begin = "BEGIN IMMEDIATE" if self.is_sqlite else "BEGIN"
        if connection is not None:
            try:
                connection.exec_driver_sql(begin)
            except exc.DBAPIError as error:
                if not error.connection_invalidated:
                    raise
                connection.close()
            else:
                return connection
        fresh = self._engine.connect()
        fresh.exec_driver_sql(begin)
        return fresh

    def _commit(self, connection: Connection | None, jobs: list[_Job]) -> Connection | None:
        """Write jobs in one transaction; without the one that fails, where one does."""
        at = -1
        try:
            connection = self._begin(connection)
            transaction = Transaction(connection)
            results = []
            for at, job in enumerate(jobs):  # noqa: B007
                see(connection, job.sees)
                results.append(job.work(connection))
            at = -1
            see(connection, ALL)
            transaction.settle()
            connection.exec_driver_sql("COMMIT")
        except Exception as error:
            connection = _rolled_back(connection)
            if len(jobs) == 1:
                jobs[0].answer.set_exception(error)
                return connection
            # Who failed is not told yet: it may have seen what others wrote that is not kept now.
            parts = [jobs[:at], [jobs[at]], jobs[at + 1 :]] if at >= 0 else [[j] for j in jobs]
            for part in filter(None, parts):
                connection = self._commit(connection, part)
            return connection
        for job, result in zip(jobs, results, strict=True):
            job.answer.set_result(result)
        if self.is_sqlite:
            self.signals.tell(transaction.changed)
        return connection


def _reason(error: exc.SQLAlchemyError) -> str:
    """Return a driver's message about a failing database, in one line and without values."""
    said = str(getattr(error, "orig", None) or "no connection is free").strip()
    return said.partition("\n")[0]


class _Job(NamedTuple):
    """One write that waits for its turn."""

    work: Callable[[Connection], Any]
    sees: str
    answer: Future[Any]


def _rolled_back(connection: Connection | None) -> Connection | None:
    """Return the connection out of its transaction; None where it is of no more use."""
    if connection is None:
        return None
    try:
        connection.exec_driver_sql("ROLLBACK")
        connection.info.pop("sees", None)  # what was set inside is undone as well
    except Exception:
        with suppress(Exception):  # it may be closed already
            connection.invalidate()
        connection.close()
        return None
    return connection


def _engine(url: str, is_sqlite: bool) -> Engine:
    """Return an engine whose connections leave transactions to the writer."""
    # Few connections that stay open, the last used first: opening one costs more than waiting.
    # None comes back inside a transaction, so there is nothing to roll back.
    own = {"check_same_thread": False, "timeout": 30} if is_sqlite else {}
    try:
        engine = create_engine(
            url, isolation_level="AUTOCOMMIT", pool_use_lifo=True, pool_size=_CONNECTIONS,
            max_overflow=0, pool_reset_on_return=None, connect_args=own,
        )  # fmt: skip
    except ImportError as error:
        raise MissingExtraError("PostgreSQL", "postgres") from error

    event.listen(engine, "before_cursor_execute", _refuse_nul)
    if is_sqlite:

        @event.listens_for(engine, "connect")
        def prepare(connection: Any, _record: Any) -> None:
            for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
                connection.execute(f"PRAGMA {pragma}")

    return engine


def _refuse_nul(_c: Any, _cursor: Any, _sql: str, given: Any, _context: Any, many: bool) -> None:
    """Refuse texts with NUL: PostgreSQL keeps none, and what SQLite kept could not be moved."""
    for row in given if many else [given]:
        values = row.values() if isinstance(row, dict) else row
        if any(isinstance(one, str) and "\0" in one for one in values):
            raise InputError("a text has the character NUL, which cannot be kept: remove it")
