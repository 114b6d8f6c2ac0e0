import numpy as np
import pytest

from rubricate.errors import InputError
from rubricate.stats import plan_sequential
from rubricate.stats.sequential import crossed, obrien_fleming

#: Jennison & Turnbull (2000), Group Sequential Methods, Table 2.3: C_B(K, alpha).
CONSTANTS = {(2, 0.95): 1.977, (3, 0.95): 2.004, (4, 0.95): 2.024, (5, 0.95): 2.040,
             (10, 0.95): 2.087, (5, 0.90): 1.751, (4, 0.99): 2.609}  # fmt: skip


@pytest.mark.parametrize(("looks", "confidence"), CONSTANTS)
def test_bounds_are_the_published_ones(looks: int, confidence: float) -> None:
    bounds = obrien_fleming(looks, confidence=confidence)
    assert bounds[-1] == pytest.approx(CONSTANTS[looks, confidence], abs=6e-4)
    assert bounds[0] == pytest.approx(bounds[-1] * looks**0.5)


def test_one_look_is_the_plain_test() -> None:
    assert obrien_fleming(1)[0] == pytest.approx(1.959964, abs=1e-4)


def test_bounds_hold_in_simulation() -> None:
    walks = np.random.default_rng(2).normal(size=(200_000, 4)).cumsum(axis=1)
    z = np.abs(walks) / np.sqrt(np.arange(1, 5))
    crossing = (z >= obrien_fleming(4)).any(axis=1).mean()
    assert crossing == pytest.approx(0.05, abs=0.002)
    drifted = walks + 1.5 * np.arange(1, 5)
    above = drifted / np.sqrt(np.arange(1, 5)) >= obrien_fleming(4)
    known = crossed(float(obrien_fleming(4)[-1]), 4, 3.0)[1]
    assert above.any(axis=1).mean() == pytest.approx(known, abs=0.004)


@pytest.mark.parametrize(("looks", "factor"), [(2, 1.007), (4, 1.022), (5, 1.026)])
def test_looks_cost_what_is_published(looks: int, factor: float) -> None:
    # Table 2.4, power .9; sizes are rounded up to whole and equal parts.
    plan = plan_sequential(0.5, 0.52, looks=looks, power=0.9)
    assert plan.looks[-1].units / plan.fixed_units == pytest.approx(factor, abs=2e-3)


def test_a_plan_keeps_its_promises_with_whole_counts() -> None:
    plan = plan_sequential(0.80, 0.88, looks=4)
    assert plan.power > 0.89
    assert plan.false_alarm < 0.06
    assert plan.mean_units < plan.fixed_units
    assert sum(look.stopped for look in plan.looks) == pytest.approx(1)
    worse = plan_sequential(0.88, 0.80, looks=3)
    assert worse.power > 0.89
    assert worse.looks[-1].most is not None


def test_what_cannot_be_planned_is_refused() -> None:
    with pytest.raises(InputError, match="differ"):
        plan_sequential(0.8, 0.8)
    with pytest.raises(InputError, match="looks"):
        obrien_fleming(0)


def test_a_plan_below_the_goal_is_the_mirror_of_one_above() -> None:
    above, below = plan_sequential(0.80, 0.88), plan_sequential(0.20, 0.12)
    assert above.fixed_units == below.fixed_units
    for up, down in zip(above.looks, below.looks, strict=True):
        assert (up.units, up.z) == (down.units, down.z)
        assert up.least == (None if down.most is None else up.units - down.most)
        assert up.most == (None if down.least is None else up.units - down.least)
        assert up.stopped == pytest.approx(down.stopped, abs=0.02)
    assert above.power == pytest.approx(below.power, abs=0.02)
    assert above.false_alarm == pytest.approx(below.false_alarm, abs=0.01)
    assert above.mean_units == pytest.approx(below.mean_units, rel=0.02)
    assert above.mean_units == pytest.approx(sum(one.units * one.stopped for one in above.looks))


def test_counts_to_stop_at_are_the_first_beyond_the_bound() -> None:
    plan = plan_sequential(0.80, 0.88, seed=0)
    assert plan == plan_sequential(0.80, 0.88, looks=4)
    for look in plan.looks:

        def z(count: int, n: int = look.units) -> float:
            return float((count / n - 0.8) / (0.8 * 0.2 / n) ** 0.5)

        if look.least is not None:
            assert z(look.least) >= look.z > z(look.least - 1)
        if look.most is not None:
            assert z(look.most) <= -look.z < z(look.most + 1)
    assert (obrien_fleming(1).size, len(plan_sequential(0.5, 0.7, looks=1).looks)) == (1, 1)
