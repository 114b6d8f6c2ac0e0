"""Rules about the ends of spans: white space, marks, stray characters, cut words, first words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from rubricate.checking.findings import JudgedRow, RawSpans, Repair, RuleHit, Traits, feature_traits
from rubricate.checking.placement import has_words, is_joined, word_around
from rubricate.reading.tokens import word_set
from rubricate.spans import words_at

_OPENING = {"(": ")", "[": "]", "{": "}", "“": "”"}
_CLOSING = {close: opening for opening, close in _OPENING.items()}
_QUOTES = "\"'"
_END_MARKS = frozenset(".,;:!?…|•·\\")
_LEADING_MARKS = frozenset(".,;:!…|•·\\*_")
_DOTTED_SHORTHAND = re.compile(r"(?:(?<![^\W\d_])[^\W\d_]\.){2,}$")


def respan(
    row: JudgedRow, message: str, change: Callable[[str, RawSpans], RawSpans]
) -> Iterator[RuleHit]:
    """Find the annotations whose spans a change alters; those it would empty stay as they are."""
    text = row.note.text
    for i, spans in row.sound:
        changed = change(text, spans)
        if changed != spans and any(has_words(text[start:end]) for start, end in changed):
            yield RuleHit(i, message, Repair("respan", changed))


def find_white_space(row: JudgedRow) -> Iterator[RuleHit]:
    """Find spans that begin or end with white space."""
    return respan(row, "begins or ends with white space", _without_space)


def _without_space(text: str, spans: RawSpans) -> RawSpans:
    stripped = (strip_span(text, start, end) for start, end in spans)
    return tuple(span for span in stripped if span is not None)


def strip_span(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the span without white space at its ends; None if nothing is left.

    >>> strip_span("no  fever ", 2, 10)
    (4, 9)
    """
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


def find_end_punctuation(row: JudgedRow) -> Iterator[RuleHit]:
    """Find spans that end with punctuation that does not belong to their words."""
    is_negative = feature_traits(row.feature).is_negative

    def change(text: str, spans: RawSpans) -> RawSpans:
        whole = words_at(spans, text)
        kept = [_without_end_marks(text, span, whole, is_negative) for span in spans]
        return tuple(span for span in kept if span is not None)

    return respan(row, "ends with punctuation", change)


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
    """Return the start of a span without the marks that do not belong to its words.

    Signs that carry meaning stay (``-CP``, ``+N``, ``?asthma``, ``(-) fever``), and so do a
    bracket and a quote that close again inside the annotation, whose words are ``whole``.

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


#: Words without meaning at an end of a span, so that a part of one is a mistake there.
_JOINTS = word_set("and or the with but who which that")
_FUNCTION_WORDS = _JOINTS | word_set(
    "has have had is was are were be been he she his her they pt also this reports states"
)
#: Words that reverse the meaning, so that a part of one is never cut off.
_NEGATIONS = word_set(
    "no not nor non nil none never neither without denies denied deny denying negative neg absent"
    " cannot can't don't doesn't didn't hasn't haven't isn't wasn't won't"
)
_AGE_AND_GENDER = re.compile(r"(?:y|yo|yr|yrs)?[wbha]{0,2}[mf]")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


class _Cut(NamedTuple):
    """An end of a span inside a word; ``place`` is where the end belongs."""

    place: int
    is_stray: bool


def _cut_at_start(text: str, span: tuple[int, int], traits: Traits) -> _Cut | None:
    start, end = span
    if not is_joined(text, start):
        return None
    first, last = word_around(text, start)
    word, n_taken = _folded(text[first:last]), last - start
    if _is_shorthand(word, traits):
        return None
    is_stray = last < end and not word[0].isdigit() and _is_slip(word, n_taken)
    if is_stray and word in traits.words:
        # "r no chills" after "fever": what follows with a negation is a phrase of its own.
        following = _WORD.search(text, last, end)
        is_stray = following is not None and _folded(following[0]) in _NEGATIONS
    is_stray = is_stray and word not in _NEGATIONS
    return _Cut(last if is_stray else first, is_stray)


def _cut_at_end(text: str, span: tuple[int, int], traits: Traits) -> _Cut | None:
    start, end = span
    if not is_joined(text, end):
        return None
    first, last = word_around(text, end)
    word, n_taken = _folded(text[first:last]), end - first
    if _is_shorthand(word, traits):
        return None
    is_stray = first > start and not word[0].isdigit()
    if word in _NEGATIONS:
        is_stray = is_stray and n_taken <= 2
    elif word in traits.words:
        # "fever, c": a wanted word after a comma is the next item of a list.
        is_stray = is_stray and _is_slip(word, n_taken) and text[start:first].rstrip()[-1:] == ","
    else:
        is_stray = is_stray and (word in _JOINTS or _is_slip(word, n_taken))
    return _Cut(first if is_stray else last, is_stray)


def _folded(word: str) -> str:
    return word.lower().replace("’", "'")


def _is_shorthand(word: str, traits: Traits) -> bool:
    """Tell whether age and gender are written together ("24yom")."""
    return (traits.is_age or traits.is_gender) and _AGE_AND_GENDER.fullmatch(word) is not None


def _is_slip(word: str, n_taken: int) -> bool:
    """Tell whether so few characters of a word are marked that it was not meant."""
    if word in _FUNCTION_WORDS:
        return n_taken * 2 <= len(word)
    return (n_taken == 1 and len(word) >= 3) or (n_taken == 2 and len(word) >= 6)


def find_extra_characters(row: JudgedRow) -> Iterator[RuleHit]:
    """Find spans with stray characters at an end: a neighbour's letters, leading marks."""
    traits = feature_traits(row.feature)

    def change(text: str, spans: RawSpans) -> RawSpans:
        whole = words_at(spans, text)
        kept = []
        for k, span in enumerate(spans):
            start, end = span
            cut = _cut_at_end(text, span, traits)
            if cut is not None and cut.is_stray:
                # The marks before the neighbour's letters are cut off with them.
                end = start + len(text[start : cut.place].rstrip(" \t\r\n,;:"))
            cut = _cut_at_start(text, span, traits)
            if cut is not None and cut.is_stray:
                start = cut.place
            start = skip_leading_marks(text, (start, end), whole, is_first=k == 0)
            trimmed = span if (start, end) == span else strip_span(text, start, end)
            if trimmed is not None:
                kept.append(trimmed)
        return tuple(kept)

    return respan(row, "takes stray characters at an end", change)


