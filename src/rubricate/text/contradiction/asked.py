"""What a feature asks for, read from its wording."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from rubricate.rubric import Feature
from rubricate.text import opposites
from rubricate.text.drugs import DrugName, drugs_among
from rubricate.text.numbers import figure, time_unit
from rubricate.text.quantities import Quantity
from rubricate.text.wordings import ReadWording, read_wording
from rubricate.text.words import Token, stem, word_set

EMPTY_WORDS = word_set(
    "a an the of in on at to for with and or by from as is are was were be been has have had his"
    " her their my he she they it patient pt any some does did do"
)


@dataclass(frozen=True, slots=True)
class AskedFor:
    """What one alternative of a feature asks for."""

    negated: bool
    plainly_negated: bool
    words: frozenset[str]
    quantities: tuple[Quantity, ...]
    numerals: frozenset[str]
    counts: frozenset[tuple[str, str]]
    sides: frozenset[str]
    heights: frozenset[str]
    sites: frozenset[str]
    persons: frozenset[str]
    any_relative: bool
    drugs: tuple[DrugName, ...]
    drug_names: frozenset[str]
    matters: tuple[tuple[str, frozenset[str]], ...]
    types: frozenset[str]
    limit: tuple[bool, float] | None
    forms: frozenset[str]
    about_advice: bool


@lru_cache(maxsize=4096)
def read_asked(feature: str) -> tuple[AskedFor, ...]:
    """Return what each alternative of a feature asks for."""
    return tuple(_read_alternative(part) for part in Feature("", "", feature).wordings)


def _read_alternative(text: str) -> AskedFor:
    wording = read_wording(text)
    tokens = wording.tokens
    forms = [token.form for token in tokens]
    drugs = drugs_among(wording.words)
    known = {
        matter: frozenset(table[form] for form in forms if form in table)
        for matter, table in opposites.MATTERS.items()
    }
    return AskedFor(
        negated=wording.denies or forms[:1] in (["no"], ["not"], ["never"]),
        plainly_negated=_plainly_negated(forms),
        words=frozenset(stem(form) for form in forms if form not in EMPTY_WORDS),
        quantities=_asked_quantities(wording),
        numerals=numerals_of(forms),
        counts=frozenset() if _COMPARING & set(forms) else counts_in(tokens),
        sides=sides_in(text, tokens, range(len(tokens))),
        heights=values_named(opposites.HEIGHTS, forms),
        sites=opposites.sites_named(forms),
        persons=persons_in(tokens, range(len(tokens))) or _whose_history(forms),
        any_relative=not opposites.ANY_RELATIVE.isdisjoint(forms),
        drugs=tuple(drug for _, drug in drugs),
        drug_names=frozenset(name for name, _ in drugs),
        matters=tuple((matter, values) for matter, values in known.items() if len(values) == 1),
        types=types_in(forms),
        limit=_limit_in(forms) if not wording.quantities[1:] else None,
        forms=frozenset(forms),
        about_advice=_ABOUT_ADVICE.search(text) is not None,
    )


#: Features that are themselves about advice, plans, wishes, fears or what is only possible.
_ABOUT_ADVICE = re.compile(
    r"\b(?:advi[cs]|afraid|agree|anxi|asks\b|attempt|avoids\b|await|barrier|belie[fv]|candidate\b"
    r"|chosen\b|concern|consider|contempl|counsel|decided\b|declin|desir|differential\b|discuss|due\b"
    r"|educat|encourag|explain|fear|follow|future\b|goal|hop(?:e|es|ed|ing)\b|if\b|instruct|inten[dt]"
    r"|motivat|needs?\b|next\b|offer|order(?:s|ed)?\b|overdue\b|pending\b|plan(?:s|ned|ning)?\b"
    r"|possible\b|precaution|prescri|prevent|prophyla|read[iy]|reassur|recommend|reduce\b|refer|refus"
    r"|reluct|request|requires\b|return|risk|safety\b|schedul|screen|seek|stopped\b|stress\b|suggest"
    r"|suspect|thinks\b|told\b|turned\b|upcoming\b|up\b|urge[ds]?\b|waiting\b|wants?\b|wanted\b|warn"
    r"|wish|worr|would\b|rule[ds]? out|exclu|evaluat|assess)",
    re.IGNORECASE,
)

#: Shorthand for types of diabetes.
_TYPES = {
    **dict.fromkeys(("t1dm", "dm1", "t1d", "iddm", "dmi"), "1"),
    **dict.fromkeys(("t2dm", "dm2", "t2d", "niddm", "dmii"), "2"),
}
_ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5", "one": "1", "two": "2"}
_NUMBERED = word_set("type stage class grade")


#: Scales that are named without the word for their steps: "NYHA III", "CKD 3b".
_SCALES = {
    "asa": "class", "nyha": "class", "killip": "class", "ckd": "stage", "bipolar": "type",
}  # fmt: skip
#: What is counted by ordinals before it: "second-degree burn".
_ORDINAL = {
    **dict.fromkeys(("first", "1st"), 1), **dict.fromkeys(("second", "2nd"), 2),
    **dict.fromkeys(("third", "3rd"), 3), **dict.fromkeys(("fourth", "4th"), 4),
}  # fmt: skip
_BY_ORDINAL = word_set("degree trimester")
_STEP = re.compile(r"(iv|v|i{1,3}|[1-5])[abc]?")
_OR = word_set("or and / - to")
_UPWARDS = word_set("worse higher more above greater")
_DOWNWARDS = word_set("better lower less below")


def types_in(forms: Sequence[str]) -> frozenset[str]:
    """Return the types and stages that word forms name: "type 2", "T1DM", "stage IV".

    >>> sorted(types_in("nyha class iii or iv".split())), sorted(types_in(["asa", "ii"]))
    (['class 3', 'class 4'], ['class 2'])
    >>> sorted(types_in("second - degree burn".split())), sorted(types_in(["bipolar", "ii"]))
    (['degree 2'], ['type 2'])
    """
    named = {f"type {_TYPES[form]}" for form in forms if form in _TYPES}
    plain = [form for form in forms if form != "-"]
    for form, what in pairwise(plain):
        if what in _BY_ORDINAL and form in _ORDINAL:
            named.add(f"{what} {_ORDINAL[form]}")
    for i, form in enumerate(forms[:-1]):
        before = forms[i - 1] if i else ""
        kind = _SCALES.get(before, form) if form in _NUMBERED else _SCALES.get(form)
        step = _step(forms[i + 1])
        if kind is None or step is None:
            continue
        steps, joined, *further = {step}, *forms[i + 2 : i + 4], ""
        if joined in _OR and further:
            if further[0] in _UPWARDS:
                steps |= set(range(step, 6))
            elif further[0] in _DOWNWARDS:
                steps |= set(range(1, step))
            elif (other := _step(further[0])) is not None:
                steps |= set(range(step, other + 1)) | {other}
        named |= {f"{kind} {one}" for one in steps}
    return frozenset(named)


def _step(form: str) -> int | None:
    """Return the number of a step: 3 of "III", "3" and "IIIb"."""
    match = _STEP.fullmatch(_ROMAN.get(form, form))
    return None if match is None else int(_ROMAN.get(match[1], match[1]))


def _limit_in(forms: Sequence[str]) -> tuple[bool, float] | None:
    """Return whether a feature asks for a value above a number, or below, and the number."""
    before, last = ["", "", *forms][-2:]
    numbers = [form for form in forms if form[:1].isdigit()]
    value = figure(last) if numbers == [last] and before in _ABOVE | _BELOW else None
    return None if value is None else (before in _ABOVE, value)


_ABOVE, _BELOW = word_set("above over > exceeding"), word_set("below under <")


def _plainly_negated(forms: Sequence[str]) -> bool:
    """Tell whether a feature denies all it names: "No fever", "Denies cough"."""
    if forms[:1] == ["non"]:  # "Non-smoker"
        return True
    if len(forms) < 2 or forms[0] not in _PLAIN_DENIALS:
        return False
    return forms[1] not in _NOT_PLAIN and not _NOT_PLAIN_ANYWHERE & set(forms)


_PLAIN_DENIALS = word_set("no denies denied nil absence never without")
_NOT_PLAIN = word_set(
    "more less longer relief change changes improvement better worse response benefit need effect"
    " help tears one difference increase decrease missed other prior previous recent new known"
)

_NOT_PLAIN_ANYWHERE = word_set("when despite without unless except only other than until")

_AT_MOST = word_set(
    "within last past recent recently under before younger below less up smaller fewer shorter"
    " thinner narrower lighter slower"
)

_AT_LEAST = word_set(
    "over more least greater exceeding beyond older above after longer larger bigger thicker wider"
    " deeper heavier taller faster"
)

_COMPARING = _AT_MOST | _AT_LEAST | word_set("or to only almost nearly about")

_NUMBER_WORDS = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    "twenty",
]  # fmt: skip

_SAME_NUMBER = {
    **{word: str(i) for i, word in enumerate(_NUMBER_WORDS)},
    "once": "1", "twice": "2", "thrice": "3", "a": "1", "an": "1", "single": "1", "second": "2",
    "third": "3", "first": "1", "fourth": "4", "couple": "2", "thirty": "30", "forty": "40",
    "fifty": "50", "sixty": "60",
}  # fmt: skip

_MINUTE = 1 / 24 / 60


def numerals_of(forms: Sequence[str]) -> frozenset[str]:
    """Return the numbers among word forms, in digits."""
    return frozenset(
        _SAME_NUMBER.get(form, form)
        for form in forms
        if (form[0].isdigit() or form in _SAME_NUMBER) and form not in ("a", "an")
    )


def _asked_quantities(wording: ReadWording) -> tuple[Quantity, ...]:
    """Return what a feature asks for in numbers; "within 4 weeks" asks for at most as much."""
    found: list[Quantity] = []
    tokens = wording.tokens
    for quantity in wording.quantities:
        if quantity.kind == "number" or (
            quantity.kind == "duration" and quantity.high < 0.9 * _MINUTE
        ):
            continue
        earlier = [token.form for token in tokens if token.end <= quantity.span.start]
        before = set(earlier) - ({"last"} if _is_lasting(earlier) else set())
        after = [token.form for token in tokens if token.start >= quantity.span.end][:2]
        if after[:1] == ["ago"]:  # "Last drink 24 hours ago"
            before -= {"last"}
        # "5 days or longer"; "or" alone begins another alternative.
        bound = set(after[1:]) if after[:1] == ["or"] else set()
        if before & _AT_MOST or bound & _AT_MOST or _in_the_last(tokens, quantity):
            quantity = replace(quantity, low=0.0)
        # "10 lb over 3 months" took 3 months; "pain over 3 months" more than that.
        over_a_time = quantity.kind == "duration" and bool(found) and "over" in before
        if (before & _AT_LEAST and not over_a_time) or bound & _AT_LEAST:
            quantity = replace(quantity, high=math.inf)
        if quantity.kind == "frequency":
            # Who does it three times a day does it daily.
            own = [
                t.form
                for t in tokens
                if t.end > quantity.span.start and t.start < quantity.span.end
            ]
            plain = not numerals_of(own)
            quantity = replace(quantity, high=math.inf) if plain else quantity
        found.append(quantity)
    return tuple(found)


def _is_lasting(forms: Sequence[str]) -> bool:
    """Tell whether "last" says how long: "Episodes last 30 minutes", not "symptoms in the last"."""
    return any(
        after == "last" and form.endswith("s") and form not in _NO_PLURAL
        for form, after in pairwise(forms)
    )


_NO_PLURAL = word_set("is was has this his its does ms us menses")


def _in_the_last(tokens: Sequence[Token], quantity: Quantity) -> bool:
    """Tell whether a time is one that something lies in: "in the past year", "in first 24 h"."""
    forms = [t.form for t in tokens if t.start < quantity.span.end]
    near = [form for form in forms[-5:] if form != "the"]
    return any(
        one in ("in", "within", "during") and other in ("past", "last", "first", "previous")
        for one, other in pairwise(near)
    )


def values_named(table: dict[str, str], forms: Sequence[str]) -> frozenset[str]:
    """Return the values that word forms have in a table."""
    return frozenset(table[form] for form in forms if form in table)


def persons_in(tokens: Sequence[Token], where: Sequence[int]) -> frozenset[str]:
    """Return the relatives and others that some tokens name."""
    found = set()
    for i in where:
        person = _person_at(tokens, i)
        if person:
            law = [t.form for t in tokens[i + 1 : i + 5]] == ["-", "in", "-", "law"]
            found.add(f"{person}-in-law" if law else person)
    return frozenset(found)


def _person_at(tokens: Sequence[Token], i: int) -> str:
    """Return whom a token names: the aunt in "mother's sister", nobody in "on dad's side"."""
    if not opposites.names_person(tokens[i].form):
        return ""
    form, *after = (token.form for token in tokens[i : i + 4])
    if opposites.names_reflexes(form, *after):
        return ""
    before = [token.form for token in tokens[max(0, i - 3) : i]]
    of_whom = before[:-2] + before[-2:-1] if "of" in before[-2:] else []
    if after[:1] == ["side"] or any(opposites.kin_of_kin(f"{form}s", who) for who in of_whom):
        return ""
    kin = (one for one in after if one not in opposites.AGES_OF_KIN)
    if opposites.kin_of_kin(form, next(kin, "")):
        return ""
    # "Her brother's little boy", "dad's younger sister".
    near = (one for one in reversed(before) if one not in opposites.AGES_OF_KIN)
    owners = [next(near, "")]
    if after[:1] == ["of"]:
        owners += [f"{one}s" for one in after[1:]]
    own = (opposites.kin_of_kin(owner, form) for owner in owners)
    return next(filter(None, own), "") or opposites.PERSONS.get(form, "")


def _whose_history(forms: Sequence[str]) -> frozenset[str]:
    """Return the relative whose history a feature asks for: "Maternal history of gout"."""
    asked = "history" in forms or "hx" in forms
    return values_named(opposites.WHOSE_HISTORY, forms) if asked else frozenset()


def counts_in(tokens: Sequence[Token]) -> frozenset[tuple[str, str]]:
    """Return what is counted, with the number: ("pillow", "3").

    Only whole numbers up to 99 count things; what has a unit or says how often is a quantity.
    """
    found = set()
    tokens = [token for token in tokens if token.form not in _EARLIER]
    for before, token, after in zip([None, *tokens], tokens, tokens[1:], strict=False):
        number = _SAME_NUMBER.get(token.form, token.form)
        plain = token.form not in _NO_COUNT and (before is None or before.form not in _TENS)
        if plain and number.isdigit() and len(number) < 3 and _is_thing(after):
            found.add((stem(after.form), number))
    return frozenset(found)


def _is_thing(token: Token) -> bool:
    named = token.kind == "word" and token.form not in EMPTY_WORDS | _NO_THING
    return named and time_unit(token.form) is None


#: Between a number and what is counted: "two previous miscarriages".
_EARLIER = word_set("previous prior past earlier separate different other more")
_TENS = word_set("- / to twenty thirty forty fifty sixty seventy eighty ninety")

_NO_COUNT = word_set("a an second first third fourth single once twice thrice")
#: Smoking is a quantity, with its own units: "40 pack-years".
_NO_THING = word_set("pack packs pk")


def sides_in(text: str, tokens: Sequence[Token], where: Sequence[int]) -> frozenset[str]:
    """Return the sides of the body that some tokens name."""
    found = set()
    for i in where:
        token = tokens[i]
        side = opposites.SIDES.get(token.form)
        if side is None:
            continue
        after = tokens[i + 1].form if i + 1 < len(tokens) else ""
        before = tokens[i - 1].form if i else ""
        if len(token.form) == 1 and (text[token.start].islower() or tokens[i - 1].kind == "number"):
            continue
        if token.form in opposites.EYES and not _is_eye(text, tokens, i):
            continue
        if token.form in ("left", "right") and (
            after in opposites.NO_SIDE_AFTER
            or (after == "hand" and _DOMINANT & {t.form for t in tokens[i + 2 : i + 4]})
            or (before in opposites.NO_SIDE_BEFORE and after not in _SIDED)  # "has left knee pain"
        ):
            continue
        found.add(side)
    return frozenset(found)


_DOMINANT = word_set("dominant dominance dominated preference")
_SIDED = frozenset(opposites.SITES) | frozenset(opposites.HEIGHTS) | word_set("sided side -")


def _is_eye(text: str, tokens: Sequence[Token], i: int) -> bool:
    """Tell whether "OD" and the like name an eye; after a dose it is "once daily"."""
    written = text[tokens[i].start : tokens[i].end]
    before = tokens[i - 1] if i else tokens[i]
    return written.isupper() and before.kind != "number" and before.form not in _DOSES


_DOSES = word_set("mg mcg g ml units unit tab tabs tablet drops")
