"""What is answered, for the description of the interface; tests compare it with real answers."""

from __future__ import annotations

from typing import Any, TypedDict

Marks = list[list[tuple[int, int]]]


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


class ProjectsAnswer(TypedDict):
    """A person's projects."""

    projects: list[MemberOf]


class MeAnswer(ProjectsAnswer):
    """Who is signed in."""

    name: str
    admin: bool
    preferences: dict[str, Any]


class ProjectAnswer(MemberOf):
    """A project."""

    study: str
    suggestions: bool


class NextAnswer(TypedDict):
    """The note that comes next."""

    assignment: str | None
    state: str
    done: int
    total: int


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
    features: list[dict[str, Any]]
    history: list[dict[str, Any]]


class RubricsAnswer(TypedDict):
    """The rubrics of a project."""

    rubrics: list[RubricVersions]


class AgainAnswer(TypedDict):
    """How many judgements of whom are to be looked at again, by feature."""

    again: list[dict[str, Any]]


class QueueAnswer(TypedDict):
    """A person's notes."""

    assignments: list[QueueLine]
    done: int
    total: int


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
    marks: Marks
    version: int
    at: str | None


class SuggestionPart(TypedDict):
    """What a matcher found."""

    marks: Marks
    probability: float | None
    reason: str


class WorkAnswer(TypedDict):
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
    again: dict[str, str]
    suggestions: dict[str, SuggestionPart] | None
    can_undo: bool
    can_redo: bool
    previous: str | None
    next: str | None


class JudgedAnswer(JudgementPart):
    """A judgement that was saved."""

    feature: str
    can_undo: bool
    can_redo: bool


class DoneAnswer(TypedDict):
    """A note that is done, and the next one."""

    state: str
    next: str | None
    done: int
    total: int


class DisputeLine(TypedDict):
    """One disagreement in a list."""

    id: str
    note: str
    case: str
    feature: str
    feature_text: str
    reason: str
    state: str


class DisputesAnswer(TypedDict):
    """A page of disagreements."""

    items: list[DisputeLine]
    next: str | None
    open: int
    decided: int


class SidePart(TypedDict):
    """One annotator's judgement under a letter."""

    letter: str
    answer: str
    marks: Marks


class DecisionPart(TypedDict):
    """A curator's decision."""

    choice: str
    marks: Marks
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
    sides: list[SidePart]
    offers: dict[str, Marks]
    decision: DecisionPart | None
    history: list[DecisionPart]


class RunPart(TypedDict):
    """A run under review."""

    id: str
    name: str
    state: str
    fault: str
    open: int
    done: int
    total: int


class RunsAnswer(TypedDict):
    """The runs of a project."""

    runs: list[RunPart]


class ItemLine(TypedDict):
    """One item in a list."""

    id: str
    note: str
    case: str
    feature: str
    feature_text: str
    found: bool | None
    state: str


class ItemsAnswer(TypedDict):
    """A page of items."""

    items: list[ItemLine]
    next: str | None
    open: int
    done: int


class ItemAnswer(TypedDict):
    """An item with its note, its evidence and the note's score."""

    id: str
    run: str
    state: str
    version: int
    note: NoteText
    feature: dict[str, Any]
    found: bool | None
    marks: Marks
    reason: str
    against: dict[str, Any] | None
    score: dict[str, float]
    items: list[dict[str, Any]]
    correction: dict[str, Any] | None
    why: str | None
    risk: float | None


class ProgressAnswer(TypedDict):
    """How far a project is."""

    notes: int
    state: str
    assignments: dict[str, int]
    judgements: int
    unsure: int
    annotators: list[dict[str, Any]]
    curation: dict[str, int]
    runs: list[dict[str, Any]]
    head: str


class AgreementAnswer(TypedDict):
    """How far annotators agree."""

    at: str
    notes: int
    pairs: int
    presence_f1: dict[str, Any] | None
    presence_kappa: float | None
    characters_f1: dict[str, Any] | None
    features: list[dict[str, Any]]


class RecordAnswer(TypedDict):
    """A page of the record."""

    events: list[dict[str, Any]]
    next: str | None


class VerifyAnswer(TypedDict):
    """Whether the record is intact."""

    intact: bool
    events: int
    head: str
    faults: list[str]
