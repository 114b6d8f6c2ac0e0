"""From proposals of matchers to decisions, and to a corpus with one annotator."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from rubricate.corpus import Annotator, Corpus, Note
from rubricate.matchers.matcher import Matcher
from rubricate.reading.clean import clean_text
from rubricate.requirement.checklist import plain_wording
from rubricate.requirement.requirement import read_requirement
from rubricate.rows import Contradiction, Detail, Rows
from rubricate.rubric import SYSTEM, Feature, Rubric
from rubricate.rules.adjudicate import adjudicate
from rubricate.rules.claims import Item, Mentions
from rubricate.rules.findings import Against, Candidate, ItemFinding, Proposal
from rubricate.rules.reasons import Reason, in_words


class Found(NamedTuple):
    """One annotation that a matcher makes."""

    feature: str
    spans: tuple[tuple[int, int], ...]
    confidence: float
    reason: str


class NoteFindings(NamedTuple):
    """A matcher's findings in one note, with presence probabilities by feature if known.

    ``contradictions`` has the features the note speaks of and says otherwise.
    """

    found: Sequence[Found]
    probabilities: Mapping[str, float]
    contradictions: Mapping[str, Contradiction] = MappingProxyType({})


class NoteProposals(NamedTuple):
    """The proposals of a matcher for the features of one note.

    ``profile`` is the column of the table of precedence that decides about them.
    """

    items: Mapping[str, Proposal]
    profile: str


#: Proposes words for the features of one rubric in some of its notes, in order.
Propose = Callable[[Rubric, Sequence[Note]], Iterable[NoteProposals]]
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


class Decided(NamedTuple):
    """The proposals for a note, and the decisions on them."""

    proposed: NoteProposals
    items: Mapping[str, ItemFinding]


_WATCHED: ContextVar[list[Decided] | None] = ContextVar("watched", default=None)


@contextmanager
def watching() -> Iterator[list[Decided]]:
    """Keep all decisions with what was proposed, for those who explain one.

    >>> with watching() as decided:
    ...     pass
    >>> decided
    []
    """
    decided: list[Decided] = []
    token = _WATCHED.set(decided)
    try:
        yield decided
    finally:
        _WATCHED.reset(token)


def decide(
    rubric: Rubric,
    clean: str,
    proposed: NoteProposals,
    *,
    wordings: Rubric | None = None,
    text: str | None = None,
    mentions: Mentions | None = None,
    before: int = 100,
) -> dict[str, ItemFinding]:
    """Return the decision on each feature of a note.

    ``rubric`` has the features in plain words, ``wordings`` in those of their author. ``clean`` is
    the text without marks and repeated text, ``text`` as it is. Only stages of the table ``before``
    a number decide.

    >>> rubric = Rubric("c", (Feature("1", "c", "Tachycardia"), Feature("2", "c", "Fever")))
    >>> nothing = NoteProposals({"1": Proposal(presence=0.4)}, "network")
    >>> said = decide(rubric, "T 36.9, HR 124", nothing)
    >>> [(one.outcome, one.decided_by) for one in said.values()]
    [('stated', 'measured.states'), ('contradicted', 'value.measured')]
    """
    items: dict[str, ItemFinding] = {}
    nothing, text = Proposal(), clean if text is None else text
    for feature, asked in zip(rubric, wordings or rubric, strict=True):
        author, plain = read_requirement(asked.text), read_requirement(feature.text)
        item = Item(feature.id, plain, author, clean, text, mentions)
        own = proposed.items.get(feature.id, nothing)
        items[feature.id] = adjudicate(
            own, item.ask, proposed.profile, questions=item.questions, before=before
        )
    if (watched := _WATCHED.get()) is not None:
        watched.append(Decided(proposed, items))
    return items


def in_rows(items: Mapping[str, ItemFinding]) -> NoteFindings:
    """Return decisions as annotations with reasons in words."""
    return NoteFindings(
        [
            Found(feature, one.spans, one.confidence, in_words(*one.reasons))
            for feature, item in items.items()
            for one in item.evidence
        ],
        {k: item.probability for k, item in items.items() if item.probability is not None},
        {
            k: Contradiction(said.spans, said.probability, in_words(*said.reasons))
            for k, item in items.items()
            if (said := item.against) is not None
        },
    )


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


def read_notes(
    rubric: Rubric,
    notes: Sequence[Note],
    propose: Propose,
    knows: Callable[[Feature], bool] = lambda _: True,
    *,
    cleaned: bool = True,
    mentions: Mentions | None = None,
) -> Iterator[NoteFindings]:
    """Yield the decisions on what ``propose`` offers in notes.

    Features that the matcher does not know from annotated notes are put to it in plain words. Those
    of them without a letter or digit are not put to it: nothing in a note can state them. Where
    ``cleaned``, it reads notes without de-identification marks and repeated text. ``mentions``
    looks for literal mentions of features.
    """
    own = tuple(one for one in rubric if knows(one) or any(map(str.isalnum, one.text)))
    asked = rubric if len(own) == len(rubric) else replace(rubric, features=own)
    kept = {one.id for one in own}
    never = {one.id: 0.0 for one in rubric if one.id not in kept}
    plain = in_plain_words(asked, knows)
    clean = [replace(one, text=clean_text(one.text)) for one in notes] if cleaned else notes
    nothing = (NoteProposals({}, "phrases") for _ in notes)
    proposed = propose(plain, clean) if own or not never else nothing
    for note, one, said in zip(notes, clean, proposed, strict=True):
        items = decide(plain, one.text, said, wordings=asked, text=note.text, mentions=mentions)
        findings = in_rows(items)
        if never:
            findings = findings._replace(probabilities={**findings.probabilities, **never})
        yield findings


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
    propose = partial(propose_found, find)

    def read(rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteFindings]:
        return read_notes(rubric, notes, propose, knows, cleaned=False)

    return predict_with(corpus, name, read)


def propose_found(
    find: FindInNotes, rubric: Rubric, notes: Sequence[Note]
) -> Iterator[NoteProposals]:
    """Yield as proposals what a matcher of another package finds."""
    for said in find(rubric, notes):
        own: dict[str, list[Candidate]] = {feature.id: [] for feature in rubric}
        for one in said.found:
            reasons = (Reason("matcher.says", one.reason),) if one.reason else ()
            own[one.feature].append(Candidate(one.spans, one.confidence, reasons))
        against = {
            k: Against(one.spans, one.probability, (Reason("matcher.says", one.reason),))
            for k, one in said.contradictions.items()
        }
        items = {
            k: Proposal(tuple(words), said.probabilities.get(k), against.get(k))
            for k, words in own.items()
        }
        yield NoteProposals(items, "phrases")


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
