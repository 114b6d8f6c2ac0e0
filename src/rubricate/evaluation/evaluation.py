"""A prediction against a reference: counts, how the notes were drawn, values with intervals."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from rubricate.arrays import F64, I64
from rubricate.corpus import Corpus
from rubricate.display import counted, shown_number, table_html
from rubricate.errors import ArgumentError, InputError
from rubricate.evaluation.counts import CountTable
from rubricate.evaluation.design import AS_THEY_COME, SampleDesign
from rubricate.evaluation.estimates import MACRO_METHOD, Estimates, Groups, Level, estimate_table
from rubricate.evaluation.matching import Matching, MeasureKey, count_rows
from rubricate.evaluation.pairing import Coverage, Missing, Pairing, Unknown, pair_rows
from rubricate.evaluation.probabilities import (
    CalibrationResult,
    Ranking,
    calibrate,
    rank,
)
from rubricate.progress import Progress, silent, watched
from rubricate.stats import Estimate, Resampling, defined


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The counts of every measure, row by row, how notes were drawn, and the values that follow.

    Evaluations of disjoint parts of a corpus add to that of the whole.

    ``reference_annotator``, ``predicted_annotator``: who was compared with whom.
    ``coverage``: how many notes and rows were counted, missing or left out.
    ``protocol``, ``unit``: how spans were matched.
    ``tables``: the counts of each measure, one line per row: ``("characters",)``,
    ``("presence",)``, ``("spans", "exact")`` and so on (`rubricate.evaluation.matching`).
    ``probability``: the predicted probability of presence of each row, nan where unknown; None
    where no row has one.
    ``design``: how the notes were drawn.
    ``settings``, ``estimates``: how intervals are made, and every value with its interval, where
    `add_intervals` made them.
    """

    reference_annotator: str
    predicted_annotator: str
    coverage: Coverage
    protocol: str
    unit: str
    tables: Mapping[MeasureKey, CountTable]
    probability: F64 | None = None
    settings: Resampling = field(default_factory=Resampling)
    design: SampleDesign = AS_THEY_COME
    estimates: Mapping[MeasureKey, Mapping[Level, Estimates]] = field(default_factory=dict)

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
            estimates={},
        )

    @property
    def drawn_unit(self) -> str:
        """The unit that intervals draw: notes, or clusters of notes."""
        return "note" if self.design.clusters is None else "cluster"

    @cached_property
    def drawn(self) -> Evaluation:
        """The evaluation as it is drawn: by note, or by cluster of notes."""
        clusters = self.design.clusters
        if clusters is None:
            return self
        tables = {key: table.by_cluster(clusters) for key, table in self.tables.items()}
        return replace(self, tables=tables)

    def overall(self, *key: str, statistic: str = "f1") -> Estimate:
        """Return a value over all rows, e.g. ``overall("spans", "exact")``."""
        return self.estimates[key]["overall"].at(statistic)

    def macro_mean(self, *key: str, level: Groups, statistic: str = "f1") -> Estimate:
        """Return the mean over ``"cases"`` or ``"features"``."""
        macro: Mapping[str, Level] = {"cases": "macro cases", "features": "macro features"}
        return self.estimates[key][macro[level]].at(statistic)

    def by_group(self, *key: str, level: Groups, statistic: str = "f1") -> dict[str, Estimate]:
        """Return the value of each of the ``"cases"`` or ``"features"``."""
        found = self.estimates[key][level]
        return {group: found.at(statistic, group) for group in found.ids}

    @cached_property
    def calibration(self) -> CalibrationResult | None:
        """Calibration of the predicted probabilities; None if there are none."""
        if self.probability is None or np.isnan(self.probability).all():
            return None
        return calibrate(
            self.drawn.presence, self.probability, self.settings, weights=self.design.weights
        )

    @cached_property
    def ranking(self) -> Ranking | None:
        """ROC and precision-recall curves; None without probabilities, or rows of both kinds."""
        if self.probability is None:
            return None
        own = self.presence.values[~np.isnan(self.probability)]
        present = int(own[:, [0, 2]].sum())
        if not 0 < present < len(own):
            return None
        return rank(
            self.drawn.presence, self.probability, self.settings, weights=self.design.weights
        )

    def by_variable(self, variables: Mapping[str, Collection[str]]) -> Evaluation:
        """Return the evaluation with variables in the place of features; see `CountTable`."""
        tables = {key: table.by_variable(variables) for key, table in self.tables.items()}
        return replace(self, tables=tables, probability=None, estimates={})

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
            estimates={},
        )

    def __repr__(self) -> str:
        found = []
        for key in (("characters",), ("presence",)):
            if key in self.estimates:
                one = self.overall(*key)
                found.append(f"{key[0]} {one.value:.3f} ({one.low:.3f} to {one.high:.3f})")
            elif key in self.tables:
                found.append(f"{key[0]} {shown_number(self.tables[key].total().f1)}")
        who = f"{self.predicted_annotator} against {self.reference_annotator}"
        held = f"{counted(self.coverage.n_notes, 'note')}, {counted(self.coverage.n_rows, 'row')}"
        return f"<Evaluation: {who}, {held}; F1 of {', '.join(found)}>"

    def _repr_html_(self) -> str:
        return self.html_table(self.predicted_annotator)

    def html_table(self, name: str) -> str:
        """Return the main measures as HTML for a notebook, with intervals where there are any."""
        title = f"{name} against {self.reference_annotator}"
        rates = ("precision", "recall", "f1")
        if not self.estimates:
            totals = {key: table.total() for key, table in self.tables.items()}
            lines = [(" ".join(key), *(one[rate] for rate in rates)) for key, one in totals.items()]
            return table_html(("measure", "precision", "recall", "F1"), lines, title=title)
        shown = [
            (" ".join(key), rate, one.value, one.low, one.high)
            for key in (("characters",), ("presence",), ("spans", "exact"))
            if key in self.estimates
            for rate, one in self.estimates[key]["overall"].of_group().items()
            if rate in rates
        ]
        return table_html(("measure", "", "value", "from", "to"), shown, title=title)

    def all_present_f1(self) -> float:
        """Return the presence F1 of marking everything present: 2p / (1 + p), p the share present.

        Where most features are present this is high, so a presence F1 says little without it.
        With the notes' design weights, p is the weighted share.
        """
        notes, weights = self.presence.by("note"), self.design.weights
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
        was = "was" if wrong == 1 else "were"
        said = f"Of {counted(tp + wrong + tn, 'decision')} {wrong:,} {was} wrong"
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

    def to_dict(self) -> dict[str, object]:
        """Return all values and counts, ready for JSON; undefined values are None.

        Where there are intervals, each measure has ``interval`` (of its F1) and ``intervals`` (of
        every statistic), each an `Estimate`. With design weights, the values are the weighted ones.
        """

        def beside(key: MeasureKey, level: str, group: str = "") -> dict[str, object]:
            found = self.estimates.get(key, {}).get(level)  # type: ignore[call-overload]
            if found is None:
                return {}
            estimates: dict[str, Estimate] = found.of_group(group)
            intervals = {name: one.to_dict() for name, one in estimates.items()}
            values = {name: defined(one.value) for name, one in estimates.items()}
            return {**values, "intervals": intervals, "interval": intervals["f1"]}

        blocks: dict[MeasureKey, dict[str, object]] = {}
        levels: dict[str, dict[str, dict[MeasureKey, object]]] = {"cases": {}, "features": {}}
        for key, table in self.tables.items():
            macro = {
                over: {
                    **{name: defined(value) for name, value in means.items()},
                    **beside(key, f"macro {over}"),
                }
                for over, means in table.macro(self.design.weights).items()
            }
            blocks[key] = {**table.total().to_dict(), "macro": macro}
            if key == ("presence",):
                blocks[key]["all_present_f1"] = defined(self.all_present_f1())
            blocks[key] |= beside(key, "overall")
            for by, level in (("case", "cases"), ("feature", "features")):
                for group, measured in table.by(by).measured().items():  # type: ignore[arg-type]
                    block = {**measured.to_dict(), **beside(key, level, group)}
                    levels[level].setdefault(group, {})[key] = block
        result: dict[str, object] = {
            "reference_annotator": self.reference_annotator,
            "predicted_annotator": self.predicted_annotator,
            "protocol": self.protocol,
            "unit": self.unit,
            **self.coverage.to_dict(),
            "decisions": self.decisions(),
            "warnings": self.warnings(),
            "span_outcomes": self.span_outcomes(),
            **nested(blocks),
            **{
                level: {group: nested(one) for group, one in groups.items()}
                for level, groups in levels.items()
            },
        }
        if self.estimates:
            settings = self.settings
            new_cases = settings.population == "cases-like-these"
            result["intervals"] = {
                "confidence": settings.confidence,
                "method": f"bootstrap-{settings.method}",
                "macro_method": f"bootstrap-{MACRO_METHOD}",
                "unit": "case" if new_cases else self.drawn_unit,
                "population": settings.population,
                "resamples": settings.resamples,
                "seed": settings.seed,
                "weighted": self.design.weights is not None,
            }
        return result


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
        probability=pairing.probability,
    )


