"""Words that tell of an earlier time, or of a result of it: "2 mths back", "nl in Feb"."""

from __future__ import annotations

from rubricate.knowledge.tables import pattern

_EARLIER = pattern("earlier.earlier")
_IN_A_MONTH = pattern("earlier.in_a_month")
_RESULT = pattern("earlier.result")


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
