"""A finished run in columns: each note's score, and what was decided on each note and feature."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rubricate.corpus import Corpus
from rubricate.errors import InputError
from rubricate.rubric import Rubric

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Truth = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class Items:
    """What was decided on each note and feature, one entry a decision.

    Parameters
    ----------
    note, feature : ndarray of int
        Places in ``Run.notes`` and ``features``.
    features : tuple of str
        Ids of the features.
    found : ndarray of bool
        Whether the feature counts as found.
    confidence : ndarray of float
        How sure the matcher was of its decision, present or absent; NaN where it did not say.
    needs_review : ndarray of bool
        Whether a person is asked to look.
    """

    note: I64
    feature: I64
    features: tuple[str, ...]
    found: Truth
    confidence: F64
    needs_review: Truth

    def __len__(self) -> int:
        return len(self.note)


def no_items() -> Items:
    """Return items of which there are none."""
    nothing, no = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_)
    return Items(nothing, nothing, (), no, np.zeros(0), no)


@dataclass(frozen=True, eq=False)
class Run:
    """Scores of notes, and the decisions behind them where they are known.

    Parameters
    ----------
    notes, cases : tuple of str
        Ids of the notes and their cases.
    score, maximum : ndarray of float
        Points got and points there are; NaN for a note that could not be scored.
    items : Items
        The decisions; empty where only totals are known.

    Examples
    --------
    >>> run = Run(("n1", "n2"), ("c", "c"), np.array([3.0, 4.0]), np.array([4.0, 4.0]))
    >>> run.percentage.tolist()
    [75.0, 100.0]
    """

    notes: tuple[str, ...]
    cases: tuple[str, ...]
    score: F64
    maximum: F64
    items: Items = field(default_factory=no_items)

    def __len__(self) -> int:
        return len(self.notes)

    @cached_property
    def percentage(self) -> F64:
        """Each note's score in per cent of its maximum; NaN without a maximum."""
        known = self.maximum > 0
        return np.where(known, 100 * self.score / np.where(known, self.maximum, 1.0), np.nan)

    @cached_property
    def note_index(self) -> dict[str, int]:
        """Place of each note by id; of the first, where an id comes twice."""
        return {note: i for i, note in reversed(list(enumerate(self.notes)))}

    def item_keys(self) -> dict[tuple[str, str], int]:
        """Return the place of each decision by the ids of note and feature."""
        items = self.items
        pairs = zip(items.note.tolist(), items.feature.tolist(), strict=True)
        return {(self.notes[n], items.features[f]): k for k, (n, f) in enumerate(pairs)}

    def mean_by_note(self, values: npt.NDArray[np.generic]) -> F64:
        """Return the mean of the items' values in each note; NaN where a note has none."""
        numbers = np.asarray(values, dtype=np.float64)
        known = ~np.isnan(numbers)
        where, n = self.items.note[known], len(self)
        count = np.bincount(where, minlength=n)
        total = np.bincount(where, weights=numbers[known], minlength=n)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def run_of_corpus(corpus: Corpus, annotator: str | None = None) -> Run:
    """Score an annotator's annotations by the rubric, as a run to compare with.

    Only notes on which the annotator judged every feature have a score; others have NaN. A
    feature found adds its weight, and of features that share a group the heaviest one found.

    Parameters
    ----------
    corpus : Corpus
        Notes with annotations.
    annotator : str, optional
        Whose; the first annotator unless given.

    Raises
    ------
    InputError
        If there is no such annotator.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> run = run_of_corpus(load_corpus("open-notes").select(cases=["0"]))
    >>> run.score[:3].tolist(), float(run.maximum[0])
    ([15.0, 15.0, 13.0], 16.0)
    """
    known = [a.id for a in corpus.annotators]
    if not known or (annotator is not None and annotator not in known):
        listed = ", ".join(known) or "none"
        raise InputError(f"no annotator {annotator or ''!r} in the corpus; there are: {listed}")
    rows, of = corpus.rows, corpus.annotator_index[annotator or known[0]]
    own = np.flatnonzero(rows.annotator == of)
    present = np.diff(rows.first_annotation)[own] > 0
    note, feature = rows.note[own].astype(np.int64), rows.feature[own].astype(np.int64)
    score, maximum = np.full(len(corpus.notes), np.nan), np.full(len(corpus.notes), np.nan)
    first, last = np.searchsorted(
        note, [np.arange(len(corpus.notes)), np.arange(len(corpus.notes)) + 1]
    )
    ids = [f.id for f in corpus.features]
    for i, one in enumerate(corpus.notes):
        rubric = corpus.rubric(one.case)
        judged = slice(int(first[i]), int(last[i]))
        if judged.start < judged.stop and judged.stop - judged.start >= len(rubric):
            found = {ids[f] for f in feature[judged][present[judged]]}
            score[i], maximum[i] = total_of(rubric, found), total_of(rubric, set(ids))
    confidence = np.full(len(own), np.nan)
    items = Items(
        note, feature, tuple(ids), present, confidence, np.zeros(len(own), dtype=np.bool_)
    )
    return Run(
        tuple(n.id for n in corpus.notes),
        tuple(n.case for n in corpus.notes),
        score,
        maximum,
        items,
    )


