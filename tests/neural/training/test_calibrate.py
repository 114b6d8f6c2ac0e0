from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rubricate.neural.encoder.model_folder import EncoderSettings
from rubricate.neural.training import calibrate
from rubricate.neural.training.calibrate import Calibrator, HeldOut, feature_thresholds
from rubricate.neural.training.learning_set import LearningSet
from rubricate.neural.training.measuring import Ruler, Scored

FEATURES = ["f1", "f2", "f3"]


def said(data: LearningSet, notes: list[int], sure: float = 0.9) -> Scored:
    """What a network says that is right everywhere, this sure."""
    ruler = Ruler(data, notes)
    inside = np.concatenate([data.targets(i, r) for i in notes for r in data.rows(i)])
    present = data.row_marked[ruler.rows] > 0
    pieces = np.full((len(inside), 3), 0.5, np.float32)
    pieces[:, 0] = np.where(inside, sure, 0.1)
    return Scored(ruler.rows, pieces, np.where(present, sure, 0.1).astype(np.float32))


def held(data: LearningSet, notes: list[int], sure: float = 0.9) -> HeldOut:
    return HeldOut(notes, said(data, notes), said(data, notes), said(data, notes, sure))


def test_few_rows_settle_nothing(data: LearningSet) -> None:
    settings = EncoderSettings()
    assert Calibrator(data, [held(data, [0, 1])]).fit(settings, FEATURES) == settings


def test_all_folds_choose_together(data: LearningSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrate, "FEWEST_ROWS", 18)
    parts = [held(data, [0, 4, 2]), held(data, [5, 1, 3])]
    seen: set[str] = set()
    together = Calibrator(data, parts)
    settings = together.fit(
        EncoderSettings(), FEATURES, progress=lambda n, of, what: seen.add(what)
    )
    assert seen == {"choosing thresholds", "choosing edges"}
    assert settings.calibration.slope > 1
    assert together.figures(settings) == {"characters": 1.0, "presence": 1.0}
    # One part alone has too few.
    alone = Calibrator(data, parts[:1])
    assert alone.fit(EncoderSettings(), FEATURES) == EncoderSettings()


def test_a_falling_calibration_is_not_taken(
    data: LearningSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate, "FEWEST_ROWS", 18)
    notes = list(range(6))
    right = said(data, notes)
    several = replace(right, presence=1 - right.presence)
    wrong = Calibrator(data, [HeldOut(notes, several, several, several)])
    settings = wrong.fit(EncoderSettings(), FEATURES)
    assert settings.calibration.slope > 0


@pytest.mark.parametrize(("sure", "kept"), [(0.9, "eight bits"), (0.3, "full")])
def test_precision_is_chosen_by_what_eight_bits_cost(
    data: LearningSet, sure: float, kept: str
) -> None:
    found = Calibrator(data, [held(data, [0, 1, 2], sure)]).precision(EncoderSettings())
    assert found["kept"] == kept
    assert found["full"] == 1.0
    assert (found["full"] - found["eight_bits"] >= 0.005) == (kept == "full")


def test_rare_features_get_no_threshold_of_their_own() -> None:
    chance = np.full(40, 0.9, np.float32)
    assert feature_thresholds(chance, np.ones(40, bool), ["f"] * 40) == {}
