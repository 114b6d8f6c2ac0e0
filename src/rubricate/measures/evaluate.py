"""Everything at once: characters, presence and spans of a prediction against a reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rubricate.corpus import Corpus
from rubricate.measures.calibration_sums import presence_probability
from rubricate.measures.characters import character_counts
from rubricate.measures.counts import By, CountTable
from rubricate.measures.formulas import F64, defined
from rubricate.measures.pairing import Coverage, Missing, Pairing, Unknown, pair_rows
from rubricate.measures.presence import presence_counts
from rubricate.measures.span_matching import Matching, span_counts
from rubricate.rows import I64


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The counts of every measure, row by row, and what follows from them.

    Evaluations of disjoint parts of a corpus add to that of the whole.

    Parameters
    ----------
    reference_annotator, predicted_annotator : str
        Who was compared with whom.
    coverage : Coverage
        How many notes and rows were counted, missing or left out.
    protocol, unit : str
        How spans were matched.
    characters, presence : CountTable
        Counts (tp, fp, fn, tn) a row.
    spans : mapping from kind to CountTable
        ``exact``, ``one_side_boundary``, ``token_overlap``.
    probability : ndarray, optional
        The predicted probability of presence of each row, nan where unknown; None where no row
        has one.
    """

    reference_annotator: str
    predicted_annotator: str
    coverage: Coverage
    protocol: str
    unit: str
    characters: CountTable
    presence: CountTable
    spans: Mapping[str, CountTable]
    probability: F64 | None = None

    def __add__(self, other: Evaluation) -> Evaluation:
        return Evaluation(
            self.reference_annotator,
            self.predicted_annotator,
            self.coverage + other.coverage,
            self.protocol,
            self.unit,
            self.characters + other.characters,
            self.presence + other.presence,
            {kind: table + other.spans[kind] for kind, table in self.spans.items()},
            _joined(self, other),
        )

    def take(self, rows: I64, reference_annotator: str, predicted_annotator: str) -> Evaluation:
        """Return the evaluation of some of the rows, under other names."""
        tables = {
            path: CountTable(table.measure, table.keys.take(rows), table.values[rows])
            for path, table in self.tables()
        }
        notes = len(np.unique(self.characters.keys.note[rows]))
        return Evaluation(
            reference_annotator,
            predicted_annotator,
            Coverage(n_notes=notes, n_rows=len(rows)),
            self.protocol,
            self.unit,
            tables["characters",],
            tables["presence",],
            {kind: tables["spans", kind] for kind in self.spans},
            None if self.probability is None else self.probability[rows],
        )

    def tables(self) -> Iterator[tuple[tuple[str, ...], CountTable]]:
        """Walk over all count tables with their path in `to_dict`.

        ``("characters",)``, ``("presence",)``, ``("spans", "exact")`` and so on.
        """
        yield ("characters",), self.characters
        yield ("presence",), self.presence
        for kind, table in self.spans.items():
            yield ("spans", kind), table

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

    def warnings(self) -> list[str]:
        """Say what a reader of the values must know."""
        found = []
        if self.coverage.n_missing_rows:
            found.append(
                f"{self.coverage.n_missing_rows} rows judged by the reference "
                f"({self.coverage.n_missing_notes} whole notes) have no prediction"
            )
        if self.coverage.n_unjudged_rows:
            found.append(
                f"{self.coverage.n_unjudged_rows} predicted rows are left out, because the "
                "reference did not judge them"
            )
        for kind, table in self.spans.items() if self.protocol == "paper" else ():
            above = {
                by: int((table.by(by).statistic("recall") > 1).sum()) for by in ("case", "feature")
            }
            if above["case"] or above["feature"] or table.total().recall > 1:
                found.append(
                    f"spans, {kind}: recall exceeds 1 (in {above['case']} cases and "
                    f"{above['feature']} features), because the protocol {self.protocol!r} counts "
                    "hits on the predicted side only"
                )
        return found

    def to_dict(self, weights: Mapping[str, float] | None = None) -> dict[str, Any]:
        """Return all values and counts, ready for JSON; undefined values are None.

        The notes' design ``weights`` serve the means over notes and rows and what marking
        everything would give; the other weighted values are in `Interpreted.to_dict`.
        """
        result: dict[str, Any] = {
            "reference_annotator": self.reference_annotator,
            "predicted_annotator": self.predicted_annotator,
            "protocol": self.protocol,
            "unit": self.unit,
            **self.coverage.to_dict(),
            "warnings": self.warnings(),
        }
        for path, table in self.tables():
            values: dict[str, Any] = dict(table.total().to_dict())
            values["macro"] = {
                over: {name: defined(value) for name, value in means.items()}
                for over, means in table.macro(weights).items()
            }
            _put(result, path, values)
        result["presence"]["all_present_f1"] = defined(self.all_present_f1(weights))
        result["cases"] = self._groups("case")
        result["features"] = self._groups("feature")
        return result

    def _groups(self, by: By) -> dict[str, dict[str, Any]]:
        groups: dict[str, dict[str, Any]] = {}
        for path, table in self.tables():
            for group, measured in table.by(by).measured().items():
                _put(groups.setdefault(group, {}), path, measured.to_dict())
        return groups


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

    Parameters
    ----------
    reference, predicted, reference_annotator, predicted_annotator, missing, unknown
        As for `pair_rows`.
    matching : Matching, optional
        How spans are matched; one-to-one by character unless given.

    Examples
    --------
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

    Examples
    --------
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
        characters=character_counts(pairing),
        presence=presence_counts(pairing),
        spans=span_counts(pairing, matching),
        probability=presence_probability(pairing),
    )


def _joined(first: Evaluation, second: Evaluation) -> F64 | None:
    if first.probability is None and second.probability is None:
        return None
    parts = [
        np.full(len(one.presence), np.nan) if one.probability is None else one.probability
        for one in (first, second)
    ]
    return np.concatenate(parts)


def _put(target: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for name in path[:-1]:
        target = target.setdefault(name, {})
    target[path[-1]] = value
