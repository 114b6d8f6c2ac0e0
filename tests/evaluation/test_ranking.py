"""ROC and precision-recall curves."""

from __future__ import annotations

import numpy as np
import pytest

from rubricate.evaluation import probabilities as ranking
from rubricate.evaluation.counts import PRESENCE, CountTable, RowKeys
from rubricate.evaluation.probabilities import MOST_POINTS, areas, rank
from rubricate.stats import Resampling

FEW = Resampling(resamples=300)


def rows(rng: np.random.Generator, notes: int, per_note: int = 5) -> tuple[CountTable, np.ndarray]:
    """Rows whose probability is right on average; presence goes by it."""
    n = notes * per_note
    probability = rng.uniform(size=n).round(3)
    present = rng.uniform(size=n) < probability
    counts = np.zeros((n, 4), dtype=np.int64)
    counts[np.arange(n), np.where(present, 0, 1)] = 1
    note = np.repeat(np.arange(notes), per_note)
    feature = np.tile(np.arange(per_note), notes)
    keys = RowKeys(
        note, feature, np.zeros(n, dtype=np.int64),
        tuple(f"n{i}" for i in range(notes)), tuple(f"f{i}" for i in range(per_note)), ("c",),
    )  # fmt: skip
    return CountTable(PRESENCE, keys, counts), probability


def test_areas_are_the_shares_of_pairs_and_of_ranks() -> None:
    rng = np.random.default_rng(0)
    table, probability = rows(rng, 30)
    found = rank(table, probability, FEW)
    present = table.values[:, 0] > 0
    high, low = probability[present], probability[~present]
    pairs = (high[:, None] > low) + (high[:, None] == low) / 2
    assert found.auc.value == pytest.approx(pairs.mean())
    # Average precision over thresholds, ties together.
    gained, before = 0.0, 0.0
    for threshold in np.unique(probability)[::-1]:
        taken = probability >= threshold
        recall = present[taken].sum() / present.sum()
        gained += (recall - before) * present[taken].mean()
        before = recall
    assert found.average_precision.value == pytest.approx(gained)
    assert found.auc.low < found.auc.value < found.auc.high
    assert (found.n_rows, found.n_present) == (150, int(present.sum()))


def test_the_curves_run_from_nothing_to_everything() -> None:
    table, probability = rows(np.random.default_rng(1), 100)
    found = rank(table, probability, FEW)
    assert found.roc[0][:2] == (0.0, 0.0)
    assert found.roc[-1][:2] == (1.0, 1.0)
    assert found.precision_recall[-1][0] == 1.0
    assert len(found.roc) <= MOST_POINTS + 1
    rates, recalls = np.array(found.roc)[:, 0], np.array(found.roc)[:, 1]
    assert (np.diff(rates) >= 0).all() and (np.diff(recalls) >= 0).all()
    assert np.trapezoid(recalls, rates) == pytest.approx(found.auc.value, abs=0.01)


def test_perfect_and_turned_around() -> None:
    assert areas(np.array([2.0, 0.0]), np.array([0.0, 3.0])).tolist() == [1.0, 1.0]
    assert areas(np.array([0.0, 2.0]), np.array([3.0, 0.0]))[0] == 0


def test_the_interval_of_the_area_covers() -> None:
    # The true area of a uniform probability that means what it says is 5 / 6.
    covered = []
    for seed in range(120):
        table, probability = rows(np.random.default_rng(seed), 60)
        found = rank(table, probability, Resampling(resamples=200, seed=seed)).auc
        covered.append(found.low <= 5 / 6 <= found.high)
    assert np.mean(covered) >= 0.9


def test_rows_without_a_probability_are_left_out() -> None:
    table, probability = rows(np.random.default_rng(2), 30)
    probability[::3] = np.nan
    assert rank(table, probability, FEW).n_rows == 100


def test_what_is_drawn_at_a_time_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    table, probability = rows(np.random.default_rng(4), 20)
    usual = rank(table, probability, FEW)
    # Seven resamples at a time, which 300 is no multiple of.
    monkeypatch.setattr(ranking, "_CHUNK", 7 * len(np.unique(probability)))
    again = rank(table, probability, FEW)
    assert (again.auc, again.average_precision) == (usual.auc, usual.average_precision)


def test_of_two_notes_one_is_drawn_at_a_time() -> None:
    table, _ = rows(np.random.default_rng(0), 2)
    present = table.values[:, 0] > 0
    assert 0 < present[:5].sum() < 5 and 0 < present[5:].sum() < 5
    # The first note is ranked as it should be, the second the other way round.
    probability = np.where(present == (np.arange(10) < 5), 0.9, 0.1)
    found = rank(table, probability, Resampling(resamples=400, confidence=0.2)).auc
    assert (found.low, found.high) == (0.0, 1.0)
