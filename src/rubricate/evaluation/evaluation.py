"""Everything at once: a prediction against a reference, and how many notes a pilot asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, I64
from rubricate.corpus import Corpus
from rubricate.display import counted, shown_number, table_html
from rubricate.errors import InputError, UnknownNameError
from rubricate.evaluation.counts import By, CountTable
from rubricate.evaluation.matching import Matching, MeasureKey, count_rows
from rubricate.evaluation.pairing import Coverage, Missing, Pairing, Unknown, pair_rows
from rubricate.evaluation.probabilities import presence_probability
from rubricate.stats import (
    Estimate,
    PilotPlan,
    Resampling,
    Support,
    bootstrap_interval,
    defined,
    effective_items,
    limit_by_items,
    plan_pilot,
)
from rubricate.stats.resampling import f1

#: What stands beside the values of a table at a level ("overall", "cases", "macro features", ...)
#: and group.
Beside = Callable[[MeasureKey, str, str], Mapping[str, object]]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The counts of every measure, row by row, and what follows from them.

    Evaluations of disjoint parts of a corpus add to that of the whole.

    ``reference_annotator``, ``predicted_annotator``: who was compared with whom.
    ``coverage``: how many notes and rows were counted, missing or left out.
    ``protocol``, ``unit``: how spans were matched.
    ``tables``: the counts of each measure, one line per row: ``("characters",)``,
    ``("presence",)``, ``("spans", "exact")`` and so on (`rubricate.evaluation.matching`).
    ``probability``: the predicted probability of presence of each row, nan where unknown; None
    where no row has one.
    """

    reference_annotator: str
    predicted_annotator: str
    coverage: Coverage
    protocol: str
    unit: str
    tables: Mapping[MeasureKey, CountTable]
    probability: F64 | None = None

    @property
    def characters(self) -> CountTable:
        """Counts of character positions (tp, fp, fn, tn)."""
        return self.tables["characters",]

    @property
    def presence(self) -> CountTable:
        """Counts of rows in which the feature was found (tp, fp, fn, tn)."""
        return self.tables["presence",]

    @property
    def spans(self) -> dict[str, CountTable]:
        """Counts of annotations by kind of agreement: ``exact`` and so on."""
        return {key[1]: table for key, table in self.tables.items() if key[0] == "spans"}

    def __add__(self, other: Evaluation) -> Evaluation:
        return replace(
            self,
            coverage=self.coverage + other.coverage,
            tables={key: table + other.tables[key] for key, table in self.tables.items()},
            probability=_joined(self, other),
        )

    def by_cluster(self, cluster_of: Mapping[str, str]) -> Evaluation:
        """Return the evaluation with clusters of notes, such as patients, in the place of notes.

        Values stay as they are; intervals from it draw whole clusters.
        """
        tables = {key: table.by_cluster(cluster_of) for key, table in self.tables.items()}
        return replace(self, tables=tables)

    def take(self, rows: I64, reference_annotator: str, predicted_annotator: str) -> Evaluation:
        """Return the evaluation of some of the rows, under other names."""
        notes = len(np.unique(self.characters.keys.note[rows]))
        return replace(
            self,
            reference_annotator=reference_annotator,
            predicted_annotator=predicted_annotator,
            coverage=Coverage(n_notes=notes, n_rows=len(rows)),
            tables={
                key: CountTable(table.measure, table.keys.take(rows), table.values[rows])
                for key, table in self.tables.items()
            },
            probability=None if self.probability is None else self.probability[rows],
        )

    def __repr__(self) -> str:
        found = ", ".join(
            f"{key[0]} {shown_number(table.total().f1)}"
            for key, table in self.tables.items()
            if key in (("characters",), ("presence",))
        )
        who = f"{self.predicted_annotator} against {self.reference_annotator}"
        held = f"{counted(self.coverage.n_notes, 'note')}, {counted(self.coverage.n_rows, 'row')}"
        return f"<Evaluation: {who}, {held}; F1 of {found}>"

    def _repr_html_(self) -> str:
        lines = [
            (" ".join(key), *(getattr(table.total(), n) for n in ("precision", "recall", "f1")))
            for key, table in self.tables.items()
        ]
        title = f"{self.predicted_annotator} against {self.reference_annotator}"
        return table_html(("measure", "precision", "recall", "F1"), lines, title=title)

    def all_present_f1(self, weights: Mapping[str, float] | None = None) -> float:
        """Return the presence F1 of marking everything present: 2p / (1 + p), p the share present.

        Where most features are present this is high, so a presence F1 says little without it.
        With the notes' design weights, p is the weighted share.
        """
        notes = self.presence.by("note")
        weight = np.array([1.0 if weights is None else weights[note] for note in notes.ids])
        tp, _, fn, _ = totals = weight @ notes.values
        present = float(tp + fn)
        return 2 * present / float(present + totals.sum()) if present else float("nan")

    def decisions(self) -> str:
        """Say in one sentence how many decisions on presence were wrong, and in which way.

        >>> from rubricate import load_corpus
        >>> corpus = load_corpus("open-notes").select(cases=["0"])
        >>> evaluate(
        ...     corpus, corpus, missing="skip",
        ...     reference_annotator="reference", predicted_annotator="second_rater",
        ... ).decisions()
        'Of 320 decisions 0 were wrong.'
        """
        tp, fp, fn, tn = self.presence.values.sum(axis=0).tolist()
        wrong = fp + fn
        said = f"Of {counted(tp + wrong + tn, 'decision')} {wrong:,} {_was(wrong)} wrong"
        return f"{said}: {fp:,} credited, {fn:,} missed." if wrong else f"{said}."

    def span_outcomes(self) -> dict[str, float | int | None]:
        """Return the counts of correct, partial, missed and spurious spans, with partial credit.

        Correct spans cover the same, partial ones share a unit, missed and spurious ones meet
        nothing of the other side; a partial one counts half in ``f1`` (SemEval 2013, task 9.1; as
        nervaluate counts "partial"), and nothing in ``strict_f1``, where nervaluate calls it
        ``incorrect``. Features are compared one by one, since several may share words: a span of
        another feature is spurious there and missed here. With the protocols other than one-to-one
        a span may meet several, so the counts are of predicted spans that hit.
        """
        reference, predicted, _, correct = self.spans["exact"].values.sum(axis=0).tolist()
        _, _, found, hits = self.spans["token_overlap"].values.sum(axis=0).tolist()
        partial = max(hits - correct, 0)
        total = reference + predicted
        return {
            "correct": correct,
            "partial": partial,
            "incorrect": partial,
            "missed": max(reference - found, 0),
            "spurious": predicted - hits,
            "f1": (2 * correct + partial) / total if total else None,
            "strict_f1": 2 * correct / total if total else None,
        }

    def warnings(self) -> list[str]:
        """Say what a reader of the values must know."""
        found = []
        if self.coverage.n_missing_rows:
            found.append(
                f"{self.coverage.n_missing_rows:,} rows judged by the reference "
                f"({self.coverage.n_missing_notes:,} whole notes) have no prediction"
            )
        if self.coverage.n_unjudged_rows:
            found.append(
                f"{self.coverage.n_unjudged_rows:,} predicted rows are left out, because the "
                "reference did not judge them"
            )
        tp, fp, fn, _ = self.presence.values.sum(axis=0).tolist()
        if fn and not tp + fp:
            found.append(
                f"nothing was found in any of {len(self.presence):,} rows, of which the reference "
                f"has {fn:,} present: are these the annotations that were meant?"
            )
        for kind, table in self.spans.items() if self.protocol == "paper" else ():
            above = {
                by: int((table.by(by).statistic("recall") > 1).sum())
                for by in ("case", "feature", "note")
            }
            if any(above.values()) or table.total().recall > 1:
                found.append(
                    f"spans, {kind}: recall, and with it F1, may exceed 1 (it does in "
                    f"{counted(above['case'], 'case')}, {counted(above['feature'], 'feature')} and "
                    f"{counted(above['note'], 'note')}), because the protocol {self.protocol!r} "
                    "counts hits on the predicted side only: several predicted spans may hit one"
                )
        return found

    def to_dict(
        self, weights: Mapping[str, float] | None = None, beside: Beside | None = None
    ) -> dict[str, object]:
        """Return all values and counts, ready for JSON; undefined values are None.

        The notes' design ``weights`` serve the means over notes and rows and what marking
        everything would give. ``beside`` says what else stands beside a table's values, and
        replaces those it names (`EvaluationWithIntervals.to_dict`).
        """
        more = beside or (lambda key, level, group: {})
        blocks: dict[MeasureKey, dict[str, object]] = {}
        for key, table in self.tables.items():
            macro = {
                over: {
                    **{name: defined(value) for name, value in means.items()},
                    **more(key, f"macro {over}", ""),
                }
                for over, means in table.macro(weights).items()
            }
            blocks[key] = {**table.total().to_dict(), "macro": macro}
            if key == ("presence",):
                blocks[key]["all_present_f1"] = defined(self.all_present_f1(weights))
            blocks[key] |= more(key, "overall", "")
        return {
            "reference_annotator": self.reference_annotator,
            "predicted_annotator": self.predicted_annotator,
            "protocol": self.protocol,
            "unit": self.unit,
            **self.coverage.to_dict(),
            "decisions": self.decisions(),
            "warnings": self.warnings(),
            "span_outcomes": self.span_outcomes(),
            **nested(blocks),
            "cases": self._groups("case", more),
            "features": self._groups("feature", more),
        }

    def _groups(self, by: By, more: Beside) -> dict[str, object]:
        groups: dict[str, dict[MeasureKey, object]] = {}
        for key, table in self.tables.items():
            for group, measured in table.by(by).measured().items():
                block = {**measured.to_dict(), **more(key, f"{by}s", group)}
                groups.setdefault(group, {})[key] = block
        return {group: nested(blocks) for group, blocks in groups.items()}


