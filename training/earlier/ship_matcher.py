"""Make the folder of the matcher that ships with the package from trained weights.

    python training/earlier/ship_matcher.py --weights .neural/out/final.safetensors \
        --prepared .neural/prepared --out src/rubricate/neural/model

Thresholds and calibration are chosen on the notes that were kept out of training.
"""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiment import load_network
from train_matcher import held_out, split

from rubricate.neural.encoder.inference import OnnxEngine
from rubricate.neural.encoder.model_folder import (
    NETWORK_FILE,
    SETTINGS_FILE,
    TOKENIZER_FILE,
    EncoderSettings,
)
from rubricate.neural.encoder.pieces import PieceMaker
from rubricate.neural.training.export import export_int8
from rubricate.neural.training.learning_set import LearningSet
from rubricate.neural.training.measuring import Ruler, Scored, score_rows
from rubricate.neural.training.network import Network, Shape
from rubricate.stats.calibration import brier_score, expected_calibration_error, fit_calibration


def score(folder: Path, data: LearningSet, notes: list[int]) -> Scored:
    """Return the saved network's outputs for the rows of these notes, all features in one pass."""
    maker = PieceMaker.from_file(folder / TOKENIZER_FILE)
    engine = OnnxEngine(folder / NETWORK_FILE)
    return score_rows(engine, data, notes, maker.special, features_per_pass=None)


def choose_settings(
    folder: Path, data: LearningSet, facts: list[dict[str, Any]]
) -> EncoderSettings:
    """Choose thresholds and calibration on the unseen cases; measure on both held-out parts."""
    _, measure = split("final", facts)
    scored = {name: score(folder, data, notes) for name, notes in measure.items()}
    rulers = {name: Ruler(data, notes) for name, notes in measure.items()}
    present = {name: data.row_marked[rulers[name].rows] > 0 for name in measure}
    thresholds = rulers["unseen"].best_thresholds(scored["unseen"])
    calibration = fit_calibration(scored["unseen"].presence, present["unseen"])
    cases = {f["case"] for f in facts if held_out(f["case"], f["part"])}
    report: dict[str, object] = {
        "backbone": "all-MiniLM-L6-v2",
        "corpus": "open-notes",
        "held_out_cases": sorted(cases, key=int),
        "held_out_notes": "split test of the deep cases",
    }
    for name in measure:
        chance = calibration(scored[name].presence)
        report[name] = {
            **asdict(rulers[name].figures(scored[name], thresholds)),
            "brier": brier_score(present[name], chance),
            "ece": expected_calibration_error(present[name], chance),
            "ece_before": expected_calibration_error(present[name], scored[name].presence),
        }
    return EncoderSettings(asdict(Shape()), thresholds, {}, calibration, report)


def main() -> None:
    """Write network, tokenizer and settings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    network = Network(Shape())
    load_network(network, given.weights)
    given.out.mkdir(parents=True, exist_ok=True)
    export_int8(network, given.out / NETWORK_FILE)
    shutil.copyfile(given.prepared / TOKENIZER_FILE, given.out / TOKENIZER_FILE)
    data = LearningSet.load(given.prepared / "data.npz")
    facts = json.loads((given.prepared / "notes.json").read_text(encoding="utf-8"))
    settings = choose_settings(given.out, data, facts)
    settings.write(given.out / SETTINGS_FILE)
    print(json.dumps(settings.report, indent=1))


if __name__ == "__main__":
    main()
