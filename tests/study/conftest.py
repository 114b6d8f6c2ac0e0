"""A small corpus at two sites, and a study over it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Metadata, Note, write_corpus
from rubricate.study.record import Study

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
feature_text = "tobacco"
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
