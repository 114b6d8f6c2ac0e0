"""Measured values in the units of other countries and laboratories."""

from __future__ import annotations

from rubricate.text.numbers import in_celsius
from rubricate.text.words import word_set

#: Values in another unit: the range that tells it, and the factor to the table's unit.
_OTHER_UNITS = {
    "haemoglobin": (30, 250, 0.1),
    "white cells": (300, 120_000, 0.001),
    "platelets": (5_000, 2_000_000, 0.001),
    "creatinine": (30, 1_800, 1 / 88.4),
    "glucose": (1, 19.9, 18.0),
    "calcium": (1, 3.99, 4.0),
    "albumin": (10, 60, 0.1),
    "cholesterol": (1.5, 15, 38.67),
    "ldl": (0.3, 9.9, 38.67),
    "hdl": (0.3, 5, 38.67),
    "triglycerides": (0.2, 39.9, 88.57),
    "bilirubin": (60, 900, 1 / 17.1),
    "total protein": (30, 150, 0.1),
    "neutrophils": (100, 90_000, 0.001),
    "lymphocytes": (100, 500_000, 0.001),
    "eosinophils": (0, 0.6, 1_000),
    "fibrinogen": (0.2, 15, 100),
    "free t4": (8, 100, 1 / 12.87),
    "magnesium": (0.2, 0.6, 2.43),
    "haematocrit": (0.1, 0.75, 100),
    "phosphate": (0.1, 1.69, 3.1),
    "carbon dioxide": (1.5, 14.9, 7.5),
    "birth weight": (0.3, 6.5, 1_000),
    "airflow ratio": (20, 100, 0.01),
    "qt interval": (0.25, 0.8, 1_000),
}
#: Whose other unit is mmol/L.
_IN_MMOL = word_set("glucose magnesium phosphate calcium cholesterol ldl hdl triglycerides")
#: Whose table is in mmol/L already, or tells it by its range.
_MOLAR = word_set("sodium potassium lactate creatinine chloride bicarbonate ketones urea") | {
    "anion gap",
    "carbon dioxide",
}
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
    if unit in ("mmol", "umol", "µmol", "nmol", "kpa") and measured not in _MOLAR:
        return None
    low, high = limits
    if low <= value <= high:
        return value
    least, most, scale = _OTHER_UNITS.get(measured, (1.0, 0.0, 1.0))
    return value * scale if least <= value <= most else None
