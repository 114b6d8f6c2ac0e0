"""Measured values in the units of other countries and laboratories."""

from __future__ import annotations

from rubricate.knowledge.tables import number, parts, words
from rubricate.reading.numbers import in_celsius

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
