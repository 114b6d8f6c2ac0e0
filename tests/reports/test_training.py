"""The page of a training: its curves, what was chosen, and what it leaves out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rubricate.errors import InputError
from rubricate.matchers.training_report import Course, Look, TrainingReport
from rubricate.reports.training import training_page
from rubricate.stats.calibration import Reliability

TRAP = "<script>x</script>"


def course(name: str = "network", *, held: int = 4, lift: float = 0.0) -> Course:
    """Five looks, of which the third is best."""
    figures = [0.71, 0.78, 0.83, 0.82, 0.81]
    looks = tuple(
        Look(
            20 * i,
            1 / i,
            9.0 * i,
            {"characters F1": f + lift, "presence F1": f + lift + 0.1} if held else {},
        )
        for i, f in enumerate(figures, start=1)
    )
    return Course(name, looks, 16, held, 60 if held else 100)


WHOLE = TrainingReport(
    (course(),),
    recipe={"rate": 1e-4, "seconds": None, "weights.edges": 0.25, TRAP: TRAP},
    held_out={"characters F1": 0.84, "presence F1": 0.94},
    thresholds={"inside": 0.45},
    feature_thresholds={"f1": 0.35, "f2": 0.6},
    before=Reliability.of([1, 1, 0, 1], [0.99, 0.98, 0.9, 0.97]),
    after=Reliability.of([1, 1, 0, 1], [0.8, 0.75, 0.6, 0.74]),
    facts={"file": TRAP},
)


def test_the_page_has_everything(read_page: Callable[[str], Any]) -> None:
    page = training_page(
        WHOLE, matcher=TRAP, features={"f1": f"Fever {TRAP}"}, facts={"corpus": "ab12"}, title=TRAP
    )
    reader = read_page(page)
    assert {"notes", "curves", "thresholds", "probabilities", "recipe", "method"} <= set(reader.ids)
    assert "learned from 16 notes, with 4 held out; 100 steps in 45 s; step 60 was kept" in page
    assert "kept: step 60" in page
    for text in ("Fever <script>", "f2", "0.350", "0.0001", "weights.edges", "corpusab12"):
        assert text in reader.text
    for one in (WHOLE.before, WHOLE.after):
        assert one is not None
        assert f"{one.brier:.3f}" in reader.text
        assert f"{one.ece:.3f}" in reader.text
    assert page.count("<svg ") == 4


def test_several_networks_have_a_line_each(read_page: Callable[[str], Any]) -> None:
    report = TrainingReport(tuple(course(f"fold {i}", lift=i / 100) for i in range(3)))
    page = training_page(report, matcher="encoder")
    reader = read_page(page)
    assert page.count("<svg ") == 3  # loss, and one per measure
    assert "kept: step" not in page  # three upright lines would hide the curves
    rings = page.count('r="8"')
    assert rings == 3 * 3
    assert "trained 3 networks" in reader.text
    assert "12 notes in all" in reader.text


def test_without_notes_held_out_only_the_loss_is_drawn(read_page: Callable[[str], Any]) -> None:
    page = training_page(TrainingReport((course(held=0),)), matcher="encoder")
    reader = read_page(page)
    assert page.count("<svg ") == 1
    assert "No notes were held out" in reader.text
    assert "probabilities" not in reader.ids
    assert "thresholds" not in reader.ids
    assert "recipe" not in reader.ids


def test_a_single_look_is_drawn(read_page: Callable[[str], Any]) -> None:
    one = Course("network", (Look(1, 0.5, None, {"mean F1 of spans": 0.4}),), 9, 1, 1)
    reader = read_page(training_page(TrainingReport((one,), unit="epoch"), matcher="bilstm-crf"))
    assert "1 epoch; epoch 1 was kept" in reader.text


def test_nothing_seen_is_refused() -> None:
    for courses in ((), (Course("network", (), 3, 0),)):
        with pytest.raises(InputError):
            training_page(TrainingReport(courses), matcher="encoder")
