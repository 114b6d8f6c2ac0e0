from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rubricate import Corpus
from rubricate.matchers.training_report import ReportsTraining
from rubricate.neural.encoder.matcher import EncoderMatcher
from rubricate.neural.encoder.model_folder import SETTINGS_FILE, EncoderSettings, shipped_folder
from rubricate.neural.encoder.report import encoder_report
from rubricate.neural.recipe import EncoderRecipe
from rubricate.neural.training.fitting import FitOptions, fit_folder
from rubricate.reports.training import training_page
from rubricate.stats.calibration import Reliability


def member(held: int = 4) -> dict[str, Any]:
    figures = [(0.7, 0.9), (0.8, 0.9), (0.9, 0.8)]
    curve = [
        {"step": 20 * i, "loss": 1 / i, "seconds": 3.0 * i}
        | ({"characters": c, "presence": p} if held else {})
        for i, (c, p) in enumerate(figures, start=1)
    ]
    return {
        "notes": {"learned_from": 16, "held_out": held, "pseudo": 2},
        "recipe": {"steps": 60, "weights": {"edges": 0.25}},
        "curve": curve,
        "stages": [
            {"name": "language", "steps": 2, "loss": [3.0, 2.5]},
            {"name": "marks", "steps": 60, "curve": curve},
        ],
    }


def test_the_first_of_equal_looks_was_kept() -> None:
    found = encoder_report(EncoderSettings(report=member()))
    assert found is not None
    assert found.courses[0].chosen == 40
    assert found.courses[0].looks[1].measured == {"characters F1": 0.8, "presence F1": 0.9}
    assert (found.courses[0].n_learned, found.courses[0].n_held) == (16, 4)
    assert found.recipe == {"steps": 60, "weights.edges": 0.25}
    assert "2 steps, loss 3.000 to 2.500" in found.facts.values()


def test_without_notes_held_out_the_last_weights_were_kept() -> None:
    found = encoder_report(EncoderSettings(report=member(held=0)))
    assert found is not None
    assert found.courses[0].chosen == 60
    assert found.courses[0].looks[0].measured == {}


def test_every_fold_has_a_course() -> None:
    report = {**member(), "members": [member(), member()], "options": {"folds": 2, "steps": None}}
    found = encoder_report(EncoderSettings(report=report, feature_presence={"f": 0.4}))
    assert found is not None
    assert [one.name for one in found.courses] == ["fold 1", "fold 2"]
    assert found.recipe["folds"] == 2
    assert found.recipe["steps"] == 60
    assert found.feature_thresholds == {"f": 0.4}


def test_what_was_measured_at_the_end_is_kept() -> None:
    before, after = Reliability.of([1, 0], [0.9, 0.4]), Reliability.of([1, 0], [0.8, 0.3])
    report = {
        **member(),
        "held_out": {"characters": 0.8, "presence": 0.9},
        "precision": {"full": 0.81, "eight_bits": 0.8, "kept": "eight bits"},
        "calibration": {"before": before.to_json(), "after": after.to_json()},
    }
    found = encoder_report(EncoderSettings(report=report))
    assert found is not None
    assert (found.before, found.after) == (before, after)
    assert found.held_out == {"characters F1": 0.8, "presence F1": 0.9}
    assert "kept: eight bits" in found.facts["characters F1 of the file"]


def test_the_shipped_network_has_no_curve() -> None:
    assert encoder_report(EncoderSettings.read(shipped_folder() / SETTINGS_FILE)) is None


def test_an_encoder_reports_nothing_before_it_is_fitted() -> None:
    matcher = EncoderMatcher()
    assert isinstance(matcher, ReportsTraining)
    assert matcher.training_report_ is None
    matcher.settings_ = EncoderSettings(report=member())
    report = matcher.training_report_
    assert report is not None
    assert report.courses[0].looks[-1].loss == pytest.approx(1 / 3)


def test_a_real_fit_by_folds_is_told_whole(
    corpus: Corpus, model_folder: Path, tmp_path: Path
) -> None:
    recipe = EncoderRecipe(folds=2, every=2, steps=4, language_steps=2, language_notes=2)
    settings = fit_folder(model_folder, tmp_path, corpus, "ann", FitOptions(recipe, threads=1))
    found = encoder_report(EncoderSettings.read(tmp_path / SETTINGS_FILE))
    assert found == encoder_report(settings)
    assert found is not None
    assert [one.name for one in found.courses] == ["fold 1", "fold 2"]
    assert [look.step for look in found.courses[0].looks] == [2, 4]
    assert sum(one.n_held for one in found.courses) == len(corpus.notes)
    assert found.recipe["folds"] == 2
    assert found.before is not None
    assert found.after is not None
    assert found.before.n_rows == found.after.n_rows == len(corpus.rows)
    assert "before, language" in " ".join(found.facts)
    page = training_page(found, matcher="encoder")
    assert page.count("<svg ") == 5  # loss, two measures, before and after calibration
