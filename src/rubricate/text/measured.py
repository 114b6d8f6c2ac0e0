"""Measured values and what they mean: HR 124 is a tachycardia, SpO2 98% speaks against hypoxia.

The table ``measured_values.tsv`` (written by hand, adults) has one scale per row: below ``low`` a
value is low, from ``normal from`` to ``normal to`` it is normal, from ``high`` on it is high; what
lies between is left open. Further rows for what is measured already are further scales.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from rubricate.text.numbers import figure, form_at, time_unit
from rubricate.text.words import CueTable, Token, find_tokens, word_set

_SEPARATOR = " | "
_RAISED = word_set("elevated high raised increased abnormal rising")
_LOWERED = word_set("low reduced decreased depressed impaired falling")
_ORDINARY = word_set("normal unremarkable wnl preserved")
_ABOVE = word_set("above over > ≥ exceeding least more greater higher")
_BELOW = word_set("below under < ≤ less most lower")
_NEGATIONS = word_set("no not without non absence")
#: Words that change nothing about which value a feature asks for.
_FILLING = word_set(
    "a an the of in on at is was to for by or than equal and with = : , - % ° c f exam examination"
    " presentation triage today current currently level levels value values reading count lab labs"
    " laboratory serum blood plasma resting rate room air ra admission arrival documented measured"
    " recorded found during visit clinic vitals vital signs sign physical percent mmhg bpm kg m2 mg"
    " dl degrees celsius fahrenheit present evidence score result"
)
#: May stand between a name and its value; what may not stand before a name.
_BETWEEN = word_set(
    ": = of is was at today level levels count ( ~ about now to up down remains - s being are were"
    " reads measures measured ran runs running came back"
)
_NOT_MEASURED = word_set("goal target keep if until maintain aim when for normal baseline")
#: "G3P2": pregnancies and births.
_PREGNANCIES = re.compile(r"\bG\s?(\d{1,2})[,/ ]{0,2}P\s?(\d{1,2})(?:(?=\D)|\d{3}\b|$)")
#: "40 pack-years", "2 ppd x 20 yrs".
_PACK_YEARS = re.compile(
    r"(?P<total>\d+)\+?[ -]?(?:pack|pk)[ -]?(?:years?|yrs?)\b"
    r"|(?P<daily>\d+(?:\.\d+)?|1/2|½|half an?) ?"
    r"(?:ppd|(?:packs?|pk)(?: per | a | each |/)(?:day|d))\b,? ?(?:for|x|×)? ?(?P<years>\d+)"
    r" ?(?:years?|yrs?|y)\b",
    re.IGNORECASE,
)
#: Values in another unit: the range that tells it, and the factor to the table's unit.
_OTHER_UNITS = {
    "haemoglobin": (30, 250, 0.1),
    "white cells": (300, 120_000, 0.001),
    "platelets": (5_000, 2_000_000, 0.001),
    "creatinine": (30, 1_800, 1 / 88.4),
    "glucose": (1, 19.9, 18.0),
    "calcium": (1, 3.99, 4.0),
    "albumin": (10, 60, 0.1),
}


class ValueScale(NamedTuple):
    """What values mean."""

    measured: str
    low: float
    normal_from: float
    normal_to: float
    high: float


class AskedValues(NamedTuple):
    """What a feature asks for: values that state it, and those that at least leave it open."""

    measured: str
    stated: tuple[float, float]
    open: tuple[float, float]


class Measurement(NamedTuple):
    """One value in a note."""

    measured: str
    value: float
    span: tuple[int, int]


class MeasuredVerdict(NamedTuple):
    """Where the values of a note state a feature, and where they contradict it."""

    states: tuple[tuple[int, int], ...] = ()
    contradicts: tuple[tuple[int, int], ...] = ()


class _MeasureTable(NamedTuple):
    scales: dict[str, ValueScale]
    limits: dict[str, tuple[float, float]]
    names: CueTable
    words: dict[str, list[tuple[ValueScale, str]]]
    phrases: CueTable
    finding: frozenset[str]


@cache
def _table() -> _MeasureTable:
    text = files("rubricate.text").joinpath("measured_values.tsv").read_text(encoding="utf-8")
    scales: dict[str, ValueScale] = {}
    limits, names = {}, {}
    words: dict[str, list[tuple[ValueScale, str]]] = {}
    for line in text.split("\n")[1:-1]:
        measured, called, least, most, *rest = (line + "\t" * 10).split("\t")[:11]
        numbers = [float(x) if x else None for x in rest[:4]]
        low, normal_from, normal_to, high = numbers
        scale = ValueScale(
            measured,
            -math.inf if low is None else low,
            -math.inf if normal_from is None else normal_from,
            math.inf if normal_to is None else normal_to,
            math.inf if high is None else high,
        )
        scales.setdefault(measured, scale)
        limits[measured] = float(least), float(most)
        names.update(dict.fromkeys(called.split(_SEPARATOR) if called else (), measured))
        for state, cell in zip(("low", "normal", "high"), rest[4:7], strict=True):
            for phrase in cell.split(_SEPARATOR) if cell else ():
                words.setdefault(phrase, []).append((scale, state))
    named = {word for name in names for word in name.split()}
    finding = frozenset(word for phrase in words for word in phrase.split()) - named
    phrases = CueTable({phrase: phrase for phrase in words})
    return _MeasureTable(scales, limits, CueTable(names), words, phrases, finding)


def _range(scale: ValueScale, state: str) -> AskedValues:
    measured, low, normal_from, normal_to, high = scale
    below = math.nextafter(low, -math.inf)
    if state == "high":
        return AskedValues(
            measured, (high, math.inf), (math.nextafter(normal_to, math.inf), math.inf)
        )
    if state == "low":
        edge = math.nextafter(normal_from, -math.inf)
        return AskedValues(measured, (-math.inf, below), (-math.inf, max(edge, below)))
    return AskedValues(measured, (normal_from, normal_to), (low, math.nextafter(high, -math.inf)))


def _denied(asked: AskedValues) -> AskedValues:
    """Return what "no fever" asks for: what contradicts it states it, and the other way round."""
    (low, high), (open_low, open_high) = asked.stated, asked.open
    if high == math.inf:
        return AskedValues(
            asked.measured,
            (-math.inf, math.nextafter(open_low, -math.inf)),
            (-math.inf, math.nextafter(low, -math.inf)),
        )
    return AskedValues(
        asked.measured,
        (math.nextafter(open_high, math.inf), math.inf),
        (math.nextafter(high, math.inf), math.inf),
    )


@lru_cache(maxsize=4096)
def asked_values(feature: str) -> tuple[AskedValues, ...]:
    """Return what a feature asks of measured values; nothing unless it asks for nothing else.

    Examples
    --------
    >>> [one.measured for one in asked_values("Tachycardia")], asked_values("Fever and cough")
    (['pulse'], ())
    >>> asked_values("Heart rate above 100")
    (AskedValues(measured='pulse', stated=(100.0, inf), open=(100.0, inf)),)
    """
    tokens = [token for token in find_tokens(feature) if token.kind != "newline"]
    table = _table()
    named: list[str] = []
    worded: list[tuple[ValueScale, str]] = []
    rest: list[str] = []
    figures: list[float] = []
    i = 0
    while i < len(tokens):
        form = tokens[i].form
        word, name = table.phrases.at(tokens, i), table.names.at(tokens, i)
        if word is not None and (name is None or word[1] >= name[1]):
            worded += table.words[word[0]]
            i = word[1]
        elif name is not None and len(form) > 1:
            named.append(name[0])
            i = name[1]
        else:
            value = figure(form)
            if value is not None:
                figures.append(value)
            else:
                rest.append(form)
            i += 1
    return _asked(named, worded, frozenset(rest), figures)


def _asked(
    named: list[str],
    worded: list[tuple[ValueScale, str]],
    rest: frozenset[str],
    figures: list[float],
) -> tuple[AskedValues, ...]:
    """Return what is asked for by names of values, words for findings, other words and numbers."""
    kinds = (_RAISED, _LOWERED, _ORDINARY, _ABOVE, _BELOW)
    raised, lowered, ordinary, above, below = (bool(rest & kind) for kind in kinds)
    if rest - _FILLING - _NEGATIONS - frozenset().union(*kinds) or len(figures) > 1:
        return ()
    denied = bool(rest & _NEGATIONS)
    scales = _table().scales
    all_measured = dict.fromkeys([*named, *(scale.measured for scale, _ in worded)])
    if figures:
        if len(all_measured) != 1 or above == below or raised or lowered or ordinary or denied:
            return ()
        (measured,) = all_measured
        (value,) = (_in_unit(measured, x) for x in figures)
        if value is None:
            return ()
        bound = (value, math.inf) if above else (-math.inf, value)
        return (AskedValues(measured, bound, bound),)
    if above or below or (raised + lowered + ordinary) > 1:
        return ()
    if worded and not (named or raised or lowered or ordinary):
        found = [_range(scale, state) for scale, state in worded]
    elif len(named) == 1 and not worded and (raised or lowered or ordinary):
        state = "high" if raised else "low" if lowered else "normal"
        if rest & {"abnormal", "impaired"}:
            return ()
        found = [_range(scales[named[0]], state)]
    else:
        return ()
    if not denied:
        return tuple(found)
    one_sided = [one for one in found if math.inf in one.stated or -math.inf in one.stated]
    return tuple(_denied(one) for one in one_sided) if len(one_sided) == len(found) else ()


def _in_unit(measured: str, value: float) -> float | None:
    """Return a value in the table's unit; None where it cannot be one."""
    if measured == "temperature" and 90 <= value <= 110:
        return round((value - 32) / 1.8, 2)
    low, high = _table().limits[measured]
    if low <= value <= high:
        return value
    least, most, scale = _OTHER_UNITS.get(measured, (1.0, 0.0, 1.0))
    return value * scale if least <= value <= most else None


