"""What a matcher found, held to what the note says for sure: values, tests, diagnoses, times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from rubricate.knowledge.tables import pattern
from rubricate.matchers.predictions import OVERRULED, STATED, Found, NoteFindings
from rubricate.reading.note import NoteReading
from rubricate.requirement.requirement import Requirement, read_requirement
from rubricate.rows import Contradiction
from rubricate.rubric import Feature, Rubric
from rubricate.rules.beside import says_nothing_of_now, why_surely_not
from rubricate.rules.diagnosis import DiagnosisVerdict, judge_diagnosis
from rubricate.rules.explained import gives_asked_number
from rubricate.rules.measured import MeasuredVerdict, judge_measured, only_values
from rubricate.rules.plan import find_planned, only_goes_on
from rubricate.rules.reasons import Reason, in_words, is_on
from rubricate.rules.registry import TYPE, why_contradicted_in
from rubricate.rules.tests import find_ordered, not_ordered, says_nothing_of_test
from rubricate.spans import any_overlap

#: Rules of `rubricate.rules.registry` that are surer than what a matcher has learned.
SURE_RULES = ("another number", "another side", "another drug", TYPE)
_STRAY = pattern("holding.stray")


class Held(NamedTuple):
    """The findings of a matcher in a note, before and after the sure rules."""

    before: NoteFindings
    after: NoteFindings


_WATCHED: ContextVar[list[Held] | None] = ContextVar("watched", default=None)


@contextmanager
def watching() -> Iterator[list[Held]]:
    """Keep what `hold_to_values` is given and leaves, for those who explain a decision.

    >>> with watching() as held:
    ...     pass
    >>> held
    []
    """
    held: list[Held] = []
    token = _WATCHED.set(held)
    try:
        yield held
    finally:
        _WATCHED.reset(token)


def hold_to_values(rubric: Rubric, reading: NoteReading, findings: NoteFindings) -> NoteFindings:
    """Return the findings without those all of whose words say something else for sure.

    Words that name only other tests or diagnoses than the one asked for, or tell of another time
    than the one asked about, say nothing of it. Measured values decide about features that ask for
    nothing else, where none of their words or only values were found.

    >>> from rubricate import Feature
    >>> from rubricate.reading.note import read_note
    >>> rubric = Rubric("c", (Feature("1", "c", "Tachycardia"), Feature("2", "c", "Fever")))
    >>> nothing = NoteFindings([], {"1": 0.4, "2": 0.4})
    >>> said = hold_to_values(rubric, read_note("T 36.9, HR 124"), nothing)
    >>> [one.spans for one in said.found], said.contradictions["2"].reason
    ([((8, 14),)], 'says T 36.9')
    """
    said = _held(rubric, reading, findings)
    if (watched := _WATCHED.get()) is not None:
        watched.append(Held(findings, said))
    return said


def _held(rubric: Rubric, reading: NoteReading, findings: NoteFindings) -> NoteFindings:
    findings = _hold_to_tests(rubric, reading, findings)
    text, by_feature = reading.text, dict[str, list[Found]]()
    for one in findings.found:
        by_feature.setdefault(one.feature, []).append(one)
    against, probabilities = dict(findings.contradictions), dict(findings.probabilities)
    found: list[Found] = []
    for feature in rubric:
        before = _without_stray(feature, text, by_feature.get(feature.id, []))
        own, other, sure = _held_to_words(feature, reading, before)
        if not own and feature.id in against:
            own = _reckoned(feature, reading, against[feature.id])
            own = own if own and is_on("number.same") else []
            sure = bool(own)
        # Where only values were found the table judges: a matcher may mark those beside them.
        worded = own and not only_values(reading, [span for x in own for span in x.spans])
        said = (
            MeasuredVerdict() if worded else judge_measured(read_requirement(feature.text), reading)
        )
        if said.contradicts and is_on("value.measured"):
            first = said.contradicts[0]
            other = _against((first,), Reason("value.measured", text[slice(*first)]))
        elif said.states and is_on("measured.states"):
            stating = (
                Found(feature.id, (x,), STATED, f"measured: {text[slice(*x)]}") for x in said.states
            )
            own = [*(one for one in own if not only_values(reading, one.spans)), *stating]
            other, sure = None, True
        if other is not None:
            against[feature.id] = other
        elif sure:
            against.pop(feature.id, None)
            probabilities[feature.id] = max(probabilities.get(feature.id, 0.0), STATED)
        if other is not None or (before and not own):
            probabilities[feature.id] = min(probabilities.get(feature.id, 1.0), OVERRULED)
        found += own if other is None else []
    return NoteFindings(found, probabilities, against)


def _hold_to_tests(rubric: Rubric, reading: NoteReading, findings: NoteFindings) -> NoteFindings:
    """Return the findings without words that name other tests than the one a feature asks for.

    They say nothing of it. A test that the plan orders is found, whatever else was.
    """
    found, against = list(findings.found), dict(findings.contradictions)
    probabilities = dict(findings.probabilities)
    for feature in rubric:
        asked = read_requirement(feature.text)
        if not asked.tests.tests:
            continue
        own = [one for one in found if one.feature == feature.id]
        chance, planned = probabilities.get(feature.id), list[Found]()
        if (ordered := find_ordered(asked, reading)) and is_on("test.ordered"):
            probabilities[feature.id] = max(chance or 0.0, STATED)
            against.pop(feature.id, None)
            if any(any_overlap(one.spans, ordered) for one in own):
                continue
            planned = [Found(feature.id, tuple(ordered), STATED, "ordered in the plan")]
        elif _all_say(own, "test.other", says_nothing_of_test, asked, reading):
            probabilities[feature.id] = min(1.0 if chance is None else chance, OVERRULED)
        elif _all_say(own, "test.refused", not_ordered, asked, reading):
            probabilities[feature.id] = min(1.0 if chance is None else chance, OVERRULED)
            against[feature.id] = _against(own[0].spans, Reason("test.refused"))
        else:
            continue
        found = [*(one for one in found if one.feature != feature.id), *planned]
    return NoteFindings(found, probabilities, against)


def _all_say(
    own: Sequence[Found],
    rule: str,
    says: Callable[[Requirement, NoteReading, Sequence[tuple[int, int]]], bool],
    asked: Requirement,
    reading: NoteReading,
) -> bool:
    return bool(own) and all(says(asked, reading, x.spans) for x in own) and is_on(rule)


def _held_to_words(
    feature: Feature, reading: NoteReading, own: Sequence[Found]
) -> tuple[Sequence[Found], Contradiction | None, bool]:
    """Return what may state a feature, what says otherwise, and whether it surely is stated."""
    asked = read_requirement(feature.text)
    planned = find_planned(asked, reading)
    rule = "plan.return" if asked.wants_return_advice else "plan.started"
    if planned and is_on(rule):
        plan = [Found(feature.id, tuple(planned), STATED, "in the plan")]
        return own if any(any_overlap(x.spans, planned) for x in own) else plan, None, True
    own = [x for x in own if not only_goes_on(asked, reading, x.spans)]
    why = [
        why_contradicted_in(reading, asked, x.spans, SURE_RULES) or _surely_not(asked, reading, x)
        for x in own
    ]
    now = [not (says_nothing_of_now(asked, reading, x.spans) and is_on("time.before")) for x in own]
    named = judge_diagnosis(asked, reading, [x.spans for x in own])
    if named is not None:
        return _held_to_diagnosis(feature, named, own, why, now)
    if own and all(why):
        return own, _against(own[0].spans, why[0]), False
    kept = [(x, no) for x, no, may in zip(own, why, now, strict=True) if may]
    # Where some say nothing of now and the others say otherwise, none is left.
    return [] if all(no for _, no in kept) else [x for x, _ in kept], None, False


def _surely_not(asked: Requirement, reading: NoteReading, one: Found) -> Reason | None:
    why = why_surely_not(asked, reading, one.spans)
    return why if why is not None and is_on(why.code) else None


def _held_to_diagnosis(
    feature: Feature,
    said: DiagnosisVerdict,
    own: Sequence[Found],
    why: Sequence[Reason | None],
    now: Sequence[bool],
) -> tuple[Sequence[Found], Contradiction | None, bool]:
    """Return the same without words that name other diagnoses."""
    if said.states and is_on("diagnosis.considered"):
        found = [Found(feature.id, (x,), STATED, "in the assessment") for x in said.states]
        return found, None, True
    kept_by_name = all(said.kept) or is_on("diagnosis.elsewhere")
    may = [(kept or not kept_by_name) and t for kept, t in zip(said.kept, now, strict=True)]
    kept = [(x, no) for x, no, kept in zip(own, why, may, strict=True) if kept]
    if said.denied is not None and not kept and is_on("diagnosis.denied"):
        return [], _against((said.denied,), Reason("diagnosis.denied")), False
    reasons = [(x, no) for x, no in kept or zip(own, why, strict=True) if no]
    if reasons and not said.considered and all(no for _, no in kept):
        return own, _against(reasons[0][0].spans, reasons[0][1]), False
    return [x for x, _ in kept], None, False


def _against(spans: tuple[tuple[int, int], ...], why: Reason | None) -> Contradiction:
    return Contradiction(spans, None, "" if why is None else in_words(why))


def _reckoned(feature: Feature, reading: NoteReading, said: Contradiction) -> list[Found]:
    """Return as found what was taken for a contradiction and gives the number asked for."""
    if not gives_asked_number(read_requirement(feature.text), reading, said.spans):
        return []
    return [Found(feature.id, said.spans, STATED, "the number asked for, written otherwise")]


def _without_stray(feature: Feature, text: str, own: Sequence[Found]) -> Sequence[Found]:
    """Return what was found without bare marks, letters and small numbers beside words.

    They are crumbs of neighbours ("OD 6/6, IOP 15"), unless the feature asks for a number.
    """
    if len(own) < 2 or any(
        x.quantities or x.numerals for x in read_requirement(feature.text).alternatives
    ):
        return own
    worded = [
        one for one in own if not all(_STRAY.fullmatch(text[a:z].strip()) for a, z in one.spans)
    ]
    return worded or own
