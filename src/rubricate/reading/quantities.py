"""Numbers with their meaning: ages, durations, frequencies, doses, in one unit for each kind."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rubricate.knowledge.tables import number, parts, pattern, words
from rubricate.reading.ages import AGE_STARTS, read_age, read_age_cue, read_birthday
from rubricate.reading.numbers import (
    AMOUNT_STARTS,
    ORDINALS,
    Amount,
    QuantityReading,
    figure,
    form_at,
    in_celsius,
    read_amount,
    skip_hyphen,
)
from rubricate.reading.times import (
    DURATION_STARTS,
    FREQUENCY_STARTS,
    read_compact,
    read_duration,
    read_duration_cue,
    read_frequency,
    read_frequency_cue,
    read_slashed,
)
from rubricate.reading.tokens import Token, find_tokens
from rubricate.spans import Span

_UNITS = {
    form: (kind, unit, number(factor))
    for form, (kind, unit, factor) in parts("quantities.units").items()
}
_PACKS = words("quantities.packs")
_OF_CIGARETTES = words("quantities.of_cigarettes")
_YEARS = words("quantities.years")
_DAILY = words("quantities.daily")
_NO_VAGUE_UNITS = words("quantities.no_units")
_OUT_OF = words("quantities.out_of")
_PER = words("quantities.per")
_RATES = words("quantities.rates")
_SCALES = words("quantities.temperature_scales")
_LESS_THAN = words("quantities.less_than")
_MORE_THAN = words("quantities.more_than")
_HOT = words("quantities.hot")
_DEGREES = words("quantities.degrees")
_SCORE = pattern("quantities.score")


def read_score(tokens: Sequence[Token], i: int) -> QuantityReading | None:
    """Read a severity on a scale: "7/10", "6-7/10", "seven out of ten".

    >>> from rubricate.reading.tokens import find_tokens
    >>> read_score(find_tokens("6-7/10"), 0)
    QuantityReading(kind='score', low=6.0, high=7.0, unit='of 10', first=0, end=3)
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
        return QuantityReading("score", low, high, f"of {match[2]}", i, j + 1) if fits else None
    amount = read_amount(tokens, i)
    if amount is None or tokens[i].form in ("a", "an") or not 0 <= amount.high <= 10:
        return None
    k = amount.end
    while form_at(tokens, k) in _OUT_OF and k < amount.end + 3:
        k += 1
    if k > amount.end and form_at(tokens, k) in ("10", "ten") and form_at(tokens, k - 1) != "a":
        return QuantityReading("score", amount.low, amount.high, "of 10", i, k + 1)
    return None


def read_measurement(tokens: Sequence[Token], amount: Amount) -> QuantityReading | None:
    """Read a dose, weight, length, temperature, smoking habit or percentage.

    >>> from rubricate.reading.tokens import find_tokens
    >>> def read(text):
    ...     tokens = find_tokens(text)
    ...     return read_measurement(tokens, read_amount(tokens, 0))[:4]
    >>> read("81 mg"), read("1/2 ppd"), read("30 pack-years")
    (('dose', 81.0, 81.0, 'mg'), ('tobacco', 0.5, 0.5, 'packs/day'),
     ('tobacco', 30.0, 30.0, 'pack-years'))
    """
    j = skip_hyphen(tokens, amount.end)
    if form_at(tokens, j) == "+" and form_at(tokens, j + 1) in _PACKS:
        j += 1
    form = form_at(tokens, j)
    if form in _PACKS:
        return _smoking(tokens, amount, j)
    if form in _UNITS:
        if form == "g" and form_at(tokens, amount.first) in ("a", "an"):
            return None
        kind, unit, scale = _UNITS[form]
        return QuantityReading(
            kind, amount.low * scale, amount.high * scale, unit, amount.first, j + 1
        )
    return _temperature(tokens, amount, j)


