"""Signs beside the words found that settle that they say nothing of what is, or the contrary."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rubricate.knowledge.tables import pattern
from rubricate.reading.clauses import LONGEST_STATEMENT
from rubricate.reading.note import NoteReading
from rubricate.requirement.requirement import Requirement
from rubricate.rules.reasons import Reason

_ADVISED = pattern("beside.advised")
_IN_CASE = pattern("beside.in_case")
_IF = pattern("beside.if")
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
_LITTLE = pattern("beside.little")
_MUCH = pattern("beside.much")
_LONG_AGO = pattern("beside.long_ago")
_LATELY = pattern("beside.lately")


def why_surely_not(
    asked: Requirement, reading: NoteReading, spans: Sequence[tuple[int, int]]
) -> Reason | None:
    """Return the reason in or right beside words of a note for which they cannot state a feature.

    >>> from rubricate.reading.note import read_note
    >>> from rubricate.requirement.requirement import read_requirement
    >>> note = read_note("ED if chest pain returns")
    >>> why_surely_not(read_requirement("Chest pain"), note, [(6, 16)])
    Reason(code='modality.advised', said='')
    >>> note = read_note("guarding -, rigidity +")
    >>> why_surely_not(read_requirement("Guarding"), note, [(0, 8)])
    Reason(code='polarity.minus', said='')
    >>> note = read_note("menopause at 53")
    >>> why_surely_not(read_requirement("Early menopause"), note, [(0, 15)])
    Reason(code='value.age', said='53')
    """
    text = reading.text
    start, end = spans[0][0], spans[-1][1]
    words, behind = text[start:end], re.split(r"[.;\n]", text[end : end + 30])[0]
    begin = max(0, start - LONGEST_STATEMENT)
    begin = max(begin, *(text.rfind(mark, begin, start) + 1 for mark in ".;\n"))
    if asked.says_recent and not asked.negated:
        said = text[begin:end] + behind
        if not _LATELY.search(said) and (match := _LONG_AGO.search(said)):
            return Reason("time.long_ago", match[0])
    if asked.says_too_much and not asked.says_negative:
        said = text[begin:end] + behind
        if (match := _LITTLE.search(said)) and not _MUCH.search(said):
            return Reason("value.drink", match[0])
    for low, high in asked.other_ages:
        ages = _AGE.findall(words) or _AGE.findall(words + behind)
        if len(ages) == 1 and low <= int(ages[0]) <= high:
            return Reason("value.age", ages[0])
    if asked.says_negative:
        return None
    if not asked.about_advice and end - start <= 60:
        clause = max(begin, text.rfind(",", 0, start) + 1)
        before = [match.end() for match in _ADVISED.finditer(text, clause, start)]
        if _ADVISED.match(words) or (before and before[-1] == start):
            return Reason("modality.advised")
        if _IN_CASE.search(text, max(begin, start - 120), start) or (
            _IF.match(words) and not asked.says_condition
        ):
            return Reason("modality.hypothetical")
    return Reason("polarity.minus") if _has_minus(reading, start, end) else None


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
