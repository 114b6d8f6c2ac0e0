"""Values with intervals taken out of evaluations, as points that plots and tables can use."""

from __future__ import annotations

from collections.abc import Mapping

from rubricate.corpus import Corpus
from rubricate.measures import LABELS
from rubricate.measures.intervals import EvaluationWithIntervals
from rubricate.reports.plots.data import UNDEFINED, Point

Path = tuple[str, ...]

#: Every count table an evaluation has, in the order in which pages show them.
MEASURES: Mapping[Path, str] = LABELS


def overall_point(found: EvaluationWithIntervals, path: Path, statistic: str = "f1") -> Point:
    """Return a micro value over all rows.

    Examples
    --------
    >>> from rubricate.measures import evaluate
    >>> from rubricate.measures.intervals import add_intervals
    >>> from rubricate.stats import Resampling
    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> found = add_intervals(
    ...     evaluate(corpus, corpus, missing="skip", reference_annotator="reference",
    ...              predicted_annotator="second_rater"), Resampling(resamples=100))
    >>> overall_point(found, ("presence",)).value
    1.0
    """
    return found.overall(*path, statistic=statistic)


def case_points(
    found: EvaluationWithIntervals, path: Path, statistic: str = "f1"
) -> dict[str, Point]:
    """Return a micro value for each case."""
    return found.by_group(*path, level="cases", statistic=statistic)


def feature_points(
    found: EvaluationWithIntervals, path: Path, statistic: str = "f1"
) -> dict[str, Point]:
    """Return a micro value for each feature."""
    return found.by_group(*path, level="features", statistic=statistic)


def macro_point(
    found: EvaluationWithIntervals, path: Path, level: str, statistic: str = "f1"
) -> Point:
    """Return the mean over ``"cases"`` or ``"features"``."""
    return found.macro_mean(*path, level=level, statistic=statistic)


def point_or_undefined(points: Mapping[str, Point], name: str) -> Point:
    """Return the point of a case or feature, undefined where nobody measured it."""
    return points.get(name, UNDEFINED)


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
