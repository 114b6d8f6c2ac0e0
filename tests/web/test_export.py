"""The commands read every file that the workbench writes."""

import csv
import io
import json
import shutil
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from browsing import open_browser, press, wait_for
from click.testing import CliRunner
from workbench import CORPUS, Browsers, judge_all, small_project

from rubricate import read_corpus, write_corpus
from rubricate.cli import main
from rubricate.store import annotating, curating, people
from rubricate.store.people import Identity
from rubricate.study.assignment import batch_path, read_key
from rubricate.study.collection import RETURNED
from rubricate.study.record import Study
from rubricate.web.calls import Bench


def run(*given: object) -> Any:
    """Run a command and return what it prints as JSON."""
    done = CliRunner().invoke(main, [*map(str, given), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def annotate(bench: Bench, project: str, me: Identity, shift: int) -> None:
    """Mark the first feature everywhere, bob one more character; bob is unsure of the second."""
    queue = bench.database.read(partial(annotating.own_queue, me=me, project=project))
    for one in queue["assignments"]:
        work = bench.database.read(partial(annotating.open_work, me=me, assignment=one["id"]))
        for k, feature in enumerate(work["rubric"]["features"]):
            answer = "present" if k == 0 else "unsure" if k == 1 and shift else "absent"
            bench.database.write(partial(
                annotating.judge, me=me, assignment=one["id"], feature=feature["id"],
                answer=answer, marks=[[(0, 5 + shift)]] if k == 0 else (), version=0,
                sha256=work["note"]["sha256"]))  # fmt: skip
        bench.database.write(partial(annotating.finish, me=me, assignment=one["id"]))


def test_a_study_goes_through_the_workbench(bench: Bench, browsers: Browsers, study: Study) -> None:
    boss = bench.database.write(partial(people.add_person, name="boss", admin=True))
    manager = browsers.of(Identity(boss, "boss", admin=True))
    made = manager.post("/api/v1/projects", json={"name": "asthma", "study": "asthma"}).json()
    project = made["id"]
    ids = {row.name: row.id for row in (
        bench.database.read(partial(people.person_named, name=n)) for n in ("ann", "bob"))}  # fmt: skip
    for shift, name in enumerate(("ann", "bob")):
        annotate(bench, project, Identity(ids[name], name), shift)
    cora = bench.database.write(partial(people.add_person, name="cora"))
    bench.database.write(partial(people.set_roles, project=project, person=cora,
                                 roles=["curator"], actor=boss))  # fmt: skip
    me = Identity(cora, "cora")
    client = browsers.of(me)
    listed = client.get(f"/api/v1/projects/{project}/disagreements?limit=200").json()["items"]
    reasons = {one["reason"] for one in listed}
    assert reasons == {"differ", "unsure"}
    for one in listed:
        shown = bench.database.read(partial(curating.show_dispute, me=me, dispute=one["id"]))
        choice = "union" if one["reason"] == "differ" else "none"
        answer = client.put(f"/api/v1/disagreements/{one['id']}", json={
            "choice": choice, "version": 0, "inputs": shown["inputs"],
            "sha256": shown["note"]["sha256"]})  # fmt: skip
        assert answer.status_code == 200
    written = manager.post(f"/api/v1/projects/{project}/export", json={})
    assert written.status_code == 200, written.text
    assert manager.post(f"/api/v1/projects/{project}/export", json={}).status_code == 400
    assert not run("study", "collect", study.folder)["summary"]["missing"]
    summary = run("study", "curate", study.folder)["summary"]
    assert summary["undecided"] == 0
    assert summary["decided_by"]["cora"] == len(listed)
    reference = read_corpus(study.output("curate", "reference.jsonl"))
    note, feature = reference.notes[0], reference.features[0].id
    spans = [a.spans[0] for a in reference.annotations(note.id, feature, "reference")]
    assert [(s.start, s.end) for s in spans] == [(0, 6)]
    smoking = run("study", "evaluate", study.folder)["summary"]["variables"][0]
    # The system marked every second note, the same words; people marked all.
    assert smoking["manual"] == smoking["notes"] == smoking["tp"] + smoking["fn"]
    assert 0 < smoking["tp"] < smoking["notes"]
    assert smoking["spans_exact"]["precision"]["value"] == 1.0


def test_the_archive_holds_what_commands_read(
    bench: Bench, browsers: Browsers, study: Study, tmp_path: Path
) -> None:
    boss = bench.database.write(partial(people.add_person, name="boss", admin=True))
    manager = browsers.of(Identity(boss, "boss", admin=True))
    project = manager.post("/api/v1/projects", json={"name": "a", "study": "asthma"}).json()["id"]
    for shift, name in enumerate(("ann", "bob")):
        row = bench.database.read(partial(people.person_named, name=name))
        annotate(bench, project, Identity(row.id, name), shift)
    archive = zipfile.ZipFile(io.BytesIO(manager.get(f"/api/v1/projects/{project}/export").content))
    archive.extractall(tmp_path / "out")
    corpus = read_corpus(tmp_path / "out" / "annotations.jsonl")
    assert [a.id for a in corpus.annotators] == ["ann", "bob"]
    with (tmp_path / "out" / "decisions.csv").open(newline="") as stream:
        assert list(csv.DictReader(stream)) == []
    with (tmp_path / "out" / "judgements.csv").open(newline="") as stream:
        judged = list(csv.DictReader(stream))
    assert {(row["annotator"], row["answer"]) for row in judged} == {
        ("ann", "present"), ("ann", "absent"), ("bob", "present"), ("bob", "unsure")}  # fmt: skip
    assert {(row["suggestion"], row["seconds"]) for row in judged} == {("none", "0.0")}
    agreement = manager.get(f"/api/v1/projects/{project}/agreement").json()
    assert agreement["notes"] == len(corpus.notes)
    assert agreement["presence_f1"]["value"] == 1.0
    assert agreement["characters_f1"]["value"] < 1.0
    own = tmp_path / "out" / "annotations.jsonl"
    between = run("agree", own)
    assert [one["id"] for one in between["annotators"]] == ["ann", "bob"]
    # the dashboard and the command say the same of the same figure, with the same interval
    shown = [(agreement, between["overall"])]
    shown += [(one, between["features"][one["feature"]]) for one in agreement["features"]]
    for live, printed in shown:
        for name in ("presence", "characters"):
            if live[f"{name}_f1"] is not None:
                assert printed[name]["interval"] == pytest.approx(live[f"{name}_f1"])
    sides = ("--reference-annotator", "ann", "--predicted-annotator", "bob")
    measured = run("evaluate", own, own, *sides, "--resamples", 100, "--unit", "character")
    assert measured["characters"]["f1"] == pytest.approx(agreement["characters_f1"]["value"])


def test_commands_take_the_reference_as_it_is(
    bench: Bench, browsers: Browsers, tmp_path: Path
) -> None:
    small = small_project(bench.database)
    judge_all(bench.database, small)
    boss = browsers.of(small.who["manager"])
    page = f"/p/{small.project}/download"
    assert f'action="{page}/archive"' in boss.get(page).text
    for what in ("reference", "annotators", "both"):
        answer = boss.get(f"{page}/archive", params={"what": what, "rule": "union"})
        zipfile.ZipFile(io.BytesIO(answer.content)).extractall(tmp_path / what)
    reference, ann = (tmp_path / one / f"{one}.jsonl" for one in ("reference", "annotators"))
    few = ("--resamples", 50)
    measured = run("evaluate", reference, ann, "--predicted-annotator", "small bob", *few)
    assert measured["characters"]["f1"] == 1.0
    own = tmp_path / "both" / "both.jsonl"
    measured = run("evaluate", own, own, "--predicted-annotator", "small ann", *few)
    assert 0 < measured["characters"]["f1"] < 1
    for given, name in ((reference, "one"), (own, "two")):
        run("fit", given, "--matcher", "lexicon", "--out", tmp_path / name)
        run("match", given, "--model", tmp_path / name, "--out", tmp_path / f"{name}.jsonl")
        run("evaluate", given, tmp_path / f"{name}.jsonl", *few)
    refused = boss.get(f"{page}/archive", params={"what": "both", "format": "submission"})
    assert "annotators beyond the first" in refused.text
    assert "<option selected>submission" in refused.text
    assert boss.get(f"/api/v1/projects/{small.project}/export?what=x").status_code == 400


def test_the_archives_corrections_are_what_score_reads(
    bench: Bench, browsers: Browsers, tmp_path: Path
) -> None:
    small = small_project(bench.database)
    judge_all(bench.database, small)
    notes, scores = bench.folder / "notes.jsonl", bench.folder / "scores"
    write_corpus(CORPUS, notes, format="jsonl")
    scored = ("score", notes, "--matcher", "exact", "--out", scores, "--no-report")
    run(*scored)
    boss, rita = browsers.of(small.who["manager"]), browsers.of(small.who["reviewer"])
    given = {"folder": "scores", "notes": "notes.jsonl", "audit": 1.0}
    own = boss.post(f"/api/v1/projects/{small.project}/runs", json=given).json()["id"]
    items = rita.get(f"/api/v1/runs/{own}/items?found=no").json()["items"]
    for one in items:
        shown = rita.get(f"/api/v1/items/{one['id']}").json()
        body = {"found": True, "marks": [[[0, 2]]], "version": 0, "comment": "=1+1, read it",
                "sha256": shown["note"]["sha256"]}  # fmt: skip
        assert rita.put(f"/api/v1/items/{one['id']}", json=body).status_code == 200
    content = boss.get(f"/api/v1/projects/{small.project}/export").content
    zipfile.ZipFile(io.BytesIO(content)).extractall(tmp_path / "out")
    run(*scored, "--overwrite", "--corrections", tmp_path / "out" / f"corrections-{own}.csv")
    with (scores / "items.csv").open(newline="", encoding="utf-8") as stream:
        signed = [row for row in csv.DictReader(stream) if row["corrected_by"]]
    assert len(signed) == len(items) > 0
    assert {(row["corrected_by"], row["found"], row["spans"]) for row in signed} == {
        ("small reviewer", "yes", "0 2")}  # fmt: skip


@pytest.mark.browser
@pytest.mark.slow
def test_a_study_goes_through_pages_without_a_server(study: Study, tmp_path: Path) -> None:
    """Each batch is annotated on the page of `rubricate annotate`; what it saves is sent back."""
    key = study.output("assign", "key.csv")
    batches = dict.fromkeys((task.annotator, task.batch) for task in read_key(key))
    with open_browser(tmp_path) as browser:
        for number, (name, batch) in enumerate(batches):
            packed = batch_path(key.parent / name, batch, "jsonl")
            page, saved = tmp_path / f"{number}.html", tmp_path / f"{name}.jsonl"
            told = run("annotate", packed, "--annotator", name, "--out", page)
            browser.get(page.as_uri())
            press(browser, *["\ue014", "\ue007", "x"] * told["notes"])
            wait_for(browser, "document.querySelectorAll('.features .state.open').length", 0)
            browser.find_element("id", "save").click()
            wait_for(browser, "document.getElementById('status').textContent.includes('jsonl')")
            wait_for_file(browser, saved)
            place = batch_path(study.folder / RETURNED / name, batch, "jsonl")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(saved, place)
    assert not run("study", "collect", study.folder)["summary"]["missing"]
    assert run("study", "curate", study.folder)["summary"]["undecided"] == 0
    smoking = run("study", "evaluate", study.folder)["summary"]["variables"][0]
    assert smoking["manual"] == smoking["notes"] > smoking["tp"] > 0
    first = next(iter((study.folder / RETURNED / "ann").rglob("*.jsonl")))
    assert run("agree", first, str(first).replace("/ann/", "/bob/"))


def wait_for_file(browser: Any, path: Path) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 60).until(lambda _: path.exists())
