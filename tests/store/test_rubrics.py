"""Versions of rubrics: what changed, and whose judgements and decisions to look at again."""

from dataclasses import replace
from functools import partial

import pytest
from workbench import RUBRIC, Small, decide_first, judge_all

from rubricate import Feature, Rubric
from rubricate.store import annotating, chain, curating
from rubricate.store import rubrics as r
from rubricate.store.database import Database
from rubricate.store.refusals import LeavingError


def change(database: Database, small: Small, *features: Feature) -> list[str]:
    boss = small.who["manager"].person
    rubric = Rubric("c", features)
    return database.write(lambda c: r.add_rubrics(c, small.project, [rubric], boss))


def again(database: Database, small: Small, key: str) -> list[list[str]]:
    me = small.who[key]
    queue = database.read(lambda c: annotating.own_queue(c, me, small.project))
    return [one["again"] for one in queue["assignments"]]


def test_other_words_ask_for_another_look(database: Database, small: Small) -> None:
    judge_all(database, small)
    decide_first(database, small)
    fever, pain = RUBRIC.features
    assert change(database, small, replace(fever, text="fever.", weight=3.0), pain) == ["c"]
    assert again(database, small, "ann") == [[], [], []]  # nothing that a judgement goes by
    assert change(database, small, replace(fever, text="Fever over 39 degrees"), pain) == ["c"]
    assert again(database, small, "ann") == again(database, small, "bob") == [["f1"]] * 3
    listed = database.read(lambda c: r.whose_again(c, small.project))
    assert [(one["annotator"], one["feature"], one["judgements"]) for one in listed] == [
        ("small ann", "f1", 3), ("small bob", "f1", 3)]  # fmt: skip
    # What was decided is open once more.
    cora = small.who["curator"]
    page = partial(curating.list_disputes, me=cora, project=small.project, state="open", after="",
                   limit=9)  # fmt: skip
    [opened] = database.read(lambda c: page(c, reason="rubric"))["items"]
    assert database.read(page)["decided"] == 0
    shown = database.read(lambda c: curating.show_dispute(c, cora, opened["id"]))
    assert shown["decision"]["choice"] == "union"  # it stays to be seen
    database.write(partial(
        curating.decide, me=cora, dispute=opened["id"], choice="none", marks=(), comment="",
        version=1, inputs=shown["inputs"], sha256=shown["note"]["sha256"],
    ))  # fmt: skip
    assert database.read(page)["decided"] == 1
    # An annotator gives the same answer to the new words; that reopens nothing.
    me = small.who["ann"]
    first = database.read(lambda c: annotating.own_queue(c, me, small.project))["assignments"][0]
    work = database.read(lambda c: annotating.open_work(c, me, first["id"]))
    assert {one: was["text"] for one, was in work["again"].items()} == {"f1": "Fever"}
    old = work["judgements"]["f1"]
    for _ in range(2):
        kept = database.write(partial(
            annotating.judge, me=me, assignment=first["id"], feature="f1", answer=old["answer"],
            marks=old["marks"], version=old["version"], sha256=work["note"]["sha256"],
        ))  # fmt: skip
        assert kept["version"] == old["version"]
    assert again(database, small, "ann") == [[], ["f1"], ["f1"]]
    assert database.read(page)["decided"] == 1
    assert all(not one.faults for one in database.read(chain.verify))


def test_better_words_of_the_same_meaning_ask_nobody(database: Database, small: Small) -> None:
    judge_all(database, small)
    decide_first(database, small)
    fever, pain = RUBRIC.features
    boss = small.who["manager"].person
    change(database, small, fever, replace(pain, text="Pain in the chest at rest"))
    better = Rubric("c", (replace(fever, text="Raised temperature"),
                          replace(pain, text="Chest pain while at rest")))  # fmt: skip
    database.write(lambda c: r.add_rubrics(c, small.project, [better], boss, same_meaning=True))
    # Who was asked before still is: the other feature had already another meaning.
    assert again(database, small, "ann") == [["f2"]] * 3
    cora = small.who["curator"]
    given = {"state": "all", "after": "", "limit": 9}
    page = database.read(lambda c: curating.list_disputes(c, cora, small.project, **given))
    assert "rubric" not in {one["reason"] for one in page["items"]}
    assert all(not one.faults for one in database.read(chain.verify))


def test_new_features_of_finished_notes_are_asked_for(database: Database, small: Small) -> None:
    judge_all(database, small)
    fever, pain = RUBRIC.features
    change(database, small, fever, pain, Feature("f3", "c", "Night sweats"))
    assert again(database, small, "ann") == [["f3"]] * 3
    [one] = database.read(lambda c: r.list_rubrics(c, small.project))
    assert (one["version"], one["history"][-1]["new"]) == (2, ["f3"])
    boss = small.who["manager"].person
    fewer = Rubric("c", (pain,))
    with pytest.raises(LeavingError) as refused:
        change(database, small, pain)  # a rename looks the same: it must be said
    assert refused.value.saved == {"gone": ["f1", "f3"]}
    database.write(lambda c: r.add_rubrics(c, small.project, [fewer], boss, may_leave=True))
    left = database.read(lambda c: r.left_out(c, small.project))
    assert [(one["feature"], one["text"], one["judgements"]) for one in left] == [
        ("f1", "Fever", 6)]  # fmt: skip
    [one] = database.read(lambda c: r.list_rubrics(c, small.project))
    assert one["history"][-1]["gone"] == ["f1", "f3"]
    assert again(database, small, "ann") == [[], [], []]
