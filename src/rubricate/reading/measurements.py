"""Measured values in notes: what was measured, its value in one unit, and where it stands."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from rubricate.knowledge.tables import parts, pattern, phrases, words
from rubricate.reading.numbers import (
    AMOUNT_STARTS,
    days_in,
    figure,
    form_at,
    in_celsius,
    read_amount,
    time_unit,
)
from rubricate.reading.opposites import PERSONS
from rubricate.reading.quantities import Quantity
from rubricate.reading.scales import ADULT, child_scale, in_table_unit, measure_table
from rubricate.reading.tokens import Token, find_tokens

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


_SMALL = pattern("children.small")


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
            found.append(one)
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


def first_age(text: str, quantities: Sequence[Quantity]) -> tuple[float, int] | None:
    """Return the first age that a text states, in years, and where it stands.

    >>> from rubricate.reading.quantities import find_quantities
    >>> text = "18 month old girl, sister is 4 years old"
    >>> first_age(text, find_quantities(text)), first_age("Well child", [])
    ((1.5, 0), None)
    >>> first_age("3 yr 6 mo girl", []), first_age("5/12 boy", [])
    ((3.5, 0), (0.4166666666666667, 0))
    """
    read = (one for one in quantities if one.kind == "age" and one.low == one.high)
    ages = [(one.low, one.span.start) for one in read]
    if match := _SMALL.search(text):
        days, months, weeks = (int(match[one] or 0) for one in ("day", "months", "weeks"))
        years = int(match["years"] or 0) + (int(match["more"] or 0) + months) / 12
        ages.append((years + weeks / 52 + days / 365, match.start()))
    return min(ages, key=lambda one: one[1], default=None)


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
    """Return the meaning of "T" and, among vital signs or alone with its value, of "P"."""
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
    """Return the token at which a value may stand, after its normal range in brackets."""
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


_YEAR = days_in("year")
#: Cigarettes of a pack.
_IN_A_PACK = 20
_PREGNANCIES = pattern("derived.pregnancies")
_FOR = pattern("derived.for")
_BORN = pattern("derived.born")
_OF_BIRTH = phrases("derived.of_birth")
#: "Lying 142/70, standing 110/60", "142/70 lying, 110/60 standing".
_POSTURES = tuple(
    pattern(f"derived.{order}")
    for order in ("lying_standing", "behind_lying", "to_standing", "short_postures")
)


_ALONE = pattern("derived.alone")
_ON_AIR = pattern("derived.on_air")
_BIRTHS = pattern("derived.births")
_BOTH_ENZYMES = pattern("derived.both_enzymes")
_WEEKS = pattern("derived.weeks")
_OTHER_PREGNANCY = pattern("derived.other_pregnancy")
_PREGNANT = pattern("derived.pregnant")
_SCORES = {form: (score, int(most)) for form, (score, most) in parts("derived.scores").items()}
_SCORE_FIRST = pattern("derived.score_first")
_COMA = pattern("derived.coma")


def derive_values(text: str, quantities: Sequence[Quantity]) -> Iterator[Measurement]:
    """Yield the values that a text gives by other words than a name and a number.

    >>> from rubricate.reading.quantities import find_quantities
    >>> text = "G3P2. 2 ppd x 20 yrs"
    >>> [(one.measured, one.value) for one in derive_values(text, find_quantities(text))]
    [('gravidity', 3.0), ('parity', 2.0), ('pack - years', 40.0)]
    >>> [(one.measured, one.value) for one in derive_values("BP lying 140/80, standing 115/75", [])]
    [('postural fall', 25.0)]
    """
    if "G" in text:
        yield from _pregnancies(text)
    yield from _pack_years(text, quantities)
    yield from _unnamed(text)
    for match in _COMA.finditer(text):
        yield Measurement("coma scale", float(sum(map(int, match.groups()))), match.span())
    for match in _SCORE_FIRST.finditer(text):
        measured, highest = _SCORES.get(match[3].lower(), ("", 0))
        if measured and int(match[2]) == highest >= int(match[1]):
            yield Measurement(measured, float(match[1]), match.span())
    yield from _weeks_pregnant(text)
    lowered = text.lower()
    for match in _BORN.finditer(text) if any(one in lowered for one in _OF_BIRTH) else ():
        days = int(match["days"] or match["sevenths"] or 0)
        yield Measurement(
            "gestation at birth",
            int(match["weeks"] or match["weeker"] or match["at"] or match["ex"]) + days / 7,
            match.span(),
        )
    # Two pressures have two slashes.
    for postures in _POSTURES if text.count("/") > 1 else ():
        for match in postures.finditer(text):
            high, low, upright_high, upright_low = map(int, match.groups())
            # A fall of 20 in the first number or of 10 in the second is one (Freeman et al. 2011).
            fall = max(high - upright_high, 2 * (low - upright_low))
            yield Measurement("postural fall", float(fall), match.span())


def _unnamed(text: str) -> Iterator[Measurement]:
    """Yield values that their looks tell: temperatures, saturations on air, births, two enzymes."""
    for match in _ALONE.finditer(text):
        value = in_celsius(float(next(filter(None, match.groups()))), "")
        if value is not None:
            yield Measurement("temperature", value, match.span())
    for match in _ON_AIR.finditer(text) if "%" in text else ():
        yield Measurement("oxygen saturation", float(match[1]), match.span())
    for match in _BIRTHS.finditer(text):
        births, losses = int(match[1] or 0), int(match[2] or 0)
        yield Measurement("parity", float(births), match.span())
        if match[2]:
            yield Measurement("abortions", float(losses), match.span())
        # One earlier pregnancy, and perhaps the one that goes on: who is para 1 is left open.
        if not match[1] or births + losses > 1:
            yield Measurement("gravidity", float(births + losses), match.span())
    for match in _BOTH_ENZYMES.finditer(text) if "AST" in text or "ALT" in text else ():
        for name, level in zip(match.groups()[:2], match.groups()[2:], strict=True):
            yield Measurement(name.lower(), float(level), match.span())


def _weeks_pregnant(text: str) -> Iterator[Measurement]:
    """Yield how far a pregnancy has come, where a text is of one and not of an earlier one."""
    if not _PREGNANT.search(text):
        return
    for match in _WEEKS.finditer(text):
        if not _OTHER_PREGNANCY.search(text, max(0, match.start() - 40), match.start()):
            days = int(match["days"] or match["sevenths"] or 0)
            yield Measurement(
                "gestation", int(match["weeks"] or match["at"]) + days / 7, match.span()
            )


def _pregnancies(text: str) -> Iterator[Measurement]:
    for match in _PREGNANCIES.finditer(text):
        births = int(match[5]) if match[5] else int(match[2]) + int(match[3])
        yield Measurement("gravidity", float(match[1]), match.span())
        yield Measurement("parity", float(births), match.span())
        if match[3]:
            yield Measurement("preterm births", float(match[3]), match.span())
            yield Measurement("abortions", float(match[4]), match.span())


def _pack_years(text: str, quantities: Sequence[Quantity]) -> Iterator[Measurement]:
    """Yield "40 pack-years", and packs a day times years; both ends of a range."""
    for one, following in pairwise([*quantities, None]):
        if one is None:
            continue
        start, end = one.span.start, one.span.end
        low, high = one.low, one.high
        if one.unit != "pack-years":
            daily, years = _packs(text, one), _years_after(text, one, following)
            if daily == 0.0 or years is None or following is None:
                continue
            low, high, end = low * daily * years, high * daily * years, following.span.end
        for value in dict.fromkeys((low, high)):
            if value < 300:  # "more than 20 pack-years" has no upper end
                yield Measurement("pack - years", round(value, 1), (start, end))


def _packs(text: str, one: Quantity) -> float:
    """Return the packs a day that one of a quantity is; 0 where it is no smoking."""
    if one.unit == "packs/day":
        return 1.0
    smoked = one.unit == "per day" and "cig" in one.span.text(text).lower()
    return 1 / _IN_A_PACK if smoked else 0.0


def _years_after(text: str, one: Quantity, following: Quantity | None) -> float | None:
    """Return the years for which something went on, where they follow at once."""
    if following is None or following.low != following.high:
        return None
    if not _FOR.fullmatch(text[one.span.end : following.span.start]):
        return None
    if following.kind == "age":  # "1 ppd, 20 years"
        return following.low if "year" in following.span.text(text).lower() else None
    return following.low / _YEAR if following.kind == "duration" else None
