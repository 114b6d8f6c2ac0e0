"""Bodies of requests: fields that are not known are refused."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from rubricate.store.people import ROLES

Offset = Annotated[int, Meta(ge=0, le=1 << 31)]
#: Annotations, each with its fragments, as half-open code points.
Marks = list[list[tuple[Offset, Offset]]]
Words = Annotated[str, Meta(max_length=2000)]
Name = Annotated[str, Meta(min_length=1, max_length=80)]
Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Version = Annotated[int, Meta(ge=0, le=1 << 31)]
Milliseconds = Annotated[int, Meta(ge=0, le=1 << 31)]
#: Numbers that every reader of what is downloaded takes.
Whole = Annotated[int, Meta(ge=-(1 << 62), le=1 << 62)]
Role = Literal["manager", "annotator", "curator", "reviewer", "observer"]
assert Role.__args__ == ROLES  # type: ignore[attr-defined]


class Body(Struct, forbid_unknown_fields=True):
    """A JSON object without surprises."""


class NothingBody(Body):
    """``{}``."""


class DoneBody(Body):
    """The version of all judgements of the note together, as the annotator saw them."""

    version: Annotated[int, Meta(ge=0)] | None = None


class SignInBody(Body):
    """A name and its password."""

    name: str
    password: str


class PreferencesBody(Body):
    """Keys of a person."""

    keys_on: bool = True
    keys: dict[Annotated[str, Meta(max_length=40)], Annotated[str, Meta(max_length=40)]] = {}


class JudgementBody(Body):
    """One judgement, and the version it was made on."""

    answer: Literal["present", "absent", "unsure"] | None
    marks: Marks
    version: Version
    sha256: Sha256
    active_ms: Milliseconds = 0
    suggestion: Literal["none", "shown", "accepted"] = "none"


class DecisionBody(Body):
    """A curator's decision, and what it was made on."""

    choice: Annotated[str, Meta(max_length=20)]
    version: Version
    inputs: str
    sha256: Sha256
    marks: Marks = []
    comment: Words = ""


class ReviewBody(Body):
    """A reviewer's decision on an item."""

    found: bool
    version: Version
    sha256: Sha256
    marks: Marks | None = None
    comment: Words = ""
    active_ms: Milliseconds = 0


class ProjectBody(Body):
    """A new project."""

    name: Name
    study: str = ""


class ProjectChangesBody(Body):
    """Changes of a project."""

    name: Name | UnsetType = UNSET
    state: Literal["open", "paused"] | UnsetType = UNSET
    suggestions: bool | UnsetType = UNSET


class NoteBody(Body):
    """One note."""

    id: Name
    case: Name
    text: str
    metadata: dict[str, str | Whole | float | bool | None] = {}


class NotesBody(Body):
    """Notes to add."""

    notes: list[NoteBody]


class FeatureBody(Body):
    """One feature."""

    id: Name
    text: Words
    weight: float = 1.0
    kind: str = ""
    group: str = ""
    note: Words = ""


class RubricBody(Body):
    """One rubric."""

    case: Name
    features: list[FeatureBody]
    title: str = ""


class RubricsBody(Body):
    """Rubrics to add.

    ``pairs``: feature id that is sent: id of the former feature that it is, and that it keeps.
    ``may_leave``: features of the newest version that are not sent may leave the project.
    """

    rubrics: list[RubricBody]
    same_meaning: bool = False
    pairs: dict[Name, Name] = {}
    may_leave: bool = False


class AssignmentsBody(Body):
    """The annotators, and the share of notes that several of them get.

    ``seniors`` and ``sites`` (annotator: site; ``site``: where the notes' metadata names theirs)
    are those of the study where they are not given and the project has one.
    """

    annotators: list[Name]
    seniors: list[Name] | None = None
    sites: dict[Name, str] = {}
    site: str = ""
    double_share: Annotated[float, Meta(ge=0, le=1)] = 1.0
    per_note: Annotated[int, Meta(ge=2, le=8)] = 2
    seed: Annotated[int, Meta(ge=0, le=1 << 31)] = 0


class SuggestionsBody(Body):
    """Which matcher suggests."""

    matcher: Name = "lexicon"


class RunBody(Body):
    """A finished run and its inputs, inside the folder that is served."""

    folder: str
    notes: str
    rubric: str = ""
    policy: str = ""
    audit: Annotated[float, Meta(ge=0, le=1)] = 0.05
    seed: Annotated[int, Meta(ge=0, le=1 << 31)] = 0


class MemberBody(Body):
    """Somebody who comes into a project."""

    name: Name
    roles: Annotated[list[Role], Meta(min_length=1)]


class RolesBody(Body):
    """All roles of a member; none: they leave the project."""

    roles: list[Role]


class JoinBody(Body):
    """The answer of a person who was asked to join a project."""

    join: bool


class TokenBody(Body):
    """A new token."""

    name: Name
    scopes: list[Literal["read", "write", "export", "suggest"]]
    days: Annotated[int, Meta(ge=1, le=366)] = 90
    project: str | None = None


class ExportBody(Body):
    """Permission to replace existing files."""

    overwrite: bool = False
