"""Sentences and clauses of a note."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from rubricate.knowledge.tables import words
from rubricate.reading.tokens import Token

_TITLES = words("sentences.titles")
_SHORTENED = words("sentences.shortened")
_OPEN_ENDS = words("sentences.open_ends")
_BULLETS = words("sentences.bullets")
_BEFORE_ITEMS = words("sentences.before_items") | {"\n"} | _BULLETS
CONTRASTS = words("sentences.contrasts")
_CONTRAST_PAIRS = frozenset(
    [("aside", "from"), ("apart", "from"), ("other", "than"), ("despite", "the")]
)


def sentence_ranges(text: str, tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Return half-open ranges of token indices, one for each sentence; line breaks are in none.

    >>> from rubricate.reading.tokens import find_tokens
    >>> text = "Pt. denies CP. Takes 2.5 mg."
    >>> sentence_ranges(text, find_tokens(text))
    [(0, 5), (5, 9)]
    """
    ranges: list[tuple[int, int]] = []
    first = 0
    for i, (_, _, form, kind) in enumerate(tokens):
        if kind == "newline":
            if _line_goes_on(tokens, i):
                continue
            if first < i:
                ranges.append((first, i))
            first = i + 1
        elif kind == "mark":
            if form in ".!?" and _ends_sentence(text, tokens, i):
                ranges.append((first, i + 1))
                first = i + 1
            elif form in _BULLETS and first < i:
                ranges.append((first, i))
                first = i
    if first < len(tokens):
        ranges.append((first, len(tokens)))
    return ranges


def _line_goes_on(tokens: Sequence[Token], i: int) -> bool:
    token = tokens[i]
    return token.end - token.start == 1 and i > 0 and tokens[i - 1].form in _OPEN_ENDS


def _ends_sentence(text: str, tokens: Sequence[Token], i: int) -> bool:
    token = tokens[i]
    following = text[token.end : token.end + 1]
    if token.form == "?":
        # British notes write "?asthma" for "possibly asthma".
        return token.start > 0 and not text[token.start - 1].isspace() and not following.isalnum()
    if token.form == "!" or i == 0 or not following:
        return True
    before = tokens[i - 1]
    if before.end != token.start:
        return not following.isalnum()
    if before.form in _TITLES:
        return i + 1 < len(tokens) and tokens[i + 1].kind == "newline"
    upcoming = text[token.end : token.end + 3].lstrip()[:1]
    if before.form in _SHORTENED:
        return not (upcoming.islower() or upcoming.isdigit() or upcoming in (",", ";", ")", "/"))
    if before.kind == "number" and (i == 1 or tokens[i - 2].kind == "newline"):
        return False
    return following.isspace() or following.isupper() or not following.isalnum()


#: In characters. What stands further away says nothing of a word, and every word of a statement is
#: looked at for every finding in it.
LONGEST_STATEMENT = 1000


def statement_starts(
    text: str, tokens: Sequence[Token], sentences: Sequence[tuple[int, int]]
) -> tuple[int, ...]:
    """Return the starts of the sentences, lines and parts after semicolons of a text.

    One that is longer than `LONGEST_STATEMENT` is cut, between words where there are any.

    >>> from rubricate.reading.tokens import find_tokens
    >>> text = "CXR clear; no rash. Plan: CT"
    >>> statement_starts(text, find_tokens(text), sentence_ranges(text, find_tokens(text)))
    (0, 11, 20)
    """
    starts = [0]
    for first, end in sentences:
        starts.append(tokens[first].start)
        starts += [tokens[i + 1].start for i in range(first, end - 1) if tokens[i].form == ";"]
    begins, cut = [token.start for token in tokens], list[int]()
    for start, end in pairwise([*sorted(set(starts)), len(text)]):
        cut.append(start)
        while end - cut[-1] > LONGEST_STATEMENT:
            furthest = cut[-1] + LONGEST_STATEMENT
            word = bisect_right(begins, furthest) - 1
            cut.append(begins[word] if begins[word] > cut[-1] else furthest)
    return tuple(cut)


def clause_ranges(
    text: str, tokens: Sequence[Token], sentences: Sequence[tuple[int, int]] | None = None
) -> list[tuple[int, int]]:
    """Return half-open ranges of token indices, one for each clause; separating marks are in none.

    >>> from rubricate.reading.tokens import find_tokens
    >>> text = "No fever; has cough but no wheeze"
    >>> clause_ranges(text, find_tokens(text))
    [(0, 2), (3, 5), (5, 8)]
    """
    ranges: list[tuple[int, int]] = []
    for first, end in sentence_ranges(text, tokens) if sentences is None else sentences:
        start = first
        for i in range(first, end):
            _, _, form, kind = tokens[i]
            if kind == "mark":
                if (
                    form in ".;:!?"
                    or form in _BULLETS
                    or (form == "-" and is_dash(text, tokens[i]))
                ):
                    if form == ":" and _is_clock(text, tokens[i]):
                        continue
                    if form == "." and i + 1 < end and tokens[i - 1].form in _SHORTENED:
                        continue
                    if start < i:
                        ranges.append((start, i))
                    start = i + 1
            elif form in CONTRASTS or (
                i + 1 < end and (form, tokens[i + 1].form) in _CONTRAST_PAIRS
            ):
                if start < i:
                    ranges.append((start, i))
                start = i
        if start < end:
            ranges.append((start, end))
    return ranges


def is_dash(text: str, token: Token) -> bool:
    """Tell whether a hyphen is a dash, with spaces around it, rather than joining words.

    >>> from rubricate.reading.tokens import find_tokens
    >>> text = "x-ray - clear"
    >>> [is_dash(text, token) for token in find_tokens(text) if token.form == "-"]
    [False, True]
    """
    before = text[token.start - 1 : token.start]
    after = text[token.end : token.end + 1]
    return (not before or before.isspace()) and (not after or after.isspace())


def begins_line(text: str, tokens: Sequence[Token], i: int) -> bool:
    """Tell whether a line break stands before a token that is not the first."""
    return "\n" in text[tokens[i - 1].end : tokens[i].start]


def begins_item(text: str, tokens: Sequence[Token], i: int) -> bool:
    """Tell whether a token begins a text, a line, a sentence or an item of a list.

    >>> from rubricate.reading.tokens import find_tokens
    >>> text = "1) rest, fluids"
    >>> tokens = find_tokens(text)
    >>> [token.form for i, token in enumerate(tokens) if begins_item(text, tokens, i)]
    ['1', 'rest']
    """
    return i == 0 or tokens[i - 1].form in _BEFORE_ITEMS or begins_line(text, tokens, i)


def _is_clock(text: str, token: Token) -> bool:
    return (
        text[token.start - 1 : token.start].isdigit() and text[token.end : token.end + 1].isdigit()
    )
