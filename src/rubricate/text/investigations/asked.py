"""Features that ask for an investigation, and for nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rubricate.rubric import Feature
from rubricate.text.investigations.table import NamedTest, named_tests, states
from rubricate.text.words import Token, find_words, word_set

#: Features with one of these want a test that is still to be done, or is under way.
_ORDERED = word_set(
    "order orders ordered ordering request requests requested requesting checks arrange arranges"
    " arranged arranging book books booked booking schedule schedules scheduled scheduling plan"
    " plans planned planning recommend recommends recommended repeat repeats pending sends gets"
    " runs obtain obtains refer refers referred referral suggest suggests suggested workup"
    " investigations"
)
#: Further words for tests: with one of them or of the above even a vague name is a test ("iron").
_TESTED = word_set(
    "check checked checking obtained obtaining send sent sending get got getting perform performs"
    " performed performing run draw draws drawn collect collects collected measure measures"
    " measured test tests tested testing level levels study studies investigation investigate"
    " evaluation screen screens screened screening serum panel profile titer titre assay analysis"
    " diagnostic rechecks recheck rechecked repeated do done"
)
#: Features with one of these may ask for a test done before.
_PAST = word_set(
    "done performed sent obtained taken drawn collected measured tested previous prior past last"
    " recent recently had has have having underwent ago result results due back repeated screened"
    " first was were"
)
#: What may stand beside the names of tests without saying anything else.
_BESIDE = word_set(
    "a an the and or of in on at with to for as by be is are was were will would should could may"
    " any all appropriate further additional other initial baseline routine basic standard full"
    " stat urgent urgently emergency emergent immediate same day today tomorrow now soon am pm"
    " outpatient inpatient bedside formal fasting random serial another also include includes"
    " including included need needs needed take takes taken add adds added on consider considers"
    " considered advise advised if then plus follow up f/u w/u pt patient her his their she he"
    " they work next first new previous prior past last recent recently had has have having"
    " underwent undergo undergoes go goes going back awaiting await awaited results result ago"
    " left right l r lt rt bilateral both b/l scan scans image images imaging contrast non"
    " noncontrast iv oral without w/ w/o view views rapid quantitative qualitative poc poct lab"
    " labs blood bloods venous sample samples specimen x hs diff differential reflex d ix inv dx"
    " rx p due start off week weeks wk wks month months days per hospital clinic here us we i exam"
    " examination list lists listed mention mentions names gives initiates begins step steps"
)
#: Behind a test these begin what it is for: "ECG to exclude ischemia".
_PURPOSE = word_set(
    "for given because due looking exclude excluding r/o rule ruling evaluate assess assessing"
    " regarding re concern concerning suspected possible"
)
_TO_DO = word_set(
    "exclude rule r/o evaluate assess look check confirm investigate screen monitor establish"
    " detect determine identify help further"
)
_NOT_DONE = re.compile(
    r"\bn[o']t?\b|\bwithout\b|\bnever\b|\bdeclin|\brefus|\bdenie|\bavoid|\boffer", re.IGNORECASE
)


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
    named = tuple(one for one in named if not any(_is_broader(one, other) for other in named))
    forms = {word.form for word in find_words(wording)}
    named_so = not (_ORDERED | _TESTED).isdisjoint(forms)
    return named if named_so or any(one.plain for one in named) else ()


def _is_broader(one: NamedTest, other: NamedTest) -> bool:
    return states(one, other) and not states(other, one)


def says_only_tests(text: str, named: Sequence[NamedTest]) -> bool:
    """Tell whether words name tests and say nothing else, but what the tests are for."""
    inside = False
    words = find_words(text)
    for word, after in zip(words, [*words[1:], None], strict=True):
        if any(one.start <= word.start < one.end for one in named):
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
    return tuple(one for own in tests for one in own), ordered


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
