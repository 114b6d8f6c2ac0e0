from __future__ import annotations

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss

from rubricate.errors import InputError
from rubricate.stats.calibration import (
    Calibration,
    brier_score,
    expected_calibration_error,
    fit_calibration,
    fit_isotonic,
    reliability,
)

RNG = np.random.default_rng(3)
CHANCE = RNG.random(500).round(2)
PRESENT = RNG.random(500) < CHANCE**2


def test_isotonic_steps_are_those_of_scikit_learn() -> None:
    theirs = IsotonicRegression(out_of_bounds="clip").fit(CHANCE, PRESENT.astype(float))
    np.testing.assert_allclose(fit_isotonic(CHANCE, PRESENT)(CHANCE), theirs.predict(CHANCE))


def test_brier_is_that_of_scikit_learn() -> None:
    assert brier_score(PRESENT, CHANCE) == pytest.approx(brier_score_loss(PRESENT, CHANCE))


def test_calibrating_lowers_the_error() -> None:
    better = fit_calibration(CHANCE, PRESENT)(CHANCE)
    before = expected_calibration_error(PRESENT, CHANCE)
    assert expected_calibration_error(PRESENT, better) < before / 2


def test_extreme_probabilities_converge() -> None:
    chance = np.where(np.arange(2000) % 10 == 0, 1e-7, 1 - 1e-7)
    present = np.arange(2000) % 7 != 0
    found = fit_calibration(chance, present)
    assert found(1 - 1e-7) == pytest.approx(present[chance > 0.5].mean(), abs=0.01)


def test_rows_all_present_give_finite_numbers() -> None:
    found = fit_calibration(np.full(5, 0.9), np.ones(5))
    assert np.isfinite([found.slope, found.shift]).all()


def test_bins_hold_every_row() -> None:
    assert sum(one.n_rows for one in reliability(PRESENT, CHANCE)) == 500


def test_sizes_must_agree() -> None:
    with pytest.raises(InputError):
        fit_calibration([0.5], [1, 0])
    with pytest.raises(InputError):
        fit_isotonic([], [])


def test_to_json_and_back() -> None:
    one = Calibration(0.5, -0.1)
    assert Calibration.from_json(one.to_json()) == one
