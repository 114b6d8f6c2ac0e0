"""Features that ask for an investigation, and for nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rubricate.knowledge.tables import pattern, words
from rubricate.reading.tests import NamedTest, named_tests, states
from rubricate.reading.tokens import Token, find_words

_ORDERED = words("tests.ordered")
_TESTED = words("tests.tested")
_PAST = words("tests.past")
_BESIDE = words("tests.beside")
_PURPOSE = words("tests.purpose")
_TO_DO = words("tests.to_do")
_NOT_DONE = pattern("tests.not_done")
_ALL_OF = pattern("ordered.all_of")
_MORE = pattern("ordered.more")


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


class AskedTests(NamedTuple):
    """The tests that a feature asks for, and for nothing else.

    ``ordered``: it wants them to be ordered. ``past``: it may ask for what was done before.
    ``together``: the tests of which all must be ordered, for each wording; none where an order
    says too little.
    """

    tests: tuple[NamedTest, ...] = ()
    ordered: bool = False
    past: bool = False
    together: tuple[tuple[NamedTest, ...], ...] = ()


def read_tests(feature: str, wordings: Sequence[str]) -> AskedTests:
    """Return the tests that a feature asks for; none if it asks for anything else.

    >>> read_tests("CBC ordered", ["CBC ordered"]).ordered
    True
    >>> read_tests("Polyps at colonoscopy", ["Polyps at colonoscopy"]).tests
    ()
    """
    tests = [asked_tests(one) for one in wordings]
    if not all(tests):
        return AskedTests()
    forms = [{word.form for word in find_words(one)} for one in wordings]
    ordered = all(not _ORDERED.isdisjoint(own) for own in forms)
    past = not _PAST.isdisjoint(word.form for word in find_words(feature))
    every = tuple({(one.tests, one.regions): one for own in tests for one in own}.values())
    together: list[tuple[NamedTest, ...]] = []
    if (ordered or not past) and not _MORE.search(_beside_names(feature)):
        for wording, own in zip(wordings, tests, strict=True):
            together += [own] if _ALL_OF.search(wording) else [(one,) for one in own]
    return AskedTests(every, ordered, past, tuple(together))


def _beside_names(text: str) -> str:
    """Return the words beside the names of tests: none of "24-hour urine"."""
    named = named_tests(text)
    starts, ends = [*(one.start for one in named), len(text)], [0, *(one.end for one in named)]
    return "".join(text[end:start] for end, start in zip(ends, starts, strict=True))
