"""Agreement of all annotators of a corpus, from one pass over all pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rubricate.agreement.lengths import span_lengths
from rubricate.agreement.pairs import AnnotatorPairs, pair_annotators
from rubricate.agreement.per_note import Empty, NoteMeans, note_means
from rubricate.agreement.raters import (
    alpha_of_sums,
    fleiss_counts,
    kappa_of_sums,
    krippendorff_counts,
    presence_table,
)
from rubricate.corpus import Corpus
from rubricate.errors import InputError
from rubricate.measures import Evaluation, Matching, evaluate_pairing
from rubricate.measures.formulas import defined, mean_defined
from rubricate.measures.intervals import Interpreted, add_intervals
from rubricate.stats import Resampling, bootstrap_interval, exact_where_still, ratio

#: Name of the pair of all groups when annotators have no group.
EVERYBODY = ""


@dataclass(frozen=True, eq=False)
class Agreement:
    """How far the annotators of a corpus agree.

    Parameters
    ----------
    corpus : Corpus
        What was compared.
    pooled : Interpreted
        Counts of all pairs together, the earlier annotator as reference; overall, by case and by
        feature, with intervals by note.
    pairs : mapping from (id, id) to Evaluation
        Each pair on its own.
    per_note : mapping from (reference group, predicted group) to feature id to kind to NoteMeans
        Span agreement the PICO paper's way.
    chance_corrected : mapping
        Fleiss' kappa and Krippendorff's alpha on presence, with intervals, for more than two.
    lengths : mapping
        Span lengths by group and feature.
    empty : str
        The rule for annotators who marked nothing, in ``per_note``.
    """

    corpus: Corpus
    pooled: Interpreted
    pairs: Mapping[tuple[str, str], Evaluation]
    per_note: Mapping[tuple[str, str], Mapping[str, Mapping[str, NoteMeans]]]
    chance_corrected: Mapping[str, Any]
    lengths: Mapping[str, Any]
    empty: Empty

    def case_table(self) -> list[dict[str, Any]]:
        """Return the NBME paper's Table 2: a line a case, then mean and SD over cases.

        ``jaccard`` is the mean over rows, empty against empty counting as full agreement (in the
        paper's table it exceeds F1, which a ratio of sums cannot do); ``jaccard_pooled`` is the
        ratio of sums. Cases in which a value is undefined are left out of its mean and SD.
        """
        characters = self.pooled.evaluation.characters
        presence = self.pooled.evaluation.presence
        lines: list[dict[str, Any]] = []
        for case, measured in characters.by("case").measured().items():
            own = characters.where(cases=[case])
            lines.append(
                {
                    "case": case,
                    "f1": measured.f1,
                    "jaccard": own.row_means()["jaccard"],
                    "jaccard_pooled": measured["jaccard"],
                    "kappa": measured["kappa"],
                    "yes_no_f1": presence.where(cases=[case]).total().f1,
                    "n_notes": len(own.by("note")),
                }
            )
        if len(lines) < 2:
            return lines
        names = list(lines[0])[1:6]
        values = np.array([[line[name] for name in names] for line in lines], dtype=np.float64)
        mean = mean_defined(values, axis=0)
        n_others = np.maximum((~np.isnan(values)).sum(axis=0) - 1, 0)
        sd = np.sqrt(ratio(np.nansum((values - mean) ** 2, axis=0), n_others))
        for case, found in (("mean", mean), ("sd", sd)):
            found_by_name = dict(zip(names, found.tolist(), strict=True))
            lines.append({"case": case, **found_by_name, "n_notes": None})
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        pooled = self.pooled.to_dict()
        for name in ("reference_annotator", "predicted_annotator"):
            del pooled[name]
        return {
            "annotators": [{"id": a.id, "group": a.group} for a in self.corpus.annotators],
            "protocol": pooled["protocol"],
            "unit": pooled["unit"],
            "empty": self.empty,
            "overall": {k: pooled[k] for k in ("characters", "presence", "spans")},
            "intervals": pooled["intervals"],
            "warnings": pooled["warnings"],
            "cases": pooled["cases"],
            "case_table": [
                {k: defined(v) if isinstance(v, float) else v for k, v in line.items()}
                for line in self.case_table()
            ],
            "features": pooled["features"],
            "pairs": [
                {
                    "first": first,
                    "second": second,
                    "n_notes": e.coverage.n_notes,
                    "n_rows": e.coverage.n_rows,
                    "characters": e.characters.total().to_dict(),
                    "presence": e.presence.total().to_dict(),
                    "spans": {kind: t.total().to_dict() for kind, t in e.spans.items()},
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
            "presence_all": dict(self.chance_corrected),
            "span_lengths": dict(self.lengths),
        }


def agree(
    corpus: Corpus,
    *,
    matching: Matching | None = None,
    empty: Empty = "zero",
    reference_group: str | None = None,
    settings: Resampling | None = None,
) -> Agreement:
    """Measure how far the annotators of a corpus agree.

    Parameters
    ----------
    corpus : Corpus
        Two annotators or more; only rows that both of a pair judged are compared.
    matching : Matching, optional
        How spans are matched; the ``paper`` protocol by token unless given.
    empty : {"zero", "agree", "skip"}
        See `note_means`.
    reference_group : str, optional
        The group that stands on the reference side across groups; the group named ``expert`` if
        there is one, else that of the first annotator.
    settings : Resampling, optional
        How intervals are made.

    Raises
    ------
    InputError
        If no two annotators judged the same row.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> agreement = agree(load_corpus("open-notes").select(cases=["0"]))
    >>> round(agreement.pooled.evaluation.presence.total().f1, 2)
    1.0
    """
    if len(corpus.annotators) < 2:
        raise InputError(
            f"agreement needs two annotators or more; the corpus has {len(corpus.annotators)}"
        )
    matching = matching or Matching(protocol="paper", unit="token")
    settings = settings or Resampling()
    once = pair_annotators(corpus, ordered=False)
    pooled = evaluate_pairing(once.pairing, matching)
    groups = _group_pairs(corpus, reference_group)
    per_note = {}
    for (one, two), (left, right) in groups.items():
        try:
            pairs = pair_annotators(corpus, reference=left, predicted=right)
        except InputError:
            continue  # these groups share no row, which is no fault of the others
        per_note[one, two] = note_means(pairs, matching, empty=empty, settings=settings)
    return Agreement(
        corpus,
        add_intervals(pooled, settings),
        _each_pair(corpus, once, pooled),
        per_note,
        _chance_corrected(corpus, settings),
        span_lengths(corpus),
        empty,
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
        raise InputError(
            f"no annotator is in group {reference_group!r}; "
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


def _chance_corrected(corpus: Corpus, settings: Resampling) -> dict[str, Any]:
    """Return Fleiss' kappa and Krippendorff's alpha with intervals, where more than two judged."""
    table = presence_table(corpus)
    if table.counts.sum(axis=1).max(initial=0) < 3:
        return {}
    notes, place = np.unique(table.note, return_inverse=True)
    result: dict[str, Any] = {}
    for name, per_unit, statistic in (
        ("fleiss_kappa", fleiss_counts(table.counts), kappa_of_sums),
        ("krippendorff_alpha", krippendorff_counts(table.counts), alpha_of_sums),
    ):
        by_note = np.zeros((len(notes), per_unit.shape[1]))
        np.add.at(by_note, place, per_unit)
        drawn = bootstrap_interval(by_note, statistic, settings)
        # only full agreement is a share of notes: 0 is chance, not none of them
        informs = (by_note != 0).any(axis=1).sum() if drawn.estimate == 1 else np.nan
        drawn = exact_where_still(drawn, informs)
        result[name] = {
            "value": defined(float(drawn.estimate)),
            "interval": [defined(float(drawn.low)), defined(float(drawn.high))],
            "n_units": int((per_unit != 0).any(axis=1).sum()),
        }
    return result
