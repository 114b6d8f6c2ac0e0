from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubricate.measures.calibration import CalibrationResult, GroupCalibration, calibrate
from rubricate.measures.calibration_sums import calibration_counts
from rubricate.measures.counts import CountTable, RowKeys
from rubricate.measures.formulas import PRESENCE
from rubricate.stats import Resampling

FEW = Resampling(resamples=60)


def table(present: np.ndarray) -> CountTable:
    """Return counts of (n_notes, n_features) presences; odd notes are another case."""
    n_notes, n_features = present.shape
    note = np.repeat(np.arange(n_notes), n_features)
    keys = RowKeys(
        note,
        np.tile(np.arange(n_features), n_notes),
        note % 2,
        tuple(f"n{i}" for i in range(n_notes)),
        tuple(f"f{i}" for i in range(n_features)),
        ("a", "b"),
    )
    there = present.ravel().astype(np.int64)
    nothing = np.zeros_like(there)
    return CountTable(PRESENCE, keys, np.stack([nothing, nothing, there, 1 - there], axis=-1))


def drawn(slope: float, *, n_notes: int = 60, seed: int = 0) -> CalibrationResult:
    """Draw rows whose logit is z, stated as slope · z, and calibrate."""
    rng = np.random.default_rng(seed)
    z = rng.normal(1, 2, (n_notes, 12))
    present = rng.random(z.shape) < 1 / (1 + np.exp(-z))
    return calibrate(table(present), (1 / (1 + np.exp(-slope * z))).ravel(), FEW)


def test_honest_probabilities_are_within_chance() -> None:
    found = drawn(1.0)
    assert found.intervals["ece"].low == 0
    assert found.overall.values["ece"] < 2.5 * found.overall.ece_by_chance
    inside = sum(one.interval.low <= one.probability <= one.interval.high for one in found.bins)
    assert inside >= len(found.bins) - 1


def test_overconfidence_shows() -> None:
    honest, bold = drawn(1.0), drawn(4.0)
    assert bold.intervals["ece"].low > bold.overall.ece_by_chance
    assert bold.overall.values["brier"] > honest.overall.values["brier"]
    assert bold.overall.beyond_chance > 0.02


def test_intervals_hold_their_estimates() -> None:
    for slope in (0.3, 1.0, 4.0):
        found = drawn(slope)
        for name, interval in found.intervals.items():
            assert interval.low <= found.overall.values[name] <= interval.high


def test_intervals_of_the_error_hold_the_truth() -> None:
    # logits ±2 and ±3, stated as they are or twice as large; gaps within a bin have one sign, so
    # the ECE of endless rows is the mean gap between what is stated and what is so
    places = np.array([-3.0, -2.0, 2.0, 3.0])
    for slope in (1.0, 2.0):
        gaps = 1 / (1 + np.exp(-slope * places)) - 1 / (1 + np.exp(-places))
        truth, held = float(np.abs(gaps).mean()), 0
        for seed in range(40):
            rng = np.random.default_rng(seed)
            z = rng.choice(places, (40, 8))
            present = rng.random(z.shape) < 1 / (1 + np.exp(-z))
            found = calibrate(table(present), (1 / (1 + np.exp(-slope * z))).ravel(), FEW)
            interval = found.intervals["ece"]
            held += interval.low - 1e-12 <= truth <= interval.high
        assert held >= 34


def test_chance_is_the_mean_error_of_perfect_probabilities() -> None:
    rng = np.random.default_rng(1)
    p = rng.beta(0.7, 0.5, (40, 10))
    errors = []
    for _ in range(300):
        counts = calibration_counts(table(rng.random(p.shape) < p), p.ravel())
        errors.append(GroupCalibration.of(counts.total()))
    mean = np.mean([one.values["ece"] for one in errors])
    assert errors[0].ece_by_chance == pytest.approx(mean, rel=0.12)


def test_perfect_probabilities_have_an_exact_limit_by_note() -> None:
    present = np.arange(20).reshape(10, 2) % 3 == 0
    found = calibrate(table(present), present.ravel().astype(float), FEW)
    # Clopper and Pearson's limit for 10 of 10 notes
    exact = 1 - 0.025 ** (1 / 10)
    for name in ("brier", "ece"):
        assert found.overall.values[name] == 0
        assert found.intervals[name].low == 0
        assert found.intervals[name].high == pytest.approx(exact)


def test_a_constant_has_one_bin() -> None:
    present = np.arange(40).reshape(10, 4) % 2 == 0
    found = calibrate(table(present), np.full(40, 0.5), FEW)
    assert len(found.bins) == 1
    assert found.overall.values["brier"] == 0.25
    assert found.overall.values["brier_skill"] == pytest.approx(0)
    assert found.intervals["ece"].low == 0


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), st.none() | st.floats(0, 1)), min_size=2, max_size=24).filter(
        lambda rows: any(p is not None for _, p in rows)
    )
)
def test_any_rows_can_be_measured(rows: list[tuple[bool, float | None]]) -> None:
    present = np.array([[y] for y, _ in rows])
    chance = np.array([np.nan if p is None else p for _, p in rows])
    found = calibrate(table(present), chance, Resampling(resamples=10))
    known = int((~np.isnan(chance)).sum())
    assert found.overall.n_rows == sum(one.n_rows for one in found.bins) == known
    assert sum(one.n_rows for one in found.features.values()) == known
    assert 0 <= found.intervals["ece"].low <= found.intervals["ece"].high <= 1
    for one in found.bins:
        assert one.low - 1e-9 <= one.probability <= one.high + 1e-9
        assert 0 <= one.interval.low <= one.interval.high <= 1
    json.dumps(found.to_dict(), allow_nan=False)


def test_weights_move_the_values() -> None:
    present = np.array([[1], [0], [1], [0]])
    chance = np.array([0.9, 0.8, 0.9, 0.1])
    plain = calibrate(table(present), chance, FEW)
    heavy = calibrate(
        table(present), chance, FEW, weights={"n0": 1.0, "n1": 10.0, "n2": 1.0, "n3": 1.0}
    )
    assert heavy.overall.values["brier"] == pytest.approx((0.01 + 6.4 + 0.01 + 0.01) / 13)
    assert heavy.overall.values["brier"] > plain.overall.values["brier"]
    assert heavy.overall.n_rows == 4


def test_rows_of_one_note_count_for_less() -> None:
    # the same 40 rows: in 40 notes, or alike in 8 notes of 5
    alike = np.repeat(np.arange(8) % 2 == 0, 5)
    apart = calibrate(table(alike.reshape(40, 1)), np.full(40, 0.55), FEW)
    together = calibrate(table(alike.reshape(8, 5)), np.full(40, 0.55), FEW)
    assert together.bins[0].interval.width > 1.5 * apart.bins[0].interval.width


def test_the_same_seed_gives_the_same() -> None:
    assert drawn(2.0).to_dict() == drawn(2.0).to_dict()
