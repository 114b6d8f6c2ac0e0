import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats import inter_rater

from rubricate.stats.raters import (
    alpha_of_sums,
    fleiss_counts,
    kappa_of_sums,
    krippendorff_counts,
)

UNITS = st.lists(st.integers(0, 4), min_size=2, max_size=30)


def krippendorff_alpha(counts: npt.ArrayLike) -> float:
    return float(alpha_of_sums(krippendorff_counts(counts).sum(axis=0)))


def fleiss_kappa(counts: npt.ArrayLike) -> float:
    return float(kappa_of_sums(fleiss_counts(counts).sum(axis=0)))


@given(UNITS)
def test_fleiss_agrees_with_statsmodels(present: list[int]) -> None:
    counts = np.array([[4 - n, n] for n in present])
    ours = fleiss_kappa(counts)
    if len(set(counts[:, 0])) == 1 and counts[0, 0] in (0, 4):
        assert np.isnan(ours)
        return
    assert ours == pytest.approx(float(inter_rater.fleiss_kappa(counts)), abs=1e-12)


def test_alpha_of_krippendorffs_own_binary_example() -> None:
    # Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section A: two observers,
    # ten units, binary: alpha = 0.095.
    first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    second = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    counts = [[2 - a - b, a + b] for a, b in zip(first, second, strict=True)]
    assert krippendorff_alpha(counts) == pytest.approx(0.095, abs=0.0005)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20))
def test_alpha_against_the_definition_by_pairs(units: list[tuple[int, int]]) -> None:
    values = [[0] * a + [1] * b for a, b in units if a + b >= 2]
    pool = [v for unit in values for v in unit]
    if len(set(pool)) < 2:
        assert np.isnan(krippendorff_alpha(units))
        return
    observed = sum(
        sum(x != y for i, x in enumerate(u) for j, y in enumerate(u) if i != j) / (len(u) - 1)
        for u in values
    ) / len(pool)
    expected = sum(x != y for i, x in enumerate(pool) for j, y in enumerate(pool) if i != j) / (
        len(pool) * (len(pool) - 1)
    )
    assert krippendorff_alpha(units) == pytest.approx(1 - observed / expected)


def test_full_agreement_is_one() -> None:
    assert fleiss_kappa([[3, 0], [0, 3]]) == 1
    assert krippendorff_alpha([[3, 0], [0, 3], [1, 0]]) == 1
