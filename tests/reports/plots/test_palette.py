"""Hatching stays inside its box."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from rubricate.reports.plots.ink import HATCHES, hatching

SIDE = st.floats(0.5, 200)


@given(st.sampled_from(HATCHES), st.floats(-50, 50), st.floats(-50, 50), SIDE, SIDE)
def test_lines_stay_inside(
    hatch: tuple[float, float] | None, x: float, y: float, width: float, height: float
) -> None:
    drawn = hatching(hatch, (x, y, width, height))
    for u, v in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", drawn):
        assert x - 0.01 <= float(u) <= x + width + 0.01
        assert y - 0.01 <= float(v) <= y + height + 0.01
