"""Ages: "58 yo", "58M", "aged 58", "just turned sixteen", "in his 50s", "9-month-old"."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rubricate.knowledge.tables import numbers, phrases, words
from rubricate.reading.numbers import (
    DAYS_A_YEAR,
    Amount,
    QuantityReading,
    days_in,
    form_at,
    ordinal,
    read_amount,
    skip_hyphen,
    time_unit,
)
from rubricate.reading.tokens import Token

_OLD = words("ages.old")
_AGED = words("ages.aged")
_SMALL_UNITS = words("ages.no_people")
_OTHERS = phrases("ages.of_others")
_AFTER_AGE = words("ages.after_age")
_PEOPLE = words("ages.people")
_WHOSE = words("ages.whose")
_AGE_CUES = words("ages.age_cues")
_BEFORE_AGE = words("ages.before_age")
_YOUNGER = words("ages.younger")
_OLDER = words("ages.older")
_UP_TO_AGE = _BEFORE_AGE | _YOUNGER | _OLDER | words("ages.up_to_age")
_BEFORE_DURATION = words("ages.before_duration")
_AFTER_DURATION = words("ages.after_duration")
_DECADES = numbers("ages.decades")
_DECADE_CUES = words("ages.decade_cues")
_OLDEST = 115
#: A number in the first words of a note is more likely an age than a duration.
_OPENING = 12

AGE_STARTS = _AGE_CUES | frozenset(_DECADES) | {"at"}


def read_age(text: str, tokens: Sequence[Token], amount: Amount) -> QuantityReading | None:
    """Read an age that begins with a number.

    >>> from rubricate.reading.tokens import find_tokens
    >>> text = "58-year-old"
    >>> tokens = find_tokens(text)
    >>> read_age(text, tokens, read_amount(tokens, 0))
    QuantityReading(kind='age', low=58.0, high=58.0, unit='year', first=0, end=5)
    """
    j = skip_hyphen(tokens, amount.end)
    form = form_at(tokens, j)
    if amount.low > _OLDEST:
        return None
    if form == "s" and _is_decade(tokens, amount):
        return _age(amount, 1.0, amount.first, j + 1)._replace(high=amount.low + 9)
    if _gender_follows(text, tokens, j, amount):
        return _age(amount, 1.0, amount.first, amount.end)
    unit = time_unit(form) if form else None
    if unit is None:
        return _bare_age(tokens, amount)
    scale = days_in(unit) / DAYS_A_YEAR
    if form in _AGED:
        end = j + 2 if form_at(tokens, j + 1) in ("old", "o") else j + 1
        return _age(amount, scale, amount.first, end)
    after = skip_hyphen(tokens, j + 1)
    if form_at(tokens, after) in _OLD:
        return _age(amount, scale, amount.first, after + 1)
    if form_at(tokens, after) == "of" and form_at(tokens, after + 1) == "age":
        return _age(amount, scale, amount.first, after + 2)
    if form_at(tokens, after) == "age":
        return _age(amount, scale, amount.first, after + 1)
    if unit == "year" and _is_age_by_place(text, tokens, amount, after):
        return _age(amount, scale, amount.first, j + 1)
    return None


def _age(amount: Amount, scale: float, first: int, end: int) -> QuantityReading:
    return QuantityReading("age", amount.low * scale, amount.high * scale, "year", first, end)


def _is_decade(tokens: Sequence[Token], amount: Amount) -> bool:
    touching = tokens[amount.end].start == tokens[amount.end - 1].end
    round_number = amount.low % 10 == 0 and 10 <= amount.low <= 90
    return touching and round_number and form_at(tokens, amount.first - 1) in _DECADE_CUES


def _gender_follows(text: str, tokens: Sequence[Token], j: int, amount: Amount) -> bool:
    """Tell whether the patient's gender follows the number at once ("58M", "58 male")."""
    form = form_at(tokens, j)
    if form not in _PEOPLE or amount.low < 2 or amount.low != int(amount.low):
        return False
    if len(form) > 2:
        return not form_at(tokens, j + 1).startswith(_OTHERS)
    if form == "f" and (amount.low >= 100 or form_at(tokens, amount.first - 1) in ("temp", "t")):
        return False
    if amount.first == 0 and amount.low >= 10 and form in ("m", "f"):
        return True
    # Small letters are units (5 m, 3 w, 2 g); capitals and symbols are people.
    return not text[tokens[j].start].islower() and form not in _SMALL_UNITS


