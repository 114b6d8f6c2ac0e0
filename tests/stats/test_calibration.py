from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from rubricate.errors import InputError
from rubricate.stats.calibration import (
    Calibration,
    brier_score,
    chance_error,
    expected_calibration_error,
    fit_calibration,
    logit,
    place_in_bins,
    reliability,
)

RNG = np.random.default_rng(3)
CHANCE = RNG.random(500).round(2)
PRESENT = RNG.random(500) < CHANCE**2


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


def test_to_json_and_back() -> None:
    one = Calibration(0.5, -0.1)
    assert Calibration.from_json(one.to_json()) == one


def test_one_is_in_the_last_bin_and_edges_belong_to_the_bin_above() -> None:
    assert place_in_bins(np.array([0.0, 0.25, 0.5, 0.999, 1.0]), 4).tolist() == [0, 1, 2, 3, 3]


def test_chance_makes_the_error_that_a_simulation_makes() -> None:
    rng = np.random.default_rng(0)
    p = np.sort(rng.random(400))
    drawn = [expected_calibration_error(rng.random(400) < p, p) for _ in range(400)]
    spread = np.bincount(place_in_bins(p, 10), p * (1 - p), 10)
    mean, deviation = chance_error(spread, spread, 400)
    assert mean == pytest.approx(float(np.mean(drawn)), rel=0.1)
    assert deviation == pytest.approx(float(np.std(drawn)), rel=0.2)


def test_certain_probabilities_leave_nothing_to_chance() -> None:
    assert chance_error([0.0, 0.0], [0.0, 0.0], 50) == (0.0, 0.0)


def test_the_logit_of_certainty_is_finite() -> None:
    assert np.isfinite(logit([0.0, 1.0])).all()
