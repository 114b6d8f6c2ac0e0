"""Curves of the sample size."""

from __future__ import annotations

import pytest

from rubricate.errors import InputError
from rubricate.stats import Expected, Target, plan_assurance, plan_curve, plan_slice

ASTHMA = Expected(0.85, 0.80, 0.48)


def test_a_curve_runs_through_its_plan() -> None:
    for method in ("assurance", "slice"):
        plan = plan_assurance(ASTHMA) if method == "assurance" else plan_slice(ASTHMA)
        for vary, value in (("precision", 0.85), ("recall", 0.80), ("frequency", 0.48)):
            curve = plan_curve(ASTHMA, vary=vary, values=[value], method=method)  # type: ignore[arg-type]
            assert (curve.positives, curve.totals) == ((plan.positives,), (plan.total,))


def test_rarer_variables_need_more_notes() -> None:
    curve = plan_curve(ASTHMA, Target(half_width=0.1), vary="frequency")
    assert list(curve.totals) == sorted(curve.totals, reverse=True)
    assert min(curve.skipped) > 0.8
    assert len(curve.values) + len(curve.skipped) == 49


def test_impossible_values_are_skipped_not_fatal() -> None:
    curve = plan_curve(ASTHMA, vary="recall", values=[0.0, 0.2, 0.8, 1.0])
    assert curve.values == (0.8,)
    assert curve.skipped == (0.0, 0.2, 1.0)


def test_unknown_axis_is_refused() -> None:
    with pytest.raises(InputError, match="vary"):
        plan_curve(ASTHMA, vary="f1")  # type: ignore[arg-type]
