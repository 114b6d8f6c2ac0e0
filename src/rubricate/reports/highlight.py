"""A note's text with the marks of two sides: underlined, tinted, numbered, and nothing changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import pairwise
from typing import Literal

from rubricate.errors import Fault, InputError
from rubricate.spans import Span, merge_spans

Side = Literal["reference", "predicted"]
#: How a piece of text stands, for one feature; the style sheet has a class for each.
State = Literal["hit", "missed", "false"]
#: Underlines of overlapping features are set below each other; deeper ones share the last place.
MAX_LANES = 4


@dataclass(frozen=True, slots=True)
class NoteMark:
    """One annotation to be shown."""

    number: int
    label: str
    side: Side
    spans: tuple[Span, ...]
    remark: str = ""


@dataclass(frozen=True, slots=True)
class MarkedRow:
    """One feature of a note: both sides' marks, and the characters only one of them marked."""

    number: int
    feature: str
    marks: tuple[NoteMark, ...]
    n_false: int
    n_missed: int

    @property
    def n_wrong(self) -> int:
        """Characters that one side marked and the other did not."""
        return self.n_false + self.n_missed


@dataclass(frozen=True, slots=True)
class Sides:
    """Names of the two sides, and of the marks of only one side."""

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


def check_marks(text: str, marks: Iterable[NoteMark]) -> None:
    """Raise InputError with every span that lies outside the text."""
    faults = [
        Fault(f"span {s.start} {s.end} of feature {m.number} lies outside its note of {len(text)}")
        for m in marks
        for s in m.spans
        if s.end > len(text)
    ]
    InputError.raise_any(faults)


def cut_pieces(length: int, marks: Sequence[NoteMark]) -> list[Piece]:
    """Cut the text wherever a mark begins or ends, and say what covers each piece."""
    cuts = sorted({0, length, *(e for m in marks for s in m.spans for e in (s.start, s.end))})
    pieces = [Piece(a, b) for a, b in pairwise(cuts)]
    at = {piece.start: i for i, piece in enumerate(pieces)}
    for k, mark in enumerate(marks):
        side: State = "missed" if mark.side == "reference" else "false"
        for span in mark.spans:
            i = at[span.start]
            while i < len(pieces) and pieces[i].start < span.end:
                piece = pieces[i]
                before = piece.states.get(mark.number, side)
                piece.states[mark.number] = side if before == side else "hit"
                token = f"{mark.number}{mark.side[0]}{k}"
                if token not in piece.tokens:
                    piece.tokens.append(token)
                if mark.remark:
                    piece.remarks[mark.number] = mark.remark
                i += 1
    for start, badge in _badges(marks):
        pieces[at[start]].badges.append(badge)
    for piece in pieces:
        piece.badges.sort(key=lambda badge: int(badge.strip("…")))
    return pieces


def _badges(marks: Sequence[NoteMark]) -> Iterator[tuple[int, str]]:
    """Yield where one feature's marks, both sides together, begin after a gap, and their badge."""
    for number in {mark.number for mark in marks}:
        own = [mark for mark in marks if mark.number == number]
        for run in merge_spans(s for mark in own for s in mark.spans):
            inside = [m for m in own if any(s.overlaps(run) for s in m.spans)]
            earlier = any(s.end <= run.start for m in inside for s in m.spans)
            later = any(s.start >= run.end for m in inside for s in m.spans)
            yield run.start, f"{'…' if earlier else ''}{number}{'…' if later else ''}"


def assign_lanes(stretches: Sequence[tuple[int, int]]) -> list[int]:
    """Return the lane of each stretch: the first that is free along all of it.

    Of two that begin together the longer comes first. ``frontend/src/lanes.ts`` says the same.

    >>> assign_lanes([(0, 5), (3, 8), (5, 9)])
    [0, 1, 0]
    """
    ends: list[int] = []
    lanes = [0] * len(stretches)
    for i in sorted(range(len(stretches)), key=lambda i: (stretches[i][0], -stretches[i][1])):
        start, end = stretches[i]
        lane = next((k for k, used in enumerate(ends) if used <= start), len(ends))
        ends[lane : lane + 1] = [end]
        lanes[i] = lane
    return lanes


