"""Numbers written in figures or words, and the units of time that follow them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from rubricate.text.words import Token


def _listed(words: str) -> list[str]:
    return words.split()


_ONES = _listed(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_TENS = {
    word: 20 + 10 * i
    for i, word in enumerate(_listed("twenty thirty forty fifty sixty seventy eighty ninety"))
}
_SMALL = {word: i for i, word in enumerate(_ONES)}
_CARDINALS: dict[str, float] = {**_SMALL, **_TENS, "fourty": 40, "hundred": 100}
_ORDINALS = {
    **{word + "th": i for i, word in enumerate(_ONES) if i > 3},
    **{word[:-1] + "ieth": value for word, value in _TENS.items()},
    "first": 1,
    "second": 2,
    "third": 3,
    "fifth": 5,
    "eighth": 8,
    "ninth": 9,
    "twelfth": 12,
}
#: Vague amounts as ranges: what a reader would accept as "a few".
_VAGUE: dict[str, tuple[float, float]] = {
    "couple": (2, 2),
    "pair": (2, 2),
    "few": (2, 5),
    "several": (3, 8),
    "dozen": (12, 12),
    "half": (0.5, 0.5),
    "quarter": (0.25, 0.25),
    "many": (3, 30),
    "single": (1, 1),
}
_FRACTIONS = {"¼": 0.25, "½": 0.5, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3, "⅛": 0.125}
_ARTICLES = frozenset(["a", "an"])
_RANGE_WORDS = frozenset(["-", "to", "or", "until", "till", "through"])

DAYS_A_YEAR = 365.25
#: Days in each unit of time.
_DAYS = {
    "second": 1 / 86400,
    "minute": 1 / 1440,
    "hour": 1 / 24,
    "day": 1.0,
    "week": 7.0,
    "fortnight": 14.0,
    "month": DAYS_A_YEAR / 12,
    "year": DAYS_A_YEAR,
    "decade": 10 * DAYS_A_YEAR,
}
_UNIT_FORMS = {
    "second": "second seconds sec secs s",
    "minute": "minute minutes min mins minuet minuets",
    "hour": "hour hours hr hrs h",
    "day": "day days d dy dys night nights",
    "week": "week weeks wk wks w wek",
    "fortnight": "fortnight fortnights",
    "month": "month months mo mos mon mnth mnths mth mths moths m/o",
    "year": "year years yr yrs y yo y/o",
    "decade": "decade decades",
}
_UNIT_BY_FORM = {form: unit for unit, forms in _UNIT_FORMS.items() for form in forms.split()}
#: Units written out, against which a misspelt unit is compared.
_SPELT = ("minute", "minutes", "hours", "week", "weeks", "month", "months", "year", "years")


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

    >>> from rubricate.text.words import find_tokens
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
    if len(form) < 4 or not form.isalpha() or form in ("tears", "ears", "mouth", "mouths"):
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

    >>> figure("1,000"), figure("98.6"), figure("½"), figure("7/10")
    (1000.0, 98.6, 0.5, None)
    """
    if form in _FRACTIONS:
        return _FRACTIONS[form]
    if form.isdecimal():
        return float(form)
    cleaned = form.replace(",", "")
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
        return int(digits) if digits != form and digits.isdecimal() else None
    return _ORDINALS.get(form)


#: Ordinals written as words.
ORDINALS = frozenset(_ORDINALS)
#: Forms at which an amount may begin, besides number tokens.
AMOUNT_STARTS = frozenset(_CARDINALS) | frozenset(_VAGUE) | _ARTICLES


def read_amount(tokens: Sequence[Token], i: int) -> Amount | None:
    """Read a number, a vague amount or a range that begins at token ``i``.

    >>> from rubricate.text.words import find_tokens
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
