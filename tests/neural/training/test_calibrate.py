from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rubricate.neural.encoder.decoding import Thresholds
from rubricate.neural.encoder.model_folder import EncoderSettings
from rubricate.neural.training import calibrate
from rubricate.neural.training.calibrate import (
    Calibrator,
    HeldOut,
    choose_precision,
    feature_thresholds,
    keep_credit,
)
from rubricate.neural.training.learning_set import LearningSet
from rubricate.neural.training.measuring import Ruler, Scored
from rubricate.stats.calibration import Calibration

FEATURES = ["f1", "f2", "f3"]


def said(data: LearningSet, notes: list[int], sure: float = 0.9) -> Scored:
    """Outputs of a network that is right everywhere, with this certainty."""
    ruler = Ruler(data, notes)
    inside = np.concatenate([data.targets(i, r) for i in notes for r in data.rows(i)])
    present = data.row_marked[ruler.rows] > 0
    pieces = np.full((len(inside), 3), 0.5, np.float32)
    pieces[:, 0] = np.where(inside, sure, 0.1)
    return Scored(ruler.rows, pieces, np.where(present, sure, 0.1).astype(np.float32))


def held(data: LearningSet, notes: list[int], sure: float = 0.9) -> HeldOut:
    return HeldOut(notes, said(data, notes), said(data, notes, sure))


@pytest.mark.parametrize("at", [0.05, 0.5])
def test_as_much_is_credited_as_before(at: float) -> None:
    """Of a network surer of all it says, and whose order of rows is a little another."""
    rng = np.random.default_rng(0)
    x = rng.normal(0, 4, 500)
    before, after = (1 / (1 + np.exp(-z)) for z in (x, x + 2 + rng.normal(0, 0.5, 500)))
    thresholds = replace(EncoderSettings().thresholds, presence=at)
    settings = EncoderSettings(
        thresholds=thresholds, calibration=Calibration(0.5, 1.0), feature_presence={"f": 0.4}
    )
    moved = keep_credit(settings, before, after)
    credited = (after >= moved.thresholds.presence).sum()
    assert abs(int(credited) - int((before >= at).sum())) <= 1
    # What was at a threshold, and what it was taken for, has the same place and meaning.
    assert moved.calibration(moved.thresholds.presence) == pytest.approx(settings.calibration(at))
    own = moved.feature_presence["f"]
    assert moved.calibration(own) == pytest.approx(settings.calibration(0.4))
    assert replace(moved.thresholds, presence=at) == thresholds


@pytest.mark.parametrize("at", [0.0, 1.0])
def test_all_or_nothing_credited_moves_to_an_end(at: float) -> None:
    thresholds = replace(EncoderSettings().thresholds, presence=at)
    said = np.array([0.2, 0.6, 0.8], np.float32)
    moved = keep_credit(EncoderSettings(thresholds=thresholds), said, said).thresholds.presence
    assert moved == pytest.approx(0.8 if at else 0.2)


def test_few_rows_settle_nothing(data: LearningSet) -> None:
    settings = EncoderSettings()
    assert Calibrator(data, [held(data, [0, 1])], whole=True).fit(settings, FEATURES) == settings


def test_all_folds_choose_together(data: LearningSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrate, "FEWEST_ROWS", 18)
    parts = [held(data, [0, 4, 2]), held(data, [5, 1, 3])]
    seen: set[str] = set()
    together = Calibrator(data, parts, whole=True)
    settings = together.fit(
        EncoderSettings(), FEATURES, progress=lambda n, of, what: seen.add(what)
    )
    assert seen == {"choosing thresholds", "choosing edges"}
    assert settings.calibration.slope > 1
    assert together.figures(settings) == {"characters": 1.0, "presence": 1.0}
    # One part alone has too few.
    alone = Calibrator(data, parts[:1], whole=True)
    assert alone.fit(EncoderSettings(), FEATURES) == EncoderSettings()


@pytest.mark.parametrize(("contradiction", "lowest"), [(0.5, 0.85), (1.0, 0.2)])
def test_only_what_reads_keeps_its_threshold_as_the_lowest(
    data: LearningSet, monkeypatch: pytest.MonkeyPatch, contradiction: float, lowest: float
) -> None:
    monkeypatch.setattr(calibrate, "FEWEST_ROWS", 18)
    settings = EncoderSettings(thresholds=Thresholds(presence=0.85), contradiction=contradiction)
    together = Calibrator(data, [held(data, list(range(6)))], whole=True)
    assert together.fit(settings, FEATURES).thresholds.presence == lowest


def test_a_falling_calibration_is_not_taken(
    data: LearningSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate, "FEWEST_ROWS", 18)
    notes = list(range(6))
    right = said(data, notes)
    several = replace(right, presence=1 - right.presence)
    wrong = Calibrator(data, [HeldOut(notes, several, several)], whole=True)
    settings = wrong.fit(EncoderSettings(), FEATURES)
    assert settings.calibration.slope > 0


@pytest.mark.parametrize(("sure", "kept"), [(0.9, "eight bits"), (0.3, "full")])
def test_precision_is_chosen_by_what_eight_bits_cost(
    data: LearningSet, sure: float, kept: str
) -> None:
    found = choose_precision(data, [held(data, [0, 1, 2], sure)], Thresholds())
    assert found["kept"] == kept
    assert found["full"] == 1.0
    assert (found["full"] - found["eight_bits"] >= 0.005) == (kept == "full")


def test_rare_features_get_no_threshold_of_their_own() -> None:
    chance = np.full(40, 0.9, np.float32)
    assert feature_thresholds(chance, np.ones(40, bool), ["f"] * 40) == {}
