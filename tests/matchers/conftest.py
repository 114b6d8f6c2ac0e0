from __future__ import annotations

from collections.abc import Callable

import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Note, load_corpus

Marks = dict[str, list[list[tuple[int, int]]]]


def build_corpus(notes: list[tuple[str, str, Marks]], features: dict[str, str]) -> Corpus:
    """Return a corpus of one case; ``notes`` hold id, text and the marks of each feature."""
    builder = CorpusBuilder()
    for feature_id, text in features.items():
        builder.add_feature(Feature(feature_id, "c", text))
    for note_id, text, marks in notes:
        builder.add_note(Note(note_id, "c", text))
        builder.judge_all("ann", note_id)
        for feature_id, marked in marks.items():
            for spans in marked:
                builder.annotate("ann", note_id, feature_id, spans)
    return builder.build()


@pytest.fixture
def build() -> Callable[..., Corpus]:
    return build_corpus


@pytest.fixture
def small() -> Corpus:
    return build_corpus(
        [
            ("1", "58M with chest pain. Denies fever, chills.",
             {"age": [[(0, 2)]], "cp": [[(9, 19)]], "nc": [[(21, 27), (35, 41)]]}),
            ("2", "Chest pain x 3 wks, no chills",
             {"cp": [[(0, 10)]], "nc": [[(20, 29)]]}),
        ],
        {"age": "58 year", "cp": "Chest pain", "nc": "No chills"},
    )  # fmt: skip


@pytest.fixture(scope="session")
def one_case() -> Corpus:
    return load_corpus("open-notes").select(cases=["30"], annotators=["reference"])
