"""Published figures from their counts: Table 3 of Canales et al. 2021 (the SLiCE paper)."""

from __future__ import annotations

import math

import pytest

from rubricate.stats import f1_corner_interval, proportion_interval

# Counts: TP, detections, manual annotations. Printed: value, lower and upper 95 % limit of
# precision, recall, F1. Source: Canales et al. 2021; detections and manual annotations from
# Table 1, values and limits from Table 3. The paper does not print TP: it is inferred from the
# printed precision and recall, see `test_true_positives_follow_from_the_printed_values`.
TABLE_3 = {
    "asthma": ((271, 289, 281), (0.94, 0.90, 0.96, 0.96, 0.94, 0.98, 0.95, 0.92, 0.97)),
    "extrinsic": ((49, 49, 65), (1.00, 0.93, 1.00, 0.75, 0.63, 0.85, 0.86, 0.75, 1.00)),
    "bronchodilation": ((87, 88, 131), (0.99, 0.94, 1.00, 0.66, 0.58, 0.74, 0.79, 0.71, 0.85)),
    "eosinophils": ((162, 164, 181), (0.99, 0.96, 1.00, 0.90, 0.84, 0.94, 0.94, 0.90, 0.97)),
    "reflux": ((168, 168, 181), (1.00, 0.98, 1.00, 0.93, 0.88, 0.96, 0.96, 0.93, 1.00)),
    "obesity": ((50, 50, 54), (1.00, 0.93, 1.00, 0.93, 0.82, 0.98, 0.96, 0.87, 1.00)),
    "omalizumab": ((21, 21, 27), (1.00, 0.84, 1.00, 0.78, 0.58, 0.91, 0.93, 0.68, 1.00)),
    "prick": ((145, 152, 162), (0.95, 0.91, 0.98, 0.90, 0.84, 0.94, 0.92, 0.87, 0.96)),
    "salmeterol": ((78, 80, 147), (0.98, 0.91, 1.00, 0.53, 0.45, 0.61, 0.96, 0.60, 0.76)),
    "ige": ((67, 104, 106), (0.64, 0.54, 0.74, 0.63, 0.53, 0.72, 0.64, 0.54, 0.73)),
}
CELLS = ("p", "p_low", "p_high", "r", "r_low", "r_high", "f1", "f1_low", "f1_high")
# The paper's misprints: (row, cell) -> what the counts give. Four upper limits of F1 are printed
# as 1.00 in the rows without a false positive.
MISPRINTS = {
    ("salmeterol", "f1"): 0.69,
    ("omalizumab", "f1"): 0.88,
    ("extrinsic", "f1_high"): 0.92,
    ("reflux", "f1_high"): 0.98,
    ("obesity", "f1_high"): 0.99,
    ("omalizumab", "f1_high"): 0.95,
}


def _recomputed(tp: int, detected: int, manual: int) -> tuple[float, ...]:
    precision = proportion_interval(tp, detected)
    recall = proportion_interval(tp, manual)
    f1 = f1_corner_interval(tp, detected - tp, manual - tp)
    return (
        *(tp / detected, precision.low, precision.high),
        *(tp / manual, recall.low, recall.high),
        *(2 * tp / (detected + manual), f1.low, f1.high),
    )


def _shown(value: float) -> str:
    """Round halves up, as the paper does (78 of 80 is printed as .98)."""
    return f"{math.floor(100 * value + 0.5 + 1e-9) / 100:.2f}"


@pytest.mark.parametrize("row", TABLE_3)
def test_table_3_from_counts(row: str) -> None:
    counts, printed = TABLE_3[row]
    for cell, value, shown in zip(CELLS, _recomputed(*counts), printed, strict=True):
        assert _shown(value) == f"{MISPRINTS.get((row, cell), shown):.2f}", cell


def test_84_of_90_cells_reproduce() -> None:
    same = sum(
        _shown(value) == f"{shown:.2f}"
        for counts, printed in TABLE_3.values()
        for value, shown in zip(_recomputed(*counts), printed, strict=True)
    )
    assert (same, len(MISPRINTS)) == (84, 6)


def test_true_positives_follow_from_the_printed_values() -> None:
    fitting = {
        row: [
            tp
            for tp in range(min(detected, manual) + 1)
            if _shown(tp / detected) == f"{printed[0]:.2f}"
            and _shown(tp / manual) == f"{printed[3]:.2f}"
        ]
        for row, ((_, detected, manual), printed) in TABLE_3.items()
    }
    # One row leaves two candidates; only 162 also gives the printed limits.
    assert fitting.pop("eosinophils") == [162, 163]
    assert fitting == {row: [TABLE_3[row][0][0]] for row in fitting}
