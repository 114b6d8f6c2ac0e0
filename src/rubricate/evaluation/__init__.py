"""Measures of a prediction against a reference, all from counts that add.

The written rules, each of them tested:

- Micro values come from summed counts. A row where both sides have nothing adds nothing to TP,
  FP or FN, so it moves neither precision nor recall nor F1.
- A value with a zero denominator is nan (null in JSON): precision where nothing was predicted,
  recall where the reference has nothing. F1 is undefined only where both sides have nothing; if
  one side has something it is 0.
- Macro means (over features, cases, notes) leave undefined groups out.
- Means over rows (F1, Jaccard) count empty against empty as 1.
- Touching spans do not overlap. Within a row and side, characters count once however often they
  are marked, and annotations that cover exactly the same count once.
"""

from __future__ import annotations

from rubricate.evaluation.counts import CountTable, Measured
from rubricate.evaluation.evaluation import Evaluation, evaluate, evaluate_pairing
from rubricate.evaluation.matching import LABELS, Matching, span_counts, words
from rubricate.evaluation.pairing import Coverage, pair_rows

__all__ = [
    "LABELS",
    "CountTable",
    "Coverage",
    "Evaluation",
    "Matching",
    "Measured",
    "evaluate",
    "evaluate_pairing",
    "pair_rows",
    "span_counts",
    "words",
]
