"""Whether a note orders a test that a feature asks for: "Plan: FBC, TFTs, TVUS".

Another test, or the same one done some time before, neither states nor contradicts that a test was
ordered: such words say nothing of the feature.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rubricate.rubric import Feature
from rubricate.text.clauses import statement_of, statement_starts
from rubricate.text.contradiction.place import TextReading, find_place
from rubricate.text.earlier import names_earlier_time, tells_of_before
from rubricate.text.investigations.asked import (
    asked_tests,
    asks_for_past,
    asks_for_test,
    asks_to_order,
    read_tests,
    says_only_tests,
)
from rubricate.text.investigations.table import NamedTest, may_be, named_tests, states
from rubricate.text.words import word_set

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

    >>> text = "FBC in March was normal. CXR from last month clear, repeat CT (last 2022)"
    >>> [is_earlier(text, one) for one in named_tests(text)]
    [True, True, False]
    """
    begin, end = statement_of(text, test.start)
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

    >>> text = "Skip dimer. A chest film is not needed. CT head, MRI deferred."
    >>> [is_refused(text, one) for one in named_tests(text)]
    [True, True, False, True]
    """
    begin, end = statement_of(text, test.start)
    behind = _NOT_BEHIND.match(text, test.end, end)
    rest = text[behind.end() if behind else test.end : end]
    if _STILL_TO_COME.search(rest):  # "MRI not done yet, booked for Monday"
        return False
    return bool(behind or _NOT_BEFORE.search(text[begin : test.start]))


#: Groups so large that their names tell no test: "bloods for KCNQ1" is a genetic test.
_LARGE = word_set("imaging biopsy culture swab serology endoscopy cytology") | {
    "blood test", "urine test", "stool test", "nuclear scan", "cardiac workup", "endocrine workup",
}  # fmt: skip
#: A line of the plan.
_PLAN = re.compile(
    r"\s*(?:\d+[.)]\s*)?(?:plan|p|a ?/ ?p|a ?& ?p|ix|inv(?:estigations?|x)?|w/?u|work-?up|orders?"
    r"|adv(?:ice|ised)?|recs?|recommend\w*|to do|next steps?|(?:diagnostic )?(?:tests|studies)"
    r"|(?:assessment|impression) (?:and|&) plan|diagnostic work-?up|bloods|labs)\s*[:\-–]",
    re.IGNORECASE,
)
#: Words of who orders a test.
_ORDERS = re.compile(
    r"\b(?:orders?|ordered|ordering|requests?|requested|requesting|check|checking|recheck|send"
    r"|sending|obtain|get|getting|book|booked|arranged?|arranging|scheduled?|asked for|will need"
    r"|needs|repeat"
    r"|repeated|repeating|rpt|refer(?:red)? for|draw|drawing|to have|organi[sz]ed?)\b",
    re.IGNORECASE,
)
#: Words that leave a doubt whether a test named beside them is ordered.
_DOUBT = re.compile(
    r"\b(?:no|not|nor|neither|never|(?:without|w/o)(?! con)|declin\w*|refus\w*|defer\w*|if|unless"
    r"|only|consider\w*|might|maybe|could|may|would|until|till|hold|cancel\w*|skip\w*|later"
    r"|instead|place|rather|avoid\w*|unnecessary|last|previous\w*|prior|ago|already|was|were|had"
    r"|normal|nl|wnl|nad|neg|negative|once|whether|discuss\w*|offer\w*|wait|pending|old|yesterday"
    r"|after|when|should|results?|show\w*|review\w*|husband|wife|mother|father|mum|mom|dad"
    r"|daughter|son|brother|sister|friend|back|outside"
    r"|done|clear|fine|think|next|contraindicated|revisit|declines|pcp|gp)\b|[?∅]|n['’]t\b",
    re.IGNORECASE,
)
#: What may follow the name of a test that is ordered.
_GOES_ON = re.compile(
    r"\s*(?:[,.;:+&/)(\n]|$|-\s|(?:and|or|now|today|tonight|tomorrow|tmrw|stat|asap|with|w/?|for"
    r"|to|x ?\d|of|on|urgently|ordered|requested|sent|booked|arranged|scheduled|level|panel|test"
    r"|scan|screen|in|at|by"
    r"|ha(?:s|ve) (?:gone|been (?:ordered|requested|sent))|gone|through|via|under)\b)",
    re.IGNORECASE,
)
#: Says behind a test that it is ordered.
_IS_ORDERED = re.compile(
    r"\s*(?:(?:is|are|has been|have been|being) )?(?:ordered|requested|booked|arranged|scheduled"
    r"|organi[sz]ed"
    r"|ha(?:s|ve) gone)\b",
    re.IGNORECASE,
)
#: At the end of a list: what came of all tests in it.
_RESULT = re.compile(
    r"\b(?:normal|nl|wnl|nad|unremarkable|all (?:neg\w*|fine|ok|clear|good))\b", re.IGNORECASE
)
#: Ends what is said of a test, unless a condition follows: "CT, if no better".
_ITEM_END = re.compile(r"[,;](?! ?(?:but |and |or )?(?:if|unless|only|once|when|not|pending)\b)")
_ALL_OF = re.compile(r",|&|\band\b", re.IGNORECASE)
#: Features with one of these ask for more than that a test be ordered.
_MORE = re.compile(r"\d|\b(?:left|right|both|bilateral|repeat\w*|follow|weeks?|months?)\b", re.I)


@lru_cache(maxsize=4096)
def _wanted(feature: str) -> tuple[tuple[NamedTest, ...], ...]:
    """Return the tests of which all must be ordered, for each wording of a feature."""
    if not asks_for_test(feature) or _MORE.search(_beside_names(feature)):
        return ()
    if asks_for_past(feature) and not asks_to_order(feature):
        return ()
    found: list[tuple[NamedTest, ...]] = []
    for wording in Feature("", "", feature).wordings:
        tests = asked_tests(wording)
        found += [tests] if _ALL_OF.search(wording) else [(one,) for one in tests]
    return tuple(found)


def _beside_names(text: str) -> str:
    """Return what stands beside the names of tests: nothing of "24-hour urine"."""
    for one in reversed(named_tests(text)):
        text = text[: one.start] + text[one.end :]
    return text


def find_ordered(feature: str, reading: TextReading) -> list[tuple[int, int]]:
    """Return where a note orders the test that a feature asks for; nothing where in doubt.

    >>> from rubricate.text.contradiction.place import read_text
    >>> reading = read_text("CXR in May was clear. Plan: FBC, TFTs, no LP, CT if worse")
    >>> find_ordered("Thyroid function ordered", reading), find_ordered("CXR ordered", reading)
    ([(33, 37)], [])
    """
    in_plan = not asks_to_order(feature)
    for tests in _wanted(feature):
        places = [_first_ordered(one, reading, in_plan=in_plan) for one in tests]
        if all(places):
            return [(place.start, place.end) for place in places if place]
    return []


def _first_ordered(asked: NamedTest, reading: TextReading, *, in_plan: bool) -> NamedTest | None:
    for one in named_tests(reading.text):
        # "CT" alone may be of another region.
        sure = one.plain and bool(one.regions or not asked.regions) and states(asked, one)
        if sure and _is_ordered(one, reading, in_plan=in_plan):
            return one
    return None


def _is_ordered(test: NamedTest, reading: TextReading, *, in_plan: bool) -> bool:
    """Tell whether a note orders a test without doubt: in its plan, or by a word for it."""
    text = reading.text
    begin, end = statement_of(text, test.start)
    before, behind = text[begin : test.start], text[test.end : end]
    if not _GOES_ON.match(behind):
        return False
    clause = re.split("[;:]", before)[-1] + text[test.start : test.end]
    clause += _ITEM_END.split(behind, maxsplit=1)[0]
    if _DOUBT.search(clause) or is_earlier(text, test) or _is_denied(reading, test):
        return False
    if names_earlier_time(behind) or _RESULT.search(behind):  # "FBC, U&E normal"
        return False
    line = text.rfind("\n", 0, test.start) + 1
    starts = (one for one in statement_starts(text) if line <= one <= test.start)
    if any(_PLAN.match(text, one, test.start) for one in starts):
        return True
    told = _IS_ORDERED.match(behind) or _ORDERS.search(before.rpartition(";")[2])
    return told is not None and not in_plan


def _is_denied(reading: TextReading, test: NamedTest) -> bool:
    place = find_place(reading, [(test.start, test.end)])
    return place is None or any(reading.scope[i] >= 0 for i in place.inside)


def says_nothing_of_test(feature: str, text: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Tell whether a feature asks for a test, and words of a note cannot state that.

    They name other tests and nothing else; or the feature asks that a test be ordered, and the note
    names it only where it tells of one done before. Where the note names the test elsewhere, the
    words may have been taken from beside it, and nothing is said here.

    >>> text = "TSH nl in Feb. Plan: BMP, UA"
    >>> says_nothing_of_test("CBC ordered", text, [(21, 28)])
    True
    >>> says_nothing_of_test("Glucose checked", text, [(21, 28)])
    False
    >>> says_nothing_of_test("TSH ordered", text, [(0, 13)])
    True
    """
    asked, ordered = read_tests(feature)
    if not asked:
        return False
    places = [one for one in named_tests(text) if any(states(other, one) for other in asked)]
    if places and not (ordered and all(is_earlier(text, one) for one in places)):
        return False
    told = {statement_of(text, one.start) for one in places}
    return all(
        statement_of(text, start) in told or _names_others(asked, text[start:end])
        for start, end in spans
    )


def _names_others(asked: Sequence[NamedTest], words: str) -> bool:
    """Tell whether words name tests, none of which may be one asked for, and nothing else."""
    said = named_tests(words)
    told = [one for one in said if one.regions or not one.tests <= _LARGE]
    if not told or not says_only_tests(words, said):
        return False
    return not any(may_be(one, other) for one in asked for other in told)


def not_ordered(feature: str, text: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Tell whether a note says wherever it names a test asked for that it is not to be done.

    The words found are in those sentences.

    >>> not_ordered("D-dimer ordered", "Skip dimer, CTPA now.", [(0, 10)])
    True
    """
    asked, _ = read_tests(feature)
    places = [one for one in named_tests(text) if any(states(other, one) for other in asked)]
    if not places or not all(is_refused(text, one) for one in places):
        return False
    told = {statement_of(text, one.start) for one in places}
    return all(statement_of(text, start) in told for start, _ in spans)
