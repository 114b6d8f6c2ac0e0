"""Meanings of measured values: plausible ones, low, normal and high, of adults and of children.

The table ``child_values.tsv`` has the ranges of *Pediatric Advanced Life Support* (American Heart
Association, 2015): awake rates are normal, slower than asleep is low; low pressures are those of
hypotension, and high ones are left open, since they hang on height and sex.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

from rubricate.knowledge.rows import split_cell, table_rows
from rubricate.knowledge.tables import number, parts, words
from rubricate.reading.numbers import in_celsius
from rubricate.reading.tokens import CueTable

#: From this age on a patient's values are those of adults.
ADULT = 16


class ValueScale(NamedTuple):
    """The meaning of values."""

    measured: str
    low: float
    normal_from: float
    normal_to: float
    high: float


class _AgeScale(NamedTuple):
    """The meaning of values from one age to another, in years."""

    first: float
    end: float
    scale: ValueScale


@cache
def _age_scales() -> tuple[_AgeScale, ...]:
    rows = []
    for measured, *cells in table_rows("child_values.tsv"):
        first, end, low, normal_from, normal_to, high = (float(x or math.inf) for x in cells)
        scale = ValueScale(measured, low, normal_from, normal_to, high)
        rows.append(_AgeScale(first, end, scale))
    return tuple(rows)


def child_scale(measured: str, years: float) -> ValueScale | None:
    """Return the scale of a child's values at an age; None where no range is known.

    >>> child_scale("pulse", 2.5)
    ValueScale(measured='pulse', low=80.0, normal_from=98.0, normal_to=140.0, high=141.0)
    >>> child_scale("pulse", 30), child_scale("haemoglobin", 2)
    (None, None)
    """
    for first, end, scale in _age_scales():
        if scale.measured == measured and first <= years < end:
            return scale
    return None


class MeasureTable(NamedTuple):
    """The table: first scales, plausible values, names, and the findings that values mean."""

    scales: dict[str, ValueScale]
    limits: dict[str, tuple[float, float]]
    names: CueTable
    words: dict[str, list[tuple[ValueScale, str]]]
    phrases: CueTable
    finding: frozenset[str]


@cache
def measure_table() -> MeasureTable:
    """Return the table ``measured_values.tsv``."""
    scales: dict[str, ValueScale] = {}
    limits, names = {}, {}
    words: dict[str, list[tuple[ValueScale, str]]] = {}
    outside = (-math.inf, -math.inf, math.inf, math.inf)
    for row in table_rows("measured_values.tsv"):
        measured, called, least, most, *rest = (row + [""] * 10)[:11]
        edges = [float(x) if x else none for x, none in zip(rest[:4], outside, strict=True)]
        scale = ValueScale(measured, *edges)
        scales.setdefault(measured, scale)
        limits[measured] = float(least), float(most)
        names.update(dict.fromkeys(split_cell(called), measured))
        for state, cell in zip(("low", "normal", "high"), rest[4:7], strict=True):
            for phrase in split_cell(cell):
                words.setdefault(phrase, []).append((scale, state))
    named = {word for name in names for word in name.split()}
    said = {word for phrase in words for word in phrase.split() if not word.isdigit()}
    finding = frozenset(said - named)
    phrases = CueTable({phrase: phrase for phrase in words})
    return MeasureTable(scales, limits, CueTable(names), words, phrases, finding)


_OTHER_UNITS = {
    measured: (number(low), number(high), number(factor))
    for measured, (low, high, factor) in parts("units.other").items()
}
_IN_MMOL = words("units.in_mmol")
_SMALL_UNITS = words("units.small")
_MOLAR = words("units.molar") | {"anion gap", "carbon dioxide"}
#: Values of HbA1c that are in mmol/mol.
_IFCC = (20, 200)


def in_table_unit(
    measured: str, value: float, unit: str, limits: tuple[float, float]
) -> float | None:
    """Return a value in the unit of ``measured_values.tsv``; None where it cannot be one.

    ``unit`` is the word after the value, if any; ``limits`` are plausible values in the table's.

    >>> round(in_table_unit("glucose", 5.5, "mmol", (36, 1200)), 1)
    99.0
    >>> in_table_unit("platelets", 1_000, "kpa", (2, 2000)) is None
    True
    """
    if measured == "temperature":
        return in_celsius(value, unit)
    if unit == "mmol" and measured in _IN_MMOL:
        return value * _OTHER_UNITS[measured][2]
    if unit == "nmol" and measured == "vitamin d":
        return value / 2.496
    if measured == "a1c" and _IFCC[0] <= value <= _IFCC[1]:
        return 0.0915 * value + 2.15  # mmol/mol to percent (Hoelzel et al. 2004)
    if unit in _SMALL_UNITS and measured not in _MOLAR:
        return None
    low, high = limits
    if low <= value <= high:
        return value
    least, most, scale = _OTHER_UNITS.get(measured, (1.0, 0.0, 1.0))
    return value * scale if least <= value <= most else None
