"""What a child's pulse, breathing and blood pressure mean at its age.

The table ``child_values.tsv`` has the ranges of *Pediatric Advanced Life Support* (American Heart
Association, 2015): awake rates are normal, slower than asleep is low; low pressures are those of
hypotension, and high ones are left open, since they hang on height and sex.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from rubricate.knowledge.rows import table_rows
from rubricate.knowledge.tables import pattern
from rubricate.reading.quantities import Quantity

#: From this age on a patient's values are those of adults.
ADULT = 16
_SMALL = pattern("children.small")


class ValueScale(NamedTuple):
    """What values mean."""

    measured: str
    low: float
    normal_from: float
    normal_to: float
    high: float


class _AgeScale(NamedTuple):
    """What values mean from one age to another, in years."""

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
    """Return what a child's values mean at an age; None where no range is known.

    >>> child_scale("pulse", 2.5)
    ValueScale(measured='pulse', low=80.0, normal_from=98.0, normal_to=140.0, high=141.0)
    >>> child_scale("pulse", 30), child_scale("haemoglobin", 2)
    (None, None)
    """
    for first, end, scale in _age_scales():
        if scale.measured == measured and first <= years < end:
            return scale
    return None


def first_age(text: str, quantities: Sequence[Quantity]) -> tuple[float, int] | None:
    """Return the first age that a text states, in years, and where it stands.

    >>> from rubricate.reading.quantities import find_quantities
    >>> text = "18 month old girl, sister is 4 years old"
    >>> first_age(text, find_quantities(text)), first_age("Well child", [])
    ((1.5, 0), None)
    >>> first_age("3 yr 6 mo girl", []), first_age("5/12 boy", [])
    ((3.5, 0), (0.4166666666666667, 0))
    """
    read = (one for one in quantities if one.kind == "age" and one.low == one.high)
    ages = [(one.low, one.span.start) for one in read]
    if match := _SMALL.search(text):
        days, months, weeks = (int(match[one] or 0) for one in ("day", "months", "weeks"))
        years = int(match["years"] or 0) + (int(match["more"] or 0) + months) / 12
        ages.append((years + weeks / 52 + days / 365, match.start()))
    return min(ages, key=lambda one: one[1], default=None)
