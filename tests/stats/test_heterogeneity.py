import numpy as np
import pytest
from statsmodels.stats.meta_analysis import combine_effects

from rubricate.errors import InputError
from rubricate.stats import heterogeneity


@pytest.mark.parametrize("successes", [[90, 85, 60], [20, 20, 20, 19], [0, 5, 30]])
def test_it_is_what_statsmodels_finds(successes: list[int]) -> None:
    x, n = np.array(successes, float), np.full(len(successes), 100.0)
    logit = np.log((x + 0.5) / (n - x + 0.5))
    known = combine_effects(logit, 1 / (x + 0.5) + 1 / (n - x + 0.5), method_re="dl")
    found = heterogeneity(x, n)
    assert found.q == pytest.approx(known.q)
    assert found.i_squared == pytest.approx(max(0, known.i2))
    assert found.tau_squared == pytest.approx(max(0, known.tau2))
    assert found.p_value == pytest.approx(known.test_homogeneity().pvalue)


def test_the_test_keeps_its_level() -> None:
    rng = np.random.default_rng(3)
    draws = rng.binomial(80, 0.85, size=(2000, 6))
    rejected = np.mean([heterogeneity(x, np.full(6, 80)).p_value < 0.05 for x in draws])
    assert 0.03 < rejected < 0.06


def test_one_site_or_none_is_undefined() -> None:
    assert np.isnan(heterogeneity([3], [4]).q)
    assert heterogeneity([3, 0], [4, 0]).to_dict()["q"] is None
    with pytest.raises(InputError):
        heterogeneity([5], [4])
