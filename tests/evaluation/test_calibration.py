from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.errors import InputError
from rubricate.evaluation import evaluate, pair_rows
from rubricate.evaluation.counts import PRESENCE, CountTable, RowKeys
from rubricate.evaluation.probabilities import (
    VALUES,
    CalibrationResult,
    GroupCalibration,
    calibrate,
    calibration_counts,
    calibration_values,
)
from rubricate.stats import Resampling
from rubricate.stats.calibration import brier_score, expected_calibration_error

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
    assert found.estimates["ece"].low == 0
    assert found.overall.values["ece"] < 2.5 * found.overall.ece_by_chance
    inside = sum(one.present.low <= one.probability <= one.present.high for one in found.bins)
    assert inside >= len(found.bins) - 1


def test_overconfidence_shows() -> None:
    honest, bold = drawn(1.0), drawn(4.0)
    assert bold.estimates["ece"].low > bold.overall.ece_by_chance
    assert bold.overall.values["brier"] > honest.overall.values["brier"]
    assert bold.overall.beyond_chance > 0.02


def test_intervals_hold_their_estimates() -> None:
    for slope in (0.3, 1.0, 4.0):
        found = drawn(slope)
        for name, interval in found.estimates.items():
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
            interval = found.estimates["ece"]
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
        assert found.estimates[name].low == 0
        assert found.estimates[name].high == pytest.approx(exact)


def test_a_constant_has_one_bin() -> None:
    present = np.arange(40).reshape(10, 4) % 2 == 0
    found = calibrate(table(present), np.full(40, 0.5), FEW)
    assert len(found.bins) == 1
    assert found.overall.values["brier"] == 0.25
    assert found.overall.values["brier_skill"] == pytest.approx(0)
    assert found.estimates["ece"].low == 0


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
    assert 0 <= found.estimates["ece"].low <= found.estimates["ece"].high <= 1
    for one in found.bins:
        assert one.low - 1e-9 <= one.probability <= one.high + 1e-9
        assert 0 <= one.present.low <= one.present.high <= 1
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
    assert together.bins[0].present.width > 1.5 * apart.bins[0].present.width


def test_the_same_seed_gives_the_same() -> None:
    assert drawn(2.0).to_dict() == drawn(2.0).to_dict()


#: A row: its note, its feature, whether it is present, its probability (None: unknown).
Row = tuple[int, int, bool, float | None]

rows = st.lists(
    st.tuples(
        st.integers(0, 3), st.integers(0, 2), st.booleans(), st.none() | st.floats(0, 1)
    ),
    min_size=1,
    max_size=40,
)  # fmt: skip


def row_table(given_rows: list[Row]) -> tuple[CountTable, np.ndarray]:
    """Return presence counts (nothing was predicted) and probabilities of some rows."""
    note = np.array([row[0] for row in given_rows], dtype=np.int64)
    feature = np.array([row[1] for row in given_rows], dtype=np.int64)
    present = np.array([row[2] for row in given_rows], dtype=np.int64)
    nothing = np.zeros_like(present)
    keys = RowKeys(note, feature, note % 2, ("n0", "n1", "n2", "n3"), ("f", "g", "h"), ("a", "b"))
    counts = np.stack([nothing, nothing, present, 1 - present], axis=-1)
    chance = [np.nan if row[3] is None else row[3] for row in given_rows]
    return CountTable(PRESENCE, keys, counts), np.array(chance)


def values(given_rows: list[Row]) -> dict[str, float]:
    found = calibration_values(calibration_counts(*row_table(given_rows)).total())
    return dict(zip(VALUES, found.tolist(), strict=True))


def test_an_example_by_hand() -> None:
    # bins 0.2-0.3: p .25, .25, absent, present: gap |.5 - 1| / 2 rows; 0.9-1: .95, present: .05
    found = values([(0, 0, False, 0.25), (1, 0, True, 0.25), (2, 0, True, 0.95)])
    assert found["ece"] == pytest.approx((0.5 + 0.05) / 3)
    assert found["brier"] == pytest.approx((0.0625 + 0.5625 + 0.0025) / 3)
    share = 2 / 3
    assert found["share_present"] == pytest.approx(share)
    assert found["brier_skill"] == pytest.approx(1 - found["brier"] / (share * (1 - share)))
    assert found["mean_probability"] == pytest.approx(1.45 / 3)


def test_certain_and_right_is_perfect() -> None:
    found = values([(0, 0, True, 1.0), (1, 0, False, 0.0), (2, 1, True, 1.0)])
    assert found["brier"] == found["ece"] == 0
    assert found["brier_skill"] == 1


def test_saying_the_share_everywhere_has_no_skill() -> None:
    found = values([(i % 4, 0, i % 4 == 0, 0.25) for i in range(8)])
    assert found["brier"] == pytest.approx(0.25 * 0.75)
    assert found["brier_skill"] == pytest.approx(0)
    assert found["ece"] == pytest.approx(0)


def test_skill_needs_rows_of_both_kinds() -> None:
    assert np.isnan(values([(0, 0, True, 0.9), (1, 0, True, 0.8)])["brier_skill"])


