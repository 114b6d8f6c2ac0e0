"""Agreement of any number of annotators: on presence, corrected for chance, and on scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, I64
from rubricate.corpus import Corpus
from rubricate.stats import (
    Estimate,
    LimitsOfAgreement,
    Resampling,
    Support,
    bootstrap_interval,
    effective_items,
    gwet_ac2,
    limit_by_items,
    limits_of_agreement,
    ratio,
    score_agreement,
)


@dataclass(frozen=True, eq=False)
class PresenceTable:
    """Numbers of annotators who judged a feature absent and present, one line per note and feature.

    ``counts`` has the columns absent and present; ``note`` and ``feature`` are indices into the
    corpus.
    """

    note: I64
    feature: I64
    counts: I64


def presence_table(corpus: Corpus) -> PresenceTable:
    """Count, for each note and feature somebody judged, who said absent and who said present.

    >>> from rubricate import load_corpus
    >>> table = presence_table(load_corpus("open-notes").select(cases=["0"]))
    >>> table.counts.sum()
    np.int64(1920)
    """
    rows = corpus.rows
    unit = rows.note.astype(np.int64) * max(1, len(corpus.features)) + rows.feature
    units, place = np.unique(unit, return_inverse=True)
    present = np.diff(rows.first_annotation) > 0
    counts = np.zeros((len(units), 2), dtype=np.int64)
    np.add.at(counts, (place, present.astype(np.int64)), 1)
    n_features = max(1, len(corpus.features))
    return PresenceTable(units // n_features, units % n_features, counts)


def krippendorff_counts(counts: npt.ArrayLike) -> F64:
    """Return the terms that `alpha_of_sums` adds over units: disagreement, absent, present.

    A unit with fewer than two judgements cannot disagree and adds nothing (Krippendorff 2011,
    "Computing Krippendorff's alpha-reliability", C).
    """
    table = np.asarray(counts, dtype=np.float64)
    judged = table.sum(axis=-1, keepdims=True)
    usable = judged[..., 0] >= 2
    disagreement = np.where(usable, table[..., 0] * table[..., 1], 0.0) / np.maximum(
        judged[..., 0] - 1, 1
    )
    kept = np.where(usable[..., None], table, 0.0)
    return np.concatenate((disagreement[..., None], kept), axis=-1)


def alpha_of_sums(sums: npt.ArrayLike) -> F64:
    """Return Krippendorff's alpha from sums of `krippendorff_counts`, as a bootstrap wants it.

    Nominal, two values, missing judgements allowed:
    alpha = 1 - D_o / D_e = 1 - (n - 1) o_01 / (n_0 n_1), where o_01 sums
    n_u0 n_u1 / (m_u - 1) over units of m_u judgements (Krippendorff 2011). Undefined (nan) where
    everybody always says the same.

    >>> units = krippendorff_counts([[2, 0], [0, 2], [1, 1], [0, 2]])
    >>> round(float(alpha_of_sums(units.sum(axis=0))), 3)
    0.533
    """
    disagreement, absent, present = np.moveaxis(np.asarray(sums, dtype=np.float64), -1, 0)
    total = absent + present
    return 1.0 - ratio((total - 1) * disagreement, absent * present)


def fleiss_counts(counts: npt.ArrayLike) -> F64:
    """Return the terms that `kappa_of_sums` adds over units: agreement, units, absent, present.

    Only units with the largest number of judgements count, since kappa wants the same number for
    each (Fleiss 1971).
    """
    table = np.asarray(counts, dtype=np.float64)
    judged = table.sum(axis=1)
    most = judged.max(initial=0)
    full = (judged == most) & (judged >= 2)
    pairs = np.maximum(most * (most - 1), 1)
    agreement = ((table * (table - 1)).sum(axis=1) / pairs)[:, None]
    return np.where(
        full[:, None], np.concatenate((agreement, np.ones((len(table), 1)), table), axis=1), 0.0
    )


def kappa_of_sums(sums: npt.ArrayLike) -> F64:
    """Return Fleiss' kappa from sums of `fleiss_counts`, as a bootstrap wants it.

    kappa = (P - P_e) / (1 - P_e), with P the mean over units of
    sum_j n_ij (n_ij - 1) / (n (n - 1)) and P_e = sum_j p_j**2 (Fleiss 1971, Psychological
    Bulletin 76: 378). Undefined (nan) where everybody always says the same.

    >>> units = fleiss_counts([[3, 0], [0, 3], [1, 2], [0, 3]])
    >>> round(float(kappa_of_sums(units.sum(axis=0))), 3)
    0.625
    """
    agreement, units, absent, present = np.moveaxis(np.asarray(sums, dtype=np.float64), -1, 0)
    observed = ratio(agreement, units)
    share = ratio(present, absent + present)
    expected = share**2 + (1 - share) ** 2
    return ratio(observed - expected, 1 - expected)


@dataclass(frozen=True, eq=False, slots=True)
class ScoreAgreement:
    """Intraclass correlations and AC2 of the annotators' scores, and the scores themselves.

    ``scores`` has one line per note and one column per annotator, in the order of the corpus;
    ``limits`` are those of agreement between the first two.
    """

    absolute: Estimate
    consistent: Estimate
    ac2: Estimate
    limits: LimitsOfAgreement
    scores: F64

    @property
    def n_notes(self) -> int:
        """Notes that everybody judged alike."""
        return len(self.scores)

    def to_dict(self) -> dict[str, object]:
        """Return everything, ready for JSON."""
        return {
            "icc_a1": self.absolute.to_dict(),
            "icc_c1": self.consistent.to_dict(),
            "ac2": self.ac2.to_dict(),
            "limits_of_agreement": self.limits.to_dict(),
            "n_notes": self.n_notes,
            "n_annotators": self.scores.shape[1],
        }


def note_scores(corpus: Corpus) -> tuple[list[str], F64]:
    """Return the scores of the notes that all annotators judged on the same features.

    A score is the sum of the weights of the features that an annotator marked.

    >>> from rubricate import load_corpus
    >>> notes, scores = note_scores(load_corpus("open-notes").select(cases=["0"]))
    >>> len(notes), scores.shape
    (20, (20, 2))
    """
    rows, n_annotators = corpus.rows, len(corpus.annotators)
    weight = np.array([feature.weight for feature in corpus.features], dtype=np.float64)
    shape = (len(corpus.notes), n_annotators)
    scores, judged = np.zeros(shape), np.zeros(shape, dtype=np.int64)
    present = np.diff(rows.first_annotation) > 0
    np.add.at(scores, (rows.note, rows.annotator), np.where(present, weight[rows.feature], 0.0))
    # sums of random numbers tell sets of features apart
    mark = np.random.default_rng(0).integers(1, 2**40, size=len(weight))
    np.add.at(judged, (rows.note, rows.annotator), mark[rows.feature])
    alike = (judged > 0).all(axis=1) & (judged == judged[:, :1]).all(axis=1)
    kept = np.flatnonzero(alike)
    return [corpus.notes[i].id for i in kept.tolist()], scores[kept]


def _possible_scores(corpus: Corpus, notes: list[str]) -> F64 | None:
    """Return all scores notes of these cases may have; None where weights are not whole."""
    cases = {corpus.note(note).case for note in notes}
    weights = [np.array([f.weight for f in corpus.rubric(case)]) for case in cases]
    if any((own < 0).any() or (own % 1).any() for own in weights):
        return None
    return np.arange(max(own.sum() for own in weights) + 1)


def score_agreement_of(
    corpus: Corpus, settings: Resampling, clusters: Mapping[str, str] | None = None
) -> ScoreAgreement | None:
    """Return the agreement on scores; None without two notes that everybody judged alike.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> found = score_agreement_of(corpus, Resampling(resamples=99))
    >>> found.n_notes, found.absolute.value
    (20, 1.0)
    """
    notes, scores = note_scores(corpus)
    if len(notes) < 2 or scores.shape[1] < 2:
        return None
    of = None if clusters is None else [clusters[note] for note in notes]
    absolute, consistent = score_agreement(scores, settings, clusters=of)
    # Where nobody ever differs, resampling has nothing to vary: a value without an interval.
    absolute, consistent, ac2 = (
        one if one.width > 1e-9 else Estimate(one.value)
        for one in (
            absolute,
            consistent,
            gwet_ac2(scores, settings, possible=_possible_scores(corpus, notes), clusters=of),
        )
    )
    return ScoreAgreement(
        absolute,
        consistent,
        ac2,
        limits_of_agreement(
            scores[:, 0], scores[:, 1], confidence=settings.confidence, clusters=of
        ),
        scores,
    )


@dataclass(frozen=True, slots=True)
class ChanceCorrected:
    """Agreement on presence corrected for chance, and the rows it rests on."""

    estimate: Estimate
    n_units: int

    def to_dict(self) -> dict[str, object]:
        """Return everything, ready for JSON."""
        interval = self.estimate.to_dict()
        return {"value": interval["value"], "interval": interval, "n_units": self.n_units}


def chance_corrected_of(
    corpus: Corpus, settings: Resampling, clusters: Mapping[str, str] | None
) -> dict[str, ChanceCorrected]:
    """Return Fleiss' kappa and Krippendorff's alpha with intervals, where more than two judged."""
    table = presence_table(corpus)
    if table.counts.sum(axis=1).max(initial=0) < 3:
        return {}
    unit = table.note
    if clusters is not None:
        names = [clusters[note.id] for note in corpus.notes]
        unit = np.unique(names, return_inverse=True)[1][unit]
    notes, place = np.unique(unit, return_inverse=True)
    result = {}
    for name, per_unit, statistic in (
        ("fleiss_kappa", fleiss_counts(table.counts), kappa_of_sums),
        ("krippendorff_alpha", krippendorff_counts(table.counts), alpha_of_sums),
    ):
        by_note = np.zeros((len(notes), per_unit.shape[1]))
        np.add.at(by_note, place, per_unit)
        used = (per_unit != 0).any(axis=1)
        items = np.bincount(place[used], minlength=len(notes))
        disputed = np.bincount(place[used & (table.counts.min(axis=1) > 0)], minlength=len(notes))
        # 0 is chance, not none of the notes: only full agreement is a share of them
        support = Support(effective_items(items), (disputed > 0).sum(), np.inf)
        drawn = limit_by_items(bootstrap_interval(by_note, statistic, settings), support)
        result[name] = ChanceCorrected(drawn.at(), int(used.sum()))
    return result
