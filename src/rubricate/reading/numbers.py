"""Numbers written in figures or words, and the units of time that follow them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from rubricate.knowledge.tables import number, numbers, parts, phrases, values, words
from rubricate.reading.tokens import Token

_TENS = numbers("numbers.tens")
_NO_UNITS = words("numbers.no_units")
_SMALL = numbers("numbers.small")
_CARDINALS = {**_SMALL, **_TENS, **numbers("numbers.further")}
_ORDINALS = {form: int(value) for form, value in values("numbers.ordinals").items()}
_VAGUE = {form: (number(low), number(high)) for form, (low, high) in parts("numbers.vague").items()}
_FRACTIONS = numbers("numbers.fractions")
_ARTICLES = words("numbers.articles")
_RANGE_WORDS = words("numbers.range_words")

#: Numbers with more digits before the point are no amounts: floats do not hold them exactly.
MOST_DIGITS = 15

DAYS_A_YEAR = 365.25
_DAYS = numbers("numbers.days")
_UNIT_BY_FORM = values("numbers.units")
_SPELT = phrases("numbers.spelt")


class Amount(NamedTuple):
    """A number or range read from tokens: from ``first`` to ``end`` (half-open token indices)."""

    low: float
    high: float
    first: int
    end: int


class QuantityReading(NamedTuple):
    """A quantity read from tokens ``first`` to ``end``; ``kind`` and ``unit`` as in Quantity."""

    kind: str
    low: float
    high: float
    unit: str
    first: int
    end: int


def form_at(tokens: Sequence[Token], i: int) -> str:
    """Return the form of token ``i``, empty before the first and after the last.

    >>> form_at([], 3)
    ''
    """
    return tokens[i].form if 0 <= i < len(tokens) else ""


def skip_hyphen(tokens: Sequence[Token], i: int) -> int:
    """Return ``i``, or the next index when a hyphen joins it to the token before.

    >>> from rubricate.reading.tokens import find_tokens
    >>> skip_hyphen(find_tokens("3-week"), 1), skip_hyphen(find_tokens("3 - week"), 1)
    (2, 1)
    """
    if form_at(tokens, i) == "-" and tokens[i].start == tokens[i - 1].end:
        return i + 1
    return i


def days_in(unit: str) -> float:
    """Return the days in one unit of time.

    >>> days_in("week"), days_in("month") * 12 == days_in("year")
    (7.0, True)
    """
    return _DAYS[unit]


@lru_cache(maxsize=4096)
def time_unit(form: str) -> str | None:
    """Return the unit of time a word form stands for; one misspelt letter is allowed.

    >>> time_unit("wks"), time_unit("yaers"), time_unit("beers")
    ('week', 'year', None)
    """
    if form in _UNIT_BY_FORM:
        return _UNIT_BY_FORM[form]
    if len(form) < 4 or not form.isalpha() or form in _NO_UNITS:
        return None
    for spelt in _SPELT:
        if form[0] == spelt[0] and _one_slip(form, spelt):
            return spelt.rstrip("s")
    return None


def _one_slip(form: str, spelt: str) -> bool:
    """Tell whether one letter was dropped, doubled, changed or swapped with its neighbour."""
    if abs(len(form) - len(spelt)) > 1:
        return False
    start = 0
    while start < min(len(form), len(spelt)) and form[start] == spelt[start]:
        start += 1
    rest, wanted = form[start:], spelt[start:]
    if len(rest) == len(wanted):
        swapped = wanted[1:2] + wanted[0:1] + wanted[2:]
        return rest[1:] == wanted[1:] or rest == swapped
    return rest[1:] == wanted or rest == wanted[1:]


def figure(form: str) -> float | None:
    """Return the value of one number token; None for fractions, dates and ordinals.

    A number of more than `MOST_DIGITS` digits has no value either.

    >>> figure("1,000"), figure("98.6"), figure("½"), figure("7/10"), figure("9" * 400)
    (1000.0, 98.6, 0.5, None, None)
    """
    if form in _FRACTIONS:
        return _FRACTIONS[form]
    cleaned = form.replace(",", "")
    if not cleaned[:1].isdecimal() or len(cleaned.partition(".")[0]) > MOST_DIGITS:
        return None
    try:
        return float(cleaned)
    except ValueError:
        return None


def in_celsius(degrees: float, scale: str = "") -> float | None:
    """Return a body's temperature in degrees Celsius; None where it can be none.

    ``scale`` is the word or letter that follows; without one the number tells.

    >>> in_celsius(98.6), in_celsius(38.5, "c"), in_celsius(72), in_celsius(38.5, "f")
    (37.0, 38.5, None, None)
    """
    fahrenheit = scale[:1] == "f" or (scale[:1] != "c" and degrees > 50)
    if fahrenheit:
        return round((degrees - 32) / 1.8, 2) if 90 <= degrees <= 110 else None
    return degrees if 32 <= degrees <= 43 else None


def ordinal(form: str) -> int | None:
    """Return the value of an ordinal.

    >>> ordinal("42nd"), ordinal("fifteenth"), ordinal("ten")
    (42, 15, None)
    """
    if form[:1].isdigit():
        digits = form.rstrip("stndrh")
        known = digits != form and digits.isdecimal() and len(digits) <= MOST_DIGITS
        return int(digits) if known else None
    return _ORDINALS.get(form)


#: Ordinals written as words.
ORDINALS = frozenset(_ORDINALS)
#: Forms at which an amount may begin, besides number tokens.
AMOUNT_STARTS = frozenset(_CARDINALS) | frozenset(_VAGUE) | _ARTICLES


def read_amount(tokens: Sequence[Token], i: int) -> Amount | None:
    """Read a number, a vague amount or a range that begins at token ``i``.

    >>> from rubricate.reading.tokens import find_tokens
    >>> [read_amount(find_tokens(text), 0)[:2] for text in ("10-20 min", "two to three", "a few")]
    [(10.0, 20.0), (2, 3), (2, 5)]
    >>> read_amount(find_tokens("two and a half years"), 0)[:2]
    (2.5, 2.5)
    """
    one = _read_one(tokens, i)
    if one is None:
        return None
    low, _, first, end = one
    if end + 1 < len(tokens) and tokens[end].form in _RANGE_WORDS:
        other = _read_one(tokens, end + 1, articles=False)
        if other is not None and other.high > low and other.low == other.high:
            return Amount(low, other.high, first, other.end)
    return one


def _read_one(tokens: Sequence[Token], i: int, *, articles: bool = True) -> Amount | None:
    token = tokens[i]
    form = token.form
    if token.kind == "number":
        value = figure(form)
        if value is None:
            return _mixed_fraction(tokens, i)
        end = i + 1
        half = skip_hyphen(tokens, end) if value == int(value) else end
        part = _FRACTIONS.get(form_at(tokens, half)) or (form_at(tokens, half) == "1/2") / 2
        if part:
            return Amount(value + part, value + part, i, half + 1)
        return _and_a_half(tokens, Amount(value, value, i, end))
    if form in _CARDINALS:
        return _and_a_half(tokens, _read_words(tokens, i))
    if form in _VAGUE:
        return _vague(tokens, i, i)
    if articles and form in _ARTICLES and i + 1 < len(tokens):
        after = tokens[i + 1].form
        if after in _VAGUE:
            return _vague(tokens, i, i + 1)
        if after == "hundred":
            return Amount(100, 100, i, i + 2)
        if after == "good" and i + 2 < len(tokens) and tokens[i + 2].form in _VAGUE:
            return _vague(tokens, i, i + 2)
        return Amount(1, 1, i, i + 1)
    return None


def _vague(tokens: Sequence[Token], first: int, i: int) -> Amount:
    low, high = _VAGUE[tokens[i].form]
    end = i + 1
    if end < len(tokens) and tokens[end].form in ("of", *_ARTICLES):
        end += 1
    return Amount(low, high, first, end)


def _mixed_fraction(tokens: Sequence[Token], i: int) -> Amount | None:
    if tokens[i].form in ("1/2", "1/4", "3/4", "1/3", "2/3"):
        top, bottom = tokens[i].form.split("/")
        value = int(top) / int(bottom)
        end = i + 1
        if end < len(tokens) and tokens[end].form in _ARTICLES:
            end += 1
        return Amount(value, value, i, end)
    return None


def _and_a_half(tokens: Sequence[Token], amount: Amount) -> Amount:
    end = amount.end
    forms = [token.form for token in tokens[end : end + 3]]
    if forms == ["and", "a", "half"]:
        return Amount(amount.low + 0.5, amount.high + 0.5, amount.first, end + 3)
    return amount


def _read_words(tokens: Sequence[Token], i: int) -> Amount:
    """Read a cardinal of one or more words ("twenty-two", "one hundred and ten")."""
    total = _CARDINALS[tokens[i].form]
    end = i + 1
    while end < len(tokens):
        k = end + 1 if tokens[end].form in ("-", "and") and end + 1 < len(tokens) else end
        form = tokens[k].form
        value = _CARDINALS.get(form)
        if value is None:
            break
        if form == "hundred" and total < 10:
            total *= 100
        elif _adds(total, value, joined_by_and=tokens[k - 1].form == "and"):
            total += value
        else:
            break
        end = k + 1
    return Amount(total, total, i, end)


def _adds(total: float, value: float, *, joined_by_and: bool) -> bool:
    """Tell whether the next cardinal continues the number ("twenty" + "two", "hundred" + "ten")."""
    if total >= 100 and total % 100 == 0:
        return value < 100
    return 20 <= total < 100 and total % 10 == 0 and 0 < value < 10 and not joined_by_and
