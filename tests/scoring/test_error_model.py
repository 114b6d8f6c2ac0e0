import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.scoring.error_model import ErrorModel, fit_error_model


@pytest.mark.parametrize("seed", range(5))
def test_known_curves_are_found_again(seed: int) -> None:
    rng = np.random.default_rng(seed)
    certainty = rng.beta(20, 1, 6000).clip(0.5, 0.999)
    odds = 3.0 - 2.0 * np.log(certainty / (1 - certainty))
    wrong = rng.random(6000) < 1 / (1 + np.exp(-odds))
    model = fit_error_model(["f"], np.zeros(6000, int), np.ones(6000, bool), certainty, wrong)
    assert model.found.slope == pytest.approx(-2.0, abs=0.25)
    assert model.found.intercept == pytest.approx(3.0, abs=0.6)


@given(
    st.lists(st.tuples(st.booleans(), st.booleans(), st.sampled_from([0.0, 0.5, 0.9, 1.0, np.nan])),
             min_size=1, max_size=30)
)  # fmt: skip
def test_surer_is_never_riskier_and_nothing_is_impossible(
    rows: list[tuple[bool, bool, float]],
) -> None:
    found, wrong, certainty = (np.array(column) for column in zip(*rows, strict=True))
    model = fit_error_model(["f", "g"], np.zeros(len(rows), int), found, certainty, wrong)
    for kind in (True, False):
        risks = [model.estimate("f", kind, sure) for sure in (0.5, 0.8, 0.99)]
        assert all(risk is not None and 0 <= risk <= 1 for risk in risks)
        assert risks == sorted(risks, reverse=True)  # type: ignore[type-var]
    assert model.estimate("g", True, 0.9) is None
    assert ErrorModel.from_dict(model.to_dict()) == model
