"""Whoever waits for a project is woken by a commit, of another server too, and after a failure."""

import threading

import pytest
from sqlalchemy import text
from workbench import Small

from rubricate.store.database import Database
from rubricate.store.projects import change_project

LONG = 300  # seconds: nothing here takes them unless it is broken

#: Ends the connections that listen, and counts them.
END = text(
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
    "WHERE query LIKE 'LISTEN%' AND datname = current_database()"
)


def rename(database: Database, project: str) -> None:
    database.write(lambda c: change_project(c, project, "x", name="other"))


def test_a_commit_wakes_who_watches_its_project(database: Database, small: Small) -> None:
    listening, woken, other = threading.Event(), threading.Event(), threading.Event()
    with database.signals.watch("first", listening.set):
        if not database.is_sqlite:
            # Who watches is woken once the server listens: it may have missed something before.
            assert listening.wait(LONG)
        with (
            database.signals.watch(small.project, woken.set),
            database.signals.watch("other", other.set),
        ):
            rename(database, small.project)
            assert woken.wait(LONG)
            assert not other.is_set()
        woken.clear()
        rename(database, small.project)
        assert not woken.is_set()


def test_what_is_undone_wakes_nobody(tmp_path) -> None:
    from workbench import small_project

    database = Database(f"sqlite:///{tmp_path / 'a.sqlite'}")
    database.migrate()
    project, woken = small_project(database).project, threading.Event()

    def fail(connection) -> None:
        change_project(connection, project, "x", name="other")
        raise ValueError("no")

    with database.signals.watch(project, woken.set):
        with pytest.raises(ValueError, match="no"):
            database.write(fail)
        assert not woken.is_set()
    database.close()


@pytest.mark.engine
def test_servers_of_one_database_wake_each_other(postgres) -> None:
    from workbench import small_project

    url = postgres()
    one, two = Database(url), Database(url)
    one.migrate()
    project, woken = small_project(one).project, threading.Event()
    with two.signals.watch(project, woken.set):
        for _ in range(2):
            assert woken.wait(LONG)
            woken.clear()
            rename(one, project)
            assert woken.wait(LONG)
            woken.clear()
            # The connection that listens is lost, and made again.
            assert one.read(lambda c: c.scalar(END)) == 1
    one.close()
    two.close()
