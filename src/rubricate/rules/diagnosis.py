"""Diagnoses in a note's assessment: considered, denied, another's or long past."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from rubricate.knowledge.tables import pattern, words
from rubricate.reading.diagnoses import (
    NamedDiagnosis,
    groups_above,
    is_symptom,
    may_be_meant,
)
from rubricate.reading.note import NoteReading, find_place
from rubricate.reading.times import names_earlier_time
from rubricate.requirement.diagnoses import FRAME, WantedDiagnosis, is_beside
from rubricate.requirement.requirement import Requirement
from rubricate.rules.reasons import Reason
from rubricate.spans import any_overlap, which_overlap

_ELSEWHERE = words("assessment.elsewhere")


_LISTED = pattern("assessment.listed")
_THOUGHT = pattern("assessment.thought")
_RANKED = pattern("assessment.ranked")
_QUERIED = pattern("assessment.queried")
#: So far a thought reaches, in characters.
_BEFORE, _BEHIND = 45, 70
_FIRST = pattern("assessment.first")
_LATER = pattern("assessment.later")
_LESS = pattern("assessment.less")
_DOUBTED = pattern("assessment.doubted")
_PAST = pattern("assessment.past")
_OTHERS = pattern("assessment.others")
_OUT_BEHIND = pattern("assessment.out_behind")
_OUT_BEFORE = pattern("assessment.out_before")
_OPEN = pattern("assessment.open")
_BESIDE = FRAME | words("diagnosis.beside")
_JOINTS = words("diagnosis.joints")


class Assessed(NamedTuple):
    """The places at which a diagnosis is considered, denied, and another's or past."""

    considered: tuple[tuple[int, int], ...] = ()
    denied: tuple[tuple[int, int], ...] = ()
    elsewhere: tuple[tuple[int, int], ...] = ()
    unclear: tuple[tuple[int, int], ...] = ()


def judge_assessed(asked: Requirement, reading: NoteReading) -> Assessed:
    """Return the places of a note about the diagnosis that a feature wants in its assessment.

    >>> from rubricate.reading.note import read_note
    >>> from rubricate.requirement.requirement import read_requirement
    >>> reading = read_note("PMH: asthma. A: r/o PE vs pneumonia, no evidence of ACS")
    >>> judge_assessed(read_requirement("Differential: PE"), reading).considered
    ((20, 22),)
    >>> judge_assessed(read_requirement("Differential: asthma"), reading).elsewhere
    ((5, 11),)
    >>> judge_assessed(read_requirement("Differential: ACS"), reading).denied
    ((52, 55),)
    """
    wanted = asked.wanted_diagnoses
    if not wanted:
        return Assessed()
    leading = asked.assessed[0] == "Diagnosis"
    found: dict[str, list[tuple[int, int]]] = {}
    for one in reading.diagnoses:
        said = _said_of(reading, one)
        if not any(_states(one, own) for own in wanted):
            if not any(_may_state(one, own) for own in wanted):
                continue
            wider = any(_is_wider(one, own) for own in wanted)
            said = said if wider and said != "considered" else "unclear"
        elif said == "considered" and leading:
            said = _rank_of(reading, one)
        where = (reading.tokens[one.first].start, reading.tokens[one.end - 1].end)
        found.setdefault(said, []).append(where)
    return Assessed(**{kind: tuple(own) for kind, own in found.items()})


def in_assessment(reading: NoteReading, start: int, end: int) -> bool:
    """Tell whether words stand where the writer says what it may be.

    >>> from rubricate.reading.note import read_note
    >>> in_assessment(read_note("Loose stools. I suspect coeliac"), 0, 12)
    False
    """
    first, last = reading.statement(start, end)
    section = reading.section_at(start)
    thought = any(one.search(reading.text, first, last) for one in (_LISTED, _THOUGHT))
    return section in ("assessment", "plan") or thought or "?" in reading.text[first:last]


def _rank_of(reading: NoteReading, one: NamedDiagnosis) -> str:
    """Return "considered" of the diagnosis that leads an assessment, "elsewhere" of a later one."""
    text = reading.text
    start, end = reading.tokens[one.first].start, reading.tokens[one.end - 1].end
    first, last = reading.statement(start, end)
    near = text[first:start].rsplit(",", 1)[-1], re.split("[,.;]", text[end:last])[0]
    if _LATER.match(near[1]) or _LESS.search(near[0]):
        return "elsewhere"
    if any(_FIRST.search(words) for words in near):
        return "considered"
    if _DOUBTED.search(text, first, start) or _DOUBTED.search(near[1]):
        return "unclear"
    named = reading.once(_first_named, *(_body_at(reading, start) or (first, last)))
    others = (name for name, at in named.items() if at < start and not is_symptom(name))
    alone = all(may_be_meant(name, own) for name in others for own in one.meant)
    return "considered" if alone else "unclear"


