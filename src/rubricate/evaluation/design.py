"""Notes that go together, as several notes of one patient do."""

from __future__ import annotations

from rubricate.corpus import Corpus
from rubricate.errors import ArgumentError, Fault, InputError, did_you_mean


def clusters_of(corpus: Corpus, field: str) -> dict[str, str]:
    """Return the cluster of each note, from a field of its metadata.

    >>> from rubricate import CorpusBuilder, Metadata, Note
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "", Metadata(patient="p7")))
    >>> clusters_of(builder.build(), "patient")
    {'n': 'p7'}
    """
    known = sorted({name for note in corpus.notes for name in note.metadata})
    if corpus.notes and field not in known:
        hint, listed = did_you_mean(field, known), ", ".join(known) if known else "none"
        raise ArgumentError(f"no note has {field!r} in its metadata{hint} There are: {listed}")
    InputError.raise_any(
        [
            Fault(f"note {note.id} has no {field!r} in its metadata: every note needs its cluster")
            for note in corpus.notes
            if note.metadata.get(field) in (None, "")
        ]
    )
    return {note.id: str(note.metadata[field]) for note in corpus.notes}
