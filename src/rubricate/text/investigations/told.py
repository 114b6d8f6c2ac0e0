"""What a note says of a test that it names: done before, or not to be done."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

from rubricate.text.investigations.table import NamedTest
from rubricate.text.words import RECENT_TEXTS

_SENTENCE = re.compile(r"(?<=[\w)][.;!?])\s|\n")


@lru_cache(maxsize=RECENT_TEXTS)
def sentence_starts(text: str) -> list[int]:
    """Return where the sentences and lines of a text begin."""
    return [0, *(match.end() for match in _SENTENCE.finditer(text))]


def sentence_of(text: str, place: int) -> tuple[int, int]:
    """Return where the sentence or line around a character begins and ends."""
    starts = sentence_starts(text)
    number = bisect_right(starts, place)
    return starts[number - 1], [*starts, len(text)][number]


_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|spring|summer|autumn|fall|winter)"
)
_SPAN = r"(?:days?|wks?|weeks?|mths?|mos?|months?|yrs?|years?|/52|/12|/7|[dwmy])"
#: Says of a test that it was done before.
_EARLIER = re.compile(
    rf"\b(?:last (?:wk|week|month|mth|yr|year|{_MONTH}|time|night|visit)\b|\d+ ?{_SPAN} (?:ago"
    rf"|back)\b|\b(?:a|an|one|two|three|four|five|six|few|some|several) {_SPAN}"
    r" (?:ago|back)\b|yesterday|y'?day\b|previously\b|(?:in|from|of) (?:19|20)\d\d\b"
    r"|(?<![-/\d])20[012]\d\b|done (?:outside|elsewhere|already|before|by)\b|already (?:done"
    r"|had)\b|earlier this\b|at (?:the |his |her |their |an? )?(?:gp|pcp|urgent care|walk-?in|osh"
    r"|outside|ob/?gyn|blood drive"
    r"|surgery|screening|health check|insurance|pharmacy)\b|on file\b)",
    re.IGNORECASE,
)
_IN_MONTH = re.compile(rf"\b(?:in|from|of|since) (?:early |late |mid-?)?{_MONTH}\b", re.IGNORECASE)
_RESULT = re.compile(
    r"\d|\b(?:normal|nl|wnl|nad|neg(?:ative)?|pos(?:itive)?|clear|fine|ok|okay|unremarkable|was"
    r"|were"
    r"|had|show(?:s|ed|n|ing)?|done|reveal(?:s|ed)|grew|good|stable|elevated|high|low)\b",
    re.IGNORECASE,
)
#: Says of a test that it is to be done, or is being done.
_TO_COME = re.compile(
    r"\b(?:re-?)?(?:order|request|repeat|check|send|sent|book|arrang|schedul|plan|refer|recommend"
    r"|suggest|need|due|will|would|should|shall|must|ask|get|obtain|next|today|now|tomorrow|tmrw"
    r"|await|pend|gone"
    r"|taken|drawn|start|going|again|want|for\b|follow|f/u|rpt|until|if\b|update|recheck|overdue|to)\w*",
    re.IGNORECASE,
)
#: Ends what is said of a test; a date may follow a comma: "a scan in her pregnancy, in 2021, …".
_BREAK = re.compile(r",(?!\s*(?:in|on|from|of) (?:\w+ )?(?:19|20)\d\d)|[;(\n→]|\.\s|\s-\s")
#: What was measured, with what else was: "Na 134, Cr 0.9 at the GP's".
_VALUES = re.compile(r"\s*[<>]?\d[\d./]*(?:\s*,\s*[A-Za-z]\w*\s+[<>]?\d[\d./]*)+")
_OLD_BEFORE = re.compile(
    r"\b(?:yesterday'?s|last (?:week|month|year|night)'?s|previous|prior|old|outside|earlier)\s*$",
    re.IGNORECASE,
)
_FAR = 50


def tells_of_before(words: str) -> bool:
    """Tell whether words say when or where before something was done: "at the GP's", "in 2021"."""
    return _EARLIER.search(words) is not None


def is_earlier(text: str, test: NamedTest) -> bool:
    """Tell whether a note tells of a test that was done some time before, and of none to be done.

    >>> from rubricate.text.investigations.table import named_tests
    >>> text = "FBC in March was normal. CXR from last month clear, repeat CT (last 2022)"
    >>> [is_earlier(text, one) for one in named_tests(text)]
    [True, True, False]
    """
    begin, end = sentence_of(text, test.start)
    before = text[begin : test.start]
    first = _VALUES.match(text, test.end, end)
    behind = text[first.end() if first else test.end : min(end, test.end + _FAR)]
    behind = _BREAK.split(behind, maxsplit=1)[0]
    clause = before[before.rfind(",") + 1 :] + text[test.start : test.end] + behind
    if _TO_COME.search(clause):
        return False
    if _EARLIER.search(behind) or _OLD_BEFORE.search(before):
        return True
    return bool(_IN_MONTH.search(behind) and _RESULT.search(behind))


#: Behind a test, or right before it: it is not to be done.
_NOT_BEHIND = re.compile(
    r"(?: (?!but\b|and\b|or\b|then\b|while\b|with\b|sent\b"
    r"|ordered\b)[\w'/-]+){0,4}? (?:not (?:be )?(?:needed|sent|ordered|required|reqd|req'?d"
    r"|indicated|done|repeated|called for|warranted|necessary|requested|performed|arranged|booked)"
    r"|unnecessary|need not"
    r"|deferred|declined|refused|cancell?ed|on hold|held off)\b",
    re.IGNORECASE,
)
_NOT_BEFORE = re.compile(
    r"\b(?:no need (?:for|of)|skip(?:ped|ping)?|hold(?:ing)? off(?: on)?|defer(?:red|ring)?"
    r"|declin(?:es|ed)|refus(?:es|ed)|decided against|without|avoid|not (?:order|ordering|sent"
    r"|sending|doing|getting|request\w*))"
    r"\s+(?:an?\s|the\s|any\s|further\s|repeat\s|for\s|on\s)*$",
    re.IGNORECASE,
)


_STILL_TO_COME = re.compile(
    r"\b(?:yet|book|schedul|order|arrang|await|wait|pend|tomorrow|tmrw|next|later|will|until|till)",
    re.IGNORECASE,
)


def is_refused(text: str, test: NamedTest) -> bool:
    """Tell whether a note says that a test is not needed, was not done or not wanted.

    >>> from rubricate.text.investigations.table import named_tests
    >>> text = "Skip dimer. A chest film is not needed. CT head, MRI deferred."
    >>> [is_refused(text, one) for one in named_tests(text)]
    [True, True, False, True]
    """
    begin, end = sentence_of(text, test.start)
    behind = _NOT_BEHIND.match(text, test.end, end)
    rest = text[behind.end() if behind else test.end : end]
    if _STILL_TO_COME.search(rest):  # "MRI not done yet, booked for Monday"
        return False
    return bool(behind or _NOT_BEFORE.search(text[begin : test.start]))