def find_cut_word(row: JudgedRow) -> Iterator[RuleHit]:
    """Find spans that cut a word off at either end."""
    traits = feature_traits(row.feature)

    def change(text: str, spans: RawSpans) -> RawSpans:
        grown = []
        for k, span in enumerate(spans):
            start, end = span
            # "hyper- and hypothyroidism": a later fragment may begin inside a word.
            is_tail = k > 0 and text[spans[k - 1][1] - 1] == "-"
            cut = None if is_tail else _cut_at_start(text, span, traits)
            if cut is not None and not cut.is_stray:
                start = cut.place
            cut = _cut_at_end(text, span, traits)
            if cut is not None and not cut.is_stray:
                end = cut.place
            grown.append((start, end))
        return tuple(grown)

    return respan(row, "cuts a word off", change)


#: After these "a" is a number or belongs to the name: the words that carry the meaning.
_BOUND = (
    "few|lot|little|couple|bit|while|dozen|half|quarter|third|number|pack|second|minute|min|hour|hr"
    "|day|night|week|wk|fortnight|month|mo|year|yr|decade|fib|fibrillation|flutter"
)
_ARTICLE = re.compile(rf"(?:the|an?(?!\s+(?:{_BOUND})\b))(?:\s+(?=\w)|$)", re.IGNORECASE)
_PATIENT = re.compile(r"(?:the\s+)?(?:patient|pt)(?:['’]?s\b|\.)?(?:\s+(?=\w)|$)", re.IGNORECASE)
_PRONOUN = re.compile(r"s?he(?:\s+(?=\w)|$)", re.IGNORECASE)
_POSSESSIVE = re.compile(r"(?:his|her)(?:\s+(?=\w)|$)", re.IGNORECASE)
_PHYSIOTHERAPY = re.compile(r"\bpt\b|physio|physical therapy|therap", re.IGNORECASE)


def _cut_opening(row: JudgedRow, opening: re.Pattern[str], message: str) -> Iterator[RuleHit]:
    text = row.note.text
    for i, spans in row.sound:
        (start, end), rest = spans[0], spans[1:]
        match = opening.match(text, start, end)
        if match is None or not match.end() > start:
            continue
        kept: RawSpans = ((match.end(), end), *rest) if match.end() < end else rest
        if any(has_words(text[first:last]) for first, last in kept):
            yield RuleHit(i, message, Repair("respan", kept))


def find_leading_article(row: JudgedRow) -> Iterator[RuleHit]:
    """Find annotations that begin with an article."""
    return _cut_opening(row, _ARTICLE, "begins with an article")


def find_leading_reference(row: JudgedRow) -> Iterator[RuleHit]:
    """Find annotations that begin with a reference to the patient.

    Left alone: gender, whose evidence such a word is; "he" and "she" where the feature is about
    somebody else, whom they may mean; and "PT" where the feature is about physical therapy.
    """
    traits = feature_traits(row.feature)
    if traits.is_gender:
        return
    message = "begins with a reference to the patient"
    if not _PHYSIOTHERAPY.search(row.feature.text):
        yield from _cut_opening(row, _PATIENT, message)
    yield from _cut_opening(row, _POSSESSIVE, message)
    if not traits.names_other_person:
        yield from _cut_opening(row, _PRONOUN, message)
