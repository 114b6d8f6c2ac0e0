"""Scores, doses, weights, lengths, temperatures, smoking and percentages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rubricate.text.numbers import Amount, Reading, figure, form_at, read_amount, skip_hyphen
from rubricate.text.words import Token, word_set

#: Unit form to kind, the unit values are given in, and how many of it one is.
_UNITS: dict[str, tuple[str, str, float]] = {
    **dict.fromkeys(("mg", "mgs", "milligram", "milligrams"), ("dose", "mg", 1.0)),
    **dict.fromkeys(("mcg", "ug", "microgram", "micrograms", "mcgs"), ("dose", "mg", 0.001)),
    **dict.fromkeys(("g", "gm", "gms", "gram", "grams"), ("dose", "mg", 1000.0)),
    **dict.fromkeys(("ml", "mls", "cc", "ccs"), ("dose", "ml", 1.0)),
    **dict.fromkeys(("iu", "units", "unit"), ("dose", "units", 1.0)),
    **dict.fromkeys(("lb", "lbs", "pound", "pounds", "lbd"), ("weight", "kg", 0.45359237)),
    **dict.fromkeys(("kg", "kgs", "kilo", "kilos", "kilogram", "kilograms"), ("weight", "kg", 1.0)),
    **dict.fromkeys(("stone", "stones"), ("weight", "kg", 6.35029318)),
    **dict.fromkeys(("cm", "cms", "centimeter", "centimetre"), ("length", "cm", 1.0)),
    **dict.fromkeys(("mm", "millimeter", "millimetre"), ("length", "cm", 0.1)),
    **dict.fromkeys(("inch", "inches"), ("length", "cm", 2.54)),
    **dict.fromkeys(("ft", "feet", "foot"), ("length", "cm", 30.48)),
    **dict.fromkeys(("mile", "miles"), ("length", "cm", 160934.4)),
    **dict.fromkeys(("km", "kms", "kilometer", "kilometers", "kilometre"), ("length", "cm", 1e5)),
    **dict.fromkeys(("meter", "meters", "metre", "metres"), ("length", "cm", 100.0)),
    "%": ("percent", "%", 1.0),
    "percent": ("percent", "%", 1.0),
    "ppd": ("tobacco", "packs/day", 1.0),
    "py": ("tobacco", "pack-years", 1.0),
    "pyh": ("tobacco", "pack-years", 1.0),
    "pky": ("tobacco", "pack-years", 1.0),
}
_PACKS = word_set("pack packs pk pks packet packets")
_HOT = word_set("temp temps temperature fever fevers tmax t")
_DEGREES = word_set("° º degrees degree deg")
_SCORE = re.compile(r"(\d+(?:\.\d+)?)/(10|5)")


def read_score(tokens: Sequence[Token], i: int) -> Reading | None:
    """Read a severity on a scale: "7/10", "6-7/10", "seven out of ten".

    Examples
    --------
    >>> from rubricate.text.words import find_tokens
    >>> read_score(find_tokens("6-7/10"), 0)
    Reading(kind='score', low=6.0, high=7.0, unit='of 10', first=0, end=3)
    """
    low: float | None = None
    j = i
    if form_at(tokens, i + 1) in ("-", "to") and form_at(tokens, i + 2).endswith(("/10", "/5")):
        low, j = figure(tokens[i].form), i + 2
    match = _SCORE.fullmatch(form_at(tokens, j))
    if match is not None:
        high = float(match[1])
        low = high if low is None else low
        fits = low <= high <= float(match[2])
        return Reading("score", low, high, f"of {match[2]}", i, j + 1) if fits else None
    amount = read_amount(tokens, i)
    if amount is None or tokens[i].form in ("a", "an") or not 0 <= amount.high <= 10:
        return None
    k = amount.end
    while form_at(tokens, k) in ("out", "of", "on", "a", "over") and k < amount.end + 3:
        k += 1
    if k > amount.end and form_at(tokens, k) in ("10", "ten") and form_at(tokens, k - 1) != "a":
        return Reading("score", amount.low, amount.high, "of 10", i, k + 1)
    return None


def read_measurement(tokens: Sequence[Token], amount: Amount) -> Reading | None:
    """Read a dose, weight, length, temperature, smoking habit or percentage.

    Examples
    --------
    >>> from rubricate.text.words import find_tokens
    >>> def read(text):
    ...     tokens = find_tokens(text)
    ...     return read_measurement(tokens, read_amount(tokens, 0))[:4]
    >>> read("81 mg"), read("1/2 ppd"), read("30 pack-years")
    (('dose', 81.0, 81.0, 'mg'), ('tobacco', 0.5, 0.5, 'packs/day'),
     ('tobacco', 30.0, 30.0, 'pack-years'))
    """
    j = skip_hyphen(tokens, amount.end)
    form = form_at(tokens, j)
    if form in _PACKS:
        return _smoking(tokens, amount, j)
    if form in _UNITS:
        if form == "g" and form_at(tokens, amount.first) in ("a", "an"):
            return None
        kind, unit, scale = _UNITS[form]
        return Reading(kind, amount.low * scale, amount.high * scale, unit, amount.first, j + 1)
    return _temperature(tokens, amount, j)


def _smoking(tokens: Sequence[Token], amount: Amount, j: int) -> Reading | None:
    k = skip_hyphen(tokens, j + 1)
    while form_at(tokens, k) in ("of", "cigarettes", "cigs", "cigarette"):
        k += 1
    form, after = form_at(tokens, k), form_at(tokens, k + 1)
    low, high = amount.low, amount.high
    if form in ("year", "years", "yr", "yrs", "y"):
        return Reading("tobacco", low, high, "pack-years", amount.first, k + 1)
    if form in ("daily", "qd", "nightly"):
        return Reading("tobacco", low, high, "packs/day", amount.first, k + 1)
    if form in ("/", "per", "a", "each", "every") and after in ("day", "d", "week", "wk", "w"):
        days = 1 if after in ("day", "d") else 7
        return Reading("tobacco", low / days, high / days, "packs/day", amount.first, k + 2)
    return None


def _temperature(tokens: Sequence[Token], amount: Amount, j: int) -> Reading | None:
    end = j
    if form_at(tokens, end) in _DEGREES:
        end += 1
    scale = form_at(tokens, end)
    value = amount.low
    hot = any(form_at(tokens, amount.first - k) in _HOT for k in (1, 2, 3))
    if scale in ("f", "fahrenheit", "c", "celsius", "centigrade") and (end > j or value >= 30):
        end += 1
    elif end == j and not hot:
        return None
    fahrenheit = scale[:1] == "f" or (scale[:1] != "c" and value > 50)
    if fahrenheit and 90 <= value <= 110:
        low, high = ((degrees - 32) / 1.8 for degrees in (amount.low, amount.high))
        return Reading("temperature", low, high, "°C", amount.first, end)
    if not fahrenheit and 33 <= value <= 43:
        return Reading("temperature", amount.low, amount.high, "°C", amount.first, end)
    return None