def run_of_scores(corpus: Corpus, annotator: str | None = None) -> Run:
    """Return the totals people gave the notes (``corpus.scores``), their mean where several did.

    Raises
    ------
    InputError
        If nobody, or not this annotator, gave a total.

    Examples
    --------
    >>> from rubricate import CorpusBuilder, Note, Score
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "no fever"))
    >>> builder.add_score(Score("n", "ann", 3, 4))
    >>> run_of_scores(builder.build()).percentage.tolist()
    [75.0]
    """
    given: dict[str, list[tuple[float, float]]] = {}
    for score in corpus.scores:
        if annotator in (None, score.annotator):
            rubric = corpus.rubric(corpus.note(score.note).case)
            most = score.maximum if score.maximum is not None else total_of(rubric)
            given.setdefault(score.note, []).append((score.value, most))
    if not given:
        who = f" by {annotator}" if annotator else ""
        raise InputError(f"the corpus holds no scores{who}: totals are compared with scores only")
    means = [
        np.mean(given[note.id], axis=0) if note.id in given else (np.nan, np.nan)
        for note in corpus.notes
    ]
    score_of, maximum = np.array(means, dtype=np.float64).T
    return Run(
        tuple(n.id for n in corpus.notes), tuple(n.case for n in corpus.notes), score_of, maximum
    )


def total_of(rubric: Rubric, found: set[str] | None = None) -> float:
    """Return the points of the features found, or of all; a group gives its heaviest.

    Examples
    --------
    >>> from rubricate import Feature
    >>> either = Feature("a", "c", "A", 2, group="g"), Feature("b", "c", "B", group="g")
    >>> rubric = Rubric("c", either)
    >>> total_of(rubric), total_of(rubric, {"b"})
    (2.0, 1.0)
    """
    best: dict[str, float] = {}
    for feature in rubric:
        if found is None or feature.id in found:
            # A feature without a group is a group of its own; ids and groups are told apart
            group = f"group {feature.group}" if feature.group else f"feature {feature.id}"
            best[group] = max(best.get(group, -math.inf), feature.weight)
    return math.fsum(best.values())


def shared_notes(first: Run, second: Run) -> tuple[I64, I64]:
    """Return the places of the notes both runs hold and have scored, in the first one's order."""
    pairs = [
        (i, second.note_index[note])
        for i, note in enumerate(first.notes)
        if note in second.note_index
    ]
    places = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    scored = ~np.isnan(first.percentage[places[:, 0]]) & ~np.isnan(second.percentage[places[:, 1]])
    return places[scored, 0], places[scored, 1]
