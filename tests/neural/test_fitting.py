from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rubricate import Corpus
from rubricate.neural import fitting
from rubricate.neural.fitting import FitOptions, feature_thresholds, fit_folder, hold_out
from rubricate.neural.learning_set import LearningSet


def test_few_notes_are_all_learned_from(data: LearningSet) -> None:
    learn, held = hold_out(data, 0.2, seed=0)
    assert (learn, held) == ([0, 1, 2, 3, 4, 5], [])


def test_some_are_held_out_of_many(data: LearningSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "FEWEST_TO_HOLD_OUT", 5)
    learn, held = hold_out(data, 0.34, seed=0)
    assert len(held) == 2
    assert sorted(learn + held) == [0, 1, 2, 3, 4, 5]


def test_held_out_notes_stop_it_early_and_set_thresholds(
    model_folder: Path, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "FEWEST_TO_HOLD_OUT", 5)
    monkeypatch.setattr(fitting, "FEWEST_ROWS", 5)
    options = FitOptions(
        steps=400, held_out=0.34, every=2, patience=2, threads=1, checkpoint=tmp_path / "c"
    )
    (tmp_path / "m").mkdir()
    settings = fit_folder(model_folder, tmp_path / "m", corpus, "ann", options)
    curve = settings.report["curve"]
    assert "characters" in curve[0]
    assert len(curve) < 200
    assert settings.calibration.slope != 1.0
    assert (tmp_path / "c.best").is_file()


def test_rare_features_get_no_threshold_of_their_own() -> None:
    chance = np.full(40, 0.9, np.float32)
    assert feature_thresholds(chance, np.ones(40, bool), ["f"] * 40) == {}
