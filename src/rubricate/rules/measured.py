"""Measured values and what they mean: HR 124 is a tachycardia, SpO2 98% speaks against hypoxia.

The table ``measured_values.tsv`` (written by hand, adults) has one scale per row: below ``low`` a
value is low, from ``normal from`` to ``normal to`` it is normal, from ``high`` on it is high; what
lies between is left open. Further rows for what is measured already are further scales. Where a
note states a child's age, the scales of `rubricate.reading.scales` take their place.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from rubricate.knowledge.tables import words
from rubricate.reading.measurements import Measurement
from rubricate.reading.note import NoteReading
from rubricate.reading.scales import measure_table
from rubricate.reading.tokens import find_tokens
from rubricate.requirement.requirement import Requirement
from rubricate.requirement.values import FILLING, LOWERED, ORDINARY, RAISED, AskedValues

_COURSE = words("measured.course")


class MeasuredVerdict(NamedTuple):
    """The places of values that state a feature, and of those that contradict it."""

    states: tuple[tuple[int, int], ...] = ()
    contradicts: tuple[tuple[int, int], ...] = ()


def judge_measured(asked: Requirement, reading: NoteReading) -> MeasuredVerdict:
    """Return the places of values that state one of a feature's wordings, or contradict them all.

    >>> from rubricate.reading.note import read_note
    >>> from rubricate.requirement.requirement import read_requirement
    >>> judge_measured(read_requirement("Tachycardia"), read_note("BP 118/76, HR 124"))
    MeasuredVerdict(states=((11, 17),), contradicts=())
    >>> judge_measured(read_requirement("Hypoxia"), read_note("SpO2 98% on room air"))
    MeasuredVerdict(states=(), contradicts=((0, 8),))
    """
    values = asked.values(reading.child_years)
    if not any(values):
        return MeasuredVerdict()
    said = [_judge(one, reading.measurements) for one in values]
    states = dict.fromkeys(span for one in said for span in one.states)
    against = said[0].contradicts if all(one.contradicts for one in said) else ()
    return MeasuredVerdict(tuple(states), () if states else against)


def _judge(asked: Sequence[AskedValues], measured: Sequence[Measurement]) -> MeasuredVerdict:
    """Return the places of values that state what is asked for, and of those that contradict it.

    Where values say different things, or lie between, nothing is said.
    """
    states, contradicts = [], []
    for one in measured:
        for wanted in asked:
            if one.measured != wanted.measured:
                continue
            if wanted.stated[0] <= one.value <= wanted.stated[1]:
                states.append(one.span)
            elif not wanted.open[0] <= one.value <= wanted.open[1]:
                contradicts.append(one.span)
    if states and contradicts:
        return MeasuredVerdict()
    return MeasuredVerdict(tuple(states), tuple(contradicts))


def only_values(reading: NoteReading, spans: Sequence[tuple[int, int]]) -> bool:
    """Tell whether words are of measured values and name no finding.

    >>> from rubricate.reading.note import read_note
    >>> note = read_note("Febrile, T 38.2 and HR 110")
    >>> only_values(note, [(9, 15)]), only_values(note, [(0, 15)]), only_values(note, [(16, 19)])
    (True, False, False)
    """
    text, (starts, reach) = reading.text, reading.once(_measured_places)
    if not any(reach[bisect_left(starts, end)] > start for start, end in spans):
        return False
    forms = {token.form for start, end in spans for token in find_tokens(text[start:end])}
    return forms.isdisjoint(_findings())


def _measured_places(reading: NoteReading) -> tuple[list[int], list[int]]:
    """Return the starts of measured values, and the furthest end of those before each of them."""
    spans = sorted(one.span for one in reading.measurements)
    return [start for start, _ in spans], [0, *accumulate((end for _, end in spans), max)]


@cache
def _findings() -> frozenset[str]:
    """Return the words that name a finding rather than a value."""
    named = measure_table().finding - FILLING
    return named | RAISED | LOWERED | ORDINARY | _COURSE
