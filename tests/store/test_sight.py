"""On PostgreSQL, what a query forgets to leave out is not there."""

import shutil
import subprocess
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import func, select, update
from sqlalchemy.exc import ProgrammingError
from workbench import Small, decide_first, judge_all, small_project

from rubricate.store import tables as t
from rubricate.store.database import Database
from rubricate.store.transaction import ALL, is_enforced, of_person, of_project

pytestmark = pytest.mark.engine
WORK = (t.assignment, t.judgement, t.event, t.curation, t.counter, t.dispute)


@pytest.fixture
def url(postgres) -> str:
    return postgres()


@pytest.fixture
def database(url: str):
    store = Database(url)
    store.migrate()
    yield store
    store.close()


@pytest.fixture
def small(database: Database) -> Small:
    """Return a project with work of everybody in it, and another one beside it."""
    made = small_project(database)
    for one in (made, small_project(database, "other")):
        judge_all(database, one)
        decide_first(database, one)
    return made


def rows(database: Database, sees: str) -> dict[str, list]:
    """Return all rows of all work, asked for without any condition."""
    return {
        table.name: database.read(lambda c, one=table: c.execute(select(one)).all(), sees)
        for table in WORK
    }


def test_annotators_see_their_own_work_only(database: Database, small: Small) -> None:
    assert database.read(is_enforced)
    ann = small.who["ann"].person
    found = rows(database, of_person(ann))
    assert {row.person for row in found["assignment"] + found["judgement"]} == {ann}
    assert {row.actor for row in found["event"]} == {ann}
    assert {row.name.partition(":")[2] for row in found["counter"]} == {ann}
    assert found["curation"] == found["dispute"] == []


def test_others_see_their_project_only(database: Database, small: Small) -> None:
    everything, found = rows(database, ALL), rows(database, of_project(small.project))
    for name, own in found.items():
        assert {row.project for row in own} == {small.project}
        assert 2 * len(own) == len(everything[name])


def test_who_says_nothing_sees_nothing(database: Database, small: Small, url: str) -> None:
    assert not any(rows(database, "").values())
    with psycopg.connect(url) as bare:
        for table in WORK:
            assert bare.execute(f"SELECT count(*) FROM {table.name}").fetchone() == (0,)


def test_nobody_writes_in_anothers_name(database: Database, small: Small) -> None:
    ann, bob = small.who["ann"].person, small.who["bob"].person
    spoil = update(t.judgement).values(marks="0 1")
    own = database.write(lambda c: c.execute(spoil).rowcount, of_person(ann))
    spoiled = select(func.count()).where(t.judgement.c.marks == "0 1", t.judgement.c.person != ann)
    assert own == 6
    assert database.read(lambda c: c.scalar(spoiled)) == 0
    for change in (update(t.judgement).values(person=bob), t.assignment.insert().values(
            id="x", project=small.project, note=1, person=bob, batch="", kind="", position=9)):  # fmt: skip
        with pytest.raises(ProgrammingError, match="row-level security"):
            database.write(lambda c, one=change: c.execute(one), of_person(ann))


def test_a_failed_write_leaves_no_sight_behind(database: Database, small: Small) -> None:
    def fail(_connection) -> None:
        raise ValueError("no")

    counted = select(func.count()).select_from(t.judgement)
    ann = of_person(small.who["ann"].person)
    for sees, n in ((ann, 6), (ALL, 24), (ann, 6)):
        with pytest.raises(ValueError, match="no"):
            database.write(fail, sees)
        assert database.write(lambda c: c.scalar(counted), sees) == n


def test_a_backup_holds_everybodys_work(database: Database, small: Small, tmp_path) -> None:
    database.backup(tmp_path / "all.dump")
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_restore"))
    program = shutil.which("pg_restore") or places[-1]
    restore = [program, "--data-only", "--table=judgement", "--file=-"]
    told = subprocess.check_output([*restore, tmp_path / "all.dump"], text=True)
    assert told.count("\tf1\t") == told.count("\tf2\t") == 12
