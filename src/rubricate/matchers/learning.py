"""What a matcher learns from: the judged rows of one annotator, note by note."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rubricate.corpus import Annotation, Corpus, Note
from rubricate.errors import UnknownNameError


class JudgedNote(NamedTuple):
    """A note and, for each feature that was judged in it, what was marked."""

    note: Note
    annotations: dict[str, tuple[Annotation, ...]]


def learning_annotator(corpus: Corpus, annotator: str | None) -> str | None:
    """Return whose annotations to learn from: the one named, or the first of the corpus.

    None when the corpus has no annotators.

    Raises
    ------
    UnknownNameError
        If the corpus has no annotator of that name.
    """
    known = [one.id for one in corpus.annotators]
    if annotator is None:
        return known[0] if known else None
    if annotator not in known:
        raise UnknownNameError("annotator", annotator, known)
    return annotator


def judged_notes(corpus: Corpus, annotator: str | None) -> Iterator[JudgedNote]:
    """Yield every note in which the annotator judged something."""
    if annotator is None:
        return
    wanted = corpus.annotator_index[annotator]
    rows = corpus.rows
    for note in corpus.notes:
        own = [r for r in corpus.note_rows(note.id) if rows.annotator[r] == wanted]
        if own:
            yield JudgedNote(
                note,
                {corpus.features[rows.feature[r]].id: corpus.row_annotations(r) for r in own},
            )
