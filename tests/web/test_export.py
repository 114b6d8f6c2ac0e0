"""What the workbench writes is what the commands read."""

import csv
import io
import zipfile
from functools import partial
from pathlib import Path

import pytest
from workbench import Browsers

from rubricate import CorpusBuilder, Feature, Note, read_corpus, write_corpus
from rubricate.store import annotating, curating, people
from rubricate.store.people import Identity
from rubricate.study import (
    Study,
    assign_study,
    collect_study,
    curate_study,
    define_population,
    evaluate_study,
    plan_study,
    sample_study,
)
from rubricate.web.calls import Bench

SETTINGS = """
name = "small"
seed = 5
[population]
corpus = "notes.jsonl"
[[variables]]
name = "smoking"
role = "primary"
features = ["f1"]
[[variables]]
name = "weight"
features = ["f2"]
[detection]
corpus = "notes.jsonl"
annotator = "reference"
[plan]
precision = 0.8
recall = 0.8
half_width = 0.3
[annotation]
format = "jsonl"
training = 1
weeks = 2
annotators = [{id = "ann"}, {id = "bob"}]
[evaluation]
resamples = 100
"""


@pytest.fixture
def study(bench: Bench) -> Study:
    """A study of two features by ann and bob, up to what is handed out."""
    builder = CorpusBuilder()
    builder.add_feature(Feature("f1", "c", "Tobacco use"))
    builder.add_feature(Feature("f2", "c", "Weight loss"))
    for i in range(60):
        builder.add_note(Note(f"n{i}", "c", f"smokes {i} a day 😀, lost weight"))
        builder.judge_all("reference", f"n{i}")
        if i % 2:
            builder.annotate("reference", f"n{i}", "f1", [(0, 6)])
    folder = bench.folder / "asthma"
    folder.mkdir()
    write_corpus(builder.build(), folder / "notes.jsonl", format="jsonl")
    (folder / "guidelines.md").write_text("Mark words.", encoding="utf-8")
    (folder / "study.toml").write_text(SETTINGS, encoding="utf-8")
    made = Study.open(str(folder))
    for step in (define_population, plan_study, sample_study, assign_study):
        step(made)
    return made


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
    collected = collect_study(study).summary
    assert not collected["missing"]
    summary = curate_study(study).summary
    assert summary["undecided"] == 0
    assert summary["decided_by"]["cora"] == len(listed)
    reference = read_corpus(study.output("curate", "reference.jsonl"))
    note, feature = reference.notes[0], reference.features[0].id
    spans = [a.spans[0] for a in reference.annotations(note.id, feature, "reference")]
    assert [(s.start, s.end) for s in spans] == [(0, 6)]
    evaluated = evaluate_study(study).summary
    smoking = evaluated["variables"][0]
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
    agreement = manager.get(f"/api/v1/projects/{project}/agreement").json()
    assert agreement["notes"] == len(corpus.notes)
    assert agreement["presence_f1"]["value"] == 1.0
    assert agreement["characters_f1"]["value"] < 1.0
