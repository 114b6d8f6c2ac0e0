"""Values that a note gives without the name of what is measured, before it, or as two readings.

Pregnancies and births from "G3P2" and "para 2+1", pack-years from packs and years, weeks of
gestation from "born at 39 wks" and "31+4", the fall of the pressure from one lying and one
standing, scores from "27/30 on the MoCA".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from rubricate.text.numbers import days_in, in_celsius
from rubricate.text.quantities import Quantity, quantities_of

_YEAR = days_in("year")
#: Cigarettes of a pack.
_IN_A_PACK = 20
#: "G3P2", "G3P1102": pregnancies and births (term, preterm, abortions, living).
_PREGNANCIES = re.compile(r"\bG\s?(\d{1,2})[,/ ]{0,2}P\s?(?:(\d)(\d)(\d)\d|(\d{1,2}))(?!\d)")
#: Between packs a day and for how long.
_FOR = re.compile(
    r",?\s?(?:for|x|×|over)?\s?(?:about |approximately |roughly |~|the past |the last )?"
)
#: "Born at 39 wks", "delivered 40+2", "Born 32/40"; "ex 31-weeker".
_BORN = re.compile(
    r"\b(?:born|delivered)(?: [a-z-]+){0,4}? ?(?:@ ?)?~?(?P<weeks>2[2-9]|3\d|4[0-3])"
    r"(?:\+(?P<days>[0-6])\b| (?P<sevenths>[0-6])/7|/40|[ -]?(?:w|wk|wks|weeks?)\b)(?! ago)"
    r"|\bbirth: ?(?P<at>2[2-9]|3\d|4[0-3])\+[0-6]\b|\bex[- ](?P<ex>2[2-9]|3\d)[- ]?(?:wk|week|/40)"
    r"|\b(?P<weeker>2[2-9]|3\d|4[0-3])[ -]?(?:wk|week)er\b",
    re.IGNORECASE,
)
#: What a text that speaks of a birth has at least one of; looking for words is fast.
_OF_BIRTH = ("born", "delivered", "birth:", "ex-", "ex ", "wker", "weeker")
_PRESSURE = r"(?:bp)?\W{0,3}(\d{2,3}) ?/ ?(\d{2,3})\b"
_LYING = r"\b(?:lying|supine|sitting|seated|recumbent)\b"
_STANDING = r"\b(?:standing|upright|stood)\b"
#: "Lying 142/70, standing 110/60", "142/70 lying, 110/60 standing".
_POSTURES = (
    re.compile(
        rf"{_LYING}\W{{0,3}}{_PRESSURE}[^\n;/]{{0,30}}?{_STANDING}\W{{0,3}}{_PRESSURE}", re.I
    ),
    re.compile(
        rf"\b(\d{{2,3}})/(\d{{2,3}})\W{{0,3}}{_LYING}\D{{0,30}}(\d{{2,3}})/(\d{{2,3}})"
        rf"[^\n;/]{{0,16}}?{_STANDING}",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(\d{2,3})/(\d{2,3}) ?(?:→|->|to) ?(\d{2,3})/(\d{2,3})"
        rf"[^\n;/.]{{0,16}}?(?:{_STANDING}|@ ?\d ?min)",
        re.IGNORECASE,
    ),
    re.compile(r"\bL(?:y)?:? (\d{2,3})/(\d{2,3})[ ,]+St?:? (\d{2,3})/(\d{2,3})\b"),
)


#: A temperature that stands alone, in degrees Celsius or Fahrenheit: "O/E: 38.3, HR 104".
_ALONE = re.compile(
    r"(?:(?<=[.;:] )|(?<=\n)|^)(3[5-9]\.\d|4[01]\.\d|9[5-9]\.\d|10[0-5]\.\d)(?=[.,;]?(?: |\n|$))"
    r"(?! ?(?:kg|cm|mg|g|mm|ml|mmol|lb|lbs|%|m|x|weeks|yrs)\b)"
    r"|\b(3[5-9](?:\.\d)?|4[01](?:\.\d)?)(?: ?°C?\b| ?degrees C\b| tympanic\b| axillary\b)"
    r"|\b(9[5-9](?:\.\d)?|10[0-5](?:\.\d)?) ?(?:°F?|F)\b"
)
#: "97% RA".
_ON_AIR = re.compile(r"\b([7-9]\d|100) ?% (?:on |in )?(?:RA|room air|air)\b")
#: "Para 2", "para 2+1" (births and losses), and no pregnancy at all.
_BIRTHS = re.compile(r"\b(?:para (\d)(?: ?\+ ?(\d))?|G0(?: ?P0)?)\b(?![+\d])", re.IGNORECASE)
_BOTH_ENZYMES = re.compile(r"\b(AST|ALT) ?/ ?(AST|ALT):? (\d{1,5}) ?/ ?(\d{1,5})\b")
#: Weeks of a pregnancy that goes on: "31+4", "31/40", "31 weeks pregnant", "is at 31 weeks".
_WEEKS = re.compile(
    r"(?:\b(?:is|now|currently|pregnant)(?: at)? (?P<at>[1-3]\d|4[0-2]) ?(?:wks?|weeks?)\b"
    r"|(?<![\d/+.])(?P<weeks>[1-3]\d|4[0-2])(?:\+(?P<days>[0-6])(?![\d/+%])|/40\b"
    r"|(?: (?P<sevenths>[0-6])/7)?[ -]?(?:wks?|weeks?)'?"
    r"(?: (?:of )?gestation(?:al age)?\b| pregnant\b| gravid\b| IUP\b| EGA\b| GA\b)))"
    r"(?! (?:ago|loss|miscarriage))",
    re.IGNORECASE,
)
#: Before weeks these tell of a birth or of another pregnancy.
_OTHER_PREGNANCY = re.compile(
    r"(?:#\d|\b(?:born|birth|delivered|del|delivery|ex|previous|prior|last|miscarr\w+|loss\w*|lost|tops?"
    r"|induced|preterm|premature|sister|cs|c/s|lscs|section\w*|svd|nvd|\d{4})\b)[^.;\n]{0,25}$",
    re.IGNORECASE,
)
_PREGNANT = re.compile(
    r"\bpregnan\w*|\bgravid\w*|\bprimip?\w*|\bG\d|\bpara \d|\bbooking\b|\bantenatal|\bprenatal"
    r"|\bf(?:o)?etal\b|\bFHR?\b|\bCTG\b|\bEDD\b|\blabou?r\b|\bcontract(?:ion|s|ing)",
    re.IGNORECASE,
)
#: Scores whose number stands before their name, by how the name begins, with the highest.
_SCORES = {
    "mmse": ("mmse", 30), "mini": ("mmse", 30), "folstein": ("mmse", 30), "moca": ("moca", 30),
    "montreal": ("moca", 30), "amt": ("amts", 10), "amts": ("amts", 10),
    "abbreviated": ("amts", 10), "gcs": ("coma scale", 15), "glasgow": ("coma scale", 15),
    "slums": ("slums", 30), "phq": ("phq - 9", 27), "gad": ("gad - 7", 21),
    "epworth": ("epworth scale", 24),
}  # fmt: skip
_SCORE_FIRST = re.compile(
    r"\b(\d{1,2}) ?(?:/|of|out of) ?(\d{2})\)? (?:on|in|for|by)"
    r" (?:(?:the|a|an|his|her|their|bedside|repeat) )*([a-z]+)",
    re.IGNORECASE,
)
#: "E3V4M6": eyes, voice and movement of the Glasgow coma scale.
_COMA = re.compile(r"\bE([1-4])[ ,/]?V([1-5])[ ,/]?M([1-6])\b", re.IGNORECASE)


class DerivedValue(NamedTuple):
    """A value of the table ``measured_values.tsv``, and where it stands."""

    measured: str
    value: float
    span: tuple[int, int]


def derive_values(text: str) -> Iterator[DerivedValue]:
    """Yield the values that a text gives by other words than a name and a number.

    >>> [(one.measured, one.value) for one in derive_values("G3P2. 2 ppd x 20 yrs")]
    [('gravidity', 3.0), ('parity', 2.0), ('pack - years', 40.0)]
    >>> [(one.measured, one.value) for one in derive_values("BP lying 140/80, standing 115/75")]
    [('postural fall', 25.0)]
    """
    if "G" in text:
        yield from _pregnancies(text)
    yield from _pack_years(text)
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
    for pattern in _POSTURES if text.count("/") > 1 else ():
        for match in pattern.finditer(text):
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


def _pack_years(text: str) -> Iterator[DerivedValue]:
    """Yield "40 pack-years", and packs a day times years; both ends of a range."""
    quantities = quantities_of(text)
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
    smoked = one.unit == "per day" and re.search("cig", one.span.text(text), re.IGNORECASE)
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