def _smoking(tokens: Sequence[Token], amount: Amount, j: int) -> QuantityReading | None:
    k = skip_hyphen(tokens, j + 1)
    while form_at(tokens, k) in _OF_CIGARETTES:
        k += 1
    form, after = form_at(tokens, k), form_at(tokens, k + 1)
    low, high = amount.low, amount.high
    if form in _YEARS:
        return QuantityReading("tobacco", low, high, "pack-years", amount.first, k + 1)
    if form in _DAILY:
        return QuantityReading("tobacco", low, high, "packs/day", amount.first, k + 1)
    if form in _PER and after in _RATES:
        days = 1 if after in ("day", "d") else 7
        return QuantityReading("tobacco", low / days, high / days, "packs/day", amount.first, k + 2)
    return None


def _temperature(tokens: Sequence[Token], amount: Amount, j: int) -> QuantityReading | None:
    end = j
    if form_at(tokens, end) in _DEGREES:
        end += 1
    scale = form_at(tokens, end)
    value = amount.low
    hot = any(form_at(tokens, amount.first - k) in _HOT for k in (1, 2, 3))
    if scale in _SCALES and (end > j or value >= 30):
        end += 1
    elif end == j and not hot:
        return None
    low, high = in_celsius(amount.low, scale), in_celsius(amount.high, scale)
    if low is None or high is None:
        return None
    return QuantityReading("temperature", low, high, "°C", amount.first, end)


_STARTS = AMOUNT_STARTS | AGE_STARTS | DURATION_STARTS | FREQUENCY_STARTS | ORDINALS
_LESS = words("quantities.less")
_MORE = words("quantities.more")
_THOUSAND = words("quantities.thousand")
_NOT_COUNTED = words("quantities.not_counted")

