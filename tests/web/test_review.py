"""Review of a run: the hidden sample, the score as it changes, publishing; long work; streams."""

import asyncio
import csv
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pytest
from sqlalchemy import select
from workbench import CORPUS, RUBRIC, Browsers, Small, on_both, small_project

from rubricate import Corpus, Note, write_corpus
from rubricate.formats.notes import open_notes
from rubricate.formats.options import ReadOptions
from rubricate.formats.rubric import write_rubrics
from rubricate.reports.scoring import write_scoring_report
from rubricate.scoring import ScoreSettings, UnsureRange, score_notes
from rubricate.store import reviewing
from rubricate.store import tables as t
from rubricate.store.people import set_roles
from rubricate.trust import verify_run
from rubricate.web import manage
from rubricate.web.calls import Bench, Call


def wait_for(name: str) -> None:
    """Wait until work in the background has ended."""
    for thread in threading.enumerate():
        if thread.name == name:
            thread.join()


@pytest.fixture
def small(bench: Bench) -> Small:
    write_corpus(CORPUS, bench.folder / "notes.jsonl", format="jsonl")
    unsure = ScoreSettings(matcher="exact", unsure=UnsureRange(0.0, 1.0))
    score_notes(bench.folder / "notes.jsonl", bench.folder / "scores", settings=unsure)
    return small_project(bench.database)


def add_run(browsers: Browsers, small: Small, **more) -> str:
    boss = browsers.of(small.who["manager"])
    body = {"folder": "scores", "notes": "notes.jsonl", **more}
    return boss.post(f"/api/v1/projects/{small.project}/runs", json=body).json()["id"]


def test_a_reviewer_corrects_and_publishes(bench: Bench, browsers: Browsers, small: Small) -> None:
    run = add_run(browsers, small, audit=1.0)
    client = browsers.of(small.who["reviewer"])
    page = client.get(f"/api/v1/runs/{run}/items").json()
    assert len(page["items"]) == page["open"] == 6
    changed = next(one for one in page["items"] if not one["found"])
    for name, value in (("feature", "f1"), ("found", "no"), ("case", "c")):
        part = client.get(f"/api/v1/runs/{run}/items?{name}={value}").json()["items"]
        real = {"no": False}.get(value, value)
        assert part == [one for one in page["items"] if one[name] == real]
    shown = client.get(f"/api/v1/items/{changed['id']}").json()
    assert (shown["why"], shown["risk"]) == (None, None)
    weight, before = shown["feature"]["weight"], shown["score"]["before"]
    body = {"found": True, "marks": [[[0, 4]]], "comment": "read it", "version": 0,
            "sha256": shown["note"]["sha256"]}  # fmt: skip
    after = client.put(f"/api/v1/items/{changed['id']}", json=body).json()
    assert after["score"] == {"before": before, "now": before + weight, "maximum": 3.0}
    assert after["why"]
    late = client.put(
        f"/api/v1/items/{changed['id']}", json={**body, "found": False, "marks": None}
    )
    assert late.status_code == 409
    assert late.json()["saved"]["correction"]["comment"] == "read it"
    assert client.post(f"/api/v1/runs/{run}/publish", json={}).status_code == 202
    wait_for("publishing")
    [state] = client.get(f"/api/v1/projects/{small.project}/runs").json()["runs"]
    assert (state["state"], state["fault"], state["done"]) == ("published", "", 1)
    with (bench.folder / "scores" / "scores.csv").open(newline="", encoding="utf-8") as stream:
        scores = {row["note"]: float(row["score"]) for row in csv.DictReader(stream)}
    assert scores[shown["note"]["id"]] == before + weight
    boss = browsers.of(small.who["manager"])
    progress = boss.get(f"/api/v1/projects/{small.project}/progress").json()
    audit = progress["runs"][0]["audit"]
    sent = bool(after["why"]) and "sample" not in after["why"]
    assert audit["seen"] == audit["wrong"] == (0 if sent else 1)


