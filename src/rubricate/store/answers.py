"""Results and answers; the interface is described by them, and tests compare the two.

`Json`: parts whose fields the description leaves open.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from rubricate.formats.encoding import Json
from rubricate.spans import Spans


class HealthAnswer(TypedDict):
    """The server is there."""

    status: str
    rubricate: str


class MemberOf(TypedDict):
    """A project as its members see it in a list."""

    id: str
    name: str
    state: str
    roles: list[str]


class AskedPart(TypedDict):
    """A project that a person was asked to join, as what, and by whom."""

    project: str
    name: str
    roles: list[str]
    by: str


class MemberPart(TypedDict):
    """Somebody in a project: ``invited`` until the account is used, ``asked`` until they agree."""

    name: str
    roles: list[str]
    state: Literal["member", "invited", "asked"]


class AddedAnswer(MemberPart):
    """Somebody who was added, and the path of the link that a new person needs."""

    invite: str | None


class ProjectsAnswer(TypedDict):
    """A person's projects."""

    projects: list[MemberOf]


class MeAnswer(ProjectsAnswer):
    """The signed-in person."""

    name: str
    admin: bool
    preferences: Json
    asked: list[AskedPart]


class ProjectAnswer(MemberOf):
    """A project."""

    study: str
    suggestions: bool


class OwnCounts(TypedDict):
    """Number of a person's notes that are done, and of all."""

    done: int
    total: int


class NextAnswer(OwnCounts):
    """The note that comes next."""

    assignment: str | None
    state: str


class QueueLine(TypedDict):
    """One of a person's notes."""

    id: str
    note: str
    state: str
    training: bool
    again: list[str]


class RubricVersions(TypedDict):
    """A case's newest rubric, and what each version of it changed."""

    case: str
    title: str
    version: int
    features: list[Json]
    history: list[Json]


class RubricsAnswer(TypedDict):
    """The rubrics of a project."""

    rubrics: list[RubricVersions]


class AgainAnswer(TypedDict):
    """Judgements to look at again, by annotator and feature, and the features left out."""

    again: list[Json]
    left: list[Json]


FeatureState = Literal["same", "reworded", "new", "gone"]


class FeatureOffer(TypedDict):
    """A former feature that a feature could be, with their likeness in percent."""

    feature: str
    text: str
    likeness: float


class FeatureChangePart(TypedDict):
    """A feature before and after; counts are hidden from managers who annotate."""

    state: FeatureState
    given: str
    now: FeaturePart | None
    was: FeaturePart | None
    likeness: float | None
    judgements: int | None
    decisions: int | None
    offers: list[FeatureOffer]


class RubricChanges(TypedDict):
    """The features of a rubric compared with the newest version in the project."""

    case: str
    version: int
    is_other: bool
    features: list[FeatureChangePart]


class ComparisonAnswer(TypedDict):
    """The changes that rubrics would make, before anything changes."""

    rubrics: list[RubricChanges]


class QueueAnswer(OwnCounts):
    """A person's notes."""

    assignments: list[QueueLine]


class NoteText(TypedDict):
    """A note with its text and the text's hash."""

    id: str
    case: str
    text: str
    sha256: str


class FeaturePart(TypedDict):
    """A feature as annotators and curators see it."""

    id: str
    text: str
    note: str
    kind: str
    group: str


class RubricPart(TypedDict):
    """A rubric as annotators see it."""

    case: str
    title: str
    version: str
    features: list[FeaturePart]


class JudgementPart(TypedDict):
    """A judgement as it is saved."""

    answer: str | None
    marks: Spans
    version: int
    at: str | None


class SuggestionPart(TypedDict):
    """A matcher's finding."""

    marks: Spans
    probability: float | None
    reason: str


class Steps(TypedDict):
    """Flags for undo and redo."""

    can_undo: bool
    can_redo: bool


class WorkAnswer(Steps):
    """A note to annotate, and what was judged in it so far."""

    id: str
    project: str
    position: int
    total: int
    state: str
    training: bool
    note: NoteText
    rubric: RubricPart
    judgements: dict[str, JudgementPart]
    again: dict[str, FeaturePart]
    suggestions: dict[str, SuggestionPart] | None
    previous: str | None
    next: str | None


class JudgedAnswer(JudgementPart, Steps):
    """A judgement that was saved, and the version of all judgements of its note together."""

    feature: str
    note_version: int


class DoneAnswer(OwnCounts):
    """A note that is done, and the next one."""

    state: str
    next: str | None


class ListLine(TypedDict):
    """Fields of every line in a list of work."""

    id: str
    note: str
    case: str
    feature: str
    feature_text: str
    state: str


class DisputeLine(ListLine):
    """One disagreement in a list."""

    reason: str


class CurationCounts(TypedDict):
    """Number of open and of decided disagreements."""

    open: int
    decided: int


class DisputesAnswer(CurationCounts):
    """A page of disagreements."""

    items: list[DisputeLine]
    next: str | None


class SidePart(TypedDict):
    """One annotator's judgement under a letter."""

    letter: str
    answer: str
    marks: Spans


class DecisionPart(TypedDict):
    """A curator's decision."""

    choice: str
    marks: Spans
    comment: str
    by: str
    at: str
    version: int


class DisputeAnswer(TypedDict):
    """A disagreement."""

    id: str
    project: str
    state: str
    reason: str
    version: int
    inputs: str
    note: NoteText
    feature: FeaturePart
    former: FeaturePart | None
    sides: list[SidePart]
    offers: dict[str, Spans]
    decision: DecisionPart | None
    history: list[DecisionPart]


class ReviewCounts(TypedDict):
    """Number of a run's items that are open, done, and all."""

    open: int
    done: int
    total: int


class RunPart(ReviewCounts):
    """A run under review."""

    id: str
    name: str
    state: str
    fault: str


class RunsAnswer(TypedDict):
    """The runs of a project."""

    runs: list[RunPart]


class ItemLine(ListLine):
    """One item in a list."""

    found: bool | None


class OpenAndDone(TypedDict):
    """Number of open and of done items."""

    open: int
    done: int


class ItemsAnswer(OpenAndDone):
    """A page of items."""

    items: list[ItemLine]
    next: str | None


class ItemAnswer(TypedDict):
    """An item with its note, its evidence and the note's score."""

    id: str
    run: str
    state: str
    version: int
    note: NoteText
    feature: Json
    found: bool | None
    marks: Spans
    reason: str
    against: Json | None
    score: dict[str, float]
    items: list[Json]
    correction: Json | None
    why: str | None
    risk: float | None


class ProgressAnswer(TypedDict):
    """Progress of a project."""

    notes: int
    state: str
    assignments: dict[str, int]
    judgements: int
    unsure: int
    annotators: list[Json]
    curation: dict[str, int]
    runs: list[Json]
    head: str


class AgreementPart(TypedDict):
    """F1 of presence and of characters with intervals, and kappa of presence."""

    presence_f1: Json | None
    presence_kappa: float | None
    characters_f1: Json | None


class AgreementAnswer(AgreementPart):
    """Agreement of annotators."""

    at: str
    notes: int
    pairs: int
    features: list[Json]


class RecordAnswer(TypedDict):
    """A page of the record."""

    events: list[Json]
    next: str | None


class VerifyAnswer(TypedDict):
    """Result of checking the record."""

    intact: bool
    events: int
    head: str
    faults: list[str]
