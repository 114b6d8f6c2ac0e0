"""Durations and frequencies: "3 wks", "3/52", "the past month", "2x/day", "q6h", "x3"."""

from __future__ import annotations

from collections.abc import Sequence

from rubricate.knowledge.tables import numbers, pattern, values, words
from rubricate.reading.numbers import (
    Amount,
    QuantityReading,
    days_in,
    figure,
    form_at,
    ordinal,
    read_amount,
    skip_hyphen,
    time_unit,
)
from rubricate.reading.tokens import Token

_BY_DENOMINATOR = values("times.by_denominator")
_QUALITIES = words("times.qualities")
_UP_TO = words("times.up_to")
_BETWEEN = words("times.between")
_PARTS_OF_DAY = words("times.parts_of_day")
_SLASHED = pattern("times.slashed")
#: From the first of these numbers to the second "21/7" is a day of July.
_DAY_OF_JULY = (14, 31)
_PAST = words("times.past")
_SINGULAR = words("times.singular")
_MONTH_CUES = words("times.month_cues")
_JOINED = words("times.joined")

DURATION_STARTS = _PAST - {"this"} | words("times.duration_starts")


def read_duration(text: str, tokens: Sequence[Token], amount: Amount) -> QuantityReading | None:
    """Read a duration that begins with a number or an article.

    >>> from rubricate.reading.tokens import find_tokens
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
        return QuantityReading(
            "duration", low + days / 2, high + days / 2, "day", amount.first, end + 3
        )
    if form_at(tokens, end) in _JOINED:
        second = _second_part(text, tokens, end + 1)
        if second is not None and _is_range(tokens, amount, end, second, days):
            return QuantityReading("duration", low, second.high, "day", amount.first, second.end)
    joint = end + 1 if form_at(tokens, end) == "and" else end
    second = _second_part(text, tokens, joint)
    if second is not None and second.high < days:
        # "2 years and 3 months", "1 hr 30 min": a smaller unit adds to the larger.
        low, high, end = low + second.low, high + second.high, second.end
    return QuantityReading("duration", low, high, "day", amount.first, end)


def _unit_after(text: str, tokens: Sequence[Token], amount: Amount) -> tuple[str | None, int]:
    j = skip_hyphen(tokens, amount.end)
    form = form_at(tokens, j)
    if form in _QUALITIES:
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


def _second_part(text: str, tokens: Sequence[Token], i: int) -> QuantityReading | None:
    if i >= len(tokens) or form_at(tokens, i) in ("a", "an"):
        return None
    amount = read_amount(tokens, i)
    if amount is None:
        return None
    unit, end = _unit_after(text, tokens, amount)
    if unit is None:
        return None
    days = days_in(unit)
    return QuantityReading("duration", amount.low * days, amount.high * days, "day", i, end)


def _is_range(
    tokens: Sequence[Token], amount: Amount, joint: int, second: QuantityReading, days: float
) -> bool:
    """Tell whether "A unit to B unit" is one range rather than two durations."""
    if second.low <= amount.low * days:
        return False
    if tokens[joint].form in _UP_TO:
        return True
    return form_at(tokens, amount.first - 1) in _BETWEEN


def read_slashed(tokens: Sequence[Token], i: int) -> QuantityReading | None:
    """Read British shorthand such as "3/52" or "2-3/12".

    >>> from rubricate.reading.tokens import find_tokens
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
    if low > high or (match[2] == "7" and _DAY_OF_JULY[0] < high <= _DAY_OF_JULY[1]):
        return None
    days = days_in(_BY_DENOMINATOR[match[2]])
    return QuantityReading("duration", low * days, high * days, "day", i, j + 1)


def read_duration_cue(tokens: Sequence[Token], i: int) -> QuantityReading | None:
    """Read a duration that begins with a word: "past month", "yesterday", "fortnight".

    >>> from rubricate.reading.tokens import find_tokens
    >>> read_duration_cue(find_tokens("past week"), 0)
    QuantityReading(kind='duration', low=7.0, high=7.0, unit='day', first=0, end=2)
    """
    form = tokens[i].form
    if form == "fortnight":
        return QuantityReading("duration", 14.0, 14.0, "day", i, i + 1)
    if form in ("yesterday", "overnight"):
        before = form_at(tokens, i - 1) == "before" and form_at(tokens, i - 2) == "day"
        days = 2.0 if before else 1.0
        return QuantityReading("duration", days, days, "day", i, i + 1)
    after = form_at(tokens, i + 1)
    if after not in _SINGULAR:
        return None
    days = days_in(time_unit(after) or "day")
    if [form_at(tokens, i + k) for k in range(2, 5)] == ["and", "a", "half"]:
        return QuantityReading("duration", 1.5 * days, 1.5 * days, "day", i, i + 5)
    return QuantityReading("duration", days, days, "day", i, i + 2)


