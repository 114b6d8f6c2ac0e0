"""A note's text with the marks of two sides: underlined, tinted, numbered, and nothing changed."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rubricate.reports.marks import (
    Mark,
    Piece,
    Sides,
    check_marks,
    cut_pieces,
    find_lanes,
    mark_labels,
)
from rubricate.spans import Span, merge_spans


def highlight_note(text: str, marks: Sequence[Mark], *, sides: Sides | None = None) -> str:
    """Return the note as HTML, every mark in it, and its text unchanged to the character.

    The reference is underlined and the prediction tinted; what both marked is both, what only
    the reference marked (missed) has a wavy line, what only the prediction marked (false) is
    hatched. Where features overlap, each has its line below the other's. The feature's number
    stands where a mark begins; ``3…`` and ``…3`` are fragments of one annotation. Numbers come
    from the style sheet, so that copied text is the note's.

    Parameters
    ----------
    text : str
        The note.
    marks : sequence of Mark
        Any number, overlapping or not.
    sides : Sides, optional
        What to call the two sides.

    Returns
    -------
    str
        A ``div``; the page's style sheet draws it (see `rubricate.reports.render_page`).

    Raises
    ------
    InputError
        If spans lie outside the note.

    Examples
    --------
    >>> html = highlight_note("a <b>", [Mark(1, "Letter", "reference", (Span(0, 1),))])
    >>> html.count("<mark"), "&lt;b&gt;" in html
    (1, True)
    """
    check_marks(text, marks)
    inside = _draw(text, cut_pieces(len(text), marks), mark_labels(marks), sides or Sides())
    return f'<div class="note-text">{inside}</div>'


def highlight_excerpt(
    text: str, marks: Sequence[Mark], *, context: int = 30, sides: Sides | None = None
) -> str:
    """Return the marked words with a little text around them, in one line of HTML.

    Parameters
    ----------
    text, marks, sides
        As for `highlight_note`.
    context : int
        Characters kept on each side.

    Examples
    --------
    >>> mark = Mark(1, "Fever", "reference", (Span(40, 45),))
    >>> highlight_excerpt("x" * 40 + "fever" + "y" * 40, [mark], context=3).count("…")
    2
    """
    check_marks(text, marks)
    wide = [_widened(text, s, context) for mark in marks for s in mark.spans]
    pieces, labels = cut_pieces(len(text), marks), mark_labels(marks)
    flat = text.translate({ord(c): " " for c in "\r\n\t\x0b\x0c\x85\u2028\u2029"})
    parts: list[str] = []
    for window in merge_spans(wide):
        own = [_cut(piece, window) for piece in pieces if piece.start < window.end]
        drawn = _draw(flat, [p for p in own if p.start < p.end], labels, sides or Sides())
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


def _draw(text: str, pieces: Sequence[Piece], labels: dict[int, str], sides: Sides) -> str:
    lanes = find_lanes(pieces)
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


def _cut(piece: Piece, window: Span) -> Piece:
    """Return the part of a piece inside a window, without its badges."""
    return Piece(
        max(piece.start, window.start), min(piece.end, window.end),
        piece.states, piece.tokens, piece.remarks,
    )  # fmt: skip


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
