"""A small corpus to score, and a model of it that finds everything it has seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rubricate import Corpus, load_corpus, write_corpus
from rubricate.matchers import fit_matcher


@pytest.fixture(scope="session")
def depth() -> Corpus:
    """Two hundred notes of ten cases."""
    corpus = load_corpus("open-notes").select(annotators=["reference"])
    return corpus.select(notes=lambda note: note.metadata["split"] == "test")


@pytest.fixture(scope="session")
def model(depth: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exact") / "model"
    fit_matcher("exact", depth).save(folder)
    return folder


@pytest.fixture(scope="session")
def notes_file(depth: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The notes four times over, each copy a little different, as our JSON Lines."""
    path = tmp_path_factory.mktemp("notes") / "notes.jsonl"
    plain = depth.select(annotators=[])
    copies = [
        replace(note, id=f"{note.id}-{i}", text=f"{note.text}\n{i}" if i else note.text)
        for i in range(4)
        for note in plain.notes
    ]
    write_corpus(Corpus(tuple(copies), plain.rubrics), path, format="jsonl")
    return path
