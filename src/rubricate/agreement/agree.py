"""Agreement of all annotators of a corpus, from one pass over all pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from rubricate.agreement.pairs import (
    AnnotatorPairs,
    Empty,
    NoteMeans,
    SpanLengths,
    note_means,
    pair_annotators,
    span_lengths,
)
from rubricate.agreement.raters import (
    ScoreAgreement,
    alpha_of_sums,
    fleiss_counts,
    kappa_of_sums,
    krippendorff_counts,
    presence_table,
    score_agreement_of,
)
from rubricate.corpus import Corpus
from rubricate.display import table_html
from rubricate.errors import ArgumentError, InputError, did_you_mean
from rubricate.measures import LABELS, Evaluation, Matching, evaluate_pairing
from rubricate.measures.clusters import clusters_of
from rubricate.measures.comparing import weighted_by_note
from rubricate.measures.evaluate import nested
from rubricate.measures.formulas import mean_defined
from rubricate.measures.intervals import EvaluationWithIntervals, add_intervals
from rubricate.progress import Progress, silent, watched
from rubricate.stats import (
    Estimate,
    Resampling,
    Side,
    Support,
    bootstrap_interval,
    compare_with_ceiling,
    defined,
    effective_items,
    limit_by_items,
    ratio,
)

#: A line of the table by case; the last two hold mean and SD and no number of notes.
CaseLine = dict[str, Any]


class ItemLine(TypedDict):
    """Agreement on one item; a value that nothing defines is None.

    ``both``, ``first_only``, ``second_only``, ``neither``: rows by who found the item. A row is a
    note judged by a pair of annotators. ``agreed``: the share of rows in which the pair agrees.
    ``characters_f1``, ``exact_spans_f1``: how far the words agree, in the rows in which both found
    the item.
    """

    feature: str
    case: str
    wording: str
    rows: int
    both: int
    first_only: int
    second_only: int
    neither: int
    agreed: float
    kappa: float | None
    ac1: float | None
    characters_f1: float | None
    exact_spans_f1: float | None


@dataclass(frozen=True, slots=True)
class ChanceCorrected:
    """Agreement on presence corrected for chance, and the rows it rests on."""

    estimate: Estimate
    n_units: int

    def to_dict(self) -> dict[str, object]:
        """Return everything, ready for JSON."""
        interval = self.estimate.to_dict()
        return {"value": interval["value"], "interval": interval, "n_units": self.n_units}


@dataclass(frozen=True, eq=False)
class Agreement:
    """Agreement between the annotators of a corpus.

    ``pooled``: counts of all pairs together, the earlier annotator as reference; overall, by case
    and by feature, with intervals by note.
    ``pairs``: each pair on its own.
    ``per_note``: span agreement the PICO paper's way.
    ``chance_corrected``: Fleiss' kappa and Krippendorff's alpha on presence, with intervals, for
    more than two.
    ``lengths``: span lengths by group and feature.
    ``empty``: the rule for annotators who marked nothing, in ``per_note``.
    ``scores``: agreement on the scores of notes that everybody judged alike.
    """

    corpus: Corpus
    pooled: EvaluationWithIntervals
    pairs: Mapping[tuple[str, str], Evaluation]
    per_note: Mapping[tuple[str, str], Mapping[str, Mapping[str, NoteMeans]]]
    chance_corrected: Mapping[str, ChanceCorrected]
    lengths: Mapping[str, Mapping[str, SpanLengths]]
    empty: Empty
    scores: ScoreAgreement | None = None

    def case_table(self) -> list[CaseLine]:
        """Return the NBME paper's Table 2: one line per case, then mean and SD.

        ``jaccard`` is the mean over rows, empty against empty counting as full agreement (in the
        paper's table it exceeds F1, which a ratio of sums cannot do); ``jaccard_pooled`` is the
        ratio of sums. Cases in which a value is undefined are left out of its mean and SD.
        """
        characters = self.pooled.evaluation.characters
        presence = self.pooled.evaluation.presence
        lines: list[CaseLine] = []
        for case, measured in characters.by("case").measured().items():
            own = characters.where(cases=[case])
            found = {
                "f1": measured.f1,
                "jaccard": own.row_means()["jaccard"],
                "jaccard_pooled": measured["jaccard"],
                "kappa": measured["kappa"],
                "yes_no_f1": presence.where(cases=[case]).total().f1,
            }
            lines.append({"case": case, **found, "n_notes": len(own.by("note"))})
        if len(lines) < 2:
            return lines
        names = [name for name in lines[0] if name not in ("case", "n_notes")]
        values = np.array([[line[name] for name in names] for line in lines])
        mean = mean_defined(values, axis=0)
        n_others = np.maximum((~np.isnan(values)).sum(axis=0) - 1, 0)
        sd = np.sqrt(ratio(np.nansum((values - mean) ** 2, axis=0), n_others))
        for case, summed in (("mean", mean), ("sd", sd)):
            found = dict(zip(names, summed.tolist(), strict=True))
            lines.append({"case": case, **found, "n_notes": None})
        return lines

    def item_table(self) -> list[ItemLine]:
        """Return agreement on each item: on its presence, then on its words where both found it.

        >>> from rubricate import load_corpus
        >>> line = agree(load_corpus("open-notes").select(cases=["0"])).item_table()[0]
        >>> line["wording"], line["rows"], line["agreed"]
        ('58 year', 20, 1.0)
        """
        evaluation = self.pooled.evaluation
        presence = evaluation.presence
        both = presence.column("tp") > 0
        words = {
            name: dict(zip(found.ids, found.statistic("f1").tolist(), strict=True))
            for name in (("characters",), ("spans", "exact"))
            for found in (evaluation.tables[name].take(both).by("feature"),)
        }
        found = presence.by("feature")
        kappa, ac1 = (found.statistic(name).tolist() for name in ("kappa", "ac1"))
        lines: list[ItemLine] = []
        for i, (feature, counts) in enumerate(zip(found.ids, found.values.tolist(), strict=True)):
            tp, fp, fn, tn = counts
            known = self.corpus.feature(feature)
            lines.append(
                {
                    "feature": feature,
                    "case": known.case,
                    "wording": known.text,
                    "rows": tp + fp + fn + tn,
                    "both": tp,
                    "first_only": fn,
                    "second_only": fp,
                    "neither": tn,
                    "agreed": (tp + tn) / (tp + fp + fn + tn),
                    "kappa": defined(kappa[i]),
                    "ac1": defined(ac1[i]),
                    "characters_f1": defined(words["characters",].get(feature, float("nan"))),
                    "exact_spans_f1": defined(words["spans", "exact"].get(feature, float("nan"))),
                }
            )
        return lines

    def __repr__(self) -> str:
        who = ", ".join(one.id for one in self.corpus.annotators)
        return f"<Agreement of {who}, {repr(self.pooled).partition(', ')[2]}"

    def _repr_html_(self) -> str:
        names = ("case", "f1", "jaccard", "kappa", "yes_no_f1", "n_notes")
        lines = [[line[name] for name in names] for line in self.case_table()]
        who = ", ".join(one.id for one in self.corpus.annotators)
        return table_html(names, lines, title=f"agreement of {who}")

    def to_dict(self) -> dict[str, object]:
        """Return everything, ready for JSON."""
        pooled = self.pooled.to_dict()
        return {
            "annotators": [{"id": a.id, "group": a.group} for a in self.corpus.annotators],
            "protocol": pooled["protocol"],
            "unit": pooled["unit"],
            "empty": self.empty,
            "overall": {name: pooled[name] for name in dict.fromkeys(key[0] for key in LABELS)},
            "intervals": pooled["intervals"],
            "warnings": pooled["warnings"],
            "cases": pooled["cases"],
            "case_table": [
                {k: defined(v) if isinstance(v, float) else v for k, v in line.items()}
                for line in self.case_table()
            ],
            "items": self.item_table(),
            "features": pooled["features"],
            "pairs": [
                {
                    "first": first,
                    "second": second,
                    "n_notes": e.coverage.n_notes,
                    "n_rows": e.coverage.n_rows,
                    **nested({key: t.total().to_dict() for key, t in e.tables.items()}),
                }
                for (first, second), e in self.pairs.items()
            ],
            "per_note": [
                {
                    "reference_group": one,
                    "predicted_group": two,
                    "features": {
                        feature: {kind: m.to_dict() for kind, m in kinds.items()}
                        for feature, kinds in found.items()
                    },
                }
                for (one, two), found in self.per_note.items()
            ],
            "presence_all": {name: one.to_dict() for name, one in self.chance_corrected.items()},
            "scores": None if self.scores is None else self.scores.to_dict(),
            "span_lengths": dict(self.lengths),
        }


def agree(
    corpus: Corpus,
    *,
    matching: Matching | None = None,
    empty: Empty | None = None,
    reference_group: str | None = None,
    settings: Resampling | None = None,
    tokens: Mapping[str, npt.ArrayLike] | None = None,
    cluster: str | None = None,
    progress: Progress = silent,
) -> Agreement:
    """Measure how far the annotators of a corpus agree.

    Only rows that both of a pair judged are compared; there must be some.

    ``matching``: one-to-one by token unless given.
    ``empty``: see `note_means`. Unless given, rows in which an annotator marked nothing are left
    out (``"skip"``); with the protocol of the PICO paper they count as 0 (``"zero"``), as there.
    ``reference_group``: the group that stands on the reference side across groups; the group named
    ``expert`` if there is one, else that of the first annotator.
    ``tokens``: the corpus's own tokens by note id, for the lengths of spans.
    ``cluster``: field of the notes' metadata, such as the patient; intervals draw its clusters.

    >>> from rubricate import load_corpus
    >>> agreement = agree(load_corpus("open-notes").select(cases=["0"]))
    >>> round(agreement.pooled.evaluation.presence.total().f1, 2)
    1.0
    """
    if len(corpus.annotators) < 2:
        raise InputError(
            f"agreement needs two annotators or more; the corpus has {len(corpus.annotators)}"
        )
    matching = matching or Matching(unit="token")
    settings = settings or Resampling()
    empty = empty or ("zero" if matching.protocol == "paper" else "skip")
    clusters = clusters_of(corpus, cluster) if cluster else None
    once = pair_annotators(corpus, ordered=False)
    pooled = evaluate_pairing(once.pairing, matching)
    groups = _group_pairs(corpus, reference_group)
    per_note = {}
    for (one, two), (left, right) in watched(
        groups.items(), progress, "comparing groups", len(groups)
    ):
        try:
            pairs = pair_annotators(corpus, reference=left, predicted=right)
        except InputError:
            continue  # these groups share no row, which is no fault of the others
        per_note[one, two] = note_means(
            pairs, matching, empty=empty, settings=settings, clusters=clusters
        )
    return Agreement(
        corpus,
        add_intervals(pooled, settings, clusters=clusters, progress=progress),
        _each_pair(corpus, once, pooled),
        per_note,
        _chance_corrected(corpus, settings, clusters),
        span_lengths(corpus, tokens),
        empty,
        score_agreement_of(corpus, settings, clusters),
    )


def _group_pairs(
    corpus: Corpus, reference_group: str | None
) -> dict[tuple[str, str], tuple[list[str], list[str]]]:
    """Return the annotators of each group with themselves, and across groups."""
    members: dict[str, list[str]] = {}
    for annotator in corpus.annotators:
        members.setdefault(annotator.group, []).append(annotator.id)
    names = list(members)
    if reference_group is None:
        reference_group = "expert" if "expert" in members else names[0]
    elif reference_group not in members:
        known = ", ".join(name for name in names if name)
        hint = did_you_mean(reference_group, filter(None, names), otherwise=";")
        raise ArgumentError(
            f"no annotator is in group {reference_group!r}{hint} "
            + (f"groups: {known}" if known else "the annotators of this corpus have no groups")
        )
    names.sort(key=lambda name: name != reference_group)
    pairs = {(g, g): (members[g], members[g]) for g in names if len(members[g]) > 1}
    for i, one in enumerate(names):
        for two in names[i + 1 :]:
            pairs[one, two] = (members[one], members[two])
    return pairs


def _each_pair(
    corpus: Corpus, once: AnnotatorPairs, pooled: Evaluation
) -> dict[tuple[str, str], Evaluation]:
    """Take each pair's rows out of the pooled counts."""
    n = len(corpus.annotators)
    pair = once.reference_annotator * n + once.predicted_annotator
    found = {}
    for code in np.unique(pair).tolist():
        own = np.flatnonzero(pair == code)
        first, second = corpus.annotators[code // n].id, corpus.annotators[code % n].id
        found[first, second] = pooled.take(own, first, second)
    return found


def _chance_corrected(
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


@dataclass(frozen=True, slots=True)
class BelowCeiling:
    """A system's F1 beside the annotators' own, and the notes that each rests on."""

    system: Estimate
    ceiling: Estimate
    difference: Estimate
    system_notes: int
    ceiling_notes: int
    same_notes: bool

    def to_dict(self) -> dict[str, object]:
        """Return everything, ready for JSON."""
        return {
            "system": defined(self.system.value),
            "ceiling": defined(self.ceiling.value),
            "difference": defined(self.difference.value),
            "interval": self.difference.to_dict(),
            "ceiling_interval": self.ceiling.to_dict(),
            "system_notes": self.system_notes,
            "ceiling_notes": self.ceiling_notes,
            "same_notes": self.same_notes,
        }


def below_ceiling(system: EvaluationWithIntervals, ceiling: Agreement) -> dict[str, BelowCeiling]:
    """Compare a system's F1 with the annotators' own, characters and presence.

    Both are uncertain; see `rubricate.stats.compare_with_ceiling`.

    >>> from rubricate import load_corpus
    >>> from rubricate.measures import evaluate
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> few = Resampling(resamples=200)
    >>> perfect = evaluate(
    ...     corpus, corpus, reference_annotator="reference", predicted_annotator="reference"
    ... )
    >>> found = below_ceiling(add_intervals(perfect, few), agree(corpus, settings=few))
    >>> found["characters"].difference.value > 0, found["characters"].ceiling_notes
    (True, 20)
    """
    result = {}
    human = ceiling.pooled
    weights = system.weights
    if weights is not None and set(human.evaluation.characters.by("note").ids) <= set(weights):
        own = {note: weights.get(note, 1.0) for note in human.evaluation.characters.keys.notes}
        human = add_intervals(human.evaluation, system.settings, weights=own)
    for name in ("characters", "presence"):
        ours, theirs = system.drawn.tables[name,], human.drawn.tables[name,]
        one, two = ours.by("note"), theirs.by("note")
        sides = (
            Side(system.overall(name), weighted_by_note(one, system.weights), one.ids),
            Side(human.overall(name), weighted_by_note(two, human.weights), two.ids),
        )
        difference = compare_with_ceiling(*sides, ours.measure.statistics["f1"], system.settings)
        both = [side.evaluation.tables[name,].by("note").ids for side in (system, human)]
        result[name] = BelowCeiling(
            sides[0].estimate,
            sides[1].estimate,
            difference,
            len(both[0]),
            len(both[1]),
            set(both[0]) == set(both[1]),
        )
    return result
