"""A whole study over the embedded corpus, its two annotators being the annotators."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rubricate import CorpusBuilder, load_corpus, read_corpus, write_corpus
from rubricate.cli import VERBS, main
from rubricate.matchers import fit_matcher
from rubricate.study.assignment import batch_path, read_key

TABLE_3 = Path(__file__).parents[1] / "resources" / "study" / "table3.csv"
RATERS = {"ann": "reference", "bob": "second_rater"}
SETTINGS = """
name = "Family history"
question = "How well does an exact lookup find the family history?"
seed = 3
[population]
corpus = "../notes.jsonl"
site = "site"
[population.questions]
age = "all ages"
[population.where]
part = "depth"
[[variables]]
name = "family history"
role = "primary"
features = ["13", "113", "210", "311", "413", "613", "713", "814", "914"]
[[variables]]
name = "smoking"
features = ["12", "414"]
[[variables]]
name = "weight loss"
feature_text = "weight loss"
[detection]
corpus = "../system.jsonl"
[plan]
precision = 0.9
recall = 0.6
half_width = 0.12
assurance = 0.8
[annotation]
format = "brat"
training = 3
double_share = 0.9
weeks = 2
rename = true
annotators = [{id = "ann", senior = true}, {id = "bob"}]
[agreement]
threshold = 0.97
[curation]
rules = ["identical"]
[evaluation]
resamples = 200
"""


@pytest.fixture(autouse=True, scope="module")
def _verb_is_there() -> Iterator[None]:
    known = any("study" in verbs for verbs in VERBS.values())
    if not known:
        VERBS["Study"] = {"study": ("a study", "rubricate.cli.study")}
    yield
    if not known:
        del VERBS["Study"]


def run(*arguments: str, fails: bool = False) -> Result:
    done = CliRunner().invoke(main, ["study", *arguments])
    assert done.exit_code == (1 if fails else 0), done.output
    return done


def summary(*arguments: str) -> dict:
    return json.loads(run(*arguments, "--json").stdout)["summary"]


def twice_annotated(corpus):
    """The 200 deep notes both raters annotated, each case at one of two sites."""
    rows = corpus.rows
    twice = {corpus.notes[i].id for i in rows.note[rows.annotator == 1].tolist()}
    return corpus.select(notes=twice)


def with_sites(corpus):
    from dataclasses import replace

    from rubricate import Metadata

    notes = tuple(
        replace(n, metadata=Metadata(dict(n.metadata), site="AB"[int(n.case) % 2]))
        for n in corpus.notes
    )
    return replace(corpus, notes=notes)


def annotate(study: Path, notes) -> None:
    """Fill in what each rater marked, under the ids the annotators saw."""
    for task_batch in {(t.annotator, t.batch) for t in read_key(key_path(study))}:
        who, batch = task_batch
        tasks = [t for t in read_key(key_path(study)) if (t.annotator, t.batch) == task_batch]
        blank = read_corpus(batch_path(key_path(study).parent / who, batch, "brat"), format="brat")
        builder = CorpusBuilder()
        for rubric in blank.rubrics:
            builder.add_rubric(rubric)
        own = {t.shown_id: t.note for t in tasks}
        for note in blank.notes:
            builder.add_note(note)
            builder.judge_all(who, note.id)
            for feature in blank.rubric(note.case):
                for a in notes.annotations(own[note.id], feature.id, RATERS[who]) or ():
                    builder.annotate(who, note.id, feature.id, a.spans)
        target = batch_path(study / "3-annotation" / "returned" / who, batch, "brat")
        write_corpus(builder.build(), target, format="brat")


def key_path(study: Path) -> Path:
    return study / "3-annotation" / "packages" / "key.csv"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study run from new to report."""
    place = tmp_path_factory.mktemp("whole")
    corpus = load_corpus("open-notes")
    notes = with_sites(twice_annotated(corpus))
    write_corpus(notes.select(annotators=[]), place / "notes.jsonl", format="jsonl")
    deep = corpus.select(cases=[str(i) for i in range(10)], annotators=["reference"])
    learned = deep.select(notes=lambda n: n.id not in notes.note_index)
    system = fit_matcher("exact", learned).predict(notes)
    write_corpus(system, place / "system.jsonl", format="jsonl")
    folder = place / "study"
    run("new", str(folder), "--corpus", str(place / "notes.jsonl"))
    assert 'corpus = "../notes.jsonl"' in (folder / "study.toml").read_text(encoding="utf-8")
    (folder / "study.toml").write_text(SETTINGS, encoding="utf-8")
    for step in ("population", "plan", "sample", "assign"):
        assert f"study {step} {folder}" in run("status", str(folder)).output
        run(step, str(folder))
    annotate(folder, notes)
    run("collect", str(folder))
    undecided = run("curate", str(folder), fails=True)
    assert "undecided" in undecided.output
    decide(folder)
    run("curate", str(folder))
    run("evaluate", str(folder))
    run("report", str(folder))
    return folder