def _joined(first: Evaluation, second: Evaluation) -> F64 | None:
    if first.probability is None and second.probability is None:
        return None
    parts = [
        np.full(len(one.presence), np.nan) if one.probability is None else one.probability
        for one in (first, second)
    ]
    return np.concatenate(parts)


def add_intervals(
    evaluation: Evaluation,
    settings: Resampling | None = None,
    *,
    design: SampleDesign = AS_THEY_COME,
    progress: Progress = silent,
    label: str = "intervals",
) -> Evaluation:
    """Return the evaluation with an interval for every value; see `estimate_table`.

    With a design that has clusters, such as patients, all notes of a cluster are drawn at once.

    >>> from rubricate import load_corpus
    >>> from rubricate.evaluation import evaluate
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> evaluation = evaluate(
    ...     corpus, corpus, missing="skip",
    ...     reference_annotator="reference", predicted_annotator="second_rater",
    ... )
    >>> found = add_intervals(evaluation, Resampling(resamples=200))
    >>> f1 = found.overall("characters")
    >>> f1.low < evaluation.characters.total().f1 < f1.high
    True
    """
    settings = settings or Resampling()
    if not len(evaluation.characters):
        raise InputError("there is no row that both sides judged, so there is nothing to measure")
    if design.weights is not None and design.clusters is not None:
        raise ArgumentError(
            "weights and clusters cannot be combined here. A study does both: set "
            "evaluation.cluster in study.toml"
        )
    found = replace(evaluation, settings=settings, design=design)
    estimates = {
        key: estimate_table(table, settings, design)
        for key, table in watched(found.tables.items(), progress, label, len(found.tables))
    }
    return replace(found, estimates=estimates)
