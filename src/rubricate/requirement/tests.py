"""Features that ask for an investigation, and for nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rubricate.knowledge.tables import pattern, words
from rubricate.reading.tests import NamedTest, named_tests, states
from rubricate.reading.tokens import Token, find_words
from rubricate.rubric import Feature

_ORDERED = words("tests.ordered")
_TESTED = words("tests.tested")
_PAST = words("tests.past")
_BESIDE = words("tests.beside")
_PURPOSE = words("tests.purpose")
_TO_DO = words("tests.to_do")
_NOT_DONE = pattern("tests.not_done")


@lru_cache(maxsize=4096)
def asked_tests(wording: str) -> tuple[NamedTest, ...]:
    """Return the tests that one wording of a feature asks for; none if it asks for anything else.

    >>> [sorted(one.tests) for one in asked_tests("CBC ordered")], asked_tests("Anemia on CBC")
    ([['complete blood count']], ())
    >>> asked_tests("Influenza"), len(asked_tests("Tests for influenza"))
    ((), 1)
    """
    named = named_tests(wording)
    if not named or _NOT_DONE.search(wording) or not says_only_tests(wording, named):
        return ()
    # Of "labs (CBC, BMP)" those that are named.
    kinds = {(one.tests, one.regions): one for one in named}
    broad = {
        key
        for key, one in kinds.items()
        if any(_is_broader(one, other) for other in kinds.values())
    }
    named = tuple(one for one in named if (one.tests, one.regions) not in broad)
    forms = {word.form for word in find_words(wording)}
    named_so = not (_ORDERED | _TESTED).isdisjoint(forms)
    return named if named_so or any(one.plain for one in named) else ()


def _is_broader(one: NamedTest, other: NamedTest) -> bool:
    return states(one, other) and not states(other, one)


def says_only_tests(text: str, named: Sequence[NamedTest]) -> bool:
    """Tell whether words name tests and say nothing else, but what the tests are for."""
    inside, k = False, 0
    words = find_words(text)
    for word, after in zip(words, [*words[1:], None], strict=True):
        while k < len(named) and named[k].end <= word.start:
            k += 1
        if k < len(named) and named[k].start <= word.start:
            inside = True
        elif inside and (word.form in _PURPOSE or _begins_purpose(word, after)):
            return True
        elif word.kind == "word" and not any(
            word.form in table for table in (_ORDERED, _TESTED, _BESIDE)
        ):
            return False
    return True


def _begins_purpose(word: Token, after: Token | None) -> bool:
    return word.form == "to" and after is not None and after.form in _TO_DO


@lru_cache(maxsize=4096)
def read_tests(feature: str) -> tuple[tuple[NamedTest, ...], bool]:
    """Return the tests that a feature asks for, and whether it wants them to be ordered."""
    wordings = Feature("", "", feature).wordings
    tests = [asked_tests(one) for one in wordings]
    if not all(tests):
        return (), False
    forms = [{word.form for word in find_words(one)} for one in wordings]
    ordered = all(not _ORDERED.isdisjoint(own) for own in forms)
    return tuple({(one.tests, one.regions): one for own in tests for one in own}.values()), ordered


def asks_for_test(feature: str) -> bool:
    """Tell whether a feature asks for a test, and for nothing else.

    >>> asks_for_test("Recent colonoscopy"), asks_for_test("Polyps at colonoscopy")
    (True, False)
    """
    return bool(read_tests(feature)[0])


def asks_to_order(feature: str) -> bool:
    """Tell whether a feature asks that a test be ordered, and for nothing else.

    >>> asks_to_order("CBC ordered"), asks_to_order("Recent colonoscopy")
    (True, False)
    """
    return read_tests(feature)[1]


def asks_for_past(feature: str) -> bool:
    """Tell whether a feature may ask for a test that was done before."""
    return not _PAST.isdisjoint(word.form for word in find_words(feature))
