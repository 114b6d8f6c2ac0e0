"""Words that tell of an earlier time, or of a result of it: "2 mths back", "nl in Feb"."""

from __future__ import annotations

import re

_SEASON = r"(?:spring|summer|autumn|fall|winter)"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_SPAN = r"(?:days?|wks?|weeks?|mths?|mos?|months?|yrs?|years?|/52|/12|/7|[dwmy])"
#: "Last night" is left out: what began then goes on.
_EARLIER = re.compile(
    rf"\b(?:last|previous) (?:week|wk|month|mo|mth|year|yr|time|visit|{_SEASON}|{_MONTH})\b"
    rf"|\bin the (?:{_SEASON}|(?:19)?\d0'?s)\b|\bin (?:college|high school|infancy|childhood)\b"
    rf"|\bfor years\b|(?<![a-z]){_SPAN} (?:back|earlier)\b|\bago\b|\by'?day\b|\byesterday\b"
    r"|\bpreviously\b|\bon file\b|\bused to\b|\bearlier this\b|\balready (?:done|had)\b"
    r"|(?<!\btil )(?<!\btill )(?<!\buntil )(?<![-/\d])(?:19|20)[0-2]\d\b"
    r"|\bas a (?:child|boy|girl|teen\w*)\b"
    r"|\bin (?:her|a) (?:first|second|third|last|previous|earlier) pregnancy\b"
    r"|\bdone (?:outside|elsewhere|already|before|by)\b"
    r"|\bat (?:the |his |her |their |an? )?(?:gp|pcp|urgent care|walk-?in|osh|outside|ob/?gyn"
    r"|blood drive|surgery|screening|health check|insurance|pharmacy)\b",
    re.IGNORECASE,
)
#: A month may lie ahead, unless a result is given with it.
_IN_A_MONTH = re.compile(
    rf"\b(?:in|from|of|since) (?:early |late |mid-?)?(?:{_MONTH}|{_SEASON})\b", re.IGNORECASE
)
_RESULT = re.compile(
    r"\d|\b(?:normal|nl|wnl|nad|neg(?:ative)?|pos(?:itive)?|clear|fine|ok|okay|unremarkable|was"
    r"|were|had|show(?:s|ed|n|ing)?|done|reveal(?:s|ed)|grew|good|stable|elevated|high|low)\b",
    re.IGNORECASE,
)


def names_earlier_time(words: str) -> bool:
    """Tell whether words name an earlier time or place: "in 2021", "2 mths back", "at the GP's".

    >>> names_earlier_time("USG done outside"), names_earlier_time("USG tomorrow")
    (True, False)
    >>> names_earlier_time("3/52 back"), names_earlier_time("low back pain")
    (True, False)
    """
    return _EARLIER.search(words) is not None


def tells_of_before(words: str) -> bool:
    """Tell whether words name an earlier time, or a month with a result.

    >>> tells_of_before("TSH nl in Feb"), tells_of_before("MRI in February")
    (True, False)
    """
    if names_earlier_time(words):
        return True
    return bool(_IN_A_MONTH.search(words) and _RESULT.search(words))