@given(rows)
def test_values_are_those_of_the_plain_formulas(given_rows: list[Row]) -> None:
    known = [row for row in given_rows if row[3] is not None]
    found = values(given_rows)
    present, chance = [row[2] for row in known], [row[3] for row in known]
    for name, formula in (("brier", brier_score), ("ece", expected_calibration_error)):
        assert found[name] == pytest.approx(formula(present, chance), nan_ok=True)


@given(rows, rows)
def test_parts_add_to_the_whole(one: list[Row], two: list[Row]) -> None:
    first, second, whole = (calibration_counts(*row_table(rows)) for rows in (one, two, one + two))
    assert {*first.ids, *second.ids} == set(whole.ids)
    np.testing.assert_allclose(first.total() + second.total(), whole.total())


@given(rows)
def test_every_way_to_sum_has_the_same_total(given_rows: list[Row]) -> None:
    by_note = calibration_counts(*row_table(given_rows)).total()
    for by in ("feature", "case"):
        found = calibration_counts(*row_table(given_rows), by=by)  # type: ignore[arg-type]
        np.testing.assert_allclose(found.total(), by_note)


@given(rows, st.integers(1, 5))
def test_a_weight_is_so_many_notes(given_rows: list[Row], weight: int) -> None:
    weights = {"n0": float(weight), "n1": 1.0, "n2": 1.0, "n3": 1.0}
    weighted = calibration_counts(*row_table(given_rows), weights=weights).total()
    again = [row for row in given_rows for _ in range(weight if row[0] == 0 else 1)]
    repeated = calibration_counts(*row_table(again)).total()
    np.testing.assert_allclose(weighted[:, :5], repeated[:, :5])
    assert weighted[:, 6].sum() == sum(row[3] is not None for row in given_rows)


def test_what_is_no_probability_is_named() -> None:
    with pytest.raises(InputError) as caught:
        calibration_counts(*row_table([(0, 0, True, 1.5), (1, 2, True, -0.1), (2, 0, True, 0.5)]))
    assert len(caught.value.faults) == 2
    assert "n1" in str(caught.value)
    assert "feature h" in str(caught.value)


def corpus(*, n_notes: int = 3, probability: float | None = 0.7) -> Corpus:
    builder = CorpusBuilder()
    builder.add_feature(Feature("f", "c", "Fever"))
    for i in range(3):
        builder.add_note(Note(str(i), "c", "fever"))
        builder.annotate("reference", str(i), "f", [(0, 5)])
        if i < n_notes:
            builder.judge("system", str(i), "f", probability=probability)
    return builder.build()


def probabilities(found: Corpus) -> np.ndarray | None:
    pairing = pair_rows(found, found, reference_annotator="reference", predicted_annotator="system")
    return pairing.probability


def test_rows_without_prediction_have_no_probability() -> None:
    found = probabilities(corpus(n_notes=2))
    assert found is not None
    np.testing.assert_array_equal(found, [0.7, 0.7, np.nan])


def test_a_system_without_probabilities_has_none() -> None:
    assert probabilities(corpus(probability=None)) is None
    whole = corpus()
    pairing = pair_rows(whole, whole, reference_annotator="system", predicted_annotator="reference")
    assert pairing.probability is None


def test_evaluations_keep_probabilities_when_they_add() -> None:
    def part(notes: list[str], probability: float | None) -> tuple[Corpus, Corpus]:
        whole = corpus(probability=probability).select(notes=notes)
        return whole.select(annotators=["reference"]), whole.select(annotators=["system"])

    one, two = evaluate(*part(["0"], 0.7)), evaluate(*part(["1", "2"], None))
    both = one + two
    assert both.probability is not None
    np.testing.assert_array_equal(both.probability, [0.7, np.nan, np.nan])
    assert (two + two).probability is None
    taken = both.take(np.array([0]), "a", "b")
    np.testing.assert_array_equal(taken.probability, [0.7])  # type: ignore[arg-type]


@pytest.mark.parametrize("slope", [1.0, 2.0])
def test_weights_matter_only_beside_each_other(slope: float) -> None:
    rng = np.random.default_rng(5)
    z = rng.normal(1, 2, (30, 12))
    present = rng.random(z.shape) < 1 / (1 + np.exp(-z))
    chance = (1 / (1 + np.exp(-slope * z))).ravel()
    plain, light, heavy = (
        calibrate(table(present), chance, FEW, weights={f"n{i}": size for i in range(30)})
        for size in (1.0, 0.01, 100.0)
    )
    for other in (light, heavy):
        assert other.overall.ece_by_chance == pytest.approx(plain.overall.ece_by_chance)
        for name, one in plain.estimates.items():
            two = other.estimates[name]
            assert (two.value, two.low, two.high) == pytest.approx((one.value, one.low, one.high))
        for mine, theirs in zip(plain.bins, other.bins, strict=True):
            assert theirs.n_rows == mine.n_rows
            assert theirs.probability == pytest.approx(mine.probability)
            assert (theirs.present.low, theirs.present.high) == pytest.approx(
                (mine.present.low, mine.present.high)
            )
