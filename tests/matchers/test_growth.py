"""Twice the text, twice the work: no matcher's work grows faster than the text."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property
from types import FrameType
from typing import Any

import pytest

from rubricate import Corpus
from rubricate.matchers import fit_matcher
from rubricate.matchers.wording.reading import read_columns
from rubricate.reading.negation import find_negations
from rubricate.reading.note import NoteReading
from rubricate.reading.quantities import find_quantities

#: Short words are marked for some, which long texts repeat.
FEATURES = {
    "f": "No fever",
    "c": "Cough for 3 weeks",
    "a": "Father with asthma",
    "n": "No",
    "p": "No chest pain OR cough",
}
UNITS = ("no ", "[", "a. ", "FH: ", "-a ", "3/52 ", "father and ", "no fever, cough ")


def count_steps(work: Callable[[], object]) -> int:
    """Return the number of Python lines that a piece of work runs."""
    steps = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal steps
        steps += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return steps


def grows_no_faster(work: Callable[[str], object], unit: str, n: int) -> bool:
    """Tell whether twice the text takes little more than twice the steps."""
    work(unit * 3)
    once = count_steps(lambda: work(unit * n))
    twice = count_steps(lambda: work(unit * (2 * n)))
    return twice < 2.3 * once + 2000


#: The lookups of a reading.
LOOKUPS = [name for name, own in vars(NoteReading).items() if isinstance(own, cached_property)]


def look_up(text: str) -> object:
    """Make every lookup of a note."""
    note = NoteReading(text)
    return [getattr(note, name) for name in LOOKUPS]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "work",
    [find_negations, find_quantities, read_columns, look_up],
    ids=["negations", "quantities", "columns", "lookups"],
)
def test_reading_a_text_is_linear(work: Callable[[str], object], unit: str) -> None:
    assert grows_no_faster(work, unit, 400)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", ["exact", "fuzzy", "synonyms", "lexicon"])
def test_matching_a_text_is_linear(name: str, unit: str, build: Callable[..., Corpus]) -> None:
    trained = "no fever, no cough. no chest pain. father well"
    marks = {"f": [[(0, 8)]], "n": [[(0, 2)]], "p": [[(0, 2), (10, 12), (13, 18)]]}
    matcher = fit_matcher(name, build([(str(i), trained, marks) for i in range(5)], FEATURES))
    assert grows_no_faster(
        lambda text: matcher.predict(build([("1", text, {})], FEATURES)), unit, 300
    )
