import numpy as np
import pytest
from fairness_coverage import LAYOUTS, coverage
from scipy.special import stdtrit

from rubricate.errors import InputError
from rubricate.run.reading import ScoredRun
from rubricate.stats import Resampling
from rubricate.trust import compare_groups
from rubricate.trust.fairness import FairnessSettings
from scored_runs import groups_of, run_of

QUICK = FairnessSettings(permutations=399, resampling=Resampling(resamples=300))


def test_an_unfair_matcher_is_caught_though_scores_alone_say_nothing() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random((300, 10)) < 0.7
    said = truth.copy()
    # Group b's present features are missed 20 % of the time, group a's never
    said[1::2] &= rng.random((150, 10)) > 0.2
    reference, predicted = run_of(truth), run_of(said)
    fair = compare_groups(
        predicted, groups_of(predicted, "ab"), reference=reference, settings=QUICK
    )
    found = {c.measure: c for c in fair.contrasts}
    assert found["error"].flag and found["missed"].flag and found["score difference"].flag
    assert found["missed"].difference == pytest.approx(-20, abs=4)
    assert found["missed"].low < -20 < found["missed"].high
    assert not found["false"].flag
    assert (found["error"].group, found["error"].against) == ("a", "b")
    assert list(fair.rates) == ["a", "b"]


def test_difficulty_of_cases_is_no_unfairness() -> None:
    # Group a mostly writes the easy case; inside each case the groups are alike
    rng = np.random.default_rng(1)
    easy = rng.random(400) < 0.5
    table = rng.random((400, 10)) < np.where(easy, 0.9, 0.3)[:, None]
    run = run_of(table, tuple("easy" if e else "hard" for e in easy))
    groups = {n: "a" if rng.random() < (0.8 if e else 0.2) else "b"
              for n, e in zip(run.notes, easy, strict=True)}  # fmt: skip
    fair = compare_groups(run, groups, settings=QUICK)
    means = fair.means["score"]
    assert means["a"][0] - means["b"][0] > 20
    assert abs(fair.contrasts[0].difference) < 5
    assert not fair.flagged


def test_the_difference_is_the_coefficient_of_a_model_with_case_effects() -> None:
    rng = np.random.default_rng(2)
    run = run_of(rng.random((60, 8)) < 0.5, tuple(rng.choice(["x", "y", "z"], 60)))
    groups = {n: "a" if rng.random() < 0.4 else "b" for n in run.notes}
    settings = FairnessSettings(min_size=5, permutations=9, resampling=Resampling(resamples=9))
    found = compare_groups(run, groups, settings=settings).contrasts[0]
    member = np.array([groups[n] == "a" for n in run.notes], dtype=float)
    design = np.column_stack([member, *(np.array(run.cases) == c for c in "xyz")]).astype(float)
    assert found.difference == pytest.approx(np.linalg.lstsq(design, run.percentage)[0][0])


def welch(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Return the limits of a difference of means, for one case.

    The squared standard error is s1²/n1 + s2²/n2; its degrees of freedom are (n1 + n2)² (n1 - 1)
    (n2 - 1) / (n1² (n1 - 1) + n2² (n2 - 1)) (Imbens & Kolesár 2016, Rev. Econ. Stat. 98: 701).
    """
    n, m = len(first), len(second)
    freedom = (n + m) ** 2 * (n - 1) * (m - 1) / (n**2 * (n - 1) + m**2 * (m - 1))
    error = np.sqrt(first.var(ddof=1) / n + second.var(ddof=1) / m)
    reach = stdtrit(freedom, 0.975) * error
    gap = first.mean() - second.mean()
    return gap - reach, gap + reach


@pytest.mark.parametrize("each", [1, 3])
def test_limits_are_those_of_the_published_formula(each: int) -> None:
    """Three notes of each patient count as much as their mean, if they are drawn together."""
    rng = np.random.default_rng(4)
    names = tuple(f"n{i}" for i in range(30 * each))
    patient = np.repeat(np.arange(30), each)
    score = 60 + rng.normal(0, 9, 30)[patient] + rng.normal(0, 4, len(patient))
    run = ScoredRun(names, ("c",) * len(names), score, np.full(len(names), 100.0))
    groups = {name: "a" if own < 6 else "b" for name, own in zip(names, patient, strict=True)}
    clusters = {name: str(own) for name, own in zip(names, patient.tolist(), strict=True)}
    settings = FairnessSettings(min_size=5, permutations=9, resampling=Resampling(9))
    found = compare_groups(
        run, groups, clusters=clusters if each > 1 else None, settings=settings
    ).contrasts[0]
    means = score.reshape(30, each).mean(axis=1)
    assert (found.low, found.high) == pytest.approx(welch(means[:6], means[6:]))


def test_small_groups_are_counted_and_not_reported() -> None:
    run = run_of(np.random.default_rng(3).random((205, 5)) < 0.5)
    groups = {n: "rare" if i < 5 else "abc"[i % 3] for i, n in enumerate(run.notes)}
    fair = compare_groups(run, groups, settings=QUICK)
    assert fair.sizes["rare"] == 5
    assert fair.reported == ("a", "b", "c")
    assert "rare" not in str(fair.means) + str(fair.contrasts)
    assert {c.against for c in fair.contrasts} == {"others"}


def test_a_single_group_has_nothing_to_compare_with() -> None:
    run = run_of(np.ones((40, 2)))
    fair = compare_groups(run, groups_of(run, "a"), settings=QUICK)
    assert fair.contrasts == ()
    with pytest.raises(InputError, match="no note of the run has a group"):
        compare_groups(run, {"x": "a"}, settings=QUICK)
    with pytest.raises(InputError):
        FairnessSettings(min_size=1)


def test_chance_is_rarely_called_unfair() -> None:
    flags = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        run = run_of(rng.random((90, 6)) < 0.5)
        fair = compare_groups(run, groups_of(run, "abc"), settings=FairnessSettings(
            min_size=10, permutations=199, resampling=Resampling(resamples=50)))  # fmt: skip
        flags += bool(fair.flagged)
    # Holm keeps the chance of any flag at 5 %: 2 of 40 expected, 8 beyond the 99.9th percentile
    assert flags < 8


def test_groups_come_in_order_whatever_the_hash_seed() -> None:
    run = run_of(np.ones((60, 3)))
    fair = compare_groups(run, groups_of(run, "zyxwvutsrqponm"), settings=QUICK)
    assert list(fair.rates) == sorted("zyxwvutsrqponm")


def test_cases_of_unequal_size_leave_the_slope_where_it_is() -> None:
    rng = np.random.default_rng(8)
    run = run_of(rng.random((70, 8)) < 0.5, tuple(f"c{int(i**0.5)}" for i in range(70)))
    groups = {n: "a" if rng.random() < 0.4 else "b" for n in run.notes}
    settings = FairnessSettings(min_size=5, permutations=9, resampling=Resampling(resamples=99))
    found = compare_groups(run, groups, settings=settings).contrasts[0]
    member = np.array([groups[n] == "a" for n in run.notes], dtype=float)
    cases = sorted(set(run.cases))
    design = np.column_stack([member, *(np.array(run.cases) == c for c in cases)]).astype(float)
    assert found.difference == pytest.approx(np.linalg.lstsq(design, run.percentage)[0][0])


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_intervals_cover_as_often_as_they_say(layout: tuple[int, int]) -> None:
    covered, _ = coverage(*layout, studies=600)
    # three standard errors of 600 studies; benchmarks/fairness_coverage.py draws more
    assert covered >= 0.94 - 3 * 0.0097
