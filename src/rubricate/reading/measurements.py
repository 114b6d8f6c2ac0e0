"""Measured values in notes: what was measured, its value in one unit, and where it stands."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from rubricate.knowledge.rows import split_cell, table_rows
from rubricate.knowledge.tables import pattern, phrases, words
from rubricate.reading.children import ADULT, ValueScale, child_scale, first_age
from rubricate.reading.derived_values import derive_values
from rubricate.reading.numbers import AMOUNT_STARTS, figure, form_at, read_amount, time_unit
from rubricate.reading.opposites import PERSONS
from rubricate.reading.quantities import Quantity
from rubricate.reading.tokens import CueTable, Token, find_tokens
from rubricate.reading.value_units import in_table_unit

_BETWEEN = words("measuring.between")
_PERCENTS = words("measuring.percents")
_SMALL_NAMES = words("measuring.small_names")
_VITAL_SIGNS = words("measuring.vital_signs")
_LETTERS = words("measuring.letters")
_PULSE_ALONE = pattern("measuring.pulse_alone")
_NOT_NOW = words("measuring.not_now")
_EARLIER = words("measuring.earlier")
_WHEN = words("measuring.when")
_AND_THEN = words("measuring.and_then")
_VITAL = words("measuring.vital") | frozenset(phrases("measuring.vital_2"))
_DOSES = words("measuring.doses")
_OXYGEN = words("measuring.oxygen")
_CHILD = pattern("measuring.child")
_CHILDISH = pattern("measuring.childish")
_OF_ADULTS = words("measuring.of_adults") | frozenset(phrases("measuring.of_adults_2"))
_PERCENT = words("measuring.percent") | frozenset(phrases("measuring.percent_2"))
_IN_SECONDS = phrases("measuring.in_seconds")
_SECONDS = words("measuring.seconds")
_NO_VALUE = words("measuring.no_value")
_FURTHER = words("measuring.further")
_GRAMS = words("measuring.grams")
#: Beyond this two numbers are no pressures of two eyes.
_HIGHEST_EYE = 80
#: The ages at which women have children.
_MOTHERS = (12, 60)
_STATED_AGE = pattern("measuring.stated_age")
_LIST_MARK = pattern("measuring.list_mark")
#: So many characters before an item the number of the one before it stands.
_LONGEST_ITEM = 2000
#: So many tokens after a value may hold another of the same.
_TREND = 7


class Measurement(NamedTuple):
    """One value in a note."""

    measured: str
    value: float
    span: tuple[int, int]


class MeasureTable(NamedTuple):
    """The table: first scales, plausible values, names, and the findings that values mean."""

    scales: dict[str, ValueScale]
    limits: dict[str, tuple[float, float]]
    names: CueTable
    words: dict[str, list[tuple[ValueScale, str]]]
    phrases: CueTable
    finding: frozenset[str]


@cache
def measure_table() -> MeasureTable:
    """Return the table ``measured_values.tsv``."""
    scales: dict[str, ValueScale] = {}
    limits, names = {}, {}
    words: dict[str, list[tuple[ValueScale, str]]] = {}
    outside = (-math.inf, -math.inf, math.inf, math.inf)
    for row in table_rows("measured_values.tsv"):
        measured, called, least, most, *rest = (row + [""] * 10)[:11]
        edges = [float(x) if x else none for x, none in zip(rest[:4], outside, strict=True)]
        scale = ValueScale(measured, *edges)
        scales.setdefault(measured, scale)
        limits[measured] = float(least), float(most)
        names.update(dict.fromkeys(split_cell(called), measured))
        for state, cell in zip(("low", "normal", "high"), rest[4:7], strict=True):
            for phrase in split_cell(cell):
                words.setdefault(phrase, []).append((scale, state))
    named = {word for name in names for word in name.split()}
    said = {word for phrase in words for word in phrase.split() if not word.isdigit()}
    finding = frozenset(said - named)
    phrases = CueTable({phrase: phrase for phrase in words})
    return MeasureTable(scales, limits, CueTable(names), words, phrases, finding)


def find_measurements(
    text: str, tokens: Sequence[Token], quantities: Sequence[Quantity]
) -> tuple[Measurement, ...]:
    """Return the measured values of a note, in order; wishes and other people's are left out.

    >>> from rubricate.reading.note import read_note
    >>> said = read_note("T 98.6, HR: 74; goal A1c 7").measurements
    >>> [(one.measured, one.value) for one in said]
    [('temperature', 37.0), ('pulse', 74.0)]
    """
    names = measure_table().names
    found: list[Measurement] = []
    i = 0
    while i < len(tokens):
        if tokens[i].form not in names.first_forms and tokens[i].form not in _LETTERS:
            i += 1
            continue
        named = names.at(tokens, i) or _named_by_letter(text, tokens, i)
        if named is None:
            i += 1
            continue
        if _is_name(text, tokens, i, *named):
            found += _read_values(text, tokens, named[0], i, named[1])
        i = named[1]
    starts = [token.start for token in tokens]
    read: dict[str, list[tuple[int, int]]] = {}
    for own in found:
        read.setdefault(own.measured, []).append(own.span)
    for one in derive_values(text, quantities):
        spans = read.setdefault(one.measured, [])
        # One name has at most so many values, and values of one kind stand one after the other.
        near = spans[max(0, bisect_right(spans, (one.span[1], len(text))) - _TREND) :][:_TREND]
        known = any(end >= one.span[0] and start <= one.span[1] for start, end in near)
        if not known and not _of_another(tokens, bisect_left(starts, one.span[0])):
            found.append(Measurement(*one))
            insort(spans, one.span)
    aged = first_age(text, quantities)
    stated = _STATED_AGE.match(text, aged[1]) if aged else None
    if aged and stated and _MOTHERS[0] <= aged[0] <= _MOTHERS[1]:
        # Whether she is with child is for the feature to ask.
        found.append(Measurement("maternal age", aged[0], stated.span()))
    years = child_years(text, quantities)
    unclear = _CHILD.search(text) or (aged is None and _CHILDISH.search(text))
    if years is None and not unclear:
        return tuple(found)
    return tuple(one for one in found if _may_be_childs(one.measured, years))


def _may_be_childs(measured: str, years: float | None) -> bool:
    """Tell whether a value of a child says something: by a scale of its age, or like an adult's."""
    if measured not in _OF_ADULTS:
        return True
    return years is not None and child_scale(measured, years) is not None


