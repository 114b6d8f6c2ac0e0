"""Rules about spans whose ends lie inside a word: stray characters, and words cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rubricate.checking.boundaries import is_joined, word_around
from rubricate.checking.findings import RawSpans
from rubricate.checking.judged import Found, JudgedRow, Traits, feature_traits
from rubricate.checking.punctuation import respan, skip_leading_marks, strip_span, whole_text
from rubricate.text.words import word_set

#: Words that say nothing at an end, so that less than all of them is a slip there.
_JOINTS = word_set("and or the with but who which that")
_FUNCTION_WORDS = _JOINTS | word_set(
    "has have had is was are were be been he she his her they pt also this reports states"
)
#: Words that turn the meaning round, so that what is left of them is never thrown away.
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
        # "r no chills" after "fever": what goes on with a negation is a phrase of its own.
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
    """Tell whether age and gender were run together ("24yom")."""
    return (traits.is_age or traits.is_gender) and _AGE_AND_GENDER.fullmatch(word) is not None


def _is_slip(word: str, n_taken: int) -> bool:
    """Tell whether so few characters of a word were taken that it was not meant."""
    if word in _FUNCTION_WORDS:
        return n_taken * 2 <= len(word)
    return (n_taken == 1 and len(word) >= 3) or (n_taken == 2 and len(word) >= 6)


def find_extra_characters(row: JudgedRow) -> Iterator[Found]:
    """Find spans with stray characters at an end: a neighbour's letters, leading marks."""
    traits = feature_traits(row.feature)

    def change(text: str, spans: RawSpans) -> RawSpans:
        whole = whole_text(text, spans)
        kept = []
        for k, span in enumerate(spans):
            start, end = span
            cut = _cut_at_end(text, span, traits)
            if cut is not None and cut.is_stray:
                # The marks before the neighbour's letters were taken with them.
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


def find_cut_word(row: JudgedRow) -> Iterator[Found]:
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
