from __future__ import annotations

from pathlib import Path

import pytest

from rubricate.errors import InputError
from rubricate.neural.decoding import Thresholds
from rubricate.neural.model_folder import Settings, shipped_folder
from rubricate.stats.calibration import Calibration


def test_settings_are_read_as_written(tmp_path: Path) -> None:
    one = Settings({"dim": 32}, Thresholds(0.4, 0.6), {"f": 0.3}, Calibration(0.5, 1.0), {"a": 1})
    one.write(tmp_path / "s.json")
    assert Settings.read(tmp_path / "s.json") == one
    assert one.of_feature("f").presence == 0.3
    assert one.of_feature("g").presence == 0.6


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"shape": {}}', encoding="utf-8")
    with pytest.raises(InputError):
        Settings.read(tmp_path / "s.json")


def test_the_shipped_model_says_what_was_held_out() -> None:
    report = Settings.read(shipped_folder() / "settings.json").report
    assert len(report["held_out_cases"]) == 26
    assert sum(p.stat().st_size for p in shipped_folder().iterdir()) < 45e6
