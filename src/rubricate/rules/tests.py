"""Tests that a note orders: "Plan: FBC, TFTs, TVUS"; examinations that it shows to be done.

Another test, or the same one done some time before, neither states nor contradicts that a test was
ordered: such words say nothing of the feature.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from rubricate.knowledge.tables import pattern, phrases, words
from rubricate.reading.clauses import clause_ranges
from rubricate.reading.note import NoteReading, find_place
from rubricate.reading.tests import NamedTest, may_be, named_tests, states
from rubricate.reading.times import names_earlier_time, tells_of_before
from rubricate.requirement.examinations import examination_words, examinations
from rubricate.requirement.requirement import Requirement
from rubricate.requirement.tests import says_only_tests

_TO_COME = pattern("ordered.to_come")
_BREAK = pattern("ordered.break")
_VALUES = pattern("ordered.values")
_OLD_BEFORE = pattern("ordered.old_before")
_AGAIN = pattern("ordered.again")
_FAR = 50


def is_earlier(reading: NoteReading, test: NamedTest) -> bool:
    """Tell whether a note tells of a test that was done some time before, and of none to be done.

    >>> from rubricate.reading.note import read_note
    >>> note = read_note("FBC in March normal. CXR from last month clear, repeat CT (last 2022)")
    >>> [is_earlier(note, one) for one in note.tests]
    [True, True, False]
    """
    text, (begin, end) = reading.text, reading.statement(test.start)
    before = text[begin : test.start]
    first = _VALUES.match(text, test.end, end)
    behind = text[first.end() if first else test.end : min(end, test.end + _FAR)]
    behind = _BREAK.split(behind, maxsplit=1)[0]
    clause = before[before.rfind(",") + 1 :] + text[test.start : test.end] + behind
    if _TO_COME.search(clause) or _AGAIN.search(text, test.end, end):
        return False
    return tells_of_before(behind) or _OLD_BEFORE.search(before) is not None


_NOT_BEHIND = pattern("ordered.not_behind")
_NOT_BEFORE = pattern("ordered.not_before")


_STILL_TO_COME = pattern("ordered.still_to_come")


def is_refused(reading: NoteReading, test: NamedTest) -> bool:
    """Tell whether a note says that a test is not needed, was not done or not wanted.

    >>> from rubricate.reading.note import read_note
    >>> note = read_note("Skip dimer. A chest film is not needed. CT head, MRI deferred.")
    >>> [is_refused(note, one) for one in note.tests]
    [True, True, False, True]
    """
    text, (begin, end) = reading.text, reading.statement(test.start)
    behind = _NOT_BEHIND.match(text, test.end, end)
    rest = text[behind.end() if behind else test.end : end]
    if _STILL_TO_COME.search(rest):  # "MRI not done yet, booked for Monday"
        return False
    return bool(behind or _NOT_BEFORE.search(text[begin : test.start]))


_LARGE = words("ordered.large") | frozenset(phrases("ordered.large_2"))
_PLAN = pattern("ordered.plan")
_ORDERS = pattern("ordered.orders")
_DOUBT = pattern("ordered.doubt")
_GOES_ON = pattern("ordered.goes_on")
_IS_ORDERED = pattern("ordered.is_ordered")
_RESULT = pattern("ordered.result")
_ITEM_END = pattern("ordered.item_end")


def find_ordered(asked: Requirement, reading: NoteReading) -> list[tuple[int, int]]:
    """Return the places at which a note orders the test asked for; none where in doubt.

    >>> from rubricate.reading.note import read_note
    >>> from rubricate.requirement.requirement import read_requirement
    >>> reading = read_note("CXR in May was clear. Plan: FBC, TFTs, no LP, CT if worse")
    >>> find_ordered(read_requirement("Thyroid function ordered"), reading)
    [(33, 37)]
    >>> find_ordered(read_requirement("CXR ordered"), reading)
    []
    """
    in_plan = not asked.tests.ordered
    for tests in asked.tests.together:
        places: list[tuple[int, int]] = []
        for wanted in tests:
            for one in reading.tests:
                # "CT" alone may be of another region.
                sure = one.plain and bool(one.regions or not wanted.regions)
                if sure and states(wanted, one) and _is_ordered(one, reading, in_plan=in_plan):
                    places.append((one.start, one.end))
                    break
        if len(places) == len(tests):
            return places
    return []


def _is_ordered(test: NamedTest, reading: NoteReading, *, in_plan: bool) -> bool:
    """Tell whether a note orders a test without doubt: in its plan, or by a word for it."""
    text, (begin, end) = reading.text, reading.statement(test.start)
    before, behind = text[begin : test.start], text[test.end : end]
    if not _GOES_ON.match(behind):
        return False
    clause = re.split("[;:]", before)[-1] + text[test.start : test.end]
    clause += _ITEM_END.split(behind, maxsplit=1)[0]
    if _DOUBT.search(clause) or is_earlier(reading, test):
        return False
    place = find_place(reading, [(test.start, test.end)])
    if place is None or any(reading.scope[i] >= 0 for i in place.inside):  # "no LP"
        return False
    if names_earlier_time(behind) or _RESULT.search(behind):  # "FBC, U&E normal"
        return False
    line = text.rfind("\n", 0, test.start) + 1
    plans = reading.once(_plan_starts)
    k = bisect_left(plans, line)
    if k < len(plans) and plans[k] <= test.start and _PLAN.match(text, plans[k], test.start):
        return True
    told = _IS_ORDERED.match(behind) or _ORDERS.search(before.rpartition(";")[2])
    return told is not None and not in_plan


def _plan_starts(reading: NoteReading) -> tuple[int, ...]:
    """Return the statements of a note that begin as a line of the plan does."""
    return tuple(one for one in reading.statements if _PLAN.match(reading.text, one))


def says_nothing_of_test(
    asked: Requirement, reading: NoteReading, spans: Sequence[tuple[int, int]]
) -> bool:
    """Tell whether a feature asks for a test, and words of a note cannot state that.

    They name other tests and nothing else; or the feature asks that a test be ordered, and the note
    names it only where it tells of one done before. Where the note names the test elsewhere, the
    words may have been taken from beside it, and nothing is said here.

    >>> from rubricate.reading.note import read_note
    >>> from rubricate.requirement.requirement import read_requirement
    >>> note = read_note("TSH nl in Feb. Plan: BMP, UA")
    >>> says_nothing_of_test(read_requirement("CBC ordered"), note, [(21, 28)])
    True
    >>> says_nothing_of_test(read_requirement("Glucose checked"), note, [(21, 28)])
    False
    >>> says_nothing_of_test(read_requirement("TSH ordered"), note, [(0, 13)])
    True
    """
    tests = asked.tests
    named = reading.once(_named_so, asked)
    if not tests.tests or not (named.earlier and (tests.ordered or not named.statements)):
        return False
    told = named.statements
    return all(
        reading.statement(start) in told or _names_others(tests.tests, reading.text[start:end])
        for start, end in spans
    )


def _names_others(asked: Sequence[NamedTest], words: str) -> bool:
    """Tell whether words name tests, none of which may be one asked for, and nothing else."""
    said = named_tests(words)
    told = [one for one in said if one.regions or not one.tests <= _LARGE]
    if not told or not says_only_tests(words, said):
        return False
    return not any(may_be(one, other) for one in asked for other in told)


def not_ordered(asked: Requirement, reading: NoteReading, spans: Sequence[tuple[int, int]]) -> bool:
    """Tell whether a note says wherever it names a test asked for that it is not to be done.

    The words found are in those sentences.

    >>> from rubricate.reading.note import read_note
    >>> from rubricate.requirement.requirement import read_requirement
    >>> note = read_note("Skip dimer, CTPA now.")
    >>> not_ordered(read_requirement("D-dimer ordered"), note, [(0, 10)])
    True
    """
    named = reading.once(_named_so, asked)
    if not named.statements or not named.refused:
        return False
    return all(reading.statement(start) in named.statements for start, _ in spans)


class _NamedSo(NamedTuple):
    """The statements that name the test a feature asks for, and what all of them say of it."""

    statements: frozenset[tuple[int, int]]
    earlier: bool
    refused: bool


def _named_so(reading: NoteReading, asked: Requirement) -> _NamedSo:
    """Return the statements that name the test asked for; every finding of it asks again."""
    places = [
        one for one in reading.tests if any(states(other, one) for other in asked.tests.tests)
    ]
    return _NamedSo(
        frozenset(reading.statement(one.start) for one in places),
        all(is_earlier(reading, one) for one in places),
        all(is_refused(reading, one) for one in places),
    )


_Spans = tuple[tuple[int, int], ...]


class Examined(NamedTuple):
    """The places that show that an examination was done, and those that it was not."""

    done: _Spans
    undone: _Spans


def find_examined(examination: str, reading: NoteReading) -> Examined:
    """Return the places that tell of an examination, and those that say it was not done.

    >>> from rubricate.reading.note import read_note
    >>> note = read_note("No rebound or guarding. Heart not auscultated.")
    >>> find_examined("rebound", note), find_examined("heart", note)
    (Examined(done=((3, 10),), undone=()), Examined(done=(), undone=((24, 45),)))
    """
    tokens, shows, undoes = reading.raw, examinations()[1][examination], examination_words("undone")
    done, undone = list[tuple[int, int]](), list[tuple[int, int]]()
    for first, end in clause_ranges(reading.text, tokens, reading.sentences):
        hits = ((i, shows.at(tokens, i)) for i in range(first, end) if tokens[i].form in shows)
        hit = next(((i, one[1]) for i, one in hits if one is not None), None)
        if hit is None:
            continue
        # What stands behind a comma is said of the next thing: "lungs clear, heart not heard".
        commas = [i for i in range(first, end) if tokens[i].form == ","]
        begin = max((i + 1 for i in commas if i < hit[0]), default=first)
        stop = min((i for i in commas if i >= hit[1]), default=end)
        if any(undoes.at(tokens, i) for i in range(begin, stop) if tokens[i].form in undoes):
            undone.append((tokens[begin].start, tokens[stop - 1].end))
        else:
            done.append((tokens[hit[0]].start, tokens[hit[1] - 1].end))
    return Examined(tuple(done), tuple(undone))