def test_a_run_is_added_and_published_by_forms(
    bench: Bench, browsers: Browsers, small: Small
) -> None:
    boss, page = browsers.of(small.who["manager"]), f"/p/{small.project}/review"
    wrong = boss.post(page, data={"folder": "nowhere", "notes": "notes.jsonl"})
    assert 'value="nowhere"' in wrong.text and 'value="notes.jsonl"' in wrong.text
    assert wrong.status_code == 200
    assert "nowhere" in wrong.text
    (bench.folder / "unfinished").mkdir()
    half = boss.post(page, data={"folder": "unfinished", "notes": "notes.jsonl"}).text
    assert "unfinished: there is no run.json" in half
    assert str(bench.folder) not in half
    asked = {"folder": "unfinished", "notes": "notes.jsonl"}
    told = boss.post(f"/api/v1/projects/{small.project}/runs", json=asked).json()["error"]["faults"]
    assert "run.json" in told[0] and str(bench.folder) not in told[0]
    asked = {"folder": ".", "notes": "notes.jsonl"}
    told = boss.post(f"/api/v1/projects/{small.project}/runs", json=asked).json()["error"]["faults"]
    assert told[0].startswith(f"{bench.folder.name}: ")
    assert str(bench.folder) not in boss.post(page, data=asked).text
    boss.post(page, data={"folder": "scores", "notes": "notes.jsonl"})
    [run] = boss.get(f"/api/v1/projects/{small.project}/runs").json()["runs"]
    assert f"{page}/{run['id']}/publish" in boss.get(page).text
    assert boss.post(f"{page}/no-such-run/publish", data={}).status_code == 404
    browsers.of(small.who["reviewer"]).post(f"{page}/{run['id']}/publish", data={})
    wait_for("publishing")
    [run] = boss.get(f"/api/v1/projects/{small.project}/runs").json()["runs"]
    assert (run["state"], run["fault"]) == ("published", "")
    assert browsers.of(small.who["ann"]).get(page).status_code in (403, 404)


def published(browsers: Browsers, small: Small, **given: str) -> dict[str, str]:
    """Take a run for review, publish it, and return how it went."""
    run, boss = add_run(browsers, small, **given), browsers.of(small.who["manager"])
    boss.post(f"/api/v1/runs/{run}/publish", json={})
    wait_for("publishing")
    runs = boss.get(f"/api/v1/projects/{small.project}/runs").json()["runs"]
    return next(one for one in runs if one["id"] == run)


def test_what_a_stopped_server_was_publishing_can_be_published_again(
    bench: Bench, browsers: Browsers, small: Small
) -> None:
    run, boss = add_run(browsers, small), browsers.of(small.who["manager"])
    bench.database.write(partial(reviewing.begin_publishing, run=run))
    url = f"/api/v1/runs/{run}/publish"
    assert boss.post(url, json={}).status_code == 409
    bench.database.write(reviewing.fail_stopped_publishing)
    [row] = boss.get(f"/api/v1/projects/{small.project}/runs").json()["runs"]
    assert row["state"] == "failed" and row["fault"]
    assert boss.post(url, json={}).status_code == 202
    wait_for("publishing")


def test_a_run_is_published_once_at_a_time(bench: Bench, browsers: Browsers, small: Small) -> None:
    run, boss = add_run(browsers, small), browsers.of(small.who["manager"])
    url = f"/api/v1/runs/{run}/publish"
    with bench.busy, ThreadPoolExecutor(8) as pool:  # what was begun waits for its turn
        said = [one.status_code for one in pool.map(lambda _: boss.post(url, json={}), range(8))]
    assert sorted(said) == [202] + [409] * 7
    wait_for("publishing")
    [row] = boss.get(f"/api/v1/projects/{small.project}/runs").json()["runs"]
    assert (row["state"], row["fault"]) == ("published", "")
    assert boss.post(url, json={}).status_code == 202
    wait_for("publishing")


def test_publishing_keeps_the_report(bench: Bench, browsers: Browsers, small: Small) -> None:
    folder = bench.folder / "scores"
    assert published(browsers, small)["state"] == "published"
    assert not (folder / "report.html").exists()  # a run without a report gets none
    write_scoring_report(folder, CORPUS.notes)
    (folder / "report.html").write_text("old", encoding="utf-8")
    assert published(browsers, small)["state"] == "published"
    assert (folder / "report.html").read_text(encoding="utf-8") != "old"
    assert (folder / "report" / "notes.html").exists()
    assert verify_run(folder).differing == ()


def test_a_run_is_not_published_with_another_model(
    bench: Bench, browsers: Browsers, small: Small
) -> None:
    (bench.folder / "scores" / "model").rename(bench.folder / "elsewhere")
    failed = published(browsers, small)
    assert (failed["state"], "Copy that folder" in failed["fault"]) == ("failed", True)


