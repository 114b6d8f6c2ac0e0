"""One bootstrap for all levels."""

from __future__ import annotations

import numpy as np
import pytest

from rubricate.errors import InputError
from rubricate.stats import (
    Layout,
    Resampling,
    bootstrap_interval,
    bootstrap_levels,
    precision_recall_f1,
    ratio,
)

RNG = np.random.default_rng(5)
# Two cases: 30 notes of 3 features, 20 notes of 2 features.
ROWS = [("x", n, f"x{f}") for n in range(30) for f in range(3)]
ROWS += [("y", 100 + n, f"y{f}") for n in range(20) for f in range(2)]
STRATUM, UNIT, GROUP = (np.array(column) for column in zip(*ROWS, strict=True))
COUNTS = RNG.poisson([6, 1, 2], size=(len(ROWS), 3))
LAYOUT = Layout(UNIT, GROUP, STRATUM)
METHODS = ("percentile", "bca")


def _settings(method: str) -> Resampling:
    return Resampling(method=method, resamples=4000)  # type: ignore[arg-type]


def _by_note(mask: np.ndarray) -> np.ndarray:
    return np.stack([COUNTS[mask & (unit == UNIT)].sum(axis=0) for unit in np.unique(UNIT[mask])])


@pytest.mark.parametrize("method", METHODS)
def test_each_level_equals_its_own_bootstrap(method: str) -> None:
    levels = bootstrap_levels(COUNTS, LAYOUT, precision_recall_f1, _settings(method))
    everything = np.ones(len(COUNTS), dtype=bool)
    cases = np.repeat([0, 1], [30, 20])
    alone = bootstrap_interval(
        _by_note(everything), precision_recall_f1, _settings(method), strata=cases
    )
    assert np.allclose(levels.overall.estimate, alone.estimate)
    assert np.allclose(levels.overall.low, alone.low, atol=0.006)
    for labels, result, column in (
        (levels.stratum_labels, levels.strata, STRATUM),
        (levels.group_labels, levels.groups, GROUP),
    ):
        for i, label in enumerate(labels):
            one = bootstrap_interval(
                _by_note(column == label), precision_recall_f1, _settings(method)
            )
            assert np.allclose(result.estimate[i], one.estimate)
            assert np.allclose(result.low[i], one.low, atol=0.012)
            assert np.allclose(result.high[i], one.high, atol=0.012)


def test_the_order_of_rows_does_not_matter() -> None:
    order = RNG.permutation(len(COUNTS))
    one = bootstrap_levels(COUNTS, LAYOUT, precision_recall_f1)
    shuffled = Layout(UNIT[order], GROUP[order], STRATUM[order])
    two = bootstrap_levels(COUNTS[order], shuffled, precision_recall_f1)
    assert np.array_equal(one.group_labels, two.group_labels)
    assert np.allclose(one.groups.low, two.groups.low)
    assert np.allclose(one.overall.high, two.overall.high)


def test_correlated_features_widen_the_overall_interval() -> None:
    note = RNG.integers(0, 2, size=50)
    unit, group = np.repeat(np.arange(50), 8), np.tile(np.arange(8), 50)
    found = note[unit]
    counts = np.stack([found, np.zeros_like(found), 1 - found], axis=1)
    layout = Layout(unit, group, np.zeros(400))
    overall = bootstrap_levels(counts, layout, precision_recall_f1).overall
    as_if_free = bootstrap_interval(counts, precision_recall_f1)
    assert overall.at(1).width > 2 * as_if_free.at(1).width


def test_levels_add_up() -> None:
    options = Resampling(keep_replicates=True, resamples=50)
    levels = bootstrap_levels(COUNTS, LAYOUT, lambda sums: sums, options)
    strata, groups = levels.strata.replicates, levels.groups.replicates
    assert strata is not None and groups is not None
    assert np.allclose(levels.strata.estimate.sum(axis=0), levels.overall.estimate)
    assert np.allclose(groups[:, :3].sum(axis=1), strata[:, 0])


def test_a_value_has_the_interval_that_it_has_alone() -> None:
    options = Resampling(resamples=50)
    levels = bootstrap_levels(COUNTS, LAYOUT, precision_recall_f1, options)
    unit, group, stratum = (np.asarray(one) for one in (LAYOUT.unit, LAYOUT.group, LAYOUT.stratum))
    for labels, found, of in (
        (levels.group_labels, levels.groups, group),
        (levels.stratum_labels, levels.strata, stratum),
    ):
        for i, label in enumerate(labels):
            own = of == label
            alone = bootstrap_levels(
                COUNTS[own],
                Layout(unit[own], group[own], stratum[own]),
                precision_recall_f1,
                options,
            )
            for name in ("low", "high"):
                here, there = getattr(found, name)[i], getattr(alone.overall, name)
                assert here == pytest.approx(there, nan_ok=True)