def find_lanes(pieces: Sequence[Piece]) -> dict[tuple[int, int], int]:
    """Give each feature a line that no other feature has while they overlap."""
    runs: list[tuple[int, list[Piece]]] = []
    running: dict[int, list[Piece]] = {}
    for piece in pieces:
        running = {number: own for number, own in running.items() if number in piece.states}
        for number in sorted(piece.states):
            if number not in running:
                running[number] = []
                runs.append((number, running[number]))
            running[number].append(piece)
    lanes = assign_lanes([(own[0].start, own[-1].end) for _, own in runs])
    return {
        (piece.start, number): min(lane, MAX_LANES - 1)
        for (number, own), lane in zip(runs, lanes, strict=True)
        for piece in own
    }


def highlight_note(text: str, marks: Sequence[NoteMark], *, sides: Sides | None = None) -> str:
    """Return the note as HTML, every mark in it, and its text unchanged to the character.

    The reference is underlined and the prediction tinted; what both marked is both, what only
    the reference marked (missed) has a wavy line, what only the prediction marked (false) is
    hatched. Where features overlap, each has its line below the other's. The feature's number
    stands where a mark begins; ``3…`` and ``…3`` are fragments of one annotation. Numbers come
    from the style sheet, so that copied text is the note's.

    >>> html = highlight_note("a <b>", [NoteMark(1, "Letter", "reference", (Span(0, 1),))])
    >>> html.count("<mark"), "&lt;b&gt;" in html
    (1, True)
    """
    check_marks(text, marks)
    inside = _draw(text, cut_pieces(len(text), marks), marks, sides or Sides())
    return f'<div class="note-text">{inside}</div>'


def highlight_excerpt(
    text: str, marks: Sequence[NoteMark], *, context: int = 30, sides: Sides | None = None
) -> str:
    """Return the marked words with a little text around them, in one line of HTML.

    >>> mark = NoteMark(1, "Fever", "reference", (Span(40, 45),))
    >>> highlight_excerpt("x" * 40 + "fever" + "y" * 40, [mark], context=3).count("…")
    2
    """
    check_marks(text, marks)
    wide = [_widened(text, s, context) for mark in marks for s in mark.spans]
    pieces = cut_pieces(len(text), marks)
    flat = text.translate({ord(c): " " for c in "\r\n\t\x0b\x0c\x85\u2028\u2029"})
    parts: list[str] = []
    for window in merge_spans(wide):
        own = [
            replace(
                piece,
                start=max(piece.start, window.start),
                end=min(piece.end, window.end),
                badges=[],
            )
            for piece in pieces
            if piece.start < window.end
        ]
        drawn = _draw(flat, [p for p in own if p.start < p.end], marks, sides or Sides())
        before = "…&nbsp;" if window.start > 0 and not parts else ""
        after = "&nbsp;…" if window.end < len(text) else ""
        parts.append(before + drawn + after)
    return f'<span class="excerpt">{" ".join(parts)}</span>'


def legend_html(sides: Sides | None = None) -> str:
    """Return one line that explains the marks."""
    named = sides or Sides()
    shown = "".join(
        f'<span><span class="{state}">abc</span> {escape(named.words(state))}</span>'
        for state in ("hit", "missed", "false")
    )
    return (
        f'<p class="legend">{shown}<span><i>3</i> the feature’s number</span>'
        "<span><i>3…</i> <i>…3</i> fragments of one annotation</span></p>"
    )