def test_a_run_of_columns_with_names_of_their_own_is_reviewed_and_published(
    bench: Bench, browsers: Browsers, small: Small
) -> None:
    table = "Matrikel,Anamnese,Kurs\nm1,fever since 2 days,a\nm2,no pain,a\nm3,cough,b\n"
    (bench.folder / "kurs.csv").write_text(table, encoding="utf-8")
    write_rubrics([RUBRIC], bench.folder / "rubric.csv")
    columns = {"id": "Matrikel", "text": "Anamnese"}
    how = ReadOptions(columns=columns, case="c")
    source = open_notes(bench.folder / "kurs.csv", where=["Kurs=a"], how=how)
    unsure = ScoreSettings(matcher="exact", unsure=UnsureRange(0.0, 1.0), any_text=True)
    score_notes(source, bench.folder / "own", rubric=bench.folder / "rubric.csv", settings=unsure)
    said = json.loads((bench.folder / "own" / "run.json").read_text(encoding="utf-8"))["input"]
    assert (said["columns"], said["case"], said["where"]) == (columns, "c", ["Kurs=a"])
    done = published(
        browsers, small, folder="own", notes="kurs.csv", rubric="rubric.csv", audit=1.0
    )
    assert (done["state"], done["fault"], done["open"]) == ("published", "", 4)


def test_notes_without_text_need_one_decision_and_unreadable_ones_none(
    bench: Bench, browsers: Browsers, small: Small
) -> None:
    table = "id,case,text\nn1,c,fever since 2 days\nn2,c,\n,c,pain\n"
    (bench.folder / "odd.csv").write_text(table, encoding="utf-8")
    write_rubrics([RUBRIC], bench.folder / "rubric.csv")
    settings = ScoreSettings(matcher="exact", any_text=True)
    score_notes(bench.folder / "odd.csv", bench.folder / "own", settings=settings,
                rubric=bench.folder / "rubric.csv")  # fmt: skip
    given = {"folder": "own", "notes": "odd.csv", "rubric": "rubric.csv"}
    run, client = add_run(browsers, small, audit=1.0, **given), browsers.of(small.who["reviewer"])
    items = client.get(f"/api/v1/runs/{run}/items").json()["items"]
    assert sorted((one["note"], one["feature"]) for one in items) == [
        (note, feature) for note in ("n1", "n2") for feature in ("f1", "f2")
    ]
    texts = {
        one["note"]: client.get(f"/api/v1/items/{one['id']}").json()["note"]["text"]
        for one in items
    }
    assert texts == {"n1": "fever since 2 days", "n2": ""}
    # Nothing can be found in n2: one decision is enough for both of its features.
    empty = next(one for one in items if one["note"] == "n2")
    shown = client.get(f"/api/v1/items/{empty['id']}").json()
    body = {"found": False, "comment": "empty", "version": 0, "sha256": shown["note"]["sha256"]}
    saved = client.put(f"/api/v1/items/{empty['id']}", json=body).json()
    assert [one["corrected"] for one in saved["items"]] == [True, True]
    left = client.get(f"/api/v1/runs/{run}/items").json()
    assert ({one["note"] for one in left["items"]}, left["done"]) == ({"n1"}, 2)


def test_words_that_say_otherwise_are_marked(
    bench: Bench, browsers: Browsers, small: Small
) -> None:
    run, client = add_run(browsers, small, audit=1.0), browsers.of(small.who["reviewer"])
    items = client.get(f"/api/v1/runs/{run}/items?feature=f1").json()["items"]
    item = next(one for one in items if one["note"] == "n0")  # no fever, pain in chest
    shown = client.get(f"/api/v1/items/{item['id']}").json()
    body = {"found": False, "marks": [[[0, 8]]], "version": 0, "sha256": shown["note"]["sha256"]}
    saved = client.put(f"/api/v1/items/{item['id']}", json=body).json()
    assert saved["correction"]["against"] == [[[0, 8]]]
    assert saved["correction"]["marks"] == []
    client.post(f"/api/v1/runs/{run}/publish", json={})
    wait_for("publishing")
    with (bench.folder / "scores" / "items.csv").open(newline="", encoding="utf-8") as stream:
        rows = {(row["note"], row["feature"]): row for row in csv.DictReader(stream)}
    row = rows["n0", "f1"]
    assert (row["found"], row["outcome"]) == ("no", "contradicted")
    assert (row["contradicted_by"], row["contradicted_spans"]) == ("no fever", "0 8")


