"""Words that tell of what was done or found before, where a feature asks for what is done now.

"Orders BNP" asks for a decision of this visit; "BNP 40 in Jan" tells of an earlier one. It does not
contradict the feature, but states nothing of it either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_DIFFERENTIAL = r"(?:differential(?: diagnos[ie]s)?|ddx)"
#: Features of what is ordered, begun, advised or thought at this visit.
_ASKS_FOR_NOW = re.compile(
    r"^(?:orders|requests|arranges|books|refers|starts|begins|initiates|commences|prescribes|gives"
    r"|administers|recommends|advises|counsell?s|offers|provides|schedules|obtains|sends|checks"
    r"|performs|tests for|repeats|suggests|adds|ordered(?=\s*:)|diagnoses|lists|includes|considers"
    rf"|{_DIFFERENTIAL}|(?:most likely|leading|working|final) diagnosis)\b"
    rf"|\b(?:ordered|requested)\.?$|\b(?:in|on) (?:the )?{_DIFFERENTIAL}\b"
    r"|\b(?:(?:is|as) (?:the )?)?(?:most likely|(?:most likely|leading|working) diagnosis)\.?$",
    re.IGNORECASE,
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_EARLIER = re.compile(
    rf"\b(?:last|previous) (?:week|month|year|yr|spring|summer|autumn|fall|winter|visit|{_MONTH})\b"
    r"|\b(?:d|days?|wks?|weeks?|mos?|mths?|months?|yrs?|years?) (?:back|earlier)\b|\bago\b"
    r"|\by'?day\b|\byesterday\b|\bpreviously\b|\b(?:19|20)[0-2]\d\b|\bon file\b|\bused to\b"
    r"|\bas a (?:child|boy|girl|teen\w*)\b|\bin childhood\b"
    r"|\bin (?:her|a) (?:first|second|third|last|previous|earlier) pregnancy\b",
    re.IGNORECASE,
)
#: A month may lie ahead, unless the words give a result.
_IN_A_MONTH = re.compile(rf"\b(?:in|since) (?:early |late )?{_MONTH}\b", re.IGNORECASE)
_RESULT = re.compile(
    r"\b(?:was|were|had|showed|normal|nl|neg(?:ative)?|nad|ok|clear|fine|done|\d+(?:\.\d+)?)\b",
    re.IGNORECASE,
)
#: Beside what was before, these words say that something is done, thought or to come now.
_NOW = re.compile(
    r"\b(?:will|orders?|ordered|ordering|repeat\w*|rpt|re-?check\w*|again|today|now|plan\w*|needs?"
    r"|due|check|request\w*|refer|refers|referral|referring|send|start\w*|advis\w*|recommend\w*"
    r"|arrang\w*|book\w*|schedul\w*|to have|offer\w*|prescri\w*|counsel\w*|discuss\w*|restart\w*"
    r"|resum\w*|r/o|rule|consider\w*|likely|vs|versus|dx|ddx|impression|imp|diff\w*|tomorrow|next"
    r"|add\w*|give|gave|giving|tell|told|suspect\w*|concern\w*|possib\w*|recurr\w*|still|ongoing"
    r"|continu\w*|increas\w*|chang\w*|switch\w*)\b|\?|→|->|\b[AP]:",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.!?](?=\s|$)|[;\n]")


@lru_cache(maxsize=4096)
def asks_for_now(feature: str) -> bool:
    """Tell whether a feature asks for what is ordered, begun, advised or thought at this visit.

    >>> asks_for_now("Orders chest X-ray"), asks_for_now("Differential: pulmonary embolism")
    (True, True)
    >>> asks_for_now("Previous chest X-ray"), asks_for_now("Started metformin last year")
    (False, False)
    """
    return _ASKS_FOR_NOW.search(feature) is not None and _EARLIER.search(feature) is None


def tells_of_earlier(feature: str, text: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Tell whether words only tell of an earlier time, where a feature asks for what is done now.

    Every place of the words must stand in a sentence that names an earlier time and has no word
    of a decision.

    >>> text = "BNP 40 in Jan, echo 2 yrs ago. CXR 2019 clear, will repeat today."
    >>> tells_of_earlier("BNP ordered", text, [(0, 13)]), tells_of_earlier("BNP", text, [(0, 13)])
    (True, False)
    >>> tells_of_earlier("Orders chest X-ray", text, [(31, 34)])
    False
    """
    return asks_for_now(feature) and all(_is_earlier(_sentence(text, *span)) for span in spans)


def _is_earlier(sentence: str) -> bool:
    dated = _EARLIER.search(sentence) or (_IN_A_MONTH.search(sentence) and _RESULT.search(sentence))
    return bool(dated) and not _NOW.search(sentence)


def _sentence(text: str, start: int, end: int) -> str:
    """Return the sentence, line or part before a semicolon that words stand in."""
    begin = max((stop.end() for stop in _STOP.finditer(text, 0, start)), default=0)
    close = _STOP.search(text, end)
    return text[begin : close.start() if close else len(text)]