_ADVERBS = numbers("times.adverbs")
#: Prescribers' words say how often a dose is taken, never how many of the number before.
_PRESCRIBED = frozenset(form for form in _ADVERBS if form[0] in "qbt")
_ONCE = numbers("times.once")
_PER = words("times.per")
_TIMES = words("times.times")
_EVERY = words("times.every")
_BREAKS = words("times.breaks")
_COMPACT = pattern("times.compact")
_MOST_NOUNS = 3

FREQUENCY_STARTS = frozenset(_ADVERBS) | frozenset(_ONCE) | _EVERY | {"x"}


def read_frequency(tokens: Sequence[Token], amount: Amount) -> QuantityReading | None:
    """Read how often, or how many times, beginning with a number.

    >>> from rubricate.reading.tokens import find_tokens
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
            return QuantityReading(
                "frequency", amount.low / days, amount.high / days, "per day", amount.first, end
            )
        if not _is_noun(tokens, j, first=noun == 0):
            break
        j += 1
    if counted:
        return QuantityReading(
            "count", amount.low, amount.high, "times", amount.first, amount.end + 1
        )
    return None


def _is_noun(tokens: Sequence[Token], j: int, *, first: bool) -> bool:
    if j >= len(tokens) or tokens[j].kind != "word" or tokens[j].form in _BREAKS:
        return False
    return time_unit(tokens[j].form) is None and (not first or tokens[j].form != "of")


def _rate_at(tokens: Sequence[Token], j: int) -> tuple[float, int] | None:
    """Return the days of one interval and the end of "/day", "a week", "daily", "every 2 days"."""
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
    times = 2 if form in ("other", "alternate") else ordinal(form)
    if times is not None and times > 1:
        unit = time_unit(form_at(tokens, i + 1)) if form_at(tokens, i + 1) else None
        return (times * days_in(unit), i + 2) if unit else None
    if form in _PARTS_OF_DAY:
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


def read_frequency_cue(tokens: Sequence[Token], i: int) -> QuantityReading | None:
    """Read a frequency or count that begins with a word: "twice daily", "every day", "x3".

    >>> from rubricate.reading.tokens import find_tokens
    >>> [round(read_frequency_cue(find_tokens(text), 0).low, 2)
    ...  for text in ("q 6 h", "every other day", "every third day", "twice a day", "x 3")]
    [4.0, 0.5, 0.33, 2.0, 3.0]
    """
    form = tokens[i].form
    if form in _ADVERBS:
        return QuantityReading("frequency", _ADVERBS[form], _ADVERBS[form], "per day", i, i + 1)
    if form in _ONCE:
        rate = _rate_at(tokens, i + 1)
        if rate is None:
            return QuantityReading("count", _ONCE[form], _ONCE[form], "times", i, i + 1)
        days, end = rate
        return QuantityReading(
            "frequency", _ONCE[form] / days, _ONCE[form] / days, "per day", i, end
        )
    if form in _EVERY:
        rate = _interval_at(tokens, i + 1)
        if rate is None:
            return None
        return QuantityReading("frequency", 1 / rate[0], 1 / rate[0], "per day", i, rate[1])
    if form == "x":
        amount = read_amount(tokens, i + 1) if i + 1 < len(tokens) else None
        if amount is None or form_at(tokens, i + 1) in ("a", "an"):
            return None
        return QuantityReading("count", amount.low, amount.high, "times", i, amount.end)
    return None


def read_compact(tokens: Sequence[Token], i: int) -> QuantityReading | None:
    """Read prescribers' intervals written as one word: "q6h", "q4 hours", "q28d".

    >>> from rubricate.reading.tokens import find_tokens
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
    return QuantityReading("frequency", rate, rate, "per day", i, end)


_EARLIER = pattern("earlier.earlier")
_IN_A_MONTH = pattern("earlier.in_a_month")
_RESULT = pattern("earlier.result")


def names_earlier_time(words: str) -> bool:
    """Tell whether words name an earlier time or place: "in 2021", "2 mths back", "at the GP's".

    >>> names_earlier_time("USG done outside"), names_earlier_time("USG tomorrow")
    (True, False)
    >>> names_earlier_time("3/52 back"), names_earlier_time("low back pain")
    (True, False)
    """
    return _EARLIER.search(words) is not None


def tells_of_before(words: str) -> bool:
    """Tell whether words name an earlier time, or a month with a result.

    >>> tells_of_before("TSH nl in Feb"), tells_of_before("MRI in February")
    (True, False)
    """
    if names_earlier_time(words):
        return True
    return bool(_IN_A_MONTH.search(words) and _RESULT.search(words))
