"""What a corpus holds, in numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from rubricate.corpus import Corpus


def describe_corpus(corpus: Corpus) -> dict[str, Any]:
    """Count notes, features, annotators, rows and annotations, overall and by case.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> describe_corpus(load_corpus("open-notes"))["notes"]
    2040
    """
    rows = corpus.rows
    lengths = np.array([len(note.text) for note in corpus.notes] or [0])
    words = np.array([len(note.text.split()) for note in corpus.notes] or [0])
    present = np.diff(rows.first_annotation) > 0
    fragmented = np.diff(rows.first_span) > 1
    annotation_annotator = rows.annotator[rows.annotation_row]
    annotators = []
    for i, annotator in enumerate(corpus.annotators):
        own = rows.annotator == i
        annotators.append(
            {
                "annotator": annotator.id,
                "group": annotator.group,
                "notes": len(np.unique(rows.note[own])),
                "rows": int(own.sum()),
                "present": int((own & present).sum()),
                "annotations": int((annotation_annotator == i).sum()),
                "fragmented": int((fragmented & (annotation_annotator == i)).sum()),
            }
        )
    notes_of = _count(note.case for note in corpus.notes)
    rows_of = _count(corpus.notes[int(i)].case for i in rows.note)
    # A case that nobody wrote a rubric for has notes all the same.
    cases = [
        {
            "case": case,
            "title": corpus.rubric(case).title,
            "notes": notes_of.get(case, 0),
            "features": len(corpus.rubric(case)),
            "rows": rows_of.get(case, 0),
        }
        for case in dict.fromkeys([*(rubric.case for rubric in corpus.rubrics), *notes_of])
    ]
    return {
        "notes": len(corpus.notes),
        "features": len(corpus.features),
        "rows": len(rows),
        "annotations": rows.n_annotations,
        "characters_per_note": float(lengths.mean()),
        "words_per_note": float(words.mean()),
        "annotators": annotators,
        "cases": cases,
    }


def _count(values: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return counts
