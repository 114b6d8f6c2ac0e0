"""From what was found in each note to a corpus with one annotator."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from rubricate.corpus import Annotator, Corpus, Note
from rubricate.knowledge.tables import pattern
from rubricate.matchers.matcher import Matcher
from rubricate.reading.clean import clean_text
from rubricate.reading.note import read_note
from rubricate.requirement.checklist import plain_wording
from rubricate.requirement.requirement import read_requirement
from rubricate.rows import Contradiction, Detail, Rows
from rubricate.rubric import SYSTEM, Feature, Rubric
from rubricate.rules.reasons import Reason, in_words
from rubricate.rules.tests import find_examined


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


@runtime_checkable
class NoteReader(Protocol):
    """A matcher that is asked about notes directly, as all of this package are."""

    def check(self, features: Iterable[Feature]) -> None:
        """Raise InputError where it cannot look for these features."""
        ...

    def read(self, rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteFindings]:
        """Yield what it finds in each note, for the features of one rubric."""
        ...


#: How probable a feature is that the words of a note surely state, and one they speak against.
STATED, OVERRULED = 0.95, 0.05


_UNASKED = pattern("checklist.unasked")


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
    findings = _with_examined(rubric, text, findings)
    asks = {feature.id for feature in rubric if read_requirement(feature.text).topic is not None}
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


def _with_examined(rubric: Rubric, text: str, findings: NoteFindings) -> NoteFindings:
    """Return the findings with what the note says of the examinations that features want done."""
    asked = {
        one.id: name
        for one in rubric
        if (name := read_requirement(one.text).examination) is not None
    }
    if not asked:
        return findings
    found, probabilities = list(findings.found), dict(findings.probabilities)
    against = dict(findings.contradictions)
    for feature, examination in asked.items():
        said = find_examined(examination, read_note(text))
        if said.done:
            against.pop(feature, None)
            probabilities[feature] = max(probabilities.get(feature, 0.0), STATED)
            if not any(one.feature == feature for one in found):
                found.append(Found(feature, said.done[:1], STATED, "examined"))
        elif said.undone:
            found = [one for one in found if one.feature != feature]
            probabilities[feature] = min(probabilities.get(feature, 1.0), OVERRULED)
            against[feature] = Contradiction(said.undone[:1], None, in_words(_NOT_DONE))
    return NoteFindings(found, probabilities, against)


_NOT_DONE = Reason("test.not_done")


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


def in_clean_text(find: FindInNotes) -> FindInNotes:
    """Return the same search in notes without de-identification marks and repeated text."""

    def find_clean(rubric: Rubric, notes: Sequence[Note]) -> Iterable[NoteFindings]:
        return find(rubric, [replace(note, text=clean_text(note.text)) for note in notes])

    return find_clean


def read_notes(
    rubric: Rubric,
    notes: Sequence[Note],
    find: FindInNotes,
    knows: Callable[[Feature], bool] = lambda _: True,
) -> Iterator[NoteFindings]:
    """Yield what ``find`` finds in notes, with answers to what was to be asked.

    Features that the matcher does not know from annotated notes are put to it in plain words. Those
    of them without a letter or digit are not put to it: nothing in a note can state them.
    """
    own = tuple(one for one in rubric if knows(one) or any(map(str.isalnum, one.text)))
    if len(own) == len(rubric):
        asked, never = rubric, dict[str, float]()
    else:
        asked = replace(rubric, features=own)
        kept = {one.id for one in own}
        never = {one.id: 0.0 for one in rubric if one.id not in kept}
    nothing = (NoteFindings([], {}) for _ in notes)
    found = find(in_plain_words(asked, knows), notes) if own or not never else nothing
    for note, said in zip(notes, found, strict=True):
        known = {**said.probabilities, **never} if never else said.probabilities
        yield take_answers(rubric, note.text, said._replace(probabilities=known))


def read_with(
    matcher: Matcher | NoteReader, rubric: Rubric, notes: Sequence[Note]
) -> Iterator[NoteFindings]:
    """Yield what a matcher finds in notes; one of another package may know corpora alone."""
    if isinstance(matcher, NoteReader):
        yield from matcher.read(rubric, notes)
        return
    if len({note.id for note in notes}) < len(notes):
        # A corpus has each id once.
        notes = [Note(str(i), n.case, n.text, n.metadata) for i, n in enumerate(notes)]
    yield from read_predicted(matcher.predict(Corpus(tuple(notes), (rubric,))))


def read_predicted(corpus: Corpus) -> Iterator[NoteFindings]:
    """Yield what the only annotator of a corpus found in each of its notes.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["30"], annotators=["reference"])
    >>> [one.feature for one in next(read_predicted(corpus)).found][:2]
    ['3000', '3001']
    """
    rows = corpus.rows
    for note in corpus.notes:
        found, probabilities, contradictions = [], {}, {}
        for row in corpus.note_rows(note.id):
            feature = corpus.features[int(rows.feature[row])].id
            for one in corpus.row_annotations(row):
                spans = tuple((span.start, span.end) for span in one.spans)
                sure = math.nan if one.confidence is None else one.confidence
                found.append(Found(feature, spans, sure, one.detail.reason))
            if rows.probability is not None:
                probabilities[feature] = float(rows.probability[row])
            if row in rows.contradictions:
                contradictions[feature] = rows.contradictions[row]
        yield NoteFindings(found, probabilities, contradictions)


def check_rubrics(matcher: Matcher | NoteReader, rubrics: Iterable[Rubric]) -> None:
    """Raise InputError where a model was made for another rubric."""
    if isinstance(matcher, NoteReader):
        matcher.check([feature for rubric in rubrics for feature in rubric])
    else:
        matcher.predict(Corpus((), tuple(rubrics)))


def predict_corpus(
    corpus: Corpus, name: str, find: FindInNotes, knows: Callable[[Feature], bool] = lambda _: True
) -> Corpus:
    """Return the corpus with one annotator, whose rows hold what ``find`` finds case by case.

    Features that the matcher does not know from annotated notes are put to it in plain words.
    """
    return predict_with(corpus, name, lambda rubric, own: read_notes(rubric, own, find, knows))


def predict_with(corpus: Corpus, name: str, read: FindInNotes) -> Corpus:
    """Return the corpus with one annotator, whose rows hold what a `NoteReader` reads."""
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
        for i, findings in zip(numbers, read(rubric, notes), strict=True):
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
