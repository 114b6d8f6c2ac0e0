import numpy as np
import pytest
from scipy.stats import fisher_exact, ks_2samp, mannwhitneyu

from rubricate.errors import InputError
from rubricate.run import RunItems, ScoredRun
from rubricate.trust import measure_drift
from rubricate.trust.drift import (
    DriftSettings,
    ks_distance,
    ks_p_value,
    superiority,
    unknown_shares,
)

QUICK = DriftSettings(permutations=199)


def run(found: object, prefix: str = "n", confidence: float = 0.9) -> ScoredRun:
    """A run with one row a note and one column a feature."""
    table = np.asarray(found, dtype=np.bool_)
    n, m = table.shape
    items = RunItems(
        np.repeat(np.arange(n), m), np.tile(np.arange(m), n), tuple(f"f{k}" for k in range(m)),
        table.ravel(), np.full(n * m, confidence), np.zeros(n * m, dtype=np.bool_),
    )  # fmt: skip
    notes = tuple(f"{prefix}{i}" for i in range(n))
    return ScoredRun(
        notes, ("c",) * n, table.sum(axis=1).astype(float), np.full(n, float(m)), items
    )


def draw(rates: list[float], n: int, seed: int) -> np.ndarray:  # type: ignore[type-arg]
    return np.random.default_rng(seed).random((n, len(rates))) < rates


def test_distances_are_scipys() -> None:
    rng = np.random.default_rng(1)
    one, two = rng.integers(0, 9, 60).astype(float), rng.integers(2, 12, 45).astype(float)
    assert ks_distance(one, two) == pytest.approx(ks_2samp(one, two).statistic)
    u = mannwhitneyu(two, one).statistic
    assert superiority(one, two) == pytest.approx(u / (60 * 45))


def test_the_permutation_test_is_near_the_exact_one_and_seeded() -> None:
    rng = np.random.default_rng(2)
    one, two = rng.normal(0, 1, 40), rng.normal(0.6, 1, 40)
    p = ks_p_value(one, two, permutations=4000)
    assert p == pytest.approx(ks_2samp(one, two, method="exact").pvalue, abs=0.02)
    assert p == ks_p_value(one, two, permutations=4000)


def test_false_alarms_keep_their_rate() -> None:
    rng = np.random.default_rng(3)
    alarms = [
        ks_p_value(rng.normal(size=30), rng.normal(size=30), permutations=99, seed=k) <= 0.05
        for k in range(300)
    ]
    # 5 % of 300 is 15; 28 is beyond the 99.9th percentile of that binomial
    assert sum(alarms) <= 28


def test_a_feature_that_moved_is_flagged_and_the_others_are_not() -> None:
    before = run(draw([0.5] * 10, 300, 0), "a")
    after = run(draw([0.9] + [0.5] * 9, 300, 1), "b")
    drift = measure_drift(before, after, settings=QUICK)
    assert drift.design == "different notes"
    assert [one.feature for one in drift.features if one.flag] == ["f0"]
    first = drift.features[0]
    counts = [[round(300 * rate), 300 - round(300 * rate)] for rate in (first.before, first.after)]
    assert first.p_value == pytest.approx(float(fisher_exact(np.array(counts))[1]))
    assert first.low < first.difference < first.high