#: By how much two numbers for the same thing may differ ("about 3 weeks").
SLACK = 1.1


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a note, with its meaning."""

    span: Span
    kind: str
    low: float
    high: float
    unit: str


def find_quantities(text: str, tokens: Sequence[Token] | None = None) -> list[Quantity]:
    """Return the quantities of a text, in order, none overlapping.

    >>> text = "58yo M, CP x3wks lasting 10-20 min 2x/day, 7/10"
    >>> [(q.span.text(text), q.kind, round(q.low, 3)) for q in find_quantities(text)]
    [('58yo', 'age', 58.0), ('3wks', 'duration', 21.0), ('10-20 min', 'duration', 0.007),
     ('2x/day', 'frequency', 2.0), ('7/10', 'score', 7.0)]
    """
    if tokens is None:
        tokens = find_tokens(text)
    found: list[Quantity] = []
    i, n = 0, len(tokens)
    while i < n:
        _, _, form, kind = tokens[i]
        if kind != "number" and form not in _STARTS and (form[0] != "q" or len(form) < 2):
            i += 1
            continue
        reading = _read_at(text, tokens, i)
        if reading is None:
            i += 1
            continue
        found.append(_as_quantity(text, tokens, reading))
        i = max(reading.end, i + 1)
    return found


def _read_at(text: str, tokens: Sequence[Token], i: int) -> QuantityReading | None:
    """Return the quantity that begins at token ``i``."""
    form = tokens[i].form
    if form in FREQUENCY_STARTS:
        reading = read_frequency_cue(tokens, i)
        if form != "x" or reading is None:
            return reading
        amount = read_amount(tokens, i + 1)
        measured = None if amount is None else _read_number(text, tokens, amount)
        return reading if measured is None or measured.kind == "number" else measured
    if form in DURATION_STARTS:
        return read_duration_cue(tokens, i)
    if form in AGE_STARTS:
        return read_age_cue(tokens, i)
    if form[0] == "q":
        return read_compact(tokens, i)
    first = read_slashed(tokens, i) or read_score(tokens, i) or read_birthday(tokens, i)
    if first is not None:
        return first
    amount = read_amount(tokens, i)
    return None if amount is None else _read_number(text, tokens, amount)


def _read_number(text: str, tokens: Sequence[Token], amount: Amount) -> QuantityReading | None:
    """Return the meaning of a number by what follows it."""
    reading = read_age(text, tokens, amount)
    if reading is not None:
        return reading
    reading = (
        read_measurement(tokens, amount)
        or read_frequency(tokens, amount)
        or _read_span_of_time(text, tokens, amount)
    )
    if reading is not None:
        return _compared(tokens, reading)
    if tokens[amount.first].form in _NO_VAGUE_UNITS:
        return None
    if tokens[amount.first].form == "one" and form_at(tokens, amount.first - 1) in _NOT_COUNTED:
        return None
    thousands = form_at(tokens, amount.end) in _THOUSAND
    low, high = (x * 1000 if thousands else x for x in amount[:2])
    end = amount.end + thousands
    return _compared(tokens, QuantityReading("number", low, high, "", amount.first, end))


def _read_span_of_time(
    text: str, tokens: Sequence[Token], amount: Amount
) -> QuantityReading | None:
    """Return a duration, or a frequency if it is one ("5 days a week")."""
    reading = read_duration(text, tokens, amount)
    if reading is None or reading.low < 1:
        return reading
    repeated = read_frequency(tokens, Amount(reading.low, reading.high, reading.first, reading.end))
    return reading if repeated is None or repeated.kind != "frequency" else repeated


def _compared(tokens: Sequence[Token], reading: QuantityReading) -> QuantityReading:
    """Widen a reading by "less than", "at least" and the like before it, or "+" after it."""
    i = reading.first
    before, earlier = form_at(tokens, i - 1), form_at(tokens, i - 2)
    if before == "=" and earlier in ("<", ">"):
        before, earlier, i = earlier, "", i - 1
    if before == "than" and earlier in _LESS_THAN:
        return reading._replace(low=0.0, first=i - 2)
    if (before, earlier) in (("to", "up"), ("most", "at")):
        return reading._replace(low=0.0, first=i - 2)
    if before in _LESS:
        return reading._replace(low=0.0, first=i - 1)
    if before == "than" and earlier in _MORE_THAN:
        return reading._replace(high=math.inf, first=i - 2)
    if (before, earlier) == ("least", "at"):
        return reading._replace(high=math.inf, first=i - 2)
    if before in _MORE:
        return reading._replace(high=math.inf, first=i - 1)
    return reading


def _as_quantity(text: str, tokens: Sequence[Token], reading: QuantityReading) -> Quantity:
    start, end = tokens[reading.first].start, tokens[reading.end - 1].end
    if text[end - 1] == "." and end - start > 1:
        # "58 y.o." is marked without its last full stop.
        end -= 1
    return Quantity(Span(start, end), reading.kind, reading.low, reading.high, reading.unit)


def same_quantity(reference: Quantity, predicted: Quantity) -> bool:
    """Tell whether two quantities are of one kind and their ranges meet.

    Each range is widened by a tenth of its ends. Ages are compared exactly, to the year:
    someone of 58 is not someone of 57.

    >>> [a, b, c] = find_quantities("three weeks = 21 d, not 2 wks")
    >>> same_quantity(a, b), same_quantity(a, c)
    (True, False)
    """
    if reference.kind != predicted.kind or reference.unit != predicted.unit:
        return False
    if reference.kind == "age":
        return math.floor(reference.low) <= predicted.high and reference.high >= math.floor(
            predicted.low
        )
    return reference.low <= predicted.high * SLACK and predicted.low <= reference.high * SLACK


def compare_quantities(
    asked: Sequence[Quantity], found: Iterable[tuple[int, Quantity]]
) -> tuple[list[int], list[int]]:
    """Return the numbers of quantities that agree with one asked for, and of others of its kind.

    >>> asked = find_quantities("3 weeks")
    >>> compare_quantities(asked, enumerate(find_quantities("21 d, 2 wks, 80 kg")))
    ([0], [1])
    """
    right, wrong = list[int](), list[int]()
    for place, own in found:
        of_kind = [one for one in asked if one.kind == own.kind]
        if any(same_quantity(one, own) for one in of_kind):
            right.append(place)
        elif of_kind:
            wrong.append(place)
    return right, wrong