def _bare_age(tokens: Sequence[Token], amount: Amount) -> QuantityReading | None:
    """Read "..., 58, ..." or "... is 58." near the start of a note."""
    before, ended = form_at(tokens, amount.first - 1), _ends_phrase(tokens, amount.end)
    enclosed = before == "," and form_at(tokens, amount.end) == ","
    enclosed |= before == "," and ended and form_at(tokens, amount.first - 2) in _PEOPLE
    enclosed |= before == "is" and ended and amount.low >= 10
    plain = amount.low == amount.high == int(amount.low) and amount.low > 1
    if enclosed and plain and amount.first < _OPENING:
        return _age(amount, 1.0, amount.first, amount.end)
    return None


def _is_age_by_place(text: str, tokens: Sequence[Token], amount: Amount, after: int) -> bool:
    """Tell whether plain "58 years" is an age by what stands around it."""
    before = form_at(tokens, amount.first - 1)
    following = form_at(tokens, after)
    if following == "," and form_at(tokens, after + 1) in _PEOPLE:
        after += 1
        following = form_at(tokens, after)
    if following in _PEOPLE and (len(following) > 2 or not text[tokens[after].start].islower()):
        return True
    if before == "of" and form_at(tokens, amount.first - 2) in _WHOSE:
        return True
    if before in _BEFORE_DURATION or following in _AFTER_DURATION:
        return False
    plain = amount.low == amount.high and amount.low >= 2
    return plain and amount.first < _OPENING and (amount.low >= 10 or len(tokens) < 4)


def read_age_cue(tokens: Sequence[Token], i: int) -> QuantityReading | None:
    """Read an age that begins with a word: "aged 58", "turned sixteen", "MI at 52", "fifties".

    >>> from rubricate.reading.tokens import find_tokens
    >>> read_age_cue(find_tokens("turned sixteen"), 0)
    QuantityReading(kind='age', low=16.0, high=16.0, unit='year', first=0, end=2)
    """
    form = tokens[i].form
    if form in _DECADES:
        low = _DECADES[form]
        if form_at(tokens, i - 1) in _DECADE_CUES:
            return QuantityReading("age", low, low + 9, "year", i, i + 1)
        return None
    j = i + 1
    while form_at(tokens, j) in _UP_TO_AGE and form != "at":
        j += 1
    if j >= len(tokens):
        return None
    between = {form_at(tokens, k) for k in range(i + 1, j)}
    younger, older = bool(between & _YOUNGER), bool(between & _OLDER)
    if between & {"at", "than"} and not (younger or older):
        return None
    amount = read_amount(tokens, j)
    if amount is None or form_at(tokens, j) in ("a", "an") or not 0 < amount.low <= _OLDEST:
        return None
    end = amount.end
    scale = 1.0
    unit = time_unit(form_at(tokens, end)) if end < len(tokens) else None
    if unit is not None:
        if form == "at":
            return None
        scale = days_in(unit) / DAYS_A_YEAR
        end += 1
        if form_at(tokens, skip_hyphen(tokens, end)) == "old":
            end = skip_hyphen(tokens, end) + 1
    if form == "at":
        if amount.low < 10 or amount.low != amount.high or not _ends_phrase(tokens, end):
            return None
        return _age(amount, 1.0, j, end)
    age = _age(amount, scale, i, end)
    if younger:
        return age._replace(low=0.0)
    return age._replace(high=math.inf) if older else age


def _ends_phrase(tokens: Sequence[Token], end: int) -> bool:
    """Tell whether nothing after "at 52" says that it is a time, a dose or a measurement."""
    if end >= len(tokens):
        return True
    return tokens[end].kind == "newline" or tokens[end].form in (
        *",.;)/",
        *_AFTER_AGE,
    )


def read_birthday(tokens: Sequence[Token], i: int) -> QuantityReading | None:
    """Read "42nd birthday" or "twenty-second birthday".

    >>> from rubricate.reading.tokens import find_tokens
    >>> read_birthday(find_tokens("42nd birthday"), 0).low
    42
    """
    value = ordinal(tokens[i].form)
    j = i + 1
    if value is None:
        tens = read_amount(tokens, i)
        if tens is None or tens.low % 10 or tens.low < 20 or tens.end != i + 1:
            return None
        j = skip_hyphen(tokens, i + 1)
        ones = ordinal(form_at(tokens, j))
        if ones is None or ones > 9:
            return None
        value = int(tens.low) + ones
        j += 1
    if form_at(tokens, j) not in ("birthday", "bday"):
        return None
    return QuantityReading("age", value, value, "year", i, j + 1)