def nested(values: Mapping[MeasureKey, object]) -> dict[str, object]:
    """Return values by key as JSON has them: ``("spans", "exact")`` inside ``spans``.

    >>> nested({("presence",): 1, ("spans", "exact"): 2, ("spans", "token_overlap"): 3})
    {'presence': 1, 'spans': {'exact': 2, 'token_overlap': 3}}
    """
    result: dict[str, object] = {}
    inner: dict[str, dict[str, object]] = {}
    for key, value in values.items():
        if len(key) == 1:
            result[key[0]] = value
        else:
            result[key[0]] = inner.setdefault(key[0], {})
            inner[key[0]][key[1]] = value
    return result


def evaluate(
    reference: Corpus,
    predicted: Corpus,
    *,
    reference_annotator: str | None = None,
    predicted_annotator: str | None = None,
    missing: Missing = "empty",
    unknown: Unknown = "error",
    matching: Matching | None = None,
) -> Evaluation:
    """Measure a prediction against a reference.

    Spans are matched one-to-one by character unless ``matching`` says otherwise; all else is as for
    `pair_rows`.

    >>> from rubricate import CorpusBuilder, Feature, Note
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "no fever, no cough"))
    >>> builder.add_feature(Feature("f", "c", "No fever"))
    >>> builder.annotate("ref", "n", "f", [(0, 8)])
    >>> builder.annotate("pred", "n", "f", [(3, 8)])
    >>> corpus = builder.build()
    >>> evaluation = evaluate(
    ...     corpus, corpus, reference_annotator="ref", predicted_annotator="pred"
    ... )
    >>> evaluation.characters.total().recall, evaluation.presence.total().f1
    (0.625, 1.0)
    >>> evaluation.to_dict()["spans"]["one_side_boundary"]["f1"]
    1.0
    """
    pairing = pair_rows(
        reference,
        predicted,
        reference_annotator=reference_annotator,
        predicted_annotator=predicted_annotator,
        missing=missing,
        unknown=unknown,
    )
    return evaluate_pairing(pairing, matching)


