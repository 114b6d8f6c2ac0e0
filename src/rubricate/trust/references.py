"""What people said of notes, as a run to compare with: their annotations or their scores."""

from __future__ import annotations

import numpy as np

from rubricate.corpus import Corpus
from rubricate.errors import InputError
from rubricate.run import RunItems, ScoredRun, total_score


def run_of_corpus(corpus: Corpus, annotator: str | None = None) -> ScoredRun:
    """Score an annotator's annotations by the rubric, as a run to compare with.

    Only notes on which the annotator judged every feature have a score; others have NaN. A
    feature found adds its weight, and of features that share a group the heaviest one found.

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
            total = total_score(rubric, found)
            score[i], maximum[i] = total.score, total.maximum
    unknown = np.full(len(own), np.nan)
    items = RunItems(
        note, feature, tuple(ids), present, unknown, np.zeros(len(own), dtype=np.bool_)
    )
    return ScoredRun(
        tuple(n.id for n in corpus.notes),
        tuple(n.case for n in corpus.notes),
        score,
        maximum,
        items,
    )


def run_of_scores(corpus: Corpus, annotator: str | None = None) -> ScoredRun:
    """Return the totals people gave the notes (``corpus.scores``), their mean where several did.

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
            most = score.maximum if score.maximum is not None else total_score(rubric, ()).maximum
            given.setdefault(score.note, []).append((score.value, most))
    if not given:
        who = f" by {annotator}" if annotator else ""
        raise InputError(f"the corpus holds no scores{who}: totals are compared with scores only")
    means = [
        np.mean(given[note.id], axis=0) if note.id in given else (np.nan, np.nan)
        for note in corpus.notes
    ]
    score_of, maximum = np.array(means, dtype=np.float64).T
    return ScoredRun(
        tuple(n.id for n in corpus.notes), tuple(n.case for n in corpus.notes), score_of, maximum
    )
