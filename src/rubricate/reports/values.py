"""Values with intervals taken out of evaluations, as points that plots and tables can use."""

from __future__ import annotations

from collections.abc import Mapping

from rubricate.corpus import Corpus
from rubricate.measures import LABELS
from rubricate.measures.intervals import EvaluationWithIntervals

Path = tuple[str, ...]

#: Every count table an evaluation has, in the order in which pages show them.
MEASURES: Mapping[Path, str] = LABELS


def case_names(corpus: Corpus) -> dict[str, str]:
    """Return how each case is called: its number and the title of its rubric.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> case_names(load_corpus("open-notes").select(cases=["0"]))
    {'0': '0 Exertional chest tightness'}
    """
    named = {rubric.case: f"{rubric.case} {rubric.title}".strip() for rubric in corpus.rubrics}
    for note in corpus.notes:
        named.setdefault(note.case, note.case)
    return named


def case_order(corpus: Corpus, *found: EvaluationWithIntervals) -> list[str]:
    """Return the cases that any of the evaluations measured, in the corpus's order."""
    measured = {case for one in found for case in one.evaluation.characters.by("case").ids}
    return [case for case in case_names(corpus) if case in measured]
