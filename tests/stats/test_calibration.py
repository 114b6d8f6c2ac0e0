from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
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


@pytest.mark.parametrize("present", [[1, 1, 1, 1, 1], [0, 1, 0, 1, 1], [0, 0, 0, 0, 0]])
def test_few_rows_find_the_most_likely_line_under_the_prior(present: list[int]) -> None:
    chance = np.array([0.01, 0.3, 0.6, 0.9, 0.999])
    found = fit_calibration(chance, present)

    def loss(at: np.ndarray) -> float:
        p = Calibration(*at)(chance)
        likely = np.where(present, np.log(p), np.log(1 - p)).sum()
        return float((at[0] - 1) ** 2 / 2 + at[1] ** 2 / 2 - likely)

    best = minimize(loss, [1.0, 0.0], method="BFGS", options={"gtol": 1e-8})
    assert [found.slope, found.shift] == pytest.approx(best.x, abs=1e-5)


def test_bins_have_their_edges_means_and_rows() -> None:
    found = reliability([1, 0, 1, 1], [0.1, 0.2, 0.6, 1.0], bins=4)
    assert [(b.low, b.high, b.n_rows) for b in found] == [
        (0, 0.25, 2),
        (0.5, 0.75, 1),
        (0.75, 1, 1),
    ]
    assert [b.probability for b in found] == pytest.approx([0.15, 0.6, 1.0])
    assert [b.present for b in found] == [0.5, 1, 1]


def test_ten_bins_unless_asked() -> None:
    assert reliability(PRESENT, CHANCE) == reliability(PRESENT, CHANCE, bins=10)
    usual = expected_calibration_error(PRESENT, CHANCE)
    assert usual == expected_calibration_error(PRESENT, CHANCE, bins=10)
    assert np.isnan(expected_calibration_error([], [])) and np.isnan(brier_score([], []))


def test_a_logit_and_back() -> None:
    p = np.array([1e-6, 0.2, 0.5, 1 - 1e-6])
    assert Calibration()(p) == pytest.approx(p)
    assert logit([0.0, 1.0]) == pytest.approx([np.log(1e-6), -np.log(1e-6)], rel=1e-4)
    assert Calibration(100.0)(np.array([0.0, 1.0])) == pytest.approx([0, 1], abs=1e-20)