@lru_cache(maxsize=8)
def find_measurements(text: str) -> tuple[Measurement, ...]:
    """Return the measured values of a note, in order.

    Examples
    --------
    >>> [(one.measured, one.value) for one in find_measurements("T 98.6, HR: 74; goal A1c 7")]
    [('temperature', 37.0), ('pulse', 74.0)]
    """
    tokens = [token for token in find_tokens(text) if token.kind != "newline"]
    table = _table()
    found: list[Measurement] = []
    i = 0
    while i < len(tokens):
        named = table.names.at(tokens, i) if tokens[i].form in table.names else None
        if named is None and tokens[i].form == "t" and text[tokens[i].start] == "T":
            named = "temperature", i + 1
        if named is None or not _is_name(text, tokens, i, named[1]):
            i += 1
            continue
        found += _read_value(text, tokens, named[0], i, named[1])
        i = named[1]
    for match in _PREGNANCIES.finditer(text):
        found.append(Measurement("gravidity", float(match[1]), match.span()))
        found.append(Measurement("parity", float(match[2]), match.span()))
    for match in _PACK_YEARS.finditer(text):
        daily = figure(match["daily"]) or 0.5 if match["daily"] else 1.0
        years = float(match["total"] or match["years"])
        found.append(Measurement("pack - years", daily * years, match.span()))
    return tuple(found)


