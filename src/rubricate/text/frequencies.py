"""Frequencies and counts: "2x/day", "twice weekly", "q6h", "every other day", "15/day", "x3"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rubricate.text.numbers import Amount, Reading, days_in, form_at, read_amount, time_unit
from rubricate.text.words import Token, word_set

#: Times a day of one-word frequencies.
_ADVERBS = {
    "hourly": 24.0,
    "daily": 1.0,
    "nightly": 1.0,
    "everyday": 1.0,
    "weekly": 1 / 7,
    "fortnightly": 1 / 14,
    "monthly": 1 / days_in("month"),
    "yearly": 1 / days_in("year"),
    "annually": 1 / days_in("year"),
    "qd": 1.0,
    "qday": 1.0,
    "qhs": 1.0,
    "qam": 1.0,
    "qpm": 1.0,
    "qn": 1.0,
    "qod": 0.5,
    "qwk": 1 / 7,
    "bid": 2.0,
    "bd": 2.0,
    "tid": 3.0,
    "tds": 3.0,
    "qid": 4.0,
    "qds": 4.0,
}
#: Prescribers' words say how often a dose is taken, never how many of the number before.
_PRESCRIBED = frozenset(form for form in _ADVERBS if form[0] in "qbt")
_ONCE = {"once": 1.0, "twice": 2.0, "thrice": 3.0}
_PER = word_set("/ per a an each every")
_TIMES = word_set("x times time")
_EVERY = word_set("every each q")
#: Words that show that what follows belongs to something else than the number before.
_BREAKS = word_set(
    "lasting last lasts lasted for in over within since ago and or but with w/ has had is was to on"
    " at the from until than past"
)
_COMPACT = re.compile(r"q(\d+)(h|hr|hrs|d|w|wk|wks|mo|min)?")
_MOST_NOUNS = 3

FREQUENCY_STARTS = frozenset(_ADVERBS) | frozenset(_ONCE) | _EVERY | {"x"}


def read_frequency(tokens: Sequence[Token], amount: Amount) -> Reading | None:
    """Read how often, or how many times, beginning with a number.

    Examples
    --------
    >>> from rubricate.text.words import find_tokens
    >>> def times_a_day(text):
    ...     tokens = find_tokens(text)
    ...     return read_frequency(tokens, read_amount(tokens, 0)).low
    >>> times_a_day("2x/day"), times_a_day("20 cigarettes daily"), times_a_day("3 times")
    (2.0, 20.0, 3.0)
    """
    if form_at(tokens, amount.first) in ("a", "an") and amount.end == amount.first + 1:
        return None
    j = amount.end
    counted = form_at(tokens, j) in _TIMES
    if counted:
        j += 1
    for noun in range(_MOST_NOUNS + 1):
        rate = _rate_at(tokens, j)
        if rate is not None:
            days, end = rate
            return Reading(
                "frequency", amount.low / days, amount.high / days, "per day", amount.first, end
            )
        if not _is_noun(tokens, j, first=noun == 0):
            break
        j += 1
    if counted:
        return Reading("count", amount.low, amount.high, "times", amount.first, amount.end + 1)
    return None


def _is_noun(tokens: Sequence[Token], j: int, *, first: bool) -> bool:
    if j >= len(tokens) or tokens[j].kind != "word" or tokens[j].form in _BREAKS:
        return False
    return time_unit(tokens[j].form) is None and (not first or tokens[j].form != "of")


def _rate_at(tokens: Sequence[Token], j: int) -> tuple[float, int] | None:
    """Return the days of one round and the end of "/day", "a week", "daily", "every 2 days"."""
    form = form_at(tokens, j)
    if form in _ADVERBS:
        return None if form in _PRESCRIBED else (1 / _ADVERBS[form], j + 1)
    if form not in _PER:
        return None
    after = form_at(tokens, j + 1)
    unit = time_unit(after) if after else None
    if unit is not None and not (form in ("a", "an") and len(after) == 1):
        return days_in(unit), j + 2
    if form in ("every", "each"):
        return _interval_at(tokens, j + 1)
    return None


def _interval_at(tokens: Sequence[Token], i: int) -> tuple[float, int] | None:
    """Return the days and the end of an interval: "other day", "6 hours", "few weeks", "night"."""
    form = form_at(tokens, i)
    if form in ("other", "second", "alternate", "2nd"):
        unit = time_unit(form_at(tokens, i + 1)) if form_at(tokens, i + 1) else None
        return (2 * days_in(unit), i + 2) if unit else None
    if form in ("morning", "evening", "am", "pm", "hs", "noc"):
        return 1.0, i + 1
    unit = time_unit(form) if form else None
    if unit is not None:
        return days_in(unit), i + 1
    amount = read_amount(tokens, i) if i < len(tokens) else None
    if amount is None:
        return None
    unit = time_unit(form_at(tokens, amount.end)) if amount.end < len(tokens) else None
    if unit is None:
        return None
    return (amount.low + amount.high) / 2 * days_in(unit), amount.end + 1


def read_frequency_cue(tokens: Sequence[Token], i: int) -> Reading | None:
    """Read a frequency or count that begins with a word: "twice daily", "every day", "x3".

    Examples
    --------
    >>> from rubricate.text.words import find_tokens
    >>> [round(read_frequency_cue(find_tokens(text), 0).low, 2)
    ...  for text in ("q 6 h", "every other day", "twice a day", "x 3")]
    [4.0, 0.5, 2.0, 3.0]
    """
    form = tokens[i].form
    if form in _ADVERBS:
        return Reading("frequency", _ADVERBS[form], _ADVERBS[form], "per day", i, i + 1)
    if form in _ONCE:
        rate = _rate_at(tokens, i + 1)
        if rate is None:
            return Reading("count", _ONCE[form], _ONCE[form], "times", i, i + 1)
        days, end = rate
        return Reading("frequency", _ONCE[form] / days, _ONCE[form] / days, "per day", i, end)
    if form in _EVERY:
        rate = _interval_at(tokens, i + 1)
        if rate is None:
            return None
        return Reading("frequency", 1 / rate[0], 1 / rate[0], "per day", i, rate[1])
    if form == "x":
        amount = read_amount(tokens, i + 1) if i + 1 < len(tokens) else None
        if amount is None or form_at(tokens, i + 1) in ("a", "an"):
            return None
        return Reading("count", amount.low, amount.high, "times", i, amount.end)
    return None


def read_compact(tokens: Sequence[Token], i: int) -> Reading | None:
    """Read prescribers' intervals written as one word: "q6h", "q4 hours", "q28d".

    Examples
    --------
    >>> from rubricate.text.words import find_tokens
    >>> read_compact(find_tokens("q8h"), 0).low
    3.0
    """
    match = _COMPACT.fullmatch(tokens[i].form)
    if match is None or float(match[1]) == 0:
        return None
    end = i + 1
    unit = match[2]
    if unit is None:
        unit = form_at(tokens, end)
        end += 1
    name = time_unit(unit) if unit else None
    if name is None:
        return None
    rate = 1 / (float(match[1]) * days_in(name))
    return Reading("frequency", rate, rate, "per day", i, end)
