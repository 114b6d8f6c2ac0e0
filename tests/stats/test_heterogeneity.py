import numpy as np
import pytest
from statsmodels.stats.meta_analysis import combine_effects

from rubricate.errors import InputError
from rubricate.stats import heterogeneity


@pytest.mark.parametrize("effects", [[2.2, 1.7, 0.4], [1.0, 1.1, 0.9, 1.0], [-3.0, 0.0, 5.0]])
def test_it_is_what_statsmodels_finds(effects: list[float]) -> None:
    variances = np.linspace(0.04, 0.2, len(effects))
    known = combine_effects(np.array(effects), variances, method_re="dl")
    found = heterogeneity(effects, variances)
    assert found.q == pytest.approx(known.q)
    assert found.i_squared == pytest.approx(max(0, known.i2))
    assert found.tau_squared == pytest.approx(max(0, known.tau2))
    assert found.p_value == pytest.approx(known.test_homogeneity().pvalue)


def test_one_site_or_none_is_undefined() -> None:
    assert np.isnan(heterogeneity([3], [0.1]).q)
    assert heterogeneity([3, np.nan], [0.1, 0.1]).to_dict()["q"] is None
    with pytest.raises(InputError):
        heterogeneity([1, 2], [0.1, 0])
