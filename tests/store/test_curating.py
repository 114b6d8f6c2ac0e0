"""Curation: who may, what is shown, and decisions that are never overwritten."""

import pytest
from sqlalchemy import Connection, event
from workbench import Small, decide_first, judge_all

from rubricate.store import annotating, curating
from rubricate.store.database import Database
from rubricate.store.people import set_roles
from rubricate.store.refusals import RefusedError


def disputes(database: Database, small: Small, key: str = "curator", state: str = "open"):
    me = small.who[key]
    given = {"state": state, "after": "", "limit": 50}
    return database.read(lambda c: curating.list_disputes(c, me, small.project, **given))


def show(database: Database, small: Small, dispute: str):
    return database.read(lambda c: curating.show_dispute(c, small.who["curator"], dispute))


def test_sides_are_letters_and_offers_are_ready(database: Database, small: Small) -> None:
    judge_all(database, small)
    listed = disputes(database, small)
    assert (listed["open"], len(listed["items"])) == (3, 3)
    shown = show(database, small, listed["items"][0]["id"])
    assert [side["letter"] for side in shown["sides"]] == ["A", "B"]
    assert sorted(side["marks"] for side in shown["sides"]) == [(((0, 4),),), (((0, 5),),)]
    assert shown["offers"] == {"union": (((0, 5),),), "intersection": (((0, 4),),)}
    assert "ann" not in str(shown)


def test_a_decision_stays_when_another_one_comes(database: Database, small: Small) -> None:
    judge_all(database, small)
    decide_first(database, small)
    one = disputes(database, small, state="decided")["items"][0]
    shown = show(database, small, one["id"])
    given = {"choice": "own", "marks": [[(1, 3)]], "comment": "", "inputs": shown["inputs"],
             "sha256": shown["note"]["sha256"]}  # fmt: skip
    cora = small.who["curator"]
    with pytest.raises(RefusedError) as caught:
        database.write(lambda c: curating.decide(c, cora, one["id"], version=0, **given))
    assert caught.value.saved["decision"]["choice"] == "union"
    after = database.write(lambda c: curating.decide(c, cora, one["id"], version=1, **given))
    assert after["decision"]["marks"] == (((1, 3),),)
    assert [old["comment"] for old in after["history"]] == ["both"]


def test_a_judgement_that_changed_since_is_looked_at_again(
    database: Database, small: Small
) -> None:
    judge_all(database, small)
    decide_first(database, small)
    dispute = disputes(database, small, state="decided")["items"][0]
    ann = small.who["ann"]
    queue = database.read(lambda c: annotating.own_queue(c, ann, small.project))["assignments"]
    own = next(one["id"] for one in queue if one["note"] == dispute["note"])
    sha256 = database.read(lambda c: annotating.open_work(c, ann, own))["note"]["sha256"]
    database.write(
        lambda c: annotating.judge(
            c, ann, own, "f1", answer="unsure", marks=(), version=1, sha256=sha256
        )
    )
    assert disputes(database, small)["open"] == 3
    again = show(database, small, dispute["id"])
    assert (again["reason"], again["state"]) == ("changed", "open")
    assert again["decision"]["choice"] == "union"


def test_nobody_curates_what_they_annotate(database: Database, small: Small) -> None:
    judge_all(database, small)
    ann, boss = small.who["ann"].person, small.who["manager"].person
    database.write(lambda c: set_roles(c, small.project, ann, ["annotator", "curator"], boss))
    seen = disputes(database, small, "ann")
    assert (seen["items"], seen["open"], seen["decided"]) == ([], 0, 0)
    dispute = disputes(database, small)["items"][0]["id"]
    with pytest.raises(RefusedError):
        database.read(lambda c: curating.show_dispute(c, small.who["ann"], dispute))


def test_a_longer_list_asks_the_database_no_oftener(database: Database, small: Small) -> None:
    judge_all(database, small)

    def asked(limit: int) -> int:
        statements = []

        def listed(connection: Connection) -> None:
            event.listen(connection, "before_cursor_execute", lambda *said: statements.append(said))
            given = {"state": "open", "after": "", "limit": limit}
            curating.list_disputes(connection, small.who["curator"], small.project, **given)

        database.read(listed)
        return len(statements)

    assert asked(1) == asked(50)


def test_lists_go_on_and_can_be_narrowed(database: Database, small: Small) -> None:
    judge_all(database, small)
    decide_first(database, small)
    cora, seen, after = small.who["curator"], [], ""
    given = {"state": "all", "limit": 1}

    def page(**more: str):
        return database.read(
            lambda c: curating.list_disputes(c, cora, small.project, **{**given, **more})
        )

    while after is not None:
        found = page(after=after)
        seen += [one["id"] for one in found["items"]]
        after = found["next"]
    assert len(set(seen)) == len(seen) == 3
    assert page(after="", case="c", feature="f1", reason="differ")["items"][0]["id"] == seen[0]
    for wrong in ({"case": "d"}, {"feature": "f2"}, {"reason": "unsure"}):
        assert page(after="", **wrong)["items"] == []
