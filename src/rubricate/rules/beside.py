"""Signs beside the words found that settle that they say nothing of what is, or the contrary.

"Orders BNP" asks for a decision of this visit; "BNP 40 in Jan" tells of an earlier one: it does not
contradict the feature, but states nothing of it either (`says_nothing_of_now`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from rubricate.knowledge.tables import parts, pattern
from rubricate.reading.clauses import LONGEST_STATEMENT
from rubricate.reading.earlier import names_earlier_time, tells_of_before
from rubricate.reading.note import NoteReading
from rubricate.requirement.asked import read_asked
from rubricate.rules.reasons import Reason

_NEGATIVE = pattern("beside.negative")
_ADVISED = pattern("beside.advised")
_IN_CASE = pattern("beside.in_case")
_IF = pattern("beside.if")
_UNDER = pattern("beside.under")
_MINUS = pattern("beside.minus")
_MINUS_AT_END = pattern("beside.minus_at_end")
_MINUS_BEFORE = pattern("beside.minus_before")
_MINUS_FIRST = pattern("beside.minus_first")
#: Where signs behind words say what is there and what is not, a minus may stand before more words.
_SIGNS = (pattern("beside.plus_sign"), pattern("beside.minus_sign"))
_LEAST_SIGNS = 2
_LOOSE_MINUS = pattern("beside.loose_minus")
_LOOSE_WITHIN = pattern("beside.loose_within")
_LISTED_MINUS = pattern("beside.listed_minus")
_PLUS_BEFORE = pattern("beside.plus_before")
_AGE = pattern("beside.age")
_BEFORE_AGE = pattern("beside.before_age")
#: Features that name a time of life, and the ages that contradict them.
_TIMES_OF_LIFE = tuple(
    (pattern(f"beside.{time}"), int(low), int(high))
    for time, (low, high) in parts("beside.other_ages").items()
)
_TOO_MUCH = pattern("beside.too_much")
_LITTLE = pattern("beside.little")
_MUCH = pattern("beside.much")
_RECENT = pattern("beside.recent")
_LONG_AGO = pattern("beside.long_ago")
_LATELY = pattern("beside.lately")


def why_surely_not(
    feature: str, reading: NoteReading, spans: Sequence[tuple[int, int]]
) -> Reason | None:
    """Return why words of a note cannot state a feature, by what stands in or right beside them.

    >>> from rubricate.reading.note import read_note
    >>> why_surely_not("Chest pain", read_note("ED if chest pain returns"), [(6, 16)])
    Reason(code='modality.advised', said='')
    >>> why_surely_not("Guarding", read_note("guarding -, rigidity +"), [(0, 8)])
    Reason(code='polarity.minus', said='')
    >>> why_surely_not("Early menopause", read_note("menopause at 53"), [(0, 15)])
    Reason(code='value.age', said='53')
    """
    text = reading.text
    start, end = spans[0][0], spans[-1][1]
    words, behind = text[start:end], re.split(r"[.;\n]", text[end : end + 30])[0]
    begin = max(0, start - LONGEST_STATEMENT)
    begin = max(begin, *(text.rfind(mark, begin, start) + 1 for mark in ".;\n"))
    kind = _kind_of(feature)
    if kind.recent and not any(one.negated for one in read_asked(feature)):
        said = text[begin:end] + behind
        if not _LATELY.search(said) and (match := _LONG_AGO.search(said)):
            return Reason("time.long_ago", match[0])
    if kind.too_much and not kind.negative:
        said = text[begin:end] + behind
        if (match := _LITTLE.search(said)) and not _MUCH.search(said):
            return Reason("value.drink", match[0])
    for low, high in kind.other_ages:
        ages = _AGE.findall(words) or _AGE.findall(words + behind)
        if len(ages) == 1 and low <= int(ages[0]) <= high:
            return Reason("value.age", ages[0])
    if kind.negative:
        return None
    about_advice = any(one.about_advice for one in read_asked(feature))
    if not about_advice and end - start <= 60:
        clause = max(begin, text.rfind(",", 0, start) + 1)
        before = [match.end() for match in _ADVISED.finditer(text, clause, start)]
        if _ADVISED.match(words) or (before and before[-1] == start):
            return Reason("modality.advised")
        if _IN_CASE.search(text, max(begin, start - 120), start) or (
            _IF.match(words) and not kind.under
        ):
            return Reason("modality.hypothetical")
    return Reason("polarity.minus") if _has_minus(reading, start, end) else None


class _FeatureKind(NamedTuple):
    """Of which kinds a feature has words, and the ages that contradict its time or limit."""

    negative: bool
    under: bool
    too_much: bool
    recent: bool
    other_ages: tuple[tuple[int, int], ...]


@lru_cache(maxsize=4096)
def _kind_of(feature: str) -> _FeatureKind:
    """Return of what kind a feature is; it is asked again for every finding."""
    times = [(low, high) for asked, low, high in _TIMES_OF_LIFE if asked.search(feature)]
    limits = [int(age) for age in _BEFORE_AGE.findall(feature)]
    if len(limits) == 1:
        times.append((limits[0] + 1, 99))
    return _FeatureKind(
        negative=_NEGATIVE.search(feature) is not None,
        under=_UNDER.search(feature) is not None,
        too_much=_TOO_MUCH.search(feature) is not None,
        recent=_RECENT.search(feature) is not None,
        other_ages=tuple(times),
    )


def _has_signs(reading: NoteReading) -> bool:
    """Tell whether signs behind words of a note say what is there and what is not."""
    return all(len(sign.findall(reading.text)) >= _LEAST_SIGNS for sign in _SIGNS)


def _has_minus(reading: NoteReading, start: int, end: int) -> bool:
    """Tell whether a minus sign denies the words: "edema -", "(-) edema"."""
    text = reading.text
    # A sign before a comma belongs to what was named before: "guarding +, rigidity -".
    words, before = text[start:end].lstrip("+-−–,; "), text[max(0, start - 6) : start]
    # A plus right before the words is theirs, one behind a stop or comma that of others.
    if "+" in words or _PLUS_BEFORE.search(before) or any(one.isdigit() for one in words):
        return False
    after = text[end : end + 25]
    if reading.once(_has_signs) and (
        _LOOSE_MINUS.match(after) or _LOOSE_WITHIN.match(words) or _LISTED_MINUS.search(before)
    ):
        return True
    if _MINUS_FIRST.match(text, start) and _MINUS_BEFORE.search(f"{before}{text[start]}"):
        return True
    return bool(
        _MINUS.match(after)
        or _MINUS_BEFORE.search(before)
        or (_MINUS_AT_END.search(words) and not after[:1].isalnum())
    )


_ASKS_FOR_NOW = pattern("beside.asks_for_now")
_DECIDED = pattern("beside.decided")


_ASKS_FOR_ORDER = pattern("beside.asks_for_order")
_CONDITION = pattern("beside.condition")
_IF_AFTER = pattern("beside.if_after")
_IF_WITHIN = pattern("beside.if_within")
_IF_FIRST = pattern("beside.if_first")


@lru_cache(maxsize=4096)
def asks_for_now(feature: str) -> bool:
    """Tell whether a feature asks for what is ordered, begun, advised or thought at this visit.

    >>> asks_for_now("Orders chest X-ray"), asks_for_now("Differential: pulmonary embolism")
    (True, True)
    >>> asks_for_now("Previous chest X-ray"), asks_for_now("Started metformin last year")
    (False, False)
    """
    return _ASKS_FOR_NOW.search(feature) is not None and not names_earlier_time(feature)


def says_nothing_of_now(
    feature: str, reading: NoteReading, spans: Sequence[tuple[int, int]]
) -> bool:
    """Tell whether words tell of an earlier time or of a condition, where a feature asks for now.

    Every place of the words must stand in a sentence that names an earlier time and has no word
    of a decision; or, of what is to be ordered, beside a condition.

    >>> from rubricate.reading.note import read_note
    >>> text = "BNP 40 in Jan, echo 2 yrs ago. CXR 2019 clear, will repeat today. MRI if worse."
    >>> note = read_note(text)
    >>> says_nothing_of_now("BNP ordered", note, [(0, 13)])
    True
    >>> says_nothing_of_now("BNP", note, [(0, 13)])
    False
    >>> says_nothing_of_now("Orders chest X-ray", note, [(31, 34)])
    False
    >>> says_nothing_of_now("Orders MRI", note, [(66, 69)])
    True
    """
    if asks_for_now(feature) and all(_is_earlier(reading, *span) for span in spans):
        return True
    return _asks_for_order(feature) and all(_is_conditional(reading, *span) for span in spans)


@lru_cache(maxsize=4096)
def _asks_for_order(feature: str) -> bool:
    return _ASKS_FOR_ORDER.search(feature) is not None and _CONDITION.search(feature) is None


def _is_conditional(reading: NoteReading, start: int, end: int) -> bool:
    """Tell whether words stand right before a condition, hold one or follow one: "MRI if worse"."""
    text = reading.text
    if _IF_AFTER.match(text, end) or _IF_WITHIN.search(text, start, end):
        return True
    begin, _ = reading.statement(start, end)
    return _IF_FIRST.match(text[begin:start]) is not None


def _is_earlier(reading: NoteReading, start: int, end: int) -> bool:
    sentence = reading.text[slice(*reading.statement(start, end))]
    return tells_of_before(sentence) and not _DECIDED.search(sentence)
