"""Any change to what was kept is found; what is erased leaves a chain that still holds."""

import threading

import pytest
from sqlalchemy import select, text
from workbench import CORPUS, Small, decide_first, judge_all, small_project

from rubricate.store import tables as t
from rubricate.store.chain import Entry, append, erase_note, verify
from rubricate.store.database import Database

CHANGES = [
    "UPDATE event SET body = replace(body, 'absent', 'unsure') WHERE kind = 'judge'",
    "UPDATE event SET actor = 'x' WHERE number = 20",
    "UPDATE event SET at = at + 1 WHERE number = 20",
    "UPDATE event SET salt = 'x' WHERE number = 20",
    "UPDATE event SET hash = 'x' WHERE number = 20",
    "DELETE FROM event WHERE number = 20",
    "DELETE FROM event WHERE number = (SELECT max(number) FROM event)",
    "UPDATE event SET number = number + 100 WHERE number > 25",
    "UPDATE judgement SET marks = '0 2' WHERE feature = 'f1'",
    "UPDATE judgement SET answer = 'unsure' WHERE feature = 'f2'",
    "UPDATE judgement SET version = 7",
    "DELETE FROM judgement WHERE feature = 'f1'",
    "UPDATE curation SET marks = '0 2'",
    "UPDATE curation SET comment = 'another'",
    "DELETE FROM curation",
    "UPDATE note SET text = 'another'",
    "UPDATE note SET id = 'x' || id",
    "UPDATE rubric_version SET body = '{}'",
    "UPDATE assignment SET state = 'open'",
    "UPDATE project SET head = 'x'",
]


def test_any_change_is_found(database: Database, small: Small) -> None:
    judge_all(database, small)
    decide_first(database, small)
    intact = database.read_at_once(verify)
    assert [one.faults for one in intact] == [[]]
    missed = []
    for change in CHANGES:

        def tried(connection, change=change):
            assert connection.execute(text(change)).rowcount
            found = verify(connection)
            if not found[0].faults:
                missed.append(change)
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            database.write(tried)
    assert not missed
    assert database.read_at_once(verify) == intact


def test_erasing_a_note_leaves_the_chain_and_none_of_its_words(
    database: Database, small: Small
) -> None:
    judge_all(database, small)
    boss = small.who["manager"].person
    number = database.read(lambda c: c.scalar(select(t.note.c.number).where(t.note.c.id == "n1")))
    before = database.read_at_once(verify)[0]
    database.write(lambda c: erase_note(c, small.project, number, boss))
    after = database.read_at_once(verify)[0]
    assert not after.faults
    assert after.events == before.events + 1
    left = database.read(lambda c: c.execute(select(t.event).where(t.event.c.note == number)).all())
    assert all(row.body is None and row.salt is None for row in left if row.kind != "erase")
    assert CORPUS.notes[1].text not in str(database.read(lambda c: c.execute(select(t.note)).all()))


@pytest.mark.engine
def test_two_servers_write_one_chain(postgres) -> None:
    url = postgres()
    servers = [Database(url), Database(url)]
    servers[0].migrate()
    places = [small_project(servers[0], name) for name in ("one", "two")]

    def write(server: Database) -> None:
        for number in range(20):
            project = places[number % 2].project
            server.write(lambda c, p=project: append(c, p, Entry("settings", "x", {"n": 1})))

    # Both write to both projects, so that locks are taken in either order.
    threads = [threading.Thread(target=write, args=(server,)) for server in servers * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = servers[1].read_at_once(verify)
    assert [one.faults for one in found] == [[], []]
    assert sum(one.events for one in found) >= 120
    for server in servers:
        server.close()