def evaluate_pairing(pairing: Pairing, matching: Matching | None = None) -> Evaluation:
    """Measure rows that are paired already; see `evaluate`.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"], annotators=["reference"])
    >>> evaluate_pairing(pair_rows(corpus, corpus)).presence.total().f1
    1.0
    """
    matching = matching or Matching()
    return Evaluation(
        reference_annotator=pairing.reference_annotator,
        predicted_annotator=pairing.predicted_annotator,
        coverage=pairing.coverage,
        protocol=matching.protocol,
        unit=matching.unit,
        tables=count_rows(pairing, matching),
        probability=presence_probability(pairing),
    )


def _was(n: int) -> str:
    return "was" if n == 1 else "were"


def _joined(first: Evaluation, second: Evaluation) -> F64 | None:
    if first.probability is None and second.probability is None:
        return None
    parts = [
        np.full(len(one.presence), np.nan) if one.probability is None else one.probability
        for one in (first, second)
    ]
    return np.concatenate(parts)


#: Resamples of a simulated study; more would not move the size.
_RESAMPLES = 300


def plan_from_pilot(
    pilot: Corpus,
    *,
    reference_annotator: str | None = None,
    predicted_annotator: str | None = None,
    measure: str = "presence",
    half_width: float = 0.05,
    assurance: float = 0.9,
    confidence: float = 0.95,
    studies: int = 100,
    seed: int = 0,
) -> PilotPlan:
    """Return the notes that an F1 needs, by drawing studies from the notes of a pilot.

    The interval of each simulated study is the one `add_intervals` gives a study of one case: a
    bootstrap by note, joined with limits by items where few notes are wrong.

    >>> from rubricate import load_corpus
    >>> pilot = load_corpus("open-notes").select(cases=["0"])
    >>> found = plan_from_pilot(
    ...     pilot, reference_annotator="reference", predicted_annotator="second_rater",
    ...     measure="characters", half_width=0.02, studies=20,
    ... )
    >>> 5 < found.notes < 60
    True
    """
    known = ("characters", "presence")
    if measure not in known:
        raise UnknownNameError("measure", measure, known)
    if len(pilot.annotators) < 2:
        raise InputError(
            f"a pilot needs two annotators, the reference and the system; it has "
            f"{len(pilot.annotators)}"
        )
    evaluation = evaluate(
        pilot,
        pilot,
        reference_annotator=reference_annotator,
        predicted_annotator=predicted_annotator,
        missing="skip",
    )
    table = evaluation.tables[measure,]
    settings = Resampling(_RESAMPLES, confidence, seed=seed)
    notes, place = table.keys.groups("note")
    marked = table.values[:, :3].any(axis=1)
    items = np.bincount(place[marked], minlength=len(notes))
    counts = np.column_stack([table.by("note").values, items]).astype(np.float64)

    def measured(drawn: F64) -> Estimate:
        return f1_of_notes(drawn[:, :-1], drawn[:, -1], settings)

    return plan_pilot(
        counts, measured, half_width=half_width, assurance=assurance, studies=studies, seed=seed
    )


def f1_of_notes(counts: npt.NDArray[Any], items: npt.ArrayLike, settings: Resampling) -> Estimate:
    """Return F1 from the counts of some notes (tp, fp, fn, tn) and the items of each.

    A bootstrap by note, joined with limits by items where few notes are wrong.
    """
    wrong, right = counts[:, 1:3].any(axis=1).sum(), (counts[:, 0] > 0).sum()
    support = Support(effective_items(items), wrong, right)
    found = bootstrap_interval(counts, f1, settings)
    return limit_by_items(found, support, through_jaccard=True).at()
