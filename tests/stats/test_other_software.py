"""Figures of other people's software and papers, recomputed.

Compared with the printed source: the tests of presize 0.3 (with Stata's intervals, Bonett's and
Hanley & McNeil's examples in them), of pingouin 0.5 (with psych's ICC) and of metafor (Q of the BCG
trials), and the data of pROC. The other figures of R's manuals and of papers were written down from
memory and reproduced by this code, so their sources are places to look.
irrCAC 0.4.4, krippendorff 0.9.0 and pingouin 0.6.1 want older versions of numpy and scipy than the
package does (irrCAC: numpy below 2), so their figures were computed apart and are kept here.
statsmodels is asked itself.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from statsmodels.stats.meta_analysis import combine_effects
from statsmodels.stats.proportion import proportion_confint

from rubricate.evaluation.counts import (
    PRESENCE,
    CountTable,
    RowKeys,
    gwet_ac1,
    kappa,
    negative_predictive_value,
)
from rubricate.evaluation.probabilities import areas
from rubricate.stats import (
    Resampling,
    adjust_p_values,
    auc_size,
    gwet_ac2,
    heterogeneity,
    icc_size,
    limits_of_agreement,
    proportion_interval,
    random_effects,
    score_agreement,
)
from rubricate.stats.raters import (
    alpha_of_sums,
    fleiss_counts,
    kappa_of_sums,
    krippendorff_counts,
)
from rubricate.stats.resampling import quantile_each
from rubricate.trust.item_bias import _mantel_haenszel

# Shrout & Fleiss (1979), Table 2: six targets, four judges.
TARGETS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
# R's irr, data(anxiety): 20 subjects, three raters.
ANXIETY = [
    [3, 3, 2], [3, 6, 1], [3, 4, 4], [4, 6, 4], [5, 2, 3], [5, 4, 2], [2, 2, 1], [3, 4, 6],
    [5, 3, 1], [2, 3, 1], [2, 2, 1], [6, 3, 2], [1, 3, 3], [5, 3, 3], [2, 2, 1], [2, 2, 1],
    [1, 1, 3], [2, 3, 3], [4, 3, 2], [3, 4, 2],
]  # fmt: skip
FEW = Resampling(20)


def shown(value: float, digits: int) -> float:
    return round(float(value), digits)


@pytest.mark.parametrize(
    ("x", "n", "method", "low", "high"),
    [
        # Newcombe (1998), Statistics in Medicine 17: 857, Table I: methods 3, 5 and 6; PropCIs and
        # binom (scoreci, midPci, exactci) of R have the same
        (81, 263, "wilson", 0.2553, 0.3662),
        (15, 148, "wilson", 0.0624, 0.1605),
        (0, 20, "wilson", 0.0, 0.1611),
        (1, 29, "wilson", 0.0061, 0.1718),
        (81, 263, "clopper-pearson", 0.2527, 0.3676),
        (15, 148, "clopper-pearson", 0.0578, 0.1617),
        (0, 20, "clopper-pearson", 0.0, 0.1684),
        (1, 29, "clopper-pearson", 0.0009, 0.1776),
        (81, 263, "mid-p", 0.2544, 0.3658),
        (15, 148, "mid-p", 0.0601, 0.1581),
        (0, 20, "mid-p", 0.0, 0.1391),
        (1, 29, "mid-p", 0.0017, 0.1585),
        # presize, tests/testthat/test-diagnostic.R and test-descriptive_stats.R: Stata's cii
        (40, 100, "wilson", 0.3094, 0.4980),
        (40, 100, "clopper-pearson", 0.3033, 0.5028),
        (50, 100, "wilson", 0.4038, 0.5962),
        (50, 100, "clopper-pearson", 0.3983, 0.6017),
        # R, help(binom.test): Mendel's peas, binom.test(682, 682 + 243, p = 3/4)
        (682, 925, "clopper-pearson", 0.7077, 0.7654),
    ],
)
def test_limits_of_proportions(x: int, n: int, method: str, low: float, high: float) -> None:
    found = proportion_interval(x, n, method=method)  # type: ignore[arg-type]
    assert (shown(found.low, 4), shown(found.high, 4)) == (low, high)


@pytest.mark.parametrize("x", [1, 7, 88, 199])
@pytest.mark.parametrize(
    ("method", "theirs"),
    [("clopper-pearson", "beta"), ("wilson", "wilson"), ("jeffreys", "jeffreys")],
)
def test_limits_of_proportions_are_statsmodels(x: int, method: str, theirs: str) -> None:
    if method == "jeffreys" and x in (1, 199):
        pytest.skip("ours are modified at the ends (Brown, Cai & DasGupta 2001)")
    found = proportion_interval(x, 200, method=method)  # type: ignore[arg-type]
    assert (found.low, found.high) == pytest.approx(proportion_confint(x, 200, method=theirs))


# R's epiR, help(epi.tests): 670 true and 202 false positives, 74 false and 640 true negatives
@pytest.mark.parametrize(
    ("x", "n", "value", "low", "high"),
    [
        (670, 744, 0.90, 0.88, 0.92), (640, 842, 0.76, 0.73, 0.79),
        (670, 872, 0.77, 0.74, 0.80), (640, 714, 0.90, 0.87, 0.92),
    ],
)  # fmt: skip
def test_a_diagnostic_test(x: int, n: int, value: float, low: float, high: float) -> None:
    found = proportion_interval(x, n)
    assert [shown(one, 2) for one in (found.value, found.low, found.high)] == [value, low, high]


def test_the_negative_predictive_value_of_epir() -> None:
    assert shown(negative_predictive_value([670, 202, 74, 640]), 2) == 0.90


def test_icc_of_psych_and_pingouin() -> None:
    # psych, help(ICC), and tests/test_reliability.py of pingouin: ICC2 .29, ICC3 .71; pingouin.intraclass_corr: .289764, .714841
    absolute, consistent = score_agreement(TARGETS, FEW)
    assert (shown(absolute.value, 6), shown(consistent.value, 6)) == (0.289764, 0.714841)


def test_icc_of_irr() -> None:
    # irr, help(icc): icc(anxiety, model = "twoway", type = "agreement") prints ICC(A,1) = 0.198
    assert shown(score_agreement(ANXIETY, FEW)[0].value, 3) == 0.198


def test_ac2_of_irrcac() -> None:
    # CAC(scores, weights="quadratic", categories=1..10).gwet(); and of two raters, 0..5
    assert shown(gwet_ac2(TARGETS, FEW, possible=range(1, 11)).value, 5) == 0.31511
    first = [5, 1, 0, 1, 2, 4, 2, 0, 2, 3, 4, 4]
    second = [5, 0, 1, 0, 2, 3, 1, 0, 1, 3, 3, 3]
    pairs = np.column_stack([first, second])
    assert shown(gwet_ac2(pairs, FEW, possible=range(6)).value, 5) == 0.89165


# ten units, three raters
PRESENCES = np.array([[1, 1, 1], [1, 0, 1], [0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1], [0, 0, 0],
                      [1, 1, 1], [0, 1, 1], [0, 0, 0]])  # fmt: skip


def test_kappa_and_alpha_of_irrcac_and_krippendorff() -> None:
    counts = np.column_stack([(PRESENCES == 0).sum(axis=1), (PRESENCES == 1).sum(axis=1)])
    # CAC(...).fleiss() .46429 and .krippendorff() .48214; krippendorff.alpha .4821428571
    assert shown(kappa_of_sums(fleiss_counts(counts).sum(axis=0)), 5) == 0.46429
    alpha = alpha_of_sums(krippendorff_counts(counts).sum(axis=0))
    assert shown(alpha, 10) == 0.4821428571


def test_alpha_with_missing_judgements_of_krippendorff() -> None:
    # krippendorff.alpha of six units, two of them with two judgements: .53125
    counts = [[2, 0], [0, 3], [2, 1], [0, 2], [3, 0], [1, 2]]
    assert alpha_of_sums(krippendorff_counts(counts).sum(axis=0)) == pytest.approx(0.53125)


def test_ac1_and_kappa_of_two_raters_of_irrcac() -> None:
    # tables 20, 5, 10, 15 and 90, 5, 5, 0: CAC(...).gwet() and .conger()
    assert shown(gwet_ac1([20, 5, 10, 15]), 5) == 0.40594
    assert shown(kappa([20, 5, 10, 15]), 5) == 0.4
    assert shown(gwet_ac1([90, 5, 5, 0]), 4) == 0.8895


def test_alpha_of_the_nominal_binary_example() -> None:
    # Krippendorff (2011), Computing Krippendorff's alpha-reliability, A: two observers, .095
    counts = [[2, 0]] * 5 + [[1, 1]] * 4 + [[0, 2]] * 1
    assert shown(alpha_of_sums(krippendorff_counts(counts).sum(axis=0)), 3) == 0.095


@pytest.mark.parametrize(
    ("icc", "raters", "notes", "width"),
    # presize, tests/testthat/test-correlation_measures.R: prec_icc(.5, 3, 50), and Bonett's (2002)
    # example of four raters, 19.2 notes
    [(0.5, 3, 50, 0.3233102), (0.85, 4, 20, 0.2)],
)
def test_notes_for_an_icc_of_presize(icc: float, raters: int, notes: int, width: float) -> None:
    assert icc_size(icc, raters, width / 2 + 1e-7) == notes


@pytest.mark.parametrize(("notes", "error"), [(80, 0.0437), (120, 0.0356)])
def test_notes_for_an_area_of_presize(notes: int, error: float) -> None:
    # presize, tests/testthat/test-diagnostic.R: Hanley & McNeil's (1982) standard errors at an area
    # of .85 and half of the notes positive
    assert auc_size(0.85, 0.5, 1.959964 * error) == pytest.approx(notes, abs=1)


def test_the_area_of_proc() -> None:
    # pROC, data(aSAH): roc(outcome ~ wfns); Poor and Good by grades 1 to 5
    poor, good = np.array([2.0, 12, 1, 8, 18]), np.array([37.0, 20, 3, 8, 4])
    assert shown(areas(poor[::-1], good[::-1])[0], 7) == 0.8236789


def test_the_trials_of_bcg_of_metafor() -> None:
    # metafor, help(rma.uni): rma(measure = "RR", data = dat.bcg, method = "DL"): tau^2 0.3088,
    # I^2 92.12 %, Q(df = 12) = 152.2330; Stata's metan: the mean is -.7141
    trials = np.array([
        [4, 119, 11, 128], [6, 300, 29, 274], [3, 228, 11, 209], [62, 13536, 248, 12619],
        [33, 5036, 47, 5761], [180, 1361, 372, 1079], [8, 2537, 10, 619],
        [505, 87886, 499, 87892], [29, 7470, 45, 7232], [17, 1699, 65, 1600],
        [186, 50448, 141, 27197], [5, 2493, 3, 2338], [27, 16886, 29, 17825],
    ], dtype=float)  # fmt: skip
    a, b, c, d = trials.T
    effects = np.log(a / (a + b) / (c / (c + d)))
    variances = 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)
    found = heterogeneity(effects, variances)
    assert (shown(found.q, 3), found.degrees) == (152.233, 12)
    assert shown(found.tau_squared, 4) == 0.3088
    assert shown(100 * found.i_squared, 2) == 92.12
    assert shown(random_effects(effects, variances).mean.value, 4) == -0.7141
    theirs = combine_effects(effects, variances, method_re="dl")
    assert found.q == pytest.approx(theirs.q)
    assert found.tau_squared == pytest.approx(theirs.tau2)
    assert found.i_squared == pytest.approx(theirs.i2)


def test_the_admissions_of_berkeley() -> None:
    # R, help(mantelhaen.test): mantelhaen.test(UCBAdmissions): chi-squared 1.4269 (p 0.2323),
    # common odds ratio 0.9046968, 0.7719074 to 1.0603298
    men = [(512, 313), (353, 207), (120, 205), (138, 279), (53, 138), (22, 351)]
    women = [(89, 19), (17, 8), (202, 391), (131, 244), (94, 299), (24, 317)]
    # stratum, group (others, ours), finding (no, yes)
    table = np.array([[[w[1], w[0]], [m[1], m[0]]] for m, w in zip(men, women, strict=True)])
    odds, log_variance, p_value = (float(x[0]) for x in _mantel_haenszel(table[None].astype(float)))
    assert shown(odds, 7) == 0.9046968
    half = 1.959963984540054 * math.sqrt(log_variance)
    assert shown(odds * math.exp(-half), 7) == 0.7719074
    assert shown(odds * math.exp(half), 7) == 1.0603298
    assert shown(p_value, 4) == 0.2323


def test_the_ratings_of_hanley_and_mcneil() -> None:
    # Hanley & McNeil (1982), Radiology 143: 29, Table I: 109 scans, area .893; pROC's auc and
    # Somers2 of Hmisc count the same pairs
    normal, abnormal = [33, 6, 6, 11, 2], [3, 2, 2, 11, 33]
    found = areas(np.array(abnormal[::-1], dtype=float), np.array(normal[::-1], dtype=float))
    assert shown(found[0], 3) == 0.893


def test_adjusted_p_values_of_r() -> None:
    # p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm") and "BH"
    given = [0.01, 0.02, 0.03, 0.04, 0.05]
    assert adjust_p_values(given).round(2).tolist() == [0.05, 0.08, 0.09, 0.09, 0.09]
    found = adjust_p_values(given, method="benjamini-hochberg")
    assert found.round(2).tolist() == [0.05] * 5


def test_quantiles_of_r() -> None:
    # quantile(c(1, 2, 4, 8, 16), c(.1, .5, .9)), type 7: 1.4, 4.0, 12.8
    column = np.array([[1.0], [2.0], [4.0], [8.0], [16.0]])
    found = [float(quantile_each(column, np.array([q]))[0]) for q in (0.1, 0.5, 0.9)]
    assert found == pytest.approx([1.4, 4.0, 12.8])


def test_the_peak_flow_of_bland_and_altman() -> None:
    # Bland & Altman (1986), Lancet 327: 307, first readings by Wright and mini meter: mean
    # difference -2.1, SD 38.8, limits -79.7 and 75.5 with 2 SD
    wright = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]
    mini = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]
    found = limits_of_agreement(mini, wright)
    assert shown(found.bias.value, 1) == -2.1
    sd = (found.high.value - found.bias.value) / 1.96
    assert shown(sd, 1) == 38.8
    # the paper takes twice the rounded SD from the rounded mean
    rounded = shown(found.bias.value, 1), 2 * shown(sd, 1)
    assert shown(rounded[0] - rounded[1], 1) == -79.7
    assert shown(rounded[0] + rounded[1], 1) == 75.5
    # mean difference: standard error 9.4, from -22.0 to 17.8
    assert (shown(found.bias.low, 1), shown(found.bias.high, 1)) == (-22.0, 17.8)


def test_accuracy_of_a_table_of_counts() -> None:
    none = np.zeros(1, dtype=np.int64)
    keys = RowKeys(none, none, none, ("n",), ("f",), ("c",))
    table = CountTable(PRESENCE, keys, np.array([[670, 202, 74, 640]]))
    # epiR, help(epi.tests): the same table
    assert shown(table.total()["precision"], 2) == 0.77
    assert shown(table.total()["recall"], 2) == 0.90
    assert shown(table.total()["specificity"], 2) == 0.76
