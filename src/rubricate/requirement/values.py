"""Measured values that features ask for: "Tachycardia", "Heart rate above 100"."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

from rubricate.knowledge.tables import words
from rubricate.reading.numbers import figure
from rubricate.reading.scales import ValueScale, child_scale, in_table_unit, measure_table
from rubricate.reading.tokens import find_tokens

RAISED = words("measured.raised")
LOWERED = words("measured.lowered")
ORDINARY = words("measured.ordinary")
FILLING = words("measured.filling")
_ABOVE = words("measured.above")
_BELOW = words("measured.below")
_INCLUSIVE = words("measured.inclusive")
_NEGATIONS = words("measured.negations")
_OF_SMOKING = words("measured.of_smoking")
#: By which part of it a value may differ from the one asked for and be the same, or perhaps so;
#: pack-years are reckoned from round numbers.
_EXACT, _NEARLY, _ROUGHLY = 0.01, 0.03, 0.1


class AskedValues(NamedTuple):
    """The values that state a feature, and those that at least leave it open."""

    measured: str
    stated: tuple[float, float]
    open: tuple[float, float]


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
    """Return the values of "no fever": those that contradict fever state it, and vice versa."""
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
def asked_values(feature: str, years: float | None = None) -> tuple[AskedValues, ...]:
    """Return the measured values that a feature asks for; none if it asks for anything else.

    ``years`` is a child's age: what is fast in an adult is not in an infant.

    >>> [one.measured for one in asked_values("Tachycardia")], asked_values("Fever and cough")
    (['pulse'], ())
    >>> asked_values("Heart rate above 100")
    (AskedValues(measured='pulse', stated=(100.00000000000001, inf), open=(100.0, inf)),)
    """
    tokens = [token for token in find_tokens(feature) if token.kind != "newline"]
    table = measure_table()
    named: list[str] = []
    worded: list[tuple[ValueScale, str]] = []
    phrases: list[str] = []
    rest: list[str] = []
    figures: list[float] = []
    i = 0
    while i < len(tokens):
        form = tokens[i].form
        word, name = table.phrases.at(tokens, i), table.names.at(tokens, i)
        if word is not None and (name is None or word[1] >= name[1]):
            phrases.append(word[0])
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
    # "Fever and tachycardia" asks for both, "Fever or tachycardia" for one: left to the reader.
    if len(phrases) > 1 or (named == ["blood pressure"] and "high" in rest):
        return ()
    worded = [(_scale_at(scale, years), state) for scale, state in worded]
    scales = {name: _scale_at(measure_table().scales[name], years) for name in named}
    return _asked(scales, worded, frozenset(rest), figures)


def _scale_at(scale: ValueScale, years: float | None) -> ValueScale:
    """Return the scale for a child of an age where there is one."""
    own = None if years is None else child_scale(scale.measured, years)
    return own or scale


def _asked(
    named: dict[str, ValueScale],
    worded: list[tuple[ValueScale, str]],
    rest: frozenset[str],
    figures: list[float],
) -> tuple[AskedValues, ...]:
    """Return the values asked for by names, words for findings, other words and numbers."""
    kinds = (RAISED, LOWERED, ORDINARY, _ABOVE, _BELOW)
    raised, lowered, ordinary, above, below = (bool(rest & kind) for kind in kinds)
    if figures and list(named) == ["pack - years"]:
        rest -= _OF_SMOKING
    if rest - FILLING - _NEGATIONS - frozenset().union(*kinds) or len(figures) > 1:
        return ()
    denied = bool(rest & _NEGATIONS)
    all_measured = dict.fromkeys([*named, *(scale.measured for scale, _ in worded)])
    if figures:
        if len(all_measured) != 1 or (above and below) or raised or lowered or ordinary or denied:
            return ()
        (measured,) = all_measured
        unit = "mmol" if "mmol" in rest else ""
        limits = measure_table().limits[measured]
        (value,) = (in_table_unit(measured, x, unit, limits) for x in figures)
        if value is None:
            return ()
        if not above and not below:
            close = _EXACT * abs(value)
            near = (_ROUGHLY if measured == "pack - years" else _NEARLY) * abs(value)
            return (
                AskedValues(measured, (value - close, value + close), (value - near, value + near)),
            )
        bound = (value, math.inf) if above else (-math.inf, value)
        if rest & _INCLUSIVE:
            return (AskedValues(measured, bound, bound),)
        strict = math.nextafter(value, math.inf if above else -math.inf)
        stated = (strict, math.inf) if above else (-math.inf, strict)
        return (AskedValues(measured, stated, bound),)
    if above or below or (raised + lowered + ordinary) > 1:
        return ()
    if worded and not (named or raised or lowered or ordinary):
        found = [_range(scale, state) for scale, state in worded]
    elif len(named) == 1 and not worded and (raised or lowered or ordinary):
        state = "high" if raised else "low" if lowered else "normal"
        if rest & {"abnormal", "impaired"}:
            return ()
        found = [_range(next(iter(named.values())), state)]
    else:
        return ()
    if not denied:
        return tuple(found)
    one_sided = [one for one in found if math.inf in one.stated or -math.inf in one.stated]
    return tuple(_denied(one) for one in one_sided) if len(one_sided) == len(found) else ()
