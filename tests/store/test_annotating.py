"""Judgements: versions, conflicts, undo, done; and two people at one note."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from workbench import Small

from rubricate import Note
from rubricate.store import annotating as a
from rubricate.store.chain import verify
from rubricate.store.database import Database
from rubricate.store.projects import add_notes, assign, change_project
from rubricate.store.refusals import (
    ConflictError,
    InvalidError,
    NotFoundError,
    NothingToUndoError,
    PausedError,
    RefusedError,
    TextChangedError,
)
from rubricate.study.assignment import Task


class Desk:
    """One annotator at their first note."""

    def __init__(self, database: Database, small: Small, key: str = "ann") -> None:
        self.database, self.me = database, small.who[key]
        self.note = self.read(a.next_note, small.project)["assignment"]
        self.sha256 = self.work()["note"]["sha256"]

    def read(self, work, *given):
        return self.database.read(lambda c: work(c, self.me, *given))

    def write(self, work, *given, **named):
        return self.database.write(lambda c: work(c, self.me, *given, **named))

    def work(self):
        return self.read(a.open_work, self.note)

    def judge(self, feature, answer, marks=(), version=0, **more):
        more = {"sha256": self.sha256, **more}
        return self.write(a.judge, self.note, feature, answer=answer, marks=marks, version=version, **more)  # fmt: skip


@pytest.fixture
def desk(database: Database, small: Small) -> Desk:
    return Desk(database, small)


def refused(work, *given, **named) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        work(*given, **named)
    return caught.value


def test_an_older_version_is_refused_with_what_is_saved(desk: Desk) -> None:
    first = desk.judge("f1", "present", [[(0, 2)]])
    assert first["version"] == 1
    # A second window still shows version 0.
    error = refused(desk.judge, "f1", "absent")
    assert type(error) is ConflictError
    assert error.saved["marks"] == (((0, 2),),)
    assert desk.judge("f1", "absent", version=error.saved["version"])["version"] == 2


def test_the_same_again_is_no_conflict(desk: Desk) -> None:
    saved = desk.judge("f1", "present", [[(3, 8)], [(0, 2)]])
    again = desk.judge("f1", "present", [[(0, 2)], [(3, 8)]])
    assert again == saved


@pytest.mark.parametrize(
    ("answer", "marks"),
    [("present", []), ("absent", [[(0, 2)]]), (None, [[(0, 2)]]), ("present", [[(2, 2)]]),
     ("present", [[(0, 999)]]), ("present", [[]])],
)  # fmt: skip
def test_answers_and_marks_must_fit(desk: Desk, answer, marks) -> None:
    assert type(refused(desk.judge, "f1", answer, marks)) is InvalidError


def test_marks_on_another_text_are_refused(desk: Desk) -> None:
    assert type(refused(desk.judge, "f1", "absent", sha256="0" * 64)) is TextChangedError


def test_undo_and_redo_are_events(desk: Desk) -> None:
    desk.judge("f1", "present", [[(0, 2)]])
    desk.judge("f1", "unsure", version=1)
    undone = desk.write(a.step_back, desk.note)
    assert (undone["answer"], undone["version"]) == ("present", 3)
    assert desk.write(a.step_back, desk.note)["answer"] is None
    assert type(refused(desk.write, a.step_back, desk.note)) is NothingToUndoError
    assert desk.write(a.step_forward, desk.note)["marks"] == (((0, 2),),)
    desk.judge("f2", "absent")
    assert type(refused(desk.write, a.step_forward, desk.note)) is NothingToUndoError


def test_done_lists_what_is_not_judged_and_clearing_reopens(desk: Desk, small: Small) -> None:
    desk.judge("f1", "absent")
    error = refused(desk.write, a.finish, desk.note)
    assert error.saved == {"unjudged": ["f2"]}
    desk.judge("f2", "unsure")
    after = desk.write(a.finish, desk.note)
    assert (after["done"], after["total"]) == (1, 3)
    assert after["next"] not in (None, desk.note)
    desk.judge("f2", None, version=1)
    assert desk.work()["state"] == "started"
    assert desk.read(a.next_note, small.project)["done"] == 0


def finish(desk: Desk) -> str:
    """Judge and finish the open note, go to the next one, and return the finished one."""
    finished, desk.sha256 = desk.note, desk.work()["note"]["sha256"]
    for feature in ("f1", "f2"):
        desk.judge(feature, "absent")
    desk.note = desk.write(a.finish, desk.note)["next"]
    desk.sha256 = desk.work()["note"]["sha256"] if desk.note else ""
    return finished


def test_undo_in_a_fresh_note_names_the_one_finished_before_it(
    database: Database, small: Small, desk: Desk
) -> None:
    assert refused(desk.write, a.step_back, desk.note).saved == {"finished": None}
    first, second = finish(desk), finish(desk)
    assert refused(desk.write, a.step_back, desk.note).saved == {"finished": second}
    opened = desk.write(a.reopen, second)
    assert (opened["state"], opened["next"], opened["done"]) == ("started", second, 1)
    assert {one["answer"] for one in desk.read(a.open_work, second)["judgements"].values()} == {
        "absent"
    }
    for _ in range(2):
        desk.write(a.step_back, second)
    assert refused(desk.write, a.step_back, second).saved == {"finished": first}
    assert desk.write(a.reopen, second)["state"] == "started"  # once is enough
    # What was done elsewhere since is not passed over.
    desk.judge("f1", "absent")
    assert refused(desk.write, a.step_back, second).saved == {"finished": None}
    bob = Desk(database, small, "bob")
    assert type(refused(bob.write, a.reopen, first)) is NotFoundError
    database.write(lambda c: change_project(c, small.project, "x", state="paused"))
    assert type(refused(desk.write, a.reopen, first)) is PausedError
    assert [one.faults for one in database.read(verify)] == [[]]


def test_the_one_decision_on_a_note_without_text_is_one_step(
    database: Database, small: Small
) -> None:
    def empty(connection) -> None:
        boss, ann = small.who["manager"].person, small.who["ann"].person
        add_notes(connection, small.project, [Note("blank", "c", " \n")], boss)
        task = Task("ann", "blank", "blank", "batch", "single")
        assign(connection, small.project, [task], {"ann": ann}, boss)

    database.write(empty)
    desk = Desk(database, small)
    desk.note = desk.read(a.own_queue, small.project)["assignments"][-1]["id"]
    desk.sha256 = desk.work()["note"]["sha256"]
    for feature in ("f1", "f2"):
        desk.judge(feature, "absent")
    undone = desk.write(a.step_back, desk.note)
    assert (undone["can_undo"], undone["can_redo"]) == (False, True)
    assert {one["answer"] for one in desk.work()["judgements"].values()} == {None}
    desk.write(a.step_forward, desk.note)
    assert {one["answer"] for one in desk.work()["judgements"].values()} == {"absent"}


def test_others_notes_are_not_there(database: Database, small: Small, desk: Desk) -> None:
    bob = Desk(database, small, "bob")
    assert bob.note != desk.note
    desk.judge("f1", "present", [[(0, 2)]])
    assert bob.work()["judgements"] == {}
    assert type(refused(bob.read, a.open_work, desk.note)) is NotFoundError
    assert type(refused(bob.write, a.finish, desk.note)) is NotFoundError


def test_a_paused_project_takes_nothing(database: Database, small: Small, desk: Desk) -> None:
    database.write(lambda c: change_project(c, small.project, "x", state="paused"))
    assert type(refused(desk.judge, "f1", "absent")) is PausedError


def test_two_servers_keep_one_of_two_saves(database: Database, small: Small, desk: Desk) -> None:
    if database.is_sqlite:
        pytest.skip("one process has SQLite")
    other = Database(database.url.render_as_string(hide_password=False))
    for version in range(5):
        with ThreadPoolExecutor() as pool:
            given = {"feature": "f1", "answer": "present", "version": version}
            saves = [
                pool.submit(Desk(one, small).judge, marks=[[(version, 9 + end)]], **given)
                for end, one in enumerate((database, other))
            ]
        errors = [one.exception() for one in saves if one.exception() is not None]
        assert [type(error) for error in errors] == [ConflictError]
        assert errors[0].saved["version"] == version + 1
    assert [one.faults for one in database.read(verify)] == [[]]
    other.close()
