"""Ages, durations, frequencies and other quantities, by hand-made examples and by properties."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.reading.quantities import Quantity, find_quantities, same_quantity

MONTH = 365.25 / 12


def only(text: str, kind: str | None = None) -> Quantity:
    found = [q for q in find_quantities(text) if kind is None or q.kind == kind]
    assert len(found) == 1, [(q.span.text(text), q.kind) for q in find_quantities(text)]
    return found[0]


@pytest.mark.parametrize(
    ("text", "words", "years"),
    [
        ("58 yo M", "58 yo", 58),
        ("58yo M", "58yo", 58),
        ("58yoM", "58yo", 58),
        ("58 y/o male", "58 y/o", 58),
        ("58 y.o. male", "58 y.o", 58),
        ("A 58-year-old man", "58-year-old", 58),
        ("58 year old", "58 year old", 58),
        ("58-yr-old", "58-yr-old", 58),
        ("58 yrs old", "58 yrs old", 58),
        ("58 YEAR-OLD", "58 YEAR-OLD", 58),
        ("58M with CP", "58", 58),
        ("58F with CP", "58", 58),
        ("58 ♂ with CP", "58", 58),
        ("47 M", "47", 47),
        ("58 male with CP", "58", 58),
        ("58 y M", "58 y", 58),
        ("58 years of age", "58 years of age", 58),
        ("she is aged 42", "aged 42", 42),
        ("61m, farmer", "61", 61),
        ("woman, 84\nhip pain", "84", 84),
        ("Ilse sews and is 37. Her eyes water", "37", 37),
        ("he gives his age as 66", "age as 66", 66),
        ("aged thirty-one", "aged thirty-one", 31),
        ("Age: 72", "Age: 72", 72),
        ("Age 16 years", "Age 16 years", 16),
        ("just turned 16", "turned 16", 16),
        ("turned fifteen", "turned fifteen", 15),
        ("twenty-seven-year-old", "twenty-seven-year-old", 27),
        ("twenty two year old", "twenty two year old", 22),
        ("27 and a half year old", "27 and a half year old", 27.5),
        ("had her 42nd birthday", "42nd birthday", 42),
        ("her fifteenth birthday", "fifteenth birthday", 15),
        ("twenty-seventh birthday", "twenty-seventh birthday", 27),
        ("27 yaer old", "27 yaer old", 27),
        ("man of 46 years", "46 years", 46),
        ("58-year", "58-year", 58),
        ("29 yrs F", "29 yrs", 29),
        ("9-month-old", "9-month-old", 0.75),
        ("father MI at 52", "52", 52),
        ("Ms. Lee, 27, presents", "27", 27),
    ],
)
def test_ages(text: str, words: str, years: float) -> None:
    age = only(text, "age")
    assert age.span.text(text) == words
    assert age.low == age.high == pytest.approx(years)
    assert age.unit == "year"


def test_decades_are_ranges() -> None:
    for text in ("since her 20s", "in his twenties", "in the mid 20s"):
        age = only(text)
        assert (age.kind, age.low, age.high) == ("age", 20, 29)


@pytest.mark.parametrize(
    ("text", "words", "low", "high"),
    [
        ("CP 3 wks", "3 wks", 21, 21),
        ("for three weeks", "three weeks", 21, 21),
        ("21 d", "21 d", 21, 21),
        ("hx 3/52", "3/52", 21, 21),
        ("2-3/12 of pain", "2-3/12", 2 * MONTH, 3 * MONTH),
        ("1/7", "1/7", 1, 1),
        ("CP x3w", "3w", 21, 21),
        ("x 3 wks", "3 wks", 21, 21),
        ("x10y", "10y", 3652.5, 3652.5),
        ("3-week history", "3-week", 21, 21),
        ("two-month", "two-month", 2 * MONTH, 2 * MONTH),
        ("18mo", "18mo", 1.5 * 365.25, 1.5 * 365.25),
        ("over the last year and a half", "last year and a half", 547.875, 547.875),
        ("a year and a half ago", "a year and a half", 547.875, 547.875),
        ("half a year", "half a year", 182.625, 182.625),
        ("a fortnight", "a fortnight", 14, 14),
        ("a couple of weeks", "a couple of weeks", 14, 14),
        ("few days", "few days", 2, 5),
        ("several months", "several months", 3 * MONTH, 8 * MONTH),
        ("for the past month", "past month", MONTH, MONTH),
        ("10-20 min", "10-20 min", 10 / 1440, 20 / 1440),
        ("10 to 20 minutes", "10 to 20 minutes", 10 / 1440, 20 / 1440),
        ("10 until 20 minutes", "10 until 20 minutes", 10 / 1440, 20 / 1440),
        ("b/w 10min & 20min", "10min & 20min", 10 / 1440, 20 / 1440),
        ("ten to twenty mins", "ten to twenty mins", 10 / 1440, 20 / 1440),
        ("one or two hours", "one or two hours", 1 / 24, 2 / 24),
        ("1 1/2 hrs", "1 1/2 hrs", 1.5 / 24, 1.5 / 24),
        ("2½ days", "2½ days", 2.5, 2.5),
        ("two and a half days", "two and a half days", 2.5, 2.5),
        ("2 years and 3 months", "2 years and 3 months", 730.5 + 3 * MONTH, 730.5 + 3 * MONTH),
        ("1 hr 30 min", "1 hr 30 min", 1.5 / 24, 1.5 / 24),
        ("less than 1 minute", "less than 1 minute", 0, 1 / 1440),
        ("<1 min", "<1 min", 0, 1 / 1440),
        ("> 3 wks", "> 3 wks", 21, math.inf),
        ("5 weeeks", "5 weeeks", 35, 35),
        ("3 monts ago", "3 monts", 3 * MONTH, 3 * MONTH),
        ("since yesterday", "yesterday", 1, 1),
        ("for 3m", "3m", 3 * MONTH, 3 * MONTH),
    ],
)
def test_durations(text: str, words: str, low: float, high: float) -> None:
    duration = only(text, "duration")
    assert duration.span.text(text) == words
    assert duration.low == pytest.approx(low)
    assert duration.high == pytest.approx(high)
    assert duration.unit == "day"


@pytest.mark.parametrize(
    ("text", "words", "a_day"),
    [
        ("2x/day", "2x/day", 2),
        ("twice daily", "twice daily", 2),
        ("twice a day", "twice a day", 2),
        ("2 times per day", "2 times per day", 2),
        ("BID", "BID", 2),
        ("tds", "tds", 3),
        ("q6h", "q6h", 4),
        ("q 6 hours", "q 6 hours", 4),
        ("q4 days", "q4 days", 0.25),
        ("every 6 hours", "every 6 hours", 4),
        ("every other day", "every other day", 0.5),
        ("every day", "every day", 1),
        ("Smoker 15/day", "15/day", 15),
        ("20 cigarettes a day", "20 cigarettes a day", 20),
        ("2 glasses of wine nightly", "2 glasses of wine nightly", 2),
        ("weekly", "weekly", 1 / 7),
        ("5 days a week", "5 days a week", 5 / 7),
        ("3 times monthly", "3 times monthly", 3 / MONTH),
        ("once a week", "once a week", 1 / 7),
    ],
)
def test_frequencies(text: str, words: str, a_day: float) -> None:
    frequency = only(text, "frequency")
    assert frequency.span.text(text) == words
    assert frequency.low == pytest.approx(a_day)


@pytest.mark.parametrize(
    ("text", "kind", "unit", "low", "high"),
    [
        ("7/10", "score", "of 10", 7, 7),
        ("6-7/10", "score", "of 10", 6, 7),
        ("seven out of ten", "score", "of 10", 7, 7),
        ("nine of ten", "score", "of 10", 9, 9),
        ("vomited x3", "count", "times", 3, 3),
        ("vomited twice", "count", "times", 2, 2),
        ("3 times", "count", "times", 3, 3),
        ("81mg", "dose", "mg", 81, 81),
        ("1 g", "dose", "mg", 1000, 1000),
        ("100 mcg", "dose", "mg", 0.1, 0.1),
        ("10 lbs", "weight", "kg", 4.5359237, 4.5359237),
        ("3 kg", "weight", "kg", 3, 3),
        ("1 ppd", "tobacco", "packs/day", 1, 1),
        ("1/2 pack per day", "tobacco", "packs/day", 0.5, 0.5),
        ("half a pack daily", "tobacco", "packs/day", 0.5, 0.5),
        ("30 pack-years", "tobacco", "pack-years", 30, 30),
        ("30 pack year history", "tobacco", "pack-years", 30, 30),
        ("101F", "temperature", "°C", 38.33, 38.33),
        ("fever of 102", "temperature", "°C", 38.89, 38.89),
        ("38.5 °C", "temperature", "°C", 38.5, 38.5),
        ("50%", "percent", "%", 50, 50),
        ("has 3 kids", "number", "", 3, 3),
        ("two kids", "number", "", 2, 2),
        ("owes £18k", "number", "", 18000, 18000),
        ("eighteen grand", "number", "", 18000, 18000),
    ],
)
def test_other_kinds(text: str, kind: str, unit: str, low: float, high: float) -> None:
    found = only(text)
    assert (found.kind, found.unit) == (kind, unit)
    assert found.low == pytest.approx(low, abs=0.01)
    assert found.high == pytest.approx(high, abs=0.01)


@pytest.mark.parametrize(
    "text",
    [
        "a headache",
        "no one knows",
        "24/7",
        "120/80",
        "seen 5/6/2020",
        "quite well",
        "",
        "half better",
    ],
)
def test_what_is_no_quantity(text: str) -> None:
    assert find_quantities(text) == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("3 wks", "three weeks", True),
        ("3 wks", "21 d", True),
        ("3 wks", "3/52", True),
        ("4 weeks", "1 month", True),
        ("18 months", "a year and a half", True),
        ("3 weeks", "2 weeks", False),
        ("3 weeks", "3 months", False),
        ("10-20 min", "15 minutes", True),
        ("less than 1 minute", "30 seconds", True),
        ("less than 1 minute", "5 minutes", False),
        ("58 yo", "58M", True),
        ("58 yo", "57 yo", False),
        ("58 yo", "in his 50s", True),
        ("27 yo", "27 and a half year old", True),
        ("2x/day", "bid", True),
        ("3 weeks", "3 lbs", False),
    ],
)
def test_same_quantity(one: str, other: str, same: bool) -> None:
    [a], [b] = find_quantities(one), find_quantities(other)
    assert same_quantity(a, b) is same
    assert same_quantity(b, a) is same


WORDS = (
    "58 yo M 3 wks 10-20 min x / a half and couple of every q6h bid 7/10 3/52 past month aged"
    " turned twenty two ½ lbs mg , . - to less than ppd pack years old 101 F at"
)


@given(st.lists(st.sampled_from(WORDS.split()), max_size=12), st.sampled_from([" ", ""]))
def test_any_mixture_gives_valid_quantities(words: list[str], gap: str) -> None:
    text = gap.join(words)
    end = 0
    for quantity in find_quantities(text):
        assert end <= quantity.span.start
        end = quantity.span.end
        assert end <= len(text)
        assert quantity.span.text(text).strip() == quantity.span.text(text) != ""
        assert 0 <= quantity.low <= quantity.high
        assert same_quantity(quantity, quantity)


@given(st.text(max_size=60))
def test_any_text_is_accepted(text: str) -> None:
    for quantity in find_quantities(text):
        assert quantity.span.end <= len(text)


@given(st.integers(2, 99), st.sampled_from(["wk", "wks", "week", "weeks", "w"]))
def test_spellings_of_a_unit_agree(number: int, unit: str) -> None:
    [spelt] = find_quantities(f"for {number} weeks")
    [other] = find_quantities(f"for {number}{unit}")
    assert replace(other, span=spelt.span) == spelt


@pytest.mark.parametrize("text", ["18-1/2 inches", "18 1/2 inches", "18½ inches", "18.5 inches"])
def test_a_number_and_a_half(text: str) -> None:
    assert only(text).low == only(text).high == pytest.approx(18.5 * 2.54)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("Age under 50", 0, 50),
        ("Age older than 60", 60, math.inf),
        ("Age at least 65", 65, math.inf),
        ("MI, age at 52", 52, 52),
        ("age 52", 52, 52),
    ],
)
def test_bounds_of_ages(text: str, low: float, high: float) -> None:
    assert (only(text, "age").low, only(text, "age").high) == (low, high)
