"""Marks of two sides over one text, cut into pieces that have the same marks throughout."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import Literal

from rubricate.errors import Fault, InputError
from rubricate.spans import Span, merge_spans

Side = Literal["reference", "predicted"]
#: How a piece of text stands, for one feature; the style sheet has a class for each.
State = Literal["hit", "missed", "false"]
#: Underlines of overlapping features are set below each other; deeper ones share the last place.
MAX_LANES = 4


@dataclass(frozen=True, slots=True)
class Mark:
    """One annotation to be shown.

    Parameters
    ----------
    number : int
        Shown where the annotation begins; the feature's number in the list beside the note.
    label : str
        The feature's words, shown when pointed at.
    side : {"reference", "predicted"}
        Whose it is.
    spans : tuple of Span
        The fragments.
    remark : str
        Shown when pointed at, such as a matcher's reason.
    """

    number: int
    label: str
    side: Side
    spans: tuple[Span, ...]
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Sides:
    """What the two sides, and what only one of them marked, are called."""

    reference: str = "reference"
    predicted: str = "prediction"

    def words(self, state: State) -> str:
        """Say in words how a piece of text stands."""
        return {
            "hit": f"{self.reference} and {self.predicted}",
            "missed": f"{self.reference} only",
            "false": f"{self.predicted} only",
        }[state]


@dataclass(slots=True)
class Piece:
    """A stretch of text with the same marks throughout."""

    start: int
    end: int
    states: dict[int, State] = field(default_factory=dict)
    tokens: list[str] = field(default_factory=list)
    remarks: dict[int, str] = field(default_factory=dict)
    badges: list[str] = field(default_factory=list)


def check_marks(text: str, marks: Iterable[Mark]) -> None:
    """Raise InputError with every span that lies outside the text."""
    faults = [
        Fault(f"span {s.start} {s.end} of feature {m.number} lies outside its note of {len(text)}")
        for m in marks
        for s in m.spans
        if s.end > len(text)
    ]
    if faults:
        raise InputError(faults)


def mark_labels(marks: Iterable[Mark]) -> dict[int, str]:
    """Return the words of each feature by its number."""
    return {mark.number: mark.label for mark in marks}


def cut_pieces(length: int, marks: Sequence[Mark]) -> list[Piece]:
    """Cut the text wherever a mark begins or ends, and say what covers each piece."""
    cuts = sorted({0, length, *(e for m in marks for s in m.spans for e in (s.start, s.end))})
    pieces = [Piece(a, b) for a, b in pairwise(cuts)]
    at = {piece.start: i for i, piece in enumerate(pieces)}
    for k, mark in enumerate(marks):
        for span in mark.spans:
            i = at[span.start]
            while i < len(pieces) and pieces[i].start < span.end:
                _cover(pieces[i], mark, k)
                i += 1
    for run in _runs(marks):
        pieces[at[run.start]].badges.append(run.badge)
    for piece in pieces:
        piece.badges.sort(key=lambda badge: int(badge.strip("…")))
    return pieces


def _cover(piece: Piece, mark: Mark, k: int) -> None:
    side: State = "missed" if mark.side == "reference" else "false"
    before = piece.states.get(mark.number, side)
    piece.states[mark.number] = side if before == side else "hit"
    token = f"{mark.number}{mark.side[0]}{k}"
    if token not in piece.tokens:
        piece.tokens.append(token)
    if mark.remark:
        piece.remarks[mark.number] = mark.remark


@dataclass(frozen=True, slots=True)
class _Run:
    """Where one feature's marks, both sides together, cover the text without a gap."""

    number: int
    start: int
    end: int
    badge: str


def _runs(marks: Sequence[Mark]) -> list[_Run]:
    found = []
    for number in sorted({mark.number for mark in marks}):
        own = [mark for mark in marks if mark.number == number]
        for run in merge_spans(s for mark in own for s in mark.spans):
            inside = [m for m in own if any(s.overlaps(run) for s in m.spans)]
            earlier = any(s.end <= run.start for m in inside for s in m.spans)
            later = any(s.start >= run.end for m in inside for s in m.spans)
            badge = f"{'…' if earlier else ''}{number}{'…' if later else ''}"
            found.append(_Run(number, run.start, run.end, badge))
    return sorted(found, key=lambda run: (run.start, run.number))


def find_lanes(pieces: Sequence[Piece]) -> dict[tuple[int, int], int]:
    """Give each feature a line that no other feature has while they overlap."""
    lanes: dict[tuple[int, int], int] = {}
    held: dict[int, int] = {}
    for piece in pieces:
        held = {n: lane for n, lane in held.items() if n in piece.states}
        for number in sorted(piece.states):
            if number not in held:
                free = (lane for lane in count() if lane not in held.values())
                held[number] = next(free)
            lanes[piece.start, number] = min(held[number], MAX_LANES - 1)
    return lanes