def _is_name(text: str, tokens: Sequence[Token], i: int, end: int) -> bool:
    """Tell whether a name may be that of a value: no wish or condition, K and not k."""
    short = end == i + 1 and len(tokens[i].form) <= 2
    if short and not text[tokens[i].start].isupper() and tokens[i].form not in ("bp", "hr", "rr"):
        return False
    return not any(form_at(tokens, i - k) in _NOT_MEASURED for k in (1, 2))


def _read_value(
    text: str, tokens: Sequence[Token], measured: str, i: int, j: int
) -> Iterator[Measurement]:
    """Yield what is measured by the number after a name, if it is one."""
    last = j + 4
    while j < min(last, len(tokens)) and tokens[j].form in _BETWEEN:
        j += 1
    if j >= len(tokens) or tokens[j].kind != "number":
        return
    form, after = tokens[j].form, form_at(tokens, j + 1)
    if form_at(tokens, j + 1) == "/" and "/" not in form:
        form, j = f"{form}/{form_at(tokens, j + 2)}", j + 2
        after = form_at(tokens, j + 1)
    if (after and time_unit(after)) or after in ("x", "times", "/", "st", "nd"):
        return
    end = tokens[j].end
    if after in ("%", "°"):
        end = tokens[j + 1].end
    span = tokens[i].start, end
    first, _, second = form.partition("/")
    value, other = figure(first), figure(second) if second else None
    if value is None:
        return
    if measured == "blood pressure":
        if other is not None and 50 <= value <= 280 and 20 <= other < value:
            # One number for both: what is high in either is high.
            both = value if value < 90 else max(value, other + 50)
            yield Measurement(measured, both, span)
            yield Measurement("systolic", value, span)
            yield Measurement("diastolic", other, span)
        return
    if second and other != _table().limits[measured][1]:
        return
    known = _in_unit(measured, value)
    if known is not None:
        yield Measurement(measured, known, span)


