"""What a note says of a test that it names: done before, or not to be done."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

from rubricate.text.earlier import tells_of_before
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
#: "Last year clear, repeat it today"; with another name behind it is another test's.
_AGAIN = re.compile(
    r"\b(?:repeat|rpt|re-?check)(?: (?:it|this|today|now|in|at|next|tomorrow)\b|(?! \w))", re.I
)
_FAR = 50


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
    if _TO_COME.search(clause) or _AGAIN.search(text, test.end, end):
        return False
    return tells_of_before(behind) or _OLD_BEFORE.search(before) is not None


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
