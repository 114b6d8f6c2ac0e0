"""Words of a note with their offsets, and a folded text whose offsets lead back to the note."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from rubricate.spans import Span


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text, as a table of word forms is written here.

    Examples
    --------
    >>> sorted(word_set("but yet"))
    ['but', 'yet']
    """
    return frozenset(words.split())


#: Slashed shorthand that is one word; any other slash separates the items of a list (N/V, CP/SOB).
SLASHED = word_set(
    "a/w b/c b/f b/l b/o b/w c/b c/f c/o c/w d/c d/t d/w e/o f/b f/h f/u g/c h/h h/o i/o k/c l/s"
    " m/c n/a n/k o/e o/n o/p p/h p/s p/w r/o r/t r/v s/b s/e s/h s/l s/o s/p s/s t/o t/w u/s"
    " w/o w/u y/o k/c/o"
)
#: Letters with a bar over them are prescribers' shorthand, not accents.
_BARRED = {"c\u0304": "with", "s\u0304": "without", "p\u0304": "after", "a\u0304": "before"}
_GREEK = {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "κ": "kappa", "λ": "lambda"}
_MARK_FORMS = {"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "×": "x"}

_TOKEN = re.compile(
    r"(?P<newline>[\n\r\u2028\u2029]+)"
    r"|(?P<number>\d+(?:[.,]\d+)*(?:(?:st|nd|rd|th|ST|ND|RD|TH)\b|(?:/\d+)+)?|[¼½¾⅓⅔⅛])"
    r"|(?P<word>[xX](?=\d)"
    r"|[yY]/?[oO](?=[mMfFwWbB]\b)"
    r"|[a-zA-Z](?:/[a-zA-Z])+(?![\w/])"
    r"|[wW]/"
    r"|[a-zA-Z](?:\.[a-zA-Z])+(?!\w)\.?"
    r"|[^\W\d_](?:[\w\u0300-\u036f]|['’](?=[^\W\d_]))*)"
    r"|(?P<mark>\S)"
)


class Token(NamedTuple):
    """A word, number, mark or line break of a note.

    ``form`` is what to compare: case-folded, without accents, apostrophes and abbreviating dots.
    ``kind`` is ``"word"``, ``"number"``, ``"mark"`` or ``"newline"``.
    """

    start: int
    end: int
    form: str
    kind: str

    @property
    def span(self) -> Span:
        """The token's place in the note."""
        return Span(self.start, self.end)


@lru_cache(maxsize=65536)
def word_form(word: str) -> str:
    """Return the form under which spellings of one word meet.

    Examples
    --------
    >>> [word_form(w) for w in ("Can’t", "y.o.", "Sjögren", "β")]
    ['cant', 'yo', 'sjogren', 'beta']
    """
    form = word.casefold()
    if not form.isascii():
        form = _BARRED.get(unicodedata.normalize("NFD", form), form)
        form = _GREEK.get(form, form)
        form = unicodedata.normalize("NFKD", form)
        form = "".join(char for char in form if not unicodedata.combining(char)).casefold()
        form = form.replace("’", "'") or word
    if "'" in form or "." in form:
        form = form.replace("'", "").replace(".", "") or form
    return form


def find_tokens(text: str) -> list[Token]:
    r"""Split a text into tokens; spaces are dropped, runs of line breaks are one token.

    Numbers part from the letters after them, and slashed shorthand stays whole.

    Examples
    --------
    >>> [token.form for token in find_tokens("58yoM c/o N/V x3wks, w/o CP.")]
    ['58', 'yo', 'm', 'c/o', 'n', '/', 'v', 'x', '3', 'wks', ',', 'w/o', 'cp', '.']
    """
    tokens: list[Token] = []
    add = tokens.append
    make = tuple.__new__
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        start, end = match.span()
        raw = match[0]
        if kind == "word":
            form = word_form(raw)
            if "/" in form and len(form) > 2 and form not in SLASHED:
                tokens.extend(_split_slashes(raw, start))
                continue
        elif kind == "newline":
            form = "\n"
        elif kind == "mark":
            form = _MARK_FORMS.get(raw, raw)
        else:
            form = raw if raw.isdigit() else raw.lower()
        add(make(Token, (start, end, form, kind)))
    return tokens


def _split_slashes(raw: str, start: int) -> list[Token]:
    return [
        Token(start + i, start + i + 1, char.lower(), "mark" if char == "/" else "word")
        for i, char in enumerate(raw)
    ]


def find_words(text: str) -> list[Token]:
    """Return the words and numbers of a text, without marks and line breaks.

    Examples
    --------
    >>> [(word.form, word.start) for word in find_words("No chest-pain.")]
    [('no', 0), ('chest', 3), ('pain', 9)]
    """
    return [token for token in find_tokens(text) if token.kind in ("word", "number")]


#: Phrases whose words need no folding but of case ("yo" may be the age of a man: "yom").
_PLAIN = re.compile(r"(?:(?![yY][oO][mMfFwWbB]\b)[a-zA-Z]+(?: +|$))+")


def phrase_key(phrase: str) -> str:
    """Return the words of a phrase in the one form that dictionaries are looked up by.

    Marks are dropped, unless the phrase is made of marks alone.

    Examples
    --------
    >>> phrase_key("Right-sided  CHEST pain!"), phrase_key("N/V/D"), phrase_key("(-)")
    ('right sided chest pain', 'n v d', '(-)')
    """
    if _PLAIN.fullmatch(phrase):
        return " ".join(phrase.lower().split())
    tokens = find_tokens(phrase)
    words = [token.form for token in tokens if token.kind in ("word", "number")]
    return " ".join(words) if words else "".join(phrase.split())


@dataclass(frozen=True, slots=True)
class NormalText:
    """A normalised text and the way back to the note it came from.

    Parameters
    ----------
    text : str
        The normalised text.
    starts, ends : sequence of int
        For each normalised character, the note's characters it stands for (half-open). Empty
        when every character stands for itself.
    """

    text: str
    starts: Sequence[int] = ()
    ends: Sequence[int] = ()

    def to_note(self, span: Span) -> Span:
        """Return the place in the note of a span of the normalised text.

        Examples
        --------
        >>> normal = normalise("Chest  pain")
        >>> normal.text, normal.to_note(Span(6, 10))
        ('chest pain', Span(start=7, end=11))
        """
        if not self.starts:
            return span
        return Span(self.starts[span.start], self.ends[span.end - 1])

    def from_note(self, span: Span) -> Span | None:
        """Return the place in the normalised text of a span of the note.

        None when nothing of the span was kept (it lay inside a run of spaces).

        Examples
        --------
        >>> normalise("Chest  pain").from_note(Span(7, 11))
        Span(start=6, end=10)
        """
        if not self.starts:
            return span
        start = bisect_left(self.ends, span.start + 1)
        end = bisect_left(self.starts, span.end)
        return Span(start, end) if start < end else None


def normalise(text: str) -> NormalText:
    r"""Fold case and accents, unify quotes and dashes, and make each run of white space one space.

    The offsets of the result lead back to the note, so that text found there can be marked here.

    Examples
    --------
    >>> normalise("Sjögren’s –\n β").text
    "sjogren's - beta"
    """
    if text.isascii() and not _UNEVEN.search(text):
        return NormalText(text.lower())
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _CLUSTER.finditer(text):
        raw = match[0]
        start, end = match.span()
        if raw.isascii() and not raw.isspace():
            pieces.append(raw.lower())
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
            continue
        piece = " " if raw.isspace() else _fold(raw)
        pieces.append(piece)
        starts.extend([start] * len(piece))
        ends.extend([end] * len(piece))
    return NormalText("".join(pieces), tuple(starts), tuple(ends))


_UNEVEN = re.compile(r"\s{2}|[^\S ]")
_CLUSTER = re.compile(r"\s+|[\x21-\x7f]+(?![\u0300-\u036f])|\S[\u0300-\u036f]*")


@lru_cache(maxsize=4096)
def _fold(cluster: str) -> str:
    if cluster in _MARK_FORMS:
        return _MARK_FORMS[cluster]
    return word_form(cluster) or cluster
