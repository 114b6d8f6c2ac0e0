"""Counts and lengths of the notes, features and annotations of a corpus."""

from __future__ import annotations

import re
from collections import Counter
from typing import TypedDict

import numpy as np

from rubricate.arrays import I64
from rubricate.corpus import Corpus

_TOKEN = re.compile(r"\w+|[^\w\s]")


class AnnotatorSummary(TypedDict):
    """Counts for one annotator."""

    annotator: str
    group: str
    notes: int
    rows: int
    present: int
    annotations: int
    fragmented: int


class CaseSummary(TypedDict):
    """Counts for one case."""

    case: str
    title: str
    notes: int
    features: int
    rows: int


class CorpusSummary(TypedDict):
    """Summary of a corpus, as ``describe --json`` prints it."""

    notes: int
    features: int
    rows: int
    annotations: int
    characters_per_note: float
    characters_sd: float
    words_per_note: float
    words_sd: float
    tokens: int
    tokens_per_note: float
    tokens_sd: float
    types: int
    type_token_ratio: float
    annotators: list[AnnotatorSummary]
    cases: list[CaseSummary]


def describe_corpus(corpus: Corpus) -> CorpusSummary:
    """Count notes, features, annotators, rows and annotations, overall and by case.

    >>> from rubricate import load_corpus
    >>> describe_corpus(load_corpus("open-notes"))["notes"]
    2040
    """
    rows = corpus.rows
    lengths = np.array([len(note.text) for note in corpus.notes] or [0])
    words = np.array([len(note.text.split()) for note in corpus.notes] or [0])
    tokens, types = _tokens(corpus)
    present = np.diff(rows.first_annotation) > 0
    fragmented = np.diff(rows.first_span) > 1
    annotation_annotator = rows.annotator[rows.annotation_row]
    annotators: list[AnnotatorSummary] = []
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
    notes_of = Counter(note.case for note in corpus.notes)
    rows_of = Counter(corpus.notes[i].case for i in rows.note.tolist())
    # A case that nobody wrote a rubric for has notes all the same.
    cases: list[CaseSummary] = [
        {
            "case": case,
            "title": corpus.rubric(case).title,
            "notes": notes_of[case],
            "features": len(corpus.rubric(case)),
            "rows": rows_of[case],
        }
        for case in dict.fromkeys([*(rubric.case for rubric in corpus.rubrics), *notes_of])
    ]
    return {
        "notes": len(corpus.notes),
        "features": len(corpus.features),
        "rows": len(rows),
        "annotations": rows.n_annotations,
        "characters_per_note": float(lengths.mean()),
        "characters_sd": _sd(lengths),
        "words_per_note": float(words.mean()),
        "words_sd": _sd(words),
        "tokens": int(tokens.sum()),
        "tokens_per_note": float(tokens.mean()),
        "tokens_sd": _sd(tokens),
        "types": types,
        "type_token_ratio": types / max(int(tokens.sum()), 1),
        "annotators": annotators,
        "cases": cases,
    }


def _tokens(corpus: Corpus) -> tuple[I64, int]:
    """Return the tokens of each note, and how many different ones there are, in capitals or not.

    A token is a run of letters, digits and underscores, or a single other character but white
    space, as measures by token have it.
    """
    known: set[str] = set()
    counts = []
    for note in corpus.notes:
        found = _TOKEN.findall(note.text)
        counts.append(len(found))
        known.update(token.casefold() for token in found)
    return np.array(counts or [0], dtype=np.int64), len(known)


def _sd(values: I64) -> float:
    """Return the sample standard deviation; 0 for a single value."""
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0
