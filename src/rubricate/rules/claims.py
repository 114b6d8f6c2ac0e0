"""Everything that rules say of the words found for a feature, and of the note they stand in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from rubricate.reading.note import NoteReading
from rubricate.requirement.requirement import Requirement, read_requirement
from rubricate.rubric import Feature
from rubricate.rules.beside import says_nothing_of_now, why_surely_not
from rubricate.rules.diagnosis import another_diagnosis, judge_diagnosis
from rubricate.rules.explained import gives_asked_number
from rubricate.rules.measured import judge_measured
from rubricate.rules.plan import find_planned
from rubricate.rules.reasons import Reason, reason_table
from rubricate.rules.registry import RULES, TYPE, why_contradicted_in
from rubricate.rules.tests import find_ordered, not_ordered, says_nothing_of_test

Spans = Sequence[tuple[int, int]]
Effect = Literal["states", "contradicts", "irrelevant"]

#: Rules of a whole note, which give no reason of `reasons.tsv`, and what they say.
NOTE_RULES = {
    "measured.states": "a measured value states it",
    "test.ordered": "the plan orders the test",
    "test.other": "the words name other tests only",
    "plan.started": "the plan begins the drug",
    "plan.return": "the note says when to come back",
    "diagnosis.considered": "the assessment considers the diagnosis",
    "diagnosis.elsewhere": "the words stand outside the assessment",
    "time.before": "the words tell of an earlier time or hold under a condition",
    "number.same": "the number asked for, written otherwise",
}


#: Rules of a whole note that say why words contradict a feature.
AGAINST_NOTES = ("value.measured", "test.refused", "diagnosis.denied", "diagnosis.other")


class Claim(NamedTuple):
    """The claim of a rule: words state a feature, contradict it, or do not mention it.

    ``said`` is what the words say instead; ``spans`` are the words it rests on.
    """

    rule: str
    effect: Effect
    spans: tuple[tuple[int, int], ...]
    said: str = ""


def rule_names() -> list[str]:
    """Return the names of all rules.

    >>> "side.other" in rule_names(), "test.ordered" in rule_names()
    (True, True)
    """
    return sorted({*reason_table(), *NOTE_RULES})


def find_claims(
    feature: Feature, reading: NoteReading, found: Sequence[Spans], against: Spans = ()
) -> list[Claim]:
    """Return the claims of rules, in the order in which they overrule each other.

    ``found`` are the words that a matcher found, each with their spans; ``against`` those that it
    takes for a contradiction.

    >>> from rubricate.reading.note import read_note
    >>> said = read_note("Pain in the left knee. HR 124")
    >>> find_claims(Feature("1", "c", "Right knee pain"), said, [[(0, 21)]])
    [Claim(rule='side.other', effect='contradicts', spans=((0, 21),), said='left')]
    >>> find_claims(Feature("1", "c", "Tachycardia"), said, [])
    [Claim(rule='measured.states', effect='states', spans=((23, 29),), said='HR 124')]
    """
    asked = read_requirement(feature.text)
    return [
        *_of_values(asked, reading),
        *_of_tests(asked, reading, found),
        *_of_plans(asked, reading),
        *_of_diagnoses(asked, reading, found),
        *(claim for spans in found for claim in claims_of_words(asked, reading, spans)),
        *_of_numbers(asked, reading, against),
    ]


def claims_of_words(asked: Requirement, reading: NoteReading, spans: Spans) -> Iterator[Claim]:
    """Yield what rules say of words found, in the order in which they are asked."""
    own = tuple((start, end) for start, end in spans)
    for rule in (*RULES, TYPE):
        if why := why_contradicted_in(reading, asked, own, [rule]):
            yield _against(why, own)
    if why := why_surely_not(asked, reading, own):
        yield _against(why, own)
    if says_nothing_of_now(asked, reading, own):
        yield Claim("time.before", "irrelevant", own)


def _against(why: Reason, spans: tuple[tuple[int, int], ...]) -> Claim:
    return Claim(why.code, "contradicts", spans, why.said)


def _of_values(asked: Requirement, reading: NoteReading) -> Iterator[Claim]:
    said = judge_measured(asked, reading)
    for effect, spans in (("contradicts", said.contradicts), ("states", said.states)):
        if spans:
            words = reading.text[slice(*spans[0])]
            if effect == "states":
                yield Claim("measured.states", "states", spans, words)
            else:
                yield Claim("value.measured", "contradicts", spans, words)


def _of_tests(asked: Requirement, reading: NoteReading, found: Sequence[Spans]) -> Iterator[Claim]:
    if not asked.tests.tests:
        return
    if ordered := find_ordered(asked, reading):
        yield Claim("test.ordered", "states", tuple(ordered))
        return
    for spans in found:
        if says_nothing_of_test(asked, reading, spans):
            yield Claim("test.other", "irrelevant", tuple(spans))
        elif not_ordered(asked, reading, spans):
            yield Claim("test.refused", "contradicts", tuple(spans))


def _of_plans(asked: Requirement, reading: NoteReading) -> Iterator[Claim]:
    if planned := find_planned(asked, reading):
        rule = "plan.return" if asked.wants_return_advice else "plan.started"
        yield Claim(rule, "states", tuple(planned))


def _of_diagnoses(
    asked: Requirement, reading: NoteReading, found: Sequence[Spans]
) -> Iterator[Claim]:
    said = judge_diagnosis(asked, reading, found)
    if said is None:
        return
    if said.states:
        yield Claim("diagnosis.considered", "states", said.states)
    for spans, kept in zip(found, said.kept, strict=True):
        if other := another_diagnosis(asked, reading, spans):
            yield Claim(other.code, "irrelevant", tuple(spans), other.said)
        elif not kept:
            yield Claim("diagnosis.elsewhere", "irrelevant", tuple(spans))
    if said.denied is not None:
        yield Claim("diagnosis.denied", "contradicts", (said.denied,))


def _of_numbers(asked: Requirement, reading: NoteReading, against: Spans) -> Iterator[Claim]:
    if against and gives_asked_number(asked, reading, against):
        yield Claim("number.same", "states", tuple(against))