def child_years(text: str, quantities: Sequence[Quantity]) -> float | None:
    """Return the age of the child a note is about; None for adults, and where it is unclear.

    >>> from rubricate.reading.note import read_note
    >>> read_note("2 yo boy brought by parents").child_years
    2.0
    >>> read_note("34F, her 2 yo boy is ill").child_years is None
    True
    """
    first = first_age(text, quantities)
    if first is None or first[0] >= ADULT:
        return None
    tokens = find_tokens(text[: first[1] + 1])
    return None if _of_another(tokens, len(tokens) - 1) else first[0]


def _named_by_letter(text: str, tokens: Sequence[Token], i: int) -> tuple[str, int] | None:
    """Return what "T" and, among vital signs or alone with its value, "P" name."""
    if tokens[i].form not in _LETTERS:
        return None
    written = text[tokens[i].start : tokens[i].end]
    if written == "T":
        return "temperature", i + 1
    if written != "P":
        return None
    near = {token.form for token in tokens[max(0, i - 12) : i + 12]}
    begins = text[max(0, tokens[i].start - 3) : tokens[i].start].rstrip(" ")[-1:] in (
        "",
        "\n",
        ".",
        ",",
        ";",
    )
    alone = begins and _PULSE_ALONE.match(text, tokens[i].end) is not None
    return ("pulse", i + 1) if alone or near & _VITAL_SIGNS else None


def _before(tokens: Sequence[Token], i: int, most: int) -> list[str]:
    """Return the forms of a few tokens before one, in its sentence."""
    forms: list[str] = []
    for token in reversed(tokens[max(0, i - most) : i]):
        if token.kind == "newline" or token.form in (".", ";"):
            break
        forms.append(token.form)
    return forms