def test_several_rows_of_one_note_and_feature_are_added() -> None:
    layout = Layout([0, 0, 1, 1], ["a"] * 4, ["s"] * 4)
    counts = [[1, 0, 0], [2, 1, 0], [3, 0, 1], [1, 1, 1]]
    split = bootstrap_levels(counts, layout, precision_recall_f1)
    joined = bootstrap_levels(
        [[3, 1, 0], [4, 1, 2]], Layout([0, 1], ["a", "a"], ["s", "s"]), precision_recall_f1
    )
    assert np.allclose(split.groups.low, joined.groups.low)


def test_independent_groups() -> None:
    own = Layout(np.arange(len(COUNTS)), GROUP, GROUP)
    result = bootstrap_levels(COUNTS, own, precision_recall_f1, _settings("percentile")).groups
    for i, label in enumerate(np.unique(GROUP)):
        one = bootstrap_interval(
            COUNTS[label == GROUP], precision_recall_f1, _settings("percentile")
        )
        assert np.allclose(result.estimate[i], one.estimate)
        assert np.allclose(result.low[i], one.low, atol=0.012)


def test_an_empty_group_is_undefined_not_fatal() -> None:
    counts = np.array([[1, 0, 0], [2, 1, 0], [0, 0, 0], [0, 0, 0]])
    groups = ["a", "a", "b", "b"]
    own = Layout(np.arange(4), groups, groups)
    result = bootstrap_levels(counts, own, precision_recall_f1).groups
    assert np.isnan(result.estimate[1]).all() and np.isnan(result.low[1]).all()
    assert result.undefined[1].tolist() == [1, 1, 1]


def test_a_layout_that_does_not_nest_is_refused() -> None:
    counts = np.ones((2, 3))
    with pytest.raises(InputError, match="group"):
        bootstrap_levels(counts, Layout([0, 1], ["a", "a"], ["s", "t"]), precision_recall_f1)
    with pytest.raises(InputError, match="labels"):
        bootstrap_levels(counts, Layout([0], ["a", "b"], ["s", "s"]), precision_recall_f1)


def test_strata_that_share_a_unit_are_drawn_as_one() -> None:
    # unit 0 lies in both strata, so all units are drawn together
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 9, size=(8, 3))
    unit, stratum = [0, 1, 2, 3, 0, 4, 5, 6], ["s"] * 4 + ["t"] * 4
    found = bootstrap_levels(
        counts, Layout(unit, stratum, stratum), precision_recall_f1, Resampling(500)
    )
    assert found.stratum_labels.tolist() == ["s", "t"]
    assert found.strata.estimate[0].tolist() == precision_recall_f1(counts[:4].sum(0)).tolist()
    assert found.strata.estimate[1].tolist() == precision_recall_f1(counts[4:].sum(0)).tolist()
    assert found.overall.estimate.tolist() == precision_recall_f1(counts.sum(axis=0)).tolist()
    assert (found.overall.low < found.overall.estimate).all()


def test_units_alone_in_their_stratum_still_vary_together() -> None:
    rng = np.random.default_rng(4)
    counts = rng.integers(1, 20, size=(40, 3))
    alone = Layout(unit=np.arange(40), group=np.arange(40), stratum=np.arange(40))
    together = Layout(unit=np.arange(40), group=np.zeros(40), stratum=np.zeros(40))
    one, two = (
        bootstrap_levels(counts, layout, precision_recall_f1, Resampling(resamples=4000)).overall
        for layout in (alone, together)
    )
    assert (one.high > one.low).all()
    assert one.low == pytest.approx(two.low, abs=0.01)
    assert one.high == pytest.approx(two.high, abs=0.01)
    flat = bootstrap_interval(
        counts, precision_recall_f1, Resampling(resamples=4000), strata=np.arange(40)
    )
    assert flat.low == pytest.approx(two.low, abs=0.01)


def test_means_over_groups_are_those_of_the_replicates() -> None:
    counts, layout = [[1, 0], [0, 1], [0, 0], [3, 1]], Layout([0, 1, 0, 1], [0, 0, 1, 1], [0] * 4)
    found = bootstrap_levels(
        counts, layout, lambda sums: ratio(sums[..., 0], sums.sum(axis=-1)),
        Resampling(keep_replicates=True, resamples=200),
    )  # fmt: skip
    for part, means in ((found.groups, found.group_means), (found.strata, found.stratum_means)):
        assert part.replicates is not None
        assert means == pytest.approx(np.nanmean(part.replicates, axis=1), nan_ok=True)
    assert np.isnan(found.groups.replicates).any()  # type: ignore[arg-type]  # left out of means
