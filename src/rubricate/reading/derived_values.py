"""Values that a note gives without the name of what is measured, before it, or as two readings.

Pregnancies and births from "G3P2" and "para 2+1", pack-years from packs and years, weeks of
gestation from "born at 39 wks" and "31+4", the fall of the pressure from one lying and one
standing, scores from "27/30 on the MoCA".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from rubricate.knowledge.tables import parts, pattern, phrases
from rubricate.reading.numbers import days_in, in_celsius
from rubricate.reading.quantities import Quantity

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


class DerivedValue(NamedTuple):
    """A value of the table ``measured_values.tsv``, and where it stands."""

    measured: str
    value: float
    span: tuple[int, int]


def derive_values(text: str, quantities: Sequence[Quantity]) -> Iterator[DerivedValue]:
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
        yield DerivedValue("coma scale", float(sum(map(int, match.groups()))), match.span())
    for match in _SCORE_FIRST.finditer(text):
        measured, highest = _SCORES.get(match[3].lower(), ("", 0))
        if measured and int(match[2]) == highest >= int(match[1]):
            yield DerivedValue(measured, float(match[1]), match.span())
    yield from _weeks_pregnant(text)
    lowered = text.lower()
    for match in _BORN.finditer(text) if any(one in lowered for one in _OF_BIRTH) else ():
        days = int(match["days"] or match["sevenths"] or 0)
        yield DerivedValue(
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
            yield DerivedValue("postural fall", float(fall), match.span())


def _unnamed(text: str) -> Iterator[DerivedValue]:
    """Yield values that their looks tell: temperatures, saturations on air, births, two enzymes."""
    for match in _ALONE.finditer(text):
        value = in_celsius(float(next(filter(None, match.groups()))), "")
        if value is not None:
            yield DerivedValue("temperature", value, match.span())
    for match in _ON_AIR.finditer(text) if "%" in text else ():
        yield DerivedValue("oxygen saturation", float(match[1]), match.span())
    for match in _BIRTHS.finditer(text):
        births, losses = int(match[1] or 0), int(match[2] or 0)
        yield DerivedValue("parity", float(births), match.span())
        if match[2]:
            yield DerivedValue("abortions", float(losses), match.span())
        # One earlier pregnancy, and perhaps the one that goes on: who is para 1 is left open.
        if not match[1] or births + losses > 1:
            yield DerivedValue("gravidity", float(births + losses), match.span())
    for match in _BOTH_ENZYMES.finditer(text) if "AST" in text or "ALT" in text else ():
        for name, figure in zip(match.groups()[:2], match.groups()[2:], strict=True):
            yield DerivedValue(name.lower(), float(figure), match.span())


def _weeks_pregnant(text: str) -> Iterator[DerivedValue]:
    """Yield how far a pregnancy has come, where a text is of one and not of an earlier one."""
    if not _PREGNANT.search(text):
        return
    for match in _WEEKS.finditer(text):
        if not _OTHER_PREGNANCY.search(text, max(0, match.start() - 40), match.start()):
            days = int(match["days"] or match["sevenths"] or 0)
            yield DerivedValue(
                "gestation", int(match["weeks"] or match["at"]) + days / 7, match.span()
            )


def _pregnancies(text: str) -> Iterator[DerivedValue]:
    for match in _PREGNANCIES.finditer(text):
        births = int(match[5]) if match[5] else int(match[2]) + int(match[3])
        yield DerivedValue("gravidity", float(match[1]), match.span())
        yield DerivedValue("parity", float(births), match.span())
        if match[3]:
            yield DerivedValue("preterm births", float(match[3]), match.span())
            yield DerivedValue("abortions", float(match[4]), match.span())


def _pack_years(text: str, quantities: Sequence[Quantity]) -> Iterator[DerivedValue]:
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
                yield DerivedValue("pack - years", round(value, 1), (start, end))


def _packs(text: str, one: Quantity) -> float:
    """Return how many packs a day one of a quantity is; 0 where it is no smoking."""
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
