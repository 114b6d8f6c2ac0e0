import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rubricate.errors import InputError
from rubricate.run import ScoredRun
from rubricate.stats import Resampling
from rubricate.trust import measure_leniency

QUICK = Resampling(resamples=200)


def run(scores: object, most: float = 100.0, prefix: str = "n") -> ScoredRun:
    values = np.asarray(scores, dtype=np.float64)
    notes = tuple(f"{prefix}{i}" for i in range(len(values)))
    return ScoredRun(notes, ("c",) * len(values), values, np.full(len(values), most))


def test_bland_and_altmans_published_example() -> None:
    # Bland & Altman 1986 (Lancet), first PEFR readings of 17 people, large and mini meter:
    # mean difference -2.1, SD 38.8, limits -79.7 and 75.5 with their 2 SD; here 1.96 SD.
    large = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]
    mini = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]
    found = measure_leniency(run(mini), run(large), QUICK)
    assert found.difference == pytest.approx(-2.1, abs=0.05)
    assert found.sd == pytest.approx(38.8, abs=0.05)
    assert found.limits == pytest.approx((-2.12 - 1.96 * 38.77, -2.12 + 1.96 * 38.77), abs=0.05)
    assert found.verdict == "neither"


@given(arrays(np.int64, (25, 2), elements=st.integers(0, 10)))
def test_kappa_is_cohens_with_quadratic_weights(pairs: np.ndarray) -> None:  # type: ignore[type-arg]
    sklearn = pytest.importorskip("sklearn.metrics")
    x, y = pairs.T
    if len(set(x) | set(y)) < 2:
        return
    found = measure_leniency(run(x, 10.0), run(y, 10.0), Resampling(resamples=2))
    # Totals are already the labels: distances between labels, not between their ranks, count
    expected = sklearn.cohen_kappa_score(x, y, weights="quadratic", labels=list(range(11)))
    assert found.kappa == pytest.approx(expected, abs=1e-9)


def test_a_lenient_scorer_is_called_lenient_and_a_severe_one_severe() -> None:
    rng = np.random.default_rng(0)
    people = rng.uniform(30, 80, 200)
    kinder = people + 6 + rng.normal(0, 4, 200)
    found = measure_leniency(run(people), run(kinder), QUICK)
    assert found.verdict == "lenient"
    assert found.intervals["difference"].low < 6 < found.intervals["difference"].high
    assert measure_leniency(run(kinder), run(people), QUICK).verdict == "severe"


def test_bands_hold_every_note_once_and_the_slope_says_who_gains() -> None:
    people = np.linspace(0, 100, 101)
    squeezed = 50 + 0.5 * (people - 50)
    found = measure_leniency(run(people), run(squeezed), QUICK)
    assert sum(band.n for band in found.bands) == found.n == 101
    assert found.slope < -0.5
    assert found.bands[0].difference > 0 > found.bands[-1].difference


def test_maxima_may_differ_and_unscored_notes_are_left_out() -> None:
    people = run([5, 10, np.nan], 10.0)
    found = measure_leniency(people, run([10, 20, 20], 20.0), QUICK)
    assert (found.n, found.difference, found.verdict) == (2, 0.0, "too few notes")


def test_the_same_seed_gives_the_same_interval() -> None:
    one, two = run(range(30)), run(np.arange(30) % 7 * 5)
    assert measure_leniency(one, two).to_dict() == measure_leniency(one, two).to_dict()


def test_runs_without_a_shared_note_are_refused() -> None:
    with pytest.raises(InputError, match="share no scored note"):
        measure_leniency(run([1.0]), run([1.0], prefix="m"))
