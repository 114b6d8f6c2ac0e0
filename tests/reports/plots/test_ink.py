"""Hatching stays inside its box."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.reports.plots.ink import (
    LOOKS,
    element,
    hatching,
    number,
    shorten,
    text_width,
    wrap,
)

SIDE = st.floats(0.5, 200)


@given(
    st.sampled_from([one.hatch for one in LOOKS]),
    st.floats(-50, 50),
    st.floats(-50, 50),
    SIDE,
    SIDE,
)
def test_lines_stay_inside(
    hatch: tuple[float, float] | None, x: float, y: float, width: float, height: float
) -> None:
    drawn = hatching(hatch, (x, y, width, height))
    for u, v in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", drawn):
        assert x - 0.01 <= float(u) <= x + width + 0.01
        assert y - 0.01 <= float(v) <= y + height + 0.01


@given(st.text(max_size=60), st.floats(20, 300))
def test_shortened_texts_fit(text: str, width: float) -> None:
    shown = shorten(text, width)
    assert text_width(shown) <= width + 1e-9
    assert shown == text or shown.endswith("…")


@given(st.lists(st.sampled_from(["a", "word", "considerably"]), max_size=12), st.integers(1, 4))
def test_wrapped_lines_hold_the_words_in_order(words: list[str], most: int) -> None:
    lines = wrap(" ".join(words), 80, max_lines=most)
    assert len(lines) <= most
    shown = " ".join(lines)
    assert shown == " ".join(words) or "…" in shown


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_coordinates_must_be_finite(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        number(value)


def test_numbers_are_short() -> None:
    assert [number(v) for v in (-0.0, -0.001, 10.0, 100.0, 1.005)] == ["0", "0", "10", "100", "1"]


def test_attributes_are_escaped() -> None:
    assert element("g", x='"<') == '<g x="&quot;&lt;"/>'