def _body_at(reading: NoteReading, place: int) -> tuple[int, int] | None:
    """Return the begin and end of the text of the section that a place is in, if it is in one."""
    bodies = reading.once(_bodies)
    k = bisect_right(bodies, (place, len(reading.text))) - 1
    return bodies[k] if k >= 0 and place < bodies[k][1] else None


def _bodies(reading: NoteReading) -> tuple[tuple[int, int], ...]:
    return tuple((one.body.start, one.body.end) for one in reading.sections if one.body)


def _first_named(reading: NoteReading, begin: int, end: int) -> dict[str, int]:
    """Return the diagnoses named from one place to another, with where each is named first."""
    named, found = reading.diagnoses, dict[str, int]()
    for one in named[bisect_left(named, begin, key=lambda own: reading.tokens[own.first].start) :]:
        start = reading.tokens[one.first].start
        if start >= end:
            break
        for name in one.meant:
            found.setdefault(name, start)
    return found


_QUALITIES = words("assessment.qualities")


def _states(said: NamedDiagnosis, asked: WantedDiagnosis) -> bool:
    """Tell whether a name is that of a diagnosis asked for, or of a kind of it."""
    if asked.kind:
        # "Acute uncomplicated cystitis" is a cystitis.
        words = {form.removesuffix("s") for form in asked.kind.split()} - _QUALITIES
        return words <= {form.removesuffix("s") for form in said.key.split()}
    return any(not groups_above(one).isdisjoint(asked.meant) for one in said.meant)


def _may_state(said: NamedDiagnosis, asked: WantedDiagnosis) -> bool:
    """Tell whether a name leaves a way to mean a diagnosis asked for; a symptom says too little."""
    return any(may_be_meant(a, b) and not is_symptom(b) for a in asked.meant for b in said.meant)


def _is_wider(said: NamedDiagnosis, asked: WantedDiagnosis) -> bool:
    """Tell whether a name is that of a group that a diagnosis asked for is in."""
    return any(not groups_above(one).isdisjoint(said.meant) for one in asked.meant)


def _said_of(reading: NoteReading, one: NamedDiagnosis) -> str:
    """Return the standing of a diagnosis at one place: considered, denied, elsewhere or unclear."""
    text = reading.text
    start, end = reading.tokens[one.first].start, reading.tokens[one.end - 1].end
    section = reading.section_at(start)
    if section in _ELSEWHERE:
        return "elsewhere"
    about = (one.scope_span for one in reading.contexts_at([one.first]))
    if any(span.start <= start < span.end for span in about):
        return "elsewhere"
    first, last = reading.statement(start, end)
    before, behind = text[first:start], text[end:last]
    left_open = _OPEN.search(before) or _OPEN.search(behind)
    near = before.rsplit(",", 1)[-1]
    if _OTHERS.search(before):
        return "elsewhere"
    if not left_open and (
        _OUT_BEHIND.match(behind) or _OUT_BEFORE.search(near) or reading.scope[one.first] >= 0
    ):
        return "denied"
    beside = (near, re.split(r"[,.;]", behind)[0])
    if any(_PAST.search(words) or names_earlier_time(words) for words in beside):
        return "elsewhere" if section != "assessment" else "unclear"
    if section == "assessment" or left_open or _is_thought(before, behind):
        return "considered"
    # What stands before a headed assessment is what it draws on.
    return "elsewhere" if start < reading.once(_assessment_begins) else "unclear"


def _is_thought(before: str, behind: str) -> bool:
    """Tell whether the words around a diagnosis say that the writer thinks of it."""
    return bool(
        _LISTED.search(before)
        or _THOUGHT.search(before[-_BEFORE:])
        or _QUERIED.search(before)
        or _THOUGHT.search(behind[:_BEHIND])
        or _RANKED.match(behind)
    )


def _assessment_begins(reading: NoteReading) -> int:
    starts = (x.heading.start for x in reading.sections if x.name == "assessment")
    return max(starts, default=0)