def marked_note_html(text: str, rows: Sequence[MarkedRow], sides: Sides) -> str:
    """Return a note with its marks, and a table of the features in which the sides differ."""
    body = highlight_note(text, [mark for row in rows for mark in row.marks], sides=sides)
    lines = []
    for row in sorted(rows, key=lambda row: -row.n_wrong):
        if not row.n_wrong:
            continue
        remarks = sorted({mark.remark for mark in row.marks if mark.remark})
        why = f'<span class="ci">{escape("; ".join(remarks))}</span>' if remarks else ""
        lines.append(
            f'<tr data-f="{row.number}"><th scope="row" class="n">{row.number}</th>'
            f"<td>{escape(row.feature)}</td>"
            f"<td>{highlight_excerpt(text, row.marks, sides=sides)}{why}</td>"
            f'<td class="n">{row.n_missed:,}</td><td class="n">{row.n_false:,}</td></tr>'
        )
    table = (
        '<div class="scroll"><table><thead><tr><th class="n" scope="col">#</th>'
        '<th scope="col">Feature</th><th scope="col">In the note</th>'
        f'<th class="n" scope="col">{escape(sides.reference)} only</th>'
        f'<th class="n" scope="col">{escape(sides.predicted)} only</th></tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )
    same = [str(row.number) for row in rows if not row.n_wrong and row.marks]
    absent = [str(row.number) for row in rows if not row.marks]
    said = [f"The same on both sides: {', '.join(same)}."] if same else []
    said += [f"Absent on both sides: {', '.join(absent)}."] if absent else []
    after = f'<p class="aside">{" ".join(said)}</p>' if said else ""
    return f"<div data-note>{body}{table}{after}</div>"


def _widened(text: str, span: Span, context: int) -> Span:
    """Add context to a span, without the words that would be cut."""
    start, end = max(0, span.start - context), min(len(text), span.end + context)
    if start > 0:
        gap = next((i for i in range(start, span.start) if text[i].isspace()), None)
        start = start if gap is None else gap + 1
    if end < len(text):
        gap = next((i for i in range(end - 1, span.end - 1, -1) if text[i].isspace()), None)
        end = end if gap is None else gap
    return Span(start, end)


def _draw(text: str, pieces: Sequence[Piece], marks: Sequence[NoteMark], sides: Sides) -> str:
    lanes, labels = find_lanes(pieces), {mark.number: mark.label for mark in marks}
    parts = []
    for piece in pieces:
        words = _escaped(text, piece.start, piece.end)
        if not piece.states:
            parts.append(words)
            continue
        order = sorted(piece.states, key=lambda n: lanes[piece.start, n])
        for number in reversed(order[1:]):
            classes = f"{piece.states[number]} l{lanes[piece.start, number]}"
            words = f'<span class="{classes}">{words}</span>'
        first = order[0]
        said = "\n".join(
            f"{n} {labels[n]}: {sides.words(piece.states[n])}"
            + (f" ({piece.remarks[n]})" if n in piece.remarks else "")
            for n in sorted(piece.states)
        )
        badge = f' data-n="{escape(" ".join(piece.badges))}" tabindex="0"' if piece.badges else ""
        parts.append(
            f'<mark class="{piece.states[first]} l{lanes[piece.start, first]}"'
            f' data-a="{" ".join(piece.tokens)}"{badge} title="{escape(said)}">{words}</mark>'
        )
    return "".join(parts)


def _escaped(text: str, start: int, end: int) -> str:
    """Escape a piece so that a browser holds exactly these characters.

    A carriage return in a file becomes a line feed when a browser reads it, so it is written as
    a reference; alone it would not break the line, so a break follows. What HTML cannot hold
    (null, half a surrogate pair) is shown as the replacement character.
    """
    parts = []
    for place, character in enumerate(text[start:end], start):
        if character == "\r":
            alone = text[place + 1 : place + 2] != "\n"
            parts.append("&#13;<br>" if alone else "&#13;")
        elif character == "\0" or "\ud800" <= character <= "\udfff":
            parts.append("\ufffd")
        else:
            parts.append(character)
    return "".join(escape(part) if len(part) == 1 else part for part in parts)
