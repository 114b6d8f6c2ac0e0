"""Rules about white space and punctuation at the ends of spans."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from rubricate.checking.findings import RawSpans, Repair
from rubricate.checking.judged import Found, JudgedRow, feature_traits
from rubricate.checking.placement import has_words

_OPENING = {"(": ")", "[": "]", "{": "}", "“": "”"}
_CLOSING = {close: opening for opening, close in _OPENING.items()}
_QUOTES = "\"'"
_END_MARKS = frozenset(".,;:!?…|•·\\")
_LEADING_MARKS = frozenset(".,;:!…|•·\\*_")
_DOTTED_SHORTHAND = re.compile(r"(?:(?<![^\W\d_])[^\W\d_]\.){2,}$")


def respan(
    row: JudgedRow, message: str, change: Callable[[str, RawSpans], RawSpans]
) -> Iterator[Found]:
    """Find the annotations whose spans a change alters; those it would empty are left alone."""
    text = row.note.text
    for i, spans in row.sound:
        changed = change(text, spans)
        if changed != spans and any(has_words(text[start:end]) for start, end in changed):
            yield Found(i, message, Repair("respan", changed))


def find_white_space(row: JudgedRow) -> Iterator[Found]:
    """Find spans that begin or end with white space."""
    return respan(row, "begins or ends with white space", _without_space)


def _without_space(text: str, spans: RawSpans) -> RawSpans:
    stripped = (strip_span(text, start, end) for start, end in spans)
    return tuple(span for span in stripped if span is not None)


def strip_span(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the span without white space at its ends; None if nothing is left.

    Examples
    --------
    >>> strip_span("no  fever ", 2, 10)
    (4, 9)
    """
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


def find_end_punctuation(row: JudgedRow) -> Iterator[Found]:
    """Find spans that end with punctuation that does not belong to their words."""
    is_negative = feature_traits(row.feature).is_negative

    def change(text: str, spans: RawSpans) -> RawSpans:
        whole = whole_text(text, spans)
        kept = [_without_end_marks(text, span, whole, is_negative) for span in spans]
        return tuple(span for span in kept if span is not None)

    return respan(row, "ends with punctuation", change)


def whole_text(text: str, spans: RawSpans) -> str:
    """Return the words of all fragments."""
    return " ".join(text[start:end] for start, end in spans)


def _without_end_marks(
    text: str, span: tuple[int, int], whole: str, is_negative: bool
) -> tuple[int, int] | None:
    start, end = span
    last = end
    while last > start:
        mark = text[last - 1]
        if mark.isspace() and last < end:
            last -= 1
        elif _is_end_mark(text, (start, last), whole, is_negative):
            # Of "(left))." only the second bracket is one too many.
            whole = whole.replace(mark, "", 1) if mark in _CLOSING else whole
            last -= 1
        else:
            break
    return (start, last) if last > start else None


def _is_end_mark(text: str, span: tuple[int, int], whole: str, is_negative: bool) -> bool:
    start, end = span
    mark = text[end - 1]
    if mark.isalnum() or mark.isspace():
        return False
    if mark == ".":
        return _DOTTED_SHORTHAND.search(text[start:end]) is None
    if mark in _END_MARKS or mark in _OPENING:
        return True
    if mark in _CLOSING:
        return whole.count(mark) > whole.count(_CLOSING[mark])
    if mark in _QUOTES:
        # After an s it may be a possessive ("boys'").
        is_possessive = mark == "'" and end - start > 1 and text[end - 2] in "sS"
        return _is_only_quote(whole, mark) and not is_possessive
    if mark in "-–—" and end - start > 1 and text[end - 2].isspace():
        # "fever -" is how some write that there is none.
        return not is_negative
    return False


def _is_only_quote(whole: str, mark: str) -> bool:
    return len(re.findall(rf"(?<![^\W_]){mark}|{mark}(?![^\W_])", whole)) == 1


def skip_leading_marks(text: str, span: tuple[int, int], whole: str, *, is_first: bool) -> int:
    """Return where a span begins without the marks that do not belong to its words.

    Signs that carry meaning stay (``-CP``, ``+N``, ``?asthma``, ``(-) fever``), and so do a
    bracket and a quote that close again inside the annotation, whose words are ``whole``.

    Examples
    --------
    >>> skip_leading_marks(", (fever", (0, 8), ", (fever", is_first=True)
    3
    """
    start, end = span
    first = start
    while first < end:
        mark = text[first]
        following = text[first + 1] if first + 1 < end else ""
        if mark in _OPENING or mark in _CLOSING:
            partner = _OPENING.get(mark) or _CLOSING[mark]
            is_stray = whole.count(mark) > whole.count(partner)
        elif mark in _QUOTES:
            is_stray = _is_only_quote(whole, mark) and not following.isdigit()
        elif mark in _LEADING_MARKS:
            is_stray = not (mark in ".," and following.isdigit())
        elif mark.isspace():
            is_stray = first > start
        else:
            is_stray = is_first and following.isspace() and _is_bullet(text, first)
        if not is_stray:
            break
        first += 1
    return first


def _is_bullet(text: str, place: int) -> bool:
    """Tell whether a dash is the first of its line, and so no sign."""
    before = text[:place].rstrip(" \t")
    return text[place] in "-–—>" and (not before or before[-1] in "\n\r")
