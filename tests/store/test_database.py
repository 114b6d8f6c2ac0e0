"""Writes are kept whole or not at all, and tables come up to date on both databases."""

import threading
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import func, select
from workbench import small_project

from rubricate.errors import InputError
from rubricate.store import tables as t
from rubricate.store.chain import verify
from rubricate.store.database import STEPS, Database, _schema, migrate


def people_in(database: Database) -> int:
    return database.read(lambda c: c.scalar(select(func.count()).select_from(t.person)))


def add(number: int):
    values = {"id": f"p{number}", "name": f"name {number}", "admin": False, "disabled": False}
    return lambda c: c.execute(t.person.insert().values(**values, made=0)) and 1


def test_what_fails_leaves_nothing_and_spoils_nothing_else(database: Database) -> None:
    def half(connection):
        add(1)(connection)
        raise ValueError("no")

    answers = []

    def write(work):
        try:
            answers.append(database.write(work))
        except Exception as error:
            answers.append(type(error))

    jobs = [threading.Thread(target=write, args=(work,)) for work in (add(2), half, add(3), add(2))]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert people_in(database) == 2
    assert sorted(map(str, answers))[:2] == ["1", "1"]
    assert ValueError in answers


def test_steps_bring_an_old_database_up_to_date(database_url: str, tmp_path: Path) -> None:
    database = Database(database_url)
    database.write(lambda c: migrate(c, to=1))
    database.write(add(1))
    database.migrate(tmp_path / "backups")
    assert people_in(database) == 1
    assert len(list((tmp_path / "backups").glob("*"))) == 1
    context = database.read(
        lambda c: compare_metadata(
            MigrationContext.configure(
                c, opts={"include_name": lambda n, *_: n != "schema_version"}
            ),
            t.metadata,
        )
    )
    assert context == []
    small_project(database)
    database.close()


def test_a_later_release_is_not_touched(database: Database) -> None:
    later = _schema.insert().values(number=len(STEPS) + 1)
    database.write(lambda c: c.execute(later))
    with pytest.raises(InputError, match="later release"):
        database.migrate()


def test_a_backup_holds_everything(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'a.sqlite'}")
    database.migrate()
    small_project(database)
    database.backup(tmp_path / "b.sqlite")
    with pytest.raises(InputError):
        database.backup(tmp_path / "b.sqlite")
    copy = Database(f"sqlite:///{tmp_path / 'b.sqlite'}")
    assert copy.read(verify) == database.read(verify)
    copy.close()
    database.close()
