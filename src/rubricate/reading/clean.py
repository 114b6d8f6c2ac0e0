"""The text that networks and rules read: without de-identification marks, repeated text once.

Marks and repeated text become blanks, so every offset stays what it is in the note. The marks are
data: ``marks.tsv``.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from rubricate.knowledge.rows import check_rows, table_rows
from rubricate.knowledge.tables import pattern
from rubricate.reading.clauses import sentence_ranges
from rubricate.reading.tokens import Token, find_tokens

#: A repeated stretch has at least so many words, unless the whole text begins again.
_LEAST_REPEATED = 12
#: So many words at the beginning of a text show that it begins again.
_LEAST_OPENING = 4
_COPY = pattern("clean.copy")


#: So many texts stay clean: several matchers read a note one after the other.
_RECENT = 128


@lru_cache(maxsize=_RECENT)
def clean_text(text: str) -> str:
    r"""Return a text with blanks for de-identification marks and for text that stands twice.

    It has the length of the text, and every word that is left stands where it stood. Signs of
    word processors become those that people type.

    >>> clean_text("**NAME[AAA] has a cough.")
    '            has a cough.'
    >>> clean_text("Mr ___, seen on [**2115-3-4**]").split()
    ['Mr', ',', 'seen', 'on']
    >>> clean_text("Dry cough for a week.\nCOPY:\nDry cough for a week.").split()
    ['Dry', 'cough', 'for', 'a', 'week.']
    """
    return _without_repeated(_marks().sub(_blank_mark, text.translate(_TYPED)))


#: What programs put for signs that people type; each is one character, as what it stands for.
_TYPED = str.maketrans(
    {
        **dict.fromkeys("\u00a0\u2007\u2009\u200a\u202f\u3000\ufeff\u200b\t\r", " "),
        **dict.fromkeys("\u2018\u2019\u201b", "'"),
        **dict.fromkeys("\u201c\u201d\u201f", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014", "-"),
    }
)


def _blank_mark(mark: re.Match[str]) -> str:
    """Return blanks, with the part of a mark that says something of the patient: "over 90"."""
    words = [" "] * len(mark[0])
    for name, kept in mark.groupdict().items():
        if kept and name.startswith("kept"):
            first = mark.start(name) - mark.start()
            words[first : first + len(kept)] = kept
    return "".join(words)


@cache
def _marks() -> re.Pattern[str]:
    rows = table_rows("marks.tsv")
    check_rows("marks.tsv", rows, 1, _mark_fault)
    parts = [pattern.replace("kept", f"kept_{i}") for i, (_, pattern, *_) in enumerate(rows)]
    return re.compile("|".join(f"(?:{part})" for part in parts))


def _mark_fault(row: list[str]) -> str | None:
    _, pattern, example, stays = row
    found = re.fullmatch(pattern, example)
    left = None if found is None else _blank_mark(found).strip()
    return None if left == stays else f"the pattern does not leave {stays!r} of {example!r}"


class _Unit(NamedTuple):
    """The beginning of a sentence or line: the number of its first word, and its character."""

    word: int
    start: int


def _without_repeated(text: str) -> str:
    """Return a text with blanks for sentences and lines that stand before in the same order."""
    tokens = find_tokens(text)
    words = [token for token in tokens if token.kind in ("word", "number")]
    forms = [word.form for word in words]
    if len(forms) < 2 * _LEAST_OPENING:
        return text
    units = _units(text, tokens, words)
    places = [unit.word for unit in units]
    opening = forms[:_LEAST_OPENING]
    first_at: dict[tuple[str, ...], int] = {}
    blank: list[tuple[int, int]] = []
    done = 0
    for k, (i, start) in enumerate(units):
        if not done <= i < len(forms):
            continue
        copied = k > 0 and _COPY.fullmatch(text, units[k - 1].start, start) is not None
        begin = units[k - 1] if copied else units[k]
        key = tuple(forms[i : i + _LEAST_REPEATED])
        again = i > 0 and forms[i : i + _LEAST_OPENING] == opening
        earlier = 0 if again else first_at.setdefault(key, i)
        size = 0
        while size < i - earlier and i + size < len(forms):
            if forms[earlier + size] != forms[i + size]:
                break
            size += 1
        end = units[bisect_right(places, i + size) - 1]
        if end.word - i >= min(_LEAST_REPEATED, begin.word if again else _LEAST_REPEATED):
            blank.append((begin.start, end.start))
            done = end.word
    return _with_blanks(text, blank)


def _units(text: str, tokens: Sequence[Token], words: Sequence[Token]) -> list[_Unit]:
    """Return the starts of sentences, lines and copies of the whole text; the end comes last.

    A text may begin again in the middle of a sentence, where its first copy has no last stop.
    """
    begins = {tokens[first].start for first, _ in sentence_ranges(text, tokens)}
    for begin in list(begins):
        copy = _COPY.match(text, begin)
        if copy is not None and copy[0].rstrip().endswith(":"):
            begins.add(copy.end())
    forms = [word.form for word in words]
    starts = [word.start for word in words]
    opening = forms[:_LEAST_OPENING]
    begins.update(starts[i] for i in range(len(forms)) if forms[i : i + _LEAST_OPENING] == opening)
    units = {bisect_left(starts, begin): begin for begin in sorted(begins, reverse=True)}
    units[len(words)] = len(text)
    return [_Unit(word, start) for word, start in sorted(units.items())]


def _with_blanks(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return a text with blanks in some places; its lines stay."""
    parts, last = list[str](), 0
    for start, end in spans:
        parts += [text[last:start], re.sub(r"[^\r\n]", " ", text[start:end])]
        last = end
    return "".join([*parts, text[last:]])
