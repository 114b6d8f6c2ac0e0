"""The page of a comparison, from plain values and from evaluations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rubricate.errors import InputError
from rubricate.measures.intervals import Interpreted
from rubricate.reports import (
    Compared,
    Comparing,
    Difference,
    LearningCurve,
    Reached,
    comparison_page,
)
from rubricate.reports.plots import UNDEFINED, Point
from rubricate.reports.readings import case_points

CASES = {str(i): f"{i} case <b>" for i in range(45)}


def reached(value: float) -> Reached:
    return Reached(Point(value), {case: Point(value, value - 0.05, value) for case in CASES})


def comparing(**more: Any) -> Comparing:
    matchers = (
        Compared("exact <b>", reached(0.53), reached(0.8), "fast <b>"),
        Compared("fuzzy", reached(0.62), reached(0.85)),
    )
    return Comparing("One <b> fold.", CASES, matchers, **more)


def test_everything_is_on_the_page(read_page: Callable[[str], Any]) -> None:
    points = (Point(0.1, 0.05, 0.2), Point(0.5, 0.4, 0.6))
    page = comparison_page(
        comparing(
            human=Compared("annotators", reached(0.84), reached(0.97)),
            differences=(
                Difference("fuzzy", "exact", "characters", Point(0.09, 0.05, 0.13), 0.0001),
                Difference("fuzzy", "exact", "presence", Point(0.05)),
            ),
            curves=(LearningCurve("exact", (0, 40), points),),
            facts={"seed": "17"},
        ),
        warnings=["<b> beware"],
    )
    text = read_page(page).text
    for words in ("fuzzy − exact", "< 0.001", "annotated notes a case", "seed17", "<b> beware"):
        assert words in text
    assert "fast <b>" in text
    assert "annotators: 0.840" in text  # the level of the human line in the learning curve


def test_many_cases_are_drawn_in_several_figures(read_page: Callable[[str], Any]) -> None:
    page = comparison_page(comparing())
    read_page(page)
    assert page.count('class="plot"') == 1 + 2 * 2  # all together; 45 cases twice, for two measures
    for name in CASES.values():
        assert page.count(f"<title>{name.replace('<', '&lt;').replace('>', '&gt;')}: fuzzy") == 2


def test_means_and_sds_are_over_cases(
    measured: dict[str, Interpreted], read_page: Callable[[str], Any]
) -> None:
    one = Compared.of("bob", measured["bob"])
    values = [p.value for p in case_points(measured["bob"], ("characters",)).values()]
    page = comparison_page(Comparing("p", {"a": "a", "b": "b"}, (one,)))
    expected = f"{np.mean(values):.3f} ({np.std(values, ddof=1):.3f})"
    assert expected in read_page(page).text


def test_undefined_cases_do_not_stop_it(read_page: Callable[[str], Any]) -> None:
    nothing = Reached(UNDEFINED, {})
    one = Compared("none", nothing, nothing)
    read_page(comparison_page(Comparing("p", {"a": "a"}, (one,))))


def test_nothing_to_compare() -> None:
    with pytest.raises(InputError):
        comparison_page(Comparing("p", {}, ()))