def test_newcombes_published_interval() -> None:
    # Newcombe 1998 (Stat Med 17:873), method 10, 56/70 - 48/80: 0.2000 (0.0524 to 0.3339)
    before = run([[True]] * 48 + [[False]] * 32, "a")
    after = run([[True]] * 56 + [[False]] * 14, "b")
    found = measure_drift(before, after, settings=QUICK).features[0]
    assert (found.low, found.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_the_same_notes_are_compared_pairwise() -> None:
    table = draw([0.5, 0.5], 200, 0)
    changed = table.copy()
    changed[np.flatnonzero(~table[:, 0])[:30], 0] = True
    drift = measure_drift(run(table), run(changed), settings=QUICK)
    assert drift.design == "same notes"
    assert drift.features[0].flag
    assert drift.features[0].p_value == pytest.approx(2 * 0.5**30)
    assert drift.features[1].p_value == 1.0


def test_the_order_of_notes_does_not_matter() -> None:
    table = draw([0.3, 0.6], 50, 0)
    forward = run(table)
    back = run(table[::-1])
    turned = ScoredRun(forward.notes[::-1], back.cases, back.score, back.maximum, back.items)
    drift = measure_drift(forward, turned, settings=QUICK)
    assert not drift.drifted
    assert {m.distance for m in drift.measures} == {0.0}


def test_confidence_lengths_and_words_are_watched() -> None:
    table = draw([0.5] * 3, 60, 0)
    before, after = run(table, "a", 0.95), run(table, "b", 0.6)
    texts = ({n: f"no fever since day {i % 5}" for i, n in enumerate(before.notes)},
             {n: f"apyrexial throughout, {'very ' * (i % 4)}well" for i, n in enumerate(after.notes)})  # fmt: skip
    found = {
        m.measure: m for m in measure_drift(before, after, texts=texts, settings=QUICK).measures
    }
    assert found["confidence"].flag
    assert found["unknown words"].flag
    assert found["unknown words"].after == 1.0
    assert found["length in words"].n_after == 60
    assert not found["score"].flag


def test_a_note_never_vouches_for_its_own_words() -> None:
    texts = {"a": "alpha beta", "b": "beta gamma"}
    assert [side.tolist() for side in unknown_shares(texts, texts)] == [[0.5, 0.5], [0.5, 0.5]]
    assert np.isnan(unknown_shares({"a": "…"}, {"b": ""})[0]).all()


@pytest.mark.parametrize(
    "wrong", [{"alpha": 0.0}, {"min_rate": 1.5}, {"permutations": 0}, {"seed": -1}]
)
def test_settings_are_checked(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        DriftSettings(**wrong)  # type: ignore[arg-type]


def test_an_empty_run_is_refused() -> None:
    with pytest.raises(InputError, match="without notes"):
        measure_drift(run(np.zeros((0, 2))), run([[True]]))


def test_another_mix_of_cases_is_no_drift() -> None:
    # easy notes are 50 % before and 80 % after; inside each case nothing changed
    flagged = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        runs = []
        for name, share in (("a", 0.5), ("b", 0.8)):
            easy = rng.random(200) < share
            score = np.where(easy, 8.0, 4.0) + rng.normal(0, 1, 200)
            cases = tuple("easy" if one else "hard" for one in easy)
            notes = tuple(f"{name}{i}" for i in range(200))
            runs.append(ScoredRun(notes, cases, score, np.full(200, 10.0)))
        found = measure_drift(runs[0], runs[1], settings=DriftSettings(permutations=199))
        flagged += found.drifted
        assert abs(found.measures[0].superiority - 0.5) < 0.12
        assert set(found.to_dict()["case_mix"]) == {"easy", "hard"}  # type: ignore[call-overload]
    assert flagged <= 5  # 1.5 of 30 by chance; before, 30 of 30


def test_a_change_inside_cases_is_still_drift() -> None:
    rng = np.random.default_rng(3)
    runs = []
    for name, share, moved in (("a", 0.5, 0.0), ("b", 0.8, -1.0)):
        easy = rng.random(200) < share
        score = np.where(easy, 8.0, 4.0) + rng.normal(0, 1, 200) + moved
        cases = tuple("easy" if one else "hard" for one in easy)
        notes = tuple(f"{name}{i}" for i in range(200))
        runs.append(ScoredRun(notes, cases, score, np.full(200, 10.0)))
    found = measure_drift(runs[0], runs[1])
    assert found.measures[0].flag
    # standardised: lower, though the mix alone would make the scores higher
    assert found.measures[0].superiority < 0.35


def test_a_case_of_one_run_alone_is_left_out() -> None:
    one = ScoredRun(("a", "b", "c"), ("x", "x", "y"), np.array([1.0, 2, 9]), np.full(3, 10.0))
    two = ScoredRun(("d", "e", "f"), ("x", "x", "z"), np.array([1.0, 2, 0]), np.full(3, 10.0))
    found = measure_drift(one, two).measures[0]
    assert (found.n_before, found.n_after, found.distance) == (2, 2, 0.0)
