"""From what was found in each note to a corpus with one annotator."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from rubricate.corpus import Annotator, Corpus, Note
from rubricate.rows import Contradiction, Detail, Rows
from rubricate.rubric import SYSTEM, Feature, Rubric
from rubricate.text.checklist import asked_topic, plain_wording
from rubricate.text.contradiction import TYPE, why_contradicted_in
from rubricate.text.contradiction.asked import read_asked
from rubricate.text.contradiction.explained import gives_asked_number
from rubricate.text.contradiction.place import TextReading
from rubricate.text.contradiction.sure import why_surely_not
from rubricate.text.investigations.asked import asks_for_test
from rubricate.text.investigations.ordered import (
    find_ordered,
    not_ordered,
    says_nothing_of_test,
)
from rubricate.text.measured import MeasuredVerdict, judge_measured, only_values


class Found(NamedTuple):
    """One annotation that a matcher makes."""

    feature: str
    spans: tuple[tuple[int, int], ...]
    confidence: float
    reason: str


class NoteFindings(NamedTuple):
    """What a matcher found in one note, with presence probabilities by feature where known.

    ``contradictions`` has the features the note speaks of and says otherwise.
    """

    found: Sequence[Found]
    probabilities: Mapping[str, float]
    contradictions: Mapping[str, Contradiction] = MappingProxyType({})


_STRAY = re.compile(r"[\W_]*|\d{1,2}|[a-z]")
#: Finds the features of one rubric in some of its notes, in order.
FindInNotes = Callable[[Rubric, Sequence[Note]], Iterable[NoteFindings]]

#: Rules of `rubricate.text.contradiction` that are surer than what a matcher has learned, and how
#: probable a feature is that they, or measured values, speak against; that measured values state.
SURE_RULES = ("another number", "another side", "another drug", TYPE)
OVERRULED, MEASURED = 0.05, 0.95


def hold_to_values(rubric: Rubric, reading: TextReading, findings: NoteFindings) -> NoteFindings:
    """Return the findings without those all of whose words say something else for sure.

    Words that name only other tests than the one asked for say nothing of it.

    Measured values decide about features that ask for nothing else, where none of their words or
    only values were found.

    >>> from rubricate import Feature
    >>> from rubricate.text.contradiction.place import read_text
    >>> rubric = Rubric("c", (Feature("1", "c", "Tachycardia"), Feature("2", "c", "Fever")))
    >>> nothing = NoteFindings([], {"1": 0.4, "2": 0.4})
    >>> said = hold_to_values(rubric, read_text("T 36.9, HR 124"), nothing)
    >>> [one.spans for one in said.found], said.contradictions["2"].reason
    ([((8, 14),)], 'says T 36.9')
    """
    findings = _hold_to_tests(rubric, reading, findings)
    text, by_feature = reading.text, dict[str, list[Found]]()
    for one in findings.found:
        by_feature.setdefault(one.feature, []).append(one)
    against, probabilities = dict(findings.contradictions), dict(findings.probabilities)
    found: list[Found] = []
    for feature in rubric:
        own = _without_stray(feature, text, by_feature.get(feature.id, []))
        why = [
            why_contradicted_in(reading, feature.text, x.spans, SURE_RULES)
            or why_surely_not(feature.text, text, x.spans)
            for x in own
        ]
        other = Contradiction(own[0].spans, None, why[0] or "") if own and all(why) else None
        if not own and feature.id in against:
            own = _reckoned(feature, text, against[feature.id])
            if own:
                del against[feature.id]
                probabilities[feature.id] = max(probabilities.get(feature.id, 0.0), MEASURED)
        # Where only values were found the table judges: a matcher may mark those beside them.
        worded = own and not only_values(text, [span for x in own for span in x.spans])
        said = MeasuredVerdict() if worded else judge_measured(feature.wordings, text)
        if said.contradicts:
            first = said.contradicts[0]
            other = Contradiction((first,), None, f"says {text[slice(*first)]}")
        elif said.states:
            stating = (
                Found(feature.id, (x,), MEASURED, f"measured: {text[slice(*x)]}")
                for x in said.states
            )
            own = [*(one for one in own if not only_values(text, one.spans)), *stating]
            probabilities[feature.id] = max(probabilities.get(feature.id, 0.0), MEASURED)
            against.pop(feature.id, None)
            other = None
        if other is None:
            found += own
        else:
            against[feature.id] = other
            probabilities[feature.id] = min(probabilities.get(feature.id, 1.0), OVERRULED)
    return NoteFindings(found, probabilities, against)


def _hold_to_tests(rubric: Rubric, reading: TextReading, findings: NoteFindings) -> NoteFindings:
    """Return the findings without words that name other tests than the one a feature asks for.

    They say nothing of it. A test that the plan orders is found, whatever else was.
    """
    found, against = list(findings.found), dict(findings.contradictions)
    probabilities = dict(findings.probabilities)
    for feature in rubric:
        if not asks_for_test(feature.text):
            continue
        own = [one for one in found if one.feature == feature.id]
        chance = probabilities.get(feature.id)
        if ordered := find_ordered(feature.text, reading):
            probabilities[feature.id] = max(chance or 0.0, MEASURED)
            against.pop(feature.id, None)
            if any(a < z and b < y for one in own for a, y in one.spans for b, z in ordered):
                continue
            found.append(Found(feature.id, tuple(ordered), MEASURED, "ordered in the plan"))
        elif own and all(says_nothing_of_test(feature.text, reading.text, x.spans) for x in own):
            probabilities[feature.id] = min(1.0 if chance is None else chance, OVERRULED)
        elif own and all(not_ordered(feature.text, reading.text, x.spans) for x in own):
            probabilities[feature.id] = min(1.0 if chance is None else chance, OVERRULED)
            against[feature.id] = Contradiction(own[0].spans, None, "not to be done")
        else:
            continue
        found = [one for one in found if one not in own]
    return NoteFindings(found, probabilities, against)


def _reckoned(feature: Feature, text: str, said: Contradiction) -> list[Found]:
    """Return as found what was taken for a contradiction and gives the number asked for."""
    if not gives_asked_number(feature.text, text, said.spans):
        return []
    return [Found(feature.id, said.spans, MEASURED, "the number asked for, written otherwise")]


def _without_stray(feature: Feature, text: str, own: Sequence[Found]) -> Sequence[Found]:
    """Return what was found without bare marks, letters and small numbers beside words.

    They are crumbs of neighbours ("OD 6/6, IOP 15"), unless the feature asks for a number.
    """
    if len(own) < 2 or any(x.quantities or x.numerals for x in read_asked(feature.text)):
        return own
    worded = [
        one for one in own if not all(_STRAY.fullmatch(text[a:z].strip()) for a, z in one.spans)
    ]
    return worded or own


_UNASKED = re.compile(
    r"n[o']t (?:been )?(?:ask|assess|document|record|obtain|elicit|explor|discuss|taken|known)"
    r"|\bun(?:asked|known)",
    re.IGNORECASE,
)


def take_answers(rubric: Rubric, text: str, findings: NoteFindings) -> NoteFindings:
    """Return the findings with every answer as evidence of features that want to know who asked.

    "Denies smoking" contradicts "Smoker", but shows that smoking was asked about.

    >>> from rubricate import Feature
    >>> rubric = Rubric("c", (Feature("1", "c", "Smoking history asked"),))
    >>> denied = NoteFindings([], {"1": 0.1}, {"1": Contradiction(((0, 14),), 0.9, "denied")})
    >>> said = take_answers(rubric, "Denies smoking", denied)
    >>> [one.spans for one in said.found], said.probabilities, said.contradictions
    ([((0, 14),)], {'1': 0.9}, {})
    """
    asks = {feature.id for feature in rubric if asked_topic(feature.text) is not None}
    if not asks:
        return findings
    answers = {
        k: said
        for k, said in findings.contradictions.items()
        if k in asks and not _is_unasked(text, said.spans)
    }
    sure = {
        k: MEASURED if one.probability is None else one.probability for k, one in answers.items()
    }
    found = [
        one for one in findings.found if one.feature not in asks or not _is_unasked(text, one.spans)
    ]
    found += [Found(k, one.spans, sure[k], f"answered: {one.reason}") for k, one in answers.items()]
    unasked = {one.feature for one in findings.found} - {one.feature for one in found}
    low = {k: min(OVERRULED, findings.probabilities.get(k, OVERRULED)) for k in unasked}
    return NoteFindings(
        found,
        {**findings.probabilities, **sure, **low},
        {k: v for k, v in findings.contradictions.items() if k not in answers},
    )


def _is_unasked(text: str, spans: Sequence[tuple[int, int]]) -> bool:
    return any(_UNASKED.search(text[slice(*span)]) for span in spans)


def in_plain_words(rubric: Rubric, knows: Callable[[Feature], bool]) -> Rubric:
    """Return the rubric with the wording of checklists made plain, but of features known.

    >>> from rubricate import Feature
    >>> rubric = Rubric("c", (Feature("1", "c", "1. Fever"), Feature("2", "c", "2. Cough")))
    >>> [feature.text for feature in in_plain_words(rubric, lambda feature: feature.id == "1")]
    ['1. Fever', 'Cough']
    """
    features = tuple(
        feature if knows(feature) else replace(feature, text=plain_wording(feature.text))
        for feature in rubric
    )
    return rubric if features == rubric.features else replace(rubric, features=features)


def predict_corpus(
    corpus: Corpus, name: str, find: FindInNotes, knows: Callable[[Feature], bool] = lambda _: True
) -> Corpus:
    """Return the corpus with one annotator, whose rows hold what ``find`` finds case by case.

    Features that the matcher does not know from annotated notes are put to it in plain words.
    """
    feature_index = corpus.feature_index
    row_note: list[int] = []
    row_feature: list[int] = []
    probability: list[float] = []
    contradictions: dict[int, Contradiction] = {}
    columns = _AnnotationColumns()
    for rubric, numbers in _notes_by_case(corpus):
        own = [feature_index[f.id] for f in rubric]
        place = {f.id: k for k, f in enumerate(rubric)}
        notes = [corpus.notes[i] for i in numbers]
        asked = in_plain_words(rubric, knows)
        for i, said in zip(numbers, find(asked, notes), strict=True):
            findings = take_answers(rubric, corpus.notes[i].text, said)
            first_row = len(row_note)
            row_note.extend([i] * len(own))
            row_feature.extend(own)
            known = findings.probabilities
            probability.extend([known.get(feature, np.nan) for feature in place])
            for found in findings.found:
                columns.add(first_row + place[found.feature], found)
            for feature, other in findings.contradictions.items():
                contradictions[first_row + place[feature]] = other
    rows = Rows.build(
        note=row_note,
        annotator=np.zeros(len(row_note), dtype=np.int32),
        feature=row_feature,
        row_of_annotation=columns.row_of_annotation,
        annotation_of_span=columns.annotation_of_span,
        start=columns.start,
        end=columns.end,
        probability=probability,
        confidence=columns.confidence,
        details=columns.details,
        contradictions=contradictions,
    )
    return corpus.with_rows(rows, [Annotator(name, SYSTEM)])


def _notes_by_case(corpus: Corpus) -> list[tuple[Rubric, list[int]]]:
    numbers: dict[str, list[int]] = {}
    for i, note in enumerate(corpus.notes):
        numbers.setdefault(note.case, []).append(i)
    return [(corpus.rubric(case), own) for case, own in numbers.items()]


class _AnnotationColumns:
    """The flat columns of annotations and their spans, filled one by one."""

    def __init__(self) -> None:
        self.row_of_annotation: list[int] = []
        self.annotation_of_span: list[int] = []
        self.start: list[int] = []
        self.end: list[int] = []
        self.confidence: list[float] = []
        self.details: dict[int, Detail] = {}
        self._detail: dict[str, Detail] = {}

    def add(self, row: int, found: Found) -> None:
        number = len(self.row_of_annotation)
        self.row_of_annotation.append(row)
        self.confidence.append(found.confidence)
        detail = self._detail.get(found.reason)
        if detail is None:
            detail = self._detail[found.reason] = Detail(reason=found.reason)
        self.details[number] = detail
        for start, end in found.spans:
            self.annotation_of_span.append(number)
            self.start.append(start)
            self.end.append(end)