Spans = Sequence[tuple[int, int]]


class DiagnosisVerdict(NamedTuple):
    """The verdict of a note on the diagnosis that a feature asks for.

    ``states``: words that state it, where none of those found do. ``kept``: which of the words
    found may state it. ``considered``: whether some are known to. ``denied``: some that deny it.
    """

    states: tuple[tuple[int, int], ...] = ()
    kept: tuple[bool, ...] = ()
    considered: bool = False
    denied: tuple[int, int] | None = None


def judge_diagnosis(
    asked: Requirement, reading: NoteReading, found: Sequence[Spans]
) -> DiagnosisVerdict | None:
    """Return a note's verdict on the diagnosis a feature asks for; None where it asks for none.

    >>> from rubricate.reading.note import read_note
    >>> from rubricate.requirement.requirement import read_requirement
    >>> said = read_note("PMH: pneumonia 2019. A: r/o PE")
    >>> judge_diagnosis(read_requirement("Differential: pneumonia"), said, [[(5, 14)]]).kept
    (False,)
    >>> judge_diagnosis(read_requirement("Differential: pulmonary embolism"), said, []).states
    ((28, 30),)
    """
    if not asked.diagnoses and not asked.wanted_diagnoses:
        return None
    others = [another_diagnosis(asked, reading, spans) is not None for spans in found]
    said = judge_assessed(asked, reading)
    if not asked.wanted_diagnoses:
        return DiagnosisVerdict(kept=tuple(not other for other in others))
    settled = any(which_overlap(found, (*said.denied, *said.elsewhere)))
    named = which_overlap(found, (*said.considered, *said.unclear))
    kept = tuple(
        not other and (own or (not settled and _may_be_thought(reading, spans)))
        for other, own, spans in zip(others, named, found, strict=True)
    )
    if said.considered and not any(kept):
        return DiagnosisVerdict(states=said.considered, kept=kept)
    deny = which_overlap(found, said.denied)
    first = found[deny.index(True)] if True in deny else ()
    denied = next((one for one in said.denied if any_overlap([one], first)), None)
    return DiagnosisVerdict((), kept, bool(said.considered), denied)


def _may_be_thought(reading: NoteReading, spans: Spans) -> bool:
    """Tell whether words found without a name may state a diagnosis of the assessment."""
    # No name that is known: what stands before a headed assessment is not what the writer thinks.
    start, end = spans[0][0], spans[-1][1]
    drawn_on = start < reading.once(_assessment_begins) and not in_assessment(reading, start, end)
    return not drawn_on and not says_nothing(reading, spans)


def says_nothing(reading: NoteReading, spans: Sequence[tuple[int, int]]) -> bool:
    """Tell whether words only frame something: "likely", "number two"."""
    place = find_place(reading, spans)
    return place is None or all(is_beside(reading.tokens[i].form, _BESIDE) for i in place.inside)


def another_diagnosis(
    asked: Requirement, reading: NoteReading, spans: Sequence[tuple[int, int]]
) -> Reason | None:
    """Return the diagnosis said where a feature asks for another, and the words name only others.

    They do not contradict the feature: what a list names beside others is not mentioned. Of what
    is ``listed`` one item may have further words: "infective endocarditis of slow onset".

    >>> from rubricate.reading.note import read_note
    >>> from rubricate.requirement.requirement import read_requirement
    >>> said = read_note("DDx: GERD, gastritis")
    >>> another_diagnosis(read_requirement("Differential: PUD"), said, [(5, 20)])
    Reason(code='diagnosis.other', said='gerd')
    >>> another_diagnosis(read_requirement("Differential: dyspepsia"), said, [(5, 20)]) is None
    True
    """
    place = find_place(reading, spans) if asked.diagnoses else None
    if place is None:
        return None
    inside = set(place.inside)
    said = [one for one in reading.diagnoses if not inside.isdisjoint(range(one.first, one.end))]
    wanted = frozenset().union(*asked.diagnoses)
    if not said or any(may_be_meant(a, b) for a in wanted for one in said for b in one.meant):
        return None
    inside -= {i for one in said for i in range(one.first, one.end)}
    forms = [reading.tokens[i].form for i in inside]
    if not all(is_beside(form, _BESIDE) for form in forms):
        further = bool(asked.wanted_diagnoses) and _JOINTS.isdisjoint(forms)
        return Reason("diagnosis.other", said[0].key) if further else None
    return Reason("diagnosis.other", said[0].key)
