"""Durations: "3 wks", "3/52", "x3w", "a year and a half", "10 to 20 minutes", "the past month"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rubricate.text.numbers import (
    Amount,
    Reading,
    days_in,
    figure,
    form_at,
    read_amount,
    skip_hyphen,
    time_unit,
)
from rubricate.text.words import Token, word_set

#: British shorthand: 3/52 is three weeks, 3/12 three months, 3/7 three days, 6/24 six hours.
_BY_DENOMINATOR = {"7": "day", "52": "week", "12": "month", "24": "hour"}
_SLASHED = re.compile(r"(\d+(?:\.\d+)?)/(7|52|12|24)")
_PAST = word_set("past last previous prior preceding this")
_SINGULAR = word_set("day night week wk month mo mth year yr fortnight hour hr decade")
_MONTH_CUES = word_set("x for past last over since")
_JOINED = word_set("to - & and until till")

DURATION_STARTS = (_PAST - {"this"}) | {"yesterday", "fortnight", "overnight"}


def read_duration(text: str, tokens: Sequence[Token], amount: Amount) -> Reading | None:
    """Read a duration that begins with a number or an article.

    Examples
    --------
    >>> from rubricate.text.words import find_tokens
    >>> def days(text):
    ...     tokens = find_tokens(text)
    ...     return read_duration(text, tokens, read_amount(tokens, 0)).low
    >>> days("3 wks"), days("a fortnight"), days("half a year") == days("6 months")
    (21.0, 14.0, True)
    """
    unit, end = _unit_after(text, tokens, amount)
    if unit is None:
        return None
    days = days_in(unit)
    low, high = amount.low * days, amount.high * days
    if [form_at(tokens, end + k) for k in range(3)] == ["and", "a", "half"]:
        return Reading("duration", low + days / 2, high + days / 2, "day", amount.first, end + 3)
    if form_at(tokens, end) in _JOINED:
        second = _second_part(text, tokens, end + 1)
        if second is not None and _is_range(tokens, amount, end, second, days):
            return Reading("duration", low, second.high, "day", amount.first, second.end)
    joint = end + 1 if form_at(tokens, end) == "and" else end
    second = _second_part(text, tokens, joint)
    if second is not None and second.high < days:
        # "2 years and 3 months", "1 hr 30 min": a smaller unit adds to the larger.
        low, high, end = low + second.low, high + second.high, second.end
    return Reading("duration", low, high, "day", amount.first, end)


def _unit_after(text: str, tokens: Sequence[Token], amount: Amount) -> tuple[str | None, int]:
    j = skip_hyphen(tokens, amount.end)
    form = form_at(tokens, j)
    if form in ("full", "whole", "long", "more", "solid", "straight", "consecutive", "odd"):
        j += 1
        form = form_at(tokens, j)
    if form == "m":
        return _month_letter(tokens, amount, j), j + 1
    unit = time_unit(form) if form else None
    if unit is not None and len(form) == 1 and tokens[amount.end - 1].kind != "number":
        return None, j
    return unit, j + 1


def _month_letter(tokens: Sequence[Token], amount: Amount, j: int) -> str | None:
    """Tell whether "3m" is three months rather than metres, minutes or a man."""
    touching = tokens[j].start == tokens[j - 1].end
    cued = form_at(tokens, amount.first - 1) in _MONTH_CUES
    return "month" if touching and (cued or form_at(tokens, j + 1) in ("ago", "hx")) else None


def _second_part(text: str, tokens: Sequence[Token], i: int) -> Reading | None:
    if i >= len(tokens) or form_at(tokens, i) in ("a", "an"):
        return None
    amount = read_amount(tokens, i)
    if amount is None:
        return None
    unit, end = _unit_after(text, tokens, amount)
    if unit is None:
        return None
    days = days_in(unit)
    return Reading("duration", amount.low * days, amount.high * days, "day", i, end)


def _is_range(
    tokens: Sequence[Token], amount: Amount, joint: int, second: Reading, days: float
) -> bool:
    """Tell whether "A unit to B unit" is one range rather than two durations."""
    if second.low <= amount.low * days:
        return False
    if tokens[joint].form in ("to", "-", "until", "till"):
        return True
    return form_at(tokens, amount.first - 1) in ("between", "b/w", "btw", "from")


def read_slashed(tokens: Sequence[Token], i: int) -> Reading | None:
    """Read British shorthand such as "3/52" or "2-3/12".

    Examples
    --------
    >>> from rubricate.text.words import find_tokens
    >>> read_slashed(find_tokens("3/52"), 0).low, read_slashed(find_tokens("24/7"), 0)
    (21.0, None)
    """
    low: float | None = None
    j = i
    if form_at(tokens, i + 1) == "-" and "/" not in tokens[i].form:
        low, j = figure(tokens[i].form), i + 2
    match = _SLASHED.fullmatch(form_at(tokens, j))
    if match is None or match[0] in ("24/7", "1/24"):
        return None
    high = float(match[1])
    low = high if low is None else low
    if low > high or (match[2] == "7" and high > 14):
        return None
    days = days_in(_BY_DENOMINATOR[match[2]])
    return Reading("duration", low * days, high * days, "day", i, j + 1)


def read_duration_cue(tokens: Sequence[Token], i: int) -> Reading | None:
    """Read a duration that begins with a word: "past month", "yesterday", "fortnight".

    Examples
    --------
    >>> from rubricate.text.words import find_tokens
    >>> read_duration_cue(find_tokens("past week"), 0)
    Reading(kind='duration', low=7.0, high=7.0, unit='day', first=0, end=2)
    """
    form = tokens[i].form
    if form == "fortnight":
        return Reading("duration", 14.0, 14.0, "day", i, i + 1)
    if form in ("yesterday", "overnight"):
        before = form_at(tokens, i - 1) == "before" and form_at(tokens, i - 2) == "day"
        days = 2.0 if before else 1.0
        return Reading("duration", days, days, "day", i, i + 1)
    after = form_at(tokens, i + 1)
    if after not in _SINGULAR:
        return None
    days = days_in(time_unit(after) or "day")
    if [form_at(tokens, i + k) for k in range(2, 5)] == ["and", "a", "half"]:
        return Reading("duration", 1.5 * days, 1.5 * days, "day", i, i + 5)
    return Reading("duration", days, days, "day", i, i + 2)
