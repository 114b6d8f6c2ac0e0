"""A corpus of one annotated note, for tests of what formats write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rubricate import Corpus, CorpusBuilder, Feature, Note


def annotated_note(
    text: str, spans: Sequence[tuple[int, int]], wording: str = "F", **more: Any
) -> Corpus:
    """Return a corpus of one note with one annotation of these spans."""
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", text))
    builder.add_feature(Feature("f", "c", wording))
    builder.annotate("a", "n", "f", spans, **more)
    return builder.build()
