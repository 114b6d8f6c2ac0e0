import numpy as np
import pytest

from rubricate.stats import (
    Resampling,
    Stratum,
    precision_recall_f1,
    proportion_interval,
    stratified_posterior,
)
from rubricate.study import weighting
from rubricate.study.weighting import DesignNotes, design_bootstrap, design_posterior


def notes(counts, weights, sides, fixed=True) -> DesignNotes:
    cells = np.repeat(np.eye(4, dtype=np.int64), counts, axis=0)
    return DesignNotes(cells, np.asarray(weights, float), np.asarray(sides, bool), fixed)


def test_equal_weights_give_the_stratified_posterior() -> None:
    found = design_posterior(
        notes([212, 38, 6, 244], np.repeat([4.0, 36.0], 250), np.repeat([True, False], 250)),
        finite=True,
    )
    known = stratified_posterior(
        [
            Stratum(1000, tp=212, fp=38, predicted="positive"),
            Stratum(9000, fn=6, tn=244, predicted="negative"),
        ]
    )
    for name in ("precision", "recall", "f1"):
        one, two = getattr(found, name), getattr(known, name)
        assert one.value == pytest.approx(two.value)
        assert one.interval.low == pytest.approx(two.interval.low, abs=1e-9)
        assert one.interval.high == pytest.approx(two.interval.high, abs=1e-9)


def test_a_census_of_a_finite_population_leaves_nothing_to_chance() -> None:
    census = notes([8, 2, 1, 9], np.ones(20), np.repeat([True, False], 10))
    recall = design_posterior(census, finite=True).recall
    assert recall.value == recall.interval.low == recall.interval.high == pytest.approx(8 / 9)
    assert design_posterior(census).recall.interval.width > 0.2


def test_nothing_found_is_undefined_not_wrong() -> None:
    found = design_posterior(notes([0, 0, 0, 9], np.ones(9), np.zeros(9)), finite=True)
    assert np.isnan(found.recall.value)
    assert np.isnan(found.precision.interval.low)


def test_perfect_samples_still_have_width() -> None:
    found = design_posterior(notes([30, 0, 0, 30], np.ones(60), np.repeat([True, False], 30)))
    assert found.recall.interval.high == 1.0
    assert 0.8 < found.recall.interval.low < 1.0


def draw(rng: np.random.Generator, n: int = 4000, f: float = 0.1, p: float = 0.85, r: float = 0.8):
    """A population of which 150 + 150 notes are drawn, a rare part at three times the rate."""
    detected = rng.random(n) < f
    missed = f * p * (1 - r) / r / (1 - f)
    present = rng.random(n) < np.where(detected, p, missed)
    rare = rng.random(n) < 0.2
    cells, weights, sides = [], [], []
    for side in (True, False):
        for part, k in ((rare, 60), (~rare, 90)):
            pool = np.flatnonzero((detected == side) & part)
            k = min(k, len(pool))
            picked = present[rng.choice(pool, k, replace=False)]
            yes, no = (0, 1) if side else (2, 3)
            cells.append(np.eye(4, dtype=np.int64)[np.where(picked, yes, no)])
            weights.append(np.full(k, len(pool) / k))
            sides.append(np.full(k, side))
    return DesignNotes(
        np.concatenate(cells), np.concatenate(weights), np.concatenate(sides), True
    )  # fmt: skip


def test_intervals_cover_where_unweighted_ones_never_do(monkeypatch) -> None:
    monkeypatch.setattr(weighting, "_DRAWS", 1000)
    rng = np.random.default_rng(7)
    covered, naive, n = {"precision": 0, "recall": 0}, 0, 300
    for seed in range(n):
        sample = draw(rng)
        found = design_posterior(sample, Resampling(seed=seed))
        for name, value in (("precision", 0.85), ("recall", 0.8)):
            interval = getattr(found, name).interval
            covered[name] += interval.low <= value <= interval.high
        tp, _, fn, _ = sample.cells.sum(axis=0)
        plain = proportion_interval(tp, tp + fn)
        naive += plain.low <= 0.8 <= plain.high
    # Standard error at .95 and 300 runs: .0126.
    assert 0.92 <= covered["precision"] / n <= 0.985
    assert 0.92 <= covered["recall"] / n <= 0.985
    assert naive / n < 0.05


def test_the_bootstrap_weights_and_is_seeded() -> None:
    counts = np.array([[4, 0, 0], [0, 4, 0], [0, 0, 4], [2, 2, 2]])
    design = np.array([10.0, 1.0, 1.0, 1.0]), np.array([True, True, False, False])
    one = design_bootstrap(counts, precision_recall_f1, design, Resampling(resamples=50))
    two = design_bootstrap(counts, precision_recall_f1, design, Resampling(resamples=50))
    assert one.estimate[0] == pytest.approx(42 / 48)
    assert one.low.tolist() == two.low.tolist()
