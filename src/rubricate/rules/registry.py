"""Contradictions: words of a note that speak of a feature and say otherwise, and why."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from rubricate.reading.note import NoteReading, Place, find_place, read_note
from rubricate.requirement.alternative import Alternative
from rubricate.requirement.requirement import Requirement, read_requirement
from rubricate.rules.modality import not_meant
from rubricate.rules.person import another_person, not_kin
from rubricate.rules.polarity import denied, normal
from rubricate.rules.precedence import weighed_questions
from rubricate.rules.reasons import Reason, in_words, is_on
from rubricate.rules.time import not_now
from rubricate.rules.value import (
    another_drug,
    another_number,
    another_side,
    another_site,
    another_type,
    opposite,
)


def why_contradicted(
    feature: str, text: str, spans: Sequence[tuple[int, int]], rules: Collection[str] | None = None
) -> str | None:
    """Return the reason for which words contradict a feature, in a few words; None if they do not.

    ``feature``: the feature's wording; alternatives are separated by ``OR``.
    ``spans``: the words that speak of the feature's matter, half-open, in code points.
    ``rules``: those of `RULES` to go by; all where none are named.

    It says "denied", "says left", "says 3 months", "mother's", "in the past" and the like. Words
    that leave a way to be read as the feature are not called a contradiction.

    >>> text = "Mother has asthma. Denies fever. Pain in the left knee for 3 months."
    >>> why_contradicted("Asthma", text, [(11, 17)])
    "mother's"
    >>> why_contradicted("Fever", text, [(26, 31)]), why_contradicted("No fever", text, [(19, 31)])
    ('denied', None)
    >>> why_contradicted("Right knee pain", text, [(33, 54)])
    'says left'
    >>> why_contradicted("Knee pain for 2 weeks", text, [(33, 67)])
    'says 3 months'
    """
    why = why_contradicted_in(read_note(text), read_requirement(feature), spans, rules)
    return None if why is None else in_words(why)


def why_contradicted_in(
    reading: NoteReading,
    asked: Requirement,
    spans: Sequence[tuple[int, int]],
    rules: Collection[str] | None = None,
    meant: frozenset[str] = frozenset(),
) -> Reason | None:
    """Return the reason of `why_contradicted` for a text that was read before.

    ``meant`` are words of the feature that the spans are known to stand for: "LOC" for "loss of
    consciousness".
    """
    place = find_place(reading, spans, meant)
    if place is None:
        return None
    reason = None
    for one in asked.alternatives:
        found = broken_rule(one, place, rules)
        if found is None:
            return None
        reason = reason or found[1]
    return reason


def broken_rule(
    asked: Alternative, place: Place, rules: Collection[str] | None = None
) -> tuple[str, Reason] | None:
    """Return the first rule by which words contradict what is asked for, and why; or None."""
    for rule in RULES if rules is None else rules:
        said = _CHECKS[rule](asked, place)
        if said and is_on(said.code):
            return rule, said
    return None


#: The rule about what is denied, or is there where a feature denies it.
DENIED = "denied or there"
_CHECKS: dict[str, Callable[[Alternative, Place], Reason | None]] = {
    "another person": another_person,
    DENIED: denied,
    "normal": normal,
    "not meant": not_meant,
    "another number": another_number,
    "another side": another_side,
    "another site": another_site,
    "another drug": another_drug,
    "not now": not_now,
    "opposite": opposite,
}
#: The names of the rules, in the order of the table of precedence.
RULES = weighed_questions()
#: The parts of two rules that are sure enough to go by alone: types, stages, classes, kinds that
#: exclude each other, and illnesses of people who are no relatives in a family history.
TYPE = "another type"


def _another_kind(asked: Alternative, place: Place) -> Reason | None:
    return another_type(asked, place) or not_kin(asked, place)


_CHECKS[TYPE] = _another_kind
