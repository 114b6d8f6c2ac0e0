"""Agreement of all annotators of a corpus, from one pass over all pairs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, I64
from rubricate.corpus import Corpus
from rubricate.display import table_html
from rubricate.errors import ArgumentError, InputError, UnknownNameError, did_you_mean
from rubricate.evaluation.counts import mean_defined
from rubricate.evaluation.design import SampleDesign, clusters_of
from rubricate.evaluation.evaluation import (
    Evaluation,
    add_intervals,
    evaluate_pairing,
    nested,
)
from rubricate.evaluation.matching import LABELS, Matching, span_counts, words
from rubricate.evaluation.pairing import Coverage, Pairing, row_keys
from rubricate.progress import Progress, silent, watched
from rubricate.stats import (
    Estimate,
    LimitsOfAgreement,
    Resampling,
    Support,
    bootstrap_interval,
    defined,
    effective_items,
    gwet_ac2,
    limit_by_items,
    limits_of_agreement,
    ratio,
    score_agreement,
)
from rubricate.stats.raters import (
    alpha_of_sums,
    fleiss_counts,
    kappa_of_sums,
    krippendorff_counts,
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
    pooled: Evaluation
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
        characters = self.pooled.characters
        presence = self.pooled.presence
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
        evaluation = self.pooled
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
    >>> round(agreement.pooled.presence.total().f1, 2)
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
    # Each pair's rows are taken out of the pooled counts.
    ids = [annotator.id for annotator in corpus.annotators]
    code = once.reference_annotator * len(ids) + once.predicted_annotator
    pairs_of = {}
    for own in np.unique(code).tolist():
        who = ids[own // len(ids)], ids[own % len(ids)]
        pairs_of[who] = pooled.take(np.flatnonzero(code == own), *who)
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
        add_intervals(pooled, settings, design=SampleDesign(clusters=clusters), progress=progress),
        pairs_of,
        per_note,
        chance_corrected_of(corpus, settings, clusters),
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


@dataclass(frozen=True, eq=False)
class AnnotatorPairs:
    """Rows of ordered pairs of annotators."""

    pairing: Pairing
    reference_annotator: I64
    predicted_annotator: I64

    def __len__(self) -> int:
        return len(self.pairing)


def pair_annotators(
    corpus: Corpus,
    *,
    reference: Collection[str] | None = None,
    predicted: Collection[str] | None = None,
    ordered: bool = True,
) -> AnnotatorPairs:
    """Put every two rows of a note and feature side by side that two annotators judged.

    ``reference``, ``predicted``: who stands on which side; everybody unless given. Nobody is paired
    with themselves.
    ``ordered``: both directions of a pair (True), or only that in which the earlier annotator of
    the corpus is the reference.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> len(pair_annotators(corpus, ordered=False))
    320
    """
    known = [a.id for a in corpus.annotators]
    for name in (*(reference or ()), *(predicted or ())):
        if name not in corpus.annotator_index:
            raise UnknownNameError("annotator", name, known)
    side_one, side_two = (
        np.array([ids is None or i in ids for i in known], dtype=bool)
        for ids in (reference, predicted)
    )
    rows = corpus.rows
    unit = rows.note.astype(np.int64) * len(corpus.features) + rows.feature
    left = np.flatnonzero(side_one[rows.annotator])
    right = np.flatnonzero(side_two[rows.annotator])
    right = right[np.argsort(unit[right], kind="stable")]
    first = np.searchsorted(unit[right], unit[left], side="left")
    count = np.searchsorted(unit[right], unit[left], side="right") - first
    one = np.repeat(left, count)
    ends = np.cumsum(count)
    step = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - count, count)
    two = right[np.repeat(first, count) + step]
    who_one, who_two = rows.annotator[one], rows.annotator[two]
    keep = who_one != who_two if ordered else who_one < who_two
    if not keep.any():
        raise InputError(
            "no two annotators judged the same feature of the same note, so there is nothing to "
            "compare. Annotators: " + (", ".join(a.id for a in corpus.annotators) or "none")
        )
    one, two = one[keep], two[keep]
    keys = row_keys(corpus, one)
    pairing = Pairing(
        corpus, corpus, "each", "each other", keys, one, two,
        Coverage(n_notes=len(np.unique(keys.note)), n_rows=len(one)),
    )  # fmt: skip
    return AnnotatorPairs(
        pairing, rows.annotator[one].astype(np.int64), rows.annotator[two].astype(np.int64)
    )


#: What an annotator without a span in a row does to the row's value.
Empty = Literal["zero", "agree", "skip"]
STATISTICS = ("precision", "recall", "f1")


@dataclass(frozen=True, eq=False)
class NoteMeans:
    """Mean and sample standard deviation over notes of one kind of span agreement.

    ``f1``: the mean F1 with its bootstrap interval, by note.
    ``n_notes``, ``n_pairs``: notes, and ordered pairs of annotators in them.
    """

    mean: dict[str, float]
    sd: dict[str, float]
    f1: Estimate
    n_notes: int
    n_pairs: int

    def to_dict(self) -> dict[str, object]:
        """Return everything, ready for JSON."""
        return {
            **{name: defined(value) for name, value in self.mean.items()},
            "sd": {name: defined(value) for name, value in self.sd.items()},
            "interval": self.f1.to_dict(),
            "n_notes": self.n_notes,
            "n_pairs": self.n_pairs,
        }


class MeanSd(TypedDict):
    """Mean and sample SD; None where undefined."""

    mean: float | None
    sd: float | None


class SpanLengths(TypedDict):
    """Lengths of some spans."""

    n_spans: int
    tokens: MeanSd
    characters: MeanSd


def note_means(
    pairs: AnnotatorPairs,
    matching: Matching,
    *,
    empty: Empty = "zero",
    settings: Resampling | None = None,
    clusters: Mapping[str, str] | None = None,
) -> dict[str, dict[str, NoteMeans]]:
    """Average span precision, recall and F1 over ordered pairs in a note, then over notes.

    This is the PICO paper's way (Lee and Sun 2019, section 3), which makes a long note count as
    much as a short one.
    """
    tables = span_counts(pairs.pairing, matching)
    found: dict[str, dict[str, NoteMeans]] = {}
    ids = [note.id for note in pairs.pairing.reference.notes]
    of = None if clusters is None else np.array([clusters[i] for i in ids])
    for kind, table in tables.items():
        # Precision, recall and F1 of each row, and which rows count.
        values = np.nan_to_num(table.measure.values(table.values), nan=0.0)
        nothing = (table.column("reference") == 0, table.column("predicted") == 0)
        keep = np.ones(len(table), dtype=bool)
        if empty == "agree":
            values[nothing[0] & nothing[1]] = 1.0
        elif empty == "skip":
            keep = ~(nothing[0] | nothing[1])
        note, feature = table.keys.note[keep], table.keys.feature[keep]
        for place in [-1, *np.unique(feature).tolist()]:
            own = np.ones(len(note), dtype=bool) if place < 0 else feature == place
            name = "" if place < 0 else table.keys.features[place]
            means = _over_notes(values[keep][own], note[own], settings or Resampling(), of)
            found.setdefault(name, {})[kind] = means
    return found


def _over_notes(
    values: F64, note: I64, settings: Resampling, of: npt.NDArray[np.str_] | None
) -> NoteMeans:
    notes, place = np.unique(note, return_inverse=True)
    n_pairs = np.bincount(place, minlength=len(notes)).astype(np.float64)
    by_note = np.stack(
        [np.bincount(place, weights=column, minlength=len(notes)) / n_pairs for column in values.T],
        axis=-1,
    )
    mean = by_note.mean(axis=0) if len(notes) else np.full(3, np.nan)
    sd = by_note.std(axis=0, ddof=1) if len(notes) > 1 else np.full(3, np.nan)
    f1 = Estimate(float(mean[2]))
    if len(notes) > 1:
        # A mean over notes is a ratio of sums over notes: (value, 1) add like any counts.
        counts = np.stack([by_note[:, 2], np.ones(len(notes))], axis=-1)
        drawn = limit_by_items(
            bootstrap_interval(
                counts,
                lambda sums: ratio(sums[..., 0], sums[..., 1]),
                settings,
                clusters=None if of is None else of[notes],
            ),
            Support(len(notes), (by_note[:, 2] < 1).sum(), (by_note[:, 2] > 0).sum()),
        )
        f1 = replace(drawn.at(), value=f1.value)
    return NoteMeans(
        dict(zip(STATISTICS, mean.tolist(), strict=True)),
        dict(zip(STATISTICS, sd.tolist(), strict=True)),
        f1,
        len(notes),
        len(values),
    )


def span_lengths(
    corpus: Corpus, tokens: Mapping[str, npt.ArrayLike] | None = None
) -> dict[str, dict[str, SpanLengths]]:
    """Return tokens and characters per span: mean and sample SD, by group and feature.

    As the PICO paper's Table 4, which compares experts with crowd workers. Each fragment counts as
    a span. Annotators without a group form the group ``""``. ``tokens`` are the corpus's own, by
    note id (`rubricate.formats.stored_tokens`); notes that have none are cut into words.

    >>> from rubricate import load_corpus
    >>> found = span_lengths(load_corpus("open-notes").select(cases=["0"]))
    >>> sorted(found), found["rater"]["1"]["n_spans"]
    (['rater', 'writer'], 18)
    """
    rows = corpus.rows
    row = rows.span_row
    # How many tokens each span shares a character with.
    note, lengths = rows.note[row], np.zeros(len(row), dtype=np.int64)
    for i in np.unique(note).tolist():
        own = np.flatnonzero(note == i)
        known = corpus.notes[i]
        given = tokens[known.id] if tokens and known.id in tokens else words(known.text)
        pieces = np.asarray(given, dtype=np.int64).reshape(-1, 2)
        first = np.searchsorted(pieces[:, 1], rows.start[own], side="right")
        last = np.searchsorted(pieces[:, 0], rows.end[own], side="left")
        lengths[own] = np.maximum(last - first, 0)
    characters = rows.end - rows.start
    groups = sorted({a.group for a in corpus.annotators})
    group_of = np.array([groups.index(a.group) for a in corpus.annotators], dtype=np.int64)
    group, feature = group_of[rows.annotator[row]], rows.feature[row]
    result: dict[str, dict[str, SpanLengths]] = {}
    for g, name in enumerate(groups):
        for f in np.unique(feature[group == g]).tolist():
            own = (group == g) & (feature == f)
            result.setdefault(name, {})[corpus.features[f].id] = {
                "n_spans": int(own.sum()),
                "tokens": _mean_sd(lengths[own]),
                "characters": _mean_sd(characters[own]),
            }
    return result


def _mean_sd(values: I64) -> MeanSd:
    sd = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
    return {"mean": defined(float(values.mean())), "sd": defined(sd)}


def pair_evaluation(corpus: Corpus) -> Evaluation | None:
    """Compare every two annotators of a note; None where no note has two."""
    if len(corpus.annotators) < 2:
        return None
    try:
        return evaluate_pairing(pair_annotators(corpus, ordered=False).pairing)
    except InputError:
        return None


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
    # All scores that notes of these cases may have, if weights are whole.
    cases = {corpus.note(note).case for note in notes}
    weights = [np.array([f.weight for f in corpus.rubric(case)]) for case in cases]
    possible = None
    if all((own >= 0).all() and not (own % 1).any() for own in weights):
        possible = np.arange(max(own.sum() for own in weights) + 1)
    absolute, consistent = score_agreement(scores, settings, clusters=of)
    # Where nobody ever differs, resampling has nothing to vary: a value without an interval.
    absolute, consistent, ac2 = (
        one if one.width > 1e-9 else Estimate(one.value)
        for one in (
            absolute,
            consistent,
            gwet_ac2(scores, settings, possible=possible, clusters=of),
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
    # How many judged each feature of a note absent, and how many present.
    rows = corpus.rows
    of_row = rows.note.astype(np.int64) * max(1, len(corpus.features)) + rows.feature
    units, own = np.unique(of_row, return_inverse=True)
    counts = np.zeros((len(units), 2), dtype=np.int64)
    np.add.at(counts, (own, (np.diff(rows.first_annotation) > 0).astype(np.int64)), 1)
    if counts.sum(axis=1).max(initial=0) < 3:
        return {}
    unit = units // max(1, len(corpus.features))
    if clusters is not None:
        names = [clusters[note.id] for note in corpus.notes]
        unit = np.unique(names, return_inverse=True)[1][unit]
    notes, place = np.unique(unit, return_inverse=True)
    result = {}
    for name, per_unit, statistic in (
        ("fleiss_kappa", fleiss_counts(counts), kappa_of_sums),
        ("krippendorff_alpha", krippendorff_counts(counts), alpha_of_sums),
    ):
        by_note = np.zeros((len(notes), per_unit.shape[1]))
        np.add.at(by_note, place, per_unit)
        used = (per_unit != 0).any(axis=1)
        items = np.bincount(place[used], minlength=len(notes))
        disputed = np.bincount(place[used & (counts.min(axis=1) > 0)], minlength=len(notes))
        # 0 is chance, not none of the notes: only full agreement is a share of them
        support = Support(effective_items(items), (disputed > 0).sum(), np.inf)
        drawn = limit_by_items(bootstrap_interval(by_note, statistic, settings), support)
        result[name] = ChanceCorrected(drawn.at(), int(used.sum()))
    return result
