"""A small corpus at two sites, and a study over it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rubricate import (
    Corpus,
    CorpusBuilder,
    Feature,
    Metadata,
    Note,
    read_corpus,
    write_corpus,
)
from rubricate.study.assignment import assign_study, batch_path, read_key
from rubricate.study.population import define_population
from rubricate.study.record import Study
from rubricate.study.sampling import plan_study, sample_study

TEXT = "smokes daily, lost weight, mother had cancer"
SETTINGS = """
name = "small"
seed = 5
[population]
corpus = "notes.jsonl"
site = "site"
[[variables]]
name = "smoking"
role = "primary"
feature_text = "tobacco use"
[[variables]]
name = "weight"
features = ["f2"]
[detection]
corpus = "notes.jsonl"
annotator = "system"
[plan]
precision = 0.8
recall = 0.8
half_width = 0.2
assurance = 0.8
[annotation]
format = "FORMAT"
training = 2
weeks = 2
annotators = [{id = "ann", senior = true}, {id = "bob"}]
[evaluation]
resamples = 100
"""


@pytest.fixture
def corpus() -> Corpus:
    """120 notes: the reference holds smoking in 60, the system finds 48 of them and 6 others."""
    builder = CorpusBuilder()
    builder.add_feature(Feature("f1", "c", "Tobacco use"))
    builder.add_feature(Feature("f2", "c", "Weight loss"))
    for i in range(120):
        note = f"n{i}"
        more = Metadata(site="AB"[i % 2], age=20 + i % 50, date=f"20{10 + i % 10}-05-01")
        builder.add_note(Note(note, "c", TEXT, more))
        for who in ("reference", "system"):
            builder.judge_all(who, note)
        if i < 60:
            builder.annotate("reference", note, "f1", [(0, 6)])
        if i < 48 or 60 <= i < 66:
            builder.annotate("system", note, "f1", [(0, 12)])
        if i % 10 == 0:
            builder.annotate("reference", note, "f2", [(14, 25)])
            builder.annotate("system", note, "f2", [(14, 25)])
    return builder.build()


@pytest.fixture
def make_study(tmp_path: Path, corpus: Corpus) -> Callable[..., Study]:
    """Return a function that writes the small study's folder."""

    def make(tool_format: str = "brat", text: str = SETTINGS) -> Study:
        folder = tmp_path / "study"
        folder.mkdir()
        write_corpus(corpus, folder / "notes.jsonl", format="jsonl")
        (folder / "guidelines.md").write_text("Read the note.\n", encoding="utf-8")
        (folder / "study.toml").write_text(text.replace("FORMAT", tool_format), encoding="utf-8")
        return Study.open(folder)

    return make


def send_back(study: Study, marks: dict, tool_format: str) -> Path:
    """Copy each annotator's package back with ``marks[annotator, note] = {feature: spans}``."""
    returned = study.folder / "3-annotation" / "returned"
    tasks = read_key(study.output("assign", "key.csv"))
    for who, batch in dict.fromkeys((t.annotator, t.batch) for t in tasks):
        own = {t.shown_id: t.note for t in tasks if (t.annotator, t.batch) == (who, batch)}
        source = batch_path(study.output("assign") / who, batch, tool_format)
        blank = read_corpus(source, format=tool_format)
        builder = CorpusBuilder()
        for rubric in blank.rubrics:
            builder.add_rubric(rubric)
        for note in blank.notes:
            builder.add_note(note)
            builder.judge_all(who, note.id)
            for feature, spans in marks.get((who, own[note.id]), {}).items():
                builder.annotate(who, note.id, feature, spans)
        target = batch_path(returned / who, batch, tool_format)
        write_corpus(builder.build(), target, format=tool_format)
    return returned


@pytest.fixture
def returned_study(make_study: Callable[..., Study]) -> Callable[..., Study]:
    """Return a function that takes the small study up to what came back.

    Both annotators mark what the reference holds; in every fourth note bob marks more of it.
    With ``smokers=0`` nobody marks the primary variable.
    """

    def make(tool_format: str = "brat", smokers: int = 60) -> Study:
        study = make_study(tool_format)
        for step in (define_population, plan_study, sample_study, assign_study):
            step(study)
        marks = {}
        for i in range(120):
            note = f"n{i}"
            for who in ("ann", "bob"):
                more = who == "bob" and i % 4 == 0
                own = {"f1": [(0, 12 if more else 6)]} if i < smokers else {}
                if i % 10 == 0:
                    own["f2"] = [(14, 25)]
                marks[who, note] = own
        send_back(study, marks, tool_format)
        return study

    return make
