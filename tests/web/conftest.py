"""Shared fixtures for tests of the server: a server without a port, and a study in its folder."""

import pytest
from workbench import bench, browsers, postgres  # noqa: F401

from rubricate import CorpusBuilder, Feature, Note, write_corpus
from rubricate.study.assignment import assign_study
from rubricate.study.population import define_population
from rubricate.study.record import Study
from rubricate.study.sampling import plan_study, sample_study
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
def study(bench: Bench) -> Study:  # noqa: F811
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
