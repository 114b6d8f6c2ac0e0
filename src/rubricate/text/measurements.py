"""Measured values in notes: what was measured, its value in one unit, and where it stands."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from rubricate.text.children import ADULT, ValueScale, child_scale, first_age
from rubricate.text.derived_values import derive_values
from rubricate.text.numbers import AMOUNT_STARTS, figure, form_at, read_amount, time_unit
from rubricate.text.opposites import PERSONS
from rubricate.text.tables import split_cell, table_rows
from rubricate.text.value_units import in_table_unit
from rubricate.text.words import RECENT_TEXTS, CueTable, Token, find_tokens, tokens_of, word_set

#: May stand between a name and its value.
_BETWEEN = word_set(
    ": = of is was at today level levels count ( ~ about now to up down remains - s being are were"
    " reads measures measured ran runs running came back score ! * [ ) noted be recorded shows on"
    " room air ra oral low high elevated normal + steady stable regular reg irregular irreg fell"
    " rose dropped climbed fallen risen comes totals totalled totaled equals"
)
#: "P 88" is a pulse where one of these stands near: elsewhere it may be anything.
_VITAL_SIGNS = word_set("bp rr r t temp hr spo2 sats sat o2 resp resps")
#: Letters that may name a temperature and a pulse.
_LETTERS = word_set("t p")
_PULSE_ALONE = re.compile(r" (?:[4-9]\d|1\d\d)(?: reg(?:ular)?\b|[.,;]?(?:\s|$)(?! ?[a-z%+(]))")
#: May not stand shortly before a name: wishes, conditions, other times, other fluids, the unborn.
_NOT_NOW = word_set(
    "goal target keep if until maintain aim when want like reduce lower replete get threshold ideal"
    " should desired prior previous previously old urine urinary ua dip dipstick csf lp synovial"
    " pleural ascitic fluid iron transferrin venous ionized ionised pro fetal foetal vitamin vit"
)
#: Before a further number: a value of before, or one that follows.
_EARLIER = word_set("was from prev previously prior last baseline bl before")
_WHEN = word_set("in on last at from before previously baseline usual yesterday")
_AND_THEN = word_set("to then now and at or x repeat rpt again later up down")
_VITAL = word_set("pulse temperature systolic diastolic") | {
    "blood pressure", "respiratory rate", "oxygen saturation",
}  # fmt: skip
_DOSES = word_set(
    "mcg iu unit units tab tabs tablet tablets ml cap caps tsp puffs hpf times st nd cm + daily"
)
_OXYGEN = word_set(
    "nc nrb bipap cpap fio2 cannula mask intubated ventilator vent liters litres liter litre l lpm"
    " nasal nonrebreather hfnc supplemental"
)
#: The table is one of adults: of children these say something else.
_CHILD = re.compile(
    r"newborn|neonat|infant|\d[- ]?(?:months?|mos?|weeks?|wks?|days?)[- ]?old"
    r"|\b(?:\d|1[0-5])[ -]?(?:y/?o\b|y\.o\.|years?[- ]old|yrs?[- ]old)",
    re.IGNORECASE,
)
#: The same of a note that states no age.
_CHILDISH = re.compile(
    r"\b(?:girl|boy|baby|toddler|schoolboy|schoolgirl|napp(?:y|ies)|diapers?|apgars?|daycare|nursery"
    r"|kindergarten|playgroup|fontanelle?)\b",
    re.IGNORECASE,
)
_OF_ADULTS = word_set(
    "pulse systolic diastolic bmi haemoglobin haematocrit creatinine neutrophils lymphocytes"
    " bilirubin"
) | {
    "respiratory rate", "blood pressure", "white cells", "mean cell volume", "alkaline phosphatase",
    "indirect bilirubin",
}  # fmt: skip
_PERCENT = word_set("a1c haematocrit reticulocytes") | {
    "airflow ratio", "oxygen saturation", "ejection fraction", "red cell width",
    "transferrin saturation",
}  # fmt: skip
#: Whose values are times: elsewhere a number of seconds is no result.
_IN_SECONDS = ("partial thromboplastin time", "prothrombin time")
_SECONDS = word_set("s sec secs second seconds")
#: What begins an amount and is no value, and what goes on with a value in words.
_NO_VALUE = word_set("a an few several couple some many half dozen quarter")
_FURTHER = word_set("over / out point to or hundred thousand million and times x")
_GRAMS = word_set("g grams gram gm kg")
#: Beyond this two numbers are no pressures of two eyes.
_HIGHEST_EYE = 80
#: The ages at which women have children.
_MOTHERS = (12, 60)
_STATED_AGE = re.compile(r"(?:\w+:? )?\d+|[\w-]+")
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


@lru_cache(maxsize=RECENT_TEXTS)
def find_measurements(text: str) -> tuple[Measurement, ...]:
    """Return the measured values of a note, in order; wishes and other people's are left out.

    >>> [(one.measured, one.value) for one in find_measurements("T 98.6, HR: 74; goal A1c 7")]
    [('temperature', 37.0), ('pulse', 74.0)]
    """
    tokens = tokens_of(text)
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
    for one in derive_values(text):
        read = any(
            x.measured == one.measured and x.span[1] >= one.span[0] and x.span[0] <= one.span[1]
            for x in found
        )
        if not read and not _of_another(tokens, bisect_left(starts, one.span[0])):
            found.append(Measurement(*one))
    aged = first_age(text)
    stated = _STATED_AGE.match(text, aged[1]) if aged else None
    if aged and stated and _MOTHERS[0] <= aged[0] <= _MOTHERS[1]:
        # Whether she is with child is for the feature to ask.
        found.append(Measurement("maternal age", aged[0], stated.span()))
    years = child_years(text)
    unclear = _CHILD.search(text) or (aged is None and _CHILDISH.search(text))
    if years is None and not unclear:
        return tuple(found)
    return tuple(one for one in found if _may_be_childs(one.measured, years))


def _may_be_childs(measured: str, years: float | None) -> bool:
    """Tell whether a value of a child says something: by a scale of its age, or like an adult's."""
    if measured not in _OF_ADULTS:
        return True
    return years is not None and child_scale(measured, years) is not None


@lru_cache(maxsize=RECENT_TEXTS)
def child_years(text: str) -> float | None:
    """Return the age of the child a note is about; None for adults, and where it is unclear.

    >>> child_years("2 yo boy brought by parents"), child_years("34F, her 2 yo boy is ill")
    (2.0, None)
    """
    first = first_age(text)
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
    if (
        short
        and not text[tokens[i].start].isupper()
        and tokens[i].form not in ("bp", "hr", "rr", "ph")
    ):
        return False
    forms = _before(tokens, i, 5)
    # "An old value" is of another time, "8-month-old" and "2 year old" are not.
    aged = any(a == "old" and (b == "-" or time_unit(b)) for a, b in pairwise(forms))
    near = set(forms[:4]) - ({"old"} if aged else set())
    if measured == "fetal heart rate":
        near -= {"fetal", "foetal"}
    return _NOT_NOW.isdisjoint(near) and not _of_another(tokens, i)


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
    percent = form_at(tokens, end) in ("percent", "%", "per")
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
    if not form.isdecimal() or not 1 < int(form) <= 20:
        return False
    if not re.match(r"[.)][ \t]+\S", text[tokens[j].end :]):
        return False
    return re.search(rf"(?<!\d){int(form) - 1}[.)]\s", text[: tokens[i].start]) is not None