def judge_measured(wordings: Sequence[str], text: str) -> MeasuredVerdict:
    """Return where the values of a note state one of a feature's wordings, or contradict them all.

    Examples
    --------
    >>> judge_measured(["Tachycardia"], "BP 118/76, HR 124")
    MeasuredVerdict(states=((11, 17),), contradicts=())
    >>> judge_measured(["Hypoxia"], "SpO2 98% on room air")
    MeasuredVerdict(states=(), contradicts=((0, 8),))
    """
    asked = [asked_values(wording) for wording in wordings]
    if not any(asked):
        return MeasuredVerdict()
    said = [_judge(one, find_measurements(text)) for one in asked]
    states = dict.fromkeys(span for one in said for span in one.states)
    against = said[0].contradicts if all(one.contradicts for one in said) else ()
    return MeasuredVerdict(tuple(states), () if states else against)


def _judge(asked: Sequence[AskedValues], measured: Sequence[Measurement]) -> MeasuredVerdict:
    """Return where values state what is asked for, and where they contradict it.

    Where values say different things, or lie between, nothing is said.
    """
    states, contradicts = [], []
    for one in measured:
        for wanted in asked:
            if one.measured != wanted.measured:
                continue
            if wanted.stated[0] <= one.value <= wanted.stated[1]:
                states.append(one.span)
            elif not wanted.open[0] <= one.value <= wanted.open[1]:
                contradicts.append(one.span)
    if states and contradicts:
        return MeasuredVerdict()
    return MeasuredVerdict(tuple(states), tuple(contradicts))


def only_values(text: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Tell whether words are of measured values and name no finding.

    Examples
    --------
    >>> text = "Febrile, T 38.2 and HR 110"
    >>> only_values(text, [(9, 15)]), only_values(text, [(0, 15)]), only_values(text, [(16, 19)])
    (True, False, False)
    """
    measured = [one.span for one in find_measurements(text)]
    if not any(a < end and start < z for start, end in spans for a, z in measured):
        return False
    forms = {token.form for start, end in spans for token in find_tokens(text[start:end])}
    return forms.isdisjoint(_table().finding | _RAISED | _LOWERED | _ORDINARY)