def test_a_run_that_could_not_be_published_or_is_there_is_refused(
    bench: Bench, browsers: Browsers, small: Small
) -> None:
    boss, page = browsers.of(small.who["manager"]), f"/p/{small.project}/review"
    (bench.folder / "table.csv").write_text("id,text\nn1,fever\n", encoding="utf-8")
    wrong = boss.post(page, data={"folder": "scores", "notes": "table.csv"})
    assert "without a rubric" in wrong.text
    for already in (False, True):
        answer = boss.post(page, data={"folder": "scores", "notes": "notes.jsonl"})
        assert ("under review already" in answer.text) == already
    assert len(boss.get(f"/api/v1/projects/{small.project}/runs").json()["runs"]) == 1


def test_nothing_outside_the_folder_is_read(browsers: Browsers, small: Small) -> None:
    boss = browsers.of(small.who["manager"])
    for folder in ("..", "/etc", "../scores", ""):
        body = {"folder": folder, "notes": "notes.jsonl"}
        answer = boss.post(f"/api/v1/projects/{small.project}/runs", json=body)
        assert answer.status_code == 400, folder


def test_suggestions_are_shown_only_where_allowed(browsers: Browsers, small: Small) -> None:
    boss, ann = browsers.of(small.who["manager"]), browsers.of(small.who["ann"])
    url = f"/api/v1/projects/{small.project}"
    assert boss.post(f"{url}/suggestions", json={"matcher": "lexicon"}).status_code == 202
    wait_for("suggestions")
    queue = ann.get(f"{url}/queue").json()["assignments"]
    assert ann.get(f"/api/v1/assignments/{queue[0]['id']}").json()["suggestions"] is None
    boss.patch(url, json={"suggestions": True})
    found = [ann.get(f"/api/v1/assignments/{one['id']}").json()["suggestions"] for one in queue]
    assert any("f1" in one for one in found)


def test_a_stream_tells_of_changes_until_the_role_is_gone(bench: Bench, small: Small) -> None:
    me = small.who["observer"]
    call = Call(bench, me, frozenset({"observer"}), small.project)

    async def listen() -> list[bytes]:
        stream = manage.get_events(call).body_iterator
        parts = [await anext(stream)]
        boss = small.who["manager"].person
        bench.database.write(partial(set_roles, project=small.project, person=me.person, roles=[],
                                     actor=boss))  # fmt: skip
        return [*parts, *[part async for part in stream]]

    parts = asyncio.run(listen())
    assert len(parts) == 1
    name, data = parts[0].decode().strip().split("\n")
    assert name == "event: progress"
    assert json.loads(data.removeprefix("data: "))["notes"] == 3


@on_both
def test_nobody_reviews_notes_they_annotate(bench: Bench, browsers: Browsers) -> None:
    # The run knows one note by another id, and another one in other words.
    notes = list(CORPUS.notes)
    notes[0] = replace(notes[0], id="other")
    notes[1] = replace(notes[1], text="fever, since 2 days")
    scored = Corpus((*notes, Note("n9", "c", "Fever and chest pain")), CORPUS.rubrics)
    write_corpus(scored, bench.folder / "notes.jsonl", format="jsonl")
    settings = ScoreSettings(matcher="exact", unsure=UnsureRange(0.0, 1.0))
    score_notes(bench.folder / "notes.jsonl", bench.folder / "scores", settings=settings)
    small = small_project(bench.database)
    run = add_run(browsers, small, audit=1.0)
    boss, ann = small.who["manager"].person, small.who["ann"]
    listed = f"/api/v1/runs/{run}/items"
    whole = browsers.of(small.who["reviewer"]).get(listed).json()
    assert (len(whole["items"]), whole["open"]) == (8, 8)
    bench.database.write(
        partial(set_roles, project=small.project, person=ann.person, actor=boss,
                roles=["annotator", "reviewer"])
    )  # fmt: skip
    own = browsers.of(ann)
    page = own.get(listed).json()
    assert {one["note"] for one in page["items"]} == {"n9"}
    assert (page["open"], page["done"]) == (2, 0)
    sha256 = bench.database.read(lambda c: c.scalar(select(t.scored.c.sha256)))
    said = {"found": True, "version": 0, "sha256": sha256}
    for item in whole["items"]:
        place, may = f"/api/v1/items/{item['id']}", item["note"] == "n9"
        assert own.get(place).status_code == (200 if may else 403)
        if not may:
            assert own.put(place, json=said).status_code == 403
