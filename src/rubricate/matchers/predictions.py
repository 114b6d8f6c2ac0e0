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


#: Finds the features of one rubric in some of its notes, in order.
FindInNotes = Callable[[Rubric, Sequence[Note]], Iterable[NoteFindings]]

#: How probable a feature is that the words of a note surely state, and one they speak against.
STATED, OVERRULED = 0.95, 0.05


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
    sure = {k: STATED if one.probability is None else one.probability for k, one in answers.items()}
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
