"""Pairings made from plain lists, for the tests of measures."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import settings

from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.evaluation import pair_rows
from rubricate.evaluation.pairing import Pairing

#: One annotation: its fragments.
Fragments = Sequence[tuple[int, int]]
#: One row: the annotations of the reference and of the prediction.
Row = tuple[Sequence[Fragments], Sequence[Fragments]]

N_FEATURES = 3

# first calls import scipy and scikit-learn, and machines are shared: time is for benchmarks
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def build_corpus(rows: Sequence[Row], text: str) -> Corpus:
    """Three rows a note, notes taking turns between two cases that share no feature."""
    builder = CorpusBuilder()
    for case in ("odd", "even"):
        for k in range(N_FEATURES):
            builder.add_feature(Feature(f"{case}-{k}", case, "made up"))
    for i, sides in enumerate(rows):
        note_id = f"n{i // N_FEATURES}"
        case = ("odd", "even")[i // N_FEATURES % 2]
        if note_id not in builder.notes:
            builder.add_note(Note(note_id, case, text))
        for annotator, found in zip(("ref", "pred"), sides, strict=True):
            builder.judge(annotator, note_id, f"{case}-{i % N_FEATURES}")
            for fragments in found:
                builder.annotate(annotator, note_id, f"{case}-{i % N_FEATURES}", fragments)
    return builder.build()


@pytest.fixture(scope="session")
def make_pairing() -> Callable[..., Pairing]:
    """Give tests a function from rows to a pairing."""

    def make(rows: Sequence[Row], text: str = "x" * 24) -> Pairing:
        corpus = build_corpus(rows, text)
        return pair_rows(corpus, corpus, reference_annotator="ref", predicted_annotator="pred")

    return make


@pytest.fixture(scope="session")
def swap() -> Callable[[Sequence[Row]], list[Row]]:
    """Give tests a function that lets the prediction be the reference."""
    return lambda rows: [(predicted, reference) for reference, predicted in rows]
