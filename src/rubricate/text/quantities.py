"""Numbers with their meaning: ages, durations, frequencies, doses, in one unit for each kind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rubricate.spans import Span
from rubricate.text.ages import AGE_STARTS, read_age, read_age_cue, read_birthday
from rubricate.text.durations import (
    DURATION_STARTS,
    read_duration,
    read_duration_cue,
    read_slashed,
)
from rubricate.text.frequencies import (
    FREQUENCY_STARTS,
    read_compact,
    read_frequency,
    read_frequency_cue,
)
from rubricate.text.measurements import read_measurement, read_score
from rubricate.text.numbers import (
    AMOUNT_STARTS,
    ORDINALS,
    Amount,
    Reading,
    form_at,
    read_amount,
)
from rubricate.text.words import Token, find_tokens, word_set

_STARTS = AMOUNT_STARTS | AGE_STARTS | DURATION_STARTS | FREQUENCY_STARTS | ORDINALS
_LESS = word_set("< ≤ under below")
_MORE = word_set("> ≥ exceeding")
_NOT_COUNTED = word_set("no any every this that which some each the")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a note, with its meaning.

    Parameters
    ----------
    span : Span
        Its words, unit included.
    kind : str
        ``"age"``, ``"duration"``, ``"frequency"``, ``"count"``, ``"score"``, ``"dose"``,
        ``"weight"``, ``"length"``, ``"temperature"``, ``"tobacco"``, ``"percent"`` or ``"number"``.
    low, high : float
        The value, or the ends of the range; ``high`` is infinite for "more than".
    unit : str
        ``"year"`` for ages, ``"day"`` for durations, ``"per day"`` for frequencies, ...
    """

    span: Span
    kind: str
    low: float
    high: float
    unit: str


def find_quantities(text: str, tokens: Sequence[Token] | None = None) -> list[Quantity]:
    """Return the quantities of a text, in order, none overlapping.

    Examples
    --------
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


def _read_at(text: str, tokens: Sequence[Token], i: int) -> Reading | None:
    """Return what begins at token ``i``."""
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


def _read_number(text: str, tokens: Sequence[Token], amount: Amount) -> Reading | None:
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
    if tokens[amount.first].form in ("a", "an", "single", "half", "quarter", "few", "many"):
        return None
    if tokens[amount.first].form == "one" and form_at(tokens, amount.first - 1) in _NOT_COUNTED:
        return None
    return _compared(tokens, Reading("number", amount.low, amount.high, "", *amount[2:]))


def _read_span_of_time(text: str, tokens: Sequence[Token], amount: Amount) -> Reading | None:
    """Return a duration, or the frequency that "5 days a week" is."""
    reading = read_duration(text, tokens, amount)
    if reading is None or reading.low < 1:
        return reading
    repeated = read_frequency(tokens, Amount(reading.low, reading.high, reading.first, reading.end))
    return reading if repeated is None or repeated.kind != "frequency" else repeated


def _compared(tokens: Sequence[Token], reading: Reading) -> Reading:
    """Widen a reading by "less than", "at least" and the like before it, or "+" after it."""
    i = reading.first
    before, earlier = form_at(tokens, i - 1), form_at(tokens, i - 2)
    if before == "=" and earlier in ("<", ">"):
        before, earlier, i = earlier, "", i - 1
    if before == "than" and earlier in ("less", "fewer", "shorter", "younger"):
        return reading._replace(low=0.0, first=i - 2)
    if (before, earlier) in (("to", "up"), ("most", "at")):
        return reading._replace(low=0.0, first=i - 2)
    if before in _LESS:
        return reading._replace(low=0.0, first=i - 1)
    if before == "than" and earlier in ("more", "greater", "longer", "older"):
        return reading._replace(high=math.inf, first=i - 2)
    if (before, earlier) == ("least", "at"):
        return reading._replace(high=math.inf, first=i - 2)
    if before in _MORE:
        return reading._replace(high=math.inf, first=i - 1)
    return reading


def _as_quantity(text: str, tokens: Sequence[Token], reading: Reading) -> Quantity:
    start, end = tokens[reading.first].start, tokens[reading.end - 1].end
    if text[end - 1] == "." and end - start > 1:
        # "58 y.o." is marked without its last full stop.
        end -= 1
    return Quantity(Span(start, end), reading.kind, reading.low, reading.high, reading.unit)


def same_quantity(reference: Quantity, predicted: Quantity, tolerance: float = 0.1) -> bool:
    """Tell whether two quantities are of one kind and their ranges meet.

    Each range is widened by ``tolerance`` times its ends. Ages are compared exactly, to the year:
    someone of 58 is not someone of 57.

    Examples
    --------
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
    slack = 1 + tolerance
    return reference.low <= predicted.high * slack and predicted.low <= reference.high * slack
