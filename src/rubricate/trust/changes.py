"""Changes between two runs: decisions, scores and rates; people's decisions as a run."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rubricate.corpus import Corpus
from rubricate.errors import ArgumentError, InputError, UnknownNameError
from rubricate.run import RunItems, ScoredRun, total_score
from rubricate.run.reading import paired_items
from rubricate.stats import adjust_p_values, defined, proportion_limits


@dataclass(frozen=True, slots=True)
class DecisionChange:
    """A decision that is another one now: note, feature, and whether it is found now."""

    note: str
    feature: str
    found_now: bool


class ScoreChange(NamedTuple):
    """A note whose score is another one now; NaN where there was, or is, none."""

    note: str
    before: float
    now: float

    @property
    def change(self) -> float:
        """By how much it rose."""
        return self.now - self.before


@dataclass(frozen=True, slots=True)
class Changes:
    """The differences between an earlier and a later run."""

    n_shared: int
    came: tuple[str, ...]
    went: tuple[str, ...]
    scores: dict[str, tuple[float, float]]
    decisions: tuple[DecisionChange, ...]

    def largest(self) -> list[ScoreChange]:
        """Return the notes whose scores changed, those that changed most first."""
        found = [ScoreChange(note, *pair) for note, pair in self.scores.items()]
        return sorted(found, key=lambda one: -abs(np.nan_to_num(one.change, nan=np.inf)))

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "notes_in_both": self.n_shared,
            "notes_that_came": len(self.came),
            "notes_that_went": len(self.went),
            "scores_changed": len(self.scores),
            "decisions_changed": len(self.decisions),
            "now_found": sum(change.found_now for change in self.decisions),
            "changed_most": [
                {
                    "note": one.note,
                    "before": defined(one.before),
                    "now": defined(one.now),
                    "change": defined(one.change),
                }
                for one in self.largest()[:20]
            ],
        }


def compare_runs(before: ScoredRun, after: ScoredRun) -> Changes:
    """List what changed from one run to a later one.

    >>> notes, cases, most = ("a", "b"), ("0", "0"), np.array([2.0, 2.0])
    >>> before = ScoredRun(notes, cases, np.array([1.0, 2.0]), most)
    >>> after = ScoredRun(notes, cases, np.array([2.0, 2.0]), most)
    >>> compare_runs(before, after).scores
    {'a': (1.0, 2.0)}
    """
    old = set(before.notes)
    shared = [note for note in after.notes if note in old]
    scores = {}
    for note in shared:
        pair = before.score[before.note_index[note]], after.score[after.note_index[note]]
        if pair[0] != pair[1] and not np.isnan(pair).all():
            scores[note] = (float(pair[0]), float(pair[1]))
    first, second = paired_items(before, after)
    flipped = np.flatnonzero(before.items.found[first] != after.items.found[second])
    items = after.items
    return Changes(
        n_shared=len(shared),
        came=tuple(note for note in after.notes if note not in old),
        went=tuple(note for note in before.notes if note not in after.note_index),
        scores=scores,
        decisions=tuple(
            DecisionChange(
                after.notes[items.note[second[k]]],
                items.features[items.feature[second[k]]],
                bool(items.found[second[k]]),
            )
            for k in flipped
        ),
    )


def run_of_corpus(corpus: Corpus, annotator: str | None = None) -> ScoredRun:
    """Score an annotator's annotations by the rubric, as a run to compare with.

    Only notes on which the annotator judged every feature have a score; others have NaN. A
    feature found adds its weight, and of features that share a group the heaviest one found.

    >>> from rubricate import load_corpus
    >>> run = run_of_corpus(load_corpus("open-notes").select(cases=["0"]))
    >>> run.score[:3].tolist(), float(run.maximum[0])
    ([15.0, 15.0, 13.0], 16.0)
    """
    known = [a.id for a in corpus.annotators]
    if not known:
        raise ArgumentError("the corpus has no annotations, so there are no scores to compare")
    if annotator is not None and annotator not in known:
        raise UnknownNameError("annotator", annotator, known)
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


@dataclass(frozen=True, slots=True)
class FeatureDrift:
    """Change of the rate of a feature."""

    feature: str
    n_before: int
    n_after: int
    before: float
    after: float
    difference: float
    low: float
    high: float
    effect: float
    p_value: float
    adjusted: float
    flag: bool


def feature_rates(
    before: ScoredRun,
    after: ScoredRun,
    same: bool,
    alpha: float,
    min_rate: float,
    confidence: float,
) -> tuple[FeatureDrift, ...]:
    """Compare the rates of the features both runs judged; see `rubricate.trust.measure_drift`.

    Different notes: Fisher's exact test and Newcombe's (1998) interval from two Wilson
    intervals. Same notes: McNemar's exact test of the decisions that changed, and the interval
    of Agresti & Min (2005). The effect is Cohen's (1988) h = 2 asin √p2 - 2 asin √p1.

    >>> from rubricate import load_corpus
    >>> from rubricate.trust import run_of_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> run = run_of_corpus(corpus)
    >>> rates = feature_rates(run, run, True, 0.05, 0.1, 0.95)
    >>> len(rates), {rate.difference for rate in rates}
    (16, {0.0})
    """
    found = _paired(before, after, confidence) if same else _apart(before, after, confidence)
    adjusted = adjust_p_values([one.p_value for one in found], method="benjamini-hochberg")
    return tuple(
        replace(one, adjusted=float(p), flag=bool(p <= alpha and abs(one.difference) >= min_rate))
        for one, p in zip(found, adjusted, strict=True)
    )


def _apart(before: ScoredRun, after: ScoredRun, confidence: float) -> list[FeatureDrift]:
    from scipy.stats import fisher_exact

    tables = [_judged_and_found(run) for run in (before, after)]
    found = []
    for feature in tables[0]:
        if feature not in tables[1]:
            continue
        (n1, k1), (n2, k2) = tables[0][feature], tables[1][feature]
        p1, p2 = k1 / n1, k2 / n2
        low, high = proportion_limits([k1, k2], [n1, n2], method="wilson", confidence=confidence)
        gap = p2 - p1
        under = math.hypot(p2 - low[1], high[0] - p1)
        over = math.hypot(high[1] - p2, p1 - low[0])
        p_value = float(fisher_exact(np.array([[k1, n1 - k1], [k2, n2 - k2]]))[1])
        found.append(_drift(feature, (n1, p1), (n2, p2), (gap - under, gap + over), p_value))
    return found


def _paired(before: ScoredRun, after: ScoredRun, confidence: float) -> list[FeatureDrift]:
    from scipy.special import ndtri
    from scipy.stats import binomtest

    first, second = paired_items(before, after)
    feature = before.items.feature[first]
    old, new = before.items.found[first], after.items.found[second]
    n_features = len(before.items.features)
    n = np.bincount(feature, minlength=n_features)
    lost = np.bincount(feature[old & ~new], minlength=n_features)
    gained = np.bincount(feature[~old & new], minlength=n_features)
    held = np.bincount(feature[old], minlength=n_features)
    z = float(ndtri(0.5 + confidence / 2))
    found = []
    for i in np.flatnonzero(n):
        b, c, size = int(gained[i]), int(lost[i]), int(n[i])
        p1, p2 = held[i] / size, (held[i] + b - c) / size
        p_value = float(binomtest(b, b + c).pvalue) if b + c else 1.0
        middle = (b - c) / (size + 2)
        half = z * math.sqrt((b + c + 1) - (b - c) ** 2 / (size + 2)) / (size + 2)
        limits = (middle - half, middle + half)
        name = before.items.features[i]
        found.append(_drift(name, (size, float(p1)), (size, float(p2)), limits, p_value))
    return found


def _judged_and_found(run: ScoredRun) -> dict[str, tuple[int, int]]:
    items, n_features = run.items, len(run.items.features)
    judged = np.bincount(items.feature, minlength=n_features).tolist()
    found = np.bincount(items.feature[items.found], minlength=n_features).tolist()
    return {name: (n, k) for name, n, k in zip(items.features, judged, found, strict=True) if n}


def _drift(
    feature: str,
    before: tuple[int, float],
    after: tuple[int, float],
    limits: tuple[float, float],
    p_value: float,
) -> FeatureDrift:
    effect = 2 * math.asin(math.sqrt(after[1])) - 2 * math.asin(math.sqrt(before[1]))
    return FeatureDrift(
        feature, before[0], after[0], before[1], after[1], after[1] - before[1],
        max(limits[0], -1.0), min(limits[1], 1.0), effect, min(p_value, 1.0), math.nan, flag=False,
    )  # fmt: skip
