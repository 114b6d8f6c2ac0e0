import numpy as np
import pytest
from scipy.stats import t as student

from rubricate.errors import InputError
from rubricate.stats import (
    Resampling,
    gwet_ac2,
    limits_of_agreement,
    proportion_interval,
    score_agreement,
)

FEW = Resampling(resamples=50)
#: What irrCAC 0.4.4 (Gwet's own definitions) gives for CAC(...).gwet().
KNOWN = {
    "near": ([[1, 1], [2, 3], [3, 3], [4, 4], [2, 2]], 0.92268),
    "Shrout and Fleiss": (
        [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]],
        0.31511,
    ),
    "two values": ([[0, 0], [0, 1], [1, 1], [0, 0], [0, 0]], 0.65517),
}  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_ac2_is_gwets(name: str) -> None:
    table, value = KNOWN[name]
    assert gwet_ac2(table, FEW).value == pytest.approx(value, abs=1e-5)


def test_ac2_of_one_score_is_undefined_and_of_one_rater_refused() -> None:
    assert np.isnan(gwet_ac2([[3, 3], [3, 3]], FEW).value)
    with pytest.raises(InputError):
        gwet_ac2([[3], [4]], FEW)
    with pytest.raises(InputError, match="possible"):
        gwet_ac2([[3, 4], [4, 4]], FEW, possible=[0, 1, 2, 3])


def test_a_known_scale_makes_ac2_the_same_for_many_notes_as_for_few() -> None:
    rng = np.random.default_rng(1)
    true = rng.normal(10, 2, 20_000)[:, None]
    scores = np.clip(np.round(true + rng.normal(0, 1, (20_000, 2))), 0, 20)
    scale = np.arange(21)
    many = gwet_ac2(scores, Resampling(resamples=2), possible=scale).value
    few = [gwet_ac2(scores[i : i + 50], Resampling(resamples=2), possible=scale).value
           for i in range(0, 20_000, 50)]  # fmt: skip
    assert np.mean(few) == pytest.approx(many, abs=0.002)
    # Without it, the range of the scores that were given, and the value with it, grows with notes.
    seen = [gwet_ac2(scores[i : i + 50], Resampling(resamples=2)).value
            for i in range(0, 20_000, 50)]  # fmt: skip
    assert np.mean(seen) < gwet_ac2(scores, Resampling(resamples=2)).value - 0.02


def test_limits_hold_the_differences_and_their_intervals_cover() -> None:
    rng = np.random.default_rng(5)
    covered = np.zeros(3)
    for _ in range(800):
        first = rng.normal(10, 3, 40)
        found = limits_of_agreement(first, first + rng.normal(1, 2, 40))
        truth = (1, 1 - 1.96 * 2, 1 + 1.96 * 2)
        for i, one in enumerate((found.bias, found.low, found.high)):
            covered[i] += one.low <= truth[i] <= one.high
    for hits in covered:
        known = proportion_interval(int(hits), 800, confidence=0.999)
        assert known.low < 0.96 and known.high > 0.93


def test_different_notes_are_refused() -> None:
    with pytest.raises(InputError, match="same notes"):
        limits_of_agreement([1, 2], [1, 2, 3])


@pytest.mark.parametrize("n", [2, 3, 30])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_limits_are_those_of_bland_and_altman(n: int, confidence: float) -> None:
    gaps = np.random.default_rng(n).normal(1, 2, n)
    found = limits_of_agreement(np.zeros(n), gaps, confidence=confidence)
    mean, sd = gaps.mean(), gaps.std(ddof=1)
    low, high = student.interval(confidence, n - 1, mean, sd / n**0.5)
    assert (found.bias.low, found.bias.high) == pytest.approx((low, high))
    error = (sd**2 / n + 1.96**2 * sd**2 / (2 * (n - 1))) ** 0.5
    for one, sign in ((found.low, -1), (found.high, 1)):
        limits = student.interval(confidence, n - 1, mean + sign * 1.96 * sd, error)
        assert (one.low, one.high) == pytest.approx(limits)
    assert found.n_notes == n


def test_limits_need_two_notes_in_one_row() -> None:
    for one in ([1], [], [[1, 2], [3, 4]]):
        with pytest.raises(InputError, match="two or more"):
            limits_of_agreement(one, one)


# Shrout & Fleiss 1979, Table 2: six targets by four judges.
SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
)


def test_the_published_example() -> None:
    # Their Table 4: ICC(2,1) = .29, ICC(3,1) = .71.
    absolute, consistent = score_agreement(SHROUT_FLEISS)
    assert absolute.value == pytest.approx(0.2898, abs=0.0001)
    assert consistent.value == pytest.approx(0.7148, abs=0.0001)
    assert absolute.low < absolute.value < absolute.high


def test_a_shift_costs_absolute_agreement_only() -> None:
    scores = np.random.default_rng(0).normal(size=(60, 1)) * 3
    shifted = np.hstack([scores, scores + 2])
    absolute, consistent = score_agreement(shifted)
    assert consistent.value == pytest.approx(1)
    assert absolute.value < 0.95


def test_scores_that_never_differ_have_no_interval() -> None:
    for one in score_agreement([[1, 1], [2, 2], [4, 4]]):
        assert one.value == 1 and not one.has_interval


def test_one_note_on_which_raters_differ_leaves_a_lower_limit_that_says_something() -> None:
    scores = np.repeat(np.arange(20.0)[:, None], 2, axis=1)
    scores[7, 1] += 3
    absolute, _ = score_agreement(scores)
    assert 0.9 < absolute.low < absolute.value < absolute.high < 1


def test_notes_of_one_cluster_count_once() -> None:
    scores = np.random.default_rng(0).normal(size=(30, 2)) + np.arange(30)[:, None] / 5
    once = score_agreement(scores)
    twice = score_agreement(np.repeat(scores, 2, axis=0), clusters=np.repeat(np.arange(30), 2))
    for one, two in zip(once, twice, strict=True):
        assert two.value == pytest.approx(one.value, abs=0.02)
        assert two.width == pytest.approx(one.width, rel=0.02)


def test_the_interval_covers() -> None:
    covered = []
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        note = rng.normal(scale=np.sqrt(0.8), size=(60, 1))
        scores = note + rng.normal(scale=np.sqrt(0.2), size=(60, 2))
        found, _ = score_agreement(scores)
        covered.append(found.low <= 0.8 <= found.high)
    # three standard errors of 1,000 studies
    assert np.mean(covered) >= 0.94 - 3 * 0.0075


def test_missing_scores_are_refused() -> None:
    with pytest.raises(InputError, match="every rater"):
        score_agreement([[1, np.nan], [2, 3]])
    with pytest.raises(InputError, match="two notes"):
        score_agreement([[1, 2]])