def _of_another(tokens: Sequence[Token], i: int) -> bool:
    """Tell whether a value is that of a relative or of somebody else."""
    return any(
        form in PERSONS or form.removesuffix("s") in PERSONS for form in _before(tokens, i, 6)
    )


def _is_name(text: str, tokens: Sequence[Token], i: int, measured: str, end: int) -> bool:
    """Tell whether a name may be that of a value of the patient now: K and not k."""
    short = end == i + 1 and len(tokens[i].form) <= 2
    if short and not text[tokens[i].start].isupper() and tokens[i].form not in _SMALL_NAMES:
        return False
    if tokens[i].form in _OR_STOOL and not _is_sugar(tokens, i):
        return False
    forms = _before(tokens, i, 5)
    # "An old value" is of another time, "8-month-old" and "2 year old" are not.
    aged = any(a == "old" and (b == "-" or time_unit(b)) for a, b in pairwise(forms))
    near = set(forms[:4]) - ({"old"} if aged else set())
    if measured == "fetal heart rate":
        near -= {"fetal", "foetal"}
    return _NOT_NOW.isdisjoint(near) and not _of_another(tokens, i)


_OR_STOOL = words("measuring.sugar_or_stool")
#: From so high a number on it is no count of bowel movements.
_MANY_STOOLS = 10


def _is_sugar(tokens: Sequence[Token], i: int) -> bool:
    """Tell whether a number of blood sugar follows: "BM 19", "BM: 6.4", not "BM 3 per day"."""
    k = _skip_to_number(tokens, i + 1)
    value = form_at(tokens, k)
    if k > i + 3 or value.count(".") > 1 or not value.replace(".", "").isdigit():
        return False
    return "." in value or (float(value) >= _MANY_STOOLS and form_at(tokens, k + 1) != "x")


def _read_values(
    text: str, tokens: Sequence[Token], measured: str, i: int, j: int
) -> Iterator[Measurement]:
    """Yield the value after a name, and those that follow it in a trend or a range."""
    j = _skip_to_number(tokens, j)
    # "CRP <5" is a result; of vital signs it is what is wished for.
    if form_at(tokens, j) in ("<", "under") and measured not in _VITAL | {"inr"}:
        j += 1
    if form_at(tokens, j - 1) == "on":  # "AMTS on 3/4", "on two occasions": when, and how often
        return
    names = measure_table().names
    first = True
    for k in range(j, min(j + (1 if measured == "blood pressure" else _TREND), len(tokens))):
        token = tokens[k]
        if not first and (
            token.kind == "newline" or token.form in (".", ";") or names.at(tokens, k)
        ):
            return
        before = form_at(tokens, k - 1)
        if not first and token.kind == "number" and before[:1].isalpha():
            if before in _EARLIER:
                continue
            if before not in _AND_THEN:  # another name, which the table does not know
                return
        if before == "(" and form_at(tokens, k + 1) in _WHEN and not first:
            continue  # "Cr 268 (88 in Jan)"
        if token.kind == "number" and before not in ("x", "^"):
            own = list(_read_value(text, tokens, measured, i, k))
            if first and not own:
                return
            yield from own
        elif first:
            yield from _read_spelled(text, tokens, measured, i, k)
            return
        first = False


def _read_spelled(
    text: str, tokens: Sequence[Token], measured: str, i: int, j: int
) -> Iterator[Measurement]:
    """Yield a value in words, as in dictated notes: "platelets were two hundred and forty"."""
    if tokens[j].form in _NO_VALUE or tokens[j].form not in AMOUNT_STARTS:
        return
    amount = read_amount(tokens, j)
    if amount is None or amount.low != amount.high or amount.low == 1:
        return
    value, end = amount.low, amount.end
    if form_at(tokens, end) == "point":
        part = read_amount(tokens, end + 1) if end + 1 < len(tokens) else None
        if part is None or not 0 <= part.low < 10:
            return
        value, end = value + part.low / 10, part.end
    percent = form_at(tokens, end) in _PERCENTS
    if not _is_value(text, tokens, end - 1) or form_at(tokens, end) in _FURTHER:
        return
    if measured == "blood pressure" or (percent and measured not in _PERCENT):
        return
    known = in_table_unit(measured, value, form_at(tokens, end), measure_table().limits[measured])
    if known is not None:
        yield Measurement(measured, known, (tokens[i].start, tokens[end - 1].end))


