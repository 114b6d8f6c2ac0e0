"""A project in which everybody did something, for tests of the whole server."""

import json
from functools import partial

from workbench import Small, small_project

from rubricate.store import annotating, curating, reviewing
from rubricate.store import tables as t
from rubricate.store.database import new_id, now
from rubricate.web.calls import Bench

#: A word in what each person did; nobody but those named may ever see it.
CANARY = {key: f"canary-{key}" for key in ("ann", "bob", "curator", "reviewer")}
#: The same, as marks: four numbers that stand nowhere else.
MARK = {"ann": [[(0, 1), (4, 6)]], "bob": [[(0, 2), (4, 5)]]}
VALUES = {
    "feature": "f1",
    "case": "c",
    "note": "n0",
    "id": "x",
    "token": "x",
    "code": "x",
    "name": "x",
}


def fill(bench: Bench) -> tuple[Small, dict[str, str]]:
    """Make a project in which everybody did something; return ids for the paths."""
    database = bench.database
    small = small_project(database)
    ids = dict(VALUES, project=small.project)
    for key, marks in MARK.items():
        me = small.who[key]
        queue = database.read(lambda c, m=me: annotating.own_queue(c, m, small.project))
        for one in queue["assignments"]:
            work = database.read(lambda c, m=me, o=one: annotating.open_work(c, m, o["id"]))
            for feature, answer in (("f1", "present"), ("f2", "absent")):
                own = marks if answer == "present" else ()
                database.write(partial(
                    annotating.judge, me=me, assignment=one["id"], feature=feature, answer=answer,
                    marks=own, version=0, sha256=work["note"]["sha256"]))  # fmt: skip
            database.write(partial(annotating.finish, me=me, assignment=one["id"]))
        ids.setdefault("assignment", one["id"])
    listed = database.read(partial(
        curating.list_disputes, me=small.who["curator"], project=small.project, state="open",
        after="", limit=1))  # fmt: skip
    ids["dispute"] = listed["items"][0]["id"]
    shown = database.read(
        partial(curating.show_dispute, me=small.who["curator"], dispute=ids["dispute"])
    )
    database.write(partial(
        curating.decide, me=small.who["curator"], dispute=ids["dispute"], choice="A", marks=(),
        comment=CANARY["curator"], version=0, inputs=shown["inputs"],
        sha256=shown["note"]["sha256"]))  # fmt: skip
    ids["run"], ids["item"] = database.write(partial(add_run, project=small.project))
    item = database.read(partial(reviewing.show_item, me=small.who["reviewer"], item=ids["item"]))
    database.write(partial(
        reviewing.correct, me=small.who["reviewer"], item=ids["item"], found=False, marks=None,
        comment=CANARY["reviewer"], version=0, sha256=item["note"]["sha256"],
        active_ms=0))  # fmt: skip
    return small, ids


def add_run(connection, project: str) -> tuple[str, str]:
    run, item = new_id(), new_id()
    values = {"id": run, "project": project, "name": "run", "folder": "{}", "hash": ""}
    connection.execute(t.run.insert().values(**values, made=now()))
    kept = [{"id": "f1", "text": "Fever", "weight": 1, "group": "", "found": True,
             "marks": "0 2", "reason": "exact"}]  # fmt: skip
    connection.execute(t.scored.insert().values(
        number=1, run=run, id="n9", case="c", text="no fever", sha256="0" * 64,
        body=json.dumps(kept)))  # fmt: skip
    connection.execute(t.item.insert().values(
        id=item, run=run, scored=1, feature="f1", found=True, marks="0 2", risk=0.4, why="unsure",
        position=0.0))  # fmt: skip
    return run, item
