import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from rubricate.evaluation import counts as formulas
from rubricate.evaluation.counts import CHARACTERS, PRESENCE, SPANS, Measured

COUNTS = st.lists(st.integers(0, 40), min_size=4, max_size=4)


@given(COUNTS.filter(any))
def test_confusion_formulas_agree_with_sklearn(counts: list[int]) -> None:
    tp, fp, fn, tn = counts
    sides = [1] * (tp + fn) + [0] * (fp + tn), [1] * tp + [0] * fn + [1] * fp + [0] * tn

    def same(name: str, expected: float) -> None:
        ours = float(getattr(formulas, name)(counts))
        assert ours == pytest.approx(expected, nan_ok=True), name

    same("precision", metrics.precision_score(*sides, zero_division=np.nan))
    same("recall", metrics.recall_score(*sides, zero_division=np.nan))
    same("specificity", metrics.recall_score(*sides, pos_label=0, zero_division=np.nan))
    same("f1", metrics.f1_score(*sides, zero_division=np.nan))
    same("accuracy", metrics.accuracy_score(*sides))
    if tp + fp + fn:
        same("jaccard", metrics.jaccard_score(*sides))
        if tn or fp + fn:
            same("kappa", metrics.cohen_kappa_score(*sides))


@given(COUNTS)
def test_f1_is_a_function_of_jaccard(counts: list[int]) -> None:
    f1, jaccard = float(formulas.f1(counts)), float(formulas.jaccard(counts))
    assert f1 == pytest.approx(2 * jaccard / (1 + jaccard), nan_ok=True)


# the written rule: what cannot be computed is nan, never a silent 0 or 1
@pytest.mark.parametrize(
    ("counts", "undefined"),
    [
        (
            [0, 0, 0, 0],
            {
                "precision",
                "recall",
                "f1",
                "jaccard",
                "kappa",
                "accuracy",
                "specificity",
                "npv",
                "pabak",
                "ac1",
            },
        ),
        ([0, 0, 0, 9], {"precision", "recall", "f1", "jaccard", "kappa"}),
        ([0, 0, 5, 4], {"precision"}),
        ([0, 5, 0, 4], {"recall"}),
        ([5, 0, 0, 0], {"kappa", "specificity", "npv"}),
        ([3, 2, 2, 4], set()),
    ],
)
def test_zero_denominators(counts: list[int], undefined: set[str]) -> None:
    for measure in (CHARACTERS, PRESENCE):
        values = Measured.of(measure, counts).values
        assert {name for name, v in values.items() if math.isnan(v)} == undefined & set(values)


def test_one_empty_side_scores_zero_f1() -> None:
    for counts in ([0, 0, 5, 4], [0, 5, 0, 4]):
        assert float(formulas.f1(counts)) == 0
        assert float(formulas.jaccard(counts)) == 0
    assert float(formulas.span_f1([3, 0, 0, 0])) == 0
    assert float(formulas.span_f1([0, 3, 0, 0])) == 0


def test_span_formulas() -> None:
    # both-sides: two of four reference annotations found, one of two predicted right
    measured = Measured.of(SPANS, [4, 2, 2, 1])
    assert (measured.precision, measured.recall, measured.f1) == (0.5, 0.5, 0.5)
    # paper: three predictions hit one reference annotation
    assert Measured.of(SPANS, [1, 3, 3, 3]).values == {"precision": 1, "recall": 3, "f1": 1.5}
    assert Measured.of(SPANS, [0, 0, 0, 0]).to_dict()["f1"] is None


def test_kappa_worked_example() -> None:
    # p_o = .7, p_e = .5 * .6 + .5 * .4 = .5, kappa = .2 / .5
    assert float(formulas.kappa([20, 5, 10, 15])) == pytest.approx(0.4)
    assert float(formulas.kappa([0, 5, 5, 0])) == pytest.approx(-1)


def test_kappa_keeps_its_precision_when_nearly_all_is_negative() -> None:
    counts = [3, 1, 2, 10**9]
    n = sum(counts)
    disagreement = Fraction(3, n)
    by_chance = Fraction(4 * (1 + 10**9) + 5 * (2 + 10**9), n**2)
    exact = float(1 - disagreement / by_chance)
    assert float(formulas.kappa(counts)) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("measure", [CHARACTERS, PRESENCE, SPANS])
def test_statistics_keep_leading_axes(measure: formulas.Measure) -> None:
    counts = np.random.default_rng(0).integers(1, 9, size=(5, 3, 4))
    for statistic in measure.statistics.values():
        values = statistic(counts)
        assert values.shape == (5, 3)
        assert values[2, 1] == statistic(counts[2, 1])
    assert measure.values(counts).shape == (5, 3, len(measure.statistics))


def test_kappa_falls_with_prevalence_and_ac1_does_not() -> None:
    # Feinstein & Cicchetti 1990, Table 1: the same agreement of .85, kappa .70 and .32.
    balanced, skewed = [40, 9, 6, 45], [80, 10, 5, 5]
    assert float(formulas.kappa(balanced)) == pytest.approx(0.70, abs=0.005)
    assert float(formulas.kappa(skewed)) == pytest.approx(0.32, abs=0.005)
    assert float(formulas.pabak(balanced)) == float(formulas.pabak(skewed)) == pytest.approx(0.70)
    assert float(formulas.gwet_ac1(skewed)) == pytest.approx(0.81, abs=0.005)


def test_the_negative_predictive_value() -> None:
    assert float(formulas.negative_predictive_value([5, 1, 2, 6])) == 0.75
    assert np.isnan(formulas.negative_predictive_value([5, 1, 0, 0]))