def _skip_to_number(tokens: Sequence[Token], j: int) -> int:
    """Return where the value of a name may stand, after its normal range in brackets."""
    if form_at(tokens, j) == "(":
        inside = [form_at(tokens, k) for k in range(j + 1, min(j + 8, len(tokens)))]
        if ")" in inside and "-" in inside[: inside.index(")")]:
            j += inside.index(")") + 2
    last = j + 5
    while j < min(last, len(tokens)) and tokens[j].form in _BETWEEN:
        j += 1
    return j


def _read_value(
    text: str, tokens: Sequence[Token], measured: str, i: int, j: int
) -> Iterator[Measurement]:
    """Yield what is measured by one number."""
    form = tokens[j].form
    if form_at(tokens, j + 1) == "/" and "/" not in form:
        second = tokens[j + 2] if j + 2 < len(tokens) else None
        if second is not None and second.kind == "number":
            form, j = f"{form}/{second.form}", j + 2
    after = form_at(tokens, j + 1)
    timed = measured in _IN_SECONDS and after in _SECONDS
    timed = timed or (measured == "birth weight" and after in _GRAMS)
    if not (timed or _is_value(text, tokens, j)) or _is_list_number(text, tokens, i, j):
        return
    last = j + 1 if after in ("%", "°") else j
    if measured == "temperature" and form_at(tokens, last + 1) in ("f", "c"):
        last += 1
    span = tokens[i].start, tokens[last].end
    top, _, bottom = form.partition("/")
    value, other = figure(top), figure(bottom) if bottom else None
    if value is None:
        return
    if measured == "blood pressure":
        if other is not None and 50 <= value <= 280 and 20 <= other < value:
            # One number for both: what is high in the second is high.
            yield Measurement(measured, max(value, other + 50) if other >= 85 else value, span)
            yield Measurement("systolic", value, span)
            yield Measurement("diastolic", other, span)
        return
    if measured == "eye pressure" and other is not None and max(value, other) <= _HIGHEST_EYE:
        yield Measurement(measured, max(value, other), span)  # of both eyes
        return
    if (bottom and other != measure_table().limits[measured][1]) or (
        after == "%" and measured not in _PERCENT
    ):
        return
    if after == "k" and tokens[j + 1].start == tokens[j].end:  # "CK 44k"
        value *= 1000
    known = in_table_unit(measured, value, after, measure_table().limits[measured])
    if known is None:
        return
    around = {form_at(tokens, k) for k in range(max(0, i - 8), j + 9)}
    if measured == "oxygen saturation" and known >= 93 and around & _OXYGEN:
        return
    yield Measurement(measured, known, span)
    if measured == "systolic":
        yield Measurement("blood pressure", known, span)


def _is_value(text: str, tokens: Sequence[Token], j: int) -> bool:
    """Tell whether what follows a number leaves it a result: no dose, no time, no count."""
    after, next_after = form_at(tokens, j + 1), form_at(tokens, j + 2)
    if after in ("mg", "g"):
        return next_after == "/"
    if after == "x":
        return next_after == "10"
    if after == "hr" and (next_after in (":", "of") or next_after[:1].isdigit()):
        return True
    if after == "h" and text[tokens[j + 1].start] == "H":
        return True
    return not (after and time_unit(after)) and after not in _DOSES


def _is_list_number(text: str, tokens: Sequence[Token], i: int, j: int) -> bool:
    """Tell whether a number is that of the next line of a list: "2. TSH 3. CRP"."""
    form = tokens[j].form
    if not form.isdecimal() or len(form) > 2 or not 1 < int(form) <= 20:
        return False
    if not _LIST_MARK.match(text, tokens[j].end):
        return False
    before = text[max(0, tokens[i].start - _LONGEST_ITEM) : tokens[i].start]
    return re.search(rf"(?<!\d){int(form) - 1}[.)]\s", before) is not None