def decide(study: Path) -> None:
    """Let a curator take the first rater's side in every second row."""
    with (study / "4-reference" / "disagreements" / "disagreements.csv").open(
        encoding="utf-8", newline=""
    ) as stream:
        lines = list(csv.DictReader(stream))
    assert lines
    for i, line in enumerate(lines):
        line["decision"] = ("first", "union", "intersection")[i % 3]
        line["decided_by"] = "curator"
        line["decided_at"] = "2024-05-01"
    with (study / "4-reference" / "decisions.csv").open(
        "w", encoding="utf-8", newline=""
    ) as stream:
        writer = csv.DictWriter(stream, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def test_the_study_is_complete(study: Path) -> None:
    status = json.loads(run("status", str(study), "--json").stdout)
    assert [s["state"] for s in status["steps"]] == ["done"] * 8
    assert status["command"] == ""


def test_the_population_is_what_the_filters_leave(study: Path) -> None:
    found = summary("population", str(study))
    # Case 5 of the ten deep cases has no family history; each case has 20 notes rated twice.
    assert found["notes"] == 180
    assert found["sites"] == {"A": 100, "B": 80}


def test_the_sample_keeps_to_the_plan_and_every_note_has_its_probability(study: Path) -> None:
    plan, found = summary("plan", str(study)), summary("sample", str(study))
    for side in ("positive", "negative"):
        assert found["wanted"][side] == 2 * plan["per_site"][f"{side}s"]
        assert found["drawn"][side] + found["shortfall"][side] == found["wanted"][side]
    sample = read_corpus(study / "2-sample" / "sample" / "notes.jsonl")
    total = sum(1 / n.metadata["inclusion_probability"] for n in sample.notes)
    assert total == pytest.approx(180)


def test_packages_are_blind(study: Path) -> None:
    package = study / "3-annotation" / "packages" / "ann"
    batch = read_corpus(package / "week-1" / "notes")
    assert batch.rows.n_annotations == 0
    assert not any(n.metadata for n in batch.notes)
    assert all(n.id.startswith("N") for n in batch.notes)
    assert (package / "guidelines.md").exists()
    assert (package / "labels.csv").exists()


def test_agreement_is_that_of_the_two_raters(study: Path) -> None:
    found = json.loads(run("agree", str(study), "--json").stdout)
    primary = found["variables"][0]
    # The raters agree at 1.000 presence F1 and .961 characters F1 over the whole corpus.
    assert primary["presence_f1"]["value"] == 1.0
    assert 0.9 < primary["characters_f1"]["value"] < 1.0
    assert found["low"]
    assert "guidelines" in run("agree", str(study)).output


def test_every_row_of_the_reference_has_somebody_who_decided(study: Path) -> None:
    with (study / "4-reference" / "reference" / "provenance.csv").open(encoding="utf-8") as stream:
        lines = list(csv.DictReader(stream))
    reference = read_corpus(study / "4-reference" / "reference" / "reference.jsonl")
    assert [a.id for a in reference.annotators] == ["reference"]
    assert len(lines) == len(reference.rows)
    kinds = {line["decided_by"].split()[0] for line in lines}
    assert kinds == {"rule", "single", "curator"}


def test_the_evaluation_holds_values_intervals_and_the_ceiling(study: Path) -> None:
    found = summary("evaluate", str(study))
    assert [line["variable"] for line in found["variables"]] == [
        "family history", "smoking", "weight loss",
    ]  # fmt: skip
    primary = found["variables"][0]
    for measure in ("presence", "characters", "spans_exact"):
        for name in ("precision", "recall", "f1"):
            cell = primary[measure][name]
            low, high = cell["low"], cell["high"]
            assert low <= cell["value"] <= high
    # A lookup finds less than the raters agree on.
    assert primary["ceiling"]["characters"]["difference"]["high"] < 0
    assert found["width"]["planned"] == 0.12


def test_weighted_values_come_near_those_of_the_whole_population(study: Path) -> None:
    corpus = load_corpus("open-notes")
    system = read_corpus(study.parent / "system.jsonl")
    notes = twice_annotated(corpus)
    present = found = both = 0
    for note in notes.notes:
        for feature in notes.rubric(note.case):
            if "Family history" in feature.text:
                in_reference = bool(notes.annotations(note.id, feature.id, "reference"))
                in_system = bool(system.annotations(note.id, feature.id, "exact"))
                present += in_reference
                found += in_system
                both += in_reference and in_system
    line = summary("evaluate", str(study))["variables"][0]["presence"]
    for name, value in (("precision", both / found), ("recall", both / present)):
        interval = line[name]
        assert interval["low"] - 0.02 <= value <= interval["high"] + 0.02


def test_running_again_changes_nothing(study: Path) -> None:
    before = {p: p.read_bytes() for p in study.rglob("*") if p.is_file()}
    for step in ("population", "plan", "sample", "assign", "collect", "curate", "evaluate"):
        assert not json.loads(run(step, str(study), "--json").stdout)["changed"]
    run("report", str(study))
    assert {p: p.read_bytes() for p in study.rglob("*") if p.is_file()} == before


def test_the_report_reads_like_the_paper(study: Path) -> None:
    folder = study / "5-evaluation" / "report"
    page = (folder / "report.html").read_text(encoding="utf-8")
    text = (folder / "report.md").read_text(encoding="utf-8")
    for shown in (page, text):
        for words in ("Methods", "Results", "family history", "Table 1", "Table 2", "Table 3"):
            assert words in shown
    assert page.count("<svg") == 4
    assert "sha256" in text.lower()


def test_a_changed_setting_is_named_and_needs_overwrite(study: Path, tmp_path: Path) -> None:
    import shutil

    whole = tmp_path / "whole"
    shutil.copytree(study.parent, whole)
    copy = whole / "study"
    settings = copy / "study.toml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace("seed = 3", "seed = 4"), encoding="utf-8")
    refused = run("sample", str(copy), fails=True)
    assert "seed" in refused.output
    assert "--overwrite" in refused.output
    before = read_corpus(copy / "2-sample" / "sample" / "notes.jsonl")
    run("sample", str(copy), "--overwrite")
    assert read_corpus(copy / "2-sample" / "sample" / "notes.jsonl") != before
    status = json.loads(run("status", str(copy), "--json").stdout)
    assert {s["step"]: s["state"] for s in status["steps"]}["assign"] == "stale"
    assert "--overwrite" in status["command"]


def test_audit_catches_the_misprints() -> None:
    done = run("audit", str(TABLE_3), "--fail", fails=True)
    assert "6 of 90" in done.output
    found = json.loads(run("audit", str(TABLE_3), "--json").stdout)
    assert len(found["flagged"]) == 6


def test_a_folder_without_study_says_how_to_begin(tmp_path: Path) -> None:
    assert "study new" in run("status", str(tmp_path), fails=True).output


def test_new_does_not_overwrite(tmp_path: Path) -> None:
    run("new", str(tmp_path / "s"), "--corpus", "open-notes")
    run("new", str(tmp_path / "s"), "--corpus", "open-notes", fails=True)
